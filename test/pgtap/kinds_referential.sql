-- expect_referential: the values of columns stand in another table
\ir include/helpers.sql
SELECT plan(56);

-- O13
CREATE TABLE cust (id int);
INSERT INTO cust VALUES (1), (NULL);
CREATE TABLE o (id int PRIMARY KEY, cust_id int);
CREATE TABLE o_staging (id int, cust_id int);
INSERT INTO o_staging VALUES (10, 1), (11, 2), (12, NULL);
SELECT is(dq_gate.expect_referential('o', ARRAY['cust_id'], 'cust', ARRAY['id']), 'cust_id_referential', 'a reference is named after its columns');
SELECT is((SELECT ROW(check_type, columns, rule, nulls)::text FROM dq_gate.checks_of('o') WHERE check_name = 'cust_id_referential'), '(referential,{cust_id},"cust_id is in public.cust (id)",pass)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('o_staging', 'o')), 'rejected 3: 3 quarantined', 'O13: an orphan, while a parent is NULL');
SELECT is(finding('cust_id_referential'), 'failed 1 of 3, 1 null', 'O13: is one, and a child that is NULL is none');
SELECT is(message('cust_id_referential'), '1 of 3 rows: cust_id is not in public.cust (id), for example {"id": 11, "cust_id": 2}', 'O13: and is shown');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.o ORDER BY 1', $$ VALUES (10, '{}'::text[]), (11, '{cust_id_referential}'), (12, '{}') $$, 'O13: the row says so');
SELECT dq_gate.drop_check('o', 'cust_id_referential'), dq_gate.expect_referential('o', ARRAY['cust_id'], 'cust', ARRAY['id'], nulls => 'fail', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('o_staging', 'o')), 'published 3: 1 inserted, 2 quarantined', 'O13: NULL is an orphan where it is to fail, though a parent is NULL');
SELECT is(finding('cust_id_referential'), 'failed 2 of 3, 1 null', 'O13: and is counted');
DELETE FROM o_staging WHERE id = 11;
SELECT dq_gate.drop_check('o', 'cust_id_referential'), dq_gate.expect_referential('o', ARRAY['cust_id'], 'cust', ARRAY['id'], nulls => 'pass') \g /dev/null
SELECT is(outcome(dq_gate.publish('o_staging', 'o')), 'published 2: 1 inserted, 1 unchanged', 'O13: without the orphan the batch is published');
SELECT is(finding('cust_id_referential'), 'passed 0 of 2, 1 null', 'O13: and the check passes');
TRUNCATE o_staging;
SELECT dq_gate.audit('o_staging', 'o') \g /dev/null
SELECT is(finding('cust_id_referential'), 'not_judged of 0', 'an empty batch has no row to judge');
INSERT INTO o_staging VALUES (13, 1), (14, 3);
SELECT dq_gate.drop_check('o', 'cust_id_referential'), dq_gate.expect_referential('o', ARRAY['cust_id'], 'cust', ARRAY['id'], action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('o_staging', 'o')), 'published 2: 2 inserted', 'warn lets an orphan through');
SELECT is(finding('cust_id_referential'), 'failed 1 of 2', 'and counts it');
TRUNCATE cust;
SELECT dq_gate.audit('o_staging', 'o') \g /dev/null
SELECT is(finding('cust_id_referential'), 'failed 2 of 2', 'in an empty table there is no parent');

-- several columns, those of the same names by default
CREATE TABLE region (country text, region int, since date);
INSERT INTO region VALUES ('BR', 1, '2020-01-01'), ('BR', 2, '2020-01-01'), ('PT', 1, '2020-01-01');
CREATE TABLE t (id int PRIMARY KEY, country text, region int, big bigint, small smallint, n numeric, ts timestamp);
CREATE TABLE s (LIKE t);
INSERT INTO s VALUES (1, 'BR', 2), (2, 'PT', 2), (3, NULL, 1), (4, 'BR', NULL), (5, NULL, NULL);
SELECT is(dq_gate.expect_referential('t', ARRAY['country', 'region'], 'region', action => 'warn'), 'country_region_referential', 'two columns');
SELECT dq_gate.expect_referential('t', ARRAY['region', 'country'], 'region', ARRAY['region', 'country'], action => 'warn', nulls => 'fail', name => 'strict') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'country_region_referential'), '(country, region) is in public.region (country, region)', 'in words');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 5: 5 inserted', 'pairs that are together');
SELECT is(finding('country_region_referential'), 'failed 1 of 5, 3 null', 'a row with a NULL refers to nothing');
SELECT is(finding('strict'), 'failed 4 of 5, 3 null', 'and fails where NULL is to');

