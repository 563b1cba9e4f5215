-- expect_volume: as many rows as a batch of this gate usually has
\ir include/helpers.sql
SELECT plan(150);
SET client_min_messages = error;

CREATE TABLE s (id int);
CREATE TABLE t (id int PRIMARY KEY);
SELECT dq_gate.create_gate('t') \g /dev/null
CREATE FUNCTION stage(n int) RETURNS void LANGUAGE sql AS 'TRUNCATE s; INSERT INTO s SELECT generate_series(1, n)';
-- what the volume check of the last run found
CREATE FUNCTION found() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(status || ': ' || coalesce(message, actual_value), '; ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_type = 'volume'
$$;
CREATE FUNCTION load(n int, day date DEFAULT NULL, target regclass DEFAULT 't') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM stage(n);
	RETURN (dq_gate.publish('s', target, as_of => day)).verdict || ', ' || found();
END
$$;
-- the same without publishing, so that no later batch sees it
CREATE FUNCTION look(n int, day date DEFAULT NULL, target regclass DEFAULT 't') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM stage(n);
	PERFORM dq_gate.audit('s', target, as_of => day);
	RETURN found();
END
$$;
CREATE FUNCTION load_all(numbers int[], first_day date DEFAULT NULL, target regclass DEFAULT 't') RETURNS void LANGUAGE sql AS
	$$ SELECT load(n, first_day + no::int - 1, target) FROM unnest(numbers) WITH ORDINALITY AS u (n, no) ORDER BY no $$;
-- the number in the middle, or that between the two in the middle
CREATE FUNCTION middle(numbers float8[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT avg(n) FROM (SELECT n, row_number() OVER (ORDER BY n) AS no, count(*) OVER () AS size FROM unnest(numbers) n) o WHERE 2 * no BETWEEN size AND size + 2
$$;
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' $$;

-- what a gate expects for which nobody declared anything
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, owner, origin, filter, tolerance)::text FROM dq_gate.checks_of('t') WHERE check_name = 'volume'),
	'(volume,{},"number of rows between 0.5 and 2.0 times the median of the last 14 batches",block,,,"earlier batches",,)', 'every gate has a check of its volume');
SELECT is(load(n, NULL), format('published, not_judged: not enough history (%s of 5)', no - 1), 'O24: a first run does not alarm: ' || no)
FROM unnest(ARRAY[10, 1000, 1, 12, 8]) WITH ORDINALITY AS u (n, no) ORDER BY no;
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, examined_rows, failing_rows, null_rows, measured, sample)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'volume'),
	'(not_judged,,"number of rows between 0.5 and 2.0 times the median of the last 14 batches",,,,,,,)', 'the result of a check that is not judged');
SELECT is(look(10), 'passed: 10 rows, 1 times the median of 10', 'once there are five, it judges; two odd ones among them do not matter');
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, examined_rows, failing_rows, null_rows, measured, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'volume'),
	'(passed,t,"number of rows between 0.5 and 2.0 times the median of the last 14 batches","10 rows, 1 times the median of 10","between 0.5 and 2.0 times the median of the last 14 batches",10,,,10,,)', 'the result of a pass');
SELECT is(look(5), 'passed: 5 rows, 0.5 times the median of 10', 'half as many is still enough');
SELECT is(look(4), 'failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 4 rows, 0.4 times the median of 10', 'fewer is not');
SELECT is(look(20), 'passed: 20 rows, 2 times the median of 10', 'twice as many is not too many');
SELECT is(look(21), 'failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 21 rows, 2.1 times the median of 10', 'more is');
SELECT is(look(1), 'failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 1 row, 0.1 times the median of 10', 'one row is one row');
SELECT is(load(4), 'rejected, failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 4 rows, 0.4 times the median of 10', 'it blocks');
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, examined_rows, failing_rows, null_rows, measured, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'volume'),
	'(failed,f,"number of rows between 0.5 and 2.0 times the median of the last 14 batches","4 rows, 0.4 times the median of 10","between 0.5 and 2.0 times the median of the last 14 batches",4,,,4,,"number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 4 rows, 0.4 times the median of 10")', 'the result of a failure');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), ARRAY['volume: ' || message('volume')], 'the run says so');
SELECT results_eq('SELECT failed_checks FROM dq_quarantine.t', $$ SELECT '{}'::text[] FROM generate_series(1, 4) $$, 'the batch is in quarantine, and no row of it is to blame');
SELECT is((SELECT string_agg(baseline::text, ' ' ORDER BY run_id) FROM dq_gate.runs WHERE NOT published), 'false false false false false false false', 'O23: what was not published is no baseline');
SELECT is(look(10), 'passed: 10 rows, 1 times the median of 10', 'nor does it change what is usual');

