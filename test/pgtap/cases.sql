-- things that went wrong for others who do this job, one case each: keys, columns, types, names
\ir include/helpers.sql
SELECT plan(72);

-- O01
CREATE TABLE orders (id int PRIMARY KEY, v text);
CREATE TABLE orders_staging (id int, v text);
INSERT INTO orders VALUES (1, 'old'), (5, 'keep');
INSERT INTO orders_staging VALUES (1, 'a'), (1, 'b'), (2, 'c');
SELECT is(outcome(dq_gate.publish('orders_staging', 'orders')), 'rejected 3: 3 quarantined', 'O01: the same key twice in a batch');
SELECT is(finding('key_unique'), 'failed 2 of 3', 'O01: two rows are involved');
SELECT matches(message('key_unique'), '1 duplicated value in 2 rows, 1 surplus', 'O01: one key, one row too many');
SELECT results_eq('TABLE orders ORDER BY id', $$ VALUES (1, 'old'), (5, 'keep') $$, 'O01: the target is as it was');
SELECT is((SELECT count(*) FROM dq_quarantine.orders WHERE run_id = last_run()), 3::bigint, 'O01: the batch is in quarantine');
DELETE FROM orders_staging WHERE v = 'b';
SELECT is(outcome(dq_gate.publish('orders_staging', 'orders')), 'published 2: 1 inserted, 1 updated', 'O01: with one of them it is published');

-- O02
CREATE TABLE facts (a text, b int, v int);
CREATE TABLE facts_staging (a text, b int, v int);
INSERT INTO facts_staging VALUES ('x', 1, 10), ('y', NULL, 20);
SELECT dq_gate.create_gate('facts', key => '{a,b}') \g /dev/null
SELECT is(outcome(dq_gate.publish('facts_staging', 'facts')), 'rejected 2: 2 quarantined', 'O02: a NULL inside a composite key');
SELECT is(finding('b_not_null'), 'failed 1 of 2, 1 null', 'O02: is found by the check of that column');
SELECT is(finding('a_not_null'), 'passed 0 of 2', 'O02: and not by that of the other');
SELECT is(outcome(dq_gate.publish('facts_staging', 'facts')), 'rejected 2: 2 quarantined', 'O02: the next time as well');
SELECT is_empty('TABLE facts', 'O02: and no row gets in');
SELECT is((SELECT count(*) FROM dq_quarantine.facts), 4::bigint, 'O02: each run keeps its two rows');

-- O03
CREATE TABLE d (id int PRIMARY KEY, k text UNIQUE);
CREATE TABLE d_staging (id int, k text);
INSERT INTO d_staging SELECT place, k FROM unnest(ARRAY['a', 'a', 'b', 'b', 'b', 'c', NULL, NULL]) WITH ORDINALITY u (k, place);
SELECT is(outcome(dq_gate.publish('d_staging', 'd')), 'rejected 8: 8 quarantined', 'O03: duplicates');
SELECT is(finding('d_k_key'), 'failed 5 of 8, 2 null', 'O03: the rows involved are counted, and the NULLs apart');
SELECT matches(message('d_k_key'), '2 duplicated values in 5 rows, 3 surplus', 'O03: the message has all three numbers');
SELECT matches((SELECT f FROM dq_gate.runs, unnest(failures) f WHERE run_id = last_run()), '2 duplicated values in 5 rows, 3 surplus', 'O03: the same as the run');
SELECT is((SELECT count(*) FROM dq_quarantine.d WHERE failed_checks = '{d_k_key}'), 5::bigint, 'O03: and as many rows in quarantine say so');
ALTER TABLE d DROP CONSTRAINT d_k_key, ADD CONSTRAINT d_k_key UNIQUE NULLS NOT DISTINCT (k);
SELECT dq_gate.publish('d_staging', 'd') \g /dev/null
SELECT matches(message('d_k_key'), '3 duplicated values in 7 rows, 4 surplus', 'O03: where NULLs are not distinct they count');
SELECT is(finding('d_k_key'), 'failed 7 of 8, 2 null', 'O03: in the result as well');