-- O19
CREATE TABLE concept (id int PRIMARY KEY);
INSERT INTO concept VALUES (1), (2);
CREATE TABLE map (id int PRIMARY KEY, cid text);
CREATE TABLE map_staging (id int, cid text);
INSERT INTO map_staging VALUES (1, '1'), (2, '02'), (3, 'x'), (4, NULL);
SELECT raises($$ SELECT dq_gate.expect_referential('map', ARRAY['cid'], 'concept', ARRAY['id']) $$, '42804',
	'column cid of gate public.map, of type text, cannot be compared with column id of public.concept, of type integer[^$]*expect_sql', 'O19: text does not refer to an integer');
SELECT dq_gate.expect_sql('map', 'cid_as_text', 'cid IS NULL OR EXISTS (SELECT FROM concept WHERE concept.id::text = cid)') \g /dev/null
SELECT is(outcome(dq_gate.publish('map_staging', 'map')), 'rejected 4: 4 quarantined', 'O19: with a cast that is said');
SELECT is(finding('cid_as_text'), 'failed 2 of 4', 'O19: it is compared');
CREATE TABLE typed (id int PRIMARY KEY, cid int);
SELECT dq_gate.expect_referential('typed', ARRAY['cid'], 'concept', ARRAY['id']) \g /dev/null
SELECT dq_gate.audit('map_staging', 'typed') \g /dev/null
SELECT is(finding('cid_referential') || '; ' || finding('cid_type_fit'), 'passed 0 of 4, 2 null; failed 1 of 4, 1 null', 'O19: staged as text, what is no integer does not fit, the others are compared as integers');

-- types that go together
CREATE TABLE moments (at timestamptz);
CREATE TABLE wide (n numeric, b bigint, v varchar(5), ts timestamp);
INSERT INTO wide VALUES (1, 1, 'BR', '2024-01-01');
SELECT lives_ok($$ SELECT dq_gate.expect_referential('t', ARRAY['small'], 'wide', ARRAY['b'], name => 'small_big', action => 'warn') $$, 'smallint in bigint');
SELECT lives_ok($$ SELECT dq_gate.expect_referential('t', ARRAY['big'], 'wide', ARRAY['n'], name => 'big_numeric', action => 'warn') $$, 'bigint in numeric');
SELECT lives_ok($$ SELECT dq_gate.expect_referential('t', ARRAY['country'], 'wide', ARRAY['v'], name => 'text_varchar', action => 'warn') $$, 'text in varchar');
UPDATE s SET small = id, big = id;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('small_big') || '; ' || finding('big_numeric') || '; ' || finding('text_varchar'), 'failed 4 of 5; failed 4 of 5; failed 1 of 5, 2 null', 'are compared');
CREATE TABLE nocase_parent (c text COLLATE "C");
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
SET client_min_messages = warning;
CREATE SCHEMA elsewhere;
CREATE EXTENSION citext SCHEMA elsewhere;
RESET client_min_messages;
CREATE TABLE ci_parent (c elsewhere.citext);
CREATE TABLE ci (id int PRIMARY KEY, c elsewhere.citext);
CREATE TABLE ci_s (id int, c text);
INSERT INTO ci_parent VALUES ('BOB');
INSERT INTO ci_s VALUES (1, 'Bob'), (2, 'Eve');
SELECT dq_gate.expect_referential('ci', ARRAY['c'], 'ci_parent') \g /dev/null
SELECT dq_gate.audit('ci_s', 'ci') \g /dev/null
SELECT is(finding('c_referential'), 'failed 1 of 2', 'a type that ignores case');
\else
SELECT skip('no citext');
\endif
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE coll_parent (c text COLLATE nocase);
CREATE TABLE coll (id int PRIMARY KEY, c text);
CREATE TABLE coll_s (LIKE coll);
INSERT INTO coll_parent VALUES ('BOB');
INSERT INTO coll_s VALUES (1, 'Bob'), (2, 'Eve');
SELECT dq_gate.expect_referential('coll', ARRAY['c'], 'coll_parent') \g /dev/null
SELECT dq_gate.audit('coll_s', 'coll') \g /dev/null
SELECT is(finding('c_referential'), 'failed 1 of 2', 'the collation of the parent says what is the same');

