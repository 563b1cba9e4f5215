-- expect_control_totals, and totals that are given with a call
\ir include/helpers.sql
SELECT plan(141);

CREATE DOMAIN price AS numeric(10,2);
CREATE TABLE t (id int PRIMARY KEY, amount numeric(10,2), n int, f float8, m money, p price, c text, d date, b bool, g int GENERATED ALWAYS AS (id * 2) STORED);
CREATE TABLE s (id int, amount numeric(10,2), n int, f float8, m money, p price, c text, d date, b bool);
CREATE TABLE manifest (batch text, row_count bigint, amount numeric, n bigint);
INSERT INTO s (id, amount, n) VALUES (1, 10.50, 1), (2, -0.25, 2), (3, NULL, NULL);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null

-- a manifest
INSERT INTO manifest VALUES ('one', 3, 10.25, 3), ('first', 3, 10.25, 3);
SELECT is(dq_gate.expect_control_totals('t', '{amount,n}', 'SELECT row_count, amount, n FROM manifest WHERE batch = dq_gate.batch_id()'), 'amount_n_control_totals', 'it is named after its columns');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'amount_n_control_totals'),
	'(control_totals,"{amount,n}","number of rows and sums of amount, n as in: SELECT row_count, amount, n FROM manifest WHERE batch = dq_gate.batch_id()",block,,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't', 'first')), 'published 3: 3 inserted', 'the totals of the manifest');
SELECT is((SELECT ROW(status, passed, actual_value, examined_rows, failing_rows, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'amount_n_control_totals'),
	'(passed,t,"row_count 3, amount 10.25, n 3",3,,,)', 'the result of a pass; NULL adds nothing');
DELETE FROM manifest WHERE batch = 'first';
UPDATE manifest SET amount = 10.26, n = 4;
SELECT is(outcome(dq_gate.publish('s', 't', 'one')), 'rejected 3: 3 quarantined', 'others');
SELECT is((SELECT ROW(status, passed, actual_value, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'amount_n_control_totals'),
	'(failed,f,"row_count 3, amount 10.25, n 3","totals differ: amount 10.25, not 10.26; n 3, not 4")', 'are said, each with both numbers');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), '{"amount_n_control_totals: totals differ: amount 10.25, not 10.26; n 3, not 4"}', 'by the run as well');
SELECT results_eq('SELECT DISTINCT failed_checks FROM dq_quarantine.t', $$ VALUES ('{}'::text[]) $$, 'no row in particular is to blame');
UPDATE manifest SET row_count = 4, amount = 10.25, n = 3;
SELECT dq_gate.audit('s', 't', 'one') \g /dev/null
SELECT is(message('amount_n_control_totals'), 'totals differ: row_count 3, not 4', 'a row that is missing');
SELECT dq_gate.audit('s', 't', 'two') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'amount_n_control_totals'), 'failed, the query for the totals must return one row', 'a batch that the manifest does not know');
INSERT INTO manifest TABLE manifest;
SELECT is((dq_gate.publish('s', 't', 'one')).verdict, 'rejected', 'nor is one that it knows twice');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'amount_n_control_totals'), 'failed, the query for the totals must return one row: 2 rows', 'a pass');
UPDATE manifest SET row_count = 3, amount = NULL;
DELETE FROM manifest WHERE ctid = (SELECT min(ctid) FROM manifest);
SELECT dq_gate.audit('s', 't', 'one') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'amount_n_control_totals'), 'failed, totals differ: amount 10.25, not known', 'a total that is NULL is not known, and no pass');
SELECT drop_all('t') \g /dev/null

