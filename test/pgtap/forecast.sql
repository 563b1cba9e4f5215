-- the seasonal naive forecast of a published series has the published interval
\ir include/helpers.sql
SELECT plan(9);

-- monthly totals of international airline passengers, 1949 to 1960, in thousands (Box and Jenkins, series G)
CREATE TABLE series AS SELECT date '1949-01-01' + (no - 1) * interval '1 month' AS month, passengers::int
FROM regexp_split_to_table('112 118 132 129 121 135 148 148 136 119 104 118 115 126 141 135 125 149 170 170 158 133 114 140
145 150 178 163 172 178 199 199 184 162 146 166 171 180 193 181 183 218 230 242 209 191 172 194 196 196 236 235 229 243 264 272 237 211 180 201
204 188 235 227 234 264 302 293 259 229 203 229 242 233 267 269 270 315 364 347 312 274 237 278 284 277 317 313 318 374 413 405 355 306 271 306
315 301 356 348 355 422 465 467 404 347 305 336 340 318 362 348 363 435 491 505 404 359 310 337 360 342 406 396 420 472 548 559 463 407 362 405
417 391 419 461 472 535 622 606 508 461 390 432', '\s+') WITH ORDINALITY AS s (passengers, no);
CREATE TABLE flights (month date PRIMARY KEY, passengers int);
CREATE TABLE staged (LIKE flights);
SELECT dq_gate.expect_metric('flights', 'sum(passengers)', 'forecast', history => 144, season => '1 year', min_spread => 0, action => 'warn', name => 'forecast') \g /dev/null

CREATE FUNCTION publish(for_month date, number int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE staged;
	INSERT INTO staged VALUES (for_month, number);
	PERFORM dq_gate.publish('staged', 'flights', as_of => for_month);
	RETURN (SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'forecast');
END
$$;
CREATE FUNCTION forecast(number int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE staged;
	INSERT INTO staged VALUES ('1959-01-01', number);
	PERFORM dq_gate.audit('staged', 'flights', as_of => '1959-01-01');
	RETURN (SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'forecast');
END
$$;
SELECT publish(month::date, passengers) FROM series WHERE month < '1959-01-01' ORDER BY month \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE baseline), 120::bigint, 'ten years of history');

-- the seasonal naive forecast of 1959 and 1960 from the years before: RMSE of 32.51 within these, and of 76.99 in the two years (R, package forecast)
CREATE VIEW errors AS SELECT a.month, a.passengers - b.passengers AS error FROM series a
JOIN series b ON b.month = CASE WHEN a.month < '1959-01-01' THEN a.month - interval '1 year' ELSE make_date(1958, extract(month FROM a.month)::int, 1) END;
SELECT is((SELECT round(sqrt(avg(error::numeric ^ 2)), 2) FROM errors WHERE month >= '1959-01-01'), 76.99, 'the series is the published one');
-- so that the 95% interval of January 1959 is 340 give or take 1.96 times 32.51: from 276.28 to 403.72
SELECT is(forecast(276), 'failed', 'below the interval');
SELECT is(forecast(277), 'passed', 'its lower end');
SELECT is(forecast(340), 'passed', 'what is forecast');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'forecast'), '340, deviations from the forecast 0, usually 340', 'is what was a year ago');
SELECT is(forecast(403), 'passed', 'its upper end');
SELECT is(forecast(404), 'failed', 'above the interval');
SELECT is((SELECT round(64 / (regexp_match(message, 'forecast (-?[\d.]+), usually'))[1]::numeric, 1) FROM dq_gate.results_of(last_run()) WHERE check_name = 'forecast'), round(32.51, 1), 'by so many of the published deviations');
SELECT finish();
