-- constraint_ddl: declared checks as constraints that PostgreSQL itself enforces
\ir include/helpers.sql
SELECT plan(140);
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


-- all that there is to say of a table
CREATE FUNCTION open_statements(target regclass) RETURNS text LANGUAGE sql AS
	'SELECT string_agg(statement, E''\n'') FROM dq_gate.constraint_ddl(target)';

-- rules about a row, NULL passing or not, with a filter and without
CREATE DOMAIN cents AS int;
CREATE TYPE pair AS (x int, y int);
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE TABLE r (id int PRIMARY KEY, v numeric, f float8, i int, s text, vc varchar(10), d date, b bytea, a text[], c cents, m mood, p pair);
SELECT dq_gate.create_gate('r') \g /dev/null
SELECT dq_gate.expect_range('r', 'v', min => 0, max => 10) \g /dev/null
SELECT is(ddl('r', 'v_range'), $$ALTER TABLE public.r ADD CONSTRAINT v_range CHECK (((v IS NULL) OR ((v >= '0'::numeric) AND (v <= '10'::numeric)))) NOT VALID;
ALTER TABLE public.r VALIDATE CONSTRAINT v_range;$$, 'a range is two statements');
SELECT statement FROM dq_gate.constraint_ddl('r') WHERE statement IS NOT NULL \gexec
SELECT is(agree('r', 'v_range', '1, 0', '1, 10', '1, NULL', '1, -0.1', '1, 10.1', $$1, 'NaN'$$), '3 refused, 3 taken', 'which refuse what the check fails');
SELECT is(ddl('r', 'v_range'), '- -- already enforced by constraint v_range', 'and are not to be typed again');
ALTER TABLE r DROP CONSTRAINT v_range;

