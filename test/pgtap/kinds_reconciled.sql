-- expect_reconciled: the batch has the rows, the sums and the keys of its source
\ir include/helpers.sql
SELECT plan(86);

CREATE TABLE src (id int, amount numeric(10,2), note text);
CREATE TABLE t (id int PRIMARY KEY, amount numeric(10,2), c text, j json, g int GENERATED ALWAYS AS (id * 2) STORED);
CREATE TABLE s (id int, amount numeric(10,2), c text, j json);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
INSERT INTO src SELECT i, i * 1.5, 'n' FROM generate_series(1, 10) i;
INSERT INTO s (id, amount) SELECT id, amount FROM src;
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null

-- rows, sums and keys
SELECT is(dq_gate.expect_reconciled('t', 'src', sums => '{amount}'), 'id_amount_reconciled', 'it is named after its columns');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'id_amount_reconciled'),
	'(reconciled,"{id,amount}","the batch has what public.src has: as many rows, the sums of amount, the keys id",block,,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 10: 10 inserted', 'what the source has');
SELECT is((SELECT ROW(status, passed, actual_value, examined_rows, failing_rows, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'),
	'(passed,t,"row_count 10, amount 82.5, keys: 0 missing, 0 extra",10,,,)', 'the result of a pass');
DELETE FROM s WHERE id = 3;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 9: 9 quarantined', 'a row that is missing');
SELECT is((SELECT ROW(status, passed, actual_value, message)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'),
	'(failed,f,"row_count 9, amount 78, keys: 1 missing, 0 extra","the batch differs from public.src: row_count 9, not 10; amount 78, not 82.5; 1 key missing")', 'is missed by number, by sum and by key');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), '{"missing": [{"id": 3}]}', 'and shown');
SELECT results_eq('SELECT DISTINCT failed_checks FROM dq_quarantine.t', $$ VALUES ('{}'::text[]) $$, 'no row of the batch is to blame');
INSERT INTO s (id, amount) VALUES (30, 4.5);
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT ROW(status, message, sample)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'),
	$$(failed,"the batch differs from public.src: 1 key missing; 1 key extra","{""extra"": [{""id"": 30}], ""missing"": [{""id"": 3}]}")$$, 'another key, though number and sum are right');
UPDATE s SET id = 3 WHERE id = 30;
UPDATE s SET amount = amount + CASE id WHEN 1 THEN 0.01 ELSE 0 END;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('id_amount_reconciled'), 'the batch differs from public.src: amount 82.51, not 82.5', 'another amount, though the keys are right');
UPDATE s SET amount = amount - 0.01 WHERE id = 1;
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), '{"id_amount_reconciled: the batch differs from public.src: amount 82.51, not 82.5"}', 'the run says so');
-- what evens out in a sum is not seen by it
UPDATE s SET amount = CASE id WHEN 1 THEN 1.6 WHEN 2 THEN 2.9 ELSE amount END;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('id_amount_reconciled'), 'passed of 10', 'two amounts that even out have the same sum');
SELECT drop_all('t') \g /dev/null

-- many keys: up to five are shown
SELECT dq_gate.expect_reconciled('t', 'src', action => 'warn') \g /dev/null
CREATE TABLE far_s AS SELECT i AS id FROM generate_series(8, 17) i;
SELECT dq_gate.audit('far_s', 't') \g /dev/null
SELECT is(message('id_reconciled'), 'the batch differs from public.src: 7 keys missing; 7 keys extra', 'seven keys of each side');
SELECT is((SELECT (SELECT bool_and((x ->> 'id')::int BETWEEN 1 AND 7) AND count(*) = 5 FROM jsonb_array_elements(sample -> 'missing') x) AND (SELECT bool_and((x ->> 'id')::int BETWEEN 11 AND 17) AND count(*) = 5 FROM jsonb_array_elements(sample -> 'extra') x)
	FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), true, 'of which five are shown');
SELECT drop_all('t') \g /dev/null

