-- the log: what it says, who may read it, and that nobody writes it
\ir include/helpers.sql
SELECT plan(57);

CREATE TABLE t (id int PRIMARY KEY, v int, big text);
CREATE TABLE s (id int, v int, big text);
INSERT INTO s SELECT g, CASE WHEN g % 2 = 0 THEN g ELSE -g END, repeat('x', 500) FROM generate_series(1, 20) g;
INSERT INTO s VALUES (21, NULL, NULL);
SELECT dq_gate.create_gate('t', owner => 'team') \g /dev/null
SELECT dq_gate.expect_range('t', 'v', min => 0, max => 100, action => 'quarantine', owner => 'v-team') \g /dev/null
SELECT dq_gate.expect_sql('t', 'short', 'length(big) < 100', action => 'warn', nulls => 'pass') \g /dev/null

-- the answer and the run
SET application_name = 'nightly load';
CREATE TEMP TABLE answer AS SELECT * FROM dq_gate.publish('s', 't', batch_id => 'b1', as_of => '2020-02-29');
SELECT results_eq('SELECT batch_id, verdict, passed, published, row_count, inserted, updated, unchanged, deleted, quarantined, dropped, checks_failed FROM answer',
	$$ VALUES ('b1', 'published', true, true, 21::bigint, 11::bigint, 0::bigint, 0::bigint, 0::bigint, 10::bigint, 0::bigint, 2) $$, 'publish answers with one row');
SELECT is((SELECT array_length(failures, 1) FROM answer), 2, 'with its failures');
SELECT ok((SELECT duration >= '0' AND duration < '1 minute' FROM answer), 'and how long it took');
SELECT results_eq('SELECT run_id, batch_id, verdict, passed, published, row_count, inserted, updated, unchanged, deleted, stale, quarantined, dropped, checks_failed, failures, duration FROM dq_gate.runs', 'TABLE answer',
	'which is what the log says');
SELECT results_eq('SELECT target, gate, staging, as_of, checks_run, error, error_sqlstate, quarantine, layer, owner, called_by, run_as, backend_pid, application_name FROM dq_gate.runs',
	$$ VALUES ('t'::regclass, 'public.t', 'public.s', date '2020-02-29', 7, NULL, NULL, 'dq_quarantine.t', NULL, 'team', name 'dq_tester', name 'dq_tester', pg_backend_pid(), 'nightly load') $$,
	'with who, what and for which day');
SELECT ok((SELECT started_at <= clock_timestamp() AND audit_time >= '0' AND publish_time >= '0' AND audit_time + publish_time <= duration FROM dq_gate.runs), 'and the times of its parts');
SELECT ok((SELECT started_at > now() - interval '1 minute' FROM dq_gate.runs), 'from when it was');

-- results
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run())), 7::bigint, 'each check has a result');
SELECT results_eq('SELECT check_no FROM dq_gate.results_of(last_run())', 'SELECT generate_series(1, 7)', 'in the order of the checks');
SELECT results_eq($$ SELECT check_type, columns, action, owner, origin, status, passed, examined_rows, failing_rows, null_rows FROM dq_gate.results_of(last_run()) WHERE check_name = 'v_range' $$,
	$$ VALUES ('range', '{v}'::text[], 'quarantine', 'v-team', 'declared', 'failed', false, 21::bigint, 10::bigint, 1::bigint) $$, 'that of a range');
SELECT results_eq($$ SELECT expected_value, actual_value, threshold FROM dq_gate.results_of(last_run()) WHERE check_name = 'v_range' $$,
	$$ VALUES ('v between 0 and 100', '-19 .. 20', '0 rows') $$, 'says what was expected, found and allowed');
SELECT is((SELECT jsonb_array_length(sample) FROM dq_gate.results_of(last_run()) WHERE check_name = 'v_range'), 5, 'a sample has five rows');
SELECT ok((SELECT bool_and((x ->> 'v')::int < 0 AND (x ->> 'id')::int = -(x ->> 'v')::int AND (SELECT count(*) FROM jsonb_object_keys(x)) = 2)
	FROM dq_gate.results_of(last_run()), jsonb_array_elements(sample) x WHERE check_name = 'v_range'), 'that failed, as their key and the column');
SELECT results_eq($$ SELECT status, failing_rows, null_rows FROM dq_gate.results_of(last_run()) WHERE check_name = 'short' $$, $$ VALUES ('failed', 20::bigint, 1::bigint) $$, 'that of a rule');
SELECT ok((SELECT max(length(x ->> 'big')) = 100 FROM dq_gate.results_of(last_run()), jsonb_array_elements(sample) x WHERE check_name = 'short'), 'long values are cut in a sample');
SELECT results_eq($$ SELECT check_name FROM dq_gate.results_of(last_run()) WHERE owner = 'team' ORDER BY check_no $$, $$ VALUES ('not_empty'), ('schema_contract'), ('volume'), ('key_unique'), ('id_not_null'), ('short') $$,
	'a check without an owner has that of the gate');
SELECT is((SELECT passed FROM dq_gate.results_of(last_run()) WHERE check_name = 'key_unique'), true, 'passed is passed');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'key_unique'), NULL, 'and has no sample');
SELECT is_empty('SELECT * FROM dq_gate.results_of(-1)', 'a run that is none has no results');

-- the failures do not say what is in the rows
SELECT unalike((SELECT string_agg(f, ' ') FROM dq_gate.runs, unnest(failures) f), '%-19%', 'failures name no value of a row');