-- the last 14 count, and an even number of batches has a median between two
CREATE TABLE w (id int PRIMARY KEY);
SELECT load_all(array_fill(10, ARRAY[13]), target => 'w'), load_all('{15,15,15,15,15,15}', target => 'w') \g /dev/null
SELECT is(look(10, target => 'w'), 'passed: 10 rows, 1 times the median of 10', '8 batches of 10 rows and 6 of 15');
SELECT load(15, target => 'w') \g /dev/null
SELECT is(look(25, target => 'w'), 'passed: 25 rows, 2 times the median of 12.5', '7 of each: what is between the two in the middle');
SELECT is(look(6, target => 'w'), 'failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 6 rows, 0.48 times the median of 12.5', 'and half of that');
SELECT load(15, target => 'w') \g /dev/null
SELECT is(look(15, target => 'w'), 'passed: 15 rows, 1 times the median of 15', 'one more, and the old ones are forgotten');

-- many batches against the median by hand
CREATE TABLE many (id int PRIMARY KEY);
SELECT dq_gate.expect_volume('many', 0.8, 1.25, history, min_history, action => 'warn', name => 'v' || history) FROM (VALUES (1, 1), (2, 2), (3, 1), (4, 4), (7, 3), (20, 10), (1000, 5)) AS v (history, min_history) \g /dev/null
SELECT load_all(ARRAY(SELECT 20 + i * i * 7919 % 23 FROM generate_series(1, 26) i), target => 'many') \g /dev/null
SELECT results_eq($$ SELECT run_id, check_name, status, actual_value FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE gate = 'public.many' AND check_type = 'volume' ORDER BY 1, 2 $$,
	$$ SELECT r.run_id, ('v' || v.history), CASE WHEN b.size < v.min_history THEN 'not_judged' WHEN r.row_count / b.median BETWEEN 0.8 AND 1.25 THEN 'passed' ELSE 'failed' END,
		CASE WHEN b.size >= v.min_history THEN format('%s rows, %s times the median of %s', r.row_count, round((r.row_count / b.median)::numeric, 2)::float8, b.median) END
	FROM dq_gate.runs r, (VALUES (1, 1), (2, 2), (3, 1), (4, 4), (7, 3), (20, 10), (1000, 5)) AS v (history, min_history),
		LATERAL (SELECT middle(array_agg(row_count)), count(*) FROM (SELECT row_count FROM dq_gate.runs e WHERE e.gate = r.gate AND e.run_id < r.run_id ORDER BY run_id DESC LIMIT v.history) e) AS b (median, size)
	WHERE r.gate = 'public.many' ORDER BY 1, 2 $$, 'histories of all lengths, as computed by hand');
SELECT cmp_ok((SELECT count(DISTINCT status) FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE gate = 'public.many' AND check_name = 'v7'), '=', 3::bigint, 'which pass, fail and are not judged');
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE gate = 'public.many' AND baseline), 26::bigint, 'a batch that is warned of is a baseline all the same');

-- a history without any spread
CREATE TABLE constant (id int PRIMARY KEY);
SELECT load_all(array_fill(100, ARRAY[14]), target => 'constant') \g /dev/null
SELECT is(load(101, target => 'constant'), 'published, passed: 101 rows, 1.01 times the median of 100', 'O22: one row more than always does not alarm');
SELECT is(load(99, target => 'constant'), 'published, passed: 99 rows, 0.99 times the median of 100', 'nor does one row less');

-- a batch without rows
SELECT is(load(0, target => 'constant'), 'rejected, failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 0 rows, 0 times the median of 100', 'no rows are too few');
SELECT is(not_passed(), 'not_empty failed, volume failed', 'and they are none, too');
CREATE TABLE fresh (id int PRIMARY KEY);
SELECT is(load(0, target => 'fresh'), 'rejected, not_judged: not enough history (0 of 5)', 'without a history an empty batch is rejected as well');
SELECT dq_gate.expect_volume('fresh', 0, 1, min_history => 1, action => 'warn') \g /dev/null
SELECT load(3, target => 'fresh') \g /dev/null
SELECT is(load(0, target => 'fresh'), 'rejected, passed: 0 rows, 0 times the median of 3', 'a least ratio of 0 has no objection to an empty batch; the gate has');
SELECT is(look(3, target => 'fresh'), 'passed: 3 rows, 1 times the median of 3', 'nor is that one a baseline');

