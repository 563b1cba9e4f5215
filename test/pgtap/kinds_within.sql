-- expect_within: a point in time that is near now or the as_of of the run; as_of and batch_id in rules
\ir include/helpers.sql
SELECT plan(92);

CREATE DOMAIN moment AS timestamptz;
CREATE TABLE t (id int PRIMARY KEY, at timestamptz, local timestamp, d date, m moment, c text, tm time, n int);
CREATE TABLE s (LIKE t);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null

-- now
INSERT INTO s (id, at) VALUES (1, now() - interval '23 hours'), (2, now() + interval '47 hours'), (3, NULL), (4, now());
SELECT is(dq_gate.expect_within('t', 'at', '1 day', '2 days'), 'at_within', 'it is named after its column');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'at_within'),
	'(within,{at},"at at most 1 day before to 2 days after now",block,pass,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 4 inserted', 'values that are near enough');
SELECT is(finding('at_within'), 'passed 0 of 4, 1 null', 'NULL passes');
SELECT is((SELECT ROW(expected_value, actual_value, threshold, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_within'),
	'("at at most 1 day before to 2 days after now","0 rows","0 rows",,)', 'the result of a pass');
UPDATE s SET at = now() - interval '25 hours' WHERE id = 1;
UPDATE s SET at = '2345-06-07 08:09:10 UTC' WHERE id = 2;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 4: 4 quarantined', 'one too early, one too late');
SELECT is(finding('at_within'), 'failed 2 of 4, 1 null', 'both are counted');
SELECT is((SELECT ROW(passed, actual_value, jsonb_array_length(sample))::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_within'), '(f,"2 rows",2)', 'and shown');
SELECT matches(message('at_within'), '^2 of 4 rows: at not at most 1 day before to 2 days after now, for example \{"at": ".*", "id": \d\}$', 'the message says which');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', $$ VALUES (1, '{at_within}'::text[]), (2, '{at_within}'), (3, '{}'), (4, '{}') $$, 'each row says so itself');

-- one side alone leaves the other open
SELECT drop_all('t'), dq_gate.expect_within('t', 'at', max_past => '1 day', name => 'past', action => 'warn'), dq_gate.expect_within('t', 'at', max_future => '2 days', name => 'future', action => 'warn') \g /dev/null
SELECT is((SELECT string_agg(rule, '; ' ORDER BY check_name) FROM dq_gate.checks_of('t') WHERE check_type = 'within'), 'at at most 2 days after now; at at most 1 day before now', 'one side alone, in words');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 2 updated, 2 unchanged', 'warn lets all of it through');
SELECT is((SELECT sample ->> 0 FROM dq_gate.results_of(last_run()) WHERE check_name = 'past')::jsonb ->> 'id' || finding('past'), '1failed 1 of 4, 1 null', 'too early');
SELECT is((SELECT sample ->> 0 FROM dq_gate.results_of(last_run()) WHERE check_name = 'future')::jsonb ->> 'id' || finding('future'), '2failed 1 of 4, 1 null', 'too late');

-- NULL
SELECT drop_all('t'), dq_gate.expect_within('t', 'at', '100 years', nulls => 'fail') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('at_within'), 'failed 1 of 4, 1 null', 'NULL fails where it is to');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_within'), '[{"at": null, "id": 3}]', 'and is shown');

-- infinity is far from everything
UPDATE s SET at = CASE id WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity' ELSE at END::timestamptz, d = CASE id WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity' WHEN 4 THEN current_date END::date;
SELECT drop_all('t'), dq_gate.expect_within('t', 'at', '1000 years', '1000 years', name => 'both', action => 'warn'), dq_gate.expect_within('t', 'at', max_past => '1000 years', name => 'past', action => 'warn'), dq_gate.expect_within('t', 'at', max_future => '1000 years', name => 'future', action => 'warn'),
	dq_gate.expect_within('t', 'd', '1000 years', '1000 years', name => 'date', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('both') || '; ' || finding('past') || '; ' || finding('future') || '; ' || finding('date'), 'failed 2 of 4, 1 null; failed 1 of 4, 1 null; failed 1 of 4, 1 null; failed 2 of 4, 1 null', 'infinity is not near now');
SELECT drop_all('t') \g /dev/null

-- an empty batch
CREATE TABLE none (LIKE s);
SELECT dq_gate.expect_within('t', 'at', '1 day') \g /dev/null
SELECT is(outcome(dq_gate.publish('none', 't')), 'rejected 0', 'an empty batch is no batch');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_within'), 'not_judged, no rows', 'of which there is nothing to judge');
SELECT drop_all('t') \g /dev/null

-- as_of, to the microsecond and to the day, whatever the time zone of the session
TRUNCATE s, t;
INSERT INTO s (id, at, local, d) VALUES
	(1, '2024-03-08 00:00:00 UTC', '2024-03-08 00:00:00', '2024-03-08'),
	(2, '2024-03-07 23:59:59.999999 UTC', '2024-03-07 23:59:59.999999', '2024-03-07'),
	(3, '2024-03-12 00:00:00 UTC', '2024-03-12 00:00:00', '2024-03-12'),
	(4, '2024-03-12 00:00:00.000001 UTC', '2024-03-12 00:00:00.000001', '2024-03-13'),
	(5, NULL, NULL, NULL);
UPDATE s SET m = at;
SELECT dq_gate.expect_within('t', c, '2 days', '2 days', 'as_of', action => 'warn') FROM unnest(ARRAY['at', 'local', 'd', 'm']) c \g /dev/null
CREATE FUNCTION in_zone(zone text, "on" date) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('TimeZone', zone, true);
	PERFORM dq_gate.audit('s', 't', as_of => "on");
	RETURN (SELECT string_agg(c || ' ' || finding(c || '_within') || ' ' || coalesce((SELECT string_agg(i ->> 'id', ',') FROM jsonb_array_elements(sample) i), ''), '; ' ORDER BY check_no)
		FROM dq_gate.results_of(last_run()), split_part(check_name, '_', 1) c WHERE check_type = 'within');
END
$$;
SELECT is(in_zone(zone, '2024-03-10'), 'at failed 2 of 5, 1 null 2,4; d failed 2 of 5, 1 null 2,4; local failed 2 of 5, 1 null 2,4; m failed 2 of 5, 1 null 2,4', 'two days around a day, both ends included, in ' || zone)
FROM unnest(ARRAY['UTC', 'Pacific/Kiritimati', 'America/New_York', 'Asia/Kathmandu']) zone;
SELECT is(in_zone('America/New_York', '2024-03-09'), 'at failed 2 of 5, 1 null 3,4; d failed 2 of 5, 1 null 3,4; local failed 2 of 5, 1 null 3,4; m failed 2 of 5, 1 null 3,4', 'another as_of, another answer');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'd_within'), 'd at most 2 days before to 2 days after as_of', 'in words');
SELECT is((SELECT sample -> 0 FROM dq_gate.results_of(last_run()) WHERE check_name = 'd_within'), '{"d": "2024-03-12", "id": 3}', 'a date is shown as it is');
SET DateStyle = 'German';
SELECT is(in_zone('UTC', '10.03.2024'), 'at failed 2 of 5, 1 null 2,4; d failed 2 of 5, 1 null 2,4; local failed 2 of 5, 1 null 2,4; m failed 2 of 5, 1 null 2,4', 'whatever the style of dates of the session');
RESET DateStyle;
SELECT drop_all('t') \g /dev/null
SET IntervalStyle = 'iso_8601';
SELECT dq_gate.expect_within('t', 'd', 'P2D', 'PT0S', 'as_of', action => 'warn') \g /dev/null
RESET IntervalStyle;
SELECT dq_gate.audit('s', 't', as_of => '2024-03-10') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'd_within') || ': ' || finding('d_within'), 'd at most 2 days before to 00:00:00 after as_of: failed 3 of 5, 1 null', 'or of intervals; an interval may be 0');
SELECT drop_all('t') \g /dev/null

