-- expect_series: a column has a value in every step between two ends
\ir include/helpers.sql
SELECT plan(111);

CREATE DOMAIN moment AS timestamptz;
CREATE TABLE t (id int PRIMARY KEY, at timestamptz, local timestamp, d date, n bigint, i smallint, m moment, region text, shop int, c text, x numeric, tm time, j json, g int GENERATED ALWAYS AS (id * 2) STORED);
CREATE TABLE s (id int, at timestamptz, local timestamp, d date, n bigint, i smallint, m moment, region text, shop int);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
CREATE FUNCTION judged() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dq_gate.audit('s', 't', 'b', '2024-03-10');
	RETURN (SELECT status || coalesce(': ' || message, '') FROM dq_gate.results_of(last_run()) WHERE check_type = 'series');
END
$$;
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null

-- hours
INSERT INTO s (id, at) SELECT h, '2024-03-10 00:00 UTC'::timestamptz + h * interval '1 hour' FROM generate_series(0, 23) h;
SELECT is(dq_gate.expect_series('t', 'at', '1 hour', $$'2024-03-10 00:00+00'$$, $$'2024-03-10 23:00+00'$$), 'at_series', 'it is named after its column');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'at_series'),
	'(series,{at},"at has every 1 hour from ''2024-03-10 00:00+00'' to ''2024-03-10 23:00+00''",block,,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 24: 24 inserted', 'every hour is there');
SELECT is((SELECT ROW(status, passed, actual_value, threshold, examined_rows, failing_rows, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'series'),
	'(passed,t,"0 of 24 steps missing","no gap",24,,,)', 'the result of a pass');
DELETE FROM s WHERE id IN (3, 4, 7);
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 21: 21 quarantined', 'three of them are not');
SELECT is((SELECT ROW(status, passed, actual_value, message)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'series'),
	'(failed,f,"3 of 24 steps missing","at has gaps: 3 of 24 steps missing, 2024-03-10 03:00:00 to 2024-03-10 04:00:00; 2024-03-10 07:00:00")', 'the gaps are listed, each once');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_type = 'series'),
	'[{"from": "2024-03-10T03:00:00", "to": "2024-03-10T04:00:00", "missing": 2}, {"from": "2024-03-10T07:00:00", "to": "2024-03-10T07:00:00", "missing": 1}]', 'as a sample as well');
SELECT results_eq('SELECT DISTINCT failed_checks FROM dq_quarantine.t', $$ VALUES ('{}'::text[]) $$, 'no row of the batch is to blame');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), ARRAY['at_series: ' || message('at_series')], 'the run says so');
DELETE FROM s WHERE id IN (0, 23);
SELECT is(judged(), 'failed: at has gaps: 5 of 24 steps missing, 2024-03-10 00:00:00; 2024-03-10 03:00:00 to 2024-03-10 04:00:00; 2024-03-10 07:00:00; 2024-03-10 23:00:00', 'nor are the ends');
SELECT drop_all('t') \g /dev/null

-- values in between, several in one step, values beyond the ends, NULL and infinity
TRUNCATE s;
INSERT INTO s (id, at) VALUES (1, '2024-03-10 00:59:59.999999 UTC'), (2, '2024-03-10 01:00 UTC'), (3, '2024-03-10 01:30 UTC'), (4, '2024-03-10 02:45 UTC'), (5, '2024-03-09 23:59 UTC'), (6, '2024-03-10 03:00 UTC'), (7, NULL), (8, 'infinity'), (9, '-infinity');
SELECT dq_gate.expect_series('t', 'at', '1 hour', $$'2024-03-10 00:00+00'$$, $$'2024-03-10 02:00+00'$$, action => 'warn') \g /dev/null
SELECT is(judged(), 'passed', 'a value anywhere in a step is in it');
DELETE FROM s WHERE id = 4;
SELECT is(judged(), 'failed: at has gaps: 1 of 3 steps missing, 2024-03-10 02:00:00', 'the next step begins where it ends, what is beyond the ends does not matter');
SELECT drop_all('t') \g /dev/null

