-- every unique index of the target is audited: within the batch, and against the rows of the target that stay
\ir include/helpers.sql
SELECT plan(107);

-- what is derived
CREATE TABLE t (
	id int PRIMARY KEY, u int, mail text, active boolean, a int, b int, extra text,
	CONSTRAINT named UNIQUE (u)
);
CREATE UNIQUE INDEX t_ab ON t (a, b) INCLUDE (extra);
CREATE UNIQUE INDEX t_mail ON t (lower(mail)) WHERE active;
CREATE UNIQUE INDEX t_wide ON t (extra, id);
CREATE UNIQUE INDEX t_again ON t (id) INCLUDE (u);
CREATE INDEX t_plain ON t (extra);
CREATE TABLE s (LIKE t);
SELECT results_eq($$ SELECT check_name, columns, rule, action, origin FROM dq_gate.checks_of('t', 's') WHERE check_type = 'unique' $$,
	$$ VALUES ('key_unique', '{id}'::text[], 'id is unique in the batch', 'block', 'key (primary key t_pkey)'),
		('named', '{u}', 'u is unique in the batch and in the target', 'block', 'UNIQUE constraint named'),
		('t_ab', '{a,b}', '(a, b) is unique in the batch and in the target', 'block', 'unique index t_ab'),
		('t_mail', '{mail,active}', 'lower(mail) is unique in the batch and in the target, where active', 'block', 'unique index t_mail'),
		('t_wide', '{extra,id}', '(extra, id) is unique in the batch', 'block', 'unique index t_wide') $$,
	'every unique index has its check; the target cannot have values that contain the key in another row');
SELECT results_eq($$ SELECT check_name, rule FROM dq_gate.checks_of('t') WHERE check_type = 'unique' $$,
	$$ SELECT check_name, rule FROM dq_gate.checks_of('t', 's') WHERE check_type = 'unique' $$, 'so it has without a staging table');

-- one fault at a time, in the batch or with the target, fails its check and no other
CREATE FUNCTION try(assignment text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	TRUNCATE s, t;
	INSERT INTO t VALUES (1, 1, 'one', true, 1, 1), (2, 2, 'two', true, 2, 2), (3, 3, 'three', false, 3, NULL);
	INSERT INTO s VALUES (2, 2, 'two', true, 2, 2), (4, 4, 'four', true, 4, 4), (5, 5, 'five', true, 5, 5);
	EXECUTE 'UPDATE s SET ' || assignment;
	answer := outcome(dq_gate.publish('s', 't'));
	RETURN answer || coalesce('; ' || not_passed(), '');
END
$$;
SELECT is(try('extra = 1'), 'published 3: 2 inserted, 1 updated', 'a batch without faults is published');
SELECT is(try('u = 1 WHERE id = 4'), 'rejected 3: 3 quarantined; named failed', 'a value that another row of the target has');
SELECT is(finding('named') || ': ' || message('named'), 'failed 1 of 3: u is not unique in the batch and in the target: 1 row with a value of another row of the target, for example {"u": 1, "in_batch": {"id": 4}, "in_target": {"id": 1}}', 'with the row that has it');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', $$ VALUES (2, '{}'::text[]), (4, '{named}'), (5, '{}') $$, 'the row says so in quarantine');
SELECT is((SELECT count(*) FROM t), 3::bigint, 'and the target is as it was');
SELECT is(try('u = 5 WHERE id = 4'), 'rejected 3: 3 quarantined; named failed', 'a value twice in the batch');
SELECT is(message('named'), 'u is not unique in the batch and in the target: 1 duplicated value in 2 rows, 1 surplus, for example {"u": 5, "rows": 2}', 'in words as ever');
SELECT is(try('u = 1 WHERE id > 2'), 'rejected 3: 3 quarantined; named failed', 'a value twice in the batch and once in the target');
SELECT is((SELECT failing_rows || ': ' || actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'named'), '2: 1 duplicated value in 2 rows, 1 surplus, 2 rows with a value of another row of the target', 'a row fails once');
SELECT is((SELECT jsonb_agg(v ORDER BY v::text) FROM dq_gate.results_of(last_run()), jsonb_array_elements(sample) v WHERE check_name = 'named'),
	'[{"u": 1, "in_batch": {"id": 4}, "in_target": {"id": 1}}, {"u": 1, "in_batch": {"id": 5}, "in_target": {"id": 1}}, {"u": 1, "rows": 2}]', 'with both findings');
SELECT is(try('u = NULL'), 'published 3: 2 inserted, 1 updated', 'NULLs differ from each other');
SELECT is(finding('named'), 'passed 0 of 3, 3 null', 'and are counted');

-- several columns, with INCLUDE
SELECT is(try('a = 1, b = 1 WHERE id = 4'), 'rejected 3: 3 quarantined; t_ab failed', 'several columns of an index');
SELECT is(try('a = 1, extra = 1 WHERE id = 4'), 'published 3: 2 inserted, 1 unchanged', 'one of them alone is no clash, nor is a column that it only includes');
SELECT is(try('a = 3, b = NULL WHERE id = 4'), 'published 3: 2 inserted, 1 unchanged', 'a NULL in one of them is none either');

-- an expression, and a part of the rows
SELECT is(try($$mail = 'ONE' WHERE id = 4$$), 'rejected 3: 3 quarantined; t_mail failed', 'an expression');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 't_mail'), '[{"in_batch": {"id": 4}, "in_target": {"id": 1}, "lower(mail)": "one"}]', 'is shown as what it is');
SELECT is(message('t_mail') ~ '^lower\(mail\) is not unique in the batch and in the target, where active: 1 row', true, 'and said');
SELECT is(try($$mail = 'ONE', active = false WHERE id = 4$$), 'published 3: 2 inserted, 1 unchanged', 'a row that its predicate leaves out');
SELECT is(try($$mail = 'ONE', active = NULL WHERE id = 4$$), 'published 3: 2 inserted, 1 unchanged', 'so does NULL');
SELECT is(try($$mail = 'Three' WHERE id = 4$$), 'published 3: 2 inserted, 1 unchanged', 'as for the rows of the target');
SELECT is(try($$mail = 'Five' WHERE id = 4$$), 'rejected 3: 3 quarantined; t_mail failed', 'an expression within the batch');
SELECT is(try($$mail = 'Five', active = (id <> 5) WHERE id > 2$$), 'published 3: 2 inserted, 1 unchanged', 'where both rows are in the index alone');
SELECT is(try($$mail = NULL$$), 'published 3: 2 inserted, 1 updated', 'an expression that is NULL');
INSERT INTO s VALUES (3, 3, 'TWO', true, 3, 3);
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 1 updated, 3 unchanged', 'a row that comes into the index where nobody has its value');
UPDATE s SET mail = 'two' WHERE id = 2;
SELECT is(outcome(dq_gate.publish('s', 't')) || '; ' || not_passed(), 'rejected 4: 4 quarantined; t_mail failed', 'and where another one has');

