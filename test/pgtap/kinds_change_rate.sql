-- expect_change_rate: how much of the target a batch may change or delete, and max_delete_rate of a gate
\ir include/helpers.sql
SELECT plan(78);

CREATE TABLE t (id int PRIMARY KEY, v int, n numeric);
CREATE TABLE s (id int, v int, n numeric);
CREATE FUNCTION fill(changed int, missing int, added int DEFAULT 0, of int DEFAULT 100) RETURNS void LANGUAGE sql AS $$
	TRUNCATE t, s;
	INSERT INTO t SELECT i, i, i FROM generate_series(1, of) i;
	INSERT INTO s SELECT i, CASE WHEN i <= missing + changed THEN -i ELSE i END, i FROM generate_series(missing + 1, of + added) i;
$$;
CREATE FUNCTION gate(VARIADIC settings text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dq_gate.drop_gate('t') FROM dq_gate.gates WHERE target = 't'::regclass;
	EXECUTE format('SELECT dq_gate.create_gate(''t'', %s), dq_gate.expect_volume(''t'', action => ''declare'')', array_to_string(settings, ', '));
END
$$;
-- audited, as "failed 0.3 would update ..."
CREATE FUNCTION judged(name text DEFAULT 'change_rate') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dq_gate.audit('s', 't');
	RETURN (SELECT concat_ws(' ', status, measured, message) FROM dq_gate.results_of(last_run()) WHERE check_name = name);
END
$$;

-- merge: what would be updated
SELECT gate($$mode => 'merge'$$), fill(30, 0, 5) \g /dev/null
SELECT is(dq_gate.expect_change_rate('t', 0.3), 'change_rate', 'it has the name of its kind');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'change_rate'),
	'(change_rate,{},"at most 30% updated or deleted of the rows of the target",block,,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 105: 5 inserted, 30 updated, 70 unchanged', 'as much as is allowed, new rows besides');
SELECT is((SELECT ROW(status, expected_value, actual_value, threshold, measured, examined_rows, failing_rows, sample IS NULL, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'change_rate'),
	'(passed,"at most 30% updated or deleted of the rows of the target","0.3: to update 30 and delete 0 of 100 rows","at most 30% updated or deleted",0.3,105,,f,)', 'the result of a pass');
SELECT fill(31, 0, 5) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 105: 105 quarantined', 'one row more');
SELECT is(message('change_rate'), 'would update 31 and delete 0 of 100 rows: 31% updated or deleted, at most 30%', 'is said, with the numbers');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), '{"change_rate: would update 31 and delete 0 of 100 rows: 31% updated or deleted, at most 30%"}', 'by the run as well');
SELECT results_eq($$ SELECT k, jsonb_array_length(v), bool_and(e ->> 'id' IN (SELECT (id * 1)::text FROM s WHERE v < 0)) FROM dq_gate.results_of(last_run()), jsonb_each(sample) x (k, v), jsonb_array_elements(v) e WHERE check_name = 'change_rate' GROUP BY 1, 2 $$,
	$$ VALUES ('updated', 5, true) $$, 'with the keys of some rows');
SELECT results_eq('SELECT DISTINCT failed_checks FROM dq_quarantine.t', $$ VALUES ('{}'::text[]) $$, 'no row in particular is to blame');
SELECT is((SELECT sum(v) FROM t), 5050::bigint, 'and the target is as it was');

-- the three limits
SELECT gate($$mode => 'sync'$$), fill(20, 10), dq_gate.expect_change_rate('t', 0.29, name => 'both', action => 'warn'), dq_gate.expect_change_rate('t', max_update_rate => 0.2, name => 'update'), dq_gate.expect_change_rate('t', max_delete_rate => 0.1, name => 'delete'),
	dq_gate.expect_change_rate('t', 0.3, 0.19, 0.09, name => 'all', action => 'warn') \g /dev/null
