-- a batch that its caller names is published once
\ir include/helpers.sql
SELECT plan(43);

CREATE TABLE t (id int PRIMARY KEY, at timestamptz, f float8, iv interval, b bytea, j json, txt text);
CREATE TABLE s (id int, at timestamptz, f float8, iv interval, b bytea, j json, txt text);
SELECT dq_gate.expect_volume('t', action => 'declare') \g /dev/null
CREATE FUNCTION digest_of(run bigint) RETURNS text LANGUAGE sql AS 'SELECT content_digest FROM dq_gate.runs WHERE run_id = $1';
INSERT INTO s VALUES (1, '2024-03-10 12:00+00', 0.1, '1 day 02:00', '\x01ff', '{"a": 1}', 'one'), (2, NULL, 'NaN', NULL, NULL, NULL, ''), (3, '2024-03-10 13:00+00', 1e300, '-1 mon', '', '[]', NULL);

SELECT is(outcome(dq_gate.publish('s', 't', 'monday')), 'published 3: 3 inserted', 'the first time');
SELECT isnt(digest_of(last_run()), NULL, 'its content has a digest');
DELETE FROM t WHERE id = 3;
SELECT is(outcome(dq_gate.publish('s', 't', 'monday')), 'skipped 3', 'the second time it is skipped');
SELECT is((SELECT count(*) FROM t), 2::bigint, 'the target is not touched');
SELECT is((SELECT ROW(verdict, passed, published, checks_run, failures, quarantine)::text FROM dq_gate.runs WHERE run_id = last_run()),
	format('(skipped,f,f,0,"{""batch_id: run %s has published this batch before (skip)""}",)', last_run() - 1), 'the log says why, and which run it was');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run())), 0::bigint, 'no check is evaluated');
SELECT is((SELECT verdict FROM dq_gate.audit('s', 't', 'monday')), 'audited', 'a dry run audits all the same');
SELECT is(digest_of(last_run()), NULL, 'and has no digest');

-- the same content, whatever the order of rows and columns and the settings
SET TimeZone = 'Asia/Kolkata'; SET DateStyle = 'German'; SET IntervalStyle = 'iso_8601'; SET extra_float_digits = -15; SET bytea_output = 'escape';
SELECT is(outcome(dq_gate.publish('s', 't', 'monday')), 'skipped 3', 'settings of the session do not matter');
RESET ALL;
CREATE TABLE other_order (txt text, j json, b bytea, iv interval, f float8, at timestamptz, id int);
INSERT INTO other_order SELECT txt, j, b, iv, f, at, id FROM s ORDER BY id DESC;
SELECT is(outcome(dq_gate.publish('other_order', 't', 'monday')), 'skipped 3', 'nor does the order of rows and columns, nor the table');