-- NULLS NOT DISTINCT
CREATE TABLE nn (id int PRIMARY KEY, a int, b text, c int[], CONSTRAINT nn_ab UNIQUE NULLS NOT DISTINCT (a, b));
CREATE UNIQUE INDEX nn_c ON nn (c) NULLS NOT DISTINCT;
CREATE TABLE nn_s (LIKE nn);
INSERT INTO nn VALUES (1, 1, NULL, NULL), (2, NULL, NULL, '{}');
INSERT INTO nn_s VALUES (3, 1, NULL, '{1}'), (4, NULL, NULL, '{2}'), (5, NULL, 'x', '{3}'), (6, 1, 'x', '{4}');
SELECT is(outcome(dq_gate.publish('nn_s', 'nn')) || '; ' || not_passed(), 'rejected 4: 4 quarantined; nn_ab failed', 'NULLS NOT DISTINCT against the target');
SELECT is(finding('nn_ab'), 'failed 2 of 4, 3 null', 'NULLs are equal to NULLs alone');
DELETE FROM nn_s WHERE id IN (3, 4);
UPDATE nn_s SET c = NULL WHERE id = 5;
SELECT is(outcome(dq_gate.publish('nn_s', 'nn')) || '; ' || not_passed(), 'rejected 2: 2 quarantined; nn_c failed', 'an array that is NULL');
SELECT is((SELECT sample -> 0 -> 'in_target' FROM dq_gate.results_of(last_run()) WHERE check_name = 'nn_c'), '{"id": 1}', 'is not one without elements');
UPDATE nn_s SET c = '{}' WHERE id = 5;
SELECT dq_gate.audit('nn_s', 'nn') \g /dev/null
SELECT is((SELECT sample -> 0 -> 'in_target' FROM dq_gate.results_of(last_run()) WHERE check_name = 'nn_c'), '{"id": 2}', 'nor the other way round');
UPDATE nn_s SET c = NULL, a = NULL, b = 'y';
SELECT dq_gate.audit('nn_s', 'nn') \g /dev/null
SELECT is(finding('nn_ab'), 'failed 2 of 2, 2 null', 'and NULLs in the batch');
TRUNCATE nn_s;
INSERT INTO nn_s VALUES (1, 1, NULL, '{9}'), (2, 7, NULL, '{}');
SELECT is(outcome(dq_gate.publish('nn_s', 'nn')), 'published 2: 2 updated', 'rows that keep their NULLs clash with nobody');