SELECT is(judged('both'), 'failed 0.3 would update 20 and delete 10 of 100 rows: 30% updated or deleted, at most 29%', 'what is updated and what is deleted');
SELECT is(judged('update'), 'passed 0.2', 'what is updated');
SELECT is(judged('delete'), 'passed 0.1', 'what is deleted');
SELECT is(judged('all'), 'failed 0.3 would update 20 and delete 10 of 100 rows: 30% updated or deleted, at most 30%; 20% updated, at most 19%; 10% deleted, at most 9%', 'all of them: each has to hold');
SELECT is((SELECT string_agg(check_name || ' ' || actual_value, '; ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'change_rate'),
	'all 0.3: to update 20 and delete 10 of 100 rows; both 0.3: to update 20 and delete 10 of 100 rows; delete 0.1: to delete 10 of 100 rows; update 0.2: to update 20 of 100 rows', 'what was found');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'delete') @> '{"deleted": []}' AND NOT (SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'delete') ? 'updated', true, 'with a sample of what it is about');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 90: 20 updated, 70 unchanged, 10 deleted', 'and that is what happens');

-- the guard of a sync
SELECT gate($$mode => 'sync'$$, $$max_delete_rate => 0.25$$), fill(0, 25) \g /dev/null
SELECT is((SELECT ROW(check_type, rule, action, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'delete_rate'), '(change_rate,"at most 25% deleted of the rows of the target",block,"max_delete_rate of the gate")', 'max_delete_rate is a check of its own');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 75: 75 unchanged, 25 deleted', 'up to there rows are deleted');
SELECT fill(0, 26) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 74: 74 quarantined', 'a batch that is too short is not');
SELECT is(message('delete_rate'), 'would delete 26 of 100 rows: 26% deleted, at most 25%', 'and it is said why');
SELECT is((SELECT count(*) FROM t), 100::bigint, 'no row is gone');
SELECT dq_gate.expect_change_rate('t', max_delete_rate => 1, action => 'warn', name => 'weaker') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 74: 74 quarantined', 'a declared check does not take its place');
SELECT dq_gate.drop_check('t', 'weaker'), dq_gate.alter_gate('t', max_delete_rate => 0) \g /dev/null
SELECT is(judged('delete_rate'), 'failed 0.26 would delete 26 of 100 rows: 26% deleted, at most 0%', 'not one row');
SELECT dq_gate.alter_gate('t', max_delete_rate => 1) \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.checks_of('t') WHERE check_type = 'change_rate'), 0::bigint, 'at 1 there is no limit, and no check');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 74: 74 unchanged, 26 deleted', 'and rows go');
SELECT gate($$mode => 'sync'$$, $$max_delete_rate => 0.2$$, $$scope => 'id > 50'$$), fill(0, 0) \g /dev/null
DELETE FROM s WHERE id <= 60;
SELECT is(judged('delete_rate'), 'passed 0.2', 'the rate is one of the rows in scope');
DELETE FROM s WHERE id <= 61;
SELECT is(judged('delete_rate'), 'failed 0.22 would delete 11 of 50 rows: 22% deleted, at most 20%', 'of these alone');
DELETE FROM t WHERE id > 50;
SELECT is(judged('delete_rate'), 'passed 0', 'a scope without rows has none to lose');