-- O05
CREATE TABLE q (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text, n int, n2 int GENERATED ALWAYS AS (n * 2) STORED);
INSERT INTO q (body, n) VALUES ('old', 1);
CREATE TABLE q_staging (id int, body text, n int, n2 int);
INSERT INTO q_staging VALUES (1, 'upd', 5, 999), (7, 'new', 6, 999);
SELECT is(outcome(dq_gate.publish('q_staging', 'q')), 'published 2: 1 inserted, 1 updated', 'O05: a key that is GENERATED ALWAYS AS IDENTITY');
SELECT results_eq('TABLE q ORDER BY id', $$ VALUES (1, 'upd', 5, 10), (7, 'new', 6, 12) $$, 'O05: keys are kept, generated values computed');
SELECT matches(message('schema_contract'), 'ignored: n2.*sequence is not advanced: id', 'O05: and the run says what was ignored, and that the sequence lags');
ALTER TABLE q_staging DROP n2;
SELECT is(outcome(dq_gate.publish('q_staging', 'q')), 'published 2: 2 unchanged', 'O05: and so where the generated column is not staged');

-- O06
CREATE TABLE c (id int PRIMARY KEY, first text, last text, qty int, price int);
CREATE TABLE c_staging (last text, price int, id int, qty int, first text);
INSERT INTO c_staging VALUES ('Doe', 100, 1, 2, 'Ann');
SELECT is(outcome(dq_gate.publish('c_staging', 'c')), 'published 1: 1 inserted', 'O06: the same columns in another order');
SELECT results_eq('TABLE c', $$ VALUES (1, 'Ann', 'Doe', 2, 100) $$, 'O06: each value is in its column');
SELECT is(message('schema_contract'), NULL, 'O06: and there is nothing to say about it');
SELECT dq_gate.expect_range('c', 'qty', min => 10) \g /dev/null
SELECT is(outcome(dq_gate.publish('c_staging', 'c')), 'rejected 1: 1 quarantined', 'O06: a rejected batch');
SELECT results_eq('SELECT first, qty, price FROM dq_quarantine.c', $$ VALUES ('Ann', 2, 100) $$, 'O06: is kept by name as well');

-- O07
CREATE TABLE pr (id int PRIMARY KEY, price numeric(10,2));
CREATE TABLE pr_staging (id int, price numeric(12,4));
INSERT INTO pr_staging VALUES (1, 1.2345), (2, 1.2000);
SELECT is(outcome(dq_gate.publish('pr_staging', 'pr')), 'rejected 2: 2 quarantined', 'O07: a scale that would be lost');
SELECT is(finding('price_type_fit'), 'failed 1 of 2', 'O07: for one row, since zeros are no loss');
SELECT matches(message('price_type_fit'), 'numeric\(12,4\) to numeric\(10,2\)', 'O07: with both types in full');
SELECT results_eq('SELECT price FROM dq_quarantine.pr ORDER BY id', 'VALUES (1.2345), (1.2000)', 'O07: and every digit in quarantine');
CREATE TABLE wider (id int PRIMARY KEY, price numeric(12,4));
CREATE TABLE wider_staging (id int, price numeric(10,2));
INSERT INTO wider_staging VALUES (1, 1.25);
SELECT is(outcome(dq_gate.publish('wider_staging', 'wider')), 'published 1: 1 inserted', 'O07: the other way round nothing is lost');
CREATE TABLE blanks (id int PRIMARY KEY, v varchar(3));
CREATE TABLE blanks_staging (id int, v text);
INSERT INTO blanks_staging VALUES (1, 'abc   ');
SELECT is(outcome(dq_gate.publish('blanks_staging', 'blanks')), 'rejected 1: 1 quarantined', 'O07: blanks that would be cut in silence');

-- O08
CREATE TABLE cu (id int PRIMARY KEY, name text, region text);
CREATE TABLE cu_staging (id int, name text, note text);
INSERT INTO cu VALUES (1, 'a', 'EU');
INSERT INTO cu_staging VALUES (1, 'b', 'n1'), (2, 'c', 'n2');
SELECT is(outcome(dq_gate.publish('cu_staging', 'cu')), 'rejected 2: 2 quarantined', 'O08: a column too many and one missing');
SELECT matches(message('schema_contract'), 'target lacks: note.*not staged.*region', 'O08: are both named');
ALTER TABLE cu_staging DROP note;
SELECT is(outcome(dq_gate.publish('cu_staging', 'cu')), 'published 2: 1 inserted, 1 updated', 'O08: one that is only missing');
SELECT results_eq('TABLE cu ORDER BY id', $$ VALUES (1, 'b', 'EU'), (2, 'c', NULL) $$, 'O08: is not overwritten by NULL');
DELETE FROM cu WHERE region IS NULL;
ALTER TABLE cu ALTER region SET NOT NULL;
SELECT is(outcome(dq_gate.publish('cu_staging', 'cu')), 'rejected 2: 2 quarantined', 'O08: where it is NOT NULL without a default');
SELECT matches(message('schema_contract'), 'required columns that are not staged: region', 'O08: it is named before MERGE trips over it');

