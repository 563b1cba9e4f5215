-- expect_accepted_values and expect_rejected_values: one of some values, or none of them
\ir include/helpers.sql
SELECT plan(52);

CREATE TABLE t (id int PRIMARY KEY, c text, n numeric, b bool, d date, fixed char(5), j json, pt point, jb jsonb);
CREATE TABLE s (LIKE t);
INSERT INTO s (id, c) VALUES (1, 'a'), (2, 'b'), (3, 'A'), (4, ''), (5, NULL);
SELECT dq_gate.create_gate('t') \g /dev/null
SELECT is(dq_gate.expect_accepted_values('t', 'c', ARRAY['a', 'b']), 'c_accepted_values', 'accepted values are named after their column');
SELECT is(dq_gate.expect_rejected_values('t', 'c', ARRAY['b', '']), 'c_rejected_values', 'so are rejected ones');
SELECT results_eq($$ SELECT check_type, rule, nulls FROM dq_gate.checks_of('t') WHERE origin = 'declared' ORDER BY 1 $$,
	$$ VALUES ('accepted_values', 'c in (''a'', ''b'')', 'pass'), ('rejected_values', 'c not in (''b'', '''')', 'pass') $$, 'as checks_of shows them');
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 5: 5 quarantined', 'values beside the list');
SELECT is(finding('c_accepted_values'), 'failed 2 of 5, 1 null', 'are not accepted; an empty text is a value, NULL is none');
SELECT is(finding('c_rejected_values'), 'failed 2 of 5, 1 null', 'what is in the other list is rejected');
SELECT is(message('c_accepted_values'), '2 of 5 rows: c not in (''a'', ''b''), for example {"c": "A", "id": 3}', 'the message shows one');
SELECT is(message('c_rejected_values'), '2 of 5 rows: c in (''b'', ''''), for example {"c": "b", "id": 2}', 'of each');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1',
	$$ VALUES (1, '{}'::text[]), (2, '{c_rejected_values}'), (3, '{c_accepted_values}'), (4, '{c_accepted_values,c_rejected_values}'), (5, '{}') $$, 'each row has its reasons');
DELETE FROM s WHERE id IN (2, 3, 4);
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 inserted', 'without them the batch is published');
SELECT is(finding('c_accepted_values') || '; ' || finding('c_rejected_values'), 'passed 0 of 2, 1 null; passed 0 of 2, 1 null', 'and both pass');

