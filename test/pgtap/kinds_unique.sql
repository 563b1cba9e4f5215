-- expect_unique: no two rows of the batch have the same values
\ir include/helpers.sql
SELECT plan(44);

-- O03
CREATE TABLE d (id int PRIMARY KEY, k text);
CREATE TABLE d_staging (id int, k text);
INSERT INTO d_staging VALUES (1, 'a'), (2, 'a'), (3, 'b'), (4, 'b'), (5, 'b'), (6, 'c'), (7, NULL), (8, NULL);
SELECT is(dq_gate.expect_unique('d', ARRAY['k']), 'k_unique', 'uniqueness is named after its columns');
SELECT is((SELECT ROW(check_type, columns, rule, nulls)::text FROM dq_gate.checks_of('d') WHERE check_name = 'k_unique'), '(unique,{k},"k is unique in the batch",pass)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('d_staging', 'd')), 'rejected 8: 8 quarantined', 'O03: duplicates');
SELECT is(finding('k_unique'), 'failed 5 of 8, 2 null', 'O03: the rows involved are counted, and the NULLs apart');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'k_unique'), '2 duplicated values in 5 rows, 3 surplus', 'O03: with the number of values and of surplus rows');
SELECT is((SELECT jsonb_agg(v ORDER BY v) FROM dq_gate.results_of(last_run()), jsonb_array_elements(sample) v WHERE check_name = 'k_unique'), '[{"k": "a", "rows": 2}, {"k": "b", "rows": 3}]', 'O03: and the values are shown');
SELECT results_eq('SELECT id FROM dq_quarantine.d WHERE ''k_unique'' = ANY (failed_checks) ORDER BY 1', 'VALUES (1), (2), (3), (4), (5)', 'O03: each of the rows says so');
SELECT matches((SELECT failures[1] FROM dq_gate.runs WHERE run_id = last_run()), '^k_unique: k is not unique in the batch: 2 duplicated values in 5 rows, 3 surplus$', 'O03: and the run');
SELECT dq_gate.drop_check('d', 'k_unique'), dq_gate.expect_unique('d', ARRAY['k'], nulls => 'fail') \g /dev/null
SELECT dq_gate.audit('d_staging', 'd') \g /dev/null
SELECT is(finding('k_unique'), 'failed 7 of 8, 2 null', 'O03: NULLs that are not to pass are the same value');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'k_unique'), '3 duplicated values in 7 rows, 4 surplus', 'O03: one more');

-- quarantine takes all that share a value
SELECT dq_gate.drop_check('d', 'k_unique'), dq_gate.expect_unique('d', ARRAY['k'], action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('d_staging', 'd')), 'published 8: 3 inserted, 5 quarantined', 'quarantine takes every row of a duplicated value');
SELECT results_eq('SELECT id FROM d ORDER BY 1', 'VALUES (6), (7), (8)', 'the others are published, NULLs among them');
SELECT dq_gate.drop_check('d', 'k_unique'), dq_gate.expect_unique('d', ARRAY['k'], action => 'quarantine', nulls => 'fail') \g /dev/null
SELECT is(outcome(dq_gate.publish('d_staging', 'd')), 'published 8: 1 unchanged, 7 quarantined', 'and of a duplicated NULL where it is to fail');
SELECT dq_gate.drop_check('d', 'k_unique'), dq_gate.expect_unique('d', ARRAY['k'], action => 'warn', nulls => 'pass') \g /dev/null
SELECT is(outcome(dq_gate.publish('d_staging', 'd')), 'published 8: 5 inserted, 3 unchanged', 'warn lets them through');
SELECT is(finding('k_unique'), 'failed 5 of 8, 2 null', 'and counts them');
DELETE FROM d_staging WHERE id IN (1, 3, 4);
SELECT dq_gate.audit('d_staging', 'd') \g /dev/null
SELECT is(finding('k_unique'), 'passed 0 of 5, 2 null', 'without duplicates it passes');
TRUNCATE d_staging;
SELECT dq_gate.audit('d_staging', 'd') \g /dev/null
SELECT is(finding('k_unique'), 'not_judged of 0', 'an empty batch has no row to judge');

