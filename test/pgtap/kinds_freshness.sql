-- expect_freshness: the latest value of a column is not too old
\ir include/helpers.sql
SELECT plan(52);

CREATE DOMAIN moment AS timestamptz;
CREATE TABLE t (id int PRIMARY KEY, at timestamptz, local timestamp, d date, m moment, c text, tm time, n int);
CREATE TABLE s (LIKE t);
INSERT INTO s (id, at) VALUES (1, now() - interval '3 days'), (2, now() - interval '50 minutes'), (3, NULL);
SELECT dq_gate.create_gate('t') \g /dev/null
SELECT is(dq_gate.expect_freshness('t', 'at', '1 hour'), 'at_freshness', 'freshness is named after its column');
SELECT is((SELECT ROW(check_type, columns, rule, action)::text FROM dq_gate.checks_of('t') WHERE check_name = 'at_freshness'), '(freshness,{at},"latest at no older than 01:00:00",block)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 3 inserted', 'the latest value is fresh');
SELECT is(finding('at_freshness'), 'passed of 3, 1 null', 'older ones and NULL do not matter');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_freshness'), (SELECT max(at) AT TIME ZONE 'UTC' || ' UTC' FROM s), 'the result has the latest, in UTC');
UPDATE s SET at = at - interval '20 minutes';
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'the latest value is stale');
SELECT is(finding('at_freshness'), 'failed of 3, 1 null', 'no number of rows is at fault');
SELECT is(message('at_freshness'), (SELECT 'latest at is older than 01:00:00: ' || (max(at) AT TIME ZONE 'UTC') || ' UTC' FROM s), 'the message has it');
SELECT is((SELECT array_agg(DISTINCT failed_checks::text) FROM dq_quarantine.t), '{"{}"}'::text[], 'no row in particular is to blame');

-- no value is not fresh
UPDATE s SET at = NULL;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_freshness'), 'failed, latest at is older than 01:00:00: no value', 'a column of NULLs is not fresh');
TRUNCATE s;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 0', 'an empty batch');
SELECT is(not_passed(), 'at_freshness failed, not_empty failed', 'is not fresh either');
SELECT matches(message('at_freshness'), 'no value', 'and says why');

-- warn
SELECT dq_gate.drop_check('t', 'at_freshness'), dq_gate.expect_freshness('t', 'at', '1 hour', action => 'warn') \g /dev/null
INSERT INTO s (id, at) VALUES (1, now() - interval '3 days');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 1: 1 updated', 'warn lets it through');
SELECT is(not_passed(), 'at_freshness failed', 'and says so');
SELECT dq_gate.drop_check('t', 'at_freshness') \g /dev/null

-- O20
CREATE TABLE f (id int PRIMARY KEY, loaded timestamp);
CREATE TABLE f_staging (id int, loaded timestamp);
INSERT INTO f_staging VALUES (1, (now() AT TIME ZONE 'UTC') - interval '30 min');
SELECT dq_gate.expect_freshness('f', 'loaded', '1 hour') \g /dev/null
CREATE FUNCTION in_zone(zone text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	PERFORM set_config('TimeZone', zone, true);
	PERFORM dq_gate.audit('f_staging', 'f');
	SELECT status || ' ' || actual_value INTO found FROM dq_gate.results_of(last_run()) WHERE check_name = 'loaded_freshness';
	RETURN found;
END
$$;
SELECT is(in_zone(zone), (SELECT 'passed ' || loaded || ' UTC' FROM f_staging), 'O20: 30 minutes old in ' || zone)
FROM unnest(ARRAY['UTC', 'Asia/Tokyo', 'America/New_York']) zone;
UPDATE f_staging SET loaded = loaded - interval '2 hours';
SELECT is(in_zone(zone), (SELECT 'failed ' || loaded || ' UTC' FROM f_staging), 'O20: two and a half hours old in ' || zone)
FROM unnest(ARRAY['UTC', 'Asia/Tokyo', 'America/New_York']) zone;
ALTER TABLE f_staging ALTER loaded TYPE text;
SELECT is(in_zone(zone), (SELECT 'failed ' || loaded || ' UTC' FROM f_staging), 'O20: staged as text in ' || zone)
FROM unnest(ARRAY['UTC', 'Asia/Tokyo', 'America/New_York']) zone;

-- a date lasts to its end, in UTC
UPDATE s SET d = (now() AT TIME ZONE 'UTC')::date - 1, local = now() AT TIME ZONE 'UTC', m = now() - interval '2 days';
SELECT dq_gate.expect_freshness('t', 'd', '1 day'), dq_gate.expect_freshness('t', 'd', '1 microsecond', name => 'today', action => 'warn'),
	dq_gate.expect_freshness('t', 'm', '47:59', action => 'warn') \g /dev/null
SET TimeZone = 'Pacific/Kiritimati';
SELECT dq_gate.audit('s', 't') \g /dev/null
RESET TimeZone;
SELECT is((SELECT status || ' ' || actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'd_freshness'), (SELECT 'passed ' || (now() AT TIME ZONE 'UTC')::date || ' 00:00:00 UTC'), 'yesterday ended less than a day ago');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'today'), 'failed', 'but is over');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'm_freshness'), 'failed', 'a domain');
UPDATE s SET d = d + 1;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'today'), 'passed', 'today is not');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'd_freshness'), 'latest d no older than 1 day', 'a day in words');
SET IntervalStyle = 'iso_8601';
SELECT dq_gate.expect_freshness('t', 'at', 'P1DT2H', name => 'iso', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'iso'), 'latest at no older than 1 day 02:00:00', 'whatever the style of intervals of the session');
RESET IntervalStyle;
SELECT is(finding('iso'), 'failed of 1', 'it is judged');