-- NULL
SELECT dq_gate.drop_check('t', 'c_accepted_values'), dq_gate.drop_check('t', 'c_rejected_values') \g /dev/null
SELECT dq_gate.expect_accepted_values('t', 'c', ARRAY['a'], name => 'acc', nulls => 'fail', action => 'quarantine'),
	dq_gate.expect_rejected_values('t', 'c', ARRAY['b'], name => 'rej', nulls => 'fail', action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 1 unchanged, 1 quarantined', 'NULL fails where it is to');
SELECT is(finding('acc') || '; ' || finding('rej'), 'failed 1 of 2, 1 null; failed 1 of 2, 1 null', 'in both kinds');
SELECT dq_gate.drop_check('t', 'acc'), dq_gate.drop_check('t', 'rej') \g /dev/null
SELECT dq_gate.expect_accepted_values('t', 'c', ARRAY['a'], name => 'acc', nulls => 'pass'), dq_gate.expect_rejected_values('t', 'c', ARRAY['b'], name => 'rej', nulls => 'pass') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 unchanged', 'and passes where it is to');

-- an empty batch
TRUNCATE s;
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is(finding('acc') || '; ' || finding('rej'), 'not_judged 0 of 0; not_judged 0 of 0', 'an empty batch has no row to judge');
SELECT dq_gate.drop_check('t', 'acc'), dq_gate.drop_check('t', 'rej') \g /dev/null

-- values are those of the column's type
INSERT INTO s (id, n, b, d, fixed, jb) VALUES (1, 1.00, true, '2024-03-01', 'ab', '{"a": 1, "b": 2}'), (2, 2, false, '2024-04-01', 'abc', '{}');
SELECT dq_gate.expect_accepted_values('t', 'n', ARRAY['1.0']), dq_gate.expect_accepted_values('t', 'b', ARRAY['yes']), dq_gate.expect_accepted_values('t', 'd', ARRAY['20240301']),
	dq_gate.expect_accepted_values('t', 'fixed', ARRAY['ab']), dq_gate.expect_accepted_values('t', 'jb', ARRAY['{"b": 2, "a": 1}']) \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT string_agg(finding(check_name), '; ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'accepted_values'),
	'failed 1 of 2; failed 1 of 2; failed 1 of 2; failed 1 of 2; failed 1 of 2', 'numeric, boolean, date, char and jsonb are compared as such');
SELECT dq_gate.drop_check('t', check_name) FROM dq_gate.checks_of('t') WHERE origin = 'declared' \g /dev/null
SET DateStyle = 'SQL, DMY';
SELECT dq_gate.expect_accepted_values('t', 'd', ARRAY['2024-03-01', '2024-04-01']) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 1 inserted, 1 updated', 'whatever the style of dates of the session');
RESET DateStyle;

-- O18
CREATE TYPE st AS ENUM ('new', 'done');
CREATE TABLE en (id int PRIMARY KEY, s st);
CREATE TABLE en_staging (id int, s st);
INSERT INTO en_staging VALUES (1, 'new'), (2, 'done');
SELECT is(dq_gate.expect_accepted_values('en', 's', ARRAY['new', 'void']), 's_accepted_values', 'O18: an accepted value that is no label of the enum');
SELECT is(outcome(dq_gate.publish('en_staging', 'en')), 'rejected 2: 2 quarantined', 'O18: is compared with the others');
SELECT is(finding('s_accepted_values'), 'failed 1 of 2', 'O18: and is the value of no row');
SELECT dq_gate.drop_check('en', 's_accepted_values'), dq_gate.expect_accepted_values('en', 's', ARRAY['void'], name => 'acc', action => 'warn'),
	dq_gate.expect_rejected_values('en', 's', ARRAY['void'], name => 'rej') \g /dev/null
SELECT is(outcome(dq_gate.publish('en_staging', 'en')), 'published 2: 2 inserted', 'O18: a list without any label');
SELECT is(finding('acc') || '; ' || finding('rej'), 'failed 2 of 2; passed 0 of 2', 'O18: accepts nothing and rejects nothing');
ALTER TYPE st ADD VALUE 'void';
ALTER TABLE en_staging ALTER s TYPE text;
INSERT INTO en_staging VALUES (3, 'void');
SELECT dq_gate.audit('en_staging', 'en') \g /dev/null
SELECT is(finding('acc') || '; ' || finding('rej'), 'failed 2 of 3; failed 1 of 3', 'O18: a label that came later counts, staged as text as well');
UPDATE en_staging SET s = 'old' WHERE id = 3;
SELECT dq_gate.audit('en_staging', 'en') \g /dev/null
SELECT is(finding('s_type_fit') || '; ' || finding('rej'), 'failed 1 of 3; passed 0 of 3, 1 null', 'O18: text that is no label does not fit, and is not in the list');

-- staged as text
CREATE TABLE num (id int PRIMARY KEY, n int);
CREATE TABLE num_s (id text, n text);
INSERT INTO num_s VALUES ('1', '1'), ('2', '01'), ('3', ' 2'), ('4', '3'), ('5', NULL);
SELECT dq_gate.expect_accepted_values('num', 'n', ARRAY['1', '2'], action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('num_s', 'num')), 'published 5: 4 inserted, 1 quarantined', 'text is compared as the integer that it is');
SELECT is(finding('n_accepted_values'), 'failed 1 of 5, 1 null', 'not as text');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'n_accepted_values'), '[{"n": "3", "id": "4"}]', 'and shown as it is staged');

-- domains
CREATE DOMAIN code AS text CHECK (VALUE ~ '^[a-z]+$');
CREATE TABLE dom (id int PRIMARY KEY, c code);
CREATE TABLE dom_s (id int, c text);
INSERT INTO dom_s VALUES (1, 'ok'), (2, '1');
SELECT is(dq_gate.expect_accepted_values('dom', 'c', ARRAY['ok', '1']), 'c_accepted_values', 'a domain');
SELECT dq_gate.audit('dom_s', 'dom') \g /dev/null
SELECT is(finding('c_type_fit') || '; ' || finding('c_accepted_values'), 'failed 1 of 2; passed 0 of 2', 'a value that the domain refuses does not fit');

-- what texts are equal is said by the column
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE coll (id int PRIMARY KEY, c text COLLATE nocase);
CREATE TABLE coll_s (LIKE coll);
INSERT INTO coll_s VALUES (1, 'Bob'), (2, 'Eve');
SELECT dq_gate.expect_accepted_values('coll', 'c', ARRAY['bob']), dq_gate.expect_rejected_values('coll', 'c', ARRAY['EVE']) \g /dev/null
SELECT dq_gate.audit('coll_s', 'coll') \g /dev/null
SELECT is(finding('c_accepted_values') || '; ' || finding('c_rejected_values'), 'failed 1 of 2; failed 1 of 2', 'a collation that ignores case');
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
SET client_min_messages = warning;
CREATE SCHEMA elsewhere;
CREATE EXTENSION citext SCHEMA elsewhere;
RESET client_min_messages;
CREATE TABLE ci (id int PRIMARY KEY, c elsewhere.citext);
CREATE TABLE ci_s (id int, c text);
INSERT INTO ci_s VALUES (1, 'Bob'), (2, 'Eve');
SELECT dq_gate.expect_accepted_values('ci', 'c', ARRAY['bob']), dq_gate.expect_rejected_values('ci', 'c', ARRAY['EVE']) \g /dev/null
SELECT dq_gate.audit('ci_s', 'ci') \g /dev/null
SELECT is(finding('c_accepted_values') || '; ' || finding('c_rejected_values'), 'failed 1 of 2; failed 1 of 2', 'a type that ignores case, in a schema nobody looks in');
\else
SELECT skip('no citext');
\endif

