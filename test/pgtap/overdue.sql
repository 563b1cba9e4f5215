-- gates whose batch is late, by what was declared and by their history
\ir include/helpers.sql
CREATE TABLE daily (id int PRIMARY KEY);
CREATE TABLE weekly (LIKE daily INCLUDING ALL);
CREATE TABLE few (LIKE daily INCLUDING ALL);
CREATE TABLE new (LIKE daily INCLUDING ALL);
CREATE TABLE "Odd ""one" (LIKE daily INCLUDING ALL);
CREATE TABLE calibrated (LIKE daily INCLUDING ALL);
CREATE TABLE staged (id int);
SELECT dq_gate.create_gate('daily', owner => 'team'), dq_gate.create_gate('weekly'), dq_gate.create_gate('few'), dq_gate.create_gate('new', owner => 'new-team', expected_every => '2 days'),
	dq_gate.create_gate('"Odd ""one"', expected_every => '1 month'), dq_gate.create_gate('calibrated', enforce => false, expected_every => '1 day') \g /dev/null
SELECT dq_gate.expect_row_count('calibrated', max => 1) \g /dev/null
SET client_min_messages = error;
INSERT INTO staged VALUES (1), (2);
SELECT dq_gate.publish('staged', 'daily', as_of => date '2020-01-01' + n) FROM generate_series(0, 19) n \g /dev/null
SELECT dq_gate.publish('staged', 'weekly', n::text) FROM generate_series(0, 4) n \g /dev/null
SELECT dq_gate.publish('staged', 'few', n::text) FROM generate_series(0, 3) n \g /dev/null
SELECT dq_gate.publish('staged', '"Odd ""one"'), dq_gate.publish('staged', 'calibrated') \g /dev/null
-- what is none: a dry run, a rejected batch, one that was left out
SELECT dq_gate.audit('staged', 'few') \g /dev/null
TRUNCATE staged;
SELECT dq_gate.publish('staged', 'few'), dq_gate.publish('staged', 'daily', as_of => '2020-01-21') \g /dev/null
INSERT INTO staged VALUES (1), (2);
-- as if a day had been between them; the weekly ones were 7, 7, 9 and 5 days apart
\connect - postgres
UPDATE dq_gate.runs SET started_at = '2020-01-01 06:00Z'::timestamptz + (as_of - date '2020-01-01') * interval '24 hours' + CASE as_of WHEN '2020-01-10' THEN interval '2 hours' ELSE '0' END WHERE gate = 'public.daily';
UPDATE dq_gate.runs SET started_at = '2020-01-01 00:00Z'::timestamptz + (ARRAY[0, 7, 14, 23, 28])[batch_id::int + 1] * interval '24 hours', batch_time = '2020-01-01'::timestamp + (ARRAY[0, 7, 14, 23, 28])[batch_id::int + 1] * interval '24 hours' WHERE gate = 'public.weekly';
UPDATE dq_gate.runs SET started_at = '2020-01-01 00:00Z', batch_time = '2020-01-01' WHERE gate IN ('public."Odd ""one"', 'public.calibrated');
UPDATE dq_gate.gates SET created_at = '2020-01-01 00:00Z' WHERE target = 'public.new'::regclass;
\connect - dq_tester
SET timezone = 'UTC';
SELECT plan(26);

SELECT is_empty($$ SELECT FROM dq_gate.overdue('2020-01-01 00:00Z') $$, 'in time nothing is late');
SELECT set_eq($$ SELECT gate FROM dq_gate.overdue('3000-01-01 00:00Z') $$, ARRAY['public.daily', 'public.weekly', 'public.new', 'public."Odd ""one"', 'public.calibrated'], 'one day all will be, but for the one that was published too seldom to tell');
SELECT set_eq($$ SELECT gate FROM dq_gate.overdue() $$, $$ SELECT gate FROM dq_gate.overdue(now()) $$, 'without a time it is now');

-- declared
CREATE FUNCTION late(name text, at timestamptz) RETURNS SETOF text LANGUAGE sql AS $$ SELECT concat_ws(', ', source, expected_every, last_published, expected_by, overdue_by) FROM dq_gate.overdue(at) WHERE gate = name $$;
SELECT is(late('public.new', '2020-01-03 00:00:00Z'), NULL, 'a gate that was never published is not late for as long as it was declared');
SELECT is(late('public.new', '2020-01-03 00:00:01Z'), 'declared, 2 days, 2020-01-03 00:00:00+00, 00:00:01', 'from when it was created');
SELECT is(late('public."Odd ""one"', '2020-02-01 00:00Z'), NULL, 'a month is a month');
SELECT is(late('public."Odd ""one"', '2020-02-02 00:00Z'), 'declared, 1 mon, 2020-01-01 00:00:00+00, 2020-02-01 00:00:00+00, 1 day', 'after the last batch');
SELECT is(late('public.calibrated', '2020-01-02 01:00Z'), 'declared, 1 day, 2020-01-01 00:00:00+00, 2020-01-02 00:00:00+00, 01:00:00', 'a batch that was let through has arrived');
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE gate = 'public.calibrated' AND baseline), 0::bigint, 'though it is no baseline');
SELECT results_eq($$ SELECT gate, owner FROM dq_gate.overdue('2020-01-05 00:00Z') $$, $$ VALUES ('public.calibrated', NULL), ('public.new', 'new-team') $$, 'what is the latest comes first, with its owner');