-- a manifest that says less, or more
SELECT dq_gate.expect_control_totals('t', '{amount}', 'SELECT n FROM manifest', name => 'less', action => 'warn'), dq_gate.expect_control_totals('t', '{n}', 'SELECT n, 7 AS amount FROM manifest', name => 'more', action => 'warn'),
	dq_gate.expect_control_totals('t', NULL, 'SELECT 3 AS row_count', name => 'rows', action => 'warn'), dq_gate.expect_control_totals('t', query => 'SELECT 4 AS row_count', name => 'other_rows', action => 'warn'),
	dq_gate.expect_control_totals('t', '{n}', 'SELECT ''3'' AS n', name => 'text', action => 'warn'), dq_gate.expect_control_totals('t', '{n}', 'SELECT 3.000 AS n, 3.0 AS row_count', name => 'decimals', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT results_eq($$ SELECT check_name, status, message FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals' ORDER BY 1 $$,
	$$ VALUES ('decimals', 'passed', NULL), ('less', 'failed', 'totals differ: amount 10.25, not known'), ('more', 'passed', NULL), ('other_rows', 'failed', 'totals differ: row_count 3, not 4'), ('rows', 'passed', NULL), ('text', 'passed', NULL) $$,
	'a sum that is not in the manifest is not known, what nobody asked for is not compared');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'rows'), 'number of rows as in: SELECT 3 AS row_count', 'the number of rows alone, in words');
SELECT drop_all('t') \g /dev/null
SELECT dq_gate.expect_control_totals('t', '{n}', 'SELECT ''abc'' AS n', name => 'no_number', action => 'warn'), dq_gate.expect_control_totals('t', '{n}', 'SELECT ''NaN''::float8 AS n', name => 'nan', action => 'warn'), dq_gate.expect_control_totals('t', '{n}', 'SELECT 3 AS n', name => 'beside') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'a manifest that holds no number, with action warn');
SELECT is(not_passed(), 'nan failed, no_number error', 'is no pass');
SELECT is(finding('beside'), 'passed of 3', 'and leaves the others alone');
SELECT drop_all('t') \g /dev/null

-- tolerance is for sums, not for rows
SELECT dq_gate.expect_control_totals('t', '{amount}', 'SELECT 10.30 AS amount', tolerance => 0.05, name => 'enough'), dq_gate.expect_control_totals('t', '{amount}', 'SELECT 10.20 AS amount', tolerance => 0.05, name => 'below'),
	dq_gate.expect_control_totals('t', '{amount}', 'SELECT 10.3001 AS amount', tolerance => 0.05, name => 'too_little', action => 'warn'), dq_gate.expect_control_totals('t', '{amount}', 'SELECT 10.25 AS amount, 4 AS row_count', tolerance => 5, name => 'rows', action => 'warn') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ': ' || not_passed(), 'published: rows failed, too_little failed', 'give or take');
SELECT is(message('too_little') || '; ' || message('rows'), 'totals differ: amount 10.25, not 10.3001; totals differ: row_count 3, not 4', 'the number of rows has none');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'enough'), 'number of rows and sums of amount as in: SELECT 10.30 AS amount, give or take 0.05', 'in words');
SELECT drop_all('t') \g /dev/null

