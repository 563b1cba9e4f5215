-- expect_row_count: how many rows a batch has
\ir include/helpers.sql
SELECT plan(28);

CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE s (id int, v int);
INSERT INTO s VALUES (1, 1), (2, NULL), (3, 3);
SELECT dq_gate.create_gate('t') \g /dev/null
SELECT is(dq_gate.expect_row_count('t', 2, 3), 'row_count', 'it has the name of its kind');
SELECT is((SELECT ROW(check_type, columns, rule, action, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'row_count'), '(row_count,{},"number of rows between 2 and 3",block,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 3 inserted', 'as many rows as there may be');
SELECT is((SELECT ROW(status, expected_value, actual_value, threshold, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count'),
	'(passed,"number of rows between 2 and 3","3 rows","between 2 and 3",)', 'pass');
DELETE FROM s WHERE id = 3;
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 unchanged', 'so do as few');
DELETE FROM s WHERE id = 2;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 1: 1 quarantined', 'one less');
SELECT is((SELECT ROW(status, passed, actual_value, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count'), '(failed,f,"1 row","1 row, not between 2 and 3")', 'does not');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), '{"row_count: 1 row, not between 2 and 3"}', 'the run says so');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t', $$ VALUES (1, '{}'::text[]) $$, 'no row in particular is to blame');
INSERT INTO s SELECT i FROM generate_series(2, 4) i;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 4: 4 quarantined', 'nor does one more');

-- one side open, another action
SELECT dq_gate.drop_check('t', 'row_count') \g /dev/null
SELECT dq_gate.expect_row_count('t', min => 5, action => 'warn', name => 'enough'), dq_gate.expect_row_count('t', max => 4, name => 'not_too_many') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 1 inserted, 1 updated, 2 unchanged', 'warn lets the batch through');
SELECT is(message('enough'), '4 rows, not at least 5', 'and says why');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'not_too_many'), 'passed', 'at most as many');

-- an empty batch
TRUNCATE s;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 0', 'an empty batch is counted');
SELECT is(not_passed(), 'enough failed, not_empty failed', 'it has too few rows, and not too many');
SELECT dq_gate.expect_row_count('t', 0, 0, name => 'none') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(not_passed(), 'enough failed, not_empty failed', 'that it may be empty makes it no pass');
SELECT dq_gate.drop_check('t', 'none') \g /dev/null

-- all staged rows count, those that are quarantined as well
INSERT INTO s SELECT i, i FROM generate_series(1, 4) i;
SELECT dq_gate.drop_check('t', 'enough'), dq_gate.expect_row_count('t', 4, 4), dq_gate.expect_range('t', 'v', max => 3, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 2 updated, 1 unchanged, 1 quarantined', 'the batch is what is staged');

SELECT dq_gate.expect_sql('t', 'broken', '1 / (v - v) > 0', action => 'warn') \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is(not_passed(), 'broken error, v_range failed', 'a broken check beside it does not change the count');

-- very many
SELECT is(dq_gate.expect_row_count('t', max => 9223372036854775807, name => 'huge'), 'huge', 'as many as can be counted');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_row_count('t') $$, '22023', 'row_count[^$]*needs min, max or both', 'no bound');
SELECT raises($$ SELECT dq_gate.expect_row_count('t', 3, 2) $$, '22023', 'min 3 is above max 2', 'bounds the wrong way round');
SELECT raises($$ SELECT dq_gate.expect_row_count('t', -1) $$, '22023', 'cannot be negative', 'a negative bound');
SELECT raises($$ SELECT dq_gate.expect_row_count('t', 1, action => 'quarantine') $$, '22023', 'row_count[^$]*quarantine[^$]*block[^$]*warn', 'no row can be moved');
SELECT raises(format('SELECT dq_gate.expect_row_count(''t'', 1, %s)', option), '22023', 'a check of type "row_count" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole',
	'what it does not take: ' || option)
FROM unnest(ARRAY['nulls => ''fail''', 'max_rate => 0.1', 'max_rows => 1', 'warn_above => 1', 'block_above => 0.5']) option;

SELECT finish();
