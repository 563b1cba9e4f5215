-- kinds of relations and of columns
\ir include/helpers.sql
SELECT plan(47);

-- a partitioned target
CREATE TABLE ev (ts timestamptz, id int, v int, PRIMARY KEY (ts, id)) PARTITION BY RANGE (ts);
CREATE TABLE ev1 PARTITION OF ev FOR VALUES FROM ('2026-01-01 00:00+00') TO ('2026-02-01 00:00+00');
CREATE TABLE ev2 (v int, id int NOT NULL, gone int, ts timestamptz NOT NULL);
ALTER TABLE ev2 DROP gone;
ALTER TABLE ev ATTACH PARTITION ev2 FOR VALUES FROM ('2026-02-01 00:00+00') TO ('2026-03-01 00:00+00');
CREATE TABLE ev_s (ts timestamptz, id int, v int);
INSERT INTO ev_s VALUES ('2026-01-05 00:00+00', 1, 1), ('2026-02-05 00:00+00', 2, 2), ('2026-02-06 00:00+00', 3, 3);
SELECT is(outcome(dq_gate.publish('ev_s', 'ev')), 'published 3: 3 inserted', 'a partitioned target');
SELECT results_eq('SELECT tableoid::regclass::text, id, v FROM ev ORDER BY id', $$ VALUES ('ev1', 1, 1), ('ev2', 2, 2), ('ev2', 3, 3) $$, 'gets each row in its partition');
UPDATE ev_s SET v = 7 WHERE id = 2;
SELECT is(outcome(dq_gate.publish('ev_s', 'ev')), 'published 3: 1 updated, 2 unchanged', 'and is updated there');
INSERT INTO ev_s VALUES ('2026-05-01 00:00+00', 4, 4);
SELECT raises($$ SELECT dq_gate.publish('ev1', 'ev') $$, '22023', 'parts of each other', 'a partition of the target is no staging for it');
SELECT raises($$ SELECT dq_gate.publish('ev', 'ev1') $$, '22023', 'parts of each other', 'nor the other way round');
DELETE FROM ev_s WHERE id = 4;
DELETE FROM ev_s WHERE ts < '2026-02-01 00:00+00';
SELECT is(outcome(dq_gate.publish('ev_s', 'ev2')), 'published 2: 2 unchanged', 'a partition can be a target of its own');

-- a key without the partition column: rows move between partitions
CREATE TABLE moving (id int, region text, v int) PARTITION BY LIST (region);
CREATE TABLE moving_a PARTITION OF moving FOR VALUES IN ('a');
CREATE TABLE moving_b PARTITION OF moving FOR VALUES IN ('b');
CREATE TABLE moving_s (id int, region text, v int);
INSERT INTO moving VALUES (1, 'a', 1), (2, 'a', 2);
INSERT INTO moving_s VALUES (1, 'b', 1), (2, 'a', 2), (3, 'b', 3);
SELECT dq_gate.create_gate('moving', key => '{id}') \g /dev/null
SELECT is(outcome(dq_gate.publish('moving_s', 'moving')), 'published 3: 1 inserted, 1 updated, 1 unchanged', 'a row that moves to another partition is updated');
SELECT results_eq('SELECT tableoid::regclass::text, id FROM moving ORDER BY id', $$ VALUES ('moving_b', 1), ('moving_a', 2), ('moving_b', 3) $$, 'and is there');
SELECT is((SELECT count(*) FROM moving), 3::bigint, 'once');

-- partitioned staging, with children of other column orders
CREATE TABLE plain (id int PRIMARY KEY, v int);
CREATE TABLE parts (v int, id int) PARTITION BY HASH (id);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 (id int, v int);
ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts (id, v) SELECT g, g * 10 FROM generate_series(1, 20) g;
SELECT is(outcome(dq_gate.publish('parts', 'plain')), 'published 20: 20 inserted', 'partitioned staging');
SELECT is((SELECT count(*) FROM plain WHERE v = id * 10), 20::bigint, 'with each value in its column');