-- a declared one takes the place of the derived one, whatever its action
SELECT is(dq_gate.expect_volume('t', 0.9, 1.1, action => 'warn', owner => 'ops', severity => 'minor'), 'volume', 'it is named after its type');
SELECT results_eq($$ SELECT check_name, rule, action, owner, origin, severity FROM dq_gate.checks_of('t') WHERE check_type = 'volume' $$,
	$$ VALUES ('volume', 'number of rows between 0.9 and 1.1 times the median of the last 14 batches', 'warn', 'ops', 'declared', 'minor') $$, 'it is the only one');
SELECT is(load(4), 'published, failed: number of rows not between 0.9 and 1.1 times the median of the last 14 batches: 4 rows, 0.4 times the median of 10', 'a warning lets the batch pass');
SELECT drop_all('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null
SELECT is(load(1), 'published, not_judged: declared only, not evaluated', 'it can be turned off');
SELECT drop_all('t'), dq_gate.expect_volume('t', action => 'skip', name => 'arrived') \g /dev/null
SELECT is(load(1), 'skipped, failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 1 row, 0.13 times the median of 8', 'or make a batch that has not arrived be left alone');
SELECT is((SELECT ROW(baseline, published)::text FROM dq_gate.runs WHERE run_id = last_run()), '(f,f)', 'which is no baseline either');
SELECT dq_gate.expect_volume('t', 0.01, 100, 3, 1, name => 'rough') \g /dev/null
SELECT is(look(10), 'passed: 10 rows, 1.25 times the median of 8; passed: 10 rows, 2.5 times the median of 4', 'two of them are both judged');
SELECT drop_all('t') \g /dev/null
SELECT is((SELECT rule || ' ' || origin FROM dq_gate.checks_of('t') WHERE check_type = 'volume'), 'number of rows between 0.5 and 2.0 times the median of the last 14 batches earlier batches', 'once it is dropped the derived one is back');
SELECT dq_gate.expect_row_count('t', min => 1, name => 'volume') \g /dev/null
SELECT is((SELECT check_name FROM dq_gate.checks_of('t') WHERE check_type = 'volume'), 'volume_2', 'a check of another type that has its name does not replace it');
SELECT drop_all('t') \g /dev/null

-- one side
SELECT dq_gate.expect_volume('t', max_ratio => NULL, action => 'warn', name => 'least'), dq_gate.expect_volume('t', NULL, 1.5, action => 'warn', name => 'most') \g /dev/null
SELECT results_eq($$ SELECT rule FROM dq_gate.checks_of('t') WHERE check_type = 'volume' ORDER BY check_name $$,
	$$ VALUES ('number of rows at least 0.5 times the median of the last 14 batches'), ('number of rows at most 1.5 times the median of the last 14 batches') $$, 'NULL leaves a side open');
SELECT is(look(1000), 'passed: 1000 rows, 125 times the median of 8; failed: number of rows not at most 1.5 times the median of the last 14 batches: 1000 rows, 125 times the median of 8', 'above there may be anything');
SELECT is(look(1), 'failed: number of rows not at least 0.5 times the median of the last 14 batches: 1 row, 0.13 times the median of 8; passed: 1 row, 0.13 times the median of 8', 'or below');
SELECT drop_all('t') \g /dev/null

-- days: what is in them, and no older batch
CREATE TABLE d (id int PRIMARY KEY);
SELECT dq_gate.expect_volume('d', history => 3, min_history => 1, by => 'days', action => 'warn') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('d') WHERE check_type = 'volume'), 'number of rows between 0.5 and 2.0 times the median of the batches of 3 days', 'batches of days');
SELECT load_all('{50,10,20,30}', '2024-02-26', 'd') \g /dev/null
SELECT is(look(20, '2024-03-01', 'd'), 'passed: 20 rows, 1 times the median of 20', 'three days before are included, a fourth is not');
SELECT is(look(20, '2024-03-02', 'd'), 'passed: 20 rows, 0.8 times the median of 25', 'a day without a batch is a day');
SELECT is(look(20, '2024-03-03', 'd'), 'passed: 20 rows, 0.67 times the median of 30', 'and another one');
SELECT is(look(20, '2024-03-04', 'd'), 'not_judged: not enough history (0 of 1)', 'nor is a day made up for by an older batch');
-- several of them a day
CREATE TABLE h (id int PRIMARY KEY);
SELECT dq_gate.expect_volume('h', history => 3, min_history => 3, by => 'days', action => 'warn'), load_all('{1,1,1,1,20,20,20}', target => 'h') \g /dev/null
SELECT is(look(20, target => 'h'), 'failed: number of rows not between 0.5 and 2.0 times the median of the batches of 3 days: 20 rows, 20 times the median of 1', 'all batches of these days count, however many there are');
SELECT lives_ok($$ SELECT dq_gate.expect_volume('h', history => 1, min_history => 24, by => 'days', action => 'warn', name => 'day') $$, 'a day may well have more batches than one');