-- infinity is no time
CREATE TABLE inf (id int PRIMARY KEY, at timestamptz, d date);
CREATE TABLE inf_s (LIKE inf);
INSERT INTO inf_s VALUES (1, 'infinity', 'infinity'), (2, '2020-01-01 00:00 UTC', '2020-01-01'), (3, '-infinity', '-infinity');
SELECT dq_gate.expect_freshness('inf', 'at', '1 day'), dq_gate.expect_freshness('inf', 'd', '1 day') \g /dev/null
SELECT dq_gate.audit('inf_s', 'inf') \g /dev/null
SELECT results_eq($$ SELECT status, actual_value FROM dq_gate.results_of(last_run()) WHERE check_type = 'freshness' ORDER BY check_name $$,
	$$ VALUES ('failed', '2020-01-01 00:00:00 UTC'), ('failed', '2020-01-02 00:00:00 UTC') $$, 'infinity is not fresh for ever');

-- staged as text that does not fit
CREATE TABLE text_s (id text, at text);
INSERT INTO text_s VALUES ('1', 'yesterday noon'), ('2', (now() - interval '1 minute')::text);
SELECT dq_gate.expect_freshness('t', 'at', '1 hour') \g /dev/null
SELECT dq_gate.audit('text_s', 't') \g /dev/null
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_freshness'), 'passed', 'text is read as the time that it is');

-- names
CREATE TABLE "Odd" ("Id" int PRIMARY KEY, "a""t%d" timestamptz);
CREATE TABLE "Odd stg" (LIKE "Odd");
INSERT INTO "Odd stg" VALUES (1, '2020-01-01 00:00 UTC');
SELECT is(dq_gate.expect_freshness('"Odd"', 'a"t%d', '1 day'), 'a"t%d_freshness', 'O09: a name with a quote');
SELECT dq_gate.publish('"Odd stg"', '"Odd"') \g /dev/null
SELECT is(message('a"t%d_freshness'), 'latest "a""t%d" is older than 1 day: 2020-01-01 00:00:00 UTC', 'O09: is quoted');

-- refused when declared
SELECT raises(format('SELECT dq_gate.expect_freshness(''t'', %L, ''1 day'')', c), '42809', format('column %s of gate public.t has type %s, which is no point in time[^$]*timestamp', c, t), format('%s is no point in time', t))
FROM (VALUES ('c', 'text'), ('tm', 'time without time zone'), ('n', 'integer')) v (c, t);
SELECT raises($$ SELECT dq_gate.expect_freshness('t', 'at', NULL) $$, '22004', 'max_age', 'no age');
SELECT raises($$ SELECT dq_gate.expect_freshness('t', 'at', '-1 hour') $$, '22023', 'max_age', 'a negative age');
SELECT raises($$ SELECT dq_gate.expect_freshness('t', 'at', '0') $$, '22023', 'max_age', 'an age of nothing');
SELECT raises($$ SELECT dq_gate.expect_freshness('t', 'nothing', '1 hour') $$, '42703', 'column nothing of gate public.t', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_freshness('t', 'at', '1 hour', action => 'quarantine') $$, '22023', 'freshness[^$]*quarantine[^$]*block[^$]*warn', 'no row can be moved');
SELECT raises(format('SELECT dq_gate.expect_freshness(''t'', ''at'', ''1 hour'', %s)', option), '22023', 'a check of type "freshness" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole',
	'what it does not take: ' || option)
FROM unnest(ARRAY['nulls => ''fail''', 'max_rate => 0.1', 'max_rows => 1', 'warn_above => 1', 'block_above => 0.5']) option;

-- a column that is gone, or of another type
ALTER TABLE s RENAME at TO w;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 1: 1 quarantined', 'a column that is not staged any more');
SELECT is(message('at_freshness'), 'could not be evaluated: column at is missing in the staging table', 'cannot be judged');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'd_freshness'), 'passed', 'the others are judged all the same');
ALTER TABLE s RENAME w TO at;
ALTER TABLE t ALTER at TYPE time USING at::time;
ALTER TABLE s ALTER at TYPE time USING at::time;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('at_freshness'), 'could not be evaluated: type time without time zone of column at is no point in time', 'nor can one whose type has become none');

SELECT finish();
