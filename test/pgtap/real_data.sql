-- a check of every kind on a year of real data, each finding compared with SQL written by hand
\ir include/helpers.sql
SET timezone = 'America/New_York';
SELECT plan(48);

CREATE TABLE airports (faa text PRIMARY KEY, name text NOT NULL, lat float8, lon float8, alt int, tz int, dst text, tzone text);
CREATE TABLE planes (tailnum text PRIMARY KEY, year int, type text, manufacturer text, model text, engines int,
	seats int CONSTRAINT seated CHECK (seats < 400), speed int, engine text);
CREATE TABLE planes_staging (LIKE planes);
CREATE TABLE weather (origin text NOT NULL, year int, month int, day int, hour int, temp numeric, dewp numeric, humid numeric, wind_dir int,
	wind_speed float8, wind_gust float8, precip numeric, pressure numeric, visib numeric, time_hour timestamptz, PRIMARY KEY (origin, time_hour));
CREATE TABLE weather_staging (LIKE weather);
ALTER TABLE weather_staging ALTER wind_gust TYPE text;
\copy airports FROM 'examples/nyc/airports.csv' WITH (FORMAT csv, HEADER, NULL 'NA')
\copy planes_staging FROM PROGRAM 'gzip -dc examples/nyc/planes.csv.gz' WITH (FORMAT csv, HEADER, NULL 'NA')
\copy weather_staging FROM PROGRAM 'gzip -dc examples/nyc/weather.csv.gz' WITH (FORMAT csv, HEADER, NULL 'NA')
-- what a loader leaves that knows of no NULL
UPDATE weather_staging SET wind_gust = 'NA' WHERE wind_gust IS NULL;
CREATE TABLE manifest (batch text, row_count int, seats int);
INSERT INTO manifest VALUES ('fleet', 3322, (SELECT sum(seats) FROM planes_staging));
-- the source has lost a plane since, and got another one
CREATE TABLE fleet AS TABLE planes_staging;
DELETE FROM fleet WHERE tailnum = 'N10156';
INSERT INTO fleet (tailnum, seats) VALUES ('N00000', 55);

SELECT is((SELECT count(*) FROM weather_staging) || ' ' || (SELECT count(*) FROM planes_staging) || ' ' || (SELECT count(*) FROM airports),
	'26115 3322 1458', 'the data is there');

