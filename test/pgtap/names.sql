-- any name that PostgreSQL takes
\ir include/helpers.sql
SELECT plan(38);

CREATE SCHEMA "Sales 100%";
CREATE TYPE "Sales 100%"."Größe" AS ENUM ('klein', 'groß');
CREATE TABLE "Sales 100%"."Order ""Items"""
	("Id" int PRIMARY KEY, "select" text NOT NULL, "a""b" int CONSTRAINT "it's > 0" CHECK ("a""b" >= 0), "café %s" text UNIQUE, "back\slash" "Sales 100%"."Größe");
CREATE TABLE "Sales 100%"."Order Items stg"
	("Id" int, "select" text, "a""b" int, "café %s" text, "back\slash" text);
INSERT INTO "Sales 100%"."Order Items stg" VALUES (1, 'x', 3, 'y', 'klein'), (2, 'x', -3, 'z', NULL), (3, NULL, 0, 'y', 'riesig');
SELECT is(outcome(dq_gate.publish('"Sales 100%"."Order Items stg"', '"Sales 100%"."Order ""Items"""')), 'rejected 3: 3 quarantined',
	'mixed case, reserved words, quotes, per cent signs, backslashes');
SELECT results_eq($$ SELECT check_name, failing_rows FROM dq_gate.results_of(last_run()) WHERE status = 'failed' ORDER BY check_name COLLATE "C" $$,
	$$ VALUES ('Order "Items"_café %s_key', 2::bigint), ('back\slash_type_fit', 1), ('it''s > 0', 1), ('select_not_null', 1) $$,
	'every check finds its rows');
SELECT is_empty($$ SELECT 1 FROM dq_gate.results_of(last_run()) WHERE status = 'error' $$, 'and none is broken');
SELECT results_eq('SELECT "Id", "a""b", "café %s" FROM dq_quarantine."Order ""Items""" ORDER BY 1', $$ VALUES (1, 3, 'y'), (2, -3, 'z'), (3, 0, 'y') $$,
	'the quarantine has the same names');
SELECT is((SELECT sample -> 0 FROM dq_gate.results_of(last_run()) WHERE check_name = 'it''s > 0'), '{"Id": 2, "a\"b": -3}', 'and so have samples');
SELECT is((SELECT gate FROM dq_gate.runs WHERE run_id = last_run()), '"Sales 100%"."Order ""Items"""', 'the run names the gate as SQL does');
SELECT dq_gate.create_gate('"Sales 100%"."Order ""Items"""', key => '{Id}', owner => 'o''neil 100%', layer => '%s') \g /dev/null
SELECT is(dq_gate.expect_range('"Sales 100%"."Order ""Items"""', 'a"b', min => 0, name => 'it''s: 100%'), 'it''s: 100%', 'a check may have any name');
SELECT is(dq_gate.expect_range('"Sales 100%"."Order ""Items"""', 'a"b', min => 0), 'a"b_range', 'and makes one of any column');
SELECT dq_gate.expect_sql('"Sales 100%"."Order ""Items"""', 'quoted', '"café %s" <> ''%d'' AND "select" IS DISTINCT FROM E''\\''') \g /dev/null
SELECT is(outcome(dq_gate.publish('"Sales 100%"."Order Items stg"', '"Sales 100%"."Order ""Items"""', batch_id => 'l''été "100%"')), 'rejected 3: 3 quarantined',
	'declared checks find their rows as well');
SELECT is(finding('it''s: 100%') || '; ' || finding('a"b_range') || '; ' || finding('quoted'), 'failed 1 of 3; failed 1 of 3; passed 0 of 3', 'by whatever name');
SELECT results_eq('SELECT batch_id, owner, layer FROM dq_gate.runs WHERE run_id = last_run()', $$ VALUES ('l''été "100%"', 'o''neil 100%', '%s') $$, 'texts are kept as they are');
UPDATE "Sales 100%"."Order Items stg" SET "select" = 'x', "a""b" = 1, "café %s" = "Id", "back\slash" = 'groß';
SELECT is(outcome(dq_gate.publish('"Sales 100%"."Order Items stg"', '"Sales 100%"."Order ""Items"""')), 'published 3: 3 inserted', 'and without faults they are published');
SELECT throws_ok($$ SELECT dq_gate.publish('"Sales 100%"."order items stg"', '"Sales 100%"."Order ""Items"""') $$, '42P01', NULL, 'nor is their case');

