-- expect_pattern and expect_like: the text of a column matches
\ir include/helpers.sql
SELECT plan(43);

-- O12
CREATE TABLE z (id int PRIMARY KEY, zip text);
CREATE TABLE z_staging (id int, zip text);
INSERT INTO z_staging VALUES (1, '12345-678'), (2, 'bad'), (3, ''), (4, NULL);
SELECT is(dq_gate.expect_pattern('z', 'zip', '^\d{5}-\d{3}$'), 'zip_pattern', 'a pattern is named after its column');
SELECT is((SELECT ROW(check_type, columns, rule, nulls)::text FROM dq_gate.checks_of('z') WHERE check_name = 'zip_pattern'),
	$$(pattern,{zip},"zip matches '^\\d{5}-\\d{3}$'",pass)$$, 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('z_staging', 'z')), 'rejected 4: 4 quarantined', 'O12: texts that do not match');
SELECT is(finding('zip_pattern'), 'failed 2 of 4, 1 null', 'O12: fail, an empty text is one of them, NULL is not');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.z WHERE run_id = last_run() ORDER BY 1',
	$$ VALUES (1, '{}'::text[]), (2, '{zip_pattern}'), (3, '{zip_pattern}'), (4, '{}') $$, 'O12: the rows say so');
SELECT is(message('zip_pattern'), '2 of 4 rows: zip does not match ''^\d{5}-\d{3}$'', for example {"id": 2, "zip": "bad"}', 'O12: and the message');
DELETE FROM z_staging WHERE id IN (2, 3);
SELECT is(outcome(dq_gate.publish('z_staging', 'z')), 'published 2: 2 inserted', 'O12: what matches is published');
SELECT is(finding('zip_pattern'), 'passed 0 of 2, 1 null', 'O12: and NULL with it');

-- NULL
SELECT dq_gate.drop_check('z', 'zip_pattern'), dq_gate.expect_pattern('z', 'zip', '^\d', nulls => 'fail', action => 'quarantine'),
	dq_gate.expect_like('z', 'zip', '1%', nulls => 'fail', action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('z_staging', 'z')), 'published 2: 1 unchanged, 1 quarantined', 'NULL fails where it is to');
SELECT is(finding('zip_pattern') || '; ' || finding('zip_like'), 'failed 1 of 2, 1 null; failed 1 of 2, 1 null', 'in both kinds');
SELECT dq_gate.drop_check('z', 'zip_pattern'), dq_gate.expect_pattern('z', 'zip', '^\d', nulls => 'pass') \g /dev/null
SELECT is(outcome(dq_gate.publish('z_staging', 'z')), 'published 2: 2 unchanged', 'and passes where it is to');

-- an empty batch
TRUNCATE z_staging;
SELECT dq_gate.publish('z_staging', 'z') \g /dev/null
SELECT is(finding('zip_pattern') || '; ' || finding('zip_like'), 'not_judged 0 of 0; not_judged 0 of 0', 'an empty batch has no row to judge');

