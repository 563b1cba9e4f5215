-- NULL has no side door: what it does is said by the check, and each row is on one side of it
\ir include/helpers.sql
SELECT plan(39);

CREATE TABLE t (id int PRIMARY KEY, a int, b int, p float8);
CREATE TABLE s (id int, a int, b int, p float8);
INSERT INTO s VALUES (1, 3, 4, 1), (2, 3, NULL, NULL), (3, 1, 1, -1);
SELECT dq_gate.create_gate('t') \g /dev/null

-- a boolean rule is satisfied only where it is true
SELECT dq_gate.expect_sql('t', 'seven', 'a + b = 7', action => 'quarantine') \g /dev/null
SELECT is((SELECT nulls FROM dq_gate.checks_of('t') WHERE check_name = 'seven'), 'fail', 'a rule that is NULL fails by default');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 1 inserted, 2 quarantined', 'a rule that is NULL');
SELECT is(finding('seven'), 'failed 2 of 3, 1 null', 'fails, and is counted apart');
SELECT results_eq('SELECT id FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', 'VALUES (2), (3)', 'its row is in quarantine');
SELECT results_eq('SELECT id FROM t', 'VALUES (1)', 'and only there');

SELECT dq_gate.drop_check('t', 'seven') \g /dev/null
TRUNCATE t;
SELECT dq_gate.expect_sql('t', 'seven', 'a + b = 7', action => 'quarantine', nulls => 'pass') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 2 inserted, 1 quarantined', 'nulls pass where the check says so');
SELECT is(finding('seven'), 'failed 1 of 3, 1 null', 'and are counted all the same');
SELECT results_eq('SELECT id FROM t ORDER BY 1', 'VALUES (1), (2)', 'the row is in the target');
SELECT results_eq('SELECT id FROM dq_quarantine.t WHERE run_id = last_run()', 'VALUES (3)', 'and only there');
SELECT dq_gate.drop_check('t', 'seven') \g /dev/null

-- a rule about a value judges values
TRUNCATE t;
SELECT dq_gate.expect_range('t', 'p', min => 0, action => 'quarantine') \g /dev/null
SELECT is((SELECT nulls FROM dq_gate.checks_of('t') WHERE check_name = 'p_range'), 'pass', 'NULL is not out of range by default');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 2 inserted, 1 quarantined', 'a NULL in a range');
SELECT is(finding('p_range'), 'failed 1 of 3, 1 null', 'passes, and is counted apart');
SELECT dq_gate.drop_check('t', 'p_range') \g /dev/null
TRUNCATE t;
SELECT dq_gate.expect_range('t', 'p', min => 0, action => 'quarantine', nulls => 'fail') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 1 inserted, 2 quarantined', 'nulls fail on request');
SELECT is(finding('p_range'), 'failed 2 of 3, 1 null', 'and are among the failing rows then');
SELECT dq_gate.drop_check('t', 'p_range') \g /dev/null

-- negations, which lose the NULLs when they are written carelessly
TRUNCATE t;
SELECT dq_gate.expect_sql('t', 'not_both', 'NOT (a = 1 AND b = 1)', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 2 inserted, 1 quarantined', 'false AND NULL is false');
SELECT dq_gate.drop_check('t', 'not_both') \g /dev/null
TRUNCATE t;
SELECT dq_gate.expect_sql('t', 'other', 'b NOT IN (1, 2)', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 1 inserted, 2 quarantined', 'NULL is not known not to be in a list');
SELECT dq_gate.drop_check('t', 'other') \g /dev/null
TRUNCATE t;
SELECT dq_gate.expect_sql('t', 'none', 'NULL', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'a rule that is always NULL passes nothing');
SELECT is(finding('none'), 'failed 3 of 3, 3 null', 'and is counted so');
SELECT dq_gate.drop_check('t', 'none') \g /dev/null

-- whatever the rule, valid and quarantined rows are the batch
CREATE TABLE grid (id int PRIMARY KEY, a int, b int);
CREATE TABLE grid_s (id int, a int, b int);
INSERT INTO grid_s SELECT row_number() OVER (), a, b FROM unnest(ARRAY[NULL, 0, 1]) a, unnest(ARRAY[NULL, 0, 1]) b;
SELECT dq_gate.create_gate('grid') \g /dev/null
CREATE FUNCTION split(rule text, nulls text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	good bigint; wanted bigint;
BEGIN
	TRUNCATE grid;
	PERFORM dq_gate.expect_sql('grid', 'rule', rule, action => 'quarantine', nulls => nulls);
	PERFORM dq_gate.publish('grid_s', 'grid');
	PERFORM dq_gate.drop_check('grid', 'rule');
	EXECUTE format('SELECT count(*) FROM grid_s WHERE (%s) IS %s', rule, CASE nulls WHEN 'fail' THEN 'TRUE' ELSE 'NOT FALSE' END) INTO wanted;
	SELECT count(*) INTO good FROM grid;
	RETURN CASE
		WHEN EXISTS (SELECT id FROM grid_s EXCEPT (SELECT id FROM grid UNION ALL SELECT id FROM dq_quarantine.grid WHERE run_id = last_run())) THEN 'rows lost'
		WHEN (SELECT count(*) FROM dq_quarantine.grid WHERE run_id = last_run()) + good <> 9 THEN 'rows doubled'
		WHEN good <> wanted THEN format('%s rows published, not %s', good, wanted)
		ELSE 'split' END;
END
$$;
SELECT is(split(rule, nulls), 'split', format('every row is on one side of %s, where NULL is to %s', rule, nulls))
FROM unnest(ARRAY['a = b', 'a <> b', 'NOT a = b', 'a = 1 OR b = 1', 'a = 1 AND b = 1', 'a / nullif(b, 0) = 1', 'a = ALL (ARRAY[b, 1])', 'coalesce(a, b) > 0']) rule,
	unnest(ARRAY['fail', 'pass']) nulls;

-- a rule of the target keeps SQL's meaning, one that is declared does not
CREATE TABLE sql_rule (id int PRIMARY KEY, v int CHECK (v > 0));
CREATE TABLE sql_rule_s (id int, v int);
INSERT INTO sql_rule_s VALUES (1, NULL);
SELECT is(outcome(dq_gate.publish('sql_rule_s', 'sql_rule')), 'published 1: 1 inserted', 'NULL satisfies a CHECK constraint');
SELECT dq_gate.create_gate('sql_rule') \g /dev/null
SELECT dq_gate.expect_sql('sql_rule', 'same', 'v > 0') \g /dev/null
SELECT is(outcome(dq_gate.publish('sql_rule_s', 'sql_rule')), 'rejected 1: 1 quarantined', 'but not the same words when they are declared');

-- a row value of NULLs is a value
CREATE TYPE pair AS (x int, y int);
CREATE TABLE pairs (id int PRIMARY KEY, p pair NOT NULL);
CREATE TABLE pairs_s (id int, p pair);
INSERT INTO pairs_s VALUES (1, ROW(NULL, NULL));
SELECT is(outcome(dq_gate.publish('pairs_s', 'pairs')), 'published 1: 1 inserted', 'a row of NULLs satisfies NOT NULL, as in the target itself');
INSERT INTO pairs_s VALUES (2, NULL);
SELECT is(outcome(dq_gate.publish('pairs_s', 'pairs')), 'rejected 2: 2 quarantined', 'a missing row does not');
SELECT is(finding('p_not_null'), 'failed 1 of 2, 1 null', 'and is the only one counted');

SELECT finish();