-- duplicates: keys that are the same are one key, their number counts
INSERT INTO src VALUES (10, 0, 'again');
SELECT dq_gate.expect_reconciled('t', 'src', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('id_reconciled'), 'the batch differs from public.src: row_count 10, not 11', 'a row that the source has twice');
DELETE FROM src WHERE note = 'again';
-- NULL keys are keys as well
UPDATE src SET id = NULL WHERE id = 10;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(message, sample)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'),
	$$("the batch differs from public.src: 1 key missing; 1 key extra","{""extra"": [{""id"": 10}], ""missing"": [{""id"": null}]}")$$, 'a source without a key');
UPDATE s SET id = NULL WHERE id = 10;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), 'passed', 'is the same as a batch without one');
UPDATE src SET id = 10 WHERE id IS NULL;
UPDATE s SET id = 10 WHERE id IS NULL;
SELECT drop_all('t') \g /dev/null

-- rows alone
SELECT is(dq_gate.expect_reconciled('t', 'src', '{}', action => 'warn'), 'reconciled', 'without keys and sums it has the name of its kind');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_type = 'reconciled'), 'the batch has what public.src has: as many rows', 'in words');
SELECT dq_gate.audit('far_s', 't') \g /dev/null
SELECT is((SELECT status || ' ' || actual_value FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), 'passed row_count 10', 'no keys are compared then');
DELETE FROM far_s WHERE id = 8;
SELECT dq_gate.audit('far_s', 't') \g /dev/null
SELECT is((SELECT status || ' ' || message FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), 'failed the batch differs from public.src: row_count 9, not 10', 'but rows are');
SELECT drop_all('t') \g /dev/null

-- keys of several columns, some of which are NULL; other types on the side of the source
CREATE TABLE wide_src (region varchar(5), day timestamp, n bigint, amount float8);
CREATE TABLE w (id int PRIMARY KEY, region text, day date, n smallint, amount numeric);
CREATE TABLE w_s (LIKE w);
INSERT INTO w_s SELECT i, CASE WHEN i % 3 > 0 THEN 'r' || i % 3 END, '2024-01-01'::date + i, i, i * 0.5 FROM generate_series(1, 12) i;
INSERT INTO wide_src SELECT region, day, n, amount FROM w_s;
SELECT is(dq_gate.expect_reconciled('w', 'wide_src', '{region,day,n}', '{amount,n}', action => 'warn'), 'region_day_n_amount_reconciled', 'a key of several columns');
SELECT is((SELECT rule FROM dq_gate.checks_of('w') WHERE check_type = 'reconciled'), 'the batch has what public.wide_src has: as many rows, the sums of amount, n, the keys (region, day, n)', 'in words');
SELECT is((dq_gate.publish('w_s', 'w')).verdict || ' ' || (SELECT status FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), 'published passed', 'other types that mean the same');
UPDATE wide_src SET region = 'r9' WHERE n = 3;
UPDATE wide_src SET day = day + interval '1 second' WHERE n = 4;
UPDATE wide_src SET amount = NULL WHERE n = 2;
SELECT dq_gate.audit('w_s', 'w') \g /dev/null
SELECT is(message('region_day_n_amount_reconciled'), 'the batch differs from public.wide_src: amount 39, not 38; 2 keys missing; 2 keys extra', 'a second, a region instead of NULL, an amount less');
SELECT is((SELECT count(*) FROM (SELECT region, day, n FROM wide_src EXCEPT SELECT region, day, n FROM w_s) x), 2::bigint, 'as counted by hand');
SELECT is((SELECT x FROM dq_gate.results_of(last_run()), jsonb_array_elements(sample -> 'missing') x WHERE check_type = 'reconciled' AND x ->> 'n' = '3'), '{"region": "r9", "day": "2024-01-04T00:00:00", "n": 3}', 'shown with all columns of the key');
-- a number that the target could not hold is a key all the same
UPDATE wide_src SET n = 9223372036854775807 WHERE n = 1;
SELECT dq_gate.audit('w_s', 'w') \g /dev/null
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), 'failed', 'a number that the target could not hold is no error');
SELECT drop_all('w') \g /dev/null