-- numbers of every type, as added up by hand
UPDATE s SET f = id * 0.5, m = (id * 1.10)::numeric::money, p = id * 3;
SELECT dq_gate.expect_control_totals('t', ARRAY[c], format('SELECT sum(%I)::numeric AS %I, count(*) AS row_count FROM s', c, c)) FROM unnest(ARRAY['id', 'amount', 'n', 'f', 'm', 'p']) c \g /dev/null
SELECT dq_gate.expect_control_totals('t', ARRAY[c], format('SELECT sum(%I)::numeric + 1 AS %I FROM s', c, c), action => 'warn', name => c || '_wrong') FROM unnest(ARRAY['id', 'amount', 'n', 'f', 'm', 'p']) c \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'integers, floats, money, a domain');
SELECT is(not_passed(), 'amount_wrong failed, f_wrong failed, id_wrong failed, m_wrong failed, n_wrong failed, p_wrong failed', 'can be added up, and differ where they do');
SELECT drop_all('t') \g /dev/null
CREATE TABLE big (id int PRIMARY KEY, v bigint);
CREATE TABLE big_s AS SELECT i AS id, 9223372036854775807 AS v FROM generate_series(1, 3) i;
SELECT is((dq_gate.publish('big_s', 'big', totals => '{"row_count": 3, "v": 27670116110564327421}')).verdict, 'published', 'a sum that is longer than its values');
SELECT is((dq_gate.publish('big_s', 'big', totals => '{"row_count": 3, "v": 27670116110564327420}')).verdict, 'rejected', 'to the last digit');
CREATE TABLE fl (id int PRIMARY KEY, v float8);
CREATE TABLE fl_s (LIKE fl);
INSERT INTO fl_s VALUES (1, 0.1), (2, 0.2);
SELECT dq_gate.expect_control_totals('fl', '{v}', tolerance => 0.000001) \g /dev/null
SELECT is((dq_gate.publish('fl_s', 'fl', totals => '{"v": 0.3}')).verdict, 'published', 'floats, with a tolerance');
INSERT INTO fl_s VALUES (3, 'NaN');
SELECT is((dq_gate.publish('fl_s', 'fl', totals => '{"v": 0.3}')).verdict, 'rejected', 'NaN is no sum');
UPDATE fl_s SET v = 'Infinity' WHERE id = 3;
SELECT is((dq_gate.publish('fl_s', 'fl', totals => '{"v": 0.3}')).verdict, 'rejected', 'nor is infinity');

-- given with the call, without a declared check
TRUNCATE t;
UPDATE s SET amount = CASE id WHEN 1 THEN 10.5 WHEN 2 THEN 0 END;
SELECT is(outcome(dq_gate.publish('s', 't', totals => '{"row_count": 3, "amount": 10.5}')), 'published 3: 3 inserted', 'totals given with the call');
SELECT is((SELECT ROW(check_name, columns, action, origin, status, expected_value, actual_value)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals'),
	'(control_totals,{amount},block,"given with the call",passed,"number of rows and sums of amount as given with the call","row_count 3, amount 10.5")', 'are compared though no check of them is declared');
SELECT is((SELECT origin FROM dq_gate.rules_of(last_run()) WHERE check_type = 'control_totals'), 'given with the call', 'the log keeps that rule');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('t') WHERE check_type = 'control_totals'), 0::bigint, 'which is none of the gate');
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals'), 0::bigint, 'nor of the next run');
SELECT is(outcome(dq_gate.publish('s', 't', totals => '{"row_count": 3, "amount": 10.51}')), 'rejected 3: 3 quarantined', 'a total that differs keeps the batch out');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), '{"control_totals: totals differ: amount 10.5, not 10.51"}', 'and is said');
SELECT is((SELECT count(*) FROM dq_quarantine.t WHERE run_id = last_run()), 3::bigint, 'the batch is kept');
SELECT is(outcome(dq_gate.publish('s', 't', totals => '{"row_count": 2}')), 'rejected 3: 3 quarantined', 'so does another number of rows');
SELECT is(message('control_totals'), 'totals differ: row_count 3, not 2', 'which is said');
SELECT is((dq_gate.publish('s', 't', totals => '{"n": 3, "amount": 10.50}')).verdict, 'published', 'who does not say how many rows there are is not held to it');
SELECT is((dq_gate.publish('s', 't', totals => '{}')).verdict, 'published', 'nor who says nothing');
SELECT is((dq_gate.publish('s', 't', totals => NULL)).verdict, 'published', 'at all');
SELECT is((SELECT ROW(passed, published)::text FROM dq_gate.audit('s', 't', totals => '{"amount": -1e3}')), '(f,f)', 'a dry run compares them as well');
SELECT is(message('control_totals'), 'totals differ: amount 10.5, not -1000', 'negative ones, too');
SELECT is((dq_gate.publish('s', 't', totals => '{"row_count": 3.0, "amount": 1.05e1, "id": 6}')).verdict, 'published', 'numbers of any form, and the key has a sum');
UPDATE s SET amount = NULL;
SELECT is((dq_gate.publish('s', 't', totals => '{"amount": 0}')).verdict, 'published', 'a column of NULLs adds up to 0');
SELECT is((dq_gate.publish('s', 't', totals => '{"amount": 0.01}')).verdict, 'rejected', 'and to nothing else');
UPDATE s SET amount = CASE id WHEN 1 THEN 10.5 WHEN 2 THEN -20.75 END;
SELECT is((dq_gate.publish('s', 't', totals => '{"amount": -10.25}')).verdict, 'published', 'a sum may be negative');

