-- how many failing rows a check tolerates, and what more of them do
\ir include/helpers.sql
SELECT plan(98);

CREATE TABLE t (id int PRIMARY KEY, v int, w int);
CREATE TABLE s (id int, v int, w int);
INSERT INTO s SELECT i, 1, 1 FROM generate_series(1, 100) i;
SELECT dq_gate.create_gate('t') \g /dev/null

-- a batch with so many bad rows of 100, and what a rule with these limits makes of it: the verdict, the status, the rows that are moved
CREATE FUNCTION verdict(bad int, options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	run dq_gate.run_summary; found text;
BEGIN
	UPDATE s SET v = CASE WHEN id <= bad THEN -1 ELSE 1 END;
	TRUNCATE t;
	EXECUTE format('SELECT dq_gate.expect_range(''t'', ''v'', min => 0, name => ''v'', %s)', options);
	run := dq_gate.publish('s', 't');
	PERFORM dq_gate.drop_check('t', 'v');
	SELECT status INTO found FROM dq_gate.results_of(run.run_id) WHERE check_name = 'v';
	IF finding('v') <> format('%s %s of 100', found, bad) THEN
		RETURN 'counted wrongly: ' || finding('v');
	ELSIF run.passed <> (run.failures IS NULL OR NOT EXISTS (SELECT FROM unnest(run.failures) f WHERE f !~ '\((warn|quarantine|drop)\)$')) THEN
		RETURN 'passed, but not by its failures: ' || run.failures::text;
	ELSIF (SELECT count(*) FROM t) + run.quarantined + run.dropped <> 100 THEN
		RETURN 'rows lost';
	END IF;
	RETURN run.verdict || ', ' || found || CASE WHEN run.failures[1] ~ '\(warn\)$' THEN ' (warn)' ELSE '' END || CASE WHEN run.quarantined > 0 THEN ', ' || run.quarantined || ' moved' ELSE '' END || CASE WHEN run.dropped > 0 THEN ', ' || run.dropped || ' dropped' ELSE '' END;
END
$$;
SELECT is(verdict(bad, options), wanted, format('%s of 100 with %s', bad, options))
FROM (VALUES
	-- max_rows, a number that is still tolerated
	(0, 'max_rows => 0', 'published, passed'),
	(1, 'max_rows => 0', 'rejected, failed, 100 moved'),
	(3, 'max_rows => 3', 'published, passed'),
	(4, 'max_rows => 3', 'rejected, failed, 100 moved'),
	(1, 'max_rows => 1', 'published, passed'),
	(2, 'max_rows => 1', 'rejected, failed, 100 moved'),
	(3, 'max_rows => 3, action => ''quarantine''', 'published, passed'),
	(4, 'max_rows => 3, action => ''quarantine''', 'published, failed, 4 moved'),
	(3, 'max_rows => 3, action => ''warn''', 'published, passed'),
	(3, 'max_rows => 3, action => ''drop''', 'published, passed'),
	(4, 'max_rows => 3, action => ''drop''', 'published, failed, 4 dropped'),
	(4, 'max_rows => 3, action => ''warn''', 'published, failed (warn)'),
	-- max_rate, a share
	(0, 'max_rate => 0', 'published, passed'),
	(1, 'max_rate => 0', 'rejected, failed, 100 moved'),
	(3, 'max_rate => 0.03', 'published, passed'),
	(4, 'max_rate => 0.03', 'rejected, failed, 100 moved'),
	(29, 'max_rate => 0.29', 'published, passed'),
	(57, 'max_rate => 0.57', 'published, passed'),
	(58, 'max_rate => 0.57', 'rejected, failed, 100 moved'),
	(7, 'max_rate => 0.07', 'published, passed'),
	(8, 'max_rate => 0.07', 'rejected, failed, 100 moved'),
	(99, 'max_rate => 1', 'published, passed'),
	(100, 'max_rate => 1', 'published, passed'),
	(4, 'max_rate => 0.03, action => ''quarantine''', 'published, failed, 4 moved'),
	(4, 'max_rate => 0.03, action => ''warn''', 'published, failed (warn)'),
	-- both: neither may be exceeded
	(3, 'max_rows => 3, max_rate => 0.05', 'published, passed'),
	(4, 'max_rows => 3, max_rate => 0.05', 'rejected, failed, 100 moved'),
	(4, 'max_rows => 5, max_rate => 0.03', 'rejected, failed, 100 moved'),
	-- two levels of a rule that blocks: a warning first
	(0, 'block_above => 5', 'published, passed'),
	(1, 'block_above => 5', 'published, failed (warn)'),
	(5, 'block_above => 5', 'published, failed (warn)'),
	(6, 'block_above => 5', 'rejected, failed, 100 moved'),
	(5, 'block_above => 0.05', 'published, failed (warn)'),
	(6, 'block_above => 0.05', 'rejected, failed, 100 moved'),
	(29, 'block_above => 0.29', 'published, failed (warn)'),
	(1, 'block_above => 0', 'rejected, failed, 100 moved'),
	(1, 'block_above => 1', 'published, failed (warn)'),
	(2, 'block_above => 1', 'rejected, failed, 100 moved'),
	(2, 'warn_above => 2, block_above => 5', 'published, passed'),
	(3, 'warn_above => 2, block_above => 5', 'published, failed (warn)'),
	(5, 'warn_above => 2, block_above => 5', 'published, failed (warn)'),
	(6, 'warn_above => 2, block_above => 5', 'rejected, failed, 100 moved'),
	(1, 'warn_above => 0.01, block_above => 0.05', 'published, passed'),
	(2, 'warn_above => 0.01, block_above => 0.05', 'published, failed (warn)'),
	(6, 'warn_above => 0.01, block_above => 0.05', 'rejected, failed, 100 moved'),
	(2, 'warn_above => 1, block_above => 0.05', 'published, failed (warn)'),
	-- of one that warns
	(2, 'warn_above => 2, action => ''warn''', 'published, passed'),
	(3, 'warn_above => 2, action => ''warn''', 'published, failed (warn)'),
	(1, 'warn_above => 0, action => ''warn''', 'published, failed (warn)'),
	(29, 'warn_above => 0.29, action => ''warn''', 'published, passed'),
	(5, 'block_above => 5, action => ''warn''', 'published, failed (warn)'),
	(6, 'block_above => 5, action => ''warn''', 'rejected, failed, 100 moved'),
	(2, 'warn_above => 2, block_above => 5, action => ''warn''', 'published, passed'),
	(6, 'warn_above => 2, block_above => 5, action => ''warn''', 'rejected, failed, 100 moved'),
	-- of one that moves rows: each bad row is moved, until it is too many
	(0, 'block_above => 0.01, action => ''quarantine''', 'published, passed'),
	(1, 'block_above => 0.01, action => ''quarantine''', 'published, failed, 1 moved'),
	(2, 'block_above => 0.01, action => ''quarantine''', 'rejected, failed, 100 moved'),
	(5, 'block_above => 5, action => ''quarantine''', 'published, failed, 5 moved'),
	(6, 'block_above => 5, action => ''quarantine''', 'rejected, failed, 100 moved'),
	(5, 'block_above => 5, action => ''drop''', 'published, failed, 5 dropped'),
	(6, 'block_above => 5, action => ''drop''', 'rejected, failed, 100 moved'),
	-- a tolerance below a level
	(2, 'max_rows => 2, block_above => 5', 'published, passed'),
	(3, 'max_rows => 2, block_above => 5', 'published, failed (warn)'),
	(6, 'max_rows => 2, block_above => 5', 'rejected, failed, 100 moved'),
	(2, 'max_rows => 2, block_above => 5, action => ''quarantine''', 'published, passed'),
	(3, 'max_rows => 2, block_above => 5, action => ''quarantine''', 'published, failed, 3 moved'),
	(6, 'max_rows => 2, block_above => 5, action => ''quarantine''', 'rejected, failed, 100 moved')
) v (bad, options, wanted);

-- the limits in words, and the action that was taken
SELECT dq_gate.expect_range('t', 'v', min => 0, name => 'rows', max_rows => 1), dq_gate.expect_range('t', 'v', min => 0, name => 'rate', max_rate => 0.025),
	dq_gate.expect_range('t', 'v', min => 0, name => 'both', max_rows => 20, max_rate => 0.5, action => 'quarantine'),
	dq_gate.expect_range('t', 'v', min => 0, name => 'levels', warn_above => 0.01, block_above => 50),
	dq_gate.expect_range('t', 'v', min => 0, name => 'none', action => 'warn') \g /dev/null
SELECT results_eq($$ SELECT check_name, tolerance FROM dq_gate.checks_of('t') WHERE origin = 'declared' ORDER BY 1 $$,
	$$ VALUES ('both', 'at most 20 rows, at most 50%'), ('levels', 'warn above 1%, block above 50 rows'), ('none', NULL), ('rate', 'at most 2.5%'), ('rows', 'at most 1 row') $$, 'checks_of says what is tolerated');
UPDATE s SET v = CASE WHEN id <= 3 THEN -1 ELSE 1 END;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 100: 100 quarantined', 'rules of all kinds together');
SELECT results_eq($$ SELECT check_name, status, action, threshold FROM dq_gate.results_of(last_run()) WHERE check_type = 'range' ORDER BY 1 $$,
	$$ VALUES ('both', 'passed', 'quarantine', 'at most 20 rows, at most 50%'), ('levels', 'failed', 'warn', 'warn above 1%, block above 50 rows'), ('none', 'failed', 'warn', '0 rows'),
		('rate', 'failed', 'block', 'at most 2.5%'), ('rows', 'failed', 'block', 'at most 1 row') $$, 'each result has its threshold, and what the failure did');
SELECT is(message('both'), '3 of 100 rows: v below 0, for example {"v": -1, "id": 1}', 'what is tolerated is shown as well');
SELECT is((SELECT failed_checks FROM dq_quarantine.t WHERE run_id = last_run() AND id = 1), '{levels,none,rate,rows}', 'but is no reason');
SELECT is((SELECT array_agg(split_part(f, ':', 1) ORDER BY f) FROM dq_gate.runs, unnest(failures) f WHERE run_id = last_run()), '{levels,none,rate,rows}', 'nor a failure of the run');
SELECT dq_gate.drop_check('t', check_name) FROM dq_gate.checks_of('t') WHERE origin = 'declared' \g /dev/null

-- with kinds that have a query of their own, and with NULL
CREATE TABLE ref (w int);
INSERT INTO ref VALUES (1);
UPDATE s SET w = CASE WHEN id <= 4 THEN 2 WHEN id <= 6 THEN NULL ELSE 1 END, v = CASE WHEN id <= 4 THEN -1 ELSE id END;
SELECT dq_gate.expect_unique('t', ARRAY['v'], max_rows => 4, name => 'unique_4'), dq_gate.expect_unique('t', ARRAY['v'], max_rows => 3, name => 'unique_3', action => 'warn'),
	dq_gate.expect_referential('t', ARRAY['w'], 'ref', max_rate => 0.04, name => 'ref_4'), dq_gate.expect_referential('t', ARRAY['w'], 'ref', max_rate => 0.05, nulls => 'fail', name => 'ref_5', action => 'warn'),
	dq_gate.expect_not_null('t', 'w', max_rate => 0.02, name => 'null_2'), dq_gate.expect_not_null('t', 'w', max_rows => 1, name => 'null_1', action => 'warn'),
	dq_gate.expect_sql('t', 'sql_6', 'w = 1', block_above => 6), dq_gate.expect_sql('t', 'sql_4', 'w = 1', nulls => 'pass', max_rows => 4),
	dq_gate.expect_accepted_values('t', 'w', ARRAY['1'], max_rows => 4) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 100: 100 inserted', 'limits of other kinds');
SELECT results_eq($$ SELECT check_name, finding(check_name) FROM dq_gate.results_of(last_run()) r JOIN dq_gate.checks_of('t') c USING (check_name) WHERE c.origin = 'declared' ORDER BY 1 $$,
	$$ VALUES ('null_1', 'failed 2 of 100, 2 null'), ('null_2', 'passed 2 of 100, 2 null'), ('ref_4', 'passed 4 of 100, 2 null'), ('ref_5', 'failed 6 of 100, 2 null'),
		('sql_4', 'passed 4 of 100, 2 null'), ('sql_6', 'failed 6 of 100, 2 null'), ('unique_3', 'failed 4 of 100'), ('unique_4', 'passed 4 of 100'), ('w_accepted_values', 'passed 4 of 100, 2 null') $$,
	'are those of the rows that fail');
SELECT is(not_passed(), 'null_1 failed, ref_5 failed, sql_6 failed, unique_3 failed', 'the others are within them');
TRUNCATE s;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT string_agg(DISTINCT status, ', ') FROM dq_gate.results_of(last_run()) r JOIN dq_gate.checks_of('t') c USING (check_name) WHERE c.origin = 'declared'), 'not_judged', 'of no rows there is no rate');
SELECT dq_gate.drop_check('t', check_name) FROM dq_gate.checks_of('t') WHERE origin = 'declared' \g /dev/null

