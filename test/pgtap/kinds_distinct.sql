-- expect_distinct: how many different values columns have
\ir include/helpers.sql
SELECT plan(62);

CREATE TABLE t (id int PRIMARY KEY, a int, b text, n numeric, j json, g int GENERATED ALWAYS AS (id * 2) STORED);
CREATE TABLE s (id int, a int, b text, n numeric, j json);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
-- a: 3 values in 8 rows, and 2 NULLs
INSERT INTO s SELECT i, CASE WHEN i <= 8 THEN i % 3 END, CASE WHEN i % 2 = 0 THEN 'x' END, i / 4 FROM generate_series(1, 10) i;
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null

-- numbers
SELECT is(dq_gate.expect_distinct('t', '{a}', 2, 3), 'a_distinct', 'it is named after its columns');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'a_distinct'),
	'(distinct,{a},"number of distinct a at least 2, at most 3",block,,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 10: 10 inserted', 'as many values as there may be');
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, examined_rows, failing_rows, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_distinct'),
	'(passed,t,"number of distinct a at least 2, at most 3","3 in 8 rows","at least 2, at most 3",10,,,)', 'the result of a pass');
UPDATE s SET a = 7 WHERE id = 1;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 10: 10 quarantined', 'one more');
SELECT is((SELECT ROW(status, passed, actual_value, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_distinct'),
	'(failed,f,"4 in 8 rows","number of distinct a not at least 2, at most 3: 4 in 8 rows")', 'is said');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), '{"a_distinct: number of distinct a not at least 2, at most 3: 4 in 8 rows"}', 'by the run as well');
SELECT results_eq('SELECT DISTINCT failed_checks FROM dq_quarantine.t', $$ VALUES ('{}'::text[]) $$, 'no row in particular is to blame');
SELECT drop_all('t'), dq_gate.expect_distinct('t', '{a}', min => 5, action => 'warn', name => 'least'), dq_gate.expect_distinct('t', '{a}', max => 4, action => 'warn', name => 'most'),
	dq_gate.expect_distinct('t', '{a}', 4, 4, name => 'exactly') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 10: 1 updated, 9 unchanged', 'with action warn');
SELECT is(finding('least') || '; ' || finding('most') || '; ' || finding('exactly'), 'failed of 10; passed of 10; passed of 10', 'one side alone, or both at once');
SELECT drop_all('t') \g /dev/null

-- rates, of the rows that have a value: 4 in 8
SELECT dq_gate.expect_distinct('t', '{a}', min_distinct_rate => 0.5, name => 'half'), dq_gate.expect_distinct('t', '{a}', max_distinct_rate => 0.5, name => 'at_most_half'), dq_gate.expect_distinct('t', '{a}', min_distinct_rate => 0.51, name => 'more', action => 'warn'),
	dq_gate.expect_distinct('t', '{a}', max_distinct_rate => 0.4999, name => 'less', action => 'warn'), dq_gate.expect_distinct('t', '{a}', 1, 5, 0.1, 0.9, name => 'all_four') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 10: 10 unchanged', 'rates');
SELECT is(not_passed(), 'less failed, more failed', 'are those of the rows that have a value');
SELECT is(message('more'), 'number of distinct a not at least 0.51 of the rows: 4 in 8 rows', 'in words');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'all_four'), 'number of distinct a at least 1, at most 5, at least 0.1 of the rows, at most 0.9 of the rows', 'four bounds at once');
SELECT drop_all('t'), dq_gate.expect_distinct('t', '{id}', min_distinct_rate => 1) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')) || '; ' || finding('id_distinct'), 'published 10: 10 unchanged; passed of 10', 'a rate of 1: all of them are different');
SELECT drop_all('t') \g /dev/null

-- several columns; rows with a NULL are left out
SELECT is(dq_gate.expect_distinct('t', '{a,b}', 3, 3, action => 'warn'), 'a_b_distinct', 'two columns');
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(status, expected_value, actual_value)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_b_distinct'),
	(SELECT ROW(CASE WHEN count(DISTINCT (a, b)) = 3 THEN 'passed' ELSE 'failed' END, 'number of distinct (a, b) at least 3, at most 3', count(DISTINCT (a, b)) || ' in ' || count(*) || ' rows')::text FROM s WHERE a IS NOT NULL AND b IS NOT NULL), 'pairs, as counted by hand');
SELECT drop_all('t') \g /dev/null