-- what equal means is what the type says
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
SET client_min_messages = warning;
CREATE SCHEMA elsewhere;
CREATE EXTENSION citext SCHEMA elsewhere;
RESET client_min_messages;
CREATE TABLE ci_src (c elsewhere.citext);
CREATE TABLE ci (c elsewhere.citext PRIMARY KEY);
CREATE TABLE ci_s (c text);
INSERT INTO ci_src VALUES ('BOB'), ('eve');
INSERT INTO ci_s VALUES ('Bob'), ('Eve');
SELECT dq_gate.expect_reconciled('ci', 'ci_src') \g /dev/null
SELECT is(outcome(dq_gate.publish('ci_s', 'ci')), 'published 2: 2 inserted', 'keys that ignore case');
UPDATE ci_s SET c = 'Eva' WHERE c = 'Eve';
SELECT dq_gate.audit('ci_s', 'ci') \g /dev/null
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), '{"missing": [{"c": "eve"}], "extra": [{"c": "Eva"}]}', 'and others');
\else
SELECT skip('no citext', 2);
\endif
CREATE TABLE num_src (k numeric);
CREATE TABLE num (k numeric PRIMARY KEY);
CREATE TABLE num_s (k text);
INSERT INTO num_src VALUES (1.0), (2.50);
INSERT INTO num_s VALUES ('1.00'), ('2.5');
SELECT dq_gate.expect_reconciled('num', 'num_src', sums => '{k}') \g /dev/null
SELECT is(outcome(dq_gate.publish('num_s', 'num')), 'published 2: 2 inserted', '1.0 is 1.00, staged as text or not');

-- a key with a collation of its own on one side
CREATE TABLE coll_src (k text COLLATE "C");
CREATE TABLE coll (k text PRIMARY KEY);
CREATE TABLE coll_s (k text);
INSERT INTO coll_src VALUES ('a'), ('b');
INSERT INTO coll_s VALUES ('a'), ('c');
SELECT dq_gate.expect_reconciled('coll', 'coll_src', action => 'warn') \g /dev/null
SELECT dq_gate.audit('coll_s', 'coll') \g /dev/null
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), '{"missing": [{"k": "b"}], "extra": [{"k": "c"}]}', 'another collation of the source');

-- tolerance is for sums, not for rows or keys
SELECT dq_gate.expect_reconciled('t', 'src', sums => '{amount}', tolerance => 0.5, action => 'warn') \g /dev/null
UPDATE s SET amount = 1.5 + 0.5 WHERE id = 1;
UPDATE s SET amount = 3 WHERE id = 2;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('id_amount_reconciled'), 'passed of 10', 'a sum that differs by as much as it may');
UPDATE s SET amount = 2.01 WHERE id = 1;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('id_amount_reconciled'), 'the batch differs from public.src: amount 83.01, not 82.5', 'and by more');
UPDATE s SET amount = 1.5, id = 11 WHERE id = 1;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('id_amount_reconciled'), 'the batch differs from public.src: 1 key missing; 1 key extra', 'a key has no tolerance');
UPDATE s SET id = 1 WHERE id = 11;
SELECT drop_all('t') \g /dev/null