-- values that change hands
CREATE TABLE seats (id int PRIMARY KEY, late int CONSTRAINT late UNIQUE DEFERRABLE, now int CONSTRAINT now UNIQUE);
CREATE UNIQUE INDEX seats_half ON seats ((now * 2)) WHERE id > 0;
CREATE TABLE seats_s (LIKE seats);
INSERT INTO seats SELECT i, i, i FROM generate_series(1, 4) i;
INSERT INTO seats_s VALUES (1, 2, 1), (2, 3, 2), (3, 1, 3);
SELECT is(outcome(dq_gate.publish('seats_s', 'seats')), 'published 3: 3 updated', 'values of a deferrable constraint go round');
SELECT results_eq('TABLE seats ORDER BY id', 'VALUES (1, 2, 1), (2, 3, 2), (3, 1, 3), (4, 4, 4)', 'as staged');
INSERT INTO seats_s VALUES (5, 4, 5);
SELECT is(outcome(dq_gate.publish('seats_s', 'seats')) || '; ' || not_passed(), 'rejected 4: 4 quarantined; late failed', 'but not to where a row stays');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'late'), '1 row with a value of another row of the target', 'which is the reason');
UPDATE seats_s SET late = 6 WHERE id = 5;
UPDATE seats_s SET now = 3 - id WHERE id < 3;
SELECT is(outcome(dq_gate.publish('seats_s', 'seats')) || '; ' || not_passed(), 'rejected 4: 4 quarantined; now failed, seats_half failed', 'without one they cannot change places');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'now'), '2 rows with a value of another row of the target, 2 of them of a row that the batch changes as well: a DEFERRABLE constraint would allow it', 'and the way out is said');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'seats_half'), '2 rows with a value of another row of the target, 2 of them of a row that the batch changes as well: change that row in a batch before', 'that for an index that cannot be a constraint');
UPDATE seats_s SET now = 4 WHERE id = 3;
SELECT dq_gate.audit('seats_s', 'seats') \g /dev/null
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'now'), '3 rows with a value of another row of the target, 2 of them of a row that the batch changes as well: a DEFERRABLE constraint would allow it', 'only for those whom it would help');
-- as the server does it: whichever row comes first
SELECT throws_ok('UPDATE seats SET now = 3 - now WHERE id < 3', '23505', NULL, 'the server refuses the same');

-- rows that other checks move out leave the target as it is, and do not count
CREATE TABLE m (id int PRIMARY KEY, u int CONSTRAINT m_u UNIQUE DEFERRABLE, v int);
CREATE TABLE m_s (LIKE m);
INSERT INTO m VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO m_s VALUES (1, 10, -1), (3, 1, 3);
SELECT dq_gate.create_gate('m'), dq_gate.expect_range('m', 'v', 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('m_s', 'm')) || '; ' || not_passed(), 'rejected 2: 2 quarantined; m_u failed, v_range failed', 'the row whose replacement is moved keeps its value');
SELECT is(finding('m_u'), 'failed 1 of 2', 'which is no other row''s');
UPDATE m_s SET v = 1 WHERE id = 1;
SELECT is(outcome(dq_gate.publish('m_s', 'm')), 'published 2: 1 inserted, 1 updated', 'that of one that is replaced is');
TRUNCATE m_s;
INSERT INTO m_s VALUES (4, 4, -1), (5, 4, 5), (6, 2, -1);
SELECT is(outcome(dq_gate.publish('m_s', 'm')), 'published 3: 1 inserted, 2 quarantined', 'a value of a row that is moved is free, and where it would clash nobody minds');
SELECT is(finding('m_u'), 'passed 0 of 3', 'whatever the index says');
SELECT dq_gate.drop_check('m', 'v_range'), dq_gate.expect_range('m', 'v', 0, action => 'quarantine', max_rows => 2) \g /dev/null
TRUNCATE m_s;
INSERT INTO m_s VALUES (7, 7, -1), (8, 7, 8);
SELECT is(outcome(dq_gate.publish('m_s', 'm')) || '; ' || not_passed(), 'rejected 2: 2 quarantined; m_u failed', 'one that is tolerated is not moved');
SELECT dq_gate.drop_check('m', 'v_range'), dq_gate.expect_range('m', 'v', 0, action => 'quarantine') \g /dev/null
SELECT dq_gate.alter_gate('m', enforce => false), dq_gate.audit('m_s', 'm') \g /dev/null
SELECT is(finding('m_u'), 'failed 2 of 2', 'nor is any where the gate enforces nothing');
SELECT dq_gate.alter_gate('m', enforce => true), dq_gate.expect_unique('m', '{id}', action => 'quarantine'), dq_gate.drop_check('m', 'v_range') \g /dev/null
TRUNCATE m_s;
INSERT INTO m_s VALUES (1, 20, 1), (1, 21, 1), (9, 10, 9);
SELECT is(outcome(dq_gate.publish('m_s', 'm')) || '; ' || not_passed(), 'rejected 3: 3 quarantined; id_unique failed, m_u failed', 'rows that share a key are moved, so that the target keeps that row');
SELECT dq_gate.expect_sql('m', 'broken', '1 / (v - 9) < 2', action => 'quarantine') \g /dev/null
SELECT dq_gate.audit('m_s', 'm') \g /dev/null
SELECT is(not_passed(), 'broken error, id_unique failed, m_u failed', 'a rule that is broken breaks no other check');