-- months are those of the calendar
SELECT dq_gate.expect_within('t', 'd', '1 month', reference => 'as_of', action => 'warn') \g /dev/null
UPDATE s SET d = '2024-02-29'::date + (id - 1);
SELECT dq_gate.audit('s', 't', as_of => '2024-03-31') \g /dev/null
SELECT is(finding('d_within'), 'passed 0 of 5', 'a month before the last of March is the last of February');
SELECT dq_gate.audit('s', 't', as_of => '2024-04-01') \g /dev/null
SELECT is(finding('d_within'), 'failed 1 of 5', 'and a day later it is the first of March');
SELECT drop_all('t') \g /dev/null

-- a day in UTC is today everywhere
UPDATE s SET d = (now() AT TIME ZONE 'UTC')::date;
SELECT dq_gate.expect_within('t', 'd', '0', '0') \g /dev/null
SELECT is((in_zone(zone, NULL)), 'd passed 0 of 5 ', 'today is near now in ' || zone) FROM unnest(ARRAY['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']) zone;
UPDATE s SET d = d + CASE id WHEN 1 THEN 1 WHEN 2 THEN -1 ELSE 0 END;
SELECT is((in_zone(zone, NULL)), 'd failed 2 of 5 1,2', 'yesterday and tomorrow are not in ' || zone) FROM unnest(ARRAY['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']) zone;
SELECT drop_all('t') \g /dev/null