SELECT dq_gate.create_gate('weather', staging => 'weather_staging'), dq_gate.create_gate('planes', staging => 'planes_staging') \g /dev/null
\o /dev/null
-- rules over a row
SELECT dq_gate.expect_not_null('weather', 'pressure', action => 'warn');
SELECT dq_gate.expect_range('weather', 'wind_speed', 0, 150, action => 'warn');
SELECT dq_gate.expect_range('weather', 'temp', 20, 90, action => 'warn', nulls => 'fail', filter => 'origin = ''JFK''');
SELECT dq_gate.expect_accepted_values('weather', 'origin', ARRAY['EWR', 'JFK'], action => 'warn');
SELECT dq_gate.expect_accepted_values('weather', 'wind_dir', name => 'tens', query => 'SELECT generate_series(0, 350, 10)', action => 'warn');
SELECT dq_gate.expect_rejected_values('weather', 'visib', ARRAY['0', '10'], action => 'warn');
SELECT dq_gate.expect_type_fit('weather', 'wind_gust', action => 'drop');
SELECT dq_gate.expect_not_future('weather', 'time_hour', action => 'warn');
SELECT dq_gate.expect_within('weather', 'time_hour', '30 days', '1 day', 'as_of', action => 'warn');
SELECT dq_gate.expect_compare('weather', 'dewp', '<=', 'temp', action => 'warn');
SELECT dq_gate.expect_sql('weather', 'rain', 'visib < 10', when_ => 'precip > 0', action => 'warn');
SELECT dq_gate.expect_unique('weather', ARRAY['origin', 'year', 'month', 'day', 'hour'], action => 'warn');
SELECT dq_gate.expect_referential('weather', ARRAY['origin'], 'airports', ARRAY['faa']);
SELECT dq_gate.expect_pattern('planes', 'tailnum', '^N[0-9]{3}[A-Z]{2}$', action => 'warn');
SELECT dq_gate.expect_like('planes', 'manufacturer', 'AIRBUS%', action => 'warn');
SELECT dq_gate.expect_length('planes', 'model', 3, 8, action => 'warn');
SELECT dq_gate.expect_constraint('planes', 'seated', action => 'quarantine');
-- rules over the batch
SELECT dq_gate.expect_row_count('weather', 26115, 26115);
SELECT dq_gate.expect_row_count('weather', 8700, name => 'at_jfk', filter => 'origin = ''JFK''', action => 'warn');
SELECT dq_gate.expect_row_count_match('planes', 'airports', 1, 2, action => 'warn');
SELECT dq_gate.expect_null_rate('weather', 0.1, action => 'warn');
SELECT dq_gate.expect_distinct('planes', ARRAY['manufacturer', 'model'], 1, 100, action => 'warn');
SELECT dq_gate.expect_aggregate('weather', 'mean_temp', 'avg(temp)', 0, 55, action => 'warn');
SELECT dq_gate.expect_aggregate('weather', 'median_wind', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY wind_speed)', 12, 100, filter => 'hour < 6', action => 'warn');
SELECT dq_gate.expect_aggregate('weather', 'wind_deviation', 'stddev(wind_speed)', 0, 5, action => 'warn');
SELECT dq_gate.expect_freshness('weather', 'time_hour', '1 day', action => 'warn');
SELECT dq_gate.expect_schema('weather', action => 'warn');
SELECT dq_gate.expect_control_totals('planes', ARRAY['seats'], 'SELECT row_count, seats FROM manifest WHERE batch = dq_gate.batch_id()');
SELECT dq_gate.expect_reconciled('planes', 'fleet', sums => ARRAY['seats'], action => 'warn');
SELECT dq_gate.expect_series('weather', 'time_hour', '1 hour', by_columns => ARRAY['origin'], action => 'warn');
SELECT dq_gate.expect_query('weather', 'short_days', 'SELECT year, month, day, count(*) FROM weather_staging GROUP BY 1, 2, 3 HAVING count(*) < 72', action => 'warn');
SELECT dq_gate.expect_change_rate('planes', 0.25, action => 'warn');
SELECT dq_gate.expect_ready('planes', 'EXISTS (SELECT FROM manifest)');
SELECT dq_gate.expect_volume('weather', 0.85, NULL, history => 3, min_history => 3);
SELECT dq_gate.expect_stable_distribution('planes', 'engine');
SELECT dq_gate.expect_metric('planes', 'avg(seats)', 'zscore', action => 'warn', name => 'usual_seats');
SELECT dq_gate.expect_query('weather', 'airports_seen', 'SELECT count(DISTINCT origin) FROM weather_staging', 4, 10, action => 'warn');
\o
SELECT is((SELECT array_agg(proname::text ORDER BY 1) FROM pg_proc p WHERE pronamespace = 'dq_gate'::regnamespace AND proname LIKE 'expect\_%'
	AND NOT EXISTS (SELECT FROM dq_gate.checks c WHERE 'expect_' || c.check_type = p.proname)), NULL, 'there is a check of every kind');

SELECT is(outcome(dq_gate.publish('planes_staging', 'planes', 'fleet')), 'published 3322: 3309 inserted, 13 quarantined',
	'the planes are published, but for those that are too large');