-- other content
CREATE FUNCTION changed(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE change;
	answer := outcome(dq_gate.publish('s', 't', 'monday'));
	RAISE EXCEPTION USING errcode = 'P0001', message = answer;
EXCEPTION
	WHEN SQLSTATE '23DQ4' THEN RETURN 'refused';
	WHEN SQLSTATE 'P0001' THEN RETURN SQLERRM;
END
$$;
SELECT is(changed(change), 'refused', 'other content: ' || change)
FROM unnest(ARRAY[$$ DELETE FROM s WHERE id = 1 $$, $$ INSERT INTO s SELECT * FROM s WHERE id = 1 $$, $$ UPDATE s SET id = 4 WHERE id = 3 $$,
	$$ UPDATE s SET at = at + interval '1 us' WHERE id = 1 $$, $$ UPDATE s SET txt = '' WHERE id = 3 $$, $$ UPDATE s SET txt = NULL WHERE id = 2 $$,
	$$ UPDATE s SET f = f + 0.0000000000000001 WHERE id = 1 $$, $$ UPDATE s SET j = '{"a":1}' WHERE id = 1 $$, $$ UPDATE s SET b = '\x01fe' WHERE id = 1 $$,
	$$ ALTER TABLE s DROP COLUMN txt $$, $$ ALTER TABLE s ADD COLUMN more int $$, $$ ALTER TABLE s RENAME COLUMN txt TO text $$,
	$$ UPDATE s SET id = CASE id WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE id END $$]) change;
SELECT is(changed('SELECT 1'), 'skipped 3', 'and what is the same is the same');
UPDATE s SET id = 4 WHERE id = 3;
SELECT raises($$ SELECT dq_gate.publish('s', 't', 'monday') $$, '23DQ4', 'gate public.t: batch "monday" was published before with other content[^$]*Run [0-9]+ published it at [^$]* with 3 rows[^$]*batch_id of its own', 'the error names gate, batch and run, and the way out');
SELECT is((SELECT count(*) FROM t WHERE id = 4), 0::bigint, 'nothing is published');
SELECT is((SELECT count(*) FROM s), 3::bigint, 'nothing is lost');
SELECT is(outcome(dq_gate.publish('s', 't', 'tuesday')), 'published 3: 1 inserted, 2 unchanged', 'under a name of its own it is');

-- what was not published is published under its name later
SELECT dq_gate.expect_range('t', 'id', max => 10) \g /dev/null
INSERT INTO s (id) VALUES (11);
SELECT is(outcome(dq_gate.publish('s', 't', 'wednesday')), 'rejected 4: 4 quarantined', 'a batch that is rejected');
SELECT isnt(digest_of(last_run()), NULL, 'has a digest as well');
UPDATE s SET id = 5 WHERE id = 11;
SELECT is(outcome(dq_gate.publish('s', 't', 'wednesday')), 'published 4: 1 inserted, 3 unchanged', 'is repaired and published under the same name');
SELECT is(outcome(dq_gate.publish('s', 't', 'wednesday')), 'skipped 4', 'once');

-- staging that was emptied
SELECT dq_gate.alter_gate('t', after_publish => 'delete') \g /dev/null
INSERT INTO s (id) VALUES (6);
SELECT is(outcome(dq_gate.publish('s', 't', 'thursday')), 'published 5: 1 inserted, 4 unchanged', 'a gate that empties staging');
SELECT is(outcome(dq_gate.publish('s', 't', 'thursday')), 'skipped 0', 'a retry finds nothing, and is skipped');
SELECT is(outcome(dq_gate.publish('s', 't', 'friday')), 'rejected 0', 'another batch that is empty is rejected');
INSERT INTO s (id) VALUES (6);
SELECT is(outcome(dq_gate.publish('s', 't', 'saturday')), 'published 1: 1 unchanged', 'the next batch');
SELECT is_empty('TABLE s', 'and staging is empty again');

-- batches of other gates, and those that the clock names
CREATE TABLE u (id int PRIMARY KEY);
CREATE TABLE us (id int);
INSERT INTO us VALUES (1);
SELECT is(outcome(dq_gate.publish('us', 'u', 'monday')), 'published 1: 1 inserted', 'another gate has its own batches');
SELECT is(outcome(dq_gate.publish('us', 'u')) || ', ' || outcome(dq_gate.publish('us', 'u')), 'published 1: 1 unchanged, published 1: 1 unchanged', 'a batch without a name is published as often as asked for');
SELECT is(digest_of(last_run()), NULL, 'and has no digest');
ALTER TABLE u RENAME TO renamed;
SELECT is(outcome(dq_gate.publish('us', 'renamed', 'monday')), 'skipped 1', 'a table that was renamed has its history');

-- odd names
CREATE SCHEMA "S x";
CREATE TABLE "S x"."T""t" ("select" int PRIMARY KEY, "a,b" text);
CREATE TABLE "S x"."s'" ("a,b" text, "select" int);
INSERT INTO "S x"."s'" VALUES ('x', 1), ('x', 2);
SELECT is(outcome(dq_gate.publish('"S x"."s''"', '"S x"."T""t"', $$it's "one"$$)) || ', ' || outcome(dq_gate.publish('"S x"."s''"', '"S x"."T""t"', $$it's "one"$$)), 'published 2: 2 inserted, skipped 2', 'O09: names that have to be quoted');
SELECT raises($$ UPDATE "S x"."s'" SET "a,b" = 'y' WHERE "select" = 1; SELECT dq_gate.publish('"S x"."s''"', '"S x"."T""t"', 'it''s "one"') $$, '23DQ4', 'it''s "one"', 'with other content');

SELECT * FROM finish();
