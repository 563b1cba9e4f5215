-- a check that cannot be evaluated is a failed check, and leaves the others alone
\ir include/helpers.sql
SELECT plan(36);

CREATE TABLE t (id int PRIMARY KEY, a int, d date NOT NULL);
CREATE TABLE s (id int, a int, d date);
INSERT INTO s VALUES (1, 0, '2020-01-01'), (2, 5, '2020-01-02'), (3, -1, '2020-01-03');
SELECT dq_gate.create_gate('t') \g /dev/null
SELECT dq_gate.expect_range('t', 'a', min => 0, action => 'warn', name => 'before') \g /dev/null
SELECT dq_gate.expect_sql('t', 'divides', '10 / a > 0') \g /dev/null
SELECT dq_gate.expect_range('t', 'a', max => 4, action => 'warn', name => 'later') \g /dev/null

SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'a rule that divides by zero keeps the batch out');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'divides'), 'error', 'it is told apart from a rule that found bad data');
SELECT matches(message('divides'), 'division by zero', 'with the error in its message');
SELECT is((SELECT passed FROM dq_gate.results_of(last_run()) WHERE check_name = 'divides'), false, 'and has not passed');
SELECT is(finding('before'), 'failed 1 of 3', 'the check before it is judged');
SELECT is(finding('later'), 'failed 1 of 3', 'and the one behind it');
SELECT is(finding('d_not_null'), 'passed 0 of 3', 'and the derived ones');
SELECT is((SELECT checks_failed FROM dq_gate.runs WHERE run_id = last_run()), 3, 'the run counts it among the failed checks');
SELECT ok((SELECT 'divides' = ANY (SELECT split_part(f, ':', 1) FROM unnest(failures) f) FROM dq_gate.runs WHERE run_id = last_run()), 'and names it');
SELECT is((SELECT array_agg(DISTINCT failed_checks::text) FROM dq_quarantine.t WHERE run_id = last_run()), '{"{before}","{later}","{}"}'::text[],
	'no row is said to have failed it');
SELECT is_empty('TABLE t', 'nothing is published');

-- whatever the action: which rows it would have moved nobody knows
SELECT dq_gate.drop_check('t', 'divides') \g /dev/null
SELECT dq_gate.expect_sql('t', 'divides', '10 / a > 0', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'a broken check that would quarantine rows closes the gate');
SELECT dq_gate.drop_check('t', 'divides') \g /dev/null
SELECT dq_gate.expect_sql('t', 'divides', '10 / a > 0', action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 3 inserted', 'one that only warns does not');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'divides'), 'error', 'and is an error all the same');
SELECT dq_gate.drop_check('t', 'divides') \g /dev/null

-- several broken ones among many good ones
SELECT dq_gate.expect_sql('t', format('rule_%s', lpad(n::text, 3, '0')),
	CASE WHEN n IN (7, 50, 51) THEN format('1 / (a - a) = %s', n) ELSE format('a < %s', 1000 + n) END, action => 'warn')
FROM generate_series(1, 60) n \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT results_eq($$ SELECT check_name, status FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^rule' AND status <> 'passed' ORDER BY 1 $$,
	$$ VALUES ('rule_007', 'error'), ('rule_050', 'error'), ('rule_051', 'error') $$, 'of 60 checks the three broken ones are found');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^rule' AND examined_rows = 3 AND status = 'passed'), 57::bigint,
	'and the others are judged on all rows');
SELECT dq_gate.drop_check('t', format('rule_%s', lpad(n::text, 3, '0'))) FROM generate_series(1, 60) n \g /dev/null

-- what breaks after it was declared
CREATE FUNCTION fine(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 < 100';
SELECT dq_gate.expect_sql('t', 'calls', 'fine(a)', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 3 unchanged', 'a rule that calls a function');
DROP FUNCTION fine(int);
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'is broken once that is gone');
SELECT matches(message('calls'), 'fine.*does not exist', 'and says so');
SELECT is(finding('before'), 'failed 1 of 3', 'while the others are judged');
SELECT dq_gate.drop_check('t', 'calls') \g /dev/null

ALTER TABLE t ADD extra int, ADD unused int;
ALTER TABLE s ADD extra int, ADD unused int;
SELECT dq_gate.expect_range('t', 'extra', min => 0) \g /dev/null
SELECT dq_gate.expect_sql('t', 'extra_too', 'extra IS NULL') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 3 unchanged', 'rules about a column');
ALTER TABLE s DROP extra;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'that is not staged any more');
SELECT is((SELECT string_agg(status, ',') FROM dq_gate.results_of(last_run()) WHERE check_name LIKE 'extra%'), 'error,error', 'are broken, not passed');
SELECT matches(message('extra_range'), 'extra.*missing', 'and say which column is missing');
ALTER TABLE t DROP extra;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'and so where the target dropped it');
SELECT is((SELECT string_agg(status, ',') FROM dq_gate.results_of(last_run()) WHERE check_name LIKE 'extra%'), 'error,error', 'each of them');
SELECT matches(message('extra_too'), 'extra.*does not exist', 'with the column named');
SELECT lives_ok($$ SELECT * FROM dq_gate.checks_of('t') $$, 'they can still be looked at');
SELECT dq_gate.drop_check('t', 'extra_range'), dq_gate.drop_check('t', 'extra_too') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 3 unchanged', 'and dropped, and the gate works again');

-- a raised exception with a text of its own, and one that is no error of the data
CREATE FUNCTION shout(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'not % today', $1 USING DETAIL = 'come back'; END $$;
SELECT dq_gate.expect_sql('t', 'shouts', 'shout(id)') \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT matches(message('shouts'), 'not 1 today.*come back', 'an exception keeps its message and detail');
CREATE OR REPLACE FUNCTION shout(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'later' USING ERRCODE = 'serialization_failure'; END $$;
SELECT raises($$ SELECT dq_gate.publish('s', 't') $$, '40001', 'later', 'a serialization failure is not a finding: it reaches the caller');
CREATE OR REPLACE FUNCTION shout(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = 'lock_not_available'; END $$;
SELECT raises($$ SELECT dq_gate.publish('s', 't') $$, '55P03', 'locked', 'nor is a lock that is not available');
CREATE OR REPLACE FUNCTION shout(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$;
SELECT raises($$ SELECT dq_gate.publish('s', 't') $$, '53100', 'full', 'nor is a disk that is full');

-- statement_timeout is the caller's
CREATE OR REPLACE FUNCTION shout(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_sleep(60); RETURN true; END $$;
SELECT last_run() AS runs \gset
SET statement_timeout = '200ms';
\set ON_ERROR_STOP 0
SELECT dq_gate.publish('s', 't');
\set ON_ERROR_STOP 1
RESET statement_timeout;
SELECT is(:'LAST_ERROR_SQLSTATE'::text, '57014', 'a timeout of the caller reaches it');
SELECT is(last_run(), :runs::bigint, 'and leaves no run behind');
SELECT is_empty($$ SELECT 1 FROM pg_locks WHERE pid = pg_backend_pid() AND (locktype = 'advisory' OR mode IN ('ShareLock', 'ExclusiveLock', 'ShareRowExclusiveLock') AND locktype IN ('relation', 'object')) $$,
	'and no lock');

SELECT finish();