-- rows that other checks move out change nothing, and a sync spares the rows of their keys
SELECT gate($$mode => 'sync'$$), fill(20, 10), dq_gate.expect_change_rate('t', 1), dq_gate.expect_sql('t', 'no odd ones', 'v % 2 = 0 OR v > 0', action => 'quarantine'), dq_gate.expect_range('t', 'v', min => -20, action => 'drop') \g /dev/null
SELECT is(judged(), 'passed 0.15', 'rows to quarantine and to drop do not count');
SELECT is((SELECT ROW(updated, deleted, quarantined + dropped)::text FROM dq_gate.publish('s', 't')), '(5,10,15)', 'and are not published');
SELECT gate($$mode => 'merge'$$), fill(20, 0), dq_gate.expect_change_rate('t', 1), dq_gate.expect_sql('t', 'few', 'v % 2 = 0 OR v > 0', action => 'quarantine', max_rows => 10) \g /dev/null
SELECT is(judged(), 'passed 0.2', 'rows that pass by a tolerance do count');
SELECT gate($$mode => 'merge'$$, $$enforce => false$$), dq_gate.expect_change_rate('t', 0.1), dq_gate.expect_sql('t', 'few', 'v % 2 = 0 OR v > 0', action => 'quarantine') \g /dev/null
SELECT is(judged(), 'failed 0.2 would update 20 and delete 0 of 100 rows: 20% updated or deleted, at most 10%', 'so they do where checks are not enforced');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 100: 20 updated, 80 unchanged', 'and the check blocks nothing then');
SELECT gate($$mode => 'merge'$$), fill(10, 0), dq_gate.expect_change_rate('t', 1), dq_gate.expect_unique('t', '{id}', action => 'quarantine') \g /dev/null
INSERT INTO s VALUES (1, 0, 0), (2, 0, 0), (NULL, 0, 0);
SELECT is(judged(), 'passed 0.08', 'nor do rows of a key that comes twice');
SELECT gate($$mode => 'merge'$$), dq_gate.expect_change_rate('t', 0.05, action => 'warn') \g /dev/null
SELECT is((SELECT string_agg(check_name || ' ' || status, ', ') FROM dq_gate.results_of((dq_gate.audit('s', 't')).run_id) WHERE status <> 'passed' AND check_name <> 'volume'), 'key_unique failed, id_not_null failed, change_rate failed', 'a batch that is rejected anyway is judged all the same');

-- modes
SELECT gate($$mode => 'append'$$), fill(10, 10), dq_gate.expect_change_rate('t', 0) \g /dev/null
SELECT is(judged(), 'passed 0', 'append changes nothing');
SELECT gate($$mode => 'insert_only'$$), dq_gate.expect_change_rate('t', 0, 0, 0) \g /dev/null
SELECT is(judged(), 'passed 0', 'nor does insert_only');
SELECT gate($$mode => 'replace'$$, $$scope => 'id > 80'$$), fill(0, 85), dq_gate.expect_change_rate('t', max_delete_rate => 0.1) \g /dev/null
SELECT is(judged(), 'failed 0.2 would delete 20 of 100 rows: 20% deleted, at most 10%', 'replace takes out all of its slice');
SELECT gate($$mode => 'replace'$$, $$replace_by => '{v}'$$), fill(0, 0), dq_gate.expect_change_rate('t', 0.1), dq_gate.expect_range('t', 'n', max => 4, action => 'quarantine') \g /dev/null
UPDATE t SET v = id % 10;
UPDATE s SET v = id % 10;
DELETE FROM s WHERE v > 4;
SELECT is(judged(), 'failed 0.4 would update 0 and delete 40 of 100 rows: 40% updated or deleted, at most 10%', 'slices of which a row is left');
SELECT gate($$only_if_newer => 'n'$$), fill(20, 0), dq_gate.expect_change_rate('t', 1) \g /dev/null
UPDATE t SET n = n + 1 WHERE id <= 5;
SELECT is(judged(), 'passed 0.15', 'what is stale changes nothing');
SELECT gate($$update_columns => '{n}'$$), dq_gate.expect_change_rate('t', 1) \g /dev/null
SELECT is(judged(), 'passed 0.05', 'nor do columns that are left alone');
SELECT gate($$keep_latest_by => 'n'$$), fill(20, 0), dq_gate.expect_change_rate('t', 1) \g /dev/null
INSERT INTO s SELECT id, -v, n - 1 FROM s WHERE v < 0;
SELECT is(judged(), 'passed 0.2', 'of several rows of a key the latest counts');