-- learned: the last 15 are 24 hours apart, but for 26 and 22
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE gate = 'public.daily' AND baseline), 20::bigint, 'the daily ones were published 20 times');
SELECT is(late('public.daily', '2020-01-21 18:00:00Z'), NULL, 'one and a half times the usual gap is in time');
SELECT is(late('public.daily', '2020-01-21 19:00:00Z'), 'learned, 1 day, 2020-01-20 06:00:00+00, 2020-01-21 18:00:00+00, 01:00:00', 'and more is late');
SELECT is(late('public.weekly', '2020-02-08 12:00:00Z'), NULL, 'weekly ones are not late after ten days and a half');
SELECT is(late('public.weekly', '2020-02-08 12:00:01Z'), 'learned, 7 days, 2020-01-29 00:00:00+00, 2020-02-08 12:00:00+00, 00:00:01', 'but then');
SELECT is(late('public.few', '3000-01-01 00:00Z'), NULL, 'four batches tell nothing');
SELECT dq_gate.publish('staged', 'few') \g /dev/null
SELECT ok((SELECT late IS NOT NULL FROM late('public.few', '3000-01-01 00:00Z')), 'five do');
-- the same by hand
SELECT results_eq($$ SELECT expected_every, expected_by FROM dq_gate.overdue('3000-01-01 00:00Z') WHERE gate = 'public.few' $$,
	$$ SELECT usual, last + greatest(usual * 1.5, longest) FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY gap), max(gap), max(started_at)
		FROM (SELECT started_at, started_at - lag(started_at) OVER (ORDER BY started_at) AS gap FROM dq_gate.runs WHERE gate = 'public.few' AND published) g) m (usual, longest, last) $$, 'by their gaps');

-- a declared interval goes before the history
SELECT dq_gate.alter_gate('daily', expected_every => '1 hour') \g /dev/null
SELECT is(late('public.daily', '2020-01-20 08:00:00Z'), 'declared, 01:00:00, 2020-01-20 06:00:00+00, 2020-01-20 07:00:00+00, 01:00:00', 'what is declared goes before what was learned');
SELECT dq_gate.alter_gate('daily', owner => 'x') \g /dev/null
SELECT is((SELECT expected_every FROM dq_gate.gates WHERE target = 'daily'::regclass), '1 hour', 'it stays until it is taken back');
SELECT dq_gate.alter_gate('daily', expected_every => '0') \g /dev/null
SELECT is((SELECT expected_every FROM dq_gate.gates WHERE target = 'daily'::regclass), NULL, 'by none at all');
SELECT is(late('public.daily', '2020-01-20 08:00:00Z'), NULL, 'and the history counts again');
SELECT raises($$ SELECT dq_gate.alter_gate('daily', expected_every => '-1 day') $$, '22023', 'expected_every', 'a negative one is none');

-- a document
SELECT is(dq_gate.export_gate('new') ->> 'expected_every', '2 days', 'export_gate has it');
SELECT ok(NOT dq_gate.export_gate('daily') ? 'expected_every', 'or not');
CREATE FUNCTION imported(document jsonb) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(change, ' ') FROM dq_gate.import_gate(document) WHERE object = 'gate' $$;
SELECT is(imported('{"target": "new", "owner": "new-team", "expected_every": "48 hours"}'), 'changed', 'hours are no days, which may have 23 of them');
SELECT is(imported('{"target": "new", "owner": "new-team", "expected_every": "48:00"}'), 'unchanged', 'other words for the same are the same');
SELECT is(imported('{"target": "new", "owner": "new-team"}'), 'changed', 'left out');
SELECT is((SELECT expected_every FROM dq_gate.gates WHERE target = 'new'::regclass), NULL, 'it is taken back');
SELECT is(late('public.new', '3000-01-01 00:00Z'), NULL, 'so that the gate is never late');

-- who sees it
GRANT SELECT ON weekly TO dq_loader;
SET ROLE dq_loader;
SELECT results_eq($$ SELECT gate FROM dq_gate.overdue('3000-01-01 00:00Z') $$, ARRAY['public.weekly'], 'a reader sees the gates of what he may read');
SET ROLE dq_outsider;
SELECT is_empty($$ SELECT FROM dq_gate.overdue('3000-01-01 00:00Z') $$, 'and others see none');
RESET ROLE;

-- what it costs does not grow with the history
SET enable_seqscan = off;
PREPARE latest AS SELECT started_at FROM dq_gate.runs WHERE target = 'daily'::regclass AND baseline ORDER BY batch_time DESC, run_id DESC LIMIT 15;
CREATE TEMP TABLE plan (line text);
DO $$ DECLARE l text; BEGIN FOR l IN EXECUTE 'EXPLAIN EXECUTE latest' LOOP INSERT INTO plan VALUES (l); END LOOP; END $$;
SELECT ok(EXISTS (SELECT FROM plan WHERE line LIKE '%runs_baseline_idx%') AND NOT EXISTS (SELECT FROM plan WHERE line LIKE '%Sort%'), 'the index has the latest ones in their order');
SELECT finish();