-- a value that is a list itself
CREATE TABLE arr (id int PRIMARY KEY, a int[]);
SELECT raises($$ SELECT dq_gate.expect_accepted_values('arr', 'a', ARRAY['{1,2}', '{1}']) $$, '42883', 'column a of gate public.arr has type integer\[\][^$]*expect_sql', 'a list of arrays is refused');

-- a composite value with NULLs in it is a value
CREATE TYPE pair AS (x int, y int);
CREATE TABLE comp (id int PRIMARY KEY, p pair);
CREATE TABLE comp_s (LIKE comp);
INSERT INTO comp_s VALUES (1, ROW(1, 2)), (2, ROW(5, NULL)), (3, ROW(NULL, NULL)), (4, NULL), (5, ROW(1, NULL));
SELECT dq_gate.expect_accepted_values('comp', 'p', ARRAY['(1,2)', '(1,)']), dq_gate.expect_rejected_values('comp', 'p', ARRAY['(5,)']) \g /dev/null
SELECT dq_gate.audit('comp_s', 'comp') \g /dev/null
SELECT is(finding('p_accepted_values') || '; ' || finding('p_rejected_values'), 'failed 2 of 5, 1 null; failed 1 of 5, 1 null', 'a composite value with NULLs in it is a value');

-- names and values with whatever is in them
CREATE TABLE "Odd" ("Id" int PRIMARY KEY, "a""b%d" text, "select" text);
CREATE TABLE "Odd stg" (LIKE "Odd");
INSERT INTO "Odd stg" VALUES (1, 'it''s', 'x'), (2, E'back\\slash', 'x'), (3, '%s "q"', 'y'), (4, E'new\nline', 'x'), (5, '{brace,}', 'x');
SELECT is(dq_gate.expect_accepted_values('"Odd"', 'a"b%d', ARRAY['it''s', E'back\\slash', '%s "q"', E'new\nline', '{brace,}']), 'a"b%d_accepted_values', 'O09: a name with a quote');
SELECT dq_gate.expect_rejected_values('"Odd"', 'select', ARRAY['y'], action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('"Odd stg"', '"Odd"')), 'published 5: 4 inserted, 1 quarantined', 'O09: values with quotes, backslashes, braces');
SELECT is(finding('a"b%d_accepted_values') || '; ' || finding('select_rejected_values'), 'passed 0 of 5; failed 1 of 5', 'O09: each is its own');
SET standard_conforming_strings = off;
SELECT is(outcome(dq_gate.publish('"Odd stg"', '"Odd"')), 'published 5: 4 unchanged, 1 quarantined', 'whatever the session makes of backslashes');
RESET standard_conforming_strings;

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'j', ARRAY['1']) $$, '42883', 'column j of gate public.t has type json, of which no list can be made[^$]*expect_sql', 'json cannot be compared');
SELECT raises($$ SELECT dq_gate.expect_rejected_values('t', 'pt', ARRAY['(1,1)']) $$, '42883', 'column pt of gate public.t has type point', 'nor can a point');
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'c', '{}') $$, '22023', '"accepted" must hold at least one value', 'an empty list');
SELECT raises($$ SELECT dq_gate.expect_rejected_values('t', 'c', NULL) $$, '22004', 'give "rejected" or "query"', 'no list');
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'c', ARRAY['a', NULL]) $$, '22004', 'must not contain NULL', 'NULL in a list');
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'nothing', ARRAY['a']) $$, '42703', 'column nothing of gate public.t', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', '', ARRAY['a']) $$, '22004', 'column_name', 'no column');
SELECT lives_ok($$ SELECT dq_gate.expect_accepted_values('t', 'c', ARRAY[''], name => 'empty') $$, 'an empty text may be accepted');
SELECT lives_ok($$ SELECT dq_gate.expect_accepted_values('t', 'c', '{{a,b},{c,d}}', name => 'square') $$, 'a list in rows is a list');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'square'), 'c in (''a'', ''b'', ''c'', ''d'')', 'of all its values');
SELECT dq_gate.drop_check('t', 'empty'), dq_gate.drop_check('t', 'square') \g /dev/null

-- a column that is gone, or of another type
SELECT dq_gate.expect_rejected_values('t', 'n', ARRAY['5']) \g /dev/null
ALTER TABLE s RENAME n TO m;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 2: 2 quarantined', 'a column that is not staged any more');
SELECT is(not_passed(), 'n_rejected_values error, schema_contract failed', 'cannot be judged');
SELECT is(finding('d_accepted_values'), 'passed 0 of 2', 'the others are judged all the same');
ALTER TABLE s RENAME m TO n;
ALTER TABLE t DROP n;
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT matches(message('n_rejected_values'), 'could not be evaluated: column n does not exist in the target', 'nor can one that the target lost');
ALTER TABLE t ADD n json;
ALTER TABLE s ALTER n TYPE json USING 'null'::json;
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT status || ' ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'n_rejected_values'),
	'error could not be evaluated: type json of column n has no equality operator', 'nor one of a type without equality');

SELECT finish();