-- filters on either side
SELECT dq_gate.expect_reconciled('t', 'src', sums => '{amount}', source_filter => 'note = ''n'' AND id > 5', filter => 'id > 5', action => 'warn', name => 'both'), dq_gate.expect_reconciled('t', 'src', sums => '{amount}', source_filter => 'id > 5', action => 'warn', name => 'theirs'),
	dq_gate.expect_reconciled('t', 'src', sums => '{amount}', filter => 'id > 5 OR NULL', action => 'warn', name => 'ours'), dq_gate.expect_reconciled('t', 'src', sums => '{amount}', source_filter => 'id < 0', filter => 'id < 0', action => 'warn', name => 'none') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT results_eq($$ SELECT check_name, status, actual_value, message FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled' ORDER BY 1 $$,
	$$ VALUES ('both', 'passed', 'row_count 5, amount 60, keys: 0 missing, 0 extra', NULL), ('none', 'passed', 'row_count 0, amount 0, keys: 0 missing, 0 extra', NULL),
		('ours', 'failed', 'row_count 5, amount 60, keys: 5 missing, 0 extra', 'the batch differs from public.src: row_count 5, not 10; amount 60, not 82.5; 5 keys missing'),
		('theirs', 'failed', 'row_count 10, amount 82.5, keys: 0 missing, 5 extra', 'the batch differs from public.src: row_count 10, not 5; amount 82.5, not 60; 5 keys extra') $$, 'each side has its own filter');
SELECT is((SELECT expected_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'both'), 'the batch has what public.src has where note = ''n'' AND id > 5: as many rows, the sums of amount, the keys id, where id > 5', 'the result has both');
SELECT drop_all('t') \g /dev/null
SELECT dq_gate.expect_reconciled('t', 'src', source_filter => 'dq_gate.batch_id() = ''b'' AND dq_gate.as_of() = ''2024-03-10''') \g /dev/null
SELECT is((dq_gate.publish('s', 't', 'b', '2024-03-10')).verdict, 'published', 'the filter of the source knows the batch');
SELECT drop_all('t') \g /dev/null

-- a source that is empty, a batch that is
CREATE TABLE empty_src (LIKE src);
CREATE TABLE none (LIKE s);
SELECT dq_gate.expect_reconciled('t', 'empty_src', sums => '{amount}', name => 'empty', action => 'warn'), dq_gate.expect_reconciled('t', 'src', sums => '{amount}', name => 'full', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('empty'), 'the batch differs from public.empty_src: row_count 10, not 0; amount 82.5, not 0; 10 keys extra', 'an empty source');
SELECT is(outcome(dq_gate.publish('none', 't')), 'rejected 0', 'an empty batch');
SELECT is(finding('empty') || '; ' || message('full'), 'passed of 0; the batch differs from public.src: row_count 0, not 10; amount 0, not 82.5; 10 keys missing', 'is judged, and is what an empty source has');
SELECT drop_all('t') \g /dev/null

-- a view renames columns; the target itself
CREATE VIEW src_view AS SELECT id, amount AS total, amount * 2 AS amount, note AS n FROM src;
SELECT dq_gate.expect_reconciled('t', 'src_view', sums => '{amount}', source_filter => 'n = ''n''', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('id_amount_reconciled'), 'the batch differs from public.src_view: amount 82.5, not 165', 'a view');
SELECT drop_all('t'), dq_gate.expect_reconciled('t', 't', sums => '{amount}', action => 'warn') \g /dev/null
TRUNCATE t;
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is(message('id_amount_reconciled'), 'the batch differs from public.t: row_count 10, not 0; amount 82.5, not 0; 10 keys extra', 'the target itself, as it was before');
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is(finding('id_amount_reconciled'), 'passed of 10', 'and afterwards');
SELECT drop_all('t') \g /dev/null


-- without the right to read the source, or to see all of it
CREATE TABLE theirs (id int, tenant text);
CREATE TABLE theirs_t (id int PRIMARY KEY);
CREATE TABLE theirs_s (id int);
INSERT INTO theirs VALUES (1, 'dq_loader'), (2, 'x');
INSERT INTO theirs_s VALUES (1);
GRANT SELECT ON theirs_s, theirs TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON theirs_t TO dq_loader;
SELECT dq_gate.create_gate('theirs_t', run_as => 'dq_loader') \g /dev/null
SELECT dq_gate.expect_reconciled('theirs_t', 'theirs', source_filter => 'id = 1') \g /dev/null
SELECT is((dq_gate.publish('theirs_s', 'theirs_t')).verdict, 'published', 'with the right to read the source');
REVOKE SELECT ON theirs FROM dq_loader;
SELECT is((dq_gate.publish('theirs_s', 'theirs_t')).verdict, 'rejected', 'and without it');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), 'error, could not be evaluated: role dq_loader may not read public.theirs', 'which is said');
GRANT SELECT ON theirs TO dq_loader;
ALTER TABLE theirs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON theirs USING (tenant = current_user);
SELECT is((dq_gate.publish('theirs_s', 'theirs_t')).verdict, 'rejected', 'a source of which policies hide rows');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), 'error, could not be evaluated: row-level security hides rows of public.theirs from role dq_loader', 'is not compared in part');