-- a batch without a name gets one from the clock
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT matches((SELECT batch_id FROM dq_gate.runs WHERE run_id = last_run()), '^\d{8}T\d{6}\.\d{6}Z$', 'a batch that nobody named is named by the clock');
SELECT is((SELECT batch_id FROM dq_gate.runs WHERE run_id = last_run()), (SELECT to_char(started_at AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24MISS.US"Z"') FROM dq_gate.runs WHERE run_id = last_run()),
	'in UTC');
SELECT dq_gate.publish('s', 't', batch_id => '') \g /dev/null
SELECT matches((SELECT batch_id FROM dq_gate.runs WHERE run_id = last_run()), '^\d{8}T', 'and so is one with an empty name');
SELECT is((SELECT as_of FROM dq_gate.runs WHERE run_id = last_run()), NULL, 'its day is not known');

-- an audit
SELECT is((SELECT verdict || ' ' || published FROM dq_gate.audit('s', 't', batch_id => 'dry', as_of => '2020-03-01')), 'audited false', 'an audit');
SELECT results_eq('SELECT batch_id, as_of, verdict, passed, published, row_count, quarantined, publish_time, checks_failed FROM dq_gate.runs WHERE run_id = last_run()',
	$$ VALUES ('dry', date '2020-03-01', 'audited', true, false, 21::bigint, 0::bigint, NULL::interval, 2) $$, 'is logged as one');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run())), 7::bigint, 'with its results');
SELECT is_empty('SELECT 1 FROM dq_quarantine.t WHERE run_id = last_run()', 'and nothing in quarantine');
UPDATE s SET id = 1;
SELECT is((SELECT verdict || ' ' || passed FROM dq_gate.audit('s', 't')), 'audited false', 'one that found what blocks says that it did not pass');
UPDATE s SET id = v + 100 WHERE v IS NOT NULL;

BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT is((SELECT verdict FROM dq_gate.audit('s', 't')), 'audited', 'an audit, which publishes nothing, may look at an old snapshot');
COMMIT;

-- a rejected run
SELECT dq_gate.expect_range('t', 'v', min => 0, name => 'strict') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 21: 21 quarantined', 'a rejected batch');
SELECT results_eq('SELECT passed, published, inserted, updated, unchanged, deleted, dropped, quarantined FROM dq_gate.runs WHERE run_id = last_run()',
	$$ VALUES (false, false, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 21::bigint) $$, 'has all of its rows in quarantine');

-- a transaction of the caller
BEGIN;
SELECT dq_gate.publish('s', 't', batch_id => 'rolled back') \g /dev/null
ROLLBACK;
SELECT is_empty($$ SELECT 1 FROM dq_gate.runs WHERE batch_id = 'rolled back' $$, 'what the caller rolls back did not happen');
BEGIN;
SELECT dq_gate.publish('s', 't', batch_id => 'one') \g /dev/null
SELECT dq_gate.publish('s', 't', batch_id => 'two') \g /dev/null
COMMIT;
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE batch_id IN ('one', 'two')), 2::bigint, 'two runs in one transaction are two runs');

-- nobody but the extension writes it
SELECT throws_ok(format(statement, relation), '42501', NULL, format('an unprivileged role may not: ' || statement, relation))
FROM unnest(ARRAY['DELETE FROM dq_gate.%s', 'TRUNCATE dq_gate.%s', 'INSERT INTO dq_gate.%s SELECT * FROM dq_gate.%1$s', 'LOCK TABLE dq_gate.%s IN ACCESS EXCLUSIVE MODE', 'ALTER TABLE dq_gate.%s ADD x int',
		'DROP TABLE dq_gate.%s']) statement,
	unnest(ARRAY['runs', 'results', 'gates', 'checks', 'quarantines']) relation
WHERE statement LIKE 'DELETE%' OR relation IN ('runs', 'gates');
SELECT throws_ok($$ UPDATE dq_gate.runs SET verdict = 'published' $$, '42501', NULL, 'nor change a verdict');
SELECT throws_ok($$ SELECT nextval('dq_gate.run_id_seq') $$, '42501', NULL, 'nor use up numbers');
SELECT throws_ok($$ CREATE TABLE dq_quarantine.mine (id int) $$, '42501', NULL, 'nor make a quarantine');
SELECT throws_ok($$ CREATE TABLE dq_gate.mine (id int) $$, '42501', NULL, 'nor anything in our schema');

-- who reads it
SET ROLE dq_outsider;
SELECT is((SELECT count(*) FROM dq_gate.runs) + (SELECT count(*) FROM dq_gate.results) + (SELECT count(*) FROM dq_gate.gates) + (SELECT count(*) FROM dq_gate.checks)
	+ (SELECT count(*) FROM dq_gate.quarantines), 0::bigint, 'who may not read the target sees nothing of its log');
RESET ROLE;
SELECT last_run() AS run \gset
SET ROLE dq_outsider;
SELECT is_empty('SELECT 1 FROM dq_gate.results_of(' || :run || ')', 'not through results_of either');
RESET ROLE;
GRANT SELECT ON t TO dq_outsider;
SET ROLE dq_outsider;
SELECT ok((SELECT count(*) > 0 FROM dq_gate.runs) AND (SELECT count(*) > 0 FROM dq_gate.results) AND (SELECT count(*) > 0 FROM dq_gate.checks), 'who may read it sees its log');
SELECT throws_ok('SELECT * FROM dq_quarantine.t', '42501', NULL, 'but not the rejected rows');
RESET ROLE;

SELECT finish();
