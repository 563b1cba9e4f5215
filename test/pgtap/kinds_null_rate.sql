-- expect_null_rate: how many values of each of many columns may be missing
\ir include/helpers.sql
SELECT plan(61);

CREATE TYPE pair AS (a int, b int);
CREATE TABLE t (id int PRIMARY KEY, a int, b text, c date, p pair, g int GENERATED ALWAYS AS (id * 2) STORED);
CREATE TABLE s (id int, a int, b text, c date, p pair);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
-- a is missing in 1 row of 8, b in 2, c in all
INSERT INTO s SELECT i, nullif(i, 1), CASE WHEN i > 2 THEN 'x' END, NULL, ROW(i, i)::pair FROM generate_series(1, 8) i;
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null

-- chosen columns
SELECT is(dq_gate.expect_null_rate('t', 0.25, '{a,b}'), 'a_b_null_rate', 'it is named after its columns');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'a_b_null_rate'),
	'(null_rate,"{a,b}","at most 25% NULL in a, b",block,,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 8: 8 inserted', 'as many as may be missing');
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, examined_rows, failing_rows, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_b_null_rate'),
	'(passed,t,"at most 25% NULL in a, b","no column above",25%,8,,,)', 'the result of a pass');
UPDATE s SET b = NULL WHERE id = 3;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 8: 8 quarantined', 'one more');
SELECT is((SELECT ROW(status, passed, actual_value, threshold, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_b_null_rate'),
	'(failed,f,"b 37.5%",25%,"more than 25% NULL: b 37.5%")', 'the column that has too few values is named, with its rate');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), '{"a_b_null_rate: more than 25% NULL: b 37.5%"}', 'the run says so');
SELECT results_eq('SELECT DISTINCT failed_checks FROM dq_quarantine.t', $$ VALUES ('{}'::text[]) $$, 'no row in particular is to blame');
UPDATE s SET a = NULL WHERE id < 4;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('a_b_null_rate'), 'more than 25% NULL: a 37.5%, b 37.5%', 'each column is judged by itself');
SELECT is(finding('a_b_null_rate'), 'failed of 8', 'no number of rows is at fault');
SELECT drop_all('t') \g /dev/null

-- without columns: each but the key, and but what the target generates
SELECT is(dq_gate.expect_null_rate('t', 0.4, action => 'warn'), 'null_rate', 'without columns it has the name of its kind');
SELECT is((SELECT ROW(columns, rule)::text FROM dq_gate.checks_of('t', 's') WHERE check_name = 'null_rate'), '("{a,b,c,p}","at most 40% NULL in each column")', 'all columns but the key and what is generated');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 8: 2 updated, 6 unchanged', 'with action warn');
SELECT is(message('null_rate'), 'more than 40% NULL: c 100%', 'a column without any value is named');
ALTER TABLE t ADD later text;
ALTER TABLE s ADD later text;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('null_rate'), 'more than 40% NULL: c 100%, later 100%', 'so is a column that was added since');
SELECT is((SELECT columns FROM dq_gate.results_of(last_run()) WHERE check_name = 'null_rate'), '{a,b,c,p,later}', 'the result has the columns');
ALTER TABLE s DROP later;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('null_rate'), 'more than 40% NULL: c 100%', 'a column that is not staged has no rate');
ALTER TABLE t DROP later;
SELECT drop_all('t') \g /dev/null

-- a row of NULLs is a value, unlike for IS NULL
UPDATE s SET p = CASE WHEN id = 1 THEN NULL ELSE ROW(NULL, NULL)::pair END;
SELECT dq_gate.expect_null_rate('t', 0.2, '{p}', action => 'warn'), dq_gate.expect_null_rate('t', 0.1, '{p}', name => 'less', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('p_null_rate') || '; ' || message('less'), 'passed of 8; more than 10% NULL: p 12.5%', 'a row of NULLs is not NULL');
SELECT drop_all('t') \g /dev/null