-- publish_or_fail
CALL dq_gate.publish_or_fail('s', 't', totals => '{"row_count": 3}');
SELECT is((SELECT verdict FROM dq_gate.runs WHERE run_id = last_run()), 'published', 'publish_or_fail takes totals');
\set ON_ERROR_STOP 0
CALL dq_gate.publish_or_fail('s', 't', totals => '{"row_count": 5}');
\set ON_ERROR_STOP 1
SELECT is(:'LAST_ERROR_MESSAGE'::text ~ 'control_totals: totals differ: row_count 3, not 5', true, 'and fails by them');
SELECT is((SELECT ROW(verdict, quarantined)::text FROM dq_gate.runs WHERE run_id = last_run()), '(rejected,3)', 'with the evidence');

-- all staged rows count, those that are moved as well
SELECT dq_gate.expect_range('t', 'amount', min => 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't', totals => '{"row_count": 3, "amount": -10.25}')), 'published 3: 2 unchanged, 1 quarantined', 'the totals are those of what was sent');
SELECT drop_all('t') \g /dev/null

-- an empty batch
CREATE TABLE none (LIKE s);
SELECT is(outcome(dq_gate.publish('none', 't', totals => '{"row_count": 0, "amount": 0}')), 'rejected 0', 'an empty batch is no batch, though its sender says so');
SELECT is((SELECT status || ' ' || actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'control_totals'), 'passed row_count 0, amount 0', 'its totals are right');
SELECT is(not_passed(), 'not_empty failed', 'and nothing else is wrong');
SELECT is(outcome(dq_gate.publish('none', 't', totals => '{"row_count": 3}')), 'rejected 0', 'where rows were sent');
SELECT is(message('control_totals'), 'totals differ: row_count 0, not 3', 'they are missed');