-- a table that refers to itself: the parent may come with the batch
CREATE TABLE tree (id int PRIMARY KEY, parent int);
CREATE TABLE tree_s (LIKE tree);
INSERT INTO tree VALUES (1, NULL);
INSERT INTO tree_s VALUES (2, 1), (3, 2), (4, 9), (5, 5);
SELECT dq_gate.expect_referential('tree', ARRAY['parent'], 'tree', ARRAY['id'], action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('tree_s', 'tree')), 'published 4: 3 inserted, 1 quarantined', 'a reference to the target itself, or to the batch');
SELECT is(finding('parent_referential'), 'failed 1 of 4', 'only one is an orphan');

-- a view, a partitioned table
CREATE VIEW concept_view AS SELECT id AS cid FROM concept WHERE id < 2;
CREATE TABLE parted (cid int) PARTITION BY LIST (cid);
CREATE TABLE parted_1 PARTITION OF parted DEFAULT;
INSERT INTO parted VALUES (2);
INSERT INTO typed VALUES (0, NULL);
CREATE TABLE typed_s (LIKE typed);
INSERT INTO typed_s VALUES (1, 1), (2, 2);
SELECT dq_gate.expect_referential('typed', ARRAY['cid'], 'concept_view', action => 'warn', name => 'in_view'), dq_gate.expect_referential('typed', ARRAY['cid'], 'parted', action => 'warn', name => 'in_parted') \g /dev/null
SELECT dq_gate.audit('typed_s', 'typed') \g /dev/null
SELECT is(finding('in_view') || '; ' || finding('in_parted'), 'failed 1 of 2; failed 1 of 2', 'a view, and a partitioned table');

-- names
CREATE SCHEMA "Other";
CREATE TABLE "Other"."Parent's" ("K""ey" int);
INSERT INTO "Other"."Parent's" VALUES (1);
CREATE TABLE "Odd" ("Id" int PRIMARY KEY, "a""b%s" int, parent int);
CREATE TABLE "Odd stg" (LIKE "Odd");
INSERT INTO "Odd stg" VALUES (1, 1, 1), (2, 2, 2);
SELECT is(dq_gate.expect_referential('"Odd"', ARRAY['a"b%s'], '"Other"."Parent''s"', ARRAY['K"ey'], action => 'quarantine'), 'a"b%s_referential', 'O09: names of any kind');
SELECT is(dq_gate.expect_referential('"Odd"', ARRAY['parent'], '"Other"."Parent''s"', ARRAY['K"ey'], action => 'warn'), 'parent_referential', 'O09: a column named parent');
SELECT is(outcome(dq_gate.publish('"Odd stg"', '"Odd"')), 'published 2: 1 inserted, 1 quarantined', 'O09: are quoted');
SELECT is(message('a"b%s_referential'), '1 of 2 rows: "a""b%s" is not in "Other"."Parent''s" ("K""ey"), for example {"Id": 2, "a\"b%s": 2}', 'O09: in the message as well');
SELECT is(finding('parent_referential'), 'failed 1 of 2', 'O09: nor do names of the measuring statement get in the way');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_referential('t', ARRAY['region'], 'cust', ARRAY['nothing']) $$, '42703', 'column nothing of public.cust does not exist', 'a column that the other table lacks');
SELECT raises($$ SELECT dq_gate.expect_referential('t', ARRAY['region'], 'cust') $$, '42703', 'column region of public.cust does not exist', 'by default it has the same name');
SELECT raises($$ SELECT dq_gate.expect_referential('t', ARRAY['nothing'], 'cust', ARRAY['id']) $$, '42703', 'column nothing of gate public.t', 'a column that the target lacks');
SELECT raises($$ SELECT dq_gate.expect_referential('t', ARRAY['region', 'country'], 'cust', ARRAY['id']) $$, '22023', 'as many', 'two columns in one');
SELECT raises($$ SELECT dq_gate.expect_referential('t', ARRAY['region', 'country'], 'region', ARRAY['region', 'region']) $$, '42701', 'region is named twice in "ref_columns"', 'one column twice');
SELECT raises($$ SELECT dq_gate.expect_referential('t', ARRAY['region'], NULL, ARRAY['id']) $$, '22004', 'ref_table', 'no table');
SELECT raises($$ SELECT dq_gate.expect_referential('t', NULL, 'cust', ARRAY['id']) $$, '22004', 'columns', 'no columns');
SELECT raises($$ SELECT dq_gate.expect_referential('t', ARRAY['region'], 'region', ARRAY['country']) $$, '42804', 'region of gate public.t, of type integer, cannot be compared with column country of public.region, of type text', 'an integer does not refer to text');