-- several columns
CREATE TABLE t (id int PRIMARY KEY, a int, b text, n int, j json, f float8, r numeric);
CREATE TABLE s (LIKE t);
INSERT INTO s (id, a, b, n) VALUES (1, 1, 'x', 1), (2, 1, 'y', 2), (3, 1, 'x', 2), (4, 1, NULL, 3), (5, 1, NULL, NULL), (6, NULL, NULL, NULL);
SELECT is(dq_gate.expect_unique('t', ARRAY['b', 'a'], action => 'warn'), 'b_a_unique', 'two columns');
SELECT is(dq_gate.expect_unique('t', ARRAY['a', 'b'], action => 'warn', nulls => 'fail', name => 'ab'), 'ab', 'once more, with NULL as a value');
SELECT dq_gate.expect_unique('t', ARRAY['n'], action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 6: 6 inserted', 'rows alike in both');
SELECT is(finding('b_a_unique'), 'failed 2 of 6, 3 null', 'are duplicates, where neither is NULL');
SELECT is(finding('ab'), 'failed 4 of 6, 3 null', 'or, where NULL is a value, in any case');
SELECT is((SELECT rule || '; ' || actual_value FROM dq_gate.checks_of('t') JOIN dq_gate.results_of(last_run()) USING (check_name) WHERE check_name = 'b_a_unique'),
	'(b, a) is unique in the batch; 1 duplicated value in 2 rows, 1 surplus', 'one value is singular');
SELECT is(finding('n_unique'), 'failed 2 of 6, 2 null', 'integers, for which there is a short way');

-- equality is that of the type
UPDATE s SET f = (ARRAY['NaN', 'NaN', '0', '-0'])[id]::float8, r = (ARRAY['1.0', '1.00', 'NaN', 'NaN'])[id]::numeric;
SELECT dq_gate.expect_unique('t', ARRAY['f'], action => 'warn'), dq_gate.expect_unique('t', ARRAY['r'], action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('f_unique') || '; ' || finding('r_unique'), 'failed 4 of 6, 2 null; failed 4 of 6, 2 null', 'NaN is the same as NaN, 0 as -0, 1.0 as 1.00');
CREATE TABLE text_s (id text, n text, r text);
INSERT INTO text_s VALUES ('1', '7', '1'), ('2', '07', '1.0'), ('3', ' 7', 'x'), ('4', '8', 'x');
SELECT dq_gate.audit('text_s', 't') \g /dev/null
SELECT is(finding('n_unique') || '; ' || finding('r_unique') || '; ' || finding('r_type_fit'), 'failed 3 of 4; failed 2 of 4, 2 null; failed 2 of 4', 'what is staged as text is compared as what it is');
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE coll (id int PRIMARY KEY, c text COLLATE nocase);
CREATE TABLE coll_s (id int, c text);
INSERT INTO coll_s VALUES (1, 'Bob'), (2, 'bob'), (3, 'Eve');
SELECT dq_gate.expect_unique('coll', ARRAY['c'], action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('coll_s', 'coll')), 'published 3: 1 inserted, 2 quarantined', 'the collation of the target says what is the same');
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
SET client_min_messages = warning;
CREATE SCHEMA elsewhere;
CREATE EXTENSION citext SCHEMA elsewhere;
RESET client_min_messages;
CREATE TABLE ci (id int PRIMARY KEY, c elsewhere.citext);
CREATE TABLE ci_s (id int, c text);
INSERT INTO ci_s VALUES (1, 'Bob'), (2, 'bob'), (3, 'Eve');
SELECT dq_gate.expect_unique('ci', ARRAY['c'], action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('ci_s', 'ci')), 'published 3: 1 inserted, 2 quarantined', 'so does a type that ignores case');
\else
SELECT skip('no citext');
\endif

CREATE TYPE pair AS (x int, y int);
CREATE TABLE comp (id int PRIMARY KEY, p pair UNIQUE);
CREATE TABLE comp_s (LIKE comp);
INSERT INTO comp_s VALUES (1, ROW(NULL, NULL)), (2, ROW(NULL, NULL)), (3, NULL), (4, NULL), (5, ROW(1, NULL)), (6, ROW(1, NULL));
SELECT dq_gate.expect_unique('comp', ARRAY['p'], action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('comp_s', 'comp')), 'published 6: 2 inserted, 4 quarantined', 'a composite value with NULLs in it is a value, as for a UNIQUE constraint');

-- names, those of the measuring statements among them
CREATE TABLE "Odd" ("Id" int PRIMARY KEY, "a""b%s" text, rows int, row_count int, key_1 int, batch int);
CREATE TABLE "Odd stg" (LIKE "Odd");
INSERT INTO "Odd stg" VALUES (1, 'x', 1, 1, 1, 1), (2, 'x', 1, 1, 1, 1), (3, 'y', 2, 2, 2, 2);
SELECT is(dq_gate.expect_unique('"Odd"', ARRAY['a"b%s', 'rows', 'row_count', 'key_1', 'batch'], action => 'quarantine'), 'a"b%s_rows_row_count_key_1_batch_unique', 'O09: columns of any name');
SELECT is(outcome(dq_gate.publish('"Odd stg"', '"Odd"')), 'published 3: 1 inserted, 2 quarantined', 'O09: are quoted');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_type = 'unique' AND status = 'failed'),
	'[{"rows": 1, "batch": 1, "key_1": 1, "rows_": 2, "a\"b%s": "x", "row_count": 1}]', 'O09: the number of rows keeps out of their way');
SELECT is(dq_gate.expect_unique('"Odd"', ARRAY['Id']), 'Id_unique', 'O09: the key itself');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_unique('t', ARRAY['a', 'j']) $$, '42883', 'column j of gate public.t has type json, which has no equality', 'json cannot be compared');
SELECT raises($$ SELECT dq_gate.expect_unique('t', '{}') $$, '22004', 'columns', 'no columns');
SELECT raises($$ SELECT dq_gate.expect_unique('t', NULL) $$, '22004', 'columns', 'NULL for columns');
SELECT raises($$ SELECT dq_gate.expect_unique('t', ARRAY['a', NULL]) $$, '22004', 'NULL', 'NULL among columns');
SELECT raises($$ SELECT dq_gate.expect_unique('t', ARRAY['a', 'b', 'a']) $$, '42701', 'column a is named twice', 'a column twice');
SELECT raises($$ SELECT dq_gate.expect_unique('t', ARRAY['a', 'nothing']) $$, '42703', 'column nothing of gate public.t', 'a column that is not there');

-- a column that is gone, or of another type
ALTER TABLE s RENAME n TO m;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 6: 6 quarantined', 'a column that is not staged any more');
SELECT is((SELECT string_agg(check_name, ', ') FROM dq_gate.results_of(last_run()) WHERE status = 'error'), 'n_unique', 'cannot be judged');
SELECT is(message('n_unique'), 'could not be evaluated: column n is missing in the staging table', 'the message says why');
SELECT is(finding('ab'), 'failed 4 of 6, 3 null', 'the others are judged all the same');
ALTER TABLE s RENAME m TO n;
ALTER TABLE t ALTER n TYPE json USING NULL;
ALTER TABLE s ALTER n TYPE json USING '1';
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'n_unique'), 'error', 'nor can one whose type has no equality');

SELECT finish();