-- actions
SELECT dq_gate.expect_reconciled('t', 'empty_src', action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'skipped 10', 'a batch that is not what its source has can be skipped');
SELECT drop_all('t'), dq_gate.expect_reconciled('t', 'empty_src', action => 'declare') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('id_reconciled'), 'published not_judged', 'or the rule be declared alone');
SELECT drop_all('t') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_reconciled(''t'', ''src'', action => %L)', action), '22023', 'reconciled[^$]*' || action || '[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved: ' || action)
FROM unnest(ARRAY['quarantine', 'drop']) action;

-- sums and keys are values
UPDATE s SET id = 4711, amount = 815 WHERE id = 1;
SELECT dq_gate.expect_reconciled('t', 'src', sums => '{amount}', samples => false, action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(status, actual_value, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), '(failed,,,"the batch differs from public.src")', 'without samples no sum and no key is shown');
SELECT is((SELECT failures::text ~ '4711|815|896' FROM dq_gate.runs WHERE run_id = last_run()), false, 'by the run neither');
SELECT drop_all('t') \g /dev/null

-- names
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab le" ("Id" int PRIMARY KEY, "select" int, "a""b%s" numeric);
CREATE TABLE "Odd Schema"."Stg" (LIKE "Odd Schema"."Tab le");
CREATE TABLE "Odd Schema"."Src's %d" ("Id" int, "select" int, "a""b%s" numeric);
INSERT INTO "Odd Schema"."Stg" VALUES (1, 1, 1.5), (2, 2, 2.5);
INSERT INTO "Odd Schema"."Src's %d" VALUES (1, 1, 1.5), (2, 3, 3.5);
SELECT dq_gate.expect_reconciled('"Odd Schema"."Tab le"', '"Odd Schema"."Src''s %d"', '{Id,select}', '{"a\"b%s"}', source_filter => '"a""b%s" > 0', filter => '"select" > 0', action => 'warn') \g /dev/null
SELECT dq_gate.audit('"Odd Schema"."Stg"', '"Odd Schema"."Tab le"') \g /dev/null
SELECT is(message('Id_select_a"b%s_reconciled'), 'the batch differs from "Odd Schema"."Src''s %d": a"b%s 4, not 5; 1 key missing; 1 key extra', 'O09: names of any kind');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), '{"missing": [{"Id": 2, "select": 3}], "extra": [{"Id": 2, "select": 2}]}', 'O09: are shown');
CREATE TABLE words (s int, w int, k int, d int, extra int, missing int, totals int, batch int, PRIMARY KEY (s, w, k, d, extra, missing, totals, batch));
CREATE TABLE words_s (LIKE words);
CREATE TABLE words_src (LIKE words);
INSERT INTO words_s VALUES (1, 2, 3, 4, 5, 6, 7, 8), (2, 2, 3, 4, 5, 6, 7, 8);
INSERT INTO words_src VALUES (1, 2, 3, 4, 5, 6, 7, 8), (2, 2, 3, 4, 5, 6, 7, 8);
SELECT dq_gate.expect_reconciled('words', 'words_src', sums => '{s,w,k,d,extra,missing,totals,batch}', source_filter => 'batch > 0 AND s > 0', filter => 'missing > 0 AND extra > 0', action => 'warn') \g /dev/null
SELECT dq_gate.audit('words_s', 'words') \g /dev/null
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), 'passed', 'O09: nor do names of the measuring statement get in the way');
UPDATE words_src SET s = 3 WHERE s = 2;
SELECT dq_gate.audit('words_s', 'words') \g /dev/null
SELECT is((SELECT ROW(message, sample -> 'missing')::text FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'),
	ROW('the batch differs from public.words_src: s 3, not 4; 1 key missing; 1 key extra', '[{"s": 3, "w": 2, "k": 3, "d": 4, "extra": 5, "missing": 6, "totals": 7, "batch": 8}]'::jsonb)::text, 'O09: of a difference either');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', NULL) $$, '22004', 'source_table', 'no source');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'far_s', sums => '{amount}') $$, '42703', 'public.t cannot be compared with public.far_s[^$]*amount[^$]*view', 'a column that the source lacks');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'num_src') $$, '42703', 'public.t cannot be compared with public.num_src[^$]*id', 'a key that it lacks');
CREATE TABLE text_src (id text, amount text);
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'text_src') $$, '42804', 'public.t cannot be compared with public.text_src[^$]*view', 'a key of another type');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'text_src', '{}', '{amount}') $$, '42883', 'public.t cannot be compared with public.text_src', 'a sum of another type');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', '{nothing}') $$, '42703', 'column nothing of gate public.t', 'a column that the target lacks');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', sums => '{c}') $$, '42804', 'column c of gate public.t has type text, which cannot be added up', 'no number');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', '{j}') $$, '42883', 'column j of gate public.t has type json, which has no equality', 'a type whose values cannot be told apart');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', '{g}') $$, '0A000', 'g of gate public.t is generated', 'a column that the target generates');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', '{id,id}') $$, '42701', 'id is named twice', 'a column twice');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', sums => '{amount,amount}') $$, '42701', 'amount is named twice', 'a sum twice');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', ARRAY['id', NULL]) $$, '22004', 'NULL', 'no name');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', tolerance => -1) $$, '22023', 'tolerance.*negative', 'a negative tolerance');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', source_filter => 'nothing > 0') $$, '42703', 'nothing', 'a filter of the source that makes no sense');
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'src', source_filter => 'c > 0') $$, '42703', 'c', 'or is about columns of the target');
SELECT raises(format('SELECT dq_gate.expect_reconciled(''t'', ''src'', %s)', option), '22023', 'a check of type "reconciled" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole',
	'what it does not take: ' || option)