-- LIKE
CREATE TABLE l (id int PRIMARY KEY, c text, n int, d date, fixed char(4), v varchar(10));
CREATE TABLE l_s (LIKE l);
INSERT INTO l_s VALUES (1, 'A-1', 12, '2024-02-03', 'ab', 'x_y'), (2, 'a-1', 3, '2023-02-03', 'b', 'xay'), (3, '', NULL, NULL, NULL, NULL);
SELECT is(dq_gate.expect_like('l', 'c', 'A-%'), 'c_like', 'LIKE');
SELECT is((SELECT ROW(check_type, rule, nulls)::text FROM dq_gate.checks_of('l') WHERE check_name = 'c_like'), '(like,"c like ''A-%''",pass)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('l_s', 'l')), 'rejected 3: 3 quarantined', 'what is not like it');
SELECT is(finding('c_like'), 'failed 2 of 3', 'fails: case matters, an empty text is one');
SELECT is(message('c_like'), '2 of 3 rows: c not like ''A-%'', for example {"c": "a-1", "id": 2}', 'the message says so');
SELECT dq_gate.drop_check('l', 'c_like'), dq_gate.expect_like('l', 'c', '%') \g /dev/null
SELECT is(outcome(dq_gate.publish('l_s', 'l')), 'published 3: 3 inserted', 'any text');
SELECT is(finding('c_like'), 'passed 0 of 3', 'passes');

-- the text of whatever type
SELECT dq_gate.expect_pattern('l', 'n', '^\d\d$', action => 'warn'), dq_gate.expect_pattern('l', 'd', '^2024-', action => 'warn'),
	dq_gate.expect_pattern('l', 'fixed', '^..$', action => 'warn'), dq_gate.expect_like('l', 'v', 'x\_y', action => 'warn') \g /dev/null
SET DateStyle = 'German';
SELECT dq_gate.audit('l_s', 'l') \g /dev/null
RESET DateStyle;
SELECT is(finding('n_pattern'), 'failed 1 of 3, 1 null', 'an integer');
SELECT is(finding('d_pattern'), 'failed 1 of 3, 1 null', 'a date, in ISO style whatever that of the session');
SELECT is(finding('fixed_pattern'), 'failed 1 of 3, 1 null', 'char without its padding');
SELECT is(finding('v_like'), 'failed 1 of 3, 1 null', 'an escaped underscore is one');
SET standard_conforming_strings = off;
SELECT dq_gate.audit('l_s', 'l') \g /dev/null
SELECT is(finding('v_like') || '; ' || finding('n_pattern'), 'failed 1 of 3, 1 null; failed 1 of 3, 1 null', 'whatever the session makes of backslashes');
RESET standard_conforming_strings;

-- staged as text: the value is what is matched
CREATE TABLE n (id int PRIMARY KEY, n int);
CREATE TABLE n_s (id int, n text);
INSERT INTO n_s VALUES (1, ' 12'), (2, '007'), (3, 'x');
SELECT dq_gate.expect_pattern('n', 'n', '^\d\d$') \g /dev/null
SELECT dq_gate.audit('n_s', 'n') \g /dev/null
SELECT is(finding('n_pattern'), 'failed 1 of 3, 1 null', 'an integer staged as text');

-- a pattern is one, whatever the collation
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE coll (id int PRIMARY KEY, c text COLLATE nocase);
CREATE TABLE coll_s (LIKE coll);
INSERT INTO coll_s VALUES (1, 'abc'), (2, 'b');
SELECT dq_gate.expect_pattern('coll', 'c', '^a'), dq_gate.expect_like('coll', 'c', 'a%') \g /dev/null
SELECT dq_gate.audit('coll_s', 'coll') \g /dev/null
SELECT is(finding('c_pattern') || '; ' || finding('c_like'), 'failed 1 of 2; failed 1 of 2', 'a nondeterministic collation');

-- names and patterns with whatever is in them
CREATE TABLE "Odd" ("Id" int PRIMARY KEY, "a""b%d" text, "café" text);
CREATE TABLE "Odd stg" (LIKE "Odd");
INSERT INTO "Odd stg" VALUES (1, 'it''s 100%', 'y'), (2, 'its 100%', 'x');
SELECT is(dq_gate.expect_pattern('"Odd"', 'a"b%d', '^it''s \d+%$', action => 'quarantine'), 'a"b%d_pattern', 'O09: a name with a quote');
SELECT dq_gate.expect_pattern('"Odd"', 'café', '^y'), dq_gate.expect_like('"Odd"', 'a"b%d', '%''s 100\%') \g /dev/null
SELECT is(outcome(dq_gate.publish('"Odd stg"', '"Odd"')), 'rejected 2: 2 quarantined', 'O09: names and patterns with quotes');
SELECT is(finding('a"b%d_pattern') || '; ' || finding('café_pattern') || '; ' || finding('a"b%d_like'), 'failed 1 of 2; failed 1 of 2; failed 1 of 2', 'O09: each is judged');
SELECT is(message('café_pattern'), '1 of 2 rows: "café" does not match ''^y'', for example {"Id": 2, "café": "x"}', 'O09: and said');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_pattern('l', 'c', '(a') $$, '2201B', 'pattern ''[(]a'' for column c of gate public.l is not valid[^$]*parenthes', 'what is no regular expression');
SELECT raises($$ SELECT dq_gate.expect_pattern('l', 'c', '*') $$, '2201B', 'not valid', 'a quantifier of nothing');
SELECT raises($$ SELECT dq_gate.expect_like('l', 'c', 'a\') $$, '22025', 'escape', 'an escape of nothing');
SELECT raises($$ SELECT dq_gate.expect_pattern('l', 'c', NULL) $$, '22004', 'pattern', 'no pattern');
SELECT raises($$ SELECT dq_gate.expect_pattern('l', 'c', '') $$, '22004', 'pattern', 'an empty pattern');
SELECT raises($$ SELECT dq_gate.expect_like('l', 'nothing', 'a') $$, '42703', 'column nothing of gate public.l', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_pattern('l', NULL, 'a') $$, '22004', 'column_name', 'no column');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('l') WHERE origin = 'declared'), 5::bigint, 'none of them is kept');

-- a column that is gone
ALTER TABLE l_s RENAME v TO w;
ALTER TABLE l_s RENAME n TO m;
SELECT is(outcome(dq_gate.publish('l_s', 'l')), 'rejected 3: 3 quarantined', 'columns that are not staged any more');
SELECT is((SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE status = 'error'), 'n_pattern, v_like', 'cannot be judged');
SELECT is(message('v_like'), 'could not be evaluated: column v is missing in the staging table', 'the message says why');
SELECT is(finding('c_like') || '; ' || finding('d_pattern'), 'passed 0 of 3; failed 1 of 3, 1 null', 'the others are judged all the same');
ALTER TABLE l_s RENAME m TO n;
ALTER TABLE l_s RENAME w TO v;
ALTER TABLE l DROP v;
SELECT dq_gate.audit('l_s', 'l') \g /dev/null
SELECT is(message('v_like'), 'could not be evaluated: column v does not exist in the target', 'nor can one that the target lost');

SELECT finish();