-- nothing to change, and nothing to change it with
SELECT gate($$mode => 'sync'$$, $$max_delete_rate => 0$$), fill(0, 0, 5, 0), dq_gate.expect_change_rate('t', 0) \g /dev/null
SELECT is(judged() || '; ' || judged('delete_rate'), 'passed 0; passed 0', 'an empty target has nothing to lose');
SELECT fill(0, 0) \g /dev/null
TRUNCATE s;
SELECT is(judged('delete_rate'), 'failed 1 would delete 100 of 100 rows: 100% deleted, at most 0%', 'an empty batch is judged');
SELECT fill(0, 0, 0, 1) \g /dev/null
UPDATE s SET v = 2;
SELECT is(judged(), 'failed 1 would update 1 and delete 0 of 1 row: 100% updated or deleted, at most 0%', 'one row');
SELECT gate($$mode => 'merge'$$), fill(1, 0, 0, 3), dq_gate.expect_change_rate('t', 0.33333333) \g /dev/null
SELECT is(judged(), 'failed 0.333333 would update 1 and delete 0 of 3 rows: 33.3333% updated or deleted, at most 33.333333%', 'what is compared is not rounded');
SELECT gate($$mode => 'merge'$$), fill(29, 0), dq_gate.expect_change_rate('t', 0.29) \g /dev/null
SELECT is(judged(), 'passed 0.29', '29 of 100 is 0.29');

-- values that do not fit raise nothing
CREATE TABLE text_s (id text, v text, n text);
INSERT INTO text_s VALUES ('1', '5', '1'), ('x', '1', '1'), ('2', '1e99', '2'), (NULL, '1', '1'), ('3', '3', 'abc');
SELECT gate($$mode => 'sync'$$), dq_gate.expect_change_rate('t', 0.2) \g /dev/null
SELECT matches((SELECT status || ' ' || message FROM dq_gate.results_of((dq_gate.audit('text_s', 't')).run_id) WHERE check_name = 'change_rate'), '^failed would update 1 and delete 97 of 100 rows', 'rows that do not fit change nothing');
ALTER TABLE text_s ALTER n TYPE bytea USING NULL;
SELECT matches((SELECT status || ' ' || message FROM dq_gate.results_of((dq_gate.audit('text_s', 't')).run_id) WHERE check_name = 'change_rate'), '^not_judged column n is staged with a type that cannot be converted, see the schema contract', 'a column that never fits');

-- actions, samples, history
SELECT gate($$mode => 'merge'$$), fill(30, 0), dq_gate.expect_change_rate('t', 0.1, action => 'skip') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'skipped', 'a run can be skipped');
SELECT dq_gate.drop_check('t', 'change_rate'), dq_gate.expect_change_rate('t', 0.1, action => 'declare') \g /dev/null
SELECT is(judged(), 'not_judged declared only, not evaluated', 'or the rule be declared alone');
SELECT raises(format('SELECT dq_gate.expect_change_rate(''t'', 0.1, action => %L, name => ''x'')', action), '22023', 'change_rate[^$]*' || action || '[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved: ' || action)
FROM unnest(ARRAY['quarantine', 'drop']) action;
SELECT dq_gate.drop_check('t', 'change_rate'), dq_gate.expect_change_rate('t', 0.1, action => 'warn', samples => false), dq_gate.expect_metric('t', 'change_rate', 'bounds', max => 0.2, name => 'by its number') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 100: 100 quarantined', 'a check can be about its number');
SELECT matches(message('by its number'), '0.3', 'which is the rate');
SELECT is((SELECT ROW(actual_value, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'change_rate'),
	'("0.3: to update 30 and delete 0 of 100 rows",,"would update 30 and delete 0 of 100 rows: 30% updated or deleted, at most 10%")', 'without samples it shows counts, and no keys');

-- odd names, keys of several columns, partitions
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab'le" ("a""b" int, "select" text, v int, PRIMARY KEY ("a""b", "select")) PARTITION BY LIST ("a""b");
CREATE TABLE "Odd Schema".p1 PARTITION OF "Odd Schema"."Tab'le" FOR VALUES IN (1);
CREATE TABLE "Odd Schema".p2 PARTITION OF "Odd Schema"."Tab'le" DEFAULT;
CREATE TABLE "Odd Schema"."St%s" (LIKE "Odd Schema"."Tab'le");
INSERT INTO "Odd Schema"."Tab'le" VALUES (1, 'x', 1), (1, 'y', 1), (2, 'x', 1), (2, 'y', 1);
INSERT INTO "Odd Schema"."St%s" VALUES (1, 'x', 2), (2, 'y', 1);
SELECT dq_gate.create_gate('"Odd Schema"."Tab''le"', mode => 'sync', max_delete_rate => 0.25), dq_gate.expect_change_rate('"Odd Schema"."Tab''le"', 0.5) \g /dev/null
SELECT dq_gate.audit('"Odd Schema"."St%s"', '"Odd Schema"."Tab''le"') \g /dev/null
SELECT is(message('change_rate') || '; ' || message('delete_rate'), 'would update 1 and delete 2 of 4 rows: 75% updated or deleted, at most 50%; would delete 2 of 4 rows: 50% deleted, at most 25%', 'odd names');
SELECT is((SELECT sample -> 'updated' FROM dq_gate.results_of(last_run()) WHERE check_name = 'change_rate'), '[{"a\"b": 1, "select": "x"}]', 'with the whole key');

CREATE TABLE loose (v int, at date);
CREATE TABLE loose_s (LIKE loose);
INSERT INTO loose VALUES (NULL, '2024-01-01'), (1, '2024-01-02');
INSERT INTO loose_s VALUES (1, '2024-01-01');
SELECT dq_gate.create_gate('loose', mode => 'replace', replace_by => '{at}'), dq_gate.expect_change_rate('loose', 0.4, action => 'warn') \g /dev/null
SELECT dq_gate.audit('loose_s', 'loose') \g /dev/null
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'change_rate'), '{"deleted": [{"v": null, "at": "2024-01-01"}]}', 'or the row where there is no key');

