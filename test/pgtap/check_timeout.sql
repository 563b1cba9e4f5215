-- check_timeout: a check that takes too long is a broken check, and leaves the others alone
\ir include/helpers.sql
SELECT plan(54);

CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE s (LIKE t);
INSERT INTO s VALUES (1, 1), (2, -1), (3, NULL);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
CREATE FUNCTION slow(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_sleep(600); RETURN true; END $$;
CREATE FUNCTION limit_of(target regclass) RETURNS interval LANGUAGE sql AS 'SELECT check_timeout FROM dq_gate.gates g WHERE g.target = $1';

-- set, changed, taken back
SELECT dq_gate.create_gate('t', check_timeout => '500 ms'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null
SELECT is(limit_of('t'), '500 ms', 'a gate may limit the time of its checks');
SELECT dq_gate.alter_gate('t', owner => 'somebody') \g /dev/null
SELECT is(limit_of('t'), '500 ms', 'another change leaves the limit');
SELECT dq_gate.alter_gate('t', check_timeout => '1 hour') \g /dev/null
SELECT is(limit_of('t'), '1 hour', 'it can be changed');
SELECT dq_gate.alter_gate('t', check_timeout => '0') \g /dev/null
SELECT is(limit_of('t'), NULL, '0 takes it back');
SET IntervalStyle = 'iso_8601';
SELECT dq_gate.alter_gate('t', check_timeout => 'PT0.3S') \g /dev/null
RESET IntervalStyle;
SELECT is(limit_of('t'), '300 ms', 'whatever the style of intervals of the session');
SELECT raises(format('SELECT dq_gate.alter_gate(''t'', check_timeout => %L)', limits), '22023', '"check_timeout" must be between 1 millisecond and 24 days[^$]*0 takes the limit back', 'refused: ' || limits)
FROM unnest(ARRAY['1 microsecond', '25 days', '1 month', '1000 years']) limits;
SELECT raises(format('SELECT dq_gate.alter_gate(''t'', check_timeout => %L)', limits), '22023', '"check_timeout" must not be negative[^$]*0 takes it back', 'refused: ' || limits)
FROM unnest(ARRAY['-1 second', '-1 month']) limits;
CREATE TABLE other (id int PRIMARY KEY);
SELECT raises($$ SELECT dq_gate.create_gate('other', check_timeout => '-1 second') $$, '22023', 'check_timeout', 'for a new gate as well');
SELECT is(limit_of('t'), '300 ms', 'what is refused changes nothing');
SELECT lives_ok($$ SELECT dq_gate.create_gate('other', check_timeout => '24 days') $$, 'the longest there is');
SELECT lives_ok($$ SELECT dq_gate.alter_gate('other', check_timeout => '1 ms') $$, 'and the shortest');

-- a rule about rows
SELECT dq_gate.alter_gate('t', check_timeout => '500 ms'), dq_gate.expect_sql('t', 'slow', 'slow(id)'), dq_gate.expect_range('t', 'v', 0, action => 'warn', name => 'after'), dq_gate.expect_range('t', 'v', 0, action => 'warn', name => 'before'), dq_gate.expect_row_count('t', 3, 3) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'a check that takes too long keeps the batch out');
SELECT is((SELECT status || ', ' || passed || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'slow'), 'error, false, could not be evaluated: took longer than the check_timeout of the gate, 0.5 s', 'and says so');
SELECT is((SELECT failures::text ~ 'slow: could not be evaluated: took longer than the check_timeout' FROM dq_gate.runs WHERE run_id = last_run()), true, 'the run as well');
SELECT is(finding('before') || '; ' || finding('after') || '; ' || (SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count'), 'failed 1 of 3, 1 null; failed 1 of 3, 1 null; passed', 'the other checks are judged all the same');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', $$ VALUES (1, '{}'::text[]), (2, '{after,before}'), (3, '{}') $$, 'no row is said to have failed it');
SELECT is_empty('TABLE t', 'nothing is published');
SELECT drop_all('t') \g /dev/null

-- with other actions, as every broken check
SELECT dq_gate.expect_sql('t', 'slow', 'slow(id)', action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || not_passed(), 'published 3: 3 inserted: slow error', 'with action warn it is said');
SELECT drop_all('t'), dq_gate.expect_sql('t', 'slow', 'slow(id)', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'with action quarantine nobody knows which rows to move');
SELECT drop_all('t'), dq_gate.expect_query('t', 'slow', 'SELECT 1 WHERE slow(1)', action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'with action skip nobody knows whether the batch is ready');
SELECT drop_all('t') \g /dev/null

-- whatever takes the time: a filter, a query, an aggregate, values of a query, a reference
CREATE VIEW slow_view AS SELECT 1 AS id WHERE slow(1);
SELECT dq_gate.expect_range('t', 'v', 0, filter => 'slow(id)', name => 'c1', action => 'warn'), dq_gate.expect_query('t', 'c2', 'SELECT 1 WHERE slow(1)', action => 'warn'), dq_gate.expect_query('t', 'c3', 'SELECT count(*) FROM slow_view', 0, action => 'warn'), dq_gate.expect_aggregate('t', 'c4', 'count(*) FILTER (WHERE slow(id))', 0, action => 'warn'),
	dq_gate.expect_accepted_values('t', 'v', query => 'SELECT id FROM slow_view', name => 'c5', action => 'warn'), dq_gate.expect_referential('t', '{v}', 'slow_view', '{id}', name => 'c6', action => 'warn'), dq_gate.expect_row_count_match('t', 'slow_view', name => 'c7', action => 'warn'), dq_gate.expect_row_count('t', 3, filter => 'slow(id)', name => 'c8', action => 'warn'),
	dq_gate.expect_reconciled('t', 'slow_view', name => 'c9', action => 'warn'), dq_gate.expect_row_count('t', 3, 3, name => 'quick'), dq_gate.expect_distinct('t', '{v}', 2, 2, name => 'quick_too') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'many slow checks, with action warn');
SELECT is(not_passed(), 'c1 error, c2 error, c3 error, c4 error, c5 error, c6 error, c7 error, c8 error, c9 error', 'each of them is broken, and no other');
SELECT is((SELECT string_agg(DISTINCT message, '; ') FROM dq_gate.results_of(last_run()) WHERE status = 'error'), 'could not be evaluated: took longer than the check_timeout of the gate, 0.5 s', 'for that reason');
SELECT drop_all('t') \g /dev/null

-- without samples the reason is said all the same: it holds no value
SELECT dq_gate.expect_sql('t', 'slow', 'slow(id)', samples => false, action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('slow'), 'could not be evaluated: took longer than the check_timeout of the gate, 0.5 s', 'without samples the reason is said all the same');
SELECT drop_all('t') \g /dev/null

-- a check that catches the cancel does not get around the limit for good
CREATE FUNCTION stubborn(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN BEGIN PERFORM pg_sleep(1); EXCEPTION WHEN query_canceled THEN RETURN true; END; RETURN true; END $$;
SELECT dq_gate.expect_sql('t', 'stubborn', 'stubborn(id)', action => 'warn'), dq_gate.expect_row_count('t', 3, 3) \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'a check that catches its own cancel');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count'), 'passed', 'harms no other');
SELECT drop_all('t') \g /dev/null
SELECT is((SELECT count(*) FROM pg_sleep(0.7)), 1::bigint, 'nor what the session does next');
-- an error of the check itself is what it is
CREATE FUNCTION canceled(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'canceled by hand' USING ERRCODE = 'query_canceled'; END $$;
SELECT dq_gate.expect_sql('t', 'canceled', 'canceled(id)', action => 'warn') \g /dev/null
SELECT last_run() AS runs \gset
\set ON_ERROR_STOP 0
SELECT dq_gate.publish('s', 't');
\set ON_ERROR_STOP 1
SELECT is(:'LAST_ERROR_SQLSTATE'::text || ' ' || :'LAST_ERROR_MESSAGE', '57014 canceled by hand', 'a cancel that is none of the limit reaches the caller');
SELECT is(last_run(), :runs::bigint, 'and leaves no run behind');
SELECT drop_all('t') \g /dev/null

-- what is quick is not hit, however often it is run, nor is the session afterwards
SELECT dq_gate.expect_range('t', 'v', -5), dq_gate.expect_query('t', 'q', 'SELECT 1 WHERE false'), dq_gate.expect_unique('t', '{v}'), dq_gate.alter_gate('t', check_timeout => '10 seconds') \g /dev/null
DO $$ BEGIN FOR i IN 1 .. 40 LOOP IF (dq_gate.audit('s', 't')).checks_failed > 0 THEN RAISE EXCEPTION 'run % failed', i; END IF; END LOOP; END $$;
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE verdict = 'audited' AND checks_failed = 0), 40::bigint, 'forty runs of quick checks');
SELECT drop_all('t'), dq_gate.expect_query('t', 'slow', 'SELECT 1 WHERE slow(1)', action => 'warn'), dq_gate.expect_range('t', 'v', -5), dq_gate.alter_gate('t', check_timeout => '500 ms') \g /dev/null
SET client_min_messages = error;
DO $$ BEGIN FOR i IN 1 .. 5 LOOP PERFORM dq_gate.audit('s', 't'); END LOOP; END $$;
RESET client_min_messages;
SELECT is((SELECT count(*) FROM dq_gate.results WHERE run_id > last_run() - 5 AND check_name = 'slow' AND status = 'error'), 5::bigint, 'five runs of a slow one');
SELECT is((SELECT count(*) FROM dq_gate.results WHERE run_id > last_run() - 5 AND check_name <> 'slow' AND status IN ('failed', 'error')), 0::bigint, 'hit no other check');
SELECT is((SELECT count(*) FROM pg_sleep(0.7)), 1::bigint, 'nor the session');
SELECT dq_gate.alter_gate('t', check_timeout => '0'), drop_all('t') \g /dev/null
CREATE FUNCTION tenth(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN true; END $$;
SELECT dq_gate.expect_sql('t', 'tenth', 'tenth(id)') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || coalesce(not_passed(), ''), 'published', 'without a limit a check may take its time');
SELECT drop_all('t') \g /dev/null