-- a broken check has no number of rows
INSERT INTO s SELECT i, 1, 1 FROM generate_series(1, 100) i;
SELECT dq_gate.expect_sql('t', 'broken', 'v / (v - 1) > 0', max_rate => 1) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 100: 100 quarantined', 'a check that cannot be evaluated is not within limits');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'broken'), 'error', 'it is an error');
SELECT dq_gate.drop_check('t', 'broken'), dq_gate.expect_sql('t', 'broken', 'v / (v - 1) > 0', block_above => 0.5, action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 100: 100 updated', 'one that is to warn warns');

-- refused when declared
SELECT raises(format('SELECT dq_gate.expect_range(''t'', ''v'', min => 0, %s)', option), '22023', split_part(option, ' ', 1) || ' cannot be', 'refused: ' || option)
FROM unnest(ARRAY['max_rate => -0.1', 'max_rate => 1.5', 'max_rate => ''NaN''', 'max_rate => ''Infinity''', 'max_rows => -1', 'max_rows => 1.5', 'max_rows => 0.5', 'max_rows => ''NaN''', 'max_rows => ''Infinity''',
	'max_rows => 1e30', 'warn_above => -1', 'warn_above => 2.5', 'warn_above => ''NaN''', 'warn_above => ''Infinity''', 'block_above => -0.5', 'block_above => 1.01', 'block_above => ''NaN''', 'block_above => ''Infinity''']) option;

SELECT finish();