SELECT raises($$ SELECT dq_gate.expect_referential('t', ARRAY['ts'], 'moments', ARRAY['at']) $$, '42804', 'ts of gate public.t, of type timestamp without time zone, cannot be compared with column at', 'a time without zone does not refer to one with, which would depend on the session');

-- what is gone at run time
SELECT dq_gate.drop_check('t', check_name) FROM dq_gate.checks_of('t') WHERE check_name IN ('small_big', 'big_numeric', 'text_varchar') \g /dev/null
SELECT dq_gate.expect_referential('t', ARRAY['region'], 'concept', ARRAY['id']) \g /dev/null
ALTER TABLE region RENAME country TO land;
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 5: 5 updated', 'a column of the other table that is gone, with action warn');
SELECT is((SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE status = 'error'), 'country_region_referential, strict', 'cannot be judged');
SELECT matches(message('country_region_referential'), 'could not be evaluated: column country .*public\.region', 'the message names it');
SELECT is(finding('region_referential'), 'passed 0 of 5, 2 null', 'the others are judged all the same');
DROP TABLE concept CASCADE;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 5: 5 quarantined', 'a table that is gone');
SELECT is(message('region_referential'), 'could not be evaluated: the table that it refers to is gone', 'is said');

-- a key to a partitioned table is one check, whichever partition the value is in
CREATE TABLE years (y int PRIMARY KEY) PARTITION BY RANGE (y);
CREATE TABLE years_1 PARTITION OF years FOR VALUES FROM (0) TO (10);
CREATE TABLE years_2 PARTITION OF years FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (y);
CREATE TABLE years_3 PARTITION OF years_2 FOR VALUES FROM (10) TO (20);
INSERT INTO years VALUES (1), (11);
CREATE TABLE events (id int PRIMARY KEY, y int REFERENCES years) PARTITION BY RANGE (id);
CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (0) TO (10);
CREATE TABLE events_s (id int, y int);
INSERT INTO events_s VALUES (1, 1), (2, 11);
SELECT is(outcome(dq_gate.publish('events_s', 'events')), 'published 2: 2 inserted', 'a key to a partitioned table');
SELECT is((SELECT string_agg(rule, '; ') FROM dq_gate.checks_of('events') WHERE check_type = 'referential'), 'y is in public.years (y)', 'is one check');
SELECT is((SELECT string_agg(rule, '; ') FROM dq_gate.checks_of('events_1') WHERE check_type = 'referential'), 'y is in public.years (y)', 'that partitions have as well');
INSERT INTO events_s VALUES (3, 21);
SELECT is(outcome(dq_gate.audit('events_s', 'events')) || ': ' || not_passed(), 'audited 3: events_y_fkey failed', 'which a value of no partition fails');

SELECT finish();