SELECT is((SELECT count(*) FROM planes), (SELECT count(*) FROM planes_staging WHERE seats < 400), 'so says the constraint');
SELECT is(finding('tailnum_pattern'), (SELECT format('failed %s of 3322', count(*)) FROM planes_staging WHERE tailnum !~ '^N[0-9]{3}[A-Z]{2}$'), 'pattern');
SELECT is(finding('manufacturer_like'), (SELECT format('failed %s of 3322', count(*)) FROM planes_staging WHERE left(manufacturer, 6) <> 'AIRBUS'), 'like');
SELECT is(finding('model_length'), (SELECT format('failed %s of 3322', count(*)) FROM planes_staging WHERE octet_length(model) < 3 OR octet_length(model) > 8), 'length');
SELECT is(finding('seated'), (SELECT format('failed %s of 3322', count(*)) FROM planes_staging WHERE seats >= 400), 'constraint');
SELECT is(message('row_count_match'), 'not as many rows as in public.airports, between 1 and 2 times as many: 3322 to 1458 rows, ' || round(332200 / 1458.0, 2) || '%', 'row_count_match');
SELECT is(message('manufacturer_model_distinct'), (SELECT format('number of distinct (manufacturer, model) not at least 1, at most 100: %s in 3322 rows', count(*))
	FROM (SELECT DISTINCT manufacturer, model FROM planes_staging) d), 'distinct');
SELECT is(status, 'passed', 'control_totals') FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals';
SELECT is(actual_value, (SELECT format('row_count 3322, seats %s', sum(seats)) FROM planes_staging), 'with the totals') FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals';
SELECT is(message, 'the batch differs from public.fleet: 1 key missing; 1 key extra', 'reconciled') FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled';
SELECT is(sample, '{"missing": [{"tailnum": "N00000"}], "extra": [{"tailnum": "N10156"}]}', 'with the keys') FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled';

SELECT is(outcome(dq_gate.publish('weather_staging', 'weather', as_of => '2013-12-20')),
	'published 26115: 5337 inserted, 20778 dropped', 'the weather is published, but for the rows without a gust');
SELECT is(finding('pressure_not_null'), (SELECT format('failed %1$s of 26115, %1$s null', count(*)) FROM weather_staging WHERE pressure IS NULL), 'not_null');
SELECT is(finding('wind_speed_range'), (SELECT format('failed %s of 26115%s', count(*) FILTER (WHERE wind_speed NOT BETWEEN 0 AND 150),
	', ' || nullif(count(*) FILTER (WHERE wind_speed IS NULL), 0) || ' null') FROM weather_staging), 'range');
SELECT is(finding('temp_range'), (SELECT format('failed %s of %s%s', count(*) FILTER (WHERE NOT coalesce(temp >= 20 AND temp <= 90, false)), count(*),
	', ' || nullif(count(*) FILTER (WHERE temp IS NULL), 0) || ' null') FROM weather_staging WHERE origin = 'JFK'), 'range with a filter');
SELECT is(finding('origin_accepted_values'), (SELECT format('failed %s of 26115', count(*)) FROM weather_staging WHERE origin = 'LGA'), 'accepted_values');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'tens'), (SELECT CASE WHEN bool_or(wind_dir % 10 <> 0 OR wind_dir NOT BETWEEN 0 AND 350) THEN 'failed' ELSE 'passed' END FROM weather_staging), 'accepted_values of a query');
SELECT is((SELECT failing_rows FROM dq_gate.results_of(last_run()) WHERE check_name = 'tens'), (SELECT count(*) FROM weather_staging WHERE wind_dir % 10 <> 0 OR wind_dir NOT BETWEEN 0 AND 350), 'so many');
SELECT is((SELECT failing_rows FROM dq_gate.results_of(last_run()) WHERE check_name = 'visib_rejected_values'), (SELECT count(*) FROM weather_staging WHERE visib = 0 OR visib = 10), 'rejected_values');
SELECT is((SELECT failing_rows FROM dq_gate.results_of(last_run()) WHERE check_name = 'wind_gust_type_fit'), 20778::bigint, 'type_fit: as many gusts as are missing');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'time_hour_not_future'), 'passed', 'not_future: it is past');
SELECT is((SELECT failing_rows FROM dq_gate.results_of(last_run()) WHERE check_name = 'time_hour_within'), (SELECT count(*) FROM weather_staging
	WHERE time_hour < '2013-11-20 00:00Z' OR time_hour > '2013-12-21 00:00Z'), 'within');