-- the same as by hand, for many rates; none and all
CREATE TABLE many (id int PRIMARY KEY, v int);
CREATE TABLE many_s AS SELECT i AS id, CASE WHEN i % 100 < 29 THEN NULL ELSE i END AS v FROM generate_series(1, 1000) i;
SELECT dq_gate.expect_null_rate('many', rate, '{v}', action => 'warn', name => rate::text) FROM unnest(ARRAY[0, 0.28, 0.29, 0.2899999, 0.3, 1]) rate \g /dev/null
SELECT dq_gate.audit('many_s', 'many') \g /dev/null
SELECT results_eq($$ SELECT check_name, status = 'failed' FROM dq_gate.results_of(last_run()) WHERE check_type = 'null_rate' ORDER BY check_name::numeric $$,
	$$ SELECT rate::text, (SELECT count(*) FILTER (WHERE v IS NULL)::numeric / count(*) FROM many_s) > rate FROM unnest(ARRAY[0, 0.28, 0.2899999, 0.29, 0.3, 1]) rate $$, '290 of 1000 are 0.29, no more');
SELECT is((SELECT ROW(threshold, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = '0'), '(0%,"more than 0% NULL: v 29%")', 'a rate of 0 is none at all');
UPDATE many_s SET v = NULL;
SELECT dq_gate.audit('many_s', 'many') \g /dev/null
SELECT is(finding('1'), 'passed of 1000', 'a rate of 1 is any number');
UPDATE many_s SET v = 1 WHERE id > 1;
SELECT dq_gate.audit('many_s', 'many') \g /dev/null
SELECT is(finding('0') || '; ' || message('0'), 'failed of 1000; more than 0% NULL: v 0.1%', 'of which one is more');

-- filter
SELECT dq_gate.expect_null_rate('t', 0.5, '{b}', filter => 'id <= 4', action => 'warn'), dq_gate.expect_null_rate('t', 0.5, '{b}', filter => 'a IS NULL', action => 'warn', name => 'odd'), dq_gate.expect_null_rate('t', 0.5, '{b}', filter => 'id < 0', action => 'warn', name => 'nobody') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(status, expected_value, actual_value, examined_rows)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'b_null_rate'), '(failed,"at most 50% NULL in b, where id <= 4","b 75%",4)', 'a rate is one of the rows that the filter picks');
SELECT is(message('odd'), 'more than 50% NULL: b 100%', 'whatever picks them');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'nobody'), 'not_judged, no rows that the filter picks', 'of no rows there is none');
SELECT drop_all('t') \g /dev/null

-- an empty batch
CREATE TABLE none (LIKE s);
SELECT dq_gate.expect_null_rate('t', 0) \g /dev/null
SELECT is(outcome(dq_gate.publish('none', 't')), 'rejected 0', 'an empty batch is no batch');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'null_rate'), 'not_judged, no rows', 'of which there is nothing to judge');
SELECT is(not_passed(), 'not_empty failed', 'nothing else failed');
SELECT drop_all('t') \g /dev/null

-- staged as text: what does not fit is no value; and a table of nothing but its key
CREATE TABLE text_s (id text, a text, b text, c text, p text);
INSERT INTO text_s VALUES ('1', 'x', 'x', '2024-01-01', '(1,2)'), ('2', '2', NULL, '2024-01-01', '(1,2)');
SELECT dq_gate.expect_null_rate('t', 0.4, '{a}', action => 'warn') \g /dev/null
SELECT dq_gate.audit('text_s', 't') \g /dev/null
SELECT is(message('a_null_rate'), 'more than 40% NULL: a 50%', 'a text that is no number is a value that is missing');
SELECT drop_all('t') \g /dev/null
CREATE TABLE only_key (id int PRIMARY KEY);
CREATE TABLE only_key_s (id int);
INSERT INTO only_key_s VALUES (1);
SELECT dq_gate.expect_null_rate('only_key', 0) \g /dev/null
SELECT is(outcome(dq_gate.publish('only_key_s', 'only_key')), 'published 1: 1 inserted', 'a table of nothing but its key');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'null_rate'), 'not_judged', 'has no rate to judge');

-- the key may be named
SELECT dq_gate.expect_null_rate('t', 0, '{id}') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')) || '; ' || finding('id_null_rate'), 'published 8: 8 updated; passed of 8', 'the key can be judged where it is named');
SELECT drop_all('t') \g /dev/null