-- a declared check takes over, with all that the index says
CREATE TABLE o (id int PRIMARY KEY, u int UNIQUE, w text);
CREATE UNIQUE INDEX o_w ON o (w) WHERE id > 0;
CREATE TABLE o_s (LIKE o);
INSERT INTO o VALUES (1, 1, 'a');
INSERT INTO o_s VALUES (2, 1, 'b'), (3, 3, 'c'), (4, 3, 'd'), (5, 5, 'e');
SELECT dq_gate.create_gate('o'), dq_gate.expect_unique('o', '{u}', action => 'quarantine') \g /dev/null
SELECT is((SELECT string_agg(check_name || ': ' || rule, '; ') FROM dq_gate.checks_of('o') WHERE check_type = 'unique' AND check_name <> 'key_unique'),
	'o_w: w is unique in the batch and in the target, where (id > 0); u_unique: u is unique in the batch and in the target', 'a declared check in the place of a derived one looks as far as that one');
SELECT is(outcome(dq_gate.publish('o_s', 'o')), 'published 4: 1 inserted, 3 quarantined', 'and moves the rows that clash');
SELECT results_eq('SELECT id FROM dq_quarantine.o ORDER BY 1', 'VALUES (2), (3), (4)', 'with the target or with each other');
SELECT dq_gate.drop_check('o', 'u_unique'), dq_gate.expect_constraint('o', 'o_u_key', action => 'quarantine') \g /dev/null
SELECT is((SELECT string_agg(check_name || ': ' || action, '; ') FROM dq_gate.checks_of('o') WHERE columns = '{u}' AND check_type = 'unique'), 'o_u_key: quarantine', 'so does one of the constraint');
SELECT is(outcome(dq_gate.publish('o_s', 'o')), 'published 4: 1 unchanged, 3 quarantined', 'which moves the same rows');
SELECT dq_gate.expect_unique('o', '{w}', action => 'quarantine') \g /dev/null
SELECT is((SELECT string_agg(check_name, ', ') FROM dq_gate.checks_of('o') WHERE check_type = 'unique' AND columns @> '{w}'), 'o_w, w_unique', 'not that of an index over a part of the rows');
SELECT is((SELECT rule FROM dq_gate.checks_of('o') WHERE check_name = 'w_unique'), 'w is unique in the batch', 'which stands by itself');
SELECT is((SELECT string_agg(note, '; ') FROM dq_gate.constraint_ddl('o') WHERE check_name = 'o_u_key'), NULL, 'a constraint is no constraint to be');

-- several of them that move rows do not ask each other
CREATE TABLE two (id int PRIMARY KEY, u int UNIQUE, w int UNIQUE DEFERRABLE);
CREATE TABLE two_s (LIKE two);
INSERT INTO two VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO two_s VALUES (4, 4, 7), (5, 1, 7), (6, 6, 6);
SELECT dq_gate.create_gate('two'), dq_gate.expect_unique('two', '{u}', action => 'quarantine'), dq_gate.expect_unique('two', '{w}', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('two_s', 'two')), 'published 3: 1 inserted, 2 quarantined', 'a row that shares a value with one that another check moves');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.two ORDER BY 1', $$ VALUES (4, '{w_unique}'::text[]), (5, '{u_unique,w_unique}') $$, 'is moved with it');
TRUNCATE two_s;
INSERT INTO two_s VALUES (1, 2, 5), (3, 3, 1);
SELECT is(outcome(dq_gate.publish('two_s', 'two')), 'failed 2: 2 quarantined', 'where it counted on the value of the row that stays, the publish fails');
SELECT results_eq('TABLE two ORDER BY id', 'VALUES (1, 1, 1), (2, 2, 2), (6, 6, 6)', 'and nothing of it is published');

