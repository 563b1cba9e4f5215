-- user-written expressions run as the gate's role, in a context in which they can do nothing but answer
\ir include/helpers.sql
SELECT plan(53);

CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE s (id int, v int);
CREATE TABLE written (who text);
CREATE SEQUENCE numbers;
GRANT INSERT ON written TO PUBLIC;
GRANT SELECT ON s TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON t TO dq_loader;
INSERT INTO s VALUES (1, 1);
SELECT dq_gate.create_gate('t', run_as => 'dq_loader') \g /dev/null

-- what a function sees and may do when a check calls it; it answers by raising
CREATE FUNCTION probe(what text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OR REPLACE FUNCTION told(int) RETURNS bool LANGUAGE plpgsql AS %L', format('BEGIN RAISE EXCEPTION ''<%%>'', (%s); END', what));
	PERFORM dq_gate.expect_sql('t', 'probe', 'told(id)');
	PERFORM dq_gate.publish('s', 't');
	PERFORM dq_gate.drop_check('t', 'probe');
	RETURN (SELECT regexp_replace(message, '.*<(.*)>.*', '\1') FROM dq_gate.results_of(last_run()) WHERE check_name = 'probe');
END
$$;
CREATE FUNCTION attempt(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OR REPLACE FUNCTION told(int) RETURNS bool LANGUAGE plpgsql AS %L', format('BEGIN EXECUTE %L; RETURN true; END', command));
	PERFORM dq_gate.expect_sql('t', 'attempt', 'told(id)');
	PERFORM dq_gate.publish('s', 't');
	PERFORM dq_gate.drop_check('t', 'attempt');
	RETURN (SELECT status || coalesce(': ' || message, '') FROM dq_gate.results_of(last_run()) WHERE check_name = 'attempt');
END
$$;

SELECT is(probe('current_user'), 'dq_loader', 'a function that a check calls runs as the role of the gate');
SELECT is(probe('current_setting(''search_path'')'), 'pg_catalog, pg_temp', 'with a pinned search_path');
SELECT is(probe('current_setting(''transaction_read_only'')'), 'on', 'in a transaction that is read-only for the while');
SELECT is(probe('current_setting(''row_security'')'), 'off', 'and that sees all rows or errors');
SELECT is(current_user::text, 'dq_tester', 'the caller is itself again afterwards');
SELECT is(current_setting('transaction_read_only'), 'off', 'may write again');
SELECT is(current_setting('search_path'), '"$user", public', 'and has its search_path');

SELECT alike(attempt('SET ROLE dq_tester'), 'error:%cannot set parameter "role" within security-%', 'a check cannot become another role');
SELECT alike(attempt('RESET ROLE'), 'error:%cannot set parameter "role"%', 'nor go back to the caller');
SELECT alike(attempt('SET SESSION AUTHORIZATION DEFAULT'), 'error:%cannot set parameter "session_authorization"%', 'nor to who logged in');
SELECT alike(attempt('INSERT INTO public.written VALUES (current_user)'), 'error:%read-only transaction%', 'nor write');
SELECT alike(attempt('SET transaction_read_only = off'), 'error:%', 'nor make the transaction one that can');
SELECT alike(attempt('SELECT set_config(''transaction_read_only'', ''off'', true)'), 'error:%', 'by whatever name');
SELECT alike(attempt('CREATE TEMP TABLE x (id int)'), 'error:%', 'nor make a temporary table');
SELECT alike(attempt('CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS ''SELECT 1'''), 'error:%', 'nor anything else');
SELECT alike(attempt('DROP TABLE public.s'), 'error:%', 'nor drop staging');
SELECT alike(attempt('DELETE FROM public.s'), 'error:%', 'nor change it');
SELECT alike(attempt('LISTEN x'), 'error:%', 'nor listen');
SELECT alike(attempt('DECLARE c CURSOR WITH HOLD FOR SELECT 1'), 'error:%', 'nor leave a cursor behind');
SELECT alike(attempt('SELECT dq_gate.publish(''public.s'', ''public.t'')'), 'error:%', 'nor publish');
SELECT alike(attempt('SELECT dq_gate.drop_gate(''public.t'')'), 'error:%', 'nor drop the gate');
SELECT is_empty('TABLE written', 'nothing of that was done');
SELECT is((SELECT count(*) FROM s), 1::bigint, 'staging is as it was');
SELECT is_empty('TABLE t', 'and nothing was published');

-- temporary tables can be written even where a transaction is read-only
CREATE TEMP TABLE temp_s (id int, v int);
INSERT INTO temp_s VALUES (1, 1), (2, 2);
CREATE TABLE temp_t (id int PRIMARY KEY, v int CHECK (v > 0));
CREATE FUNCTION spoil(int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN UPDATE pg_temp.temp_s SET v = v + 10; RETURN true; END $$;
SELECT dq_gate.expect_sql('temp_t', 'spoils', 'spoil(id)') \g /dev/null
SELECT dq_gate.publish('temp_s', 'temp_t') \g /dev/null
SELECT is((SELECT published FROM dq_gate.runs WHERE run_id = last_run()), false, 'a check that changes a temporary staging table does not get its batch through');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'spoils'), 'error', 'and is broken');
SELECT results_eq('TABLE temp_s', 'VALUES (1, 1), (2, 2)', 'the batch is as it was staged');

-- what an expression may read is what the role may
CREATE TABLE secret (id int);
INSERT INTO secret VALUES (1);
SELECT dq_gate.expect_sql('t', 'reads', 'EXISTS (SELECT 1 FROM secret WHERE secret.id = batch.id)') \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT matches(message('reads'), 'permission denied for table secret', 'an expression reads with the rights of the role of the gate');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'reads'), 'error', 'without them it is broken');
GRANT SELECT ON secret TO dq_loader;
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 1: 1 inserted', 'with them it is judged');
SELECT dq_gate.drop_check('t', 'reads') \g /dev/null