-- a run without as_of
SELECT dq_gate.expect_within('t', 'd', '1 day', reference => 'as_of'), dq_gate.expect_range('t', 'id', 0) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 5: 5 quarantined', 'a run that is given no as_of');
SELECT is((SELECT status || ', ' || passed || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'd_within'), 'error, false, could not be evaluated: the run was given no as_of', 'cannot be judged by it');
SELECT is(finding('id_range'), 'passed 0 of 5', 'the other checks are judged all the same');
SELECT drop_all('t'), dq_gate.expect_within('t', 'd', '1 day', reference => 'as_of', action => action, name => action) FROM unnest(ARRAY['quarantine', 'drop']) action \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 5: 5 quarantined', 'which rows to move nobody knows then');
SELECT drop_all('t'), dq_gate.expect_within('t', 'd', '1 day', reference => 'as_of', action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')) || '; ' || finding('d_within'), 'published 5: 5 inserted; error', 'with action warn it is said');
SELECT drop_all('t') \g /dev/null

-- quarantine and drop: the rows that are moved are those that were counted, with the as_of of their own run
TRUNCATE s, t;
INSERT INTO s (id, d) VALUES (1, '2024-03-10'), (2, '2024-03-08'), (3, '2024-03-20'), (4, NULL);
SELECT dq_gate.expect_within('t', 'd', '1 day', '1 day', 'as_of', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't', as_of => '2024-03-10')), 'published 4: 2 inserted, 2 quarantined', 'rows that are too far are moved');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', $$ VALUES (2, '{d_within}'::text[]), (3, '{d_within}') $$, 'with their reason');
SELECT results_eq('SELECT id FROM t ORDER BY 1', 'VALUES (1), (4)', 'the others are published');
SELECT is(outcome(dq_gate.publish('s', 't', as_of => '2024-03-19')), 'published 4: 1 inserted, 1 unchanged, 2 quarantined', 'another run moves others');
SELECT results_eq('SELECT id FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', 'VALUES (1), (2)', 'by its own as_of');
SELECT drop_all('t'), dq_gate.expect_within('t', 'd', '1 day', '1 day', 'as_of', action => 'drop', nulls => 'fail') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't', as_of => '2024-03-08')), 'published 4: 1 inserted, 3 dropped', 'or they are dropped');
SELECT drop_all('t') \g /dev/null

-- filter, limits, samples
SELECT dq_gate.expect_within('t', 'd', '1 day', '1 day', 'as_of', filter => 'id > 1', max_rows => 1, name => 'few'), dq_gate.expect_within('t', 'd', '1 day', '1 day', 'as_of', filter => 'id = 1', name => 'one'),
	dq_gate.expect_within('t', 'd', '1 day', '1 day', 'as_of', name => 'quiet', samples => false, action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't', as_of => '2024-03-09')), 'published 4: 4 unchanged', 'a filter, a tolerance');