-- inheritance
CREATE TABLE child_s (more int) INHERITS (moving_s);
INSERT INTO child_s VALUES (4, 'a', 4, 0);
SELECT is(outcome(dq_gate.publish('moving_s', 'moving')), 'published 4: 1 inserted, 3 unchanged', 'staging with children is all of their rows');
CREATE TABLE old (id int PRIMARY KEY, v int);
CREATE TABLE older () INHERITS (old);
CREATE TABLE old_s (id int, v int);
INSERT INTO old VALUES (1, 1);
INSERT INTO older VALUES (2, 2);
INSERT INTO old_s VALUES (1, 10), (2, 20), (3, 30);
SELECT is(outcome(dq_gate.publish('old_s', 'old')), 'published 3: 1 inserted, 2 updated', 'a target with children');
SELECT results_eq('SELECT tableoid::regclass::text, id, v FROM old ORDER BY id', $$ VALUES ('old', 1, 10), ('older', 2, 20), ('old', 3, 30) $$, 'is updated where the row is');
INSERT INTO older VALUES (1, 99);
UPDATE old_s SET v = 0 WHERE id = 1;
SELECT is((dq_gate.publish('old_s', 'old')).verdict, 'rejected', 'a key that is twice in parent and child');
SELECT is(not_passed(), 'key_unique_in_target failed', 'is found, although an index of each is unique');
SELECT results_eq('SELECT v FROM old WHERE id = 1 ORDER BY v', 'VALUES (10), (99)', 'and neither row is changed');

-- temporary staging, of which nobody else knows
CREATE TEMP TABLE temp_s (id int, v int);
INSERT INTO temp_s VALUES (1, 10), (100, 1000);
SELECT is(outcome(dq_gate.publish('temp_s', 'plain')), 'published 2: 1 inserted, 1 unchanged', 'temporary staging');
SELECT is((SELECT staging FROM dq_gate.runs WHERE run_id = last_run()) ~ '^pg_temp', true, 'which the log names as such');
INSERT INTO temp_s VALUES (NULL, 0);
SELECT is(outcome(dq_gate.publish('temp_s', 'plain')), 'rejected 3: 3 quarantined', 'and keeps where others see it');
SELECT is((SELECT count(*) FROM dq_quarantine.plain), 3::bigint, 'in quarantine');
BEGIN;
CREATE TEMP TABLE one_s (id int, v int) ON COMMIT DROP;
INSERT INTO one_s VALUES (5, 55);
SELECT is(outcome(dq_gate.publish('one_s', 'plain')), 'published 1: 1 updated', 'staging that goes at commit');
COMMIT;
CREATE TEMP TABLE temp_t (id int PRIMARY KEY, v int);
SELECT is(outcome(dq_gate.publish('parts', 'temp_t')), 'published 20: 20 inserted', 'a temporary target');
CREATE UNLOGGED TABLE fast_s (id int, v int);
INSERT INTO fast_s VALUES (1, 1);
SELECT is((dq_gate.publish('fast_s', 'plain')).verdict, 'published', 'unlogged staging');

-- a hundred columns
SELECT 'CREATE TABLE wide (' || string_agg(format('c%s int %s', n, CASE WHEN n = 1 THEN 'PRIMARY KEY' ELSE 'NOT NULL CHECK (c' || n || ' > 0)' END), ', ' ORDER BY n) || ')' FROM generate_series(1, 100) n \gexec
SELECT 'CREATE TABLE wide_s (' || string_agg(format('c%s int', n), ', ' ORDER BY n DESC) || ')' FROM generate_series(1, 100) n \gexec
SELECT 'INSERT INTO wide_s SELECT ' || string_agg(CASE WHEN n = 1 THEN 'g' ELSE n::text END, ', ' ORDER BY n DESC) || ' FROM generate_series(1, 3) g' FROM generate_series(1, 100) n \gexec
SELECT is(outcome(dq_gate.publish('wide_s', 'wide')), 'published 3: 3 inserted', 'a hundred columns with two hundred checks');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE status = 'passed'), 202::bigint, 'which are all judged');
SELECT is((SELECT (c2, c50, c100)::text FROM wide WHERE c1 = 3), '(2,50,100)', 'and each value is in its column');
UPDATE wide_s SET c100 = NULL WHERE c1 = 1;
UPDATE wide_s SET c99 = -1, c98 = -1 WHERE c1 <> 3;
SELECT is(outcome(dq_gate.publish('wide_s', 'wide')), 'rejected 3: 3 quarantined', 'and some that fail');
SELECT is(not_passed(), 'c100_not_null failed, wide_c98_check failed, wide_c99_check failed', 'are the ones that should');
SELECT results_eq('SELECT c1, failed_checks FROM dq_quarantine.wide ORDER BY c1',
	$$ VALUES (1, '{c100_not_null,wide_c98_check,wide_c99_check}'::text[]), (2, '{wide_c98_check,wide_c99_check}'), (3, '{}') $$, 'for each row');