-- the target is locked before it is read, and it takes the right to read it
SELECT is((SELECT reads_target FROM dq_gate.checks WHERE target = 't'::regclass AND name = 'change_rate'), true, 'it is known to read the target');
CREATE TABLE theirs (id int PRIMARY KEY);
CREATE TABLE theirs_s (LIKE theirs);
INSERT INTO theirs_s VALUES (1);
SELECT dq_gate.create_gate('theirs', run_as => 'dq_loader'), dq_gate.expect_change_rate('theirs', 0.1) \g /dev/null
GRANT SELECT ON theirs_s TO dq_loader;
SELECT dq_gate.audit('theirs_s', 'theirs') \g /dev/null
SELECT matches((SELECT status || ' ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'change_rate'), '^error could not be evaluated: permission denied for table theirs', 'one who may not read it cannot tell');

-- looked at while it cannot be run
CREATE TABLE keyless (a int, at int);
CREATE TABLE keyless_s (LIKE keyless);
SELECT dq_gate.expect_change_rate('keyless', 0.1) \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('keyless', 'keyless_s') WHERE check_name = 'change_rate'), 'at most 10% updated or deleted of the rows of the target', 'a target without a key');
SELECT dq_gate.alter_gate('keyless', key => '{a}', only_if_newer => 'at') \g /dev/null
ALTER TABLE keyless DROP at;
SELECT is((SELECT count(*) FROM dq_gate.checks_of('keyless', 'keyless_s') WHERE check_name = 'change_rate'), 1::bigint, 'a column of a setting is gone');
SELECT raises($$ SELECT dq_gate.audit('keyless_s', 'keyless') $$, '42703', '"only_if_newer"', 'which a run refuses');

-- arguments
SELECT raises($$ SELECT dq_gate.expect_change_rate('t') $$, '22023', 'needs max_change_rate, max_update_rate or max_delete_rate', 'no limit');
SELECT raises(format('SELECT dq_gate.expect_change_rate(''t'', %s => %L)', limits, value), '22023', '"' || limits || '" must be between 0 and 1', limits || ' ' || value)
FROM unnest(ARRAY['max_change_rate', 'max_update_rate', 'max_delete_rate']) limits, unnest(ARRAY['-0.1', '1.1', 'NaN']) value;
SELECT raises(format('SELECT dq_gate.expect_change_rate(''t'', 0.1, %s)', option), '22023', 'a check of type "change_rate" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole', 'it takes no ' || option)
FROM unnest(ARRAY['filter => ''v > 1''', 'max_rate => 0.1', 'nulls => ''fail''']) option;
SELECT * FROM finish();
