-- rejected rows are kept, with their reasons, whatever staging looks like by then
\ir include/helpers.sql
SELECT plan(54);

CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE s (id int, v int);
SELECT dq_gate.create_gate('t') \g /dev/null
SELECT dq_gate.expect_range('t', 'v', min => 0, action => 'quarantine') \g /dev/null
INSERT INTO s VALUES (1, 1), (2, -2);

SELECT is(to_regclass('dq_quarantine.t'), NULL, 'there is no quarantine before it is needed');
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(to_regclass('dq_quarantine.t'), NULL, 'and an audit needs none');
SELECT dq_gate.publish('s', 't', batch_id => 'first') \g /dev/null
SELECT columns_are('dq_quarantine', 't', '{run_id,batch_id,quarantined_at,failed_checks,requeued_at,requeued_by,id,v}'::name[], 'it has our columns and those of staging');
SELECT col_type_is('dq_quarantine', 't', 'failed_checks', 'text[]', 'reasons are an array');
SELECT results_eq('SELECT run_id, batch_id, failed_checks, id, v FROM dq_quarantine.t', $$ VALUES (last_run(), 'first', '{v_range}'::text[], 2, -2) $$, 'and the row with what is to know of it');
SELECT ok((SELECT quarantined_at BETWEEN r.started_at AND clock_timestamp() FROM dq_quarantine.t JOIN dq_gate.runs r USING (run_id)), 'and when it was');
SELECT table_owner_is('dq_quarantine', 't', 'dq_tester', 'it belongs to the role of the gate');
SELECT is(has_table_privilege('dq_outsider', 'dq_quarantine.t', 'SELECT'), false, 'others may not read it');
SELECT is((SELECT quarantine FROM dq_gate.quarantines WHERE target = 't'::regclass), 'dq_quarantine.t'::regclass, 'and is found by its target');

-- it follows staging
ALTER TABLE s ADD note text;
ALTER TABLE t ADD note text;
UPDATE s SET note = 'n' || id;
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 1 updated, 1 quarantined', 'staging has a new column');
SELECT results_eq('SELECT id, v, note FROM dq_quarantine.t ORDER BY run_id', $$ VALUES (2, -2, NULL), (2, -2, 'n2') $$, 'and so has the quarantine');
ALTER TABLE s DROP note, ADD extra date DEFAULT '2020-01-01';
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 2: 2 quarantined', 'a column that the target lacks');
SELECT results_eq('SELECT id, note, extra FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY id', $$ VALUES (1, NULL, date '2020-01-01'), (2, NULL, '2020-01-01') $$,
	'is kept too, and one that staging lost is NULL');
ALTER TABLE s DROP extra;

-- a type that changes
CREATE FUNCTION restage(type text, value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows bigint := (SELECT count(*) FROM dq_quarantine.t);
BEGIN
	DROP TABLE s;
	EXECUTE format('CREATE TABLE s (id int, v %s)', type);
	EXECUTE format('INSERT INTO s VALUES (5, %L)', value);
	PERFORM dq_gate.publish('s', 't');
	RETURN format_type(atttypid, atttypmod) || ' ' || (SELECT v::text FROM dq_quarantine.t WHERE run_id = last_run())
		|| CASE (SELECT count(*) FROM dq_quarantine.t) - rows WHEN 1 THEN '' ELSE ' but rows are lost' END
		FROM pg_attribute WHERE attrelid = 'dq_quarantine.t'::regclass AND attname = 'v';
END
$$;
SELECT is(restage('bigint', '-9007199254740993'), 'bigint -9007199254740993', 'int becomes bigint');
SELECT is(restage('smallint', '-7'), 'bigint -7', 'which takes a smallint as it is');
SELECT matches(restage('float8', '-0.5'), ' -0\.5$', 'a float8 is kept');
SELECT results_eq('SELECT v::text FROM dq_quarantine.t WHERE run_id = last_run() - 2', $$ VALUES ('-9007199254740993') $$, 'and so is the large bigint of before, to the last digit');
SELECT is(restage('text', 'abc'), 'text abc', 'text');
SELECT is(restage('date', '2020-01-01'), 'text 2020-01-01', 'and a date as text');
SELECT is(restage('json', '{"a":  1}'), 'text {"a":  1}', 'json letter by letter');
SELECT results_eq('SELECT v::text FROM dq_quarantine.t WHERE run_id <= last_run() - 5 AND id = 2 ORDER BY run_id', $$ VALUES ('-2'), ('-2'), ('-2') $$, 'the old values are what they were');

-- types that are refused limits, so that anything fits
CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0);
CREATE TABLE limits (id int PRIMARY KEY, c char(2), n numeric(3,1), d even, b bit(3), i interval(0));
CREATE TABLE limits_s (id int, c varchar(5), n numeric(3,1), d even, b bit(3), i interval(0), PRIMARY KEY (id));
INSERT INTO limits_s VALUES (1, 'abcde', 12.3, 2, '101', '1 day');
SELECT is(outcome(dq_gate.publish('limits_s', 'limits')), 'rejected 1: 1 quarantined', 'types with limits');
ALTER TABLE limits_s ALTER c TYPE varchar(10), ALTER n TYPE numeric(8,4), ALTER d TYPE int, ALTER b TYPE bit(5) USING b::bit(5), ALTER i TYPE interval;
INSERT INTO limits_s VALUES (2, 'abcdefghij', 1234.5678, 3, '10101', '1.5 seconds');
SELECT is(outcome(dq_gate.publish('limits_s', 'limits')), 'rejected 2: 2 quarantined', 'and the same with wider ones');
SELECT results_eq('SELECT id, c::text, n::text, d::int, b::text, i::text FROM dq_quarantine.limits ORDER BY run_id, id',
	$$ VALUES (1, 'abcde', '12.3', 2, '101', '1 day'), (1, 'abcde', '12.3000', 2, '10100', '1 day'), (2, 'abcdefghij', '1234.5678', 3, '10101', '00:00:01.5') $$,
	'are kept without any');