FROM unnest(ARRAY['nulls => ''fail''', 'max_rate => 0.1', 'max_rows => 1', 'warn_above => 1', 'block_above => 0.5']) option;
CREATE SEQUENCE seq;
SELECT raises($$ SELECT dq_gate.expect_reconciled('t', 'seq', '{}') $$, '42809', 'seq has no rows to compare with', 'no table');

-- what is gone at run time
SELECT dq_gate.expect_reconciled('t', 'src', sums => '{amount}', action => 'warn', name => 'src'), dq_gate.expect_reconciled('t', 'src', '{}', name => 'beside'), dq_gate.expect_reconciled('t', 'src_view', '{}', name => 'view') \g /dev/null
ALTER TABLE src RENAME TO moved;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT split_part(message, ':', 1) FROM dq_gate.results_of(last_run()) WHERE check_name = 'src'), 'the batch differs from public.moved', 'a source that is renamed is the same');
ALTER TABLE moved RENAME amount TO w;
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'a column of the source that is gone, with action warn');
SELECT matches((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'src'), 'error, could not be evaluated: column batch.amount does not exist', 'is no pass');
SELECT is(finding('beside') || '; ' || finding('view'), 'passed of 10; passed of 10', 'the others are judged all the same');
DROP TABLE moved CASCADE;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 10: 10 quarantined', 'a source that is gone');
SELECT is((SELECT string_agg(DISTINCT status || ', ' || message, '; ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'reconciled'), 'error, could not be evaluated: the table that it is compared with is gone', 'is no pass, and is said');

SELECT finish();