-- names that our own statements use
CREATE TABLE batch (batch int PRIMARY KEY, staged int, target int CHECK (target > 0), kept int UNIQUE, parent int REFERENCES batch, sibling int, dq_rows int UNIQUE, rows int UNIQUE, dq_sample int);
CREATE TABLE staged (LIKE batch);
INSERT INTO staged VALUES (1, 1, 1, 1, NULL, 1, 1, 1, 1), (2, 2, 2, 2, 1, 2, 2, 2, 2), (3, -3, 3, 3, 3, 3, 3, 3, 3);
SELECT dq_gate.expect_range('batch', 'staged', min => 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('staged', 'batch')), 'published 3: 2 inserted, 1 quarantined', 'columns and tables called like our own aliases');
SELECT is(not_passed(), 'staged_range failed', 'do not confuse a check');
SELECT results_eq('SELECT batch, parent FROM batch ORDER BY 1', 'VALUES (1, NULL), (2, 1)', 'nor the publish');
UPDATE staged SET dq_rows = 7, rows = 8, kept = 9, parent = 5, target = -1, staged = 1;
SELECT is(outcome(dq_gate.publish('staged', 'batch')), 'rejected 3: 3 quarantined', 'nor a batch full of faults');
SELECT is(not_passed(), 'batch_dq_rows_key failed, batch_kept_key failed, batch_parent_fkey failed, batch_rows_key failed, batch_target_check failed', 'each of which is found');
SELECT is((SELECT sample -> 0 -> 'rows' FROM dq_gate.results_of(last_run()) WHERE check_name = 'batch_dq_rows_key'), '3', 'a sample of duplicates says how many');
SELECT matches((SELECT sample -> 0 FROM dq_gate.results_of(last_run()) WHERE check_name = 'batch_rows_key')::text, '8', 'and of what, whatever the column is called');

-- 63 bytes
DO $$ BEGIN
	EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, v int)', repeat('t', 60) || 'aaa');
	EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, v int)', repeat('t', 60) || 'bbb');
	EXECUTE format('CREATE TABLE %I (%I int PRIMARY KEY, v int)', repeat('ü', 31), repeat('ü', 31));
	EXECUTE format('CREATE TABLE u_s (%I int, v int)', repeat('ü', 31));
END $$;
CREATE SCHEMA other;
DO $$ BEGIN
	EXECUTE format('CREATE TABLE other.%I (id int PRIMARY KEY, v int)', repeat('t', 60) || 'aaa');
END $$;
CREATE TABLE s_a (id int, v int);
CREATE TABLE s_b (id int, v int);
CREATE TABLE s_c (id int, v int);
INSERT INTO s_a VALUES (1, -1);
INSERT INTO s_b VALUES (2, -2);
INSERT INTO s_c VALUES (3, -3);
INSERT INTO u_s VALUES (4, -4);
SELECT is(dq_gate.expect_range(t, 'v', min => 0), 'v_range', format('a check on a name of %s bytes', octet_length(t::regclass::text)))
FROM unnest(ARRAY[repeat('t', 60) || 'aaa', repeat('t', 60) || 'bbb', repeat('ü', 31), 'other.' || repeat('t', 60) || 'aaa']::regclass[]) t;
SELECT is(outcome(dq_gate.publish(s::regclass, t)), 'rejected 1: 1 quarantined', format('a batch of %s is rejected', s))
FROM unnest(ARRAY['s_a', 's_b', 'u_s', 's_c'], ARRAY[repeat('t', 60) || 'aaa', repeat('t', 60) || 'bbb', repeat('ü', 31), 'other.' || repeat('t', 60) || 'aaa']::regclass[]) u (s, t);
SELECT is((SELECT count(DISTINCT quarantine) FROM dq_gate.quarantines), 6::bigint, 'each target has a quarantine of its own');
CREATE FUNCTION quarantined(target regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SELECT string_agg(v::text, '','') FROM %s', (SELECT q.quarantine FROM dq_gate.quarantines q WHERE q.target = $1)) INTO answer;
	RETURN answer;
END
$$;
SELECT is(quarantined(t), v, format('which has only its rows: %s', v))
FROM unnest(ARRAY[repeat('t', 60) || 'aaa', repeat('t', 60) || 'bbb', repeat('ü', 31), 'other.' || repeat('t', 60) || 'aaa']::regclass[], ARRAY['-1', '-2', '-4', '-3']) u (t, v);
SELECT is(dq_gate.expect_range(repeat('ü', 31)::regclass, repeat('ü', 31), min => 0), repeat('ü', 31) || '_range', 'the name of a check is not cut');
SELECT is((SELECT quarantine FROM dq_gate.runs WHERE gate = 'other.' || repeat('t', 60) || 'aaa'),
	(SELECT quarantine::regclass::text FROM dq_gate.quarantines WHERE target = ('other.' || repeat('t', 60) || 'aaa')::regclass), 'the run says which quarantine');

-- renamed
SELECT is((SELECT count(*) FROM dq_gate.checks_of('batch') WHERE origin = 'declared'), 1::bigint, 'a gate with a check');
ALTER TABLE batch RENAME TO crate;
ALTER TABLE crate SET SCHEMA other;
SELECT is((SELECT count(*) FROM dq_gate.checks_of('other.crate') WHERE origin = 'declared'), 1::bigint, 'keeps it when its table gets another name');
UPDATE staged SET staged = -1;
SELECT dq_gate.publish('staged', 'other.crate') \g /dev/null
SELECT is((SELECT quarantine FROM dq_gate.runs WHERE run_id = last_run()), 'dq_quarantine.batch', 'and its quarantine');

SELECT finish();