SELECT is(finding('few') || '; ' || finding('one'), 'passed 1 of 3, 1 null; passed 0 of 1', 'are those of every rule about rows');
SELECT is((SELECT ROW(sample, message, actual_value)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'quiet'), '(,"1 of 4 rows: d not at most 1 day before to 1 day after as_of","1 row")', 'without samples no value is shown');
SELECT drop_all('t') \g /dev/null

-- staged as text
CREATE TABLE text_s (id text, at text);
INSERT INTO text_s VALUES ('1', 'yesterday noon'), ('2', '2024-03-10 12:00:00+00'), ('3', '2024-03-10 22:00:00-05');
SELECT dq_gate.expect_within('t', 'at', max_future => '1 day', reference => 'as_of', action => 'warn') \g /dev/null
SELECT dq_gate.audit('text_s', 't', as_of => '2024-03-10') \g /dev/null
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_within'), '[{"at": "2024-03-10 22:00:00-05", "id": "3"}]', 'text is read as the time that it is');
SELECT drop_all('t') \g /dev/null

-- names
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab le" ("Id" int PRIMARY KEY, "select" date, "a""b%s" timestamptz);
CREATE TABLE "Odd Schema"."Stg" (LIKE "Odd Schema"."Tab le");
INSERT INTO "Odd Schema"."Stg" VALUES (1, '2024-01-01', '2024-01-01 00:00 UTC'), (2, '2023-01-01', '2023-01-01 00:00 UTC');
SELECT is(dq_gate.expect_within('"Odd Schema"."Tab le"', 'a"b%s', '1 day', reference => 'as_of', action => 'warn'), 'a"b%s_within', 'O09: a name with a quote');
SELECT dq_gate.expect_within('"Odd Schema"."Tab le"', 'select', '1 day', reference => 'as_of', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('"Odd Schema"."Stg"', '"Odd Schema"."Tab le"', as_of => '2024-01-01')), 'published 2: 1 inserted, 1 quarantined', 'O09: and a keyword');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'select_within')::text || message('a"b%s_within'),
	'[{"Id": 2, "select": "2023-01-01"}]1 of 2 rows: "a""b%s" not at most 1 day before as_of, for example ' || (SELECT sample -> 0 FROM dq_gate.results_of(last_run()) WHERE check_name = 'a"b%s_within')::text, 'O09: are quoted');

-- refused when declared
SELECT raises(format('SELECT dq_gate.expect_within(''t'', %L, ''1 day'')', c), '42809', format('column %s of gate public.t has type %s, which is no point in time[^$]*timestamp', c, t), format('%s is no point in time', t))
FROM (VALUES ('c', 'text'), ('tm', 'time without time zone'), ('n', 'integer')) v (c, t);
SELECT raises($$ SELECT dq_gate.expect_within('t', 'at') $$, '22023', 'needs max_past, max_future or both', 'no bound');
SELECT raises($$ SELECT dq_gate.expect_within('t', 'at', '-1 hour') $$, '22023', 'max_past.*negative', 'a negative past');
SELECT raises($$ SELECT dq_gate.expect_within('t', 'at', max_future => '-1 hour') $$, '22023', 'max_future.*negative', 'a negative future');
SELECT raises($$ SELECT dq_gate.expect_within('t', 'at', '1 hour', reference => 'then') $$, '22023', 'then[^$]*"now" or "as_of"', 'another reference');
SELECT raises($$ SELECT dq_gate.expect_within('t', 'at', '1 hour', reference => NULL) $$, '22004', 'reference', 'no reference');
SELECT raises($$ SELECT dq_gate.expect_within('t', 'nothing', '1 hour') $$, '42703', 'column nothing of gate public.t', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_within('t', NULL, '1 hour') $$, '22004', 'column_name', 'no column');
SELECT raises($$ SELECT dq_gate.expect_within('t', 'at', '1 hour', action => 'skip') $$, '22023', 'within[^$]*skip[^$]*block[^$]*quarantine[^$]*drop[^$]*warn', 'an action that it cannot take');