-- given with the call, with a declared check
SELECT is(dq_gate.expect_control_totals('t', '{amount}', tolerance => 0.5, action => 'warn', owner => 'sender'), 'amount_control_totals', 'a check of what is given with the call');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'amount_control_totals'), 'number of rows and sums of amount as given with the call, give or take 0.5', 'in words');
SELECT is((dq_gate.publish('s', 't', totals => '{"row_count": 3, "amount": -10}')).verdict || coalesce(not_passed(), ''), 'published', 'with a tolerance');
SELECT is((SELECT string_agg(check_name || ' ' || owner || ' ' || origin, ', ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals'), 'amount_control_totals sender declared', 'it is the only one');
SELECT is((dq_gate.publish('s', 't', totals => '{"row_count": 3, "amount": -8}')).verdict || ': ' || not_passed(), 'published: amount_control_totals failed', 'with its action');
SELECT is((dq_gate.publish('s', 't', totals => '{"row_count": 3, "amount": -10, "n": 7}')).verdict || ': ' || message('amount_control_totals'), 'published: totals differ: n 3, not 7', 'sums that are given beyond it are compared as well');
SELECT is((dq_gate.publish('s', 't', totals => '{"row_count": 3}')).verdict || ': ' || message('amount_control_totals'), 'published: totals differ: amount -10.25, not known', 'one that is expected has to be given');
SELECT is((dq_gate.publish('s', 't')).verdict || ': ' || message('amount_control_totals'), 'published: no totals were given with the call', 'and so do totals at all');
SELECT drop_all('t'), dq_gate.expect_control_totals('t') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || not_passed(), 'rejected 3: 3 quarantined: control_totals failed', 'a batch whose totals nobody gave is kept out where they are expected');
SELECT set_config('dq_gate.totals', '{"row_count": 3}', false) \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'rejected', 'a setting of the session gives none');
SELECT set_config('dq_gate.totals', '', false) \g /dev/null
SELECT is((dq_gate.publish('s', 't', totals => '{"row_count": 3, "amount": -10.25}')).verdict, 'published', 'given, they are compared');
SELECT is(current_setting('dq_gate.totals'), '', 'and forgotten');
SELECT is((dq_gate.publish('s', 't', totals => '{"row_count": 3, "amount": 10.25}')).verdict, 'rejected', 'whatever they are of');
SELECT drop_all('t') \g /dev/null
-- beside one that has a manifest, one that is only declared, one of that name
SELECT dq_gate.expect_control_totals('t', '{n}', 'SELECT 3 AS n', name => 'from_manifest'), dq_gate.expect_control_totals('t', '{n}', name => 'for_people', action => 'declare'), dq_gate.expect_range('t', 'id', 0, name => 'control_totals') \g /dev/null
SELECT is((dq_gate.publish('s', 't', totals => '{"row_count": 4}')).verdict, 'rejected', 'totals given with the call');
SELECT results_eq($$ SELECT check_name, status FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals' ORDER BY 1 $$, $$ VALUES ('control_totals_2', 'failed'), ('for_people', 'not_judged'), ('from_manifest', 'passed') $$,
	'are compared beside a manifest, and beside what is only declared');
SELECT drop_all('t') \g /dev/null

-- filter
SELECT dq_gate.expect_control_totals('t', '{amount}', 'SELECT 2 AS row_count, 10.50 AS amount', filter => 'amount > 0 OR amount IS NULL', action => 'warn'), dq_gate.expect_control_totals('t', '{amount}', 'SELECT 0 AS row_count, 0 AS amount', filter => 'id < 0', name => 'nobody') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || coalesce(not_passed(), ''), 'published', 'totals of the rows that a filter picks');
SELECT is((SELECT string_agg(actual_value || ' ' || examined_rows, '; ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals'), 'row_count 2, amount 10.5 2; row_count 0, amount 0 0', 'of none as well');
SELECT drop_all('t') \g /dev/null

-- staged as text
CREATE TABLE text_s (id text, amount text);
INSERT INTO text_s VALUES ('1', '10.5'), ('2', ' 1e1'), ('3', NULL);
SELECT is((dq_gate.publish('text_s', 't', totals => '{"row_count": 3, "amount": 20.5}')).verdict, 'published', 'text is added up as the numbers that it is');

-- wrong totals are an error before any work
SELECT last_run() AS runs \gset
SELECT raises(format('SELECT dq_gate.%s(''s'', ''t'', totals => %L)', f, totals), state, pattern, f || ' refuses ' || totals)
FROM unnest(ARRAY['publish', 'audit']) f, (VALUES ('[1]', '22023', '"totals" must be a JSON object[^$]*row_count'), ('3', '22023', 'must be a JSON object'), ('"x"', '22023', 'must be a JSON object'), ('null', '22023', 'must be a JSON object'),
	('{"nothing": 1}', '42703', 'total nothing is that of no column of public.t[^$]*row_count'), ('{"amount": "10"}', '22023', 'total amount must be a number'), ('{"amount": null}', '22023', 'total amount must be a number'), ('{"row_count": "3"}', '22023', 'total row_count must be a number'),
	('{"row_count": true}', '22023', 'total row_count must be a number'), ('{"amount": {"sum": 1}}', '22023', 'total amount must be a number'), ('{"c": 1}', '42804', 'column c of public.t has type text, which cannot be added up'), ('{"d": 1}', '42804', 'd of public.t has type date'),
	('{"b": 1}', '42804', 'b of public.t has type boolean'), ('{"AMOUNT": 1}', '42703', 'total "AMOUNT"')) v (totals, state, pattern);
SELECT is(last_run(), :runs::bigint, 'and nothing is logged');
\set ON_ERROR_STOP 0
CALL dq_gate.publish_or_fail('s', 't', totals => '{"nothing": 1}');
\set ON_ERROR_STOP 1
SELECT is(:'LAST_ERROR_SQLSTATE'::text, '42703', 'so does publish_or_fail');
SELECT is(last_run(), :runs::bigint, 'which leaves nothing either');
SELECT is((dq_gate.publish('text_s', 't', totals => '{"n": 1}')).verdict, 'rejected', 'a sum of a column that is not staged');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'control_totals'), 'error, could not be evaluated: column n is missing in the staging table', 'is no pass');
SELECT is((dq_gate.publish('s', 't', totals => '{"g": 12}')).published, false, 'nor is one that the target computes');