-- O09
CREATE SCHEMA "Sales";
CREATE TABLE "Sales"."Order Items" ("Id" int PRIMARY KEY, "select" text, "a""b" int, "café" text NOT NULL);
CREATE TABLE "Sales"."Order Items stg" ("Id" int, "select" text, "a""b" int, "café" text);
INSERT INTO "Sales"."Order Items stg" VALUES (1, 'x', 3, 'y'), (2, 'x', -3, NULL);
SELECT is(dq_gate.expect_range('"Sales"."Order Items"', 'a"b', min => 0), 'a"b_range', 'O09: a check on a column with a quote in its name');
SELECT dq_gate.expect_sql('"Sales"."Order Items"', 'only x', '"select" = ''x''') \g /dev/null
SELECT is(outcome(dq_gate.publish('"Sales"."Order Items stg"', '"Sales"."Order Items"')), 'rejected 2: 2 quarantined', 'O09: mixed case, reserved words, quotes');
SELECT is(finding('key_unique') || '; ' || finding('a"b_range') || '; ' || finding('café_not_null') || '; ' || finding('only x'),
	'passed 0 of 2; failed 1 of 2; failed 1 of 2, 1 null; passed 0 of 2', 'O09: every check runs');
UPDATE "Sales"."Order Items stg" SET "a""b" = 3, "café" = 'z' WHERE "Id" = 2;
SELECT is(outcome(dq_gate.publish('"Sales"."Order Items stg"', '"Sales"."Order Items"')), 'published 2: 2 inserted', 'O09: and without faults the batch is published');
SELECT throws_ok($$ SELECT dq_gate.publish('Sales.Order Items stg', '"Sales"."Order Items"') $$, NULL, NULL, 'O09: without quotes it is no table');

-- O10
DO $$ BEGIN
	EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, v int)', repeat('t', 60) || 'aaa');
	EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, v int)', repeat('t', 60) || 'bbb');
END $$;
CREATE TABLE s_a (id int, v int);
CREATE TABLE s_b (id int, v int);
INSERT INTO s_a VALUES (1, -1);
INSERT INTO s_b VALUES (2, -2);
SELECT dq_gate.expect_range(repeat('t', 60) || 'aaa', 'v', min => 0), dq_gate.expect_range(repeat('t', 60) || 'bbb', 'v', min => 0) \g /dev/null
SELECT is(outcome(dq_gate.publish('s_a', repeat('t', 60) || 'aaa')), 'rejected 1: 1 quarantined', 'O10: two names that share their first 60 bytes');
SELECT is(outcome(dq_gate.publish('s_b', repeat('t', 60) || 'bbb')), 'rejected 1: 1 quarantined', 'O10: are two gates');
SELECT is((SELECT count(DISTINCT quarantine) FROM dq_gate.quarantines WHERE target::text LIKE 'ttt%'), 2::bigint, 'O10: with two quarantines');
SELECT quarantine AS a FROM dq_gate.quarantines WHERE target::text LIKE 'ttt%aaa' \gset
SELECT results_eq('SELECT id FROM ' || :'a', 'VALUES (1)', 'O10: each with its own rows');

-- O11
CREATE SCHEMA a;
CREATE SCHEMA b;
CREATE TABLE a.o (id int PRIMARY KEY, v int);
CREATE TABLE a.o_s (id int, v int);
CREATE TABLE b.o (id int PRIMARY KEY, v text CHECK (v = 'bad'), extra text);
CREATE TABLE b.o_s (id int, v text, extra text);
INSERT INTO a.o_s VALUES (1, 1);
INSERT INTO b.o_s VALUES (1, 'bad', NULL);
SELECT dq_gate.expect_range('a.o', 'v', max => 5) \g /dev/null
SET search_path = b, a, public;
SELECT is(outcome(dq_gate.publish('a.o_s', 'a.o')), 'published 1: 1 inserted', 'O11: a table, while another of that name is first in the path');
SELECT is(message('schema_contract'), NULL, 'O11: has its own columns');
SELECT is_empty('SELECT 1 FROM b.o', 'O11: the other is not touched');
SELECT is(outcome(dq_gate.publish('o_s', 'o')), 'published 1: 1 inserted', 'O11: without a schema the path decides');
SELECT is((SELECT gate FROM dq_gate.runs WHERE run_id = last_run()), 'b.o', 'O11: and the run says how');
SELECT is_empty('SELECT 1 FROM dq_gate.results_of(last_run()) WHERE check_type = ''range''', 'O11: without the checks of the first');
SET search_path = a, b, public;
SELECT is(outcome(dq_gate.publish('o_s', 'o')), 'published 1: 1 unchanged', 'O11: under another path it is the other');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_type = 'range'), 'passed', 'O11: with its checks');
RESET search_path;