-- staged columns with our names
CREATE TABLE own (run_id int PRIMARY KEY, batch_id text, failed_checks text CHECK (failed_checks <> 'x'), quarantined_at timestamptz, staged_run_id int);
CREATE TABLE own_s (run_id int, batch_id text, failed_checks text, quarantined_at timestamptz, staged_run_id int);
INSERT INTO own_s VALUES (-1, 'b', 'x', '2000-01-01 00:00+00', -2), (-3, 'c', 'y', NULL, -4);
SELECT is(outcome(dq_gate.publish('own_s', 'own', batch_id => 'ours')), 'rejected 2: 2 quarantined', 'staged columns that are called like ours');
SELECT results_eq('SELECT run_id, batch_id, failed_checks, staged_batch_id, staged_failed_checks, staged_staged_run_id, staged_run_id FROM dq_quarantine.own ORDER BY staged_failed_checks',
	$$ VALUES (last_run(), 'ours', '{own_failed_checks_check}'::text[], 'b', 'x', -2, -1), (last_run(), 'ours', '{}', 'c', 'y', -4, -3) $$, 'are kept beside them');
SELECT dq_gate.expect_sql('own', 'not_x', 'failed_checks <> ''x''', action => 'quarantine') \g /dev/null
ALTER TABLE own DROP CONSTRAINT own_failed_checks_check;
SELECT is(outcome(dq_gate.publish('own_s', 'own')), 'published 2: 1 inserted, 1 quarantined', 'and serve to take a row out');
SELECT results_eq('SELECT run_id FROM own', 'VALUES (-3)', 'the right one');

-- the same name in two schemas
CREATE SCHEMA a;
CREATE SCHEMA b;
CREATE TABLE a.o (id int PRIMARY KEY, v int CHECK (v > 0));
CREATE TABLE b.o (id int PRIMARY KEY, v text CHECK (v <> 'bad'), more text);
CREATE TABLE a.o_s (id int, v int);
CREATE TABLE b.o_s (id int, v text, more text);
INSERT INTO a.o_s VALUES (1, -1);
INSERT INTO b.o_s VALUES (2, 'bad', 'm');
SELECT is(outcome(dq_gate.publish('a.o_s', 'a.o')), 'rejected 1: 1 quarantined', 'one table');
SELECT is(outcome(dq_gate.publish('b.o_s', 'b.o')), 'rejected 1: 1 quarantined', 'another one with the same name');
SELECT isnt((SELECT quarantine FROM dq_gate.quarantines WHERE target = 'a.o'::regclass), (SELECT quarantine FROM dq_gate.quarantines WHERE target = 'b.o'::regclass), 'have two quarantines');
SELECT quarantine AS a_o FROM dq_gate.quarantines WHERE target = 'a.o'::regclass \gset
SELECT quarantine AS b_o FROM dq_gate.quarantines WHERE target = 'b.o'::regclass \gset
SELECT results_eq('SELECT id, v FROM ' || :'a_o', 'VALUES (1, -1)', 'the first with its rows');
SELECT results_eq('SELECT id, v, more FROM ' || :'b_o', $$ VALUES (2, 'bad', 'm') $$, 'the second with its own');

-- NULLs, also in the key
CREATE TABLE k (a text, b int, v int, PRIMARY KEY (a, b));
CREATE TABLE k_s (a text, b int, v int);
INSERT INTO k_s VALUES ('x', 1, 10), ('y', NULL, 20), (NULL, NULL, NULL), (NULL, NULL, NULL);
SELECT is(outcome(dq_gate.publish('k_s', 'k')), 'rejected 4: 4 quarantined', 'rows of NULLs');
SELECT results_eq('SELECT a, b, v, failed_checks FROM dq_quarantine.k ORDER BY v', $$ VALUES ('x', 1, 10, '{}'::text[]), ('y', NULL, 20, '{b_not_null}'),
	(NULL, NULL, NULL, '{a_not_null,b_not_null}'), (NULL, NULL, NULL, '{a_not_null,b_not_null}') $$, 'are kept, each of them');

