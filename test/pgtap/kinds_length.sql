-- expect_length: characters of a text, bytes of a bytea, elements of an array
\ir include/helpers.sql
SELECT plan(42);

CREATE DOMAIN code AS varchar(20);
CREATE TABLE t (id int PRIMARY KEY, c text, v varchar(10), fixed char(6), b bytea, a int[], d code, n int, j jsonb);
CREATE TABLE s (LIKE t);
INSERT INTO s VALUES (1, 'abc', 'abc', 'abc', 'abc', '{1,2,3}', 'abc', 5, '[1]'), (2, 'äöüß', 'äöüß', 'abcd  ', 'äöüß', '{{1,2},{3,4}}', 'abcd', 5, '[1]'), (3, '', '', '', '', '{}', '', 5, '[1]'), (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT dq_gate.create_gate('t') \g /dev/null
SELECT is(dq_gate.expect_length('t', 'c', 1, 3), 'c_length', 'a length is named after its column');
SELECT is((SELECT ROW(check_type, columns, rule, nulls)::text FROM dq_gate.checks_of('t') WHERE check_name = 'c_length'), '(length,{c},"length of c between 1 and 3",pass)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 4: 4 quarantined', 'texts that are too long and too short');
SELECT is(finding('c_length'), 'failed 2 of 4, 1 null', 'characters are counted, not bytes; NULL has no length');
SELECT is((SELECT ROW(expected_value, actual_value, threshold)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'c_length'),
	'("length of c between 1 and 3","0 .. 4","0 rows")', 'the result has the shortest and the longest');
SELECT is(message('c_length'), '2 of 4 rows: length of c not between 1 and 3, for example {"c": "äöüß", "id": 2}', 'the message an example');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', $$ VALUES (1, '{}'::text[]), (2, '{c_length}'), (3, '{c_length}'), (4, '{}') $$, 'the rows say so');
SELECT dq_gate.drop_check('t', 'c_length') \g /dev/null

-- boundaries are included; one side may be open
SELECT dq_gate.expect_length('t', 'c', min => 0, max => 4, name => 'both'), dq_gate.expect_length('t', 'c', max => 4, name => 'longest'), dq_gate.expect_length('t', 'c', min => 1, name => 'shortest', action => 'warn'),
	dq_gate.expect_length('t', 'c', 3, 3, name => 'exactly', action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 4 inserted', 'lengths from the first bound to the last');
SELECT is(finding('both') || '; ' || finding('longest'), 'passed 0 of 4, 1 null; passed 0 of 4, 1 null', 'pass');
SELECT is(finding('shortest') || '; ' || finding('exactly'), 'failed 1 of 4, 1 null; failed 2 of 4, 1 null', 'one character is more than none');
SELECT results_eq($$ SELECT rule FROM dq_gate.checks_of('t') WHERE origin = 'declared' ORDER BY 1 $$,
	$$ VALUES ('length of c at least 1'), ('length of c at most 4'), ('length of c between 0 and 4'), ('length of c between 3 and 3') $$, 'the rules in words');
SELECT dq_gate.drop_check('t', check_name) FROM dq_gate.checks_of('t') WHERE origin = 'declared' \g /dev/null

-- other types
SELECT dq_gate.expect_length('t', c, 1, 3, action => 'warn') FROM unnest(ARRAY['v', 'fixed', 'b', 'a', 'd']) c \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('v_length'), 'failed 2 of 4, 1 null', 'varchar');
SELECT is(finding('fixed_length'), 'failed 2 of 4, 1 null', 'char, without its padding');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'fixed_length'), '0 .. 4', 'as it says');
SELECT is(finding('b_length'), 'failed 2 of 4, 1 null', 'bytea');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'b_length'), '0 .. 8', 'in bytes');
SELECT is(finding('a_length'), 'failed 2 of 4, 1 null', 'an array, by all its elements');
SELECT is(finding('d_length'), 'failed 2 of 4, 1 null', 'a domain');
SELECT dq_gate.drop_check('t', check_name) FROM dq_gate.checks_of('t') WHERE origin = 'declared' \g /dev/null
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
SET client_min_messages = warning;
CREATE SCHEMA elsewhere;
CREATE EXTENSION citext SCHEMA elsewhere;
RESET client_min_messages;
CREATE TABLE ci (id int PRIMARY KEY, c elsewhere.citext);
CREATE TABLE ci_s (LIKE ci);
INSERT INTO ci_s VALUES (1, 'Bob'), (2, 'Robert');
SELECT lives_ok($$ SELECT dq_gate.expect_length('ci', 'c', max => 3) $$, 'a text of another kind');
SELECT dq_gate.audit('ci_s', 'ci') \g /dev/null
SELECT is(finding('c_length'), 'failed 1 of 2', 'has a length all the same');
\else
SELECT skip('no citext', 2);
\endif