-- weekday: Saturdays and Sundays have a tenth of the rows
CREATE TABLE wd (id int PRIMARY KEY);
SELECT dq_gate.expect_volume('wd', 0.8, 1.2, history => 4, min_history => 2, by => 'weekday'), dq_gate.expect_volume('wd', 0.8, 1.2, history => 4, min_history => 2, action => 'warn', name => 'any_day') \g /dev/null
SELECT load_all(ARRAY(SELECT CASE WHEN extract(isodow FROM date '2024-01-01' + i) < 6 THEN 100 + i / 7 ELSE 10 END FROM generate_series(0, 34) i), '2024-01-01', 'wd') \g /dev/null
SELECT is((SELECT string_agg(DISTINCT verdict, ' ') FROM dq_gate.runs WHERE gate = 'public.wd'), 'published', 'a weekend is compared with weekends');
SELECT is((SELECT count(*) FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE gate = 'public.wd' AND check_name = 'volume' AND status = 'passed'), 21::bigint, 'from the third week on');
SELECT is((SELECT string_agg(DISTINCT to_char(as_of, 'ID'), ' ') FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE gate = 'public.wd' AND check_name = 'any_day' AND status = 'failed' AND as_of >= '2024-01-06'), '1 2 3 6 7', 'otherwise it would alarm, and so would Mondays to Wednesdays');
SELECT dq_gate.drop_check('wd', 'any_day') \g /dev/null
SELECT is(look(100, '2024-02-05', 'wd'), 'passed: 100 rows, 0.98 times the median of 102.5', 'the last four Mondays had 101, 102, 103 and 104 rows');
SELECT is(look(10, '2024-02-05', 'wd'), 'failed: number of rows not between 0.8 and 1.2 times the median of the last 4 batches of the same weekday: 10 rows, 0.1 times the median of 102.5', 'a Monday of as many rows as a Sunday alarms');
SELECT is(look(100, '2024-02-10', 'wd'), 'failed: number of rows not between 0.8 and 1.2 times the median of the last 4 batches of the same weekday: 100 rows, 10 times the median of 10', 'so does a Saturday of as many as a Friday');

-- month_end: the last day of a month, whatever its number
CREATE TABLE m (id int PRIMARY KEY);
SELECT dq_gate.expect_volume('m', 0.5, 2, history => 6, min_history => 2, by => 'month_end') \g /dev/null
SELECT is((SELECT string_agg(load(CASE WHEN day IN ('2023-12-31', '2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30') THEN 50 ELSE 5 END, day, 'm'), ' ' ORDER BY day) ~ 'rejected' FROM unnest('{2023-12-30,2023-12-31,2024-01-01,2024-01-30,2024-01-31,2024-02-01,2024-02-28,2024-02-29,2024-03-01,2024-03-30,2024-03-31,2024-04-30}'::date[]) day), false, 'ends of months are compared with ends of months');
SELECT is(look(50, '2024-05-31', 'm'), 'passed: 50 rows, 1 times the median of 50', 'the next one');
SELECT is(look(50, '2024-05-30', 'm'), 'failed: number of rows not between 0.5 and 2 times the median of the last 6 batches that end a month, or do not, as this one: 50 rows, 10 times the median of 5', 'a day before is none');
SELECT is(look(50, '2025-02-28', 'm'), 'passed: 50 rows, 1 times the median of 50', 'the end of February');
SELECT is(split_part(look(50, '2028-02-28', 'm'), ':', 1), 'failed', 'but not in a leap year');

-- hour: dates have none, so each is compared with all of them
CREATE TABLE hour (id int PRIMARY KEY);
SELECT dq_gate.expect_volume('hour', history => 3, min_history => 1, by => 'hour', action => 'warn'), load_all('{4,8,6}', '2024-01-01', 'hour') \g /dev/null
SELECT is(look(6, '2024-01-04', 'hour'), 'passed: 6 rows, 1 times the median of 6', 'midnights');
SELECT is((SELECT rule FROM dq_gate.checks_of('hour') WHERE check_type = 'volume'), 'number of rows between 0.5 and 2.0 times the median of the last 3 batches of the same hour', 'in words');