-- what is gone at run time
SELECT dq_gate.expect_within('t', 'at', '1 day'), dq_gate.expect_within('t', 'd', '100 years') \g /dev/null
ALTER TABLE s RENAME at TO w;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 4: 4 quarantined', 'a column that is not staged any more');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_within'), 'error, could not be evaluated: column at is missing in the staging table', 'cannot be judged');
SELECT is(finding('d_within'), 'passed 0 of 4, 1 null', 'the others are judged all the same');
ALTER TABLE s RENAME w TO at;
ALTER TABLE t ALTER at TYPE time USING at::time;
ALTER TABLE s ALTER at TYPE time USING at::time;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_within'), 'error, could not be evaluated: type time without time zone of column at is no point in time', 'nor can one whose type has become none');
ALTER TABLE t DROP at;
ALTER TABLE s DROP at;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'at_within'), 'error, could not be evaluated: column at does not exist in the target', 'nor one that is dropped');
SELECT drop_all('t') \g /dev/null

-- as_of() and batch_id() in rules, filters and queries
SELECT is(dq_gate.as_of(), NULL, 'outside of a run there is no as_of');
SELECT is(dq_gate.batch_id(), NULL, 'nor a batch');
TRUNCATE s, t;
INSERT INTO s (id, d, c) VALUES (1, '2024-03-10', 'b1'), (2, '2024-03-09', 'b2'), (3, NULL, 'b1');
SELECT dq_gate.expect_sql('t', 'rule', 'd = dq_gate.as_of()', action => 'quarantine'), dq_gate.expect_sql('t', 'batch', 'c = dq_gate.batch_id()', action => 'warn'),
	dq_gate.expect_range('t', 'id', max => 1, filter => 'd >= dq_gate.as_of()', action => 'warn', name => 'filter'),
	dq_gate.expect_query('t', 'query', 'SELECT id FROM s WHERE c <> dq_gate.batch_id()', action => 'warn'), dq_gate.expect_query('t', 'number', 'SELECT count(*) FROM s WHERE d = dq_gate.as_of()', min => 1, action => 'warn'),
	dq_gate.expect_aggregate('t', 'sum', 'sum(id) FILTER (WHERE d = dq_gate.as_of())', 1, 1, action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't', 'b1', '2024-03-10')), 'published 3: 1 inserted, 2 quarantined', 'a rule that knows as_of moves rows');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', $$ VALUES (2, '{batch,rule}'::text[]), (3, '{rule}') $$, 'those that it counted, and one that knows batch_id is among their reasons');
SELECT is(finding('rule') || '; ' || finding('batch') || '; ' || finding('filter') || '; ' || finding('query') || '; ' || finding('number') || '; ' || finding('sum'),
	'failed 2 of 3, 1 null; failed 1 of 3; passed 0 of 1; failed 1 of 3; passed of 3; passed of 3', 'rules, filters, queries and aggregates know the batch');
SELECT is(outcome(dq_gate.publish('s', 't', 'b2', '2024-03-09')), 'published 3: 1 inserted, 2 quarantined', 'the next run has its own');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', $$ VALUES (1, '{batch,rule}'::text[]), (3, '{batch,rule}') $$, 'as_of and name');
SELECT is(dq_gate.as_of()::text || dq_gate.batch_id(), NULL, 'after which there is none');
SELECT is(outcome(dq_gate.publish('s', 't', 'b3')), 'rejected 3: 3 quarantined', 'without an as_of');
SELECT is(finding('rule'), 'failed 3 of 3, 3 null', 'it is NULL in a rule');
SELECT drop_all('t'), dq_gate.expect_sql('t', 'batch', 'dq_gate.batch_id() = ''x''', action => 'block') \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT finding('batch') || ' ' || array_agg(DISTINCT failed_checks::text)::text FROM dq_quarantine.t WHERE run_id = last_run()), 'failed 3 of 3 {"{batch}"}', 'a rejected batch is kept with reasons that know it as well');
SELECT drop_all('t'), dq_gate.expect_query('t', 'same_name', 'SELECT 1 WHERE dq_gate.batch_id() IS NULL') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'a batch that nobody named has the name of the log');
SELECT drop_all('t') \g /dev/null

