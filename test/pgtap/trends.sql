-- the views of the log: what they say, by SQL written another way, and to whom
\ir include/helpers.sql
CREATE SCHEMA "My Lake";
CREATE TABLE "My Lake"."Or""ders" (id int PRIMARY KEY, v int);
CREATE TABLE staged (id int, v int);
CREATE TABLE other (id int PRIMARY KEY);
CREATE TABLE other_staged (id int);
CREATE TABLE never (id int PRIMARY KEY);
SELECT dq_gate.create_gate('"My Lake"."Or""ders"', layer => 'silver', owner => 'team'), dq_gate.create_gate('other', owner => 'others'), dq_gate.create_gate('never') \g /dev/null
SELECT dq_gate.expect_range('"My Lake"."Or""ders"', 'v', 0, 100, action => 'warn', owner => 'v-team', severity => 'minor'),
	dq_gate.expect_row_count('"My Lake"."Or""ders"', max => 100, name => 'it''s "small"'),
	dq_gate.expect_aggregate('"My Lake"."Or""ders"', 'mean', 'avg(v)', -1000, 1000),
	dq_gate.expect_sql('"My Lake"."Or""ders"', 'never true', 'v > 1000', action => 'warn'),
	dq_gate.expect_sql('"My Lake"."Or""ders"', 'early', 'dq_gate.as_of() < ''2020-01-13''', action => 'warn'),
	dq_gate.expect_sql('"My Lake"."Or""ders"', 'broken', '1 / (v - 12) <> 0', action => 'warn') \g /dev/null