-- without as_of a batch stands where its run started, in UTC
SET timezone = 'Pacific/Kiritimati';
SELECT load(40, target => 'hour'), load(40, target => 'wd'), load(40, target => 'm') \g /dev/null
SELECT is((SELECT bool_and(batch_time = started_at AT TIME ZONE 'UTC') FROM dq_gate.runs WHERE as_of IS NULL), true, 'a run without a date stands where it started');
RESET timezone;
CREATE FUNCTION usual(name text, kind text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce('times the median of ' || middle((array_agg(e.row_count ORDER BY e.batch_time DESC))[1:CASE kind WHEN 'hour' THEN 3 WHEN 'weekday' THEN 4 ELSE 6 END]), 'not enough history')
	FROM dq_gate.runs r, dq_gate.runs e WHERE r.run_id = last_run() AND e.gate = 'public.' || name AND e.baseline AND e.batch_time < r.started_at AT TIME ZONE 'UTC'
	AND CASE kind WHEN 'hour' THEN to_char(e.batch_time, 'HH24') = to_char(r.started_at AT TIME ZONE 'UTC', 'HH24') WHEN 'weekday' THEN to_char(e.batch_time, 'Dy') = to_char(r.started_at AT TIME ZONE 'UTC', 'Dy')
		ELSE (date_trunc('month', e.batch_time) + interval '1 month' - interval '1 day')::date = e.batch_time::date END = CASE kind WHEN 'month_end' THEN (SELECT (date_trunc('month', u) + interval '1 month' - interval '1 day')::date = u::date FROM (SELECT r.started_at AT TIME ZONE 'UTC') AS u (u)) ELSE true END
$$;
SELECT ok(look(40, target => name) LIKE '%' || usual(name, kind) || '%', 'and is compared with what stands in the same ' || kind) FROM (VALUES ('hour', 'hour'), ('wd', 'weekday'), ('m', 'month_end')) AS v (name, kind);

-- the zone of the session does not matter
CREATE FUNCTION in_zone(zone text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('TimeZone', zone, true);
	RETURN look(100, '2024-02-05', 'wd') || ', ' || look(50, '2024-05-31', 'm') || ', ' || look(20, '2024-03-01', 'd') || ', ' || look(6, '2024-01-04', 'hour');
END
$$;
SELECT is(in_zone(zone), 'passed: 100 rows, 0.98 times the median of 102.5, passed: 50 rows, 1 times the median of 50, passed: 20 rows, 1 times the median of 20, passed: 6 rows, 1 times the median of 6', 'in ' || zone)
FROM unnest(ARRAY['UTC', 'America/Los_Angeles', 'Pacific/Kiritimati', 'Asia/Kolkata']) zone;
RESET timezone;
SELECT is((SELECT bool_and(batch_time = as_of::timestamp) FROM dq_gate.runs WHERE as_of IS NOT NULL), true, 'a date stands at its midnight');

-- the same date again, once more and earlier
CREATE TABLE r (id int PRIMARY KEY);
SELECT dq_gate.expect_volume('r', 0.5, 2, min_history => 2), load_all('{10,20,30}', '2024-01-01', 'r') \g /dev/null
SELECT is(load(28, '2024-01-03', 'r'), 'published, passed: 28 rows, 1.87 times the median of 15', 'a date that is loaded again is not compared with itself');
SELECT is((SELECT string_agg(row_count || ' ' || baseline, ', ' ORDER BY run_id) FROM dq_gate.runs WHERE gate = 'public.r'), '10 true, 20 true, 30 false, 28 true', 'and takes the place of what it was');
SELECT is(look(20, '2024-01-04', 'r'), 'passed: 20 rows, 1 times the median of 20', 'it counts once');
SELECT is(load(2, '2024-01-03', 'r'), 'rejected, failed: number of rows not between 0.5 and 2 times the median of the last 14 batches: 2 rows, 0.13 times the median of 15', 'rejected, it takes no place');
SELECT is((SELECT string_agg(row_count || ' ' || baseline, ', ' ORDER BY run_id) FROM dq_gate.runs WHERE gate = 'public.r' AND as_of = '2024-01-03'), '30 false, 28 true, 2 false', 'and what was there before stays');
SELECT is(look(7, '2024-01-03', 'r') || ', ' || (SELECT count(*) FROM dq_gate.runs WHERE gate = 'public.r' AND baseline), 'failed: number of rows not between 0.5 and 2 times the median of the last 14 batches: 7 rows, 0.47 times the median of 15, 3', 'nor does a dry run');
SELECT is(load(16, '2023-12-25', 'r'), 'published, not_judged: not enough history (0 of 2)', 'an old date is compared with those before it, of which there is none');
SELECT is(load(12, '2024-01-02', 'r'), 'published, passed: 12 rows, 0.92 times the median of 13', 'a later one with the older ones alone');
SELECT is(look(14, '2024-01-04', 'r'), 'passed: 14 rows, 1 times the median of 14', 'and both are in the history of those after them: 16, 10, 12, 28');
SELECT load(n, day, 'r') FROM (VALUES (11, date '2024-01-04'), (13, '2024-01-04'), (12, '2024-01-04')) AS v (n, day) \g /dev/null
SELECT is((SELECT count(*) || ' ' || count(DISTINCT as_of) FROM dq_gate.runs WHERE gate = 'public.r' AND baseline), '5 5', 'however often a date is loaded, it counts once');
-- beside runs without a date
SELECT is(load(24, target => 'r'), 'published, passed: 24 rows, 2 times the median of 12', 'a run without a date stands behind all dates of the past');
SELECT is(load(24, target => 'r'), 'published, passed: 24 rows, 1.71 times the median of 14', 'and one more behind it');
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE gate = 'public.r' AND baseline), 7::bigint, 'without a date each is a batch of its own');
SELECT is(look(12, '2024-01-05', 'r'), 'passed: 12 rows, 1 times the median of 12', 'which a date of the past does not see');
SELECT is(look(16, '9999-12-31', 'r'), 'passed: 16 rows, 1 times the median of 16', 'but one of the future does: 10, 12, 12, 16, 24, 24, 28');
SELECT load(8, '9999-12-31', 'r') \g /dev/null
SELECT is(look(16, target => 'r'), 'passed: 16 rows, 1 times the median of 16', 'a date of the future is no history yet');
SELECT is(look(12, 'infinity', 'r') || ', ' || look(12, '-infinity', 'r'), 'passed: 12 rows, 0.86 times the median of 14, not_judged: not enough history (0 of 2)', 'dates without an end or a beginning');