-- NULL
SELECT dq_gate.expect_length('t', 'c', max => 10, nulls => 'fail', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 3 unchanged, 1 quarantined', 'NULL fails where it is to');
SELECT is(finding('c_length'), 'failed 1 of 4, 1 null', 'and is counted');
SELECT dq_gate.drop_check('t', 'c_length'), dq_gate.expect_length('t', 'c', max => 10, nulls => 'pass') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 4 unchanged', 'and passes where it is to');

-- rows without any value, and no rows
UPDATE s SET c = NULL;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('c_length'), 'passed 0 of 4, 4 null', 'a column of NULLs');
TRUNCATE s;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('c_length'), 'not_judged 0 of 0', 'an empty batch has no row to judge');

-- staged otherwise
CREATE TABLE wide (id int PRIMARY KEY, c varchar(3), b bytea, n text);
CREATE TABLE wide_s (id int, c text, b text, n numeric);
INSERT INTO wide_s VALUES (1, 'abc', '\x010203', 1.50), (2, 'abcd', 'x', 100), (3, 'a', '\xzz', NULL);
SELECT dq_gate.expect_length('wide', 'c', 2), dq_gate.expect_length('wide', 'b', 2), dq_gate.expect_length('wide', 'n', 4) \g /dev/null
SELECT dq_gate.audit('wide_s', 'wide') \g /dev/null
SELECT is(finding('c_type_fit'), 'failed 1 of 3', 'text that is too long for its column does not fit');
SELECT is(finding('b_length') || '; ' || finding('b_type_fit'), 'failed 1 of 3, 1 null; failed 1 of 3', 'a bytea staged as text has its length in bytes');
SELECT is(finding('n_length'), 'failed 1 of 3, 1 null', 'a number in a column of text has the length of its text');

-- names
CREATE TABLE "Odd" ("Id" int PRIMARY KEY, "a""b%d" text);
CREATE TABLE "Odd stg" (LIKE "Odd");
INSERT INTO "Odd stg" VALUES (1, 'x'), (2, 'xyz');
SELECT is(dq_gate.expect_length('"Odd"', 'a"b%d', max => 2, action => 'quarantine'), 'a"b%d_length', 'O09: a name with a quote');
SELECT is(outcome(dq_gate.publish('"Odd stg"', '"Odd"')), 'published 2: 1 inserted, 1 quarantined', 'O09: is quoted');
SELECT is(message('a"b%d_length'), '1 of 2 rows: length of "a""b%d" not at most 2, for example {"Id": 2, "a\"b%d": "xyz"}', 'O09: in the message as well');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_length('t', 'n', 1, 2) $$, '42809', 'column n of gate public.t has type integer, which has no length[^$]*bytea', 'an integer has no length');
SELECT raises($$ SELECT dq_gate.expect_length('t', 'j', 1) $$, '42809', 'column j of gate public.t has type jsonb', 'nor has jsonb');
SELECT raises($$ SELECT dq_gate.expect_length('t', 'c') $$, '22023', 'needs min, max or both', 'no bound');
SELECT raises($$ SELECT dq_gate.expect_length('t', 'c', 3, 2) $$, '22023', 'min 3 is above max 2', 'bounds the wrong way round');
SELECT raises($$ SELECT dq_gate.expect_length('t', 'c', -1) $$, '22023', 'cannot be negative', 'a negative bound');
SELECT raises($$ SELECT dq_gate.expect_length('t', 'c', max => -1) $$, '22023', 'cannot be negative', 'on either side');
SELECT raises($$ SELECT dq_gate.expect_length('t', 'nothing', 1) $$, '42703', 'column nothing of gate public.t', 'a column that is not there');

-- a column that is gone, or of another type
INSERT INTO s (id, c, v) VALUES (1, 'a', 'b');
SELECT dq_gate.expect_length('t', 'v', 1) \g /dev/null
ALTER TABLE s RENAME c TO w;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 1: 1 quarantined', 'a column that is not staged any more');
SELECT is(message('c_length'), 'could not be evaluated: column c is missing in the staging table', 'cannot be judged');
SELECT is(finding('v_length'), 'passed 0 of 1', 'the others are judged all the same');
ALTER TABLE s RENAME w TO c;
ALTER TABLE t ALTER c TYPE int USING 1;
UPDATE s SET c = '1';
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(message('c_length'), 'could not be evaluated: type integer of column c has no length', 'nor can one of a type without length');

SELECT finish();
