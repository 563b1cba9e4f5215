-- expect_ready: the source is ready to be read; else the run is skipped, and fails past a deadline
\ir include/helpers.sql
SELECT plan(86);

CREATE SCHEMA "B x";
CREATE TABLE "B x"."br""onze" (id int PRIMARY KEY);
CREATE TABLE bronze_staging (id int);
CREATE TABLE silver (id int PRIMARY KEY, n int NOT NULL);
CREATE TABLE silver_staging (id int, n int);
CREATE TABLE gold (id int PRIMARY KEY);
CREATE TABLE gold_staging (id int);
CREATE TABLE loads (day date, done bool);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, name) FROM dq_gate.checks c WHERE c.target = $1 AND check_type = 'ready' $$;
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS
	$$ SELECT concat_ws(' ', verdict, passed, row_count, failures::text) FROM dq_gate.runs WHERE run_id = last_run() $$;
-- one call of publish: the verdict, and what the check says
CREATE FUNCTION tried(day date DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r	dq_gate.run_summary;
BEGIN
	r := dq_gate.publish('silver_staging', 'silver', as_of => day);
	RETURN r.verdict || coalesce(': ' || (SELECT string_agg(coalesce(message, actual_value), '; ' ORDER BY check_name)
		FROM dq_gate.results_of(r.run_id) WHERE check_type = 'ready'), '');
END
$$;
INSERT INTO bronze_staging VALUES (1), (2);
INSERT INTO silver_staging VALUES (1, 1), (2, NULL);
INSERT INTO gold_staging VALUES (1);
SELECT dq_gate.create_gate('silver', 'silver_staging'), dq_gate.create_gate('gold', 'gold_staging') \g /dev/null

-- a condition
SELECT is(dq_gate.expect_ready('silver', 'EXISTS (SELECT FROM loads WHERE day = dq_gate.as_of() AND done)'), 'ready', 'a condition');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin, tolerance)::text FROM dq_gate.checks_of('silver') WHERE check_name = 'ready'),
	'(ready,{},"EXISTS (SELECT FROM loads WHERE day = dq_gate.as_of() AND done)",skip,,declared,)', 'as checks_of shows it');
SELECT is(tried('2026-01-02'), 'skipped: not ready: EXISTS (SELECT FROM loads WHERE day = dq_gate.as_of() AND done)', 'not ready: skipped, with the reason');
SELECT is(state(), 'skipped f {"ready: not ready: EXISTS (SELECT FROM loads WHERE day = dq_gate.as_of() AND done) (skip)"}', 'and nothing is counted');
SELECT is((SELECT ROW(checks_run, checks_failed, rules_hash, inserted, quarantined, dropped, stale, published, quarantine, error)::text FROM dq_gate.runs WHERE run_id = last_run()),
	'(1,1,,,,,,f,,)', 'no other check is asked, though the batch is bad');
SELECT is((SELECT ROW(status, action, passed, expected_value, actual_value, threshold, examined_rows, failing_rows, sample)::text FROM dq_gate.results_of(last_run())),
	'(failed,skip,f,"EXISTS (SELECT FROM loads WHERE day = dq_gate.as_of() AND done)",false,,,,)', 'the result');