-- name, declaration, candidates, what they come to
CREATE TABLE cases (no int GENERATED ALWAYS AS IDENTITY, name text, declaration text, candidates text[], outcome text);
INSERT INTO cases (name, declaration, candidates, outcome) VALUES
	('v_range', $$ expect_range('r', 'v', min => 0, nulls => 'fail') $$, ARRAY['1, 0', '1, NULL', '1, -1', $$1, 'NaN'$$], '3 refused, 1 taken'),
	('f_range', $$ expect_range('r', 'f', min => 0.1, max => 0.3) $$, ARRAY['1, 0, 0.1', '1, 0, 0.3', '1, 0, 0.30000000000000004', '1, 0, NULL', $$1, 0, 'NaN'$$], '2 refused, 3 taken'),
	('i_range', $$ expect_range('r', 'i', max => 5, filter => $f$ s = 'x' $f$) $$, ARRAY[$$1, 0, 0, 6, 'x'$$, $$1, 0, 0, 6, 'y'$$, '1, 0, 0, 6, NULL', $$1, 0, 0, NULL, 'x'$$], '1 refused, 3 taken'),
	('i_range', $$ expect_range('r', 'i', max => 5, filter => $f$ s = 'x' $f$, nulls => 'fail') $$, ARRAY[$$1, 0, 0, 6, 'x'$$, $$1, 0, 0, NULL, 'y'$$, $$1, 0, 0, NULL, 'x'$$], '2 refused, 1 taken'),
	('d_range', $$ expect_range('r', 'd', min => '2026-01-02') $$, ARRAY[$$1, 0, 0, 0, '', '', '2026-01-01'$$, $$1, 0, 0, 0, '', '', '2026-01-02'$$], '1 refused, 1 taken'),
	('c_range', $$ expect_range('r', 'c', min => 1) $$, ARRAY[$$1, 0, 0, 0, '', '', NULL, NULL, NULL, 0$$, $$1, 0, 0, 0, '', '', NULL, NULL, NULL, 1$$], '1 refused, 1 taken'),
	('s_accepted_values', $$ expect_accepted_values('r', 's', ARRAY['a', 'it''s', '\']) $$, ARRAY[$$1, 0, 0, 0, 'a'$$, $$1, 0, 0, 0, 'it''s'$$, $$1, 0, 0, 0, '\'$$, $$1, 0, 0, 0, 'A'$$, '1, 0, 0, 0, NULL'], '1 refused, 4 taken'),
	('s_accepted_values', $$ expect_accepted_values('r', 's', ARRAY['a'], nulls => 'fail') $$, ARRAY[$$1, 0, 0, 0, 'a'$$, '1, 0, 0, 0, NULL'], '1 refused, 1 taken'),
	('vc_accepted_values', $$ expect_accepted_values('r', 'vc', ARRAY['a', 'b']) $$, ARRAY[$$1, 0, 0, 0, '', 'a'$$, $$1, 0, 0, 0, '', 'c'$$], '1 refused, 1 taken'),
	('m_accepted_values', $$ expect_accepted_values('r', 'm', ARRAY['glad', 'angry']) $$, ARRAY[$$1, 0, 0, 0, '', '', NULL, NULL, NULL, 0, 'glad'$$, $$1, 0, 0, 0, '', '', NULL, NULL, NULL, 0, 'sad'$$], '1 refused, 1 taken'),
	('m_accepted_values', $$ expect_accepted_values('r', 'm', ARRAY['angry']) $$, ARRAY[$$1, 0, 0, 0, '', '', NULL, NULL, NULL, 0, NULL$$, $$1, 0, 0, 0, '', '', NULL, NULL, NULL, 0, 'sad'$$], '1 refused, 1 taken'),
	('i_rejected_values', $$ expect_rejected_values('r', 'i', ARRAY['1', '2']) $$, ARRAY['1, 0, 0, 1', '1, 0, 0, 3', '1, 0, 0, NULL'], '1 refused, 2 taken'),
	('i_rejected_values', $$ expect_rejected_values('r', 'i', ARRAY['1', '2'], nulls => 'fail', filter => 'v > 0') $$, ARRAY['1, 1, 0, 1', '1, 1, 0, 3', '1, 1, 0, NULL', '1, 0, 0, NULL'], '2 refused, 2 taken'),
	('s_pattern', $$ expect_pattern('r', 's', '^[a-z]\d''$') $$, ARRAY[$$1, 0, 0, 0, 'a1'''$$, $$1, 0, 0, 0, 'aa'$$, '1, 0, 0, 0, NULL'], '1 refused, 2 taken'),
	('vc_like', $$ expect_like('r', 'vc', '10\%%', nulls => 'fail') $$, ARRAY[$$1, 0, 0, 0, '', '10%x'$$, $$1, 0, 0, 0, '', '100'$$, $$1, 0, 0, 0, '', NULL$$], '2 refused, 1 taken'),
	('s_length', $$ expect_length('r', 's', min => 1, max => 2) $$, ARRAY[$$1, 0, 0, 0, ''$$, $$1, 0, 0, 0, 'éé'$$, $$1, 0, 0, 0, 'abc'$$, '1, 0, 0, 0, NULL'], '2 refused, 2 taken'),
	('b_length', $$ expect_length('r', 'b', max => 2) $$, ARRAY[$$1, 0, 0, 0, '', '', NULL, '\x0102'$$, $$1, 0, 0, 0, '', '', NULL, '\x010203'$$], '1 refused, 1 taken'),
	('a_length', $$ expect_length('r', 'a', min => 1) $$, ARRAY[$$1, 0, 0, 0, '', '', NULL, NULL, '{}'$$, $$1, 0, 0, 0, '', '', NULL, NULL, '{x}'$$], '1 refused, 1 taken'),
	('rule', $$ expect_sql('r', 'rule', 'v > i') $$, ARRAY['1, 2, 0, 1', '1, 1, 0, 1', '1, NULL, 0, 1'], '2 refused, 1 taken'),
	('rule', $$ expect_sql('r', 'rule', 'v > i', nulls => 'pass') $$, ARRAY['1, 2, 0, 1', '1, 1, 0, 1', '1, NULL, 0, 1'], '1 refused, 2 taken'),
	('rule', $$ expect_sql('r', 'rule', 's::int > 5', filter => 'i = 1') $$, ARRAY[$$1, 0, 0, 1, '6'$$, $$1, 0, 0, 1, '5'$$, $$1, 0, 0, 2, 'six'$$, $$1, 0, 0, NULL, 'six'$$, '1, 0, 0, 1, NULL'], '2 refused, 3 taken'),
	('rule', $$ expect_sql('r', 'rule', 's::int > 5', nulls => 'pass', filter => 'i = 1') $$, ARRAY[$$1, 0, 0, 1, '5'$$, $$1, 0, 0, 2, 'six'$$, '1, 0, 0, 1, NULL'], '1 refused, 2 taken'),
	('rule', $$ expect_sql('r', 'rule', 'i IS NOT NULL AND (s = ''x'' OR NOT v IS NULL)') $$, ARRAY[$$1, 0, 0, NULL, 'x'$$, $$1, NULL, 0, 0, 'x'$$, $$1, NULL, 0, 0, 'y'$$], '2 refused, 1 taken'),
	('v_i_compare', $$ expect_compare('r', 'v', '<=', 'i') $$, ARRAY['1, 1, 0, 1', '1, 2, 0, 1', '1, NULL, 0, 1'], '2 refused, 1 taken'),
	('v_i_compare', $$ expect_compare('r', 'v', '<>', 'i', nulls => 'pass') $$, ARRAY['1, 1, 0, 1', '1, 2, 0, 1', '1, NULL, 0, 1'], '1 refused, 2 taken'),
	('i_not_null', $$ expect_not_null('r', 'i', filter => 'v > 0') $$, ARRAY['1, 1, 0, NULL', '1, 1, 0, 1', '1, 0, 0, NULL', '1, NULL, 0, NULL'], '1 refused, 3 taken'),
	('i_not_null', $$ expect_not_null('r', 'i') $$, ARRAY['1, 1, 0, NULL', '1, 1, 0, 1'], '1 refused, 1 taken'),
	('p_not_null', $$ expect_not_null('r', 'p') $$, ARRAY[$$1, 0, 0, 0, '', '', NULL, NULL, NULL, 0, NULL, ROW(NULL, NULL)$$, $$1, 0, 0, 0$$], '1 refused, 1 taken'),
	('p_not_null', $$ expect_not_null('r', 'p', filter => 'v > 0') $$, ARRAY[$$1, 1, 0, 0, '', '', NULL, NULL, NULL, 0, NULL, ROW(NULL, NULL)$$, $$1, 1, 0, 0$$, $$1, 0, 0, 0$$], '1 refused, 2 taken');

-- drop what the last case made, declare, type, compare, ask again
CREATE PROCEDURE prepare(case_no int) LANGUAGE plpgsql AS $$
DECLARE
	old record; d text;
BEGIN
	FOR old IN SELECT conname FROM pg_constraint WHERE conrelid = 'r'::regclass AND contype = 'c' LOOP
		EXECUTE format('ALTER TABLE r DROP CONSTRAINT %I', old.conname);
	END LOOP;
	FOR old IN SELECT attname FROM pg_attribute WHERE attrelid = 'r'::regclass AND attnum > 1 AND attnotnull LOOP
		EXECUTE format('ALTER TABLE r ALTER COLUMN %I DROP NOT NULL', old.attname);
	END LOOP;
	FOR old IN SELECT name FROM dq_gate.checks LOOP
		PERFORM dq_gate.drop_check('r', old.name);
	END LOOP;
	SELECT declaration INTO d FROM cases WHERE no = case_no;
	EXECUTE 'SELECT dq_gate.' || d;
	FOR old IN SELECT statement FROM dq_gate.constraint_ddl('r') LOOP
		EXECUTE old.statement;
	END LOOP;
END
$$;
SELECT format('CALL prepare(%s)', no),
	format('SELECT is(agree(''r'', name, VARIADIC candidates), outcome, declaration) FROM cases WHERE no = %s', no),
	format('SELECT matches(ddl(''r'', name), ''^- -- already enforced by '', ''is enforced then'') FROM cases WHERE no = %s', no)
FROM cases ORDER BY no \gexec

-- NOT NULL
SELECT dq_gate.drop_check('r', name) FROM dq_gate.checks \g /dev/null
CREATE TABLE n (id int PRIMARY KEY, v int);
INSERT INTO n VALUES (1, 1);
SELECT dq_gate.expect_not_null('n', 'v') \g /dev/null
SELECT dq_gate.expect_not_null('n', 'v', name => 'again', action => 'quarantine') \g /dev/null
SELECT is(ddl('n', 'v_not_null'), '- -- the statements of check again enforce it', 'two checks that say the same are typed once');
SELECT dq_gate.drop_check('n', 'v_not_null') \g /dev/null
SELECT is(ddl('n', 'again'), CASE WHEN current_setting('server_version_num')::int >= 180000 THEN
'ALTER TABLE public.n ADD CONSTRAINT again NOT NULL v NOT VALID;
ALTER TABLE public.n VALIDATE CONSTRAINT again;' ELSE
'ALTER TABLE public.n ADD CONSTRAINT again CHECK ((v IS NOT NULL)) NOT VALID;
ALTER TABLE public.n VALIDATE CONSTRAINT again;
ALTER TABLE public.n ALTER COLUMN v SET NOT NULL;
ALTER TABLE public.n DROP CONSTRAINT again;' END, 'NOT NULL');
SELECT statement FROM dq_gate.constraint_ddl('n') LIMIT 1 \gexec
SELECT matches(ddl('n', 'again'), '^ALTER TABLE public.n VALIDATE CONSTRAINT again; -- constraint again is there, and not validated$', 'half way');
SELECT statement FROM dq_gate.constraint_ddl('n') \gexec
SELECT is(ddl('n', 'again'), '- -- already enforced by constraint again', 'and done');
SELECT is((SELECT string_agg(check_name, ', ') FROM dq_gate.constraint_ddl('n')), 'again', 'derived checks are not listed');
CREATE DOMAIN filled AS int NOT NULL;
CREATE TABLE filled_t (id int PRIMARY KEY, v filled);
SELECT dq_gate.expect_not_null('filled_t', 'v'), dq_gate.expect_not_null('filled_t', 'id') \g /dev/null
SELECT is(ddl('filled_t', 'v_not_null'), '- -- already enforced by NOT NULL of column v', 'by the domain');
SELECT matches(ddl('filled_t', 'id_not_null'), '^- -- already enforced by ', 'by the primary key');

-- foreign keys
CREATE TABLE parent (a int, b int, c int UNIQUE DEFERRABLE, d int, UNIQUE (b, a));
CREATE UNIQUE INDEX ON parent (d) WHERE d > 0;
INSERT INTO parent VALUES (1, 2, 3, 4);
CREATE TABLE child (id int PRIMARY KEY, a int, b int, c int);
SELECT dq_gate.expect_referential('child', ARRAY['a', 'b'], 'parent', name => 'fk') \g /dev/null
SELECT is(ddl('child', 'fk'), 'ALTER TABLE public.child ADD CONSTRAINT fk FOREIGN KEY (a, b) REFERENCES public.parent (a, b) NOT VALID; -- rows of public.parent that are referred to cannot be deleted any more
ALTER TABLE public.child VALIDATE CONSTRAINT fk;', 'a foreign key');
SELECT statement FROM dq_gate.constraint_ddl('child') \gexec
SELECT is(agree('child', 'fk', '1, 1, 2', '1, 2, 1', '1, NULL, 7', '1, NULL, NULL'), '1 refused, 3 taken', 'NULL passes');
SELECT is(ddl('child', 'fk'), '- -- already enforced by constraint fk', 'is there then');
SELECT dq_gate.drop_check('child', 'fk'), dq_gate.expect_referential('child', ARRAY['b', 'a'], 'parent', name => 'strict', nulls => 'fail', action => 'quarantine') \g /dev/null
SELECT matches(ddl('child', 'strict'), '^- -- already enforced by constraint fk
ALTER TABLE public.child ADD CONSTRAINT strict_b_not_null .* -- the constraint becomes a check that blocks: a failing row then rejects its batch instead of being quarantined
', 'NULL fails: NOT NULL besides');
SELECT statement FROM dq_gate.constraint_ddl('child') WHERE statement IS NOT NULL \gexec
SELECT is(agree('child', 'strict', '1, 1, 2', '1, 2, 1', '1, NULL, 2', '1, NULL, NULL'), '3 refused, 1 taken', 'refuses NULL');
SELECT is(open_statements('child'), NULL, 'nothing more to do');
SELECT dq_gate.drop_check('child', 'strict') \g /dev/null
SELECT dq_gate.expect_referential('child', ARRAY['c'], 'parent', name => 'deferrable') \g /dev/null
SELECT dq_gate.expect_referential('child', ARRAY['c'], 'parent', ARRAY['d'], name => 'partial') \g /dev/null
SELECT dq_gate.expect_referential('child', ARRAY['a'], 'parent', name => 'half') \g /dev/null
SELECT dq_gate.expect_referential('child', ARRAY['a', 'b'], 'parent', name => 'filtered', filter => 'id > 0') \g /dev/null
CREATE VIEW parents AS SELECT * FROM parent;
SELECT dq_gate.expect_referential('child', ARRAY['a'], 'parents', name => 'view') \g /dev/null
CREATE TABLE base (k int PRIMARY KEY);
CREATE TABLE derived () INHERITS (base);
SELECT dq_gate.expect_referential('child', ARRAY['a'], 'base', ARRAY['k'], name => 'inherited') \g /dev/null
CREATE UNLOGGED TABLE fleeting (k int PRIMARY KEY);
SELECT dq_gate.expect_referential('child', ARRAY['a'], 'fleeting', ARRAY['k'], name => 'unlogged') \g /dev/null
CREATE TABLE gone (k int PRIMARY KEY);
SELECT dq_gate.expect_referential('child', ARRAY['a'], 'gone', ARRAY['k'], name => 'lost') \g /dev/null
DROP TABLE gone;
SELECT is(ddl('child', 'deferrable'), '- -- needs a unique constraint or index on c of public.parent, of just these columns', 'not to a deferrable one');
SELECT is(ddl('child', 'partial'), '- -- needs a unique constraint or index on d of public.parent, of just these columns', 'nor a partial one');
SELECT is(ddl('child', 'half'), '- -- needs a unique constraint or index on a of public.parent, of just these columns', 'nor a part of one');
SELECT is(ddl('child', 'filtered'), '- -- a foreign key is about all rows, and the check has a filter', 'nor with a filter');
SELECT is(ddl('child', 'view'), '- -- public.parents is no table, and a foreign key refers to one', 'nor to a view');
SELECT is(ddl('child', 'inherited'), '- -- a foreign key does not see the rows of tables that inherit from public.base', 'nor to inheriting rows');
SELECT is(ddl('child', 'unlogged'), '- -- a foreign key cannot refer to public.fleeting, which is unlogged or temporary unlike the table', 'nor from a table that outlives it');
SELECT is(ddl('child', 'lost'), '- -- could not be evaluated: the table that it refers to is gone', 'nor to one that is gone');
SELECT dq_gate.expect_referential('child', ARRAY['a', 'b'], 'parent', name => 'full', match => 'full') \g /dev/null
SELECT matches(ddl('child', 'full'), 'FOREIGN KEY \(a, b\) REFERENCES public.parent \(a, b\) MATCH FULL NOT VALID', 'one that minds a NULL among values');
ALTER TABLE child ALTER a DROP NOT NULL, ALTER b DROP NOT NULL, DROP CONSTRAINT fk;
SELECT statement FROM dq_gate.constraint_ddl('child') WHERE check_name = 'full' \gexec
SELECT is(agree('child', 'full', '1, 1, 2', '1, 2, 1', '1, NULL, 2', '1, NULL, NULL'), '2 refused, 2 taken', 'and refuses it');
SELECT dq_gate.expect_referential('child', ARRAY['a', 'b'], 'parent', name => 'simple') \g /dev/null
SELECT matches(ddl('child', 'simple'), '^- -- already enforced by constraint', 'one that does not is enforced by it as well');

-- uniqueness: statement by statement, since an index is built outside of transactions
CREATE TABLE u (id int PRIMARY KEY, a int, b text, j json, x xid);
SELECT dq_gate.expect_unique('u', ARRAY['a', 'b'], name => 'u_ab') \g /dev/null
SELECT is(ddl('u', 'u_ab'), 'CREATE UNIQUE INDEX CONCURRENTLY u_ab ON public.u (a, b); -- the check compares the rows of a batch, this all rows of the table
ALTER TABLE public.u ADD CONSTRAINT u_ab UNIQUE USING INDEX u_ab;', 'a unique constraint');
SELECT statement FROM dq_gate.constraint_ddl('u') \gexec
INSERT INTO u VALUES (1, 1, 'x'), (2, NULL, 'x');
SELECT is(agree('u', 'u_ab', $$3, NULL, 'x'$$, $$3, 1, 'y'$$), '0 refused, 2 taken', 'NULL differs from NULL');
SELECT raises($$ INSERT INTO u VALUES (3, 1, 'x') $$, '23505', 'u_ab', 'a value twice is refused');
SELECT is(ddl('u', 'u_ab'), '- -- already enforced by constraint u_ab', 'is there then');
SELECT dq_gate.drop_check('u', 'u_ab'), dq_gate.expect_unique('u', ARRAY['b', 'a'], name => 'u_ab', nulls => 'fail', action => 'quarantine') \g /dev/null
SELECT matches(ddl('u', 'u_ab'), E'^CREATE UNIQUE INDEX CONCURRENTLY u_ab_2 ON public.u \\(b, a\\) NULLS NOT DISTINCT; -- [^\n]*\nALTER TABLE public.u ADD CONSTRAINT u_ab_2 UNIQUE USING INDEX u_ab_2;$', 'not for NULLs that are equal; the name of an index is not free');
SELECT statement FROM dq_gate.constraint_ddl('u') \gexec
SELECT raises($$ INSERT INTO u VALUES (3, NULL, 'x') $$, '23505', 'u_ab_2', 'which are refused');
SELECT is(ddl('u', 'u_ab'), '- -- already enforced by constraint u_ab_2', 'and then enforced');
SELECT dq_gate.drop_check('u', 'u_ab'), dq_gate.expect_unique('u', ARRAY['a', 'b'], name => 'u_ab') \g /dev/null
ALTER TABLE u DROP CONSTRAINT u_ab;
SELECT is(ddl('u', 'u_ab'), '- -- already enforced by constraint u_ab_2', 'one that refuses more will do');
SELECT dq_gate.drop_check('u', 'u_ab'), dq_gate.expect_unique('u', ARRAY['a'], name => 'u_a', filter => 'b = ''x''') \g /dev/null
SELECT is(ddl('u', 'u_a'), 'CREATE UNIQUE INDEX CONCURRENTLY u_a ON public.u (a) WHERE (b = ''x''::text); -- the check compares the rows of a batch, this all rows of the table', 'with a filter an index alone');
SELECT statement FROM dq_gate.constraint_ddl('u') \gexec
SELECT raises($$ INSERT INTO u VALUES (3, 1, 'x') $$, '23505', 'u_a', 'among the rows that it picks');
SELECT lives_ok($$ INSERT INTO u VALUES (3, 1, 'y') $$, 'not among others');
SELECT is(ddl('u', 'u_a'), '- -- already enforced by index u_a', 'is there then');
SELECT dq_gate.expect_unique('u', ARRAY['x'], name => 'u_x') \g /dev/null
SELECT dq_gate.expect_unique('u', ARRAY['id'], name => 'u_id', nulls => 'fail') \g /dev/null
SELECT dq_gate.expect_unique('u', ARRAY['a'], name => 'u_now', filter => 'id > date_part(''year'', now())') \g /dev/null
SELECT is(ddl('u', 'u_x'), '- -- type xid of column x has no order, which a unique index needs', 'no index on such a type');
SELECT is(ddl('u', 'u_id'), '- -- already enforced by constraint u_pkey', 'the key is unique, and has no NULLs');
SELECT matches(ddl('u', 'u_now'), '^- -- goes by the time', 'a filter that changes');
SELECT dq_gate.expect_unique('u', ARRAY['b'], name => 'u_all', in_target => true) \g /dev/null
SELECT matches(ddl('u', 'u_all'), '^CREATE UNIQUE INDEX CONCURRENTLY u_all ON public.u \(b\);\n', 'one that looks at the target as well means all rows');

-- partitions
CREATE TABLE p (id int, at int NOT NULL, v int, w int, UNIQUE (id, at, w)) PARTITION BY RANGE (at);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20) PARTITION BY LIST (w);
CREATE TABLE p2_1 PARTITION OF p2 FOR VALUES IN (1);
SELECT dq_gate.create_gate('p', key => ARRAY['id', 'at']) \g /dev/null
SELECT dq_gate.expect_range('p', 'v', min => 0) \g /dev/null
SELECT dq_gate.expect_not_null('p', 'v') \g /dev/null
CREATE TABLE plain (k int PRIMARY KEY);
INSERT INTO plain VALUES (1);
SELECT dq_gate.expect_referential('p', ARRAY['v'], 'plain', ARRAY['k'], name => 'p_fk') \g /dev/null
SELECT dq_gate.expect_unique('p', ARRAY['v'], name => 'p_v') \g /dev/null
SELECT dq_gate.expect_unique('p', ARRAY['v', 'at'], name => 'p_v_at') \g /dev/null
SELECT dq_gate.expect_unique('p', ARRAY['v', 'at', 'w'], name => 'p_v_at_w') \g /dev/null
SELECT dq_gate.expect_unique('p', ARRAY['at', 'w'], name => 'p_at_w', filter => 'v > 0', nulls => 'fail') \g /dev/null
SELECT is(ddl('p', 'p_v'), '- -- public.p is partitioned by at, which a unique constraint has to contain', 'uniqueness needs the partition key');
SELECT is(ddl('p', 'p_v_at'), '- -- public.p2 is partitioned by w, which a unique constraint has to contain', 'of each level');
SELECT is(ddl('p', 'p_v_at_w'), 'ALTER TABLE public.p ADD CONSTRAINT p_v_at_w UNIQUE (v, at, w); -- the check compares the rows of a batch, this all rows of the table; the index is built under a lock that keeps writers out', 'and then is a constraint at once');
SELECT is(ddl('p', 'p_at_w'), 'CREATE UNIQUE INDEX p_at_w ON public.p (at, w) NULLS NOT DISTINCT WHERE (v > 0); -- the check compares the rows of a batch, this all rows of the table; the index is built under a lock that keeps writers out', 'with a filter an index');
SELECT matches(ddl('p', 'p_fk'), CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 'NOT VALID; -- [^$]*VALIDATE' ELSE
	'^ALTER TABLE public.p ADD CONSTRAINT p_fk FOREIGN KEY \(v\) REFERENCES public.plain \(k\); -- reads all rows at once and locks out writers' END, 'a foreign key');
SELECT statement FROM dq_gate.constraint_ddl('p') WHERE statement IS NOT NULL \gexec
SELECT is(open_statements('p'), NULL, 'all of them can be typed');
SELECT is(agree('p', 'p_fk', '1, 1, 1, 1', '1, 11, 1, 1', '1, 1, 2, 1'), '1 refused, 2 taken', 'and do');

-- tables that others inherit from
CREATE TABLE mother (id int PRIMARY KEY, v int, w int);
CREATE TABLE daughter () INHERITS (mother);
ALTER TABLE mother ADD CONSTRAINT own CHECK (((v IS NULL) OR (v >= 0))) NO INHERIT;
ALTER TABLE daughter ADD CONSTRAINT v_range CHECK (v > -5);
SELECT dq_gate.expect_range('mother', 'v', min => 0), dq_gate.expect_unique('mother', ARRAY['v']),
	dq_gate.expect_referential('mother', ARRAY['w'], 'plain', ARRAY['k']) \g /dev/null
SELECT matches(ddl('mother', 'v_range'), 'ADD CONSTRAINT v_range_2 CHECK', 'a constraint that is not inherited is not enough; names are free in all of them');
SELECT matches(ddl('mother', 'v_unique'), 'it does not see the rows of tables that inherit from this one', 'an index covers one table');
SELECT matches(ddl('mother', 'w_referential'), 'does not see the rows of tables that inherit from this one', 'so does a foreign key');
SELECT statement FROM dq_gate.constraint_ddl('mother') \gexec
SELECT is(open_statements('mother'), NULL, 'they can be typed');
SELECT raises($$ INSERT INTO daughter VALUES (1, -1) $$, '23514', 'v_range_2', 'a CHECK is inherited');

-- what cannot be enforced says why
CREATE TABLE w (id int PRIMARY KEY, v int, t timestamptz, g int GENERATED ALWAYS AS (id * 2) STORED);
SELECT dq_gate.create_gate('w') \g /dev/null
SELECT dq_gate.expect_range('w', 'v', min => 0, action => 'warn', name => 'warns') \g /dev/null
SELECT dq_gate.expect_range('w', 'v', min => 0, action => 'declare', name => 'declares') \g /dev/null
SELECT dq_gate.expect_range('w', 'v', min => 0, max_rate => 0.01, name => 'tolerates') \g /dev/null
SELECT dq_gate.expect_range('w', 'v', min => 0, max_rows => 5, name => 'tolerates_rows') \g /dev/null
SELECT dq_gate.expect_range('w', 'v', min => 0, action => 'quarantine', block_above => 5, name => 'levels') \g /dev/null
SELECT dq_gate.expect_not_future('w', 't') \g /dev/null
SELECT dq_gate.expect_sql('w', 'by_zone', 't::date > ''2026-01-01''') \g /dev/null
SELECT dq_gate.expect_sql('w', 'of_batch', 'dq_gate.as_of() IS NULL') \g /dev/null
CREATE FUNCTION dated(int, date DEFAULT current_date) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1 > 0; END';
SELECT dq_gate.expect_sql('w', 'by_default', 'dated(v)') \g /dev/null
SELECT dq_gate.expect_sql('w', 'subquery', 'EXISTS (SELECT FROM plain WHERE k = v)') \g /dev/null
SELECT dq_gate.expect_within('w', 't', max_past => '1 day') \g /dev/null
SELECT dq_gate.expect_type_fit('w', 'v', name => 'fits') \g /dev/null
SELECT dq_gate.expect_type_fit('w', 'v', name => 'fits_and_is_there', nulls => 'fail', filter => 'id > 0', action => 'drop') \g /dev/null
SELECT is(ddl('w', 'fits'), '- -- already enforced by the type of column v', 'the type enforces itself');
SELECT matches(ddl('w', 'fits_and_is_there'), 'CHECK \(\(\(\(id > 0\) IS NOT TRUE\) OR \(v IS NOT NULL\)\)\) NOT VALID; -- the constraint becomes a check that blocks', 'but not that there are values');
ALTER TABLE w ADD CONSTRAINT even CHECK (v % 2 = 0) NOT VALID;
SELECT dq_gate.expect_constraint('w', 'even', action => 'quarantine') \g /dev/null
SELECT is(ddl('w', 'even'), NULL, 'what is declared of a constraint is not another one');
SELECT dq_gate.drop_check('w', 'even') \g /dev/null
ALTER TABLE w DROP CONSTRAINT even;
SELECT dq_gate.expect_row_count('w', min => 1) \g /dev/null
SELECT dq_gate.expect_freshness('w', 't', '1 day') \g /dev/null
SELECT dq_gate.expect_aggregate('w', 'total', 'sum(v)', max => 5) \g /dev/null
SELECT dq_gate.expect_query('w', 'query', 'SELECT 1 WHERE false') \g /dev/null
CREATE FUNCTION fine(int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT $1 > 0';
SELECT dq_gate.expect_sql('w', 'broken', 'fine(v)') \g /dev/null
SELECT matches(ddl('w', 'broken'), 'CHECK \(.*public\.fine\(v\)', 'a function is named with its schema');
DROP FUNCTION fine;
SELECT is(ddl('w', 'warns'), '- -- only warns', 'a warning');
SELECT is(ddl('w', 'declares'), '- -- declared only, not evaluated', 'a declaration');
SELECT is(ddl('w', 'tolerates'), '- -- tolerates some failing rows: at most 1%', 'a rate');
SELECT is(ddl('w', 'tolerates_rows'), '- -- tolerates some failing rows: at most 5 rows', 'a number');
SELECT is(ddl('w', 'levels'), '- -- tolerates some failing rows: block above 5 rows', 'a level');
SELECT is((SELECT string_agg(check_name, ', ') FROM dq_gate.constraint_ddl('w') WHERE note ~ '^goes by the time' AND statement IS NULL), 'by_default, by_zone, of_batch, t_not_future, t_within', 'what does not stay the same');
SELECT is(ddl('w', 'subquery'), '- -- has a subquery, which a constraint cannot have', 'a subquery');
SELECT is((SELECT string_agg(check_name, ', ') FROM dq_gate.constraint_ddl('w') WHERE note = 'about a batch as a whole, not about rows' AND statement IS NULL), 'query, row_count, t_freshness, total', 'what is about a batch');
SELECT matches(ddl('w', 'broken'), '^- -- could not be evaluated: function public.fine.* does not exist', 'a broken rule');
ALTER TABLE w RENAME v TO renamed;
SELECT is((SELECT string_agg(DISTINCT coalesce(statement, note), '') FROM dq_gate.constraint_ddl('w') WHERE check_name = 'subquery'), 'could not be evaluated: column v does not exist in the target', 'a column that is gone');

-- names
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."T""t" ("Id" int PRIMARY KEY, "a b" int, "select" text, é int);
SELECT dq_gate.create_gate('"Odd Schema"."T""t"') \g /dev/null
SELECT dq_gate.expect_range('"Odd Schema"."T""t"', 'a b', min => 0) \g /dev/null
SELECT is(ddl('"Odd Schema"."T""t"', 'a b_range'), 'ALTER TABLE "Odd Schema"."T""t" ADD CONSTRAINT "a b_range" CHECK ((("a b" IS NULL) OR ("a b" >= 0))) NOT VALID;
ALTER TABLE "Odd Schema"."T""t" VALIDATE CONSTRAINT "a b_range";', 'names that need quotes');
SELECT dq_gate.expect_range('"Odd Schema"."T""t"', 'é', min => 1, name => repeat('é', 40)) \g /dev/null
SELECT dq_gate.expect_range('"Odd Schema"."T""t"', 'é', min => 2, name => repeat('é', 41)) \g /dev/null
SELECT dq_gate.expect_unique('"Odd Schema"."T""t"', ARRAY['é', 'select'], name => 'T"t') \g /dev/null
SELECT dq_gate.expect_not_null('"Odd Schema"."T""t"', 'select', name => repeat('n', 63)) \g /dev/null
SELECT statement FROM dq_gate.constraint_ddl('"Odd Schema"."T""t"') WHERE statement IS NOT NULL \gexec
SELECT is(open_statements('"Odd Schema"."T""t"'), NULL, 'all of them can be typed');
SELECT is((SELECT string_agg(conname, ',' ORDER BY conname COLLATE "C") FROM pg_constraint WHERE conrelid = '"Odd Schema"."T""t"'::regclass AND contype IN ('c', 'u')),
	'T"t_2,a b_range,' || repeat('é', 30) || '_2,' || repeat('é', 31), 'names are cut and told apart');
CREATE TABLE taken (id int PRIMARY KEY, v int CONSTRAINT v_range CHECK (v < 100));
SELECT dq_gate.expect_range('taken', 'v', min => 0) \g /dev/null
SELECT matches(ddl('taken', 'v_range'), 'ADD CONSTRAINT v_range_2 CHECK', 'a name that is taken');

-- statements mean the same with any search_path and settings
CREATE SCHEMA other;
CREATE FUNCTION other.fine(int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT $1 > 0';
CREATE OPERATOR other.=== (leftarg = int, rightarg = int, function = int4eq);
CREATE TABLE anywhere (id int PRIMARY KEY, v int, t interval, d date);
SELECT dq_gate.expect_sql('anywhere', 'fine', 'other.fine(v) AND v OPERATOR(other.===) 1') \g /dev/null
SELECT dq_gate.expect_range('anywhere', 't', min => '-1 day 2 hours'::interval) \g /dev/null
SELECT dq_gate.expect_range('anywhere', 'd', max => '2026-02-01'::date) \g /dev/null
SET search_path = '';
SET IntervalStyle = sql_standard;
SET DateStyle = German;
SELECT statement FROM dq_gate.constraint_ddl('public.anywhere') \gexec
RESET search_path;
RESET IntervalStyle;
RESET DateStyle;
SELECT is(open_statements('anywhere'), NULL, 'whatever the settings are under which they are typed');
SELECT is(agree('anywhere', 't_range', $$1, 1, '-1 day 2 hours'$$, $$1, 1, '-1 day 1 hour'$$), '1 refused, 1 taken', 'an interval');
SELECT is(agree('anywhere', 'd_range', $$1, 1, NULL, '2026-02-01'$$, $$1, 1, NULL, '2026-02-02'$$), '1 refused, 1 taken', 'a date');

-- rights, and nothing happens
SELECT is((SELECT count(*)::int FROM pg_constraint WHERE conrelid = 'taken'::regclass AND contype = 'c'), 1, 'nothing was executed');
CREATE TABLE bare (id int PRIMARY KEY);
SELECT is_empty($$ SELECT * FROM dq_gate.constraint_ddl('bare') $$, 'without a gate there is nothing to say');
SELECT raises($$ SELECT * FROM dq_gate.constraint_ddl(NULL) $$, '22004', 'target', 'no table');
SELECT raises($$ SELECT * FROM dq_gate.constraint_ddl('parents') $$, '42809', 'parents cannot be a target table', 'a view');
SET ROLE dq_outsider;
SELECT raises($$ SELECT * FROM dq_gate.constraint_ddl('taken') $$, '42501', 'permission denied for gate public.taken', 'a role that may not read the target');
RESET ROLE;
GRANT SELECT ON taken TO dq_outsider;
SET ROLE dq_outsider;
SELECT matches(ddl('taken', 'v_range'), 'ADD CONSTRAINT v_range_2', 'one that may');
RESET ROLE;

SELECT finish();