-- what is no baseline
CREATE TABLE b (id int PRIMARY KEY, CONSTRAINT small CHECK (id < 1000));
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 777 THEN RAISE 'not this one'; END IF; RETURN NEW; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON b FOR EACH ROW EXECUTE FUNCTION refuse();
SELECT dq_gate.expect_volume('b', 0.5, 2, min_history => 1, action => 'warn'), dq_gate.expect_row_count('b', min => 3, action => 'skip'), dq_gate.expect_sql('b', 'even', 'id <> 5', action => 'quarantine'), dq_gate.expect_sql('b', 'less', 'id < 9', action => 'warn') \g /dev/null
CREATE FUNCTION shown() RETURNS text LANGUAGE sql AS $$ SELECT verdict || ' ' || row_count || CASE WHEN baseline THEN ' baseline' ELSE '' END FROM dq_gate.runs WHERE run_id = last_run() $$;
SELECT load(4, target => 'b') \g /dev/null
SELECT is(shown(), 'published 4 baseline', 'what is published is');
SELECT load(2, target => 'b') \g /dev/null
SELECT is(shown(), 'skipped 2', 'what is skipped is not');
SELECT load(1005, target => 'b') \g /dev/null
SELECT is(shown(), 'rejected 1005', 'what is rejected is not');
SELECT load(800, target => 'b') \g /dev/null
SELECT is(shown(), 'failed 800', 'what the target refuses is not');
SELECT look(6, target => 'b') \g /dev/null
SELECT is(shown(), 'audited 6', 'what is only looked at is not');
SELECT load(6, target => 'b') \g /dev/null
SELECT is(shown() || '; ' || found(), 'published 6 baseline; passed: 6 rows, 1.5 times the median of 4', 'a batch some rows of which are quarantined is one, with all its rows');
SELECT is(load(9, target => 'b') || '; ' || shown(), 'published, passed: 9 rows, 1.8 times the median of 5; published 9 baseline', 'so is one that is warned of');
SELECT dq_gate.expect_sql('b', 'broken', '1 / (id - id) > 0', action => 'warn') \g /dev/null
SELECT is(load(8, target => 'b') || '; ' || shown(), 'published, passed: 8 rows, 1.33 times the median of 6; published 8 baseline', 'or that has a warning that cannot be evaluated');