-- statement_timeout is the caller's, also where a check has a limit
SELECT dq_gate.alter_gate('t', check_timeout => '5 minutes'), dq_gate.expect_sql('t', 'slow', 'slow(id)') \g /dev/null
SELECT last_run() AS runs, (SELECT count(*) FROM dq_quarantine.t) AS kept \gset
SET statement_timeout = '200ms';
\set ON_ERROR_STOP 0
SELECT dq_gate.publish('s', 't');
\set ON_ERROR_STOP 1
RESET statement_timeout;
SELECT is(:'LAST_ERROR_SQLSTATE'::text, '57014', 'a timeout of the caller reaches it');
SELECT is(:'LAST_ERROR_MESSAGE'::text ~ 'check_timeout', false, 'as it is');
SELECT is(last_run(), :runs::bigint, 'and leaves no run behind');
SELECT is((SELECT count(*) FROM dq_quarantine.t), :kept::bigint, 'nothing in quarantine');
SET statement_timeout = '200ms';
\set ON_ERROR_STOP 0
CALL dq_gate.publish_or_fail('s', 't');
\set ON_ERROR_STOP 1
RESET statement_timeout;
SELECT is(:'LAST_ERROR_SQLSTATE'::text || ' ' || last_run(), '57014 ' || :'runs', 'by publish_or_fail as well');
SELECT is_empty($$ SELECT 1 FROM pg_locks WHERE pid = pg_backend_pid() AND (locktype = 'advisory' OR mode IN ('ShareLock', 'ExclusiveLock', 'ShareRowExclusiveLock') AND locktype IN ('relation', 'object')) $$, 'and no lock');
SELECT is(current_user || current_setting('transaction_read_only') || current_setting('search_path'), 'dq_testeroff"$user", public', 'the session is as it was');
-- the limit of the check is the shorter one here
SELECT dq_gate.alter_gate('t', check_timeout => '500 ms') \g /dev/null
SET statement_timeout = '5min';
SELECT is((dq_gate.audit('s', 't')).verdict, 'audited', 'a limit that is shorter than the statement_timeout');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'slow'), 'error', 'is the check''s');
SELECT is((SELECT count(*) FROM pg_sleep(0.7)), 1::bigint, 'and does not hit what comes next');
RESET statement_timeout;