-- ends from the data
SELECT dq_gate.expect_series('t', 'at', '30 minutes', action => 'warn') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_type = 'series'), 'at has every 30 minutes from its first to its last', 'from its first to its last');
SELECT is(judged(), 'failed: at has gaps: 3 of 7 steps missing, 2024-03-10 00:29:00; 2024-03-10 01:59:00 to 2024-03-10 02:29:00', 'infinity is no end, steps begin with the first');
SELECT drop_all('t'), dq_gate.expect_series('t', 'at', '1 hour', from_ => $$'2024-03-09 22:00+00'$$, action => 'warn') \g /dev/null
SELECT is(judged(), 'failed: at has gaps: 2 of 6 steps missing, 2024-03-09 22:00:00; 2024-03-10 02:00:00', 'one end given');
SELECT drop_all('t'), dq_gate.expect_series('t', 'at', '1 hour', to_ => $$'2024-03-10 00:59+00'$$, action => 'warn') \g /dev/null
SELECT is(judged(), 'passed', 'or the other');
UPDATE s SET at = NULL;
SELECT is(judged(), 'failed: nobody knows where the series begins and ends', 'without any value there are no ends');
SELECT drop_all('t') \g /dev/null

-- days: of dates, of timestamps with and without time zone, whatever the time zone of the session, clocks that change included
TRUNCATE s;
INSERT INTO s (id, d) SELECT i, '2024-03-05'::date + i FROM generate_series(0, 30) i;
UPDATE s SET local = d + time '12:00', at = (d + time '12:00') AT TIME ZONE 'UTC';
UPDATE s SET m = at;
SELECT dq_gate.expect_series('t', c, '1 day', $$'2024-03-05'$$, $$'2024-04-04'$$, action => 'warn') FROM unnest(ARRAY['d', 'local', 'at', 'm']) c \g /dev/null
CREATE FUNCTION in_zone(zone text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('TimeZone', zone, true);
	PERFORM dq_gate.audit('s', 't');
	RETURN (SELECT string_agg(split_part(check_name, '_', 1) || ' ' || status || ' ' || actual_value, '; ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_type = 'series');
END
$$;
SELECT is(in_zone(zone), 'at passed 0 of 31 steps missing; d passed 0 of 31 steps missing; local passed 0 of 31 steps missing; m passed 0 of 31 steps missing', 'every day, in ' || zone) FROM unnest(ARRAY['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati']) zone;
DELETE FROM s WHERE d IN ('2024-03-31', '2024-03-10');
SELECT is(in_zone(zone), 'at failed 2 of 31 steps missing; d failed 2 of 31 steps missing; local failed 2 of 31 steps missing; m failed 2 of 31 steps missing', 'days without a value, in ' || zone) FROM unnest(ARRAY['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati']) zone;
SELECT is(message(c || '_series'), c || ' has gaps: 2 of 31 steps missing, 2024-03-10 00:00:00; 2024-03-31 00:00:00', 'which are said in UTC: ' || c) FROM unnest(ARRAY['at', 'd', 'local', 'm']) c;
SELECT drop_all('t') \g /dev/null
TRUNCATE s;
INSERT INTO s (id, at) SELECT h, '2024-03-31 00:00 UTC'::timestamptz + h * interval '1 hour' FROM generate_series(0, 23) h;
UPDATE s SET local = at AT TIME ZONE 'UTC';
SELECT dq_gate.expect_series('t', 'at', '1 hour', action => 'warn'), dq_gate.expect_series('t', 'local', '1 hour', action => 'warn') \g /dev/null
SELECT is(in_zone(zone), 'at passed 0 of 24 steps missing; local passed 0 of 24 steps missing', 'a day has 24 hours, in ' || zone) FROM unnest(ARRAY['UTC', 'Europe/Berlin']) zone;
SELECT drop_all('t') \g /dev/null

-- months are those of the calendar
TRUNCATE s;
INSERT INTO s (id, d) SELECT i, ('2023-11-01'::date + i * interval '1 month')::date + 14 FROM generate_series(0, 5) i;
SELECT dq_gate.expect_series('t', 'd', '1 month', $$'2023-11-01'$$, $$'2024-04-30'$$, action => 'warn') \g /dev/null
SELECT is(judged(), 'passed', 'every month');
DELETE FROM s WHERE d = '2024-02-15';
UPDATE s SET d = '2024-02-29' WHERE d = '2024-03-15';
SELECT is(judged(), 'failed: d has gaps: 1 of 6 steps missing, 2024-03-01 00:00:00', 'the last of February is not in March');
SELECT drop_all('t') \g /dev/null
TRUNCATE s;
INSERT INTO s (id, d) VALUES (1, '2024-01-31'), (2, '2024-02-29'), (3, '2024-03-31'), (4, '2024-04-30'), (5, '2024-05-31');
SELECT dq_gate.expect_series('t', 'd', '1 month', action => 'warn') \g /dev/null
SELECT is(split_part(judged(), ':', 1), 'passed', 'ends of months');
SELECT drop_all('t') \g /dev/null

-- whole numbers
TRUNCATE s;
INSERT INTO s (id, n, i) SELECT i, i * 1000000000::bigint, i - 5 FROM generate_series(1, 9) i;
SELECT dq_gate.expect_series('t', 'id', '1', '1', '9', name => 'a', action => 'warn'), dq_gate.expect_series('t', 'n', '1000000000', name => 'b', action => 'warn'), dq_gate.expect_series('t', 'i', '1', '-4', name => 'c', action => 'warn'), dq_gate.expect_series('t', 'id', '2', '0', '9', name => 'd', action => 'warn'),
	dq_gate.expect_series('t', 'id', '5', '-5', '9', name => 'e', action => 'warn'), dq_gate.expect_series('t', 'id', '1', '8', '10 + 1', name => 'f', action => 'warn'), dq_gate.expect_series('t', 'id', '1', '3', '3', name => 'g', action => 'warn'), dq_gate.expect_series('t', 'id', '1', '$$1$$', '$$9$$', name => 'h', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT results_eq($$ SELECT check_name, status, coalesce(message, actual_value) FROM dq_gate.results_of(last_run()) WHERE check_type = 'series' ORDER BY 1 $$,
	$$ VALUES ('a', 'passed', '0 of 9 steps missing'), ('b', 'passed', '0 of 9 steps missing'), ('c', 'passed', '0 of 9 steps missing'), ('d', 'passed', '0 of 5 steps missing'), ('e', 'failed', 'id has gaps: 1 of 3 steps missing, -5'),
		('f', 'failed', 'id has gaps: 2 of 4 steps missing, 10 to 11'), ('g', 'passed', '0 of 1 steps missing'), ('h', 'passed', '0 of 9 steps missing') $$, 'numbers, ends that are expressions, steps of several');
SELECT drop_all('t') \g /dev/null
TRUNCATE s;
INSERT INTO s (id, n) SELECT i, i * 2 FROM generate_series(1, 8) i;
SELECT dq_gate.expect_series('t', 'n', '1', action => 'warn') \g /dev/null
SELECT is(judged(), 'failed: n has gaps: 7 of 15 steps missing, 3; 5; 7; 9; 11; ...', 'of many gaps the first five are listed');
SELECT is((SELECT jsonb_array_length(sample) FROM dq_gate.results_of(last_run()) WHERE check_type = 'series'), 5, 'and shown');
SELECT is((SELECT count(*) FROM generate_series(2, 16) x WHERE x NOT IN (SELECT n FROM s)), 7::bigint, 'as counted by hand');
-- the last numbers that there are
UPDATE s SET n = 9223372036854775807 - id + 1;
SELECT is(judged(), 'passed', 'numbers up to the last one that there is');
UPDATE s SET n = CASE WHEN id = 1 THEN -9223372036854775808 ELSE 9223372036854775807 END;
SELECT is(judged(), 'failed: the series has more than 10000000 steps', 'a series that would never end is a finding');
SELECT drop_all('t'), dq_gate.expect_series('t', 'n', '9223372036854775807', action => 'warn') \g /dev/null
SELECT is((SELECT split_part(judged(), ':', 1)), 'failed', 'a step as long as can be');
SELECT drop_all('t') \g /dev/null
UPDATE s SET local = CASE WHEN id = 1 THEN '4000-01-01 BC'::timestamp ELSE '2024-01-01' END, d = CASE WHEN id = 1 THEN '4000-01-01 BC'::date ELSE '2024-01-01' END;
SELECT dq_gate.expect_series('t', 'local', '1 microsecond', action => 'warn') \g /dev/null
SELECT is(judged(), 'failed: the series has more than 10000000 steps', 'so is one of times');
SELECT drop_all('t'), dq_gate.expect_series('t', 'd', '1 second', action => 'warn') \g /dev/null
SELECT is(judged(), 'failed: the series has more than 10000000 steps', 'or of dates');
SELECT drop_all('t') \g /dev/null

-- ends that make no series
TRUNCATE s;
INSERT INTO s (id, d) VALUES (1, '2024-03-10'), (2, '2024-03-11');
CREATE FUNCTION ends(from_ text, to_ text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM drop_all('t'), dq_gate.expect_series('t', 'd', '1 day', from_, to_, action => 'warn');
	RETURN judged();
END
$$;
SELECT is(ends($$'2024-03-11'$$, $$'2024-03-10'$$), 'failed: the series ends before it begins', 'ends the wrong way round');
SELECT is(ends($$'2024-03-10'$$, 'NULL::date'), 'failed: nobody knows where the series begins and ends', 'an end that is NULL');
SELECT matches(ends($$'2024-03-10'$$, $$'infinity'$$), '^(failed|error)', 'one that is infinite');
SELECT matches(ends($$'-infinity'$$, NULL), '^(failed|error)', 'on either side');
SELECT is(ends('dq_gate.as_of()', 'dq_gate.as_of() + 1'), 'passed', 'ends by the as_of of the run');
SELECT is(ends('dq_gate.as_of() - 1', 'dq_gate.as_of()'), 'failed: d has gaps: 1 of 2 steps missing, 2024-03-09 00:00:00', 'which are missed');
SELECT is((SELECT (dq_gate.audit('s', 't')).failures::text), '{"d_series: nobody knows where the series begins and ends (warn)"}', 'where there is none');
CREATE TABLE calendar (first date, last timestamptz);
INSERT INTO calendar VALUES ('2024-03-09', '2024-03-11 00:00 UTC');
SELECT is(ends('(SELECT first FROM calendar)', '(SELECT last FROM calendar)'), 'failed: d has gaps: 1 of 3 steps missing, 2024-03-09 00:00:00', 'ends from another table');
INSERT INTO calendar TABLE calendar;
SELECT matches(ends('(SELECT first FROM calendar)', NULL), '^error: could not be evaluated: more than one row', 'of which there must be one');
SELECT drop_all('t') \g /dev/null

-- by groups
TRUNCATE s;
INSERT INTO s (id, d, region, shop) SELECT row_number() OVER (), '2024-03-01'::date + day, r, h FROM generate_series(0, 4) day, (VALUES ('a', 1), ('b', 1), ('b', 2), (NULL, 1)) g (r, h);
SELECT is(dq_gate.expect_series('t', 'd', '1 day', by_columns => '{region,shop}', action => 'warn'), 'd_region_shop_series', 'for groups');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_type = 'series'), 'd has every 1 day from its first to its last, for each (region, shop)', 'in words');
SELECT is(judged() || ' ' || (SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_type = 'series'), 'passed 0 of 20 steps missing', 'each group has every day');
DELETE FROM s WHERE (region = 'b' AND shop = 2 AND d IN ('2024-03-01', '2024-03-02', '2024-03-04')) OR (region IS NULL AND d = '2024-03-02');
SELECT is(judged(), 'failed: d has gaps: 4 of 20 steps missing, b 2 2024-03-01 00:00:00 to 2024-03-02 00:00:00; NULL 1 2024-03-02 00:00:00; b 2 2024-03-04 00:00:00', 'days that one group lacks; NULL is a group');
SELECT is((SELECT sample -> 1 FROM dq_gate.results_of(last_run()) WHERE check_type = 'series'), '{"region": null, "shop": 1, "from": "2024-03-02T00:00:00", "to": "2024-03-02T00:00:00", "missing": 1}', 'the sample has the group');
SELECT is((SELECT count(*) FROM (SELECT DISTINCT region, shop FROM s) g, generate_series('2024-03-01'::date, '2024-03-05', '1 day') x WHERE NOT EXISTS (SELECT FROM s WHERE s.region IS NOT DISTINCT FROM g.region AND s.shop = g.shop AND s.d = x)), 4::bigint, 'as counted by hand');
-- a group of which nothing is in the series lacks all of it
SELECT drop_all('t'), dq_gate.expect_series('t', 'd', '1 day', $$'2024-03-04'$$, $$'2024-03-05'$$, '{region}', action => 'warn') \g /dev/null
SELECT is(judged(), 'passed', 'each region has two days');
UPDATE s SET d = d - 10 WHERE region = 'a';
SELECT is(judged(), 'failed: d has gaps: 2 of 6 steps missing, a 2024-03-04 00:00:00 to 2024-03-05 00:00:00', 'a region that stopped before them');
UPDATE s SET d = NULL WHERE region = 'a';
SELECT is(split_part(judged(), ':', 1), 'failed', 'or has no value at all');
SELECT drop_all('t') \g /dev/null

-- filter
SELECT dq_gate.expect_series('t', 'd', '1 day', $$'2024-03-01'$$, $$'2024-03-05'$$, filter => 'region = ''b'' AND shop = 1', name => 'one', action => 'warn'), dq_gate.expect_series('t', 'd', '1 day', filter => 'region IS NULL', name => 'null', action => 'warn'), dq_gate.expect_series('t', 'd', '1 day', $$'2024-03-01'$$, $$'2024-03-05'$$, filter => 'id < 0', name => 'nobody', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT results_eq($$ SELECT check_name, status, actual_value, examined_rows FROM dq_gate.results_of(last_run()) WHERE check_type = 'series' ORDER BY 1 $$,
	$$ VALUES ('nobody', 'failed', '5 of 5 steps missing', 0::bigint), ('null', 'failed', '1 of 5 steps missing', 4), ('one', 'passed', '0 of 5 steps missing', 5) $$, 'only rows that the filter picks are there');
SELECT drop_all('t') \g /dev/null

-- an empty batch has nothing but gaps
CREATE TABLE none (LIKE s);
SELECT dq_gate.expect_series('t', 'd', '1 day', $$'2024-03-01'$$, $$'2024-03-05'$$, name => 'given'), dq_gate.expect_series('t', 'd', '1 day', name => 'own'), dq_gate.expect_series('t', 'd', '1 day', $$'2024-03-01'$$, $$'2024-03-05'$$, '{region}', name => 'groups') \g /dev/null
SELECT is(outcome(dq_gate.publish('none', 't')), 'rejected 0', 'an empty batch');
SELECT is(not_passed(), 'given failed, groups failed, not_empty failed, own failed', 'has nothing but gaps');
SELECT is(message('given') || '; ' || message('own'), 'd has gaps: 5 of 5 steps missing, 2024-03-01 00:00:00 to 2024-03-05 00:00:00; nobody knows where the series begins and ends', 'and says so');
SELECT drop_all('t') \g /dev/null

-- staged as text: what does not fit is in no step
CREATE TABLE text_s (id text, n text, d text);
INSERT INTO text_s VALUES ('1', '01', '2024-03-01'), ('2', ' 2', '2024-03-02'), ('3', 'x', 'x'), ('4', '4', '2024-03-04');
SELECT dq_gate.expect_series('t', 'n', '1', name => 'n', action => 'warn'), dq_gate.expect_series('t', 'd', '1 day', name => 'd', action => 'warn') \g /dev/null
SELECT dq_gate.audit('text_s', 't') \g /dev/null
SELECT is(message('n') || '; ' || message('d'), 'n has gaps: 1 of 4 steps missing, 3; d has gaps: 1 of 4 steps missing, 2024-03-03 00:00:00', 'text is read as the value that it is');
SELECT drop_all('t') \g /dev/null

-- actions
UPDATE s SET d = '2024-03-01'::date + id * 2;
SELECT dq_gate.expect_series('t', 'd', '1 day', action => 'skip') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'skipped', 'a batch that is not complete yet can be skipped');
SELECT drop_all('t'), dq_gate.expect_series('t', 'd', '1 day', action => 'declare') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('d_series'), 'published not_judged', 'or the rule be declared alone');
SELECT drop_all('t') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_series(''t'', ''d'', ''1 day'', action => %L)', action), '22023', 'series[^$]*' || action || '[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved: ' || action)
FROM unnest(ARRAY['quarantine', 'drop']) action;

-- without samples no value is shown
UPDATE s SET region = 'secret';
SELECT dq_gate.expect_series('t', 'd', '1 day', by_columns => '{region}', samples => false, action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(status, actual_value, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'series'), '(failed,,,"d has gaps")', 'without samples no gap and no group is shown');
SELECT is((SELECT failures::text ~ 'secret|2024' FROM dq_gate.runs WHERE run_id = last_run()), false, 'by the run neither');
SELECT drop_all('t') \g /dev/null

-- names
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab le" ("Id" int PRIMARY KEY, "a""b%s" int, "select" text, no int, steps int, count int, by_1 int);
CREATE TABLE "Odd Schema"."Stg" (LIKE "Odd Schema"."Tab le");
INSERT INTO "Odd Schema"."Stg" VALUES (1, 1, 'it''s', 1, 1, 1, 1), (2, 3, 'it''s', 2, 1, 1, 1);
SELECT is(dq_gate.expect_series('"Odd Schema"."Tab le"', 'a"b%s', '1', by_columns => '{select}', filter => '"select" <> ''''', action => 'warn'), 'a"b%s_select_series', 'O09: names of any kind');
SELECT dq_gate.expect_series('"Odd Schema"."Tab le"', 'no', '1', by_columns => '{steps,count,by_1}', action => 'warn') \g /dev/null
SELECT dq_gate.audit('"Odd Schema"."Stg"', '"Odd Schema"."Tab le"') \g /dev/null
SELECT is(message('a"b%s_select_series'), '"a""b%s" has gaps: 1 of 3 steps missing, it''s 2', 'O09: are quoted');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'a"b%s_select_series'), '[{"select": "it''s", "from": 2, "to": 2, "missing": 1}]', 'O09: in the sample as well');
SELECT is(finding('no_steps_count_by_1_series'), 'passed of 2', 'O09: nor do names of the measuring statement get in the way');

-- refused when declared
SELECT raises(format('SELECT dq_gate.expect_series(''t'', %L, ''1'')', c), '42809', format('column %s of gate public.t has type %s, which has no steps[^$]*whole number', c, t), format('%s has no steps', t))
FROM (VALUES ('c', 'text'), ('x', 'numeric'), ('tm', 'time without time zone')) v (c, t);
SELECT raises(format('SELECT dq_gate.expect_series(''t'', ''d'', %L)', step), '22023', 'leads nowhere', 'a step that leads nowhere: ' || step) FROM unnest(ARRAY['0', '0 days', '-1 day', '1 month -30 days']) step;
SELECT raises(format('SELECT dq_gate.expect_series(''t'', ''n'', %L)', step), '22023', 'leads nowhere', 'a step that leads nowhere: ' || step) FROM unnest(ARRAY['0', '-1']) step;
SELECT raises($$ SELECT dq_gate.expect_series('t', 'n', '1 day') $$, '22P02', 'step "1 day" is no bigint[^$]*1 hour', 'a step of days between numbers');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'n', '1.5') $$, '22P02', 'step "1.5" is no bigint', 'a fraction');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', 'often') $$, '22007', 'step "often" is no interval', 'no step');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', NULL) $$, '22004', 'step', 'no step at all');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', '1 day', '1') $$, '42804', 'end of the series cannot be of type integer, since column d is of type date', 'a number as the end of days');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'n', '1', to_ => 'now()') $$, '42804', 'end of the series cannot be of type timestamp with time zone', 'a time as the end of numbers');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', '1 day', 'at') $$, '42703', 'at', 'an end that is a column');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', '1 day', 'now(), now()') $$, '42601', 'one', 'two of them');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', '1 day', 'now(') $$, '42601', 'syntax error', 'half of one');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'nothing', '1 day') $$, '42703', 'column nothing of gate public.t', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', '1 day', by_columns => '{nothing}') $$, '42703', 'column nothing of gate public.t', 'a group that is not there');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', '1 day', by_columns => '{region,region}') $$, '42701', 'region is named twice', 'a group twice');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', '1 day', by_columns => '{d}') $$, '42701', 'd', 'the column itself as a group');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'd', '1 day', by_columns => '{j}') $$, '42883', 'column j of gate public.t has type json, which has no equality', 'a type whose values cannot be told apart');
SELECT raises($$ SELECT dq_gate.expect_series('t', 'g', '1') $$, '0A000', 'g of gate public.t is generated', 'a column that the target generates');
SELECT raises(format('SELECT dq_gate.expect_series(''t'', ''d'', ''1 day'', %s)', option), '22023', 'a check of type "series" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole',
	'what it does not take: ' || option)
FROM unnest(ARRAY['nulls => ''fail''', 'max_rate => 0.1', 'max_rows => 1', 'warn_above => 1', 'block_above => 0.5']) option;

-- what is gone at run time
TRUNCATE s;
INSERT INTO s (id, d, n) VALUES (1, '2024-03-01', 1), (2, '2024-03-02', 2);
SELECT dq_gate.expect_series('t', 'd', '1 day', '(SELECT min(first) FROM calendar)', name => 'd', action => 'warn'), dq_gate.expect_series('t', 'n', '1', by_columns => '{region}', name => 'n') \g /dev/null
ALTER TABLE s RENAME region TO w;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 2: 2 quarantined', 'a column that is not staged any more');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'n'), 'error, could not be evaluated: column region is missing in the staging table', 'cannot be judged');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'd'), 'failed', 'the others are judged all the same');
ALTER TABLE s RENAME w TO region;
DROP TABLE calendar CASCADE;
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'a table of the ends that is gone, with action warn');
SELECT matches((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'd'), 'error, could not be evaluated: relation "public.calendar" does not exist', 'is no pass');
ALTER TABLE t ALTER n TYPE numeric;
ALTER TABLE s ALTER n TYPE numeric;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'n'), 'error, could not be evaluated: type numeric of column n has no steps', 'nor is a column whose type has become one without steps');

SELECT finish();