-- with parallel workers, as with none
TRUNCATE s;
INSERT INTO s (id, d, c) SELECT i, '2024-03-10'::date + i % 4, 'b' || i % 2 FROM generate_series(1, 4000) i;
ANALYZE s;
ALTER TABLE s SET (parallel_workers = 2);
SELECT dq_gate.expect_sql('t', 'rule', 'd = dq_gate.as_of() AND c = dq_gate.batch_id()', action => 'warn'), dq_gate.expect_within('t', 'd', '0', '1 day', 'as_of', action => 'warn'), dq_gate.expect_query('t', 'number', 'SELECT count(*) FROM s WHERE d = dq_gate.as_of()', 1000, 1000, action => 'warn') \g /dev/null
CREATE FUNCTION found() RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM dq_gate.audit('s', 't', 'b1', '2024-03-11'); RETURN finding('rule') || '; ' || finding('d_within') || '; ' || finding('number'); END $$;
SELECT is(found(), 'failed 3000 of 4000; failed 2000 of 4000; passed of 4000', 'many rows');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT is(found(), 'failed 3000 of 4000; failed 2000 of 4000; passed of 4000', 'are judged the same by parallel workers');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;
SELECT drop_all('t') \g /dev/null

-- what a session says of itself is not believed
SELECT dq_gate.expect_sql('t', 'rule', 'dq_gate.as_of() IS NULL AND dq_gate.batch_id() = ''true name''', nulls => 'fail') \g /dev/null
SELECT set_config('dq_gate.as_of', '2020-01-01', false), set_config('dq_gate.batch_id', 'false name', false) \g /dev/null
SELECT is((dq_gate.publish('s', 't', 'true name')).verdict, 'published', 'a setting of the session is not taken for the batch');
SELECT set_config('dq_gate.as_of', '', false), set_config('dq_gate.batch_id', '', false) \g /dev/null
SELECT drop_all('t') \g /dev/null

-- a run that fails with an error leaves nothing behind
CREATE FUNCTION fail_hard(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'as of %', dq_gate.as_of() USING ERRCODE = 'serialization_failure'; END $$;
SELECT dq_gate.expect_sql('t', 'hard', 'fail_hard(id)') \g /dev/null
SELECT raises($$ SELECT dq_gate.publish('s', 't', 'b', '2024-03-10') $$, '40001', 'as of 2024-03-10', 'an error that ends the run');
SELECT is(coalesce(dq_gate.as_of()::text, dq_gate.batch_id()), NULL, 'ends its as_of and name as well');

SELECT drop_all('t'), dq_gate.expect_sql('t', 'never', 'd > dq_gate.as_of() + 1000') \g /dev/null
\set ON_ERROR_STOP 0
CALL dq_gate.publish_or_fail('s', 't', 'by call', '2024-03-11');
\set ON_ERROR_STOP 1
SELECT is((SELECT ROW(verdict, batch_id, as_of)::text FROM dq_gate.runs WHERE run_id = last_run()), '(rejected,"by call",2024-03-11)', 'a call of publish_or_fail that is rejected');
SELECT is((SELECT count(*) FROM dq_quarantine.t WHERE run_id = last_run() AND failed_checks = '{never}'), 4000::bigint, 'keeps the batch with its reasons');
SELECT is(coalesce(dq_gate.as_of()::text, dq_gate.batch_id()), NULL, 'and leaves nothing behind');
SELECT drop_all('t'), dq_gate.expect_sql('t', 'rule', 'd >= dq_gate.as_of() - 10') \g /dev/null
CALL dq_gate.publish_or_fail('s', 't', 'by call', '2024-03-11');
SELECT is((SELECT verdict || ' ' || row_count FROM dq_gate.runs WHERE run_id = last_run()), 'published 4000', 'one that is published');
SELECT is(coalesce(dq_gate.as_of()::text, dq_gate.batch_id()), NULL, 'neither');

SELECT finish();