-- actions
SELECT dq_gate.expect_null_rate('t', 0.1, '{c}', action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'skipped 8', 'a batch with too few values can be skipped');
SELECT drop_all('t'), dq_gate.expect_null_rate('t', 0.1, '{c}', action => 'declare') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('c_null_rate'), 'published not_judged', 'or the rule be declared alone');
SELECT drop_all('t') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_null_rate(''t'', 0.1, ''{c}'', %L)', action), '22023', 'null_rate[^$]*' || action || '[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved: ' || action)
FROM unnest(ARRAY['quarantine', 'drop']) action;

-- rates are no values: they stay without samples
SELECT dq_gate.expect_null_rate('t', 0.1, '{c}', action => 'warn', samples => false) \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(actual_value, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'c_null_rate'), '("c 100%",,"more than 10% NULL: c 100%")', 'rates are shown without samples too');
SELECT drop_all('t') \g /dev/null

-- names, of which some are formats
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab le" ("Id" int PRIMARY KEY, "select" int, "a""b%s" text, "it's" text);
CREATE TABLE "Odd Schema"."Stg" (LIKE "Odd Schema"."Tab le");
INSERT INTO "Odd Schema"."Stg" VALUES (1, NULL, NULL, NULL), (2, 1, NULL, NULL), (3, 1, NULL, 'x');
SELECT is(dq_gate.expect_null_rate('"Odd Schema"."Tab le"', 0.3333, filter => '"select" IS NULL OR true', action => 'warn'), 'null_rate', 'O09: names of any kind');
SELECT is(dq_gate.expect_null_rate('"Odd Schema"."Tab le"', 0.3334, '{select,"a\"b%s"}', action => 'warn'), 'select_a"b%s_null_rate', 'O09: in the name');
SELECT dq_gate.audit('"Odd Schema"."Stg"', '"Odd Schema"."Tab le"') \g /dev/null
SELECT is(message('null_rate'), 'more than 33.33% NULL: "select" 33.33%, "a""b%s" 100%, "it''s" 66.67%', 'O09: and in the message');
SELECT is(message('select_a"b%s_null_rate'), 'more than 33.34% NULL: "a""b%s" 100%', 'a third is more than 0.3333 and less than 0.3334');

-- refused when declared
SELECT raises(format('SELECT dq_gate.expect_null_rate(''t'', %L)', rate), '22023', 'max_null_rate cannot be ' || rate || '[^$]*rate from 0 to 1', 'no rate: ' || rate) FROM unnest(ARRAY['-0.1', '1.1', '25']) rate;
SELECT raises(format('SELECT dq_gate.expect_null_rate(''t'', %L)', rate), '22023', '(?i)max_null_rate cannot be ' || left(rate, 3), 'no rate: ' || rate) FROM unnest(ARRAY['NaN', 'Infinity']) rate;
SELECT raises($$ SELECT dq_gate.expect_null_rate('t', NULL) $$, '22004', 'max_null_rate', 'no rate at all');
SELECT raises($$ SELECT dq_gate.expect_null_rate('t', 0.1, '{}') $$, '22004', 'columns', 'no columns');
SELECT raises($$ SELECT dq_gate.expect_null_rate('t', 0.1, '{nothing}') $$, '42703', 'column nothing of gate public.t', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_null_rate('t', 0.1, '{a,a}') $$, '42701', 'a is named twice', 'a column twice');
SELECT raises($$ SELECT dq_gate.expect_null_rate('t', 0.1, '{g}') $$, '0A000', 'g of gate public.t is generated', 'a column that the target generates');
SELECT raises($$ SELECT dq_gate.expect_null_rate('t', 0.1, ARRAY['a', NULL]) $$, '22004', 'NULL', 'no name');
SELECT raises(format('SELECT dq_gate.expect_null_rate(''t'', 0.1, %s)', option), '22023', 'a check of type "null_rate" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole',
	'what it does not take: ' || option)
FROM unnest(ARRAY['nulls => ''fail''', 'max_rate => 0.1', 'max_rows => 1', 'warn_above => 1', 'block_above => 0.5']) option;

-- what is gone at run time
SELECT dq_gate.expect_null_rate('t', 1, '{a,b}'), dq_gate.expect_null_rate('t', 1, '{c}') \g /dev/null
ALTER TABLE s DROP b;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 8: 8 quarantined', 'a column that is not staged any more');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_b_null_rate'), 'error, could not be evaluated: column b is missing in the staging table', 'cannot be judged');
SELECT is(finding('c_null_rate'), 'passed of 8', 'the others are judged all the same');
ALTER TABLE t DROP b;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_b_null_rate'), 'error, could not be evaluated: column b does not exist in the target', 'nor can one that is dropped');

SELECT finish();