-- names
CREATE SCHEMA "S x";
CREATE TABLE "S x"."T" ("Id" int PRIMARY KEY, "a""b" text, "select" int, key_1 int, row_id int, target int, rows int);
CREATE UNIQUE INDEX "Uni ""q" ON "S x"."T" ("a""b", "select");
CREATE UNIQUE INDEX "x%s" ON "S x"."T" ((key_1 + target)) WHERE "a""b" <> '%s it''s';
CREATE UNIQUE INDEX ours ON "S x"."T" (row_id, rows);
CREATE TABLE "S x".stg (LIKE "S x"."T");
INSERT INTO "S x"."T" VALUES (1, 'x', 1, 1, 1, 1, 1);
INSERT INTO "S x".stg VALUES (2, 'x', 1, 0, 1, 2, 1), (3, 'y', 1, 1, 2, 1, 2), (4, 'y', 1, 1, 2, 1, 2);
SELECT is(outcome(dq_gate.publish('"S x".stg', '"S x"."T"')) || '; ' || not_passed(), 'rejected 3: 3 quarantined; Uni "q failed, ours failed, x%s failed', 'O09: names of any kind');
SELECT is((SELECT string_agg(failing_rows::text, ' ' ORDER BY check_name COLLATE "C") FROM dq_gate.results_of(last_run()) WHERE status = 'failed'), '3 3 3', 'O09: each finds the same rows');
SELECT is((SELECT jsonb_agg(v ORDER BY v::text) FROM dq_gate.results_of(last_run()), jsonb_array_elements(sample) v WHERE check_name = 'ours'),
	'[{"rows": 1, "row_id": 1, "in_batch": {"Id": 2}, "in_target": {"Id": 1}}, {"rows": 2, "rows_": 2, "row_id": 2}]', 'O09: and shows them');
SELECT is((SELECT origin FROM dq_gate.checks_of('"S x"."T"') WHERE check_name = 'Uni "q'), 'unique index "Uni ""q"', 'O09: quoted where it has to be');

-- what is equal: types, operator classes and collations
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE pair AS (x numeric, y numeric);
CREATE DOMAIN code AS varchar(3);
CREATE TABLE eq (id int PRIMARY KEY, c text, p pair, n numeric, d code, j jsonb);
CREATE UNIQUE INDEX eq_c ON eq (c COLLATE nocase);
CREATE UNIQUE INDEX eq_p ON eq (p record_image_ops);
CREATE UNIQUE INDEX eq_n ON eq (n);
CREATE UNIQUE INDEX eq_d ON eq (d text_pattern_ops);
CREATE UNIQUE INDEX eq_j ON eq ((j ->> 'k') COLLATE "C");
CREATE TABLE eq_s (id int, c text, p pair, n text, d text, j jsonb);
INSERT INTO eq VALUES (1, 'Bob', '(1.0,1)', 1.0, 'abc', '{"k": "v"}');
INSERT INTO eq_s VALUES (2, 'bob', '(1.00,1)', '1.00', 'abc', '{"k": "v", "l": 1}'), (3, 'eve', '(2,2)', '3', 'd', '{}');
SELECT is(outcome(dq_gate.publish('eq_s', 'eq')) || '; ' || not_passed(), 'rejected 2: 2 quarantined; eq_c failed, eq_d failed, eq_j failed, eq_n failed', 'what is equal is for the index to say');
SELECT is(finding('eq_p'), 'passed 0 of 2', 'which tells apart what its type does not');
UPDATE eq_s SET c = id, n = id, d = id, j = NULL;
SELECT is(outcome(dq_gate.publish('eq_s', 'eq')), 'published 2: 2 inserted', 'as the target does');
TRUNCATE eq_s;
INSERT INTO eq_s VALUES (4, 'EVE', '(5,5)', 4, '4'), (5, 'Eve', '(5,5)', 5, '5'), (6, '6', '(5.0,5)', 6, '6');
SELECT dq_gate.audit('eq_s', 'eq') \g /dev/null
SELECT is(finding('eq_c') || '; ' || finding('eq_p'), 'failed 2 of 3; failed 2 of 3', 'within the batch as well');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'eq_p'), '2 rows with a duplicated value', 'in words');
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
SET client_min_messages = warning;
CREATE SCHEMA elsewhere;
CREATE EXTENSION citext SCHEMA elsewhere;
RESET client_min_messages;
CREATE TABLE ci (id int PRIMARY KEY, c elsewhere.citext UNIQUE NULLS NOT DISTINCT, d elsewhere.citext UNIQUE, e elsewhere.citext);
SET search_path = public, elsewhere;
CREATE UNIQUE INDEX ci_e ON ci (d, e) WHERE e <> 'Bob' AND nullif(e, 'Ann') IS NOT NULL;
RESET search_path;
CREATE TABLE ci_s (id int, c text, d text, e text);
INSERT INTO ci VALUES (1, 'Bob', 'Bob'), (2, NULL, NULL);
INSERT INTO ci_s VALUES (3, 'BOB', 'BOB'), (4, NULL, NULL), (5, 'Eve', 'Eve');
SELECT is(outcome(dq_gate.publish('ci_s', 'ci')) || '; ' || not_passed(), 'rejected 3: 3 quarantined; ci_c_key failed, ci_d_key failed', 'a type that ignores case, from elsewhere');
SELECT is(finding('ci_c_key') || '; ' || finding('ci_d_key'), 'failed 2 of 3, 1 null; failed 1 of 3, 1 null', 'with NULLs and without');
SELECT is(finding('ci_e') || ': ' || message('ci_e'), 'not_judged: it compares with an operator that its text cannot name; the target itself enforces it', 'what no text can say is not judged');
\else
SELECT skip('no citext', 3);
\endif