-- a gate that does not enforce
CREATE TABLE e (id int PRIMARY KEY);
SELECT dq_gate.create_gate('e', enforce => false), load_all('{10,10,10,10,10}', '2024-01-01', 'e') \g /dev/null
SELECT is(load(30, '2024-01-06', 'e') || '; ' || shown(), 'published, failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 30 rows, 3 times the median of 10; published 30', 'a gate that is calibrated publishes what it would block, which is no baseline');
SELECT is(load(20, '2024-01-07', 'e') || '; ' || shown(), 'published, passed: 20 rows, 2 times the median of 10; published 20 baseline', 'what it would publish is');
SELECT is(load(40, '2024-01-07', 'e') || '; ' || shown() || '; ' || (SELECT row_count FROM dq_gate.runs WHERE gate = 'public.e' AND baseline AND as_of = '2024-01-07'), 'published, failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 40 rows, 4 times the median of 10; published 40; 20', 'nor does such a batch take the place of one');
SELECT dq_gate.expect_sql('e', 'low', 'id < 18', action => 'warn') \g /dev/null
SELECT is(load(19, '2024-01-08', 'e') || '; ' || shown(), 'published, passed: 19 rows, 1.9 times the median of 10; published 19 baseline', 'a warning does not matter');
SELECT is(load(0, '2024-01-09', 'e') || '; ' || shown(), 'published, failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 0 rows, 0 times the median of 10; published 0', 'nor is an empty batch ever a baseline');
SELECT dq_gate.expect_sql('e', 'lower', 'id < 17') \g /dev/null
SELECT is(load(18, '2024-01-10', 'e') || '; ' || shown(), 'published, passed: 18 rows, 1.8 times the median of 10; published 18', 'nor one that any other check would block');
SELECT dq_gate.alter_gate('e', enforce => true) \g /dev/null
SELECT is(look(10, '2024-01-11', 'e'), 'passed: 10 rows, 1 times the median of 10', 'once it enforces, it goes on from there: 5 times 10, 20 and 19');

-- a gate that is dropped and made again, two gates, a table that is dropped and made again
SELECT dq_gate.drop_gate('e'), dq_gate.create_gate('e') \g /dev/null
SELECT is(look(30, '2024-01-11', 'e'), 'failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 30 rows, 3 times the median of 10', 'a gate that is made again has the history of its table');
ALTER TABLE e RENAME TO renamed;
SELECT is(look(10, '2024-01-11', 'renamed'), 'passed: 10 rows, 1 times the median of 10', 'as has one of a table that was renamed');
CREATE TABLE e (id int PRIMARY KEY);
SELECT is(load(3, '2024-01-11', 'e'), 'published, not_judged: not enough history (0 of 5)', 'a new table of the old name has none');
DROP TABLE renamed;
CREATE TABLE renamed (id int PRIMARY KEY);
SELECT is(look(10, '2024-01-11', 'renamed'), 'not_judged: not enough history (0 of 5)', 'nor does it have that of a table that was dropped');
CREATE TABLE one (id int PRIMARY KEY);
CREATE TABLE two (id int PRIMARY KEY);
SELECT load(10, target => 'one'), load(100, target => 'two') FROM generate_series(1, 5) \g /dev/null
SELECT is(look(10, target => 'one') || ', ' || look(100, target => 'two'), 'passed: 10 rows, 1 times the median of 10, passed: 100 rows, 1 times the median of 100', 'two gates have two histories');

-- names of any kind
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab'le" (id int PRIMARY KEY);
SELECT is(dq_gate.expect_volume('"Odd Schema"."Tab''le"', 0.5, 2, 5, 2, name => 'Vol"ume $1 %s'), 'Vol"ume $1 %s', 'O09: quoted names');
SELECT load_all('{6,4}', '2024-01-01', '"Odd Schema"."Tab''le"') \g /dev/null
SELECT is(load(1, '2024-01-03', '"Odd Schema"."Tab''le"'), 'rejected, failed: number of rows not between 0.5 and 2 times the median of the last 5 batches: 1 row, 0.2 times the median of 5', 'O09: do not matter');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), ARRAY['Vol"ume $1 %s: number of rows not between 0.5 and 2 times the median of the last 5 batches: 1 row, 0.2 times the median of 5'], 'O09: and are said as they are');

-- by a role that cannot read the log
CREATE TABLE hidden (id int PRIMARY KEY);
GRANT SELECT ON s TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON hidden TO dq_loader;
SELECT dq_gate.create_gate('hidden', run_as => 'dq_loader'), dq_gate.expect_volume('hidden', min_history => 2), load_all('{7,9,8}', target => 'hidden'), stage(2) \g /dev/null
REVOKE SELECT ON hidden FROM dq_loader;
SET ROLE dq_loader;
SELECT dq_gate.audit('s', 'hidden') \g /dev/null
SELECT count(*) AS seen FROM dq_gate.runs WHERE gate = 'public.hidden' \gset
RESET ROLE;
SELECT is(:seen || ' ' || found(), '0 failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 2 rows, 0.25 times the median of 8', 'a role that sees no run is told the median all the same');

-- whatever operators the caller has
CREATE SCHEMA trap;
CREATE FUNCTION trap.never(timestamp, timestamp) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR trap.< (LEFTARG = timestamp, RIGHTARG = timestamp, FUNCTION = trap.never);
CREATE FUNCTION trap.always(float8, float8) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR trap.>= (LEFTARG = float8, RIGHTARG = float8, FUNCTION = trap.always);
SET search_path = trap, pg_catalog, public;
SELECT is(look(4, target => 'one'), 'failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 4 rows, 0.4 times the median of 10', 'operators of the caller do not change the answer');
RESET search_path;

