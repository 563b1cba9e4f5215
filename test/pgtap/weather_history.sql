-- a year of weather by day: the volume rule flags the days that the same rule in plain SQL flags; and once more, for nothing
\ir include/helpers.sql
SET timezone = 'America/New_York';
SELECT plan(21);

CREATE TABLE weather (origin text, year int, month int, day int, hour int, temp numeric, dewp numeric, humid numeric, wind_dir int, wind_speed float8,
	wind_gust float8, precip numeric, pressure numeric, visib numeric, time_hour timestamptz, PRIMARY KEY (origin, time_hour));
CREATE TABLE staged (LIKE weather);
CREATE TABLE year_of_weather (LIKE weather);
\copy year_of_weather FROM PROGRAM 'gzip -dc examples/nyc/weather.csv.gz' WITH (FORMAT csv, HEADER, NULL 'NA')
CREATE TABLE days AS SELECT time_hour::date AS day, count(*) AS n FROM year_of_weather GROUP BY 1;

SELECT dq_gate.create_gate('weather', staging => 'staged'), dq_gate.expect_volume('weather', 0.85, NULL, action => 'warn'),
	dq_gate.expect_metric('weather', 'avg(temp)', 'change', -1, 1, min_history => 1, action => 'warn', name => 'mean') \g /dev/null

CREATE PROCEDURE replay(only_day date DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
	d record;
BEGIN
	FOR d IN SELECT * FROM days WHERE day = coalesce(only_day, day) ORDER BY day LOOP
		TRUNCATE staged;
		INSERT INTO staged SELECT * FROM year_of_weather WHERE time_hour::date = d.day;
		PERFORM dq_gate.publish('staged', 'weather', as_of => d.day);
	END LOOP;
END
$$;
SET client_min_messages = error;
CALL replay();

SELECT is((SELECT count(*) || ' ' || sum(row_count) FROM dq_gate.runs), '364 26115', 'a run a day');
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE published AND baseline), 364::bigint, 'each of them is a baseline');

-- the same rule: fewer than 0.85 times the median of the 14 days before, once there are 5
CREATE VIEW rule AS
SELECT day, n, (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM unnest(before) v) AS median, cardinality(before) AS size
FROM (SELECT day, n, array_agg(n) OVER (ORDER BY day ROWS BETWEEN 14 PRECEDING AND 1 PRECEDING) AS before FROM days) w;
CREATE VIEW flagged AS SELECT r.as_of AS day FROM dq_gate.runs r JOIN dq_gate.results c USING (run_id) WHERE r.baseline AND c.check_type = 'volume' AND c.status = 'failed';
SELECT set_eq('SELECT day FROM flagged', 'SELECT day FROM rule WHERE size >= 5 AND n < 0.85 * median', 'the days that are flagged are those');
SELECT cmp_ok((SELECT count(*) FROM flagged), '>=', 3::bigint, 'which are some');
SELECT ok(EXISTS (SELECT FROM flagged WHERE day = '2013-12-30'), 'among them the shortest');
SELECT is((SELECT string_agg(r.as_of || ' ' || c.message, ', ' ORDER BY r.as_of) FROM dq_gate.runs r JOIN dq_gate.results c USING (run_id) WHERE c.check_type = 'volume' AND c.status = 'not_judged'),
	(SELECT string_agg(format('%s not enough history (%s of 5)', date '2013-01-01' + i, i), ', ' ORDER BY i) FROM generate_series(0, 4) i), 'the first days are not judged, and say why');
SELECT is_empty($$ SELECT r.as_of FROM dq_gate.runs r JOIN dq_gate.results c USING (run_id) JOIN rule ON rule.day = r.as_of WHERE c.check_type = 'volume' AND rule.size >= 5
	AND c.actual_value <> format('%s rows, %s times the median of %s', rule.n, trim_scale(round((rule.n / rule.median)::numeric, 2)), rule.median) $$, 'each says by how much');
SELECT is_empty($$ SELECT r.as_of FROM dq_gate.runs r JOIN dq_gate.results c USING (run_id)
	JOIN (SELECT time_hour::date AS day, avg(temp) AS mean, lag(avg(temp)) OVER (ORDER BY time_hour::date) AS previous FROM year_of_weather GROUP BY 1) d ON d.day = r.as_of
	WHERE c.check_name = 'mean' AND abs(c.measured - d.mean) > 1e-9 $$, 'the metric is measured, the first day as well');

-- a second time
CREATE TABLE first AS SELECT r.as_of, r.verdict, c.check_name, c.status, c.actual_value, c.measured FROM dq_gate.runs r JOIN dq_gate.results c USING (run_id);
CALL replay();
SELECT is((SELECT count(*) FROM dq_gate.runs), 728::bigint, 'there are twice as many runs');
SELECT is((SELECT count(*) || ' ' || count(DISTINCT as_of) || ' ' || min(run_id) FROM dq_gate.runs WHERE baseline), '364 364 365', 'but not twice the history: the later run of a day takes the place of the earlier');
SELECT is_empty($$ SELECT as_of, verdict, check_name, status, actual_value, measured FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE run_id > 364 EXCEPT TABLE first $$, 'no verdict and no number changes');
SELECT is((SELECT count(*) FROM flagged), (SELECT count(*) FROM rule WHERE size >= 5 AND n < 0.85 * median), 'no day is flagged that was not');

-- the backfill of a day in between is compared with the days before it
UPDATE days SET n = n WHERE day = '2013-06-15';
CALL replay('2013-06-15');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_type = 'volume'), (SELECT actual_value FROM first WHERE check_name = 'volume' AND as_of = '2013-06-15'), 'a backfill is compared with what was before it');
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE as_of = '2013-06-15' AND baseline), 1::bigint, 'and counts once');

-- half a day, a valid batch of fewer rows
SELECT dq_gate.drop_check('weather', 'volume'), dq_gate.drop_check('weather', 'mean') \g /dev/null
TRUNCATE staged;
INSERT INTO staged SELECT * FROM year_of_weather WHERE time_hour::date = '2013-07-01' AND extract(hour FROM time_hour) < 8;
SELECT is(outcome(dq_gate.publish('staged', 'weather', as_of => '2013-07-01')), 'rejected 24: 24 quarantined', 'a batch cut to a third is blocked, though all its rows are good');
SELECT is(not_passed(), 'volume failed', 'for its volume alone');
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE as_of = '2013-07-01' AND baseline AND row_count = 72), 1::bigint, 'it is no baseline, and takes nothing from the one of that day');
INSERT INTO staged SELECT * FROM year_of_weather WHERE time_hour::date = '2013-07-01' AND extract(hour FROM time_hour) >= 8;
SELECT is(outcome(dq_gate.publish('staged', 'weather', as_of => '2013-07-01')), 'published 72: 72 unchanged', 'restored it passes');
INSERT INTO staged SELECT * FROM year_of_weather WHERE time_hour = '2013-07-02 00:00' AND origin = 'JFK';
SELECT is(outcome(dq_gate.publish('staged', 'weather', as_of => '2013-07-01')), 'published 73: 73 unchanged', 'one row more does not alarm, though the history is nearly constant');
TRUNCATE staged;
SELECT is(outcome(dq_gate.publish('staged', 'weather', as_of => '2013-07-02')), 'rejected 0', 'a day without rows is rejected');
CREATE TABLE fresh (LIKE weather INCLUDING ALL);
SELECT is(outcome(dq_gate.publish('staged', 'fresh', as_of => '2013-07-02')), 'rejected 0', 'even where there is no history');
SELECT finish();