-- columns that the target makes, and those that staging lacks
CREATE TABLE g (id int PRIMARY KEY, first text, last text COLLATE "C", name text COLLATE "C" GENERATED ALWAYS AS (lower(first || ' ' || last)) STORED,
	n int DEFAULT 0, no int GENERATED ALWAYS AS IDENTITY UNIQUE);
CREATE UNIQUE INDEX g_name ON g (name);
CREATE UNIQUE INDEX g_up ON g (upper(name)) WHERE length(name) > 3;
CREATE UNIQUE INDEX g_n ON g (n, last);
CREATE UNIQUE INDEX g_row ON g ((g IS NULL)) WHERE id > 100;
CREATE TABLE g_s (id int, first text, last text, name text);
INSERT INTO g (id, first, last) VALUES (1, 'Ann', 'Lee');
INSERT INTO g_s VALUES (2, 'ANN', 'LEE', 'x'), (3, 'Bob', 'Day', 'x');
SELECT is(outcome(dq_gate.publish('g_s', 'g')) || '; ' || not_passed(), 'rejected 2: 2 quarantined; g_name failed, g_up failed', 'a generated column is what the target makes of the others');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'g_name'), '[{"name": "ann lee", "in_batch": {"id": 2}, "in_target": {"id": 1}}]', 'whatever staging says');
SELECT is(finding('g_n') || ': ' || message('g_n'), 'not_judged: column n is not staged; the target itself enforces the rule', 'a column that is not staged');
SELECT is(finding('g_row') || ': ' || message('g_row'), 'not_judged: it is about the row of the target itself, which enforces it', 'nor is the whole row');
ALTER TABLE g_s ADD no int;
UPDATE g_s SET no = 1, first = 'A' || id;
SELECT is((dq_gate.publish('g_s', 'g')).verdict, 'failed', 'a column that only new rows take from the batch');
SELECT is(finding('g_no_key') || ': ' || message('g_no_key'), 'not_judged: column no is GENERATED ALWAYS AS IDENTITY and keeps its value in rows that exist; the target itself enforces the rule', 'is not judged');
SELECT dq_gate.create_gate('g'), dq_gate.expect_unique('g', '{no}'), dq_gate.audit('g_s', 'g') \g /dev/null
SELECT is(finding('no_unique'), 'failed 2 of 2', 'but by what was declared of it');

-- partitioned and inherited targets
CREATE TABLE p (day date, id int, u text, PRIMARY KEY (day, id), UNIQUE (u, day)) PARTITION BY RANGE (day);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2026-01-01') TO ('2026-01-02');
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2026-01-02') TO ('2026-01-03');
CREATE TABLE p_s (day date, id int, u text) PARTITION BY LIST (id);
CREATE TABLE p_s1 PARTITION OF p_s FOR VALUES IN (1, 2);
CREATE TABLE p_s2 PARTITION OF p_s DEFAULT;
INSERT INTO p VALUES ('2026-01-01', 1, 'a'), ('2026-01-02', 1, 'b');
INSERT INTO p_s VALUES ('2026-01-01', 2, 'b'), ('2026-01-01', 3, 'a'), ('2026-01-02', 4, 'c'), ('2026-01-02', 2, 'd');
SELECT is(outcome(dq_gate.publish('p_s', 'p')) || '; ' || not_passed(), 'rejected 4: 4 quarantined; p_u_day_key failed', 'an index of a partitioned table');
SELECT results_eq($$ SELECT id FROM dq_quarantine.p WHERE failed_checks <> '{}' $$, 'VALUES (3)', 'in one partition, and of one row of a partition of staging');
DELETE FROM p_s WHERE id = 3;
SELECT is(outcome(dq_gate.publish('p_s', 'p')), 'published 3: 3 inserted', 'values of another partition are no clash');
CREATE TABLE parent (id int PRIMARY KEY, u int UNIQUE);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE parent_s (LIKE parent);
INSERT INTO parent VALUES (1, 1);
INSERT INTO child VALUES (10, 10);
INSERT INTO parent_s VALUES (2, 10), (10, 1);
SELECT is(outcome(dq_gate.publish('parent_s', 'parent')), 'published 2: 1 inserted, 1 updated', 'rows of a table that inherits are not in the index');
SELECT results_eq('SELECT tableoid::regclass::text, id, u FROM parent ORDER BY id', $$ VALUES ('parent', 1, 1), ('parent', 2, 10), ('child', 10, 1) $$, 'wherever they have come from');
UPDATE parent_s SET u = 1 WHERE id = 2;
SELECT is(outcome(dq_gate.publish('parent_s', 'parent')) || '; ' || not_passed(), 'rejected 2: 2 quarantined; parent_u_key failed', 'those of the target itself are');