SELECT is_empty('SELECT 1 FROM dq_gate.quarantines', 'nothing goes to quarantine');
SELECT results_eq('SELECT * FROM silver_staging', 'VALUES (1, 1), (2, NULL)', 'and staging is left alone');
INSERT INTO loads VALUES ('2026-01-02', false);
SELECT is(tried('2026-01-02'), 'skipped: not ready: EXISTS (SELECT FROM loads WHERE day = dq_gate.as_of() AND done)', 'a marker of something else');
UPDATE loads SET done = true;
SELECT is(tried('2026-01-03'), 'skipped: not ready: EXISTS (SELECT FROM loads WHERE day = dq_gate.as_of() AND done)', 'a marker of another day');
SELECT is(tried('2026-01-02'), 'rejected: true', 'ready: the batch is audited');
SELECT is(not_passed(), 'n_not_null failed', 'by all checks');
SELECT is((SELECT ROW(status, passed, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'ready'), '(passed,t,)', 'and the check is among those that passed');
UPDATE silver_staging SET n = 1;
SELECT is(tried('2026-01-02'), 'published: true', 'a good one is published');
SELECT drop_all('silver') \g /dev/null

-- what is asked: NULL is not ready, a query is where every row is true and there is one
CREATE FUNCTION asked(condition text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM drop_all('silver'), dq_gate.expect_ready('silver', condition);
	PERFORM dq_gate.audit('silver_staging', 'silver', as_of => '2026-01-02');
	RETURN (SELECT concat_ws(' ', status, actual_value) FROM dq_gate.results_of(last_run()) WHERE check_type = 'ready');
END
$$;
SELECT is(asked(condition), expected, condition) FROM (VALUES
	('true', 'passed true'), ('false', 'failed false'), ('NULL::bool', 'failed false'), ('1 = 1 -- a comment', 'passed true'),
	('SELECT true', 'passed true'), ('SELECT done FROM loads', 'passed true'), ('SELECT done FROM loads WHERE false', 'failed no row'),
	('SELECT done FROM loads;', 'passed true'), ('SELECT done FROM loads -- a comment', 'passed true'),
	('(SELECT bool_and(done) FROM loads WHERE false)', 'failed false'), ('VALUES (true), (false)', 'failed false'), ('VALUES (true), (true)', 'passed true'),
	('SELECT NULL::bool', 'failed false'), ('WITH l AS (TABLE loads) SELECT l.done FROM l ORDER BY l.day LIMIT 1', 'passed true'),
	('SELECT count(*) = (SELECT count(*) FROM silver) FROM silver_staging', 'passed true'),
	('SELECT EXISTS (SELECT FROM loads)', 'passed true')) AS v (condition, expected);
SELECT is(asked('1 / (length(dq_gate.batch_id()) * 0) = 1'), 'error', 'a condition that cannot be evaluated');
SELECT is((SELECT ROW(verdict, passed, failures[1])::text FROM dq_gate.runs WHERE run_id = last_run()),
	'(audited,f,"ready: could not be evaluated: division by zero (skip)")', 'is a failed check');
SELECT is(split_part(tried(), ':', 1), 'rejected', 'and fails the run');
SELECT is(state(), 'rejected f {"ready: could not be evaluated: division by zero (skip)"}', 'before anything is looked at');
SELECT is_empty($$ SELECT 1 FROM dq_gate.runs WHERE run_id = last_run() AND quarantine IS NOT NULL $$, 'so nothing goes to quarantine');
SELECT drop_all('silver') \g /dev/null

-- names are those of when it was declared, and follow renames
CREATE SCHEMA other;
CREATE TABLE other.loads (done bool);
INSERT INTO other.loads VALUES (false);
SELECT dq_gate.expect_ready('silver', 'SELECT done FROM loads') \g /dev/null
SET search_path = other, public;
SELECT public.is(public.tried(), 'published: true', 'another table of the name, on the search_path of the caller');
RESET search_path;
SELECT drop_all('silver') \g /dev/null

-- the gate of another table, for the same as_of
SELECT is(dq_gate.expect_ready('silver', upstream => '"B x"."br""onze"', name => 'bronze'), 'bronze', 'another gate');
SELECT is((SELECT rule FROM dq_gate.checks_of('silver') WHERE check_name = 'bronze'), 'gate "B x"."br""onze" has published', 'as checks_of shows it');
SELECT is(tried('2026-02-01'), 'skipped: not ready: gate "B x"."br""onze" has published', 'it has not published at all');
SELECT is((SELECT ROW(status, actual_value)::text FROM dq_gate.results_of(last_run())), '(failed,"not published")', 'the result');
SELECT dq_gate.audit('bronze_staging', '"B x"."br""onze"', as_of => '2026-02-01') \g /dev/null
SELECT is(split_part(tried('2026-02-01'), ':', 1), 'skipped', 'a dry run of it is none');
SELECT dq_gate.publish('bronze_staging', '"B x"."br""onze"', as_of => '2026-01-31') \g /dev/null
SELECT is(split_part(tried('2026-02-01'), ':', 1), 'skipped', 'another date neither');
SELECT dq_gate.publish('bronze_staging', '"B x"."br""onze"', as_of => '2026-02-01') \g /dev/null
SELECT is(tried('2026-02-01'), 'published: published', 'the same as_of');
SELECT is(tried('2026-01-31'), 'published: published', 'and an earlier one, out of turn');
-- bronze before silver before gold
SELECT dq_gate.expect_ready('gold', upstream => 'silver') \g /dev/null
SELECT is((SELECT (dq_gate.publish('gold_staging', 'gold', as_of => '2026-02-02')).verdict), 'skipped', 'gold waits for silver');
SELECT is(split_part(tried('2026-02-02'), ':', 1), 'skipped', 'which waits for bronze');
SELECT dq_gate.publish('bronze_staging', '"B x"."br""onze"', as_of => '2026-02-02') \g /dev/null
SELECT is((SELECT (dq_gate.publish('gold_staging', 'gold', as_of => '2026-02-02')).verdict), 'skipped', 'bronze alone is not enough');
SELECT is(tried('2026-02-02'), 'published: published', 'then silver');
SELECT is((SELECT (dq_gate.publish('gold_staging', 'gold', as_of => '2026-02-02')).verdict), 'published', 'then gold');
-- without as_of: since this gate last did
SELECT is(tried(), 'skipped: not ready: gate "B x"."br""onze" has published', 'nothing new since the last publish');
SELECT dq_gate.publish('bronze_staging', '"B x"."br""onze"') \g /dev/null
SELECT is(tried(), 'published: published', 'something new');
SELECT is(split_part(tried(), ':', 1), 'skipped', 'which is used once');
ALTER TABLE "B x"."br""onze" RENAME TO renamed;
SELECT is((SELECT rule FROM dq_gate.checks_of('silver') WHERE check_name = 'bronze'), 'gate "B x".renamed has published', 'it follows its table');
DROP TABLE "B x".renamed;
SELECT is(tried(), 'rejected: could not be evaluated: the table of the other gate is gone', 'a table that is gone does not let a batch through');
SELECT drop_all('silver') \g /dev/null

-- deadlines: from the midnight of as_of on, or from when it was first missed
SELECT dq_gate.expect_ready('silver', 'false', deadline => '30 hours'), dq_gate.expect_ready('silver', 'false', name => 'other') \g /dev/null
SELECT is((SELECT threshold FROM dq_gate.results_of((dq_gate.audit('silver_staging', 'silver')).run_id) WHERE check_name = 'ready'), 'within 30:00:00', 'a deadline');
SELECT is(split_part(tried(current_date), ':', 1), 'skipped', 'before it');
SELECT is(split_part(tried(current_date + 10), ':', 1), 'skipped', 'long before it');
SELECT is(tried('2020-03-01'), 'rejected: not ready: false; not ready: false, past the deadline of 2020-03-02 06:00:00+00', 'after it, whatever else is not ready')
	FROM set_config('TimeZone', 'UTC', false);
SELECT is(state(), 'rejected f {"other: not ready: false (skip)","ready: not ready: false, past the deadline of 2020-03-02 06:00:00+00"}', 'it is a failure, and says so');
SELECT is((SELECT ROW(action, status)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'ready'), '(block,failed)', 'its action is block then');
SELECT is((SELECT ROW(quarantined, quarantine)::text FROM dq_gate.runs WHERE run_id = last_run()), '(,)', 'nothing goes to quarantine, as nothing was looked at');
SELECT set_config('TimeZone', 'America/New_York', false) \g /dev/null
SELECT matches(tried('2020-03-01'), 'past the deadline of 2020-03-02 06:00:00-05', 'midnight is that of the session');
RESET TimeZone;
SELECT is((SELECT ROW(verdict, passed)::text FROM dq_gate.audit('silver_staging', 'silver', as_of => '2020-03-01')), '(audited,f)', 'a dry run says it as well');
SELECT drop_all('silver'), dq_gate.expect_ready('silver', 'false', deadline => '0.4 s') \g /dev/null
SELECT is(split_part(tried(), ':', 1), 'skipped', 'without as_of: missed for the first time');
SELECT pg_sleep(0.5) \g /dev/null
SELECT is(split_part(tried(), ':', 1), 'rejected', 'and for too long');
SELECT is(split_part(tried(), ':', 1), 'rejected', 'until it is ready');
SELECT drop_all('silver'), dq_gate.expect_ready('silver', 'true', deadline => '0.4 s') \g /dev/null
SELECT is(tried(), 'published: true', 'ready after all');
SELECT drop_all('silver'), dq_gate.expect_ready('silver', 'false', deadline => '0.4 s') \g /dev/null
SELECT is(split_part(tried(), ':', 1), 'skipped', 'the next time counts anew');
-- a gate that does not enforce its checks still waits
SELECT dq_gate.alter_gate('silver', enforce => false) \g /dev/null
SELECT is(split_part(tried(), ':', 1), 'skipped', 'while it is calibrated as well');
SELECT dq_gate.alter_gate('silver', enforce => true) \g /dev/null
SELECT drop_all('silver') \g /dev/null
SELECT dq_gate.expect_ready('silver', 'false', action => 'declare', name => 'said') \g /dev/null
SELECT is(split_part(tried(), ':', 1), 'published', 'one that is only declared is not asked');
SELECT is((SELECT status || ': ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'said'), 'not_judged: declared only, not evaluated', 'and says so');
SELECT drop_all('silver') \g /dev/null

-- staging that nobody writes: alone, it is so; see 022_ticks.pl for the others
SELECT dq_gate.expect_ready('silver', idle => true) \g /dev/null
SELECT is(tried(), 'published: idle', 'idle');
SELECT drop_all('silver') \g /dev/null

-- it reads, no more
CREATE FUNCTION meddle() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.loads VALUES ('2026-05-05', true); RETURN true; END $$;
SELECT dq_gate.expect_ready('silver', 'meddle()') \g /dev/null
SELECT is(tried(), 'rejected: could not be evaluated: cannot execute INSERT in a read-only transaction', 'a condition must not write');
SELECT drop_all('silver') \g /dev/null

SELECT raises($$ SELECT dq_gate.expect_ready('silver') $$, '22023', 'needs one of "condition", "upstream" and "idle"', 'nothing to ask');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'true', idle => true) $$, '22023', 'needs one of', 'two things');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'SELECT 1') $$, '42804', 'must be boolean', 'a number');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'SELECT true, true') $$, '42804', 'must be boolean', 'two columns');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'SELECT true; SELECT true') $$, '42601', 'one query', 'two statements');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'DELETE FROM loads') $$, '22023', 'only reads', 'a statement that writes');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'n > 0') $$, '42703', 'n', 'a column: there is no row yet');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'EXISTS (') $$, '42601', 'syntax error', 'half an expression');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', upstream => 'silver') $$, '22023', 'cannot wait for itself', 'itself');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', upstream => 'pg_class') $$, '42809', 'cannot be a target', 'a table that has no gate');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'true', deadline => '-1 hour') $$, '22023', 'deadline', 'a deadline before the day');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'true', action => 'block') $$, '22023', 'It takes "skip", "declare"', 'another action');
SELECT raises($$ SELECT dq_gate.expect_ready('silver', 'true', filter => 'n > 1') $$, '22023', 'does not take "filter"', 'a filter');

SELECT * FROM finish();
