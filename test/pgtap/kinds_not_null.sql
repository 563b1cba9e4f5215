-- expect_not_null: a column has a value in every row
\ir include/helpers.sql
SELECT plan(31);

CREATE TYPE pair AS (x int, y int);
CREATE TABLE t (id int PRIMARY KEY, v int, d date, p pair);
CREATE TABLE s (id int, v int, d date, p pair);
INSERT INTO s VALUES (1, 1, NULL, NULL), (2, 2, NULL, NULL);
SELECT dq_gate.create_gate('t') \g /dev/null
SELECT is(dq_gate.expect_not_null('t', 'v'), 'v_not_null', 'a check that is named after its column');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'v_not_null'),
	'(not_null,{v},"v is not NULL",block,fail,declared)', 'as checks_of shows it');

SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 inserted', 'values in every row');
SELECT is(finding('v_not_null'), 'passed 0 of 2', 'pass');
INSERT INTO s VALUES (3, NULL, NULL, NULL);
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'a row without one');
SELECT is(finding('v_not_null'), 'failed 1 of 3, 1 null', 'fails');
SELECT is((SELECT ROW(expected_value, actual_value, threshold, sample)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'v_not_null'),
	'("v is not NULL","1 row","0 rows","[{""v"": null, ""id"": 3}]")', 'the result says what was expected and found');
SELECT is(message('v_not_null'), '1 of 3 rows: v is NULL, for example {"v": null, "id": 3}', 'the message as well');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t ORDER BY 1', $$ VALUES (1, '{}'::text[]), (2, '{}'), (3, '{v_not_null}') $$, 'and the row itself');

-- an empty batch
TRUNCATE s;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 0', 'an empty batch');
SELECT is(finding('v_not_null'), 'not_judged 0 of 0', 'has no row to judge');

-- a row of NULLs is a value
INSERT INTO s VALUES (4, 4, NULL, ROW(NULL, NULL)), (5, 5, NULL, NULL);
SELECT dq_gate.expect_not_null('t', 'p', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 1 inserted, 1 quarantined', 'a row of NULLs, and none');
SELECT is(finding('p_not_null'), 'failed 1 of 2, 1 null', 'only the missing row is NULL');
SELECT dq_gate.drop_check('t', 'p_not_null') \g /dev/null

-- text that is no value of the column's type is not NULL
CREATE TABLE text_s (id text, v text);
INSERT INTO text_s VALUES ('1', '7'), ('2', NULL), ('3', 'x'), ('4', '');
SELECT is(outcome(dq_gate.publish('text_s', 't')), 'rejected 4: 4 quarantined', 'a batch staged as text');
SELECT is(finding('v_not_null') || '; ' || finding('v_type_fit'), 'failed 1 of 4, 1 null; failed 2 of 4, 1 null', 'what does not fit is not counted as missing');

-- other actions
SELECT dq_gate.drop_check('t', 'v_not_null'), dq_gate.expect_not_null('t', 'v', action => 'warn') \g /dev/null
TRUNCATE t, s;
INSERT INTO s VALUES (1, NULL), (2, 2);
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 inserted', 'warn lets it through');
SELECT is(finding('v_not_null'), 'failed 1 of 2, 1 null', 'and counts it');
SELECT dq_gate.drop_check('t', 'v_not_null'), dq_gate.expect_not_null('t', 'v', 'quarantine', 'finance', 'has_v', 'v is the amount') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 1 unchanged, 1 quarantined', 'quarantine takes it out');
SELECT results_eq($$ SELECT check_name, action, owner, description FROM dq_gate.checks_of('t') WHERE origin = 'declared' $$,
	$$ VALUES ('has_v', 'quarantine', 'finance', 'v is the amount') $$, 'action, owner, name and description by position');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_not_null('t', 'nothing') $$, '42703', 'column nothing of gate public.t does not exist', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_not_null('t', 'V') $$, '42703', 'column "V" of gate', 'names are taken as they are');
SELECT raises($$ SELECT dq_gate.expect_not_null('t', NULL) $$, '22004', 'column_name', 'no column');
SELECT raises($$ SELECT dq_gate.expect_not_null('t', '') $$, '22004', 'column_name', 'an empty one');
SELECT raises($$ SELECT dq_gate.expect_not_null(NULL, 'v') $$, '22004', 'target', 'no target');
SELECT raises($$ SELECT dq_gate.expect_not_null('t', 'v', nulls => 'pass') $$, '22023', 'not_null[^$]*max_rate', 'NULL cannot pass');
SELECT lives_ok($$ SELECT dq_gate.expect_not_null('t', 'd', name => 'd', nulls => 'fail', action => 'warn') $$, 'that it fails may be said');
SELECT dq_gate.drop_check('t', 'd') \g /dev/null

-- a column that is gone
ALTER TABLE s RENAME v TO w;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 2: 2 quarantined', 'a column that is not staged any more');
SELECT is(not_passed(), 'has_v error, schema_contract failed', 'cannot be judged');
SELECT matches(message('has_v'), 'could not be evaluated: column v is missing in the staging table', 'and the message says why');
ALTER TABLE s RENAME w TO v;
ALTER TABLE t RENAME v TO w;
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT matches(message('has_v'), 'column v does not exist in the target', 'nor can one that the target lacks');
SELECT is(finding('key_unique'), 'passed 0 of 2', 'the others are judged all the same');

SELECT finish();
