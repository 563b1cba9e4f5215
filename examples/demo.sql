--
-- A year of hourly weather at New York's airports, published one day at a time.
-- See nyc/README.md for the data, and demo.sh for how to run this.
--
\set SHOW_CONTEXT never
\pset footer off
SET timezone = 'America/New_York';

CREATE EXTENSION dq_gate;

CREATE TABLE airports (
	faa		text PRIMARY KEY,
	name	text NOT NULL,
	lat		float8,
	lon		float8,
	alt		int,
	tz		int,
	dst		text,
	tzone	text
);

CREATE TABLE weather (
	origin		text NOT NULL REFERENCES airports,
	year		int,
	month		int,
	day			int,
	hour		int,
	temp		numeric,
	dewp		numeric,
	humid		numeric,
	wind_dir	int,
	wind_speed	float8,
	wind_gust	float8,
	precip		numeric,
	pressure	numeric,
	visib		numeric,
	time_hour	timestamptz,
	PRIMARY KEY (origin, year, month, day, hour)
);

-- batches land here: the same columns, and no constraint
CREATE TABLE weather_staging AS TABLE weather WITH NO DATA;

-- where the batches come from
CREATE TEMPORARY TABLE year_of_weather AS TABLE weather WITH NO DATA;

\copy airports FROM 'nyc/airports.csv' WITH (FORMAT csv, HEADER, NULL 'NA')
\copy year_of_weather FROM PROGRAM 'gzip -dc nyc/weather.csv.gz' WITH (FORMAT csv, HEADER, NULL 'NA')

\echo
\echo 'A gate for the table weather.  Its key and most of its checks are derived from'
\echo 'the table itself; one more is declared: rows with an impossible wind are put'
\echo 'into quarantine, the rest of their batch is published.'
\echo

\o /dev/null
\set ECHO queries
SELECT dq_gate.create_gate('weather', staging => 'weather_staging',
	layer => 'silver', owner => 'weather-data');
SELECT dq_gate.expect_range('weather', 'wind_speed', min => 0, max => 150,
	action => 'quarantine');
\set ECHO none
\o

\echo
\echo 'A batch for each day of 2013, each published in a transaction of its own:'
\echo

DO $$
DECLARE
	batch	date;
BEGIN
	FOR batch IN
		SELECT DISTINCT make_date(year, month, day) AS local_day
		FROM year_of_weather
		ORDER BY local_day
	LOOP
		TRUNCATE weather_staging;
		INSERT INTO weather_staging
		SELECT * FROM year_of_weather
		WHERE make_date(year, month, day) = batch;
		COMMIT;

		PERFORM dq_gate.publish('weather_staging', 'weather',
								batch_id => 'weather ' || batch, as_of => batch);
		COMMIT;

		IF batch + 1 = date_trunc('month', batch + 1) OR batch = '2013-12-30' THEN
			RAISE INFO '%', (
				SELECT concat_ws(', ',
								 to_char(batch, 'Mon: ') || count(*) FILTER (WHERE published) || ' days published',
								 nullif(count(*) FILTER (WHERE NOT published), 0) || ' rejected',
								 'rows quarantined: ' || nullif(sum(quarantined), 0))
				FROM dq_gate.runs
				WHERE date_trunc('month', as_of) = date_trunc('month', batch));
		END IF;
	END LOOP;
END
$$;

\echo
\echo 'Days by verdict, and what became of their rows:'
\echo
SELECT coalesce(verdict, 'all') AS verdict,
	   count(*) AS days,
	   sum(row_count) AS staged,
	   sum(inserted) AS inserted,
	   sum(updated) AS updated,
	   sum(unchanged) AS unchanged,
	   sum(quarantined) AS quarantined
FROM dq_gate.runs
GROUP BY ROLLUP (verdict)
ORDER BY runs.verdict NULLS LAST;

\echo 'Days rejected, and why:'
\echo
SELECT as_of AS day, check_name, columns, failing_rows
FROM dq_gate.runs JOIN dq_gate.results USING (run_id)
WHERE verdict = 'rejected' AND NOT results.passed
ORDER BY run_id, check_no;

\echo 'Rows in quarantine, and why:'
\echo
SELECT batch_id,
	   coalesce(nullif(array_to_string(failed_checks, ', '), ''), 'its batch was rejected') AS reason,
	   count(*) AS rows,
	   max(wind_speed) AS max_wind_speed
FROM dq_quarantine.weather
GROUP BY batch_id, failed_checks
ORDER BY batch_id, failed_checks DESC;

\echo 'Every row of the year is accounted for, and consumers see no bad one:'
\echo
SELECT (SELECT count(*) FROM year_of_weather) AS in_file,
	   (SELECT count(*) FROM weather) AS published,
	   (SELECT count(*) FROM dq_quarantine.weather) AS quarantined,
	   (SELECT count(*) FROM weather WHERE (month, day) = (11, 3)) AS of_2013_11_03,
	   (SELECT max(wind_speed) FROM weather) AS max_wind_speed;