-- a column of that name
CREATE TABLE rc (id int PRIMARY KEY, row_count int);
CREATE TABLE rc_s (LIKE rc);
INSERT INTO rc_s VALUES (1, 100), (2, 200);
SELECT is((dq_gate.publish('rc_s', 'rc', totals => '{"row_count": 2}')).verdict, 'published', 'row_count is the number of rows, whatever columns there are');
SELECT is((dq_gate.publish('rc_s', 'rc', totals => '{"row_count": 300}')).verdict, 'rejected', 'and no sum');

-- actions
SELECT dq_gate.expect_control_totals('t', '{amount}', 'SELECT 1 AS amount', action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'skipped 3', 'a batch that is not complete yet can be skipped');
SELECT drop_all('t') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_control_totals(''t'', ''{amount}'', action => %L)', action), '22023', 'control_totals[^$]*' || action || '[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved: ' || action)
FROM unnest(ARRAY['quarantine', 'drop']) action;

-- sums are values
SELECT dq_gate.expect_control_totals('t', '{amount}', 'SELECT 4711 AS amount', samples => false, action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(status, actual_value, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals'), '(failed,,,"totals differ")', 'without samples no sum is shown');
SELECT is((SELECT failures::text ~ '10\.25|4711' FROM dq_gate.runs WHERE run_id = last_run()), false, 'by the run neither');
SELECT drop_all('t') \g /dev/null

-- names
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab le" ("Id" int PRIMARY KEY, "select" int, "a""b%s" numeric);
CREATE TABLE "Odd Schema"."Stg" (LIKE "Odd Schema"."Tab le");
INSERT INTO "Odd Schema"."Stg" VALUES (1, 1, 1.5), (2, 2, 2.5);
SELECT dq_gate.expect_control_totals('"Odd Schema"."Tab le"', '{select,"a\"b%s"}', 'SELECT 3 AS "select", 5 AS "a""b%s"', action => 'warn') \g /dev/null
SELECT dq_gate.audit('"Odd Schema"."Stg"', '"Odd Schema"."Tab le"', totals => '{"a\"b%s": 4, "select": 7}') \g /dev/null
SELECT is(message('select_a"b%s_control_totals'), 'totals differ: a"b%s 4, not 5', 'O09: names of any kind in a manifest');
SELECT is(message('control_totals'), 'totals differ: select 3, not 7', 'O09: and in a call');
CREATE TABLE words (id int PRIMARY KEY, m int, w int, d int, s int, rows int, totals int, name int, got int, wanted int, given int, batch int);
CREATE TABLE words_s (LIKE words);
INSERT INTO words_s VALUES (1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), (2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
CREATE FUNCTION of_words(factor int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dq_gate.expect_control_totals('words', ARRAY[c], format('SELECT sum(batch.%I) * %s AS %I, 2 AS row_count FROM words_s AS batch', c, factor, c), action => 'warn', name => c)
	FROM unnest(ARRAY['m', 'w', 'd', 's', 'rows', 'totals', 'name', 'got', 'wanted', 'given', 'batch']) c;
	PERFORM dq_gate.audit('words_s', 'words'), drop_all('words');
	RETURN (SELECT string_agg(check_name, ' ' ORDER BY check_no) FROM dq_gate.results_of(last_run()) WHERE check_type = 'control_totals' AND status = 'failed' AND message LIKE 'totals differ: ' || check_name || '%');
END
$$;
SELECT is(of_words(1), NULL, 'O09: nor do names of the measuring statement get in the way');
SELECT is(of_words(2), 'batch d given got m name rows s totals w wanted', 'O09: of a wrong total either');
SELECT is((dq_gate.publish('words_s', 'words', totals => '{"m": 2, "w": 4, "d": 6, "s": 8, "rows": 10, "totals": 12, "name": 14, "got": 16, "wanted": 18, "given": 20, "batch": 22}')).verdict, 'published', 'O09: nor of one that is given with the call');

-- refused when declared
SELECT raises(format('SELECT dq_gate.expect_control_totals(''t'', ARRAY[%L])', c), '42804', format('column %s of gate public.t has type %s, which cannot be added up', c, t), t || ' cannot be added up') FROM (VALUES ('c', 'text'), ('d', 'date'), ('b', 'boolean')) v (c, t);
SELECT raises($$ SELECT dq_gate.expect_control_totals('t', '{nothing}') $$, '42703', 'column nothing of gate public.t', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_control_totals('t', '{g}') $$, '0A000', 'g of gate public.t is generated', 'a column that the target generates');
SELECT raises($$ SELECT dq_gate.expect_control_totals('t', '{n,n}') $$, '42701', 'n is named twice', 'a column twice');
SELECT raises($$ SELECT dq_gate.expect_control_totals('t', '{n}', tolerance => -1) $$, '22023', 'tolerance.*negative', 'a negative tolerance');
SELECT raises($$ SELECT dq_gate.expect_control_totals('t', '{n}', tolerance => 'NaN') $$, '22023', 'tolerance.*NaN', 'no tolerance');
SELECT raises($$ SELECT dq_gate.expect_control_totals('t', '{n}', 'SELECT nothing FROM manifest') $$, '42703', 'nothing', 'a query that makes no sense');
SELECT raises($$ SELECT dq_gate.expect_control_totals('t', '{n}', 'DELETE FROM manifest') $$, '22023', 'only reads', 'one that writes');
SELECT raises($$ SELECT dq_gate.expect_control_totals('t', '{n}', 'SELECT 1; SELECT 2') $$, '42601', 'one query', 'two of them');
SELECT raises(format('SELECT dq_gate.expect_control_totals(''t'', ''{n}'', %s)', option), '22023', 'a check of type "control_totals" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole',
	'what it does not take: ' || option)
FROM unnest(ARRAY['nulls => ''fail''', 'max_rate => 0.1', 'max_rows => 1', 'warn_above => 1', 'block_above => 0.5']) option;

-- what is gone at run time
SELECT dq_gate.expect_control_totals('t', '{n}', 'SELECT n FROM manifest', action => 'warn', name => 'manifest'), dq_gate.expect_control_totals('t', '{amount}', 'SELECT -10.25 AS amount', name => 'beside') \g /dev/null
ALTER TABLE s RENAME n TO w;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'manifest'), 'error, could not be evaluated: column n is missing in the staging table', 'a column that is not staged any more');
SELECT is(finding('beside'), 'passed of 3', 'the others are judged all the same');
ALTER TABLE s RENAME w TO n;
DROP TABLE manifest CASCADE;
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'a manifest that is gone, with action warn');
SELECT matches((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'manifest'), 'error, could not be evaluated: relation "public.manifest" does not exist', 'is no pass');
SELECT is(finding('beside'), 'passed of 3', 'the others are judged all the same');

SELECT finish();