-- the publish runs as that role too: nobody's rights are lent
CREATE TABLE who (id int PRIMARY KEY, writer text);
CREATE TABLE who_s (id int);
GRANT SELECT, INSERT, UPDATE ON who TO dq_loader;
GRANT SELECT ON who_s TO dq_loader;
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.writer := current_user; RETURN NEW; END $$;
CREATE TRIGGER stamp BEFORE INSERT ON who FOR EACH ROW EXECUTE FUNCTION stamp();
SELECT dq_gate.create_gate('who', run_as => 'dq_loader') \g /dev/null
INSERT INTO who_s VALUES (1);
SELECT is(outcome(dq_gate.publish('who_s', 'who')), 'published 1: 1 inserted', 'a publish');
SELECT is((SELECT writer FROM who), 'dq_loader', 'is written by the role of the gate');
REVOKE UPDATE ON who FROM dq_loader;
SELECT raises($$ SELECT dq_gate.publish('who_s', 'who') $$, '42501', 'permission denied for table public\.who[^$]*dq_loader', 'which needs the rights itself');
GRANT UPDATE (id) ON who TO dq_loader;
UPDATE who_s SET id = 2;
SELECT is((dq_gate.publish('who_s', 'who')).verdict, 'published', 'on the columns at least');

-- row-level security
CREATE TABLE r (id int PRIMARY KEY, tenant text, amt int);
CREATE TABLE r_s (id int, tenant text, amt int);
INSERT INTO r_s VALUES (1, 'dq_loader', 5), (2, 'x', -9), (3, 'x', NULL);
ALTER TABLE r_s ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON r_s USING (tenant = current_user);
GRANT SELECT ON r_s TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON r TO dq_loader;
SET ROLE dq_loader;
SELECT raises($$ SELECT dq_gate.publish('r_s', 'r') $$, '42501', 'row-level security.*r_s', 'staging of which policies hide rows is refused');
SELECT raises($$ SELECT dq_gate.audit('r_s', 'r') $$, '42501', 'row-level security.*r_s', 'for an audit as well');
RESET ROLE;
SELECT is(outcome(dq_gate.publish('r_s', 'r')), 'published 3: 3 inserted', 'its owner sees all rows');
ALTER TABLE r_s FORCE ROW LEVEL SECURITY;
SELECT raises($$ SELECT dq_gate.publish('r_s', 'r') $$, '42501', 'row-level security.*r_s', 'unless policies are forced on it');
ALTER TABLE r_s NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY;
ALTER TABLE r ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON r USING (tenant = current_user);
SET ROLE dq_loader;
SELECT raises($$ SELECT dq_gate.publish('r_s', 'r') $$, '42501', 'row-level security.*public\.r ', 'and so is a target');
RESET ROLE;
CREATE TABLE parents (id int PRIMARY KEY);
INSERT INTO parents VALUES (1), (2);
CREATE TABLE kids (id int PRIMARY KEY, parent int REFERENCES parents);
CREATE TABLE kids_s (id int, parent int);
INSERT INTO kids_s VALUES (1, 1), (2, 2);
GRANT SELECT ON kids_s TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON kids TO dq_loader;
SELECT dq_gate.create_gate('kids', run_as => 'dq_loader') \g /dev/null
SELECT is(outcome(dq_gate.publish('kids_s', 'kids')), 'published 2: 2 inserted', 'a parent that the role may not read');
SELECT is((SELECT ROW(status, passed)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'referential'), '(not_judged,)', 'cannot be looked up by the check');
SELECT matches(message('kids_parent_fkey'), 'dq_loader may not read', 'which says so');
INSERT INTO kids_s VALUES (3, 99);
SELECT is(outcome(dq_gate.publish('kids_s', 'kids')), 'failed 3: 3 quarantined', 'and the foreign key itself holds');
GRANT SELECT ON parents TO dq_loader;
ALTER TABLE parents ENABLE ROW LEVEL SECURITY;
CREATE POLICY one ON parents USING (id = 1);
DELETE FROM kids_s WHERE id = 3;
SELECT is((dq_gate.publish('kids_s', 'kids')).verdict, 'published', 'a parent of which policies hide rows');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_type = 'referential'), 'not_judged', 'is not taken for one without them');