SELECT is((SELECT failing_rows || ' ' || null_rows FROM dq_gate.results_of(last_run()) WHERE check_type = 'compare'), (SELECT count(*) FILTER (WHERE dewp > temp OR dewp IS NULL OR temp IS NULL)
	|| ' ' || count(*) FILTER (WHERE dewp IS NULL OR temp IS NULL) FROM weather_staging), 'compare');
SELECT is((SELECT failing_rows FROM dq_gate.results_of(last_run()) WHERE check_name = 'rain'), (SELECT count(*) FROM weather_staging WHERE precip > 0 AND visib >= 10), 'sql with a condition');
SELECT is((SELECT failing_rows FROM dq_gate.results_of(last_run()) WHERE check_type = 'unique' AND origin = 'declared'), (SELECT count(*) FROM weather_staging w WHERE 1 < (
	SELECT count(*) FROM weather_staging o WHERE (o.origin, o.month, o.day, o.hour) = (w.origin, w.month, w.day, w.hour) AND o.month = 11 AND o.day = 3) AND w.month = 11 AND w.day = 3),
	'unique: the hour that daylight saving repeats');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'origin_referential'), 'passed', 'referential: all three are airports');
SELECT is((SELECT status || ', ' || actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count'), 'passed, 26115 rows', 'row_count');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_jfk'), (SELECT count(*) || ' rows' FROM weather_staging WHERE origin = 'JFK'), 'row_count with a filter');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_type = 'null_rate'), (SELECT format('wind_gust %s%%, pressure %s%%', trim_scale(round(100.0 * count(*) FILTER (WHERE wind_gust = 'NA') / 26115, 2)),
	trim_scale(round(100.0 * count(*) FILTER (WHERE pressure IS NULL) / 26115, 2))) FROM weather_staging), 'null_rate: a value that does not fit is none');
SELECT is((SELECT actual_value::numeric FROM dq_gate.results_of(last_run()) WHERE check_name = 'mean_temp'), (SELECT trim_scale(sum(temp) / count(temp)) FROM weather_staging), 'aggregate: a mean');
SELECT is((SELECT actual_value::float8 FROM dq_gate.results_of(last_run()) WHERE check_name = 'median_wind'),
	(SELECT (array_agg(wind_speed ORDER BY wind_speed))[(count(wind_speed) + 1) / 2] FROM weather_staging WHERE hour < 6), 'aggregate: a median with a filter');
SELECT ok((SELECT abs(actual_value::float8 - sqrt((SELECT (sum(wind_speed * wind_speed) - sum(wind_speed) ^ 2 / count(wind_speed)) / (count(wind_speed) - 1) FROM weather_staging))) < 1e-6
	FROM dq_gate.results_of(last_run()) WHERE check_name = 'wind_deviation'), 'aggregate: a standard deviation');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_type = 'freshness'), (SELECT max(time_hour) AT TIME ZONE 'UTC' || ' UTC' FROM weather_staging), 'freshness');
SELECT is(message('schema'), 'of another type: wind_gust (text, not double precision)', 'schema');
SELECT is((SELECT failing_rows FROM dq_gate.results_of(last_run()) WHERE check_name = 'short_days'),
	(SELECT count(*) FROM (SELECT (time_hour AT TIME ZONE 'America/New_York')::date FROM weather_staging GROUP BY 1 HAVING count(*) < 72) d), 'query: the short days');
SELECT is(message('airports_seen'), 'the query answers with a number not between 4 and 10: 3', 'query with a bound');