-- locks and rights
CREATE TABLE l (id int PRIMARY KEY, u int, UNIQUE (id, u));
CREATE TABLE l_s (LIKE l);
INSERT INTO l_s VALUES (1, 1), (1, 2), (2, 3), (3, 3);
CREATE FUNCTION modes(rel regclass) RETURNS text LANGUAGE sql AS
	'SELECT string_agg(DISTINCT mode, '', '' ORDER BY mode) FROM pg_locks WHERE pid = pg_backend_pid() AND relation = rel';
BEGIN;
SELECT is((dq_gate.publish('l_s', 'l')).verdict, 'rejected', 'the key twice');
SELECT unalike(modes('l'), '%ShareRowExclusiveLock%', 'is found without the target, which stays open for writers');
ROLLBACK;
CREATE UNIQUE INDEX l_u ON l (u);
BEGIN;
SELECT is((dq_gate.publish('l_s', 'l')).verdict, 'rejected', 'another unique index');
SELECT alike(modes('l'), '%ShareRowExclusiveLock%', 'has it locked from the start');
ROLLBACK;
INSERT INTO l VALUES (9, 1);
GRANT SELECT ON l_s TO dq_loader;
SET ROLE dq_loader;
SELECT is((dq_gate.audit('l_s', 'l')).checks_failed, 2, 'who may not read the target may audit a batch all the same');
RESET ROLE;
SELECT is(finding('l_u') || ', ' || (SELECT expected_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'l_u'), 'failed 2 of 4, u is unique in the batch', 'by itself alone');
GRANT SELECT (id, u) ON l TO dq_loader;
SET ROLE dq_loader;
SELECT dq_gate.audit('l_s', 'l') \g /dev/null
RESET ROLE;
SELECT is(finding('l_u'), 'failed 3 of 4', 'and by the target with a right on its columns');
ALTER TABLE l ENABLE ROW LEVEL SECURITY;
SET ROLE dq_loader;
SELECT dq_gate.audit('l_s', 'l') \g /dev/null
RESET ROLE;
SELECT is(finding('l_u'), 'failed 2 of 4', 'but not by a part of its rows');

-- the table itself
INSERT INTO t VALUES (50, 50, 'x', true, 50, 50);
SELECT is((SELECT string_agg(DISTINCT format('%s %s', status, rule), '; ') FROM dq_gate.audit_table('t') WHERE check_type = 'unique' AND check_name IN ('named', 't_mail')),
	'passed lower(mail) is unique in the table, where active; passed u is unique in the table', 'in a table that is audited itself no row clashes with itself');
SELECT is((SELECT string_agg(DISTINCT status, '; ') FROM dq_gate.audit_table('eq') WHERE check_name IN ('eq_c', 'eq_n')), 'passed', 'whatever is compared');

-- batches at random, beside hand-written SQL: what is not found before the publish is not there to be found by it
CREATE TABLE r (a int, b text, late int UNIQUE DEFERRABLE, now int UNIQUE NULLS NOT DISTINCT, x int, y int, PRIMARY KEY (a, b));
CREATE UNIQUE INDEX r_part ON r ((x % 5), y) WHERE x > 2;
CREATE TABLE r_s (LIKE r);
CREATE TABLE tried (verdict text, late bigint, now bigint, part bigint, by_hand_late bigint, by_hand_now bigint, by_hand_part bigint);
SELECT dq_gate.create_gate('r'), dq_gate.expect_range('r', 'y', max => 7, action => 'quarantine'), dq_gate.expect_volume('r', action => 'declare') \g /dev/null
CREATE FUNCTION one_of(many int) RETURNS int LANGUAGE sql AS 'SELECT nullif((random() * many)::int, 0)';
CREATE PROCEDURE try_at_random() LANGUAGE plpgsql AS $$
DECLARE
	run dq_gate.run_summary; t tried;