-- functions and operators that somebody planted
CREATE SCHEMA evil;
CREATE TABLE evil.log (who text);
GRANT USAGE ON SCHEMA evil TO PUBLIC;
GRANT INSERT ON evil.log TO PUBLIC;
DO $do$
DECLARE
	planted record;
BEGIN
	-- a twin of every function of pg_catalog that our statements could call, and of the operators between integers and between texts
	FOR planted IN SELECT * FROM (VALUES ('quote_ident(text)', 'text'), ('quote_literal(text)', 'text'), ('lower(text)', 'text'), ('now()', 'timestamptz'), ('count(int)', 'bigint'), ('sum(int)', 'bigint'),
		('array_to_string(text[], text)', 'text'), ('array_remove(text[], text)', 'text[]'), ('format(text, text)', 'text'), ('char_length(text)', 'int'), ('rtrim(text)', 'text'), ('left(text, int)', 'text'),
		('round(numeric, int)', 'numeric'), ('abs(numeric)', 'numeric'), ('trunc(numeric)', 'numeric'), ('min(int)', 'int'), ('max(int)', 'int'), ('nextval(text)', 'bigint'), ('nextval(regclass)', 'bigint'),
		('clock_timestamp()', 'timestamptz'), ('has_table_privilege(oid, text)', 'bool'), ('has_table_privilege(regclass, text)', 'bool'), ('num_nonnulls(int)', 'int'),
		('record_image_ne(record, record)', 'bool'), ('jsonb_build_object(text, int)', 'jsonb'), ('jsonb_agg(jsonb)', 'jsonb'), ('pg_backend_pid()', 'int')) f (name, result)
	LOOP
		IF planted.name LIKE '%record%' THEN CONTINUE; END IF;
		EXECUTE format('CREATE FUNCTION evil.%s RETURNS %s LANGUAGE plpgsql AS %L', planted.name, planted.result,
			format('BEGIN INSERT INTO evil.log VALUES (%L); RETURN NULL; END', planted.name));
	END LOOP;
	FOR planted IN SELECT * FROM unnest(ARRAY['int', 'text', 'numeric', 'bigint', 'oid', 'regclass', 'bool', 'json', 'point', 'text[]']) type, unnest(ARRAY['=', '<>', '<', '>', '<=', '>=']) operator
	LOOP
		EXECUTE format('CREATE FUNCTION evil.%I(%s, %2$s) RETURNS bool LANGUAGE plpgsql AS %L', 'op ' || planted.operator, planted.type,
			format('BEGIN INSERT INTO evil.log VALUES (%L); RETURN true; END', planted.type || ' ' || planted.operator));
		EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %2$s, FUNCTION = evil.%3$I)', planted.operator, planted.type, 'op ' || planted.operator);
	END LOOP;