-- twenty days, of which one comes twice, with a batch before it that is too large
SET client_min_messages = error;
CREATE FUNCTION a_day(n int, size int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE staged;
	INSERT INTO staged SELECT g, CASE WHEN n >= 18 AND g = 1 THEN -1 ELSE 10 + g % 7 + n % 3 END FROM generate_series(1, size) g;
	RETURN (dq_gate.publish('staged', '"My Lake"."Or""ders"', format('b%s %s', n, size), date '2020-01-01' + n)).verdict;
END
$$;
CREATE TABLE days AS SELECT n, size, NULL::text AS verdict FROM generate_series(0, 19) n, LATERAL (VALUES (10 + n * 7 % 13), (CASE n WHEN 12 THEN 500 END)) s (size) WHERE size IS NOT NULL;
DO $$
DECLARE d record;
BEGIN
	FOR d IN SELECT * FROM days ORDER BY n, size DESC LOOP
		UPDATE days SET verdict = a_day(d.n, d.size) WHERE days.n = d.n AND days.size = d.size;
	END LOOP;
END
$$;
INSERT INTO other_staged VALUES (NULL);
SELECT dq_gate.publish('other_staged', 'other', 'o1'), dq_gate.audit('other_staged', 'other', 'o2') \g /dev/null
-- as if they had been made each on its day, which ended three weeks ago to one day ago
\connect - postgres
UPDATE dq_gate.runs SET started_at = now() - (20 - (as_of - date '2020-01-01')) * interval '1 day' - interval '1 hour' + run_id * interval '1 ms' WHERE as_of IS NOT NULL;
\connect - dq_tester
SELECT plan(34);
CREATE TEMP TABLE logged AS SELECT r.run_id, r.started_at, r.batch_time, r.baseline, r.gate, r.as_of, r.layer, r.owner AS gate_owner, r.verdict, r.batch_id, s.check_name, s.measured, s.status, s.passed, s.owner, s.message
	FROM dq_gate.runs r JOIN dq_gate.results s USING (run_id);

SELECT is((SELECT string_agg(verdict, ', ' ORDER BY n, size DESC) FROM days WHERE n BETWEEN 11 AND 13), 'published, rejected, published, published', 'there is a history');

-- results under the names that teams know
SELECT columns_are('dq_gate', 'dq_check_results', ARRAY['run_id', 'pipeline_run_dt', 'layer', 'table_name', 'check_type', 'check_name', 'expected_value', 'actual_value', 'threshold', 'passed', 'failure_message',
	'status', 'action', 'severity', 'owner', 'batch_id', 'verdict', 'started_at']);
SELECT bag_eq('SELECT run_id, layer, table_name, check_name, passed, failure_message, batch_id, verdict, owner FROM dq_gate.dq_check_results',
	'SELECT run_id, layer, gate, check_name, passed, message, batch_id, verdict, owner FROM logged', 'dq_check_results has every result of every run');
SELECT results_eq($$ SELECT pipeline_run_dt, layer, table_name, check_type, check_name, expected_value, actual_value, threshold, passed, failure_message, action, severity, owner, status
	FROM dq_gate.dq_check_results WHERE batch_id = 'b19 13' AND check_name = 'v_range' $$,
	$$ VALUES (date '2020-01-20', 'silver', '"My Lake"."Or""ders"', 'range', 'v_range', 'v between 0 and 100', '-1 .. 17', '0 rows', false, '1 of 13 rows: v not between 0 and 100, for example {"v": -1, "id": 1}', 'warn', 'minor', 'v-team', 'failed') $$, 'such as this one');
SELECT ok(bool_and(pipeline_run_dt = (started_at AT TIME ZONE 'UTC')::date), 'without an as_of it is the date of the run') FROM dq_gate.dq_check_results WHERE batch_id = 'o1';

-- trends
SELECT bag_eq('SELECT run_id, check_name, measured, status, baseline FROM dq_gate.check_trend', 'SELECT run_id, check_name, measured, status, baseline FROM logged WHERE measured IS NOT NULL', 'check_trend has every number');
CREATE TEMP TABLE wanted AS SELECT l.run_id, l.check_name, l.measured,
	(SELECT e.measured FROM logged e WHERE e.gate = l.gate AND e.check_name = l.check_name AND e.baseline AND e.measured IS NOT NULL AND e.batch_time < l.batch_time ORDER BY e.batch_time DESC LIMIT 1) AS previous,
	(SELECT CASE WHEN count(*) % 2 = 1 THEN (array_agg(measured ORDER BY measured))[count(*) / 2 + 1] ELSE ((array_agg(measured ORDER BY measured))[count(*) / 2] + (array_agg(measured ORDER BY measured))[count(*) / 2 + 1]) / 2 END
		FROM (SELECT e.measured FROM logged e WHERE e.gate = l.gate AND e.check_name = l.check_name AND e.baseline AND e.measured IS NOT NULL AND e.batch_time < l.batch_time ORDER BY e.batch_time DESC LIMIT 14) e) AS median
	FROM logged l WHERE measured IS NOT NULL;
SELECT bag_eq('SELECT run_id, check_name, measured, previous, measured - previous, round(median::numeric, 9) FROM wanted', 'SELECT run_id, check_name, measured, previous, change, round(median::numeric, 9) FROM dq_gate.check_trend',
	'with the one before, the change and a running median');
SELECT results_eq($$ SELECT as_of, measured, previous, change, median, baseline FROM dq_gate.check_trend WHERE check_name = 'it''s "small"' AND as_of IN ('2020-01-01', '2020-01-02', '2020-01-03', '2020-01-13') ORDER BY run_id $$,
	$$ VALUES (date '2020-01-01', 10::float8, NULL::float8, NULL::float8, NULL::float8, true), ('2020-01-02', 17, 10, 7, 10, true), ('2020-01-03', 11, 17, -6, 13.5, true),
	('2020-01-13', 500, 22, 478, 16, false), ('2020-01-13', 16, 22, -6, 16, true) $$, 'a rejected batch has a trend, and is in no other');
SELECT is_empty($$ SELECT * FROM dq_gate.check_trend WHERE check_name = 'broken' AND status = 'error' $$, 'what could not be evaluated has none');
SELECT set_eq('SELECT DISTINCT target FROM dq_gate.check_trend', ARRAY['"My Lake"."Or""ders"'::regclass, 'other'::regclass], 'gates are apart');

-- pass rates
SELECT bag_eq('SELECT layer, owner, week, runs, published, rejected, failed, skipped, checks_judged, checks_passed FROM dq_gate.pass_rate',
	$$ SELECT layer, gate_owner, (started_at AT TIME ZONE 'UTC')::date - (extract(isodow FROM started_at AT TIME ZONE 'UTC')::int - 1) AS week, count(DISTINCT run_id) AS runs, count(DISTINCT run_id) FILTER (WHERE verdict = 'published') AS published,
		count(DISTINCT run_id) FILTER (WHERE verdict = 'rejected') AS rejected, 0::bigint AS failed, 0::bigint AS skipped, count(*) FILTER (WHERE status <> 'not_judged') AS judged, count(*) FILTER (WHERE passed) AS passed
	FROM logged WHERE verdict <> 'audited' GROUP BY 1, 2, 3 $$, 'pass_rate counts runs and checks by week');
SELECT results_eq('SELECT owner, sum(runs), sum(published), sum(rejected) FROM dq_gate.pass_rate GROUP BY 1 ORDER BY 1', $$ VALUES ('others', 1::numeric, 0::numeric, 1::numeric), ('team', 21, 20, 1) $$, 'by owner; a dry run is none');
SELECT ok((SELECT bool_and(extract(isodow FROM week) = 1) AND count(DISTINCT week) BETWEEN 3 AND 4 FROM dq_gate.pass_rate WHERE owner = 'team'), 'a week begins on Monday');
SELECT ok(bool_and(pass_rate = round(checks_passed::numeric / checks_judged, 4) AND pass_rate BETWEEN 0 AND 1), 'the rate is a share') FROM dq_gate.pass_rate;

-- what fails now
SELECT bag_eq('SELECT run_id, check_name, status, message, owner FROM dq_gate.failed_checks', $$ SELECT run_id, check_name, status, message, owner FROM logged WHERE status IN ('failed', 'error') AND started_at > now() - interval '7 days' $$,
	'failed_checks has what failed in seven days');
SELECT ok((SELECT count(*) > 0 FROM logged WHERE status = 'error' AND started_at > now() - interval '7 days'), 'and what could not be evaluated');
SELECT ok((SELECT array_agg(run_id) = array_agg(run_id ORDER BY run_id DESC) FROM dq_gate.failed_checks), 'the newest first');
SELECT bag_eq('SELECT run_id, check_name, last_passed, failing_since FROM dq_gate.failed_checks',
	$$ SELECT f.run_id, f.check_name, p.started_at, (SELECT min(b.started_at) FROM logged b WHERE b.gate = f.gate AND b.check_name = f.check_name AND b.status IN ('failed', 'error') AND b.started_at <= f.started_at
		AND (p.started_at IS NULL OR b.started_at > p.started_at))
	FROM logged f LEFT JOIN LATERAL (SELECT max(p.started_at) FROM logged p WHERE p.gate = f.gate AND p.check_name = f.check_name AND p.passed AND p.started_at < f.started_at) p (started_at) ON true
	WHERE f.status IN ('failed', 'error') AND f.started_at > now() - interval '7 days' $$, 'each since when, and when it last passed');
CREATE FUNCTION day_of(at timestamptz) RETURNS int LANGUAGE sql AS $$ SELECT (SELECT as_of FROM dq_gate.runs WHERE started_at = at) - date '2020-01-01' $$;
SELECT results_eq($$ SELECT DISTINCT check_name, day_of(failing_since), day_of(last_passed) FROM dq_gate.failed_checks WHERE gate <> 'public.other' AND check_name <> 'broken' ORDER BY 1 $$,
	$$ VALUES ('early', 12, 11), ('never true', 0, NULL::int), ('v_range', 18, 17) $$, 'within the seven days, before them, and never');
SELECT results_eq($$ SELECT owner, severity, action, verdict, sample FROM dq_gate.failed_checks WHERE check_name = 'v_range' AND batch_id = 'b19 13' $$, $$ VALUES ('v-team', 'minor', 'warn', 'published', '[{"v": -1, "id": 1}]'::jsonb) $$, 'with owner, severity and sample');
SELECT ok((SELECT count(*) = 2 FROM dq_gate.failed_checks WHERE check_name = 'id_not_null'), 'a dry run may fail, too');

-- who sees it
SELECT ok(has_table_privilege('dq_outsider', 'dq_gate.' || v, 'SELECT') AND NOT has_table_privilege('dq_outsider', 'dq_gate.' || v, 'INSERT, UPDATE, DELETE'), format('everybody may look at %s', v))
FROM unnest(ARRAY['dq_check_results', 'check_trend', 'pass_rate', 'failed_checks']) v;
GRANT SELECT ON other TO dq_loader;
SET ROLE dq_loader;
SELECT set_eq('SELECT table_name FROM dq_gate.dq_check_results', ARRAY['public.other'], 'a reader sees the results of what he may read');
SELECT set_eq('SELECT target FROM dq_gate.check_trend', ARRAY['other'::regclass], 'its trends');
SELECT set_eq('SELECT owner FROM dq_gate.pass_rate', ARRAY['others'], 'its rates');
SELECT set_eq('SELECT gate FROM dq_gate.failed_checks', ARRAY['public.other'], 'and its failures');
SET ROLE dq_outsider;
SELECT is_empty('SELECT FROM dq_gate.dq_check_results', 'who may read nothing sees no results');
SELECT is_empty('SELECT FROM dq_gate.check_trend', 'no trends');
SELECT is_empty('SELECT FROM dq_gate.pass_rate', 'no rates');
SELECT is_empty('SELECT FROM dq_gate.failed_checks', 'and no failures');
RESET ROLE;
DROP TABLE other, "My Lake"."Or""ders";
SELECT is_empty('SELECT FROM dq_gate.failed_checks', 'a table that is gone fails no more');
SELECT finish();