SELECT dq_gate.expect_sql('wide', 'rule' || n, format('c%s IS DISTINCT FROM %s', n % 100 + 1, -n)) FROM generate_series(1, 600) n \g /dev/null
UPDATE wide_s SET c100 = 1, c99 = 1, c98 = 1;
SELECT is(outcome(dq_gate.publish('wide_s', 'wide')), 'published 3: 3 updated', 'eight hundred checks are more than one statement takes');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE check_name LIKE 'rule%' AND status = 'passed' AND examined_rows = 3), 600::bigint, 'and all are judged on all rows');

-- a composite key with all sorts of types
CREATE DOMAIN code AS varchar(5) CHECK (VALUE = upper(VALUE));
CREATE TYPE side AS ENUM ('buy', 'sell');
CREATE TABLE mixed (a int, b text, c date, d code, e side, f uuid, g int[], h jsonb, i numeric(5,2), j bytea, k int4range, l inet, v int, PRIMARY KEY (a, b, c, d, e, f, g, h, i, j, k, l));
CREATE TABLE mixed_s (LIKE mixed);
INSERT INTO mixed_s SELECT g, 'b', '2020-01-01', 'ABC', 'buy', '00000000-0000-0000-0000-000000000001', ARRAY[g], '{"a": 1}', 1.50, '\x00', '[1,3)', '10.0.0.1', g FROM generate_series(1, 3) g;
SELECT is(outcome(dq_gate.publish('mixed_s', 'mixed')), 'published 3: 3 inserted', 'a key of twelve columns of as many types');
UPDATE mixed_s SET v = -1 WHERE a = 2;
SELECT dq_gate.expect_range('mixed', 'v', min => 0, action => 'quarantine') \g /dev/null
UPDATE mixed_s SET v = 9 WHERE a = 3;
SELECT is(outcome(dq_gate.publish('mixed_s', 'mixed')), 'published 3: 1 updated, 1 unchanged, 1 quarantined', 'finds its rows again');
UPDATE mixed_s SET g = ARRAY[1], a = 1, v = 1 WHERE a = 3;
SELECT is(outcome(dq_gate.publish('mixed_s', 'mixed')), 'rejected 3: 3 quarantined', 'and its duplicates');
SELECT is(not_passed(), 'key_unique failed, v_range failed', 'as one');
ALTER TABLE mixed_s ALTER h DROP NOT NULL;
UPDATE mixed_s SET h = NULL WHERE a = 2;
SELECT dq_gate.publish('mixed_s', 'mixed') \g /dev/null
SELECT is(not_passed(), 'h_not_null failed, key_unique failed, v_range failed', 'and a NULL in any part of it');