END
$do$;
CREATE TABLE evil.p (id int PRIMARY KEY, a int CHECK (a > 0), b text NOT NULL, n numeric(5,1), parent int REFERENCES evil.p, doc json, u int UNIQUE, pt point);
CREATE TABLE evil.p_s (id int, a int, b text, n text, parent int, doc json, u int, pt point);
INSERT INTO evil.p_s VALUES (1, 1, 'x', '1.0', NULL, '{}', 1, '(1,1)'), (2, 2, 'y', '2.0', 1, '{}', 2, NULL);
SET search_path = evil, pg_catalog, public;
SELECT dq_gate.create_gate('p', staging => 'p_s', key => '{id}') \g /dev/null
SELECT dq_gate.expect_range('p', 'a', min => 0, max => 100) \g /dev/null
SELECT public.outcome(dq_gate.publish('p_s', 'p')) AS first,
	public.outcome(dq_gate.publish('p_s', 'p')) AS second \gset
UPDATE p_s SET u = 9, a = -1, b = NULL, n = 'x', parent = 77, id = 1;
SELECT public.outcome(dq_gate.publish('p_s', 'p')) AS third \gset
SELECT dq_gate.audit('p_s', 'p') \g /dev/null
SELECT * FROM dq_gate.checks_of('p') \g /dev/null
SELECT dq_gate.alter_gate('p', owner => 'x') \g /dev/null
SELECT dq_gate.drop_check('p', 'a_range') \g /dev/null
SELECT dq_gate.drop_gate('p') \g /dev/null
RESET search_path;
SELECT is(:'first'::text, 'published 2: 2 inserted', 'with planted functions and operators first in the search_path a batch is published');
SELECT is(:'second'::text, 'published 2: 2 unchanged', 'and known not to change');
SELECT is(:'third'::text, 'rejected 2: 2 quarantined', 'and a bad one rejected');
SELECT is((SELECT string_agg(check_name, ' ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE status = 'failed'),
	'a_range b_not_null key_unique n_type_fit p_a_check p_parent_fkey p_u_key', 'by every check that it broke');
SELECT is_empty('SELECT who FROM evil.log', 'and no planted one was called');

-- an expression means what it meant when it was declared
SET search_path = evil, pg_catalog, public;
SELECT dq_gate.create_gate('p', key => '{id}') \g /dev/null
SELECT dq_gate.expect_sql('p', 'ours', 'a = 1') \g /dev/null
RESET search_path;
SELECT matches((SELECT parameters::text FROM dq_gate.checks WHERE name = 'ours'), 'OPERATOR\(evil\.=\)', 'an operator that the declaring path found is kept with its schema');
SELECT dq_gate.drop_check('evil.p', 'ours') \g /dev/null
SELECT dq_gate.expect_sql('evil.p', 'ours', 'a = -1') \g /dev/null
SET search_path = evil, pg_catalog, public;
SELECT dq_gate.publish('p_s', 'p') \g /dev/null
RESET search_path;
SELECT is(finding('ours'), 'passed 0 of 2', 'and one of pg_catalog stays that, whatever the path of the run');
SELECT is_empty('SELECT who FROM evil.log', 'so that no other was called');

SELECT finish();