-- duplicates name their reason
CREATE TABLE u (id int PRIMARY KEY);
CREATE TABLE u_s (id int);
INSERT INTO u_s VALUES (1), (1), (2), (NULL), (NULL);
SELECT is(outcome(dq_gate.publish('u_s', 'u')), 'rejected 5: 5 quarantined', 'duplicates');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.u ORDER BY id', $$ VALUES (1, '{key_unique}'::text[]), (1, '{key_unique}'), (2, '{}'), (NULL, '{id_not_null}'), (NULL, '{id_not_null}') $$,
	'each of the rows that share a key says so, and NULLs share none');

-- a row that no row check can tell: the batch as a whole failed
ALTER TABLE u_s ADD other int;
DELETE FROM u_s WHERE id = 1 OR id IS NULL;
SELECT is(outcome(dq_gate.publish('u_s', 'u')), 'rejected 1: 1 quarantined', 'a batch that broke the schema contract');
SELECT results_eq('SELECT failed_checks FROM dq_quarantine.u WHERE run_id = last_run()', $$ VALUES ('{}'::text[]) $$, 'has no row that is at fault');

-- a publish that fails
CREATE TABLE f (id int PRIMARY KEY, v int);
CREATE TABLE f_s (id int, v int);
CREATE FUNCTION no_thirteen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.v = 13 THEN RAISE EXCEPTION 'not thirteen' USING ERRCODE = 'check_violation'; END IF; RETURN NEW; END $$;
CREATE TRIGGER no_thirteen BEFORE INSERT OR UPDATE ON f FOR EACH ROW EXECUTE FUNCTION no_thirteen();
SELECT dq_gate.expect_range('f', 'v', min => 0, action => 'quarantine') \g /dev/null
INSERT INTO f_s VALUES (1, 1), (2, 13), (3, -3);
SELECT is(outcome(dq_gate.publish('f_s', 'f')), 'failed 3: 3 quarantined', 'a trigger of the target raises an error');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.f ORDER BY id', $$ VALUES (1, '{}'::text[]), (2, '{}'), (3, '{v_range}') $$, 'every row is in quarantine once');
SELECT results_eq('SELECT passed, published, error, error_sqlstate FROM dq_gate.runs WHERE run_id = last_run()', $$ VALUES (true, false, 'not thirteen', '23514') $$,
	'the run has the error');
SELECT is_empty('TABLE f', 'and the target nothing');
SELECT is((SELECT count(*) FROM f_s), 3::bigint, 'staging is as it was');
SELECT is_empty($$ SELECT 1 FROM dq_gate.results_of(last_run()) WHERE status = 'error' $$, 'no check is to blame');

-- lost and found
DROP TABLE dq_quarantine.f;
SELECT is(outcome(dq_gate.publish('f_s', 'f')), 'failed 3: 3 quarantined', 'a quarantine that was dropped is made anew');
SELECT is((SELECT count(*) FROM dq_quarantine.f), 3::bigint, 'with the rows of the new run');
ALTER TABLE dq_quarantine.f SET SCHEMA a;
SELECT is(outcome(dq_gate.publish('f_s', 'f')), 'failed 3: 3 quarantined', 'one that was moved');
SELECT is((SELECT count(*) FROM a.f), 6::bigint, 'is found where it is');
DROP TABLE f, f_s;
CREATE TABLE f (id int PRIMARY KEY, v int CHECK (v > 0));
CREATE TABLE f_s (id int, v int);
INSERT INTO f_s VALUES (9, -9);
SELECT is(outcome(dq_gate.publish('f_s', 'f')), 'rejected 1: 1 quarantined', 'another table with the name of one that was dropped');
SELECT is((SELECT count(*) FROM a.f), 6::bigint, 'does not get its quarantine');

-- staged types of the same name that come and go
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE TABLE e (id int PRIMARY KEY, c text CHECK (c <> 'red'));
CREATE TABLE e_s (id int, c colour);
INSERT INTO e_s VALUES (1, 'red');
SELECT is(outcome(dq_gate.publish('e_s', 'e')), 'rejected 1: 1 quarantined', 'a staged enum');
ALTER TABLE e_s ALTER c TYPE text;
UPDATE e_s SET c = 'red';
INSERT INTO e_s VALUES (2, 'blue');
SELECT is(outcome(dq_gate.publish('e_s', 'e')), 'rejected 2: 2 quarantined', 'then text');
SELECT results_eq('SELECT c::text FROM dq_quarantine.e ORDER BY run_id, id', $$ VALUES ('red'), ('red'), ('blue') $$, 'all labels are there');

SELECT finish();