-- O13
CREATE TABLE cust (id int UNIQUE);
CREATE TABLE o (id int PRIMARY KEY, cust_id int REFERENCES cust (id));
CREATE TABLE o_staging (id int, cust_id int);
INSERT INTO cust VALUES (1), (NULL);
INSERT INTO o_staging VALUES (10, 1), (11, 2), (12, NULL);
SELECT is(outcome(dq_gate.publish('o_staging', 'o')), 'rejected 3: 3 quarantined', 'O13: an orphan, while a parent is NULL');
SELECT is(finding('o_cust_id_fkey'), 'failed 1 of 3, 1 null', 'O13: is one, and a child that is NULL is none');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'o_cust_id_fkey'), '[{"id": 11, "cust_id": 2}]', 'O13: and is shown');
DELETE FROM o_staging WHERE id = 11;
SELECT is(outcome(dq_gate.publish('o_staging', 'o')), 'published 2: 2 inserted', 'O13: without it the batch is published');

-- O17
CREATE TABLE j (id int PRIMARY KEY, doc json, pt point);
CREATE TABLE j_staging (LIKE j);
INSERT INTO j VALUES (1, '{"a":1}', '(1,2)');
INSERT INTO j_staging VALUES (1, '{ "b":1, "a":2}', '(1,3)'), (2, '{}', NULL);
SELECT is(outcome(dq_gate.publish('j_staging', 'j')), 'published 2: 1 inserted, 1 updated', 'O17: types without an equality operator');
SELECT results_eq('SELECT doc::text FROM j ORDER BY id', $$ VALUES ('{ "b":1, "a":2}'), ('{}') $$, 'O17: json is kept letter by letter');
SELECT is(outcome(dq_gate.publish('j_staging', 'j')), 'published 2: 2 unchanged', 'O17: and known not to change');
SELECT dq_gate.expect_sql('j', 'first', 'id = 1', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('j_staging', 'j')), 'published 2: 1 unchanged, 1 quarantined', 'O17: and put in quarantine');
SELECT results_eq('SELECT doc::text FROM dq_quarantine.j', $$ VALUES ('{}') $$, 'O17: as it was');
SELECT raises($$ SELECT dq_gate.alter_gate('j', key => '{doc}') $$, '42883', 'doc.*json', 'O17: but cannot be a key');

-- O18
CREATE TYPE st AS ENUM ('new', 'done');
CREATE TABLE en (id int PRIMARY KEY, s st);
CREATE TABLE en_staging (id int, s st);
INSERT INTO en_staging VALUES (1, 'new'), (2, 'done');
SELECT dq_gate.expect_sql('en', 'accepted', 's IN (''new'')') \g /dev/null
SELECT is(outcome(dq_gate.publish('en_staging', 'en')), 'rejected 2: 2 quarantined', 'O18: an enum compared with text');
SELECT is(finding('accepted'), 'failed 1 of 2', 'O18: is compared');
SELECT raises($$ SELECT dq_gate.expect_sql('en', 'void', 's IN (''new'', ''void'')') $$, '22P02', 'void', 'O18: a label that the enum lacks is refused when it is declared');
ALTER TABLE en_staging ALTER s TYPE text;
UPDATE en_staging SET s = CASE id WHEN 1 THEN 'new' ELSE 'void' END;
SELECT dq_gate.drop_check('en', 'accepted') \g /dev/null
SELECT is(outcome(dq_gate.publish('en_staging', 'en')), 'rejected 2: 2 quarantined', 'O18: text that the enum lacks');
SELECT matches(message('s_type_fit'), '1 of 2 rows: s does not fit: text to public.st', 'O18: is reported as a value that does not fit');

SELECT finish();