-- columns of all sorts of types, changed and not
CREATE TABLE sorts (id int PRIMARY KEY, a int[], j jsonb, e side, d code, r tstzrange, b bytea, x xml, t tsvector, bx box, m money, mr int4multirange);
CREATE TABLE sorts_s (LIKE sorts);
INSERT INTO sorts_s VALUES (1, '{1,NULL}', '{"a":1}', 'buy', 'X', '[2020-01-01,)', '\x01', '<a/>', 'b a', '(1,1),(0,0)', '1.50', '{[1,2)}'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT is(outcome(dq_gate.publish('sorts_s', 'sorts')), 'published 2: 2 inserted', 'columns of many types');
SELECT is(outcome(dq_gate.publish('sorts_s', 'sorts')), 'published 2: 2 unchanged', 'that do not change');
UPDATE sorts_s SET x = '<b/>' WHERE id = 1;
UPDATE sorts_s SET bx = '(2,2),(0,0)' WHERE id = 2;
SELECT is(outcome(dq_gate.publish('sorts_s', 'sorts')), 'published 2: 2 updated', 'and that do');
SELECT is((SELECT count(*) FROM sorts JOIN sorts_s USING (id) WHERE sorts::text = sorts_s::text), 2::bigint, 'are what was staged');
SELECT dq_gate.expect_range('sorts', 'a', min => '{1}', action => 'quarantine', name => 'arrays') \g /dev/null
SELECT dq_gate.expect_range('sorts', 'e', max => 'buy', action => 'quarantine', name => 'enums') \g /dev/null
SELECT dq_gate.expect_range('sorts', 'd', min => 'B', action => 'quarantine', name => 'domains') \g /dev/null
SELECT dq_gate.expect_range('sorts', 'r', min => '[2000-01-01,)', action => 'quarantine', name => 'ranges') \g /dev/null
UPDATE sorts_s SET a = '{0}', e = 'sell', d = 'A', r = '[1999-01-01,)' WHERE id = 2;
SELECT is(outcome(dq_gate.publish('sorts_s', 'sorts')), 'published 2: 1 unchanged, 1 quarantined', 'a range on whatever has an order');
SELECT is((SELECT failed_checks FROM dq_quarantine.sorts), '{arrays,domains,enums,ranges}'::text[], 'judges by that order');

-- bounds of a range
CREATE TABLE bounds (id int PRIMARY KEY, n numeric, f float8, d date, ts timestamptz, b bigint, s smallint, c text);
CREATE TABLE bounds_s (LIKE bounds);
SELECT dq_gate.expect_range('bounds', 'n', min => 0.5, max => 10) \g /dev/null
SELECT dq_gate.expect_range('bounds', 'f', min => 0, max => 1e2) \g /dev/null
SELECT dq_gate.expect_range('bounds', 'd', min => date '2013-01-01', max => '2013-12-31') \g /dev/null
SELECT dq_gate.expect_range('bounds', 'ts', max => timestamptz '2013-12-31 23:59:59+00') \g /dev/null
SELECT dq_gate.expect_range('bounds', 'b', min => -9223372036854775808, max => 9223372036854775807) \g /dev/null
SELECT dq_gate.expect_range('bounds', 's', max => 7::bigint) \g /dev/null
SELECT dq_gate.expect_range('bounds', 'c', min => 'b'::text, max => 'd') \g /dev/null
INSERT INTO bounds_s VALUES (1, 0.5, 0, '2013-01-01', '2013-12-31 23:59:59+00', 9223372036854775807, 7, 'b'), (2, 10, 100, '2013-12-31', '-infinity', -9223372036854775808, -32768, 'd');
SELECT is(outcome(dq_gate.publish('bounds_s', 'bounds')), 'published 2: 2 inserted', 'bounds are included');
SET TimeZone = 'Asia/Tokyo';
SELECT is(outcome(dq_gate.publish('bounds_s', 'bounds')), 'published 2: 2 unchanged', 'and mean the same in another time zone');
RESET TimeZone;
UPDATE bounds_s SET n = 0.4999, f = -1e-9, d = '2012-12-31', ts = '2014-01-01 00:00+00', s = 8, c = 'a' WHERE id = 1;
UPDATE bounds_s SET n = 10.0001, f = 100.0001, d = '2014-01-01', ts = 'infinity', c = 'e' WHERE id = 2;
SELECT is(outcome(dq_gate.publish('bounds_s', 'bounds')), 'rejected 2: 2 quarantined', 'and what is beyond is not');
SELECT results_eq($$ SELECT check_name, failing_rows FROM dq_gate.results_of(last_run()) WHERE check_type = 'range' ORDER BY 1 $$,
	$$ VALUES ('b_range', 0::bigint), ('c_range', 2), ('d_range', 2), ('f_range', 2), ('n_range', 2), ('s_range', 1), ('ts_range', 2) $$, 'on either side');

SELECT finish();