BEGIN
	TRUNCATE r, r_s;
	INSERT INTO r SELECT a, b, nullif(row_number() OVER (ORDER BY random()), 1), nullif(2 * row_number() OVER (ORDER BY random()), 2),
		one_of(12), row_number() OVER ()
	FROM generate_series(1, 3) a, unnest(ARRAY['x', 'y']) b;
	INSERT INTO r_s SELECT a, b, one_of(30), one_of(30), one_of(30), one_of(8)
	FROM (SELECT a, b FROM generate_series(1, 4) a, unnest(ARRAY['x', 'y']) b ORDER BY random() LIMIT 4) k;
	-- values as they are, now and then
	UPDATE r_s SET late = r.late, now = r.now, x = r.x FROM r WHERE (r.a, r.b) = (r_s.a, r_s.b) AND random() < 0.3;
	WITH written AS (SELECT * FROM r_s WHERE (y <= 7) IS NOT FALSE),
	stay AS (SELECT * FROM r WHERE NOT EXISTS (SELECT FROM written w WHERE (w.a, w.b) = (r.a, r.b)))
	SELECT (SELECT count(*) FROM written w WHERE EXISTS (SELECT FROM stay WHERE stay.late = w.late)
			OR EXISTS (SELECT FROM written o WHERE o.late = w.late AND (o.a, o.b) <> (w.a, w.b))),
		(SELECT count(*) FROM written w WHERE EXISTS (SELECT FROM r WHERE r.now IS NOT DISTINCT FROM w.now AND (r.a, r.b) <> (w.a, w.b))
			OR EXISTS (SELECT FROM written o WHERE o.now IS NOT DISTINCT FROM w.now AND (o.a, o.b) <> (w.a, w.b))),
		(SELECT count(*) FROM written w WHERE w.x > 2 AND (EXISTS (SELECT FROM r WHERE r.x > 2 AND (r.x % 5, r.y) = (w.x % 5, w.y) AND (r.a, r.b) <> (w.a, w.b))
			OR EXISTS (SELECT FROM written o WHERE o.x > 2 AND (o.x % 5, o.y) = (w.x % 5, w.y) AND (o.a, o.b) <> (w.a, w.b))))
	INTO t.by_hand_late, t.by_hand_now, t.by_hand_part;
	run := dq_gate.publish('r_s', 'r');
	t.verdict := run.verdict;
	SELECT max(failing_rows) FILTER (WHERE check_name = 'r_late_key'), max(failing_rows) FILTER (WHERE check_name = 'r_now_key'), max(failing_rows) FILTER (WHERE check_name = 'r_part')
	INTO t.late, t.now, t.part FROM dq_gate.results_of(run.run_id);
	INSERT INTO tried SELECT t.*;
END
$$;
SELECT setseed(0.25) \g /dev/null
SET client_min_messages = error;
DO $$ BEGIN FOR i IN 1 .. 100 LOOP CALL try_at_random(); END LOOP; END $$;
RESET client_min_messages;
SELECT is((SELECT string_agg(DISTINCT verdict, ', ') FROM tried), 'published, rejected', 'of 100 batches at random none gets as far as to fail');
SELECT is((SELECT count(*) FROM tried WHERE (late, now, part) IS DISTINCT FROM (by_hand_late, by_hand_now, by_hand_part)), 0::bigint, 'and in each as many rows clash as SQL by hand finds');
SELECT ok((SELECT least(count(*) FILTER (WHERE verdict = 'published'), count(*) FILTER (WHERE late > 0), count(*) FILTER (WHERE now > 0), count(*) FILTER (WHERE part > 0)) FROM tried) >= 10, 'there are enough of each');

-- O01, O02, O03 for a unique index that is not the key
CREATE TABLE orders (line int PRIMARY KEY, id int NOT NULL, part text, v text);
CREATE UNIQUE INDEX orders_id ON orders (id, part);
CREATE TABLE orders_staging (LIKE orders);
INSERT INTO orders VALUES (1, 1, 'a', 'old'), (5, 5, 'a', 'keep');
INSERT INTO orders_staging VALUES (1, 1, 'a', 'x'), (2, 1, 'a', 'y'), (3, 2, NULL, 'z'), (4, 2, NULL, 'z');
SELECT is(outcome(dq_gate.publish('orders_staging', 'orders')), 'rejected 4: 4 quarantined', 'O01: the same values twice in the batch');
SELECT is(finding('orders_id') || ': ' || (SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'orders_id'),
	'failed 2 of 4, 2 null: 1 duplicated value in 2 rows, 1 surplus, 1 row with a value of another row of the target', 'O03: both rows are involved, and the second one is not the row of the target that has them');
UPDATE orders_staging SET id = 7 WHERE line = 2;
SELECT is(outcome(dq_gate.publish('orders_staging', 'orders')), 'published 4: 3 inserted, 1 updated', 'O02: NULL in a part of them is no duplicate, as in the index');
SELECT is(outcome(dq_gate.publish('orders_staging', 'orders')), 'published 4: 4 unchanged', 'O02: and the rows are found again by their key');

SELECT finish();