-- equal is what the type says
UPDATE s SET n = CASE WHEN id = 1 THEN 1.0 WHEN id = 2 THEN 1.00 WHEN id = 3 THEN 'NaN' WHEN id = 4 THEN 'NaN' ELSE 1 END;
SELECT dq_gate.expect_distinct('t', '{n}', 2, 2) \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', '1.0 is 1, and NaN is NaN');
SELECT drop_all('t') \g /dev/null
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
SET client_min_messages = warning;
CREATE SCHEMA elsewhere;
CREATE EXTENSION citext SCHEMA elsewhere;
RESET client_min_messages;
CREATE TABLE ci (id int PRIMARY KEY, c elsewhere.citext);
CREATE TABLE ci_s (id int, c text);
INSERT INTO ci_s VALUES (1, 'Bob'), (2, 'bob'), (3, 'Eve');
SELECT dq_gate.expect_distinct('ci', '{c}', 2, 2) \g /dev/null
SELECT is(outcome(dq_gate.publish('ci_s', 'ci')), 'published 3: 3 inserted', 'a type that ignores case');
\else
SELECT skip('no citext');
\endif

-- NULL, and nothing but NULL: 0 values, of which there is no rate
UPDATE s SET a = NULL;
SELECT dq_gate.expect_distinct('t', '{a}', min => 0, max => 0, name => 'none'), dq_gate.expect_distinct('t', '{a}', min => 1, name => 'one', action => 'warn'),
	dq_gate.expect_distinct('t', '{a}', min_distinct_rate => 0, name => 'any_rate', action => 'warn'), dq_gate.expect_distinct('t', '{a}', max_distinct_rate => 1, name => 'any_other_rate', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(not_passed(), 'any_other_rate failed, any_rate failed, one failed', 'a column of NULLs has no value, and a rate of nothing is no pass');
SELECT is(message('one') || '; ' || message('any_rate'), 'number of distinct a not at least 1: 0 in 0 rows; number of distinct a not at least 0 of the rows: 0 in 0 rows', 'which is said');
SELECT drop_all('t') \g /dev/null

-- an empty batch
CREATE TABLE empty (LIKE s);
SELECT dq_gate.expect_distinct('t', '{a}', min => 1) \g /dev/null
SELECT is(outcome(dq_gate.publish('empty', 't')), 'rejected 0', 'an empty batch is no batch');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_distinct'), 'not_judged, no rows', 'of which there is nothing to judge');
SELECT drop_all('t') \g /dev/null

-- filter
UPDATE s SET a = id % 4, b = CASE WHEN id > 6 THEN 'late' END;
SELECT dq_gate.expect_distinct('t', '{a}', 3, 3, filter => 'b = ''late'' AND id > 7', action => 'warn'), dq_gate.expect_distinct('t', '{a}', 1, filter => 'id < 0', action => 'warn', name => 'nobody'),
	dq_gate.expect_distinct('t', '{a}', max_distinct_rate => 0.4, filter => 'id > 2', action => 'warn', name => 'rate') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(status, expected_value, actual_value, examined_rows)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_distinct'), '(passed,"number of distinct a at least 3, at most 3, where b = ''late'' AND id > 7","3 in 3 rows",3)', 'values of the rows that the filter picks');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'nobody'), 'not_judged, no rows that the filter picks', 'of no rows there are none');
SELECT is(message('rate'), 'number of distinct a not at most 0.4 of the rows: 4 in 8 rows', 'a rate is one of those rows');
SELECT drop_all('t') \g /dev/null
SELECT dq_gate.expect_distinct('t', '{a}', 1, filter => '1 / (id - 3) > 5', action => 'warn'), dq_gate.expect_distinct('t', '{a}', 4, 4, name => 'beside') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('a_distinct') || ' ' || finding('beside'), 'published error passed of 10', 'a filter that fails breaks its own check and no other');
SELECT drop_all('t') \g /dev/null