-- numbers of rows are no values: they stay without samples
SELECT dq_gate.expect_volume('one', samples => false, action => 'warn') \g /dev/null
SELECT is(look(4, target => 'one'), 'failed: number of rows not between 0.5 and 2.0 times the median of the last 14 batches: 4 rows, 0.4 times the median of 10', 'numbers of rows are shown without samples');
SELECT is((SELECT ROW(actual_value, measured)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'volume'), '("4 rows, 0.4 times the median of 10",4)', 'and measured');

-- refused when declared
SELECT raises(format('SELECT dq_gate.expect_volume(''t'', %s)', call), state, pattern, name) FROM (VALUES
	('NULL, NULL', '22023', '"volume" needs min_ratio, max_ratio or both', 'no bound'),
	('-0.1', '22023', '"min_ratio" must not be negative', 'a negative ratio'),
	('0.5, -1', '22023', '"max_ratio" must not be negative', 'another one'),
	('''NaN''', '22023', '"min_ratio" must not be NaN', 'NaN'),
	('1.5, 0.5', '22023', 'min_ratio 1.5 is above max_ratio 0.5', 'bounds the wrong way round'),
	('10, 9', '22023', 'min_ratio 10 is above max_ratio 9', 'compared as numbers'),
	('history => 0', '22023', 'history cannot be 0[^$]*from 1 to 1000', 'no history'),
	('history => -5', '22023', 'history cannot be -5[^$]*from 1 to 1000', 'a negative one'),
	('history => 1001', '22023', 'history cannot be 1001[^$]*from 1 to 1000', 'too much of it'),
	('min_history => 0', '22023', 'min_history cannot be 0[^$]*from 1 to the history of 14', 'to judge by nothing'),
	('min_history => 15', '22023', 'min_history cannot be 15[^$]*from 1 to the history of 14', 'to wait for more than what is looked at'),
	('history => 4', '22023', 'min_history cannot be 5[^$]*from 1 to the history of 4', 'which the default does'),
	('history => NULL', '22004', '"history" and "min_history" must not be NULL', 'NULL'),
	('min_history => NULL', '22004', '"history" and "min_history" must not be NULL', 'NULL again'),
	('by => NULL', '22004', '"by" must not be NULL', 'by NULL'),
	('by => ''''', '22004', '"by" must not be NULL or empty', 'by nothing'),
	('by => ''week''', '22023', 'by "week" is not known[^$]*"batches", "days", "weekday", "hour" or "month_end"', 'by something else'),
	('by => ''Days''', '22023', 'by "Days" is not known', 'in other letters'),
	('action => ''quarantine''', '22023', 'volume[^$]*quarantine[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved'),
	('action => ''drop''', '22023', 'volume[^$]*drop[^$]*block', 'or dropped'),
	('filter => ''id > 1''', '22023', '"volume" does not take "filter"', 'a filter'),
	('nulls => ''fail''', '22023', '"volume" does not take "nulls"[^$]*batch as a whole', 'what to do with NULL'),
	('max_rate => 0.1', '22023', '"volume" does not take "max_rate"[^$]*batch as a whole', 'a rate'),
	('max_rows => 1', '22023', '"volume" does not take "max_rows"[^$]*batch as a whole', 'a number of rows'),
	('warn_above => 1', '22023', '"volume" does not take "warn_above"[^$]*batch as a whole', 'a level'),
	('block_above => 1', '22023', '"volume" does not take "block_above"[^$]*batch as a whole', 'another level')) AS v (call, state, pattern, name);
SELECT raises('SELECT dq_gate.expect_volume(NULL)', '22004', '"target" must not be NULL', 'no target');
SELECT dq_gate.expect_volume('t', name => 'v') \g /dev/null
SELECT raises('SELECT dq_gate.expect_volume(''t'', name => ''v'')', '42710', 'check v of gate public.t already exists', 'a second of the same name');
SELECT is((SELECT count(*) FROM dq_gate.checks WHERE target = 't'::regclass), 1::bigint, 'nothing of that was kept');
SELECT lives_ok($$ SELECT dq_gate.expect_volume('t', 0.25, 0.25, 1000, 1000, 'days', name => 'ends') $$, 'the ends of what is allowed');

-- it is exported and imported as it was declared
SELECT is((SELECT c -> 'arguments' FROM jsonb_array_elements(dq_gate.export_gate('fresh') -> 'checks') c), '{"by": "batches", "action": "warn", "history": 14, "max_ratio": 1, "min_ratio": 0, "min_history": 1}', 'it is exported with its arguments');
SELECT finish();