-- so is a cancel by the user: somebody else cancels the session while the check sleeps
SELECT dq_gate.alter_gate('t', check_timeout => '5 minutes'), last_run() AS runs \gset
SELECT count(*) AS kept FROM dq_quarantine.t \gset
CREATE FUNCTION cancel_me(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(600); RETURN true; END $$;
SELECT drop_all('t'), dq_gate.expect_sql('t', 'cancels', 'cancel_me(id)', action => 'warn') \g /dev/null
\set ON_ERROR_STOP 0
SELECT dq_gate.publish('s', 't');
\set ON_ERROR_STOP 1
SELECT is(:'LAST_ERROR_SQLSTATE'::text, '57014', 'a cancel by the user reaches the caller');
SELECT is(:'LAST_ERROR_MESSAGE'::text ~ 'check_timeout', false, 'as it is');
SELECT is(last_run(), :runs::bigint, 'and leaves no run behind');
SELECT is((SELECT count(*) FROM dq_quarantine.t), :kept::bigint, 'nothing in quarantine');
SELECT drop_all('t'), dq_gate.expect_row_count('t', 3, 3) \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'the next run is in order');

-- it limits checks, not the publish
CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$;
CREATE TRIGGER slowly BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION slowly();
UPDATE s SET v = 100 WHERE id = 1;
SELECT dq_gate.alter_gate('t', check_timeout => '500 ms') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 1 updated, 2 unchanged', 'a publish may take longer than a check');


SELECT finish();