-- the hours that an airport missed, by another way: a gap before a row is as long as the row is late
CREATE TABLE gaps AS SELECT origin, previous + interval '1 hour' AS "from", time_hour - interval '1 hour' AS "to", extract(epoch FROM time_hour - previous)::int / 3600 - 1 AS missing
FROM (SELECT origin, time_hour, lag(time_hour) OVER (PARTITION BY origin ORDER BY time_hour) AS previous FROM weather_staging) p WHERE time_hour - previous > interval '1 hour';
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_type = 'series'), (SELECT format('%s of %s steps missing', sum(missing), sum(missing) + 26115) FROM gaps), 'series');
SELECT is((SELECT jsonb_agg(g ORDER BY g ->> 'from', g ->> 'origin') FROM jsonb_array_elements((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_type = 'series')) g),
	(SELECT jsonb_agg(to_jsonb(g) ORDER BY "from", origin) FROM (SELECT origin, "from" AT TIME ZONE 'UTC' AS "from", "to" AT TIME ZONE 'UTC' AS "to", missing FROM gaps ORDER BY "from", origin LIMIT 5) g),
	'with the first gaps');

-- every check was judged but those that need earlier batches
SELECT is((SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM dq_gate.results WHERE status IN ('error', 'not_judged')), 'engine_stable_distribution, usual_seats, volume, volume', 'all of them were judged');
SELECT is((SELECT count(DISTINCT check_name) FROM dq_gate.results r WHERE origin = 'declared' OR check_name = 'seated'), (SELECT count(DISTINCT name) FROM dq_gate.checks), 'and all were run');
-- a second time nothing is new
UPDATE manifest SET batch = 'fleet, again';
SELECT is(outcome(dq_gate.publish('planes_staging', 'planes', 'fleet, again')), 'published 3322: 3309 unchanged, 13 quarantined', 'the planes again');
SELECT is(outcome(dq_gate.publish('weather_staging', 'weather', as_of => '2013-12-20')), 'published 26115: 5337 unchanged, 20778 dropped', 'the weather again');

-- and what would be new is known beforehand
UPDATE planes_staging SET year = NULL, seats = seats + 20 WHERE manufacturer = 'BOEING';
SELECT is((SELECT message FROM dq_gate.results_of((dq_gate.audit('planes_staging', 'planes', 'fleet', totals => NULL)).run_id) WHERE check_type = 'change_rate'),
	(SELECT format('would update %s and delete 0 of 3309 rows: %s%% updated or deleted, at most 25%%', count(*), trim_scale(round(count(*) / 33.09, 4))) FROM planes WHERE manufacturer = 'BOEING' AND seats + 20 < 400), 'change_rate');
SELECT results_eq($$ SELECT change, column_name, row_count FROM dq_gate.preview('planes_staging', 'planes', 'fleet') WHERE row_count > 0 $$,
	$$ SELECT 'updated', NULL, count(*) FROM planes WHERE manufacturer = 'BOEING' AND seats + 20 < 400 UNION ALL SELECT 'unchanged', NULL, count(*) FROM planes WHERE manufacturer <> 'BOEING'
		UNION ALL SELECT 'quarantined', NULL, count(*) FROM planes_staging WHERE seats >= 400 UNION ALL SELECT 'updated', 'year', count(year) FROM planes WHERE manufacturer = 'BOEING' AND seats + 20 < 400
		UNION ALL SELECT 'updated', 'seats', count(*) FROM planes WHERE manufacturer = 'BOEING' AND seats + 20 < 400 $$, 'preview');
SELECT results_eq($$ SELECT change, row_count FROM dq_gate.preview('weather_staging', 'weather', as_of => '2013-12-20') WHERE row_count > 0 $$, $$ VALUES ('unchanged', 5337::bigint), ('dropped', 20778) $$, 'of the weather as well');
SELECT finish();