-- staged as text: values of the type; what does not fit is none
CREATE TABLE text_s (id text, a text);
INSERT INTO text_s VALUES ('1', '01'), ('2', '1'), ('3', ' 1'), ('4', '2'), ('5', 'x');
SELECT dq_gate.expect_distinct('t', '{a}', 2, 2) \g /dev/null
SELECT dq_gate.audit('text_s', 't') \g /dev/null
SELECT is((SELECT status || ' ' || actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_distinct'), 'passed 2 in 4 rows', 'staged as text, they are numbers');
SELECT drop_all('t') \g /dev/null

-- actions
SELECT dq_gate.expect_distinct('t', '{a}', 5, action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'skipped 10', 'a batch with too few values can be skipped');
SELECT drop_all('t'), dq_gate.expect_distinct('t', '{a}', 5, action => 'declare') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('a_distinct'), 'published not_judged', 'or the rule be declared alone');
SELECT drop_all('t') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_distinct(''t'', ''{a}'', 5, action => %L)', action), '22023', 'distinct[^$]*' || action || '[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved: ' || action)
FROM unnest(ARRAY['quarantine', 'drop']) action;

-- counts are no values: they stay without samples
SELECT dq_gate.expect_distinct('t', '{a}', 5, action => 'warn', samples => false) \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(actual_value, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_distinct'), '("4 in 10 rows",,"number of distinct a not at least 5: 4 in 10 rows")', 'counts are shown without samples too');
SELECT drop_all('t') \g /dev/null

-- names, large bounds
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab le" ("Id" int PRIMARY KEY, "select" int, "a""b%s" text, different int, valued int, row_count int);
CREATE TABLE "Odd Schema"."Stg" (LIKE "Odd Schema"."Tab le");
INSERT INTO "Odd Schema"."Stg" VALUES (1, 1, 'x', 1, 1, 1), (2, 1, 'y', 2, 1, 1), (3, 1, 'y', 3, 1, 1);
SELECT is(dq_gate.expect_distinct('"Odd Schema"."Tab le"', '{select,"a\"b%s"}', 3, 1e30, action => 'warn'), 'select_a"b%s_distinct', 'O09: names of any kind');
SELECT dq_gate.expect_distinct('"Odd Schema"."Tab le"', '{different,valued,row_count}', 3, 3) \g /dev/null
SELECT dq_gate.audit('"Odd Schema"."Stg"', '"Odd Schema"."Tab le"') \g /dev/null
SELECT is(split_part(message('select_a"b%s_distinct'), ' not ', 1) || split_part(message('select_a"b%s_distinct'), ':', 2), 'number of distinct ("select", "a""b%s") 2 in 3 rows', 'O09: are quoted');
SELECT is(finding('different_valued_row_count_distinct'), 'passed of 3', 'O09: nor do names of the measuring statement get in the way');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_distinct('t', '{a}') $$, '22023', '"distinct" needs a bound[^$]*min_distinct_rate', 'no bound');
SELECT raises($$ SELECT dq_gate.expect_distinct('t', '{a}', 3, 2) $$, '22023', 'min 3 is above max 2', 'bounds the wrong way round');
SELECT raises($$ SELECT dq_gate.expect_distinct('t', '{a}', min_distinct_rate => 0.5, max_distinct_rate => 0.4) $$, '22023', 'min_distinct_rate 0.5 is above max_distinct_rate 0.4', 'rates as well');
SELECT raises(format('SELECT dq_gate.expect_distinct(''t'', ''{a}'', %s => -1)', bound), '22023', bound || '.*negative', 'negative ' || bound) FROM unnest(ARRAY['min', 'max', 'min_distinct_rate', 'max_distinct_rate']) bound;
SELECT raises(format('SELECT dq_gate.expect_distinct(''t'', ''{a}'', %s => 1.5)', bound), '22023', bound || ' 1.5 is above', 'a rate above 1: ' || bound) FROM unnest(ARRAY['min_distinct_rate', 'max_distinct_rate']) bound;
SELECT raises($$ SELECT dq_gate.expect_distinct('t', '{a}', 'NaN') $$, '22023', 'min.*NaN', 'NaN is no bound');
SELECT raises($$ SELECT dq_gate.expect_distinct('t', NULL, 1) $$, '22004', 'columns', 'no columns');
SELECT raises($$ SELECT dq_gate.expect_distinct('t', '{}', 1) $$, '22004', 'columns', 'an empty list of columns');
SELECT raises($$ SELECT dq_gate.expect_distinct('t', '{nothing}', 1) $$, '42703', 'column nothing of gate public.t', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_distinct('t', '{a,a}', 1) $$, '42701', 'a is named twice', 'a column twice');
SELECT raises($$ SELECT dq_gate.expect_distinct('t', '{j}', 1) $$, '42883', 'column j of gate public.t has type json, which has no equality', 'a type whose values cannot be told apart');
SELECT raises($$ SELECT dq_gate.expect_distinct('t', '{g}', 1) $$, '0A000', 'g of gate public.t is generated', 'a column that the target generates');
SELECT raises(format('SELECT dq_gate.expect_distinct(''t'', ''{a}'', 1, %s)', option), '22023', 'a check of type "distinct" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole',
	'what it does not take: ' || option)
FROM unnest(ARRAY['nulls => ''fail''', 'max_rate => 0.1', 'max_rows => 1', 'warn_above => 1', 'block_above => 0.5']) option;

-- what is gone at run time
SELECT dq_gate.expect_distinct('t', '{a}', 1), dq_gate.expect_distinct('t', '{id}', 1) \g /dev/null
ALTER TABLE s RENAME a TO w;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 10: 10 quarantined', 'a column that is not staged any more');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_distinct'), 'error, could not be evaluated: column a is missing in the staging table', 'cannot be judged');
SELECT is(finding('id_distinct'), 'passed of 10', 'the others are judged all the same');
ALTER TABLE s DROP w;
ALTER TABLE t DROP a;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'a_distinct'), 'error, could not be evaluated: column a does not exist in the target', 'nor can one that is dropped');
ALTER TABLE t DROP g;
ALTER TABLE t ALTER id TYPE bigint;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('id_distinct'), 'passed of 10', 'another type is no obstacle');

SELECT finish();
