-- constraint_ddl: declared checks as constraints that PostgreSQL itself enforces
\ir include/helpers.sql
SELECT plan(1);
SET client_min_messages = error;

CREATE FUNCTION ddl(target regclass, name text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(coalesce(statement, '-') || coalesce(' -- ' || note, ''), E'\n')
	FROM dq_gate.constraint_ddl(target) WHERE check_name = name
$$;

-- each row by itself: what the check fails is refused by the table, and nothing else is; "2 refused, 3 taken"
CREATE FUNCTION agree(target regclass, name text, VARIADIC candidates text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	candidate text; finding text; taken int = 0; refused int = 0; fits bool; state text; differ text = '';
BEGIN
	EXECUTE format('CREATE TABLE one_row AS SELECT * FROM %s WHERE false', target);
	FOREACH candidate IN ARRAY candidates LOOP
		TRUNCATE one_row;
		EXECUTE format('INSERT INTO one_row VALUES (%s)', candidate);
		SELECT r.status INTO finding FROM dq_gate.audit('one_row', target) a, dq_gate.results_of(a.run_id) r
		WHERE r.check_name = name;
		BEGIN
			EXECUTE format('INSERT INTO %s VALUES (%s)', target, candidate);
			state := '00000';
			RAISE SQLSTATE 'ROLLB';
		EXCEPTION WHEN SQLSTATE 'ROLLB' THEN NULL;
			WHEN integrity_constraint_violation THEN state := sqlstate;
		END;
		fits := state = '00000';
		IF fits IS DISTINCT FROM (finding IN ('passed', 'not_judged')) THEN
			differ := differ || format(E'\n(%s): the check %s, the table %s', candidate, finding, state);
		END IF;
		taken := taken + fits::int;
		refused := refused + (NOT fits)::int;
	END LOOP;
	DROP TABLE one_row;
	RETURN format('%s refused, %s taken%s', refused, taken, differ);
END
$$;

CREATE TABLE r (id int PRIMARY KEY, v numeric, i int, f float8, s text, vc varchar(10), d date, b bytea, a text[]);
SELECT dq_gate.create_gate('r') \g /dev/null
SELECT dq_gate.expect_range('r', 'v', min => 0, max => 10);
SELECT dq_gate.expect_range('r', 'v', min => 0, nulls => 'fail');
SELECT dq_gate.expect_range('r', 'i', max => 5, filter => 's = ''x''');
SELECT dq_gate.expect_range('r', 'f', min => 0.5, max => 1);
SELECT dq_gate.expect_range('r', 'd', min => '2020-01-01');
SELECT dq_gate.expect_accepted_values('r', 's', ARRAY['a', 'it''s']);
SELECT dq_gate.expect_accepted_values('r', 'vc', ARRAY['a', 'b'], nulls => 'fail');
SELECT dq_gate.expect_rejected_values('r', 'i', ARRAY['1', '2']);
SELECT dq_gate.expect_pattern('r', 's', '^[a-z\d]+$');
SELECT dq_gate.expect_like('r', 'vc', 'a%');
SELECT dq_gate.expect_length('r', 's', min => 1, max => 3);
SELECT dq_gate.expect_length('r', 'b', max => 3);
SELECT dq_gate.expect_length('r', 'a', max => 3);
SELECT dq_gate.expect_sql('r', 'rule', 'v > i');
SELECT dq_gate.expect_sql('r', 'rule2', 'v > i or s like ''x''', nulls => 'pass', action => 'quarantine');
SELECT dq_gate.expect_compare('r', 'v', '<', 'f');
SELECT dq_gate.expect_not_null('r', 'v');
SELECT dq_gate.expect_not_null('r', 'v', filter => 's = ''x''', action => 'drop');
SELECT dq_gate.expect_unique('r', ARRAY['s', 'i']);
SELECT dq_gate.expect_unique('r', ARRAY['s'], nulls => 'fail');
SELECT dq_gate.expect_unique('r', ARRAY['s'], filter => 'v > 0');
SELECT dq_gate.expect_not_future('r', 'd');
SELECT check_name, statement, note from dq_gate.constraint_ddl('r');
SELECT statement from dq_gate.constraint_ddl('r') WHERE statement IS NOT NULL \gexec
SELECT check_name, statement, note from dq_gate.constraint_ddl('r');
SELECT pg_get_constraintdef(oid) from pg_constraint where conrelid = 'r'::regclass;
SELECT finish();
