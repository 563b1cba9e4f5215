-- skip and declare, severity, samples of a gate; filters on batch checks, queries that answer with a number, conditions, values from a query, uniqueness in the target, MATCH FULL
\ir include/helpers.sql
SELECT plan(152);

CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
CREATE TABLE t (id int PRIMARY KEY, v int, w int, c text, at timestamptz, f float8);
CREATE TABLE s (LIKE t);
INSERT INTO s (id, v) VALUES (1, 1), (2, -1), (3, NULL);
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null

-- skip: the batch is not ready, and is left alone
SELECT dq_gate.expect_row_count('t', min => 10, action => 'skip') \g /dev/null
SELECT is((SELECT action FROM dq_gate.checks_of('t') WHERE check_name = 'row_count'), 'skip', 'an action of checks about the batch');
SELECT is((SELECT ROW(verdict, passed, published, row_count, coalesce(inserted, 0), coalesce(updated, 0), coalesce(unchanged, 0), quarantined, coalesce(dropped, 0), checks_failed)::text FROM dq_gate.publish('s', 't', 'early')), '(skipped,f,f,3,0,0,0,0,0,1)', 'the verdict is skipped');
SELECT is((SELECT ROW(verdict, passed, published, enforced, quarantine, error, failures)::text FROM dq_gate.runs WHERE run_id = last_run()), '(skipped,f,f,t,,,"{""row_count: 3 rows, not at least 10 (skip)""}")', 'and is logged');
SELECT is((SELECT ROW(action, status, passed)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count'), '(skip,failed,f)', 'the check has failed');
SELECT is_empty('TABLE t', 'nothing is published');
SELECT is((SELECT count(*) FROM s), 3::bigint, 'staging is as it was');
SELECT is(to_regclass('dq_quarantine.t'), NULL, 'nothing is quarantined');
SELECT is((SELECT ROW(verdict, passed)::text FROM dq_gate.audit('s', 't')), '(audited,f)', 'a dry run is one');
CALL dq_gate.publish_or_fail('s', 't', 'early');
SELECT is((SELECT verdict FROM dq_gate.runs WHERE run_id = last_run()), 'skipped', 'publish_or_fail raises nothing of a batch that is skipped');
-- a failing check that blocks, or moves rows, beside it
SELECT dq_gate.expect_range('t', 'v', 0), dq_gate.expect_range('t', 'v', 0, action => 'quarantine', name => 'moved'), dq_gate.expect_not_null('t', 'v', action => 'drop') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || not_passed(), 'skipped 3: moved failed, row_count failed, v_not_null failed, v_range failed', 'whatever else is wrong with the batch');
SELECT is(to_regclass('dq_quarantine.t'), NULL, 'nothing is quarantined');
SELECT drop_all('t') \g /dev/null
-- one that passes, one that cannot be evaluated
SELECT dq_gate.expect_row_count('t', min => 3, action => 'skip'), dq_gate.expect_range('t', 'v', 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 2 inserted, 1 quarantined', 'one that passes does nothing');
SELECT drop_all('t'), dq_gate.expect_query('t', 'ready', 'SELECT 1 FROM s WHERE 1 / (id - id) > 0', action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'one that cannot be evaluated does not know whether the batch is ready');
SELECT is(finding('ready') IS NOT NULL AND (SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'ready') = 'error', true, 'and is broken');
\set ON_ERROR_STOP 0
CALL dq_gate.publish_or_fail('s', 't');
\set ON_ERROR_STOP 1
SELECT matches(:'LAST_ERROR_MESSAGE'::text, 'ready: could not be evaluated', 'of which publish_or_fail makes an error');
SELECT drop_all('t'), dq_gate.expect_query('t', 'ready', 'SELECT 1', action => 'skip'), dq_gate.expect_query('t', 'broken', 'SELECT 1 FROM s WHERE 1 / (id - id) > 0', action => 'skip') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'skipped', 'one that fails skips the batch all the same');
SELECT drop_all('t') \g /dev/null
-- an empty batch
CREATE TABLE none (LIKE s);
SELECT dq_gate.expect_row_count('t', min => 1, action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('none', 't')), 'skipped 0', 'an empty batch can be skipped, too');
-- a gate that is being calibrated
SELECT dq_gate.alter_gate('t', enforce => false), drop_all('t'), dq_gate.expect_row_count('t', min => 10, action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 1 inserted, 2 unchanged', 'a gate that is being calibrated skips nothing');
SELECT is((SELECT action || ' ' || status FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count'), 'skip failed', 'but says what it would do');
SELECT dq_gate.alter_gate('t', enforce => true), drop_all('t') \g /dev/null
-- kinds that say of each row whether it fails cannot skip
SELECT raises(format('SELECT dq_gate.%s, action => ''skip'')', call), '22023', 'cannot take the action "skip"[^$]*It takes "block", "quarantine", "drop", "warn", "declare"', 'no rule about rows skips a batch: ' || split_part(call, '(', 1))
FROM unnest(ARRAY['expect_not_null(''t'', ''v''', 'expect_sql(''t'', ''x'', ''v > 0''', 'expect_unique(''t'', ''{v}''', 'expect_accepted_values(''t'', ''v'', ''{1}''']) call;
SELECT raises($$ SELECT dq_gate.expect_row_count('t', 1, action => 'quarantine') $$, '22023', 'It takes "block", "warn", "skip", "declare"', 'nor does one about the batch move rows');

-- declare: for people to know
CREATE TABLE d (id int PRIMARY KEY, v int NOT NULL UNIQUE);
CREATE TABLE d_s (id int, v int);
INSERT INTO d_s VALUES (1, NULL), (2, 1), (3, 1);
SELECT dq_gate.expect_not_null('d', 'v', action => 'declare', owner => 'o'), dq_gate.expect_unique('d', '{v}', action => 'declare'), dq_gate.expect_sql('d', 'broken', '1 / (id - 1) > 0', action => 'declare'), dq_gate.expect_query('d', 'slow', 'SELECT pg_sleep(60)', action => 'declare'),
	dq_gate.expect_row_count('d', 100, action => 'declare'), dq_gate.expect_referential('d', '{v}', 't', '{id}', action => 'declare') \g /dev/null
SELECT results_eq($$ SELECT check_name, action, rule FROM dq_gate.checks_of('d') WHERE origin = 'declared' ORDER BY 1 $$,
	$$ VALUES ('broken', 'declare', '1 / (id - 1) > 0'), ('row_count', 'declare', 'number of rows at least 100'), ('slow', 'declare', 'no rows from: SELECT pg_sleep(60)'), ('v_not_null', 'declare', 'v is not NULL'), ('v_referential', 'declare', 'v is in public.t (id)'), ('v_unique', 'declare', 'v is unique in the batch') $$, 'checks_of shows what is declared');
SELECT is(outcome(dq_gate.publish('d_s', 'd')) || ': ' || not_passed(), 'rejected 3: 3 quarantined: d_v_key failed, v_not_null_2 failed', 'it does not take the place of what the target enforces');
SELECT is((SELECT string_agg(DISTINCT format('%s %s %s', status, passed, message), ', ') FROM dq_gate.results_of(last_run()) WHERE action = 'declare'), 'not_judged  declared only, not evaluated', 'and is never evaluated');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE action = 'declare' AND (failing_rows IS NOT NULL OR actual_value IS NOT NULL)), 0::bigint, 'so that it finds nothing');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.d ORDER BY 1', $$ VALUES (1, '{v_not_null_2}'::text[]), (2, '{d_v_key}'), (3, '{d_v_key}') $$, 'nor blames a row');
UPDATE d_s SET v = id;
SELECT is(outcome(dq_gate.publish('d_s', 'd')), 'published 3: 3 inserted', 'it keeps no batch out');
ALTER TABLE d ADD extra int;
ALTER TABLE d_s ADD extra int;
SELECT dq_gate.expect_range('d', 'extra', 0, action => 'declare') \g /dev/null
ALTER TABLE d_s DROP extra;
SELECT is((dq_gate.publish('d_s', 'd')).verdict, 'published', 'not even where it could not be evaluated');
SELECT raises($$ SELECT dq_gate.expect_sql('d', 'x', 'nothing > 0', action => 'declare') $$, '42703', 'nothing', 'it has to make sense when it is declared');

-- severity
SELECT dq_gate.expect_range('t', 'v', 0, action => 'warn', severity => 'critical'), dq_gate.expect_row_count('t', 1, severity => 'minor'), dq_gate.expect_not_null('t', 'id', name => 'plain') \g /dev/null
SELECT results_eq($$ SELECT check_name, severity FROM dq_gate.checks_of('t') WHERE check_name IN ('v_range', 'row_count', 'plain', 'not_empty') ORDER BY 1 $$, $$ VALUES ('not_empty', NULL), ('plain', NULL), ('row_count', 'minor'), ('v_range', 'critical') $$, 'checks_of shows the severity');
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT results_eq($$ SELECT check_name, severity FROM dq_gate.results_of(last_run()) WHERE severity IS NOT NULL ORDER BY 1 $$, $$ VALUES ('row_count', 'minor'), ('v_range', 'critical') $$, 'so do results');
SELECT drop_all('t'), dq_gate.expect_range('t', 'v', 0, severity => '') \g /dev/null
SELECT is((SELECT severity FROM dq_gate.checks_of('t') WHERE check_name = 'v_range'), NULL, 'an empty one is none');
SELECT drop_all('t') \g /dev/null

-- a gate that shows no values
CREATE TABLE q (id int PRIMARY KEY, amount int, c text UNIQUE, at date, CONSTRAINT few CHECK (amount < 1000000));
CREATE TABLE q_s (id text, amount int, c text, at date);
INSERT INTO q_s VALUES ('4711', 9815815, 'secret', '1999-09-09'), ('4712', 9815816, 'secret', '1999-09-09'), ('topsecret', 1, 'secret3', '1999-09-09');
CREATE TABLE q_src (id int, amount int);
INSERT INTO q_src VALUES (4713, 815817);
SELECT dq_gate.create_gate('q', samples => false) \g /dev/null
CREATE FUNCTION declare_all(target regclass, samples bool) RETURNS void LANGUAGE sql AS $$
	SELECT dq_gate.expect_range(target, 'amount', max => 5, samples => samples), dq_gate.expect_pattern(target, 'c', '^x', samples => samples), dq_gate.expect_unique(target, '{c}', samples => samples), dq_gate.expect_aggregate(target, 'sum', 'sum(amount)', max => 5, samples => samples),
		dq_gate.expect_freshness(target, 'at', '1 day', samples => samples), dq_gate.expect_query(target, 'rows', 'SELECT c FROM q_s', samples => samples), dq_gate.expect_query(target, 'number', 'SELECT max(amount) FROM q_s', max => 5, samples => samples),
		dq_gate.expect_sql(target, 'cast', 'c::int > 0', samples => samples), dq_gate.expect_reconciled(target, 'q_src', sums => '{amount}', samples => samples), dq_gate.expect_control_totals(target, '{amount}', 'SELECT 815817 AS amount', samples => samples),
		dq_gate.expect_series(target, 'at', '1 day', to_ => '''1999-09-10''', samples => samples), dq_gate.expect_within(target, 'at', '1 day', samples => samples), dq_gate.expect_distinct(target, '{c}', 5, samples => samples), dq_gate.expect_length(target, 'c', 100, samples => samples)
$$;
SELECT declare_all('q', true) \g /dev/null
CREATE FUNCTION leaks(of_runs bigint[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM (
		SELECT check_name, (r.sample IS NOT NULL OR concat_ws(' ', r.actual_value, r.message) ~ '4711|4712|4713|secret|98158|815817|1999|19631632') FROM dq_gate.results r WHERE run_id = ANY (of_runs)
		UNION ALL SELECT 'run', failures::text || coalesce(error, '') ~ '4711|4712|4713|secret|98158|815817|1999|19631632' FROM dq_gate.runs WHERE run_id = ANY (of_runs)) x (check_name, leaks) WHERE leaks
$$;
SELECT is((dq_gate.publish('q_s', 'q', totals => '{"amount": 815817}')).verdict, 'rejected', 'a gate that shows no values judges all the same');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE status IN ('failed', 'error')) >= 17, true, 'every check fails');
SELECT is(leaks(ARRAY[last_run()]), NULL, 'and no value is in the results or in the run, whatever its checks say');
SELECT is((SELECT count(*) FROM dq_quarantine.q WHERE run_id = last_run() AND 'amount_range' = ANY (failed_checks)), 2::bigint, 'the rows in quarantine have their reasons');
-- nor where it is the target that refuses a value
INSERT INTO q VALUES (1, 1, 'secret');
CREATE TABLE q_clash (id int, c text);
INSERT INTO q_clash VALUES (2, 'secret'), (3, 'other');
SELECT drop_all('q') \g /dev/null
SELECT is((dq_gate.publish('q_clash', 'q')).verdict, 'rejected', 'a value that the target has already');
SELECT is(leaks(ARRAY[last_run()]), NULL, 'is not shown');
ALTER TABLE q DROP CONSTRAINT q_c_key, ADD CONSTRAINT one_c EXCLUDE (c WITH =);
SELECT is((dq_gate.publish('q_clash', 'q')).verdict, 'failed', 'nor one that only the target refuses');
SELECT is((SELECT error_sqlstate FROM dq_gate.runs WHERE run_id = last_run()), '23P01', 'the reason is said');
SELECT is(leaks(ARRAY[last_run()]), NULL, 'without the value');
\set ON_ERROR_STOP 0
CALL dq_gate.publish_or_fail('q_clash', 'q');
\set ON_ERROR_STOP 1
SELECT is(:'LAST_ERROR_MESSAGE'::text ~ 'secret', false, 'by publish_or_fail neither');
DELETE FROM q;
ALTER TABLE q DROP CONSTRAINT one_c, ADD UNIQUE (c);
SELECT declare_all('q', true) \g /dev/null
SELECT dq_gate.alter_gate('q', samples => true) \g /dev/null
SELECT dq_gate.audit('q_s', 'q', totals => '{"amount": 815817}') \g /dev/null
SELECT is((SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE status IN ('failed', 'error') AND check_name <> ALL (string_to_array(coalesce(leaks(ARRAY[last_run()]), ''), ', '))), 'c_distinct', 'without that switch all of them would show one, but for a count');
SELECT drop_all('q'), declare_all('q', false) \g /dev/null
SELECT dq_gate.audit('q_s', 'q') \g /dev/null
SELECT is((SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE origin = 'declared' AND check_name = ANY (string_to_array(leaks(ARRAY[last_run()]), ', '))), NULL, 'so does the switch of each check');
SELECT drop_all('q') \g /dev/null

-- filters of checks about the batch
TRUNCATE s;
INSERT INTO s (id, v, c, at, f) SELECT i, CASE WHEN i <> 5 THEN i END, CASE WHEN i <= 4 THEN 'a' WHEN i <= 7 THEN 'b' END, CASE WHEN i <= 4 THEN now() ELSE now() - interval '10 days' END, i FROM generate_series(1, 10) i;
SELECT dq_gate.expect_row_count('t', 4, 4, filter => 'c = ''a''', name => 'n1'), dq_gate.expect_row_count('t', 4, filter => 'c = ''b''', name => 'n2', action => 'warn'), dq_gate.expect_row_count('t', 0, 0, filter => 'id < 0', name => 'n3'), dq_gate.expect_row_count('t', 1, filter => 'id < 0', name => 'n4', action => 'warn'),
	dq_gate.expect_freshness('t', 'at', '1 day', filter => 'c = ''a''', name => 'f1'), dq_gate.expect_freshness('t', 'at', '1 day', filter => 'c = ''b''', name => 'f2', action => 'warn'), dq_gate.expect_freshness('t', 'at', '1 day', filter => 'id < 0', name => 'f3', action => 'warn') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ': ' || not_passed(), 'published: f2 failed, f3 failed, n2 failed, n4 failed', 'checks of the rows that a filter picks');
SELECT is((SELECT string_agg(actual_value || ' ' || examined_rows, '; ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^n\d'), '4 rows 4; 3 rows 3; 0 rows 0; 0 rows 0', 'which are counted');
SELECT is((SELECT expected_value || '; ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'n2'), 'number of rows at least 4, where c = ''b''; 3 rows, not at least 4', 'in words');
SELECT matches(message('f3'), 'no value', 'no rows are not fresh');
SELECT drop_all('t'), dq_gate.expect_row_count('t', 1, filter => '1 / (id - 3) > 5', action => 'warn'), dq_gate.expect_freshness('t', 'at', '1 day', filter => '1 / (id - 3) > 5', action => 'warn'), dq_gate.expect_row_count('t', 10, 10, name => 'beside') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ': ' || not_passed(), 'published: at_freshness error, row_count error', 'a filter that fails breaks its own checks and no other');
SELECT drop_all('t') \g /dev/null
-- aggregates, also those with a filter of their own: the same numbers as by hand
CREATE FUNCTION aggregated(expression text, filter text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text; wanted text;
BEGIN
	PERFORM dq_gate.expect_aggregate('t', 'aggregate', expression, -1000000, 1000000, filter => filter, action => 'warn');
	PERFORM dq_gate.audit('s', 't'), drop_all('t');
	SELECT coalesce(actual_value, status) INTO found FROM dq_gate.results_of(last_run()) WHERE check_name = 'aggregate';
	EXECUTE format('SELECT trim_scale((%s)::numeric)::text FROM s AS batch WHERE %s', expression, filter) INTO wanted;
	RETURN CASE WHEN found = wanted THEN 'as by hand' ELSE format('%s, not %s', found, wanted) END;
END
$$;
SELECT is(aggregated(expression, filter), 'as by hand', format('%s where %s', expression, filter))
FROM unnest(ARRAY['sum(v)', 'count(*)', 'count(v)', 'count(DISTINCT c)', 'sum(v) FILTER (WHERE v > 2)', 'sum(v) FILTER (WHERE v > 2) - count(*) FILTER (WHERE c IS NULL)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY f)', 'max(v) + min(id)', 'avg(f) / count(*)', 'coalesce(sum(v) FILTER (WHERE false), -1)', 'CASE WHEN bool_or(v > 6) THEN 1 ELSE 0 END']) expression,
	unnest(ARRAY['id <= 6', 'c = ''b'' OR c IS NULL', 'v > 1']) filter;
SELECT raises($$ SELECT dq_gate.expect_aggregate('t', 'x', 'count(*) + (SELECT sum(v))', 0, filter => 'id > 1') $$, '0A000', 'filter cannot reach an aggregate within a subquery[^$]*FILTER \(WHERE', 'an aggregate within a subquery cannot be reached by a filter');
SELECT dq_gate.expect_aggregate('t', 'none', 'sum(v)', 0, filter => 'id < 0') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'none'), 'not_judged, no rows that the filter picks', 'of no rows there is no sum');
SELECT drop_all('t') \g /dev/null

-- queries that answer with a number
SELECT dq_gate.expect_query('t', 'q01', 'SELECT count(*) FROM s', 10, 10), dq_gate.expect_query('t', 'q02', 'SELECT count(*) FROM s', min => 11, action => 'warn'), dq_gate.expect_query('t', 'q03', 'SELECT avg(f) FROM s', max => 5.5), dq_gate.expect_query('t', 'q04', 'SELECT avg(f) FROM s', max => 5.49, action => 'warn'),
	dq_gate.expect_query('t', 'q05', 'SELECT NULL::int', 0, action => 'warn'), dq_gate.expect_query('t', 'q06', 'SELECT v FROM s WHERE id < 0', 0, action => 'warn'), dq_gate.expect_query('t', 'q07', 'SELECT v FROM s WHERE id <= 2', 0, action => 'warn'), dq_gate.expect_query('t', 'q08', 'SELECT ''NaN''::float8', 0, action => 'warn'),
	dq_gate.expect_query('t', 'q09', 'SELECT ''NaN''::numeric', max => 5, action => 'warn'), dq_gate.expect_query('t', 'q10', 'SELECT 3 AS one ORDER BY 1', 3, 3), dq_gate.expect_query('t', 'q11', 'SELECT max(v) FROM (SELECT 1 AS v UNION ALL SELECT 2) x', 2, 2), dq_gate.expect_query('t', 'q12', 'SELECT 12.50::money', 12.5, 12.5) \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'queries that answer with a number');
SELECT results_eq($$ SELECT check_name, status, actual_value FROM dq_gate.results_of(last_run()) WHERE check_type = 'query' AND check_name <> 'q12' ORDER BY 1 $$,
	$$ VALUES ('q01', 'passed', '10'), ('q02', 'failed', '10'), ('q03', 'passed', '5.5'), ('q04', 'failed', '5.5'), ('q05', 'failed', NULL), ('q06', 'failed', NULL), ('q07', 'error', NULL), ('q08', 'failed', 'NaN'), ('q09', 'failed', 'NaN'), ('q10', 'passed', '3'), ('q11', 'passed', '2') $$, 'between bounds; NULL, no row and NaN are no pass, two rows are an error');
SELECT is(finding('q12'), 'passed of 10', 'money is a number');
SELECT is(message('q02') || '; ' || message('q05'), 'the query answers with a number not at least 11: 10; the query answers with a number not at least 0: no value', 'in words');
SELECT matches(message('q07'), 'could not be evaluated: more than one row', 'two rows are said');
SELECT is((SELECT ROW(rule, action)::text FROM dq_gate.checks_of('t') WHERE check_name = 'q01'), '("SELECT count(*) FROM s between 10 and 10",block)', 'as checks_of shows it');
SELECT drop_all('t') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_query(''t'', ''x'', %L, 0)', query), state, pattern, 'refused: ' || query)
FROM (VALUES ('SELECT c FROM s', '42804', 'must return a number, not a value of type text'), ('SELECT true', '42804', 'number, not a value of type boolean'), ('SELECT now()', '42804', 'number, not'), ('SELECT ''5''', '42804', 'number, not a value of type text'), ('SELECT 1, 2', '22023', 'must return one column'), ('SELECT FROM s', '22023', 'must return one column')) x (query, state, pattern);
SELECT raises($$ SELECT dq_gate.expect_query('t', 'x', 'SELECT 1', 3, 2) $$, '22023', 'min 3 is above max 2', 'bounds the wrong way round');
SELECT raises($$ SELECT dq_gate.expect_query('t', 'x', 'SELECT 1', 'NaN') $$, '22023', 'min.*NaN', 'NaN is no bound');
SELECT raises($$ SELECT dq_gate.expect_query('t', 'x', 'SELECT 1', 1, max_rows => 3) $$, '22023', 'min or max does not take[^$]*count the rows', 'one number is not so many rows');
SELECT dq_gate.expect_query('t', 'found', 'SELECT 1 AS found, 2 AS other', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'found'), '[{"found": 1, "other": 2}]', 'rows that a query finds are shown whole, whatever their columns are named');
SELECT drop_all('t') \g /dev/null

-- conditions: what is not said to be out of the question is judged, as in logic
CREATE TABLE logic (id int PRIMARY KEY, p bool, r bool);
CREATE TABLE logic_s (LIKE logic);
INSERT INTO logic_s SELECT row_number() OVER (), p, r FROM (VALUES (true), (false), (NULL)) a (p), (VALUES (true), (false), (NULL)) b (r);
SELECT dq_gate.expect_sql('logic', 'strict', 'r', when_ => 'p', nulls => 'fail', action => 'warn'), dq_gate.expect_sql('logic', 'lax', 'r', when_ => 'p', nulls => 'pass', action => 'warn'), dq_gate.expect_sql('logic', 'by_default', 'r', when_ => 'p', action => 'quarantine') \g /dev/null
SELECT dq_gate.publish('logic_s', 'logic') \g /dev/null
SELECT is(finding('strict') || '; ' || finding('lax') || '; ' || finding('by_default'), format('failed %s of 9, %s null; failed %s of 9, %s null; failed %s of 9, %s null', a, n, b, n, a, n), 'a condition, over true, false and NULL')
FROM (SELECT count(*) FILTER (WHERE (NOT p OR r) IS NOT TRUE), count(*) FILTER (WHERE (NOT p OR r) IS FALSE), count(*) FILTER (WHERE (NOT p OR r) IS NULL) FROM logic_s) x (a, b, n);
SELECT bag_eq('SELECT p, r FROM dq_quarantine.logic', 'SELECT p, r FROM logic_s WHERE (NOT p OR r) IS NOT TRUE', 'the rows that are moved are those where it does not hold');
SELECT is((SELECT rule FROM dq_gate.checks_of('logic') WHERE check_name = 'strict'), 'r, when p', 'in words');
SELECT dq_gate.expect_sql('t', 'ratio', '10 / v > 0', when_ => 'v <> 0', nulls => 'pass', action => 'quarantine'), dq_gate.expect_sql('t', 'beside', 'id > 0') \g /dev/null
UPDATE s SET v = 0 WHERE id = 1;
UPDATE s SET v = -1 WHERE id = 2;
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('ratio'), 'published failed 1 of 10, 1 null', 'the condition keeps the rule from what it cannot divide by');
SELECT is((SELECT array_agg(id) FROM dq_quarantine.t WHERE run_id = last_run()), '{2}', 'where rows are moved, too');
SELECT drop_all('t'), dq_gate.expect_sql('t', 'cond', 'v > 0', when_ => '1 / v > 0', action => 'warn'), dq_gate.expect_sql('t', 'beside', 'id > 0', filter => 'id > 1', when_ => 'c = ''a''') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || (SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'cond'), 'published error', 'a condition that fails breaks its own check');
SELECT is((SELECT status || ' ' || examined_rows FROM dq_gate.results_of(last_run()) WHERE check_name = 'beside'), 'passed 9', 'and no other; a filter goes beside a condition');
SELECT drop_all('t') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_sql(''t'', ''x'', ''v > 0'', when_ => %L)', condition), state, pattern, 'refused: when ' || condition)
FROM (VALUES ('nothing', '42703', 'nothing'), ('v', '42804', 'boolean'), ('v >', '42601', 'syntax error'), ('true; DROP TABLE t', '42601', 'one boolean expression'), ('true) OR (true', '42601', 'syntax error'), ('count(*) > 1', '42803', 'aggregate')) x (condition, state, pattern);
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', 'v > 0', when_ => 'random() < 0.5', action => 'quarantine') $$, '22023', 'volatile', 'a condition that answers differently each time cannot say which rows to move');

-- values from a query
CREATE TABLE codes (code text, active bool);
INSERT INTO codes VALUES ('a', true), ('b', false), (NULL, true);
SELECT dq_gate.expect_accepted_values('t', 'c', query => 'SELECT code FROM codes', name => 'a1', action => 'warn'), dq_gate.expect_accepted_values('t', 'c', query => 'SELECT code FROM codes WHERE active', name => 'a2', action => 'warn', nulls => 'fail'),
	dq_gate.expect_rejected_values('t', 'c', query => 'SELECT code FROM codes WHERE NOT active', name => 'r1', action => 'quarantine'), dq_gate.expect_rejected_values('t', 'c', query => 'SELECT code FROM codes WHERE code IS NULL', name => 'r2', action => 'warn'),
	dq_gate.expect_accepted_values('t', 'c', query => 'SELECT code FROM codes WHERE false', name => 'a3', action => 'warn'), dq_gate.expect_rejected_values('t', 'c', query => 'SELECT code FROM codes WHERE false', name => 'r3', action => 'warn'),
	dq_gate.expect_accepted_values('t', 'v', query => 'SELECT generate_series(1, 4)::bigint', name => 'a4', action => 'warn', filter => 'id > 2'), dq_gate.expect_accepted_values('t', 'c', query => 'SELECT dq_gate.batch_id()', name => 'a5', action => 'warn') \g /dev/null
SELECT dq_gate.publish('s', 't', 'a') \g /dev/null
SELECT results_eq($$ SELECT check_name, finding(check_name) FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^[ar]\d' ORDER BY 1 $$,
	$$ VALUES ('a1', 'passed 0 of 10, 3 null'), ('a2', 'failed 6 of 10, 3 null'), ('a3', 'failed 7 of 10, 3 null'), ('a4', 'failed 5 of 8, 1 null'), ('a5', 'failed 3 of 10, 3 null'), ('r1', 'failed 3 of 10, 3 null'), ('r2', 'passed 0 of 10, 3 null'), ('r3', 'passed 0 of 10, 3 null') $$,
	'NULL in the query makes nothing accepted or rejected, a query without rows has no value');
SELECT is((SELECT array_agg(id ORDER BY id) FROM dq_quarantine.t WHERE run_id = last_run()), '{5,6,7}', 'rows are moved by them');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'r1') || '; ' || split_part(message('r1'), ',', 1), 'c not in (SELECT code FROM codes WHERE NOT active); 3 of 10 rows: c in (SELECT code FROM codes WHERE NOT active)', 'in words');
INSERT INTO codes VALUES ('x', false);
UPDATE s SET c = 'x' WHERE id = 1;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('r1') || '; ' || finding('a1'), 'failed 4 of 10, 3 null; passed 0 of 10, 3 null', 'values are those of the time of the run');
DROP TABLE codes CASCADE;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 10: 10 quarantined', 'a table that is gone');
SELECT is((SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE status = 'error'), 'a1, a2, a3, r1, r2, r3', 'is no pass');
SELECT is(finding('a4'), 'failed 5 of 8, 1 null', 'the others are judged all the same');
SELECT drop_all('t') \g /dev/null
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'v', query => 'SELECT c FROM s') $$, '42883', 'operator does not exist: integer = text', 'values of another type');
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'v', query => 'SELECT 1, 2') $$, '42601', 'column', 'two columns');
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'v', '{1}', 'SELECT 1') $$, '22023', '"accepted" or "query", one of them', 'a list and a query');
SELECT raises($$ SELECT dq_gate.expect_rejected_values('t', 'v') $$, '22004', '"rejected" or "query", one of them', 'neither');
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'v', query => 'SELECT 1; DROP TABLE t') $$, '42601', 'one query', 'two statements');
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'v', query => 'DELETE FROM s RETURNING id') $$, '22023', 'only reads', 'one that writes');
SELECT raises($$ SELECT dq_gate.expect_accepted_values('t', 'v', query => 'SELECT nothing FROM s') $$, '42703', 'nothing', 'one that makes no sense');

-- unique in the target as well
CREATE TABLE u (id int PRIMARY KEY, mail text, a int, b text);
CREATE TABLE u_s (LIKE u);
INSERT INTO u VALUES (1, 'one', 1, 'x'), (2, 'two', 2, 'x'), (3, NULL, NULL, NULL), (4, 'four', 4, 'x');
INSERT INTO u_s VALUES (1, 'one', 1, 'x'), (2, 'ten', 2, 'y'), (5, 'two', 2, 'x'), (6, 'four', 6, 'x'), (7, NULL, NULL, NULL), (8, 'eight', 8, NULL), (9, 'nine', 4, 'x');
SELECT dq_gate.create_gate('u') \g /dev/null
SELECT is(dq_gate.expect_unique('u', '{mail}', in_target => true, action => 'warn') || ' ' || dq_gate.expect_unique('u', '{a,b}', in_target => true, action => 'warn'), 'mail_unique a_b_unique', 'unique in the target');
SELECT is((SELECT rule FROM dq_gate.checks_of('u') WHERE check_name = 'mail_unique'), 'mail is unique in the batch and in the target', 'in words');
SELECT dq_gate.audit('u_s', 'u') \g /dev/null
SELECT is(finding('mail_unique') || '; ' || finding('a_b_unique'), 'failed 1 of 7, 1 null; failed 1 of 7, 2 null', 'a value of a row that the batch does not replace; one of a row that it does is free');
SELECT is((SELECT string_agg(sample::text, ' ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_type = 'unique' AND sample IS NOT NULL), '[{"a": 4, "b": "x", "in_batch": {"id": 9}, "in_target": {"id": 4}}] [{"mail": "four", "in_batch": {"id": 6}, "in_target": {"id": 4}}]', 'is shown with the rows that have it');
SELECT is(message('mail_unique'), 'mail is not unique in the batch and in the target: 1 row with a value of another row of the target, for example {"mail": "four", "in_batch": {"id": 6}, "in_target": {"id": 4}}', 'and said');
SELECT drop_all('u'), dq_gate.expect_unique('u', '{mail}', in_target => true, action => 'quarantine'), dq_gate.expect_unique('u', '{a,b}', in_target => true, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('u_s', 'u')), 'published 7: 3 inserted, 1 updated, 1 unchanged, 2 quarantined', 'rows that clash are moved');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.u ORDER BY 1', $$ VALUES (6, '{mail_unique}'::text[]), (9, '{a_b_unique}') $$, 'with their reason');
SELECT is((SELECT count(*) FROM (SELECT mail FROM u WHERE mail IS NOT NULL GROUP BY 1 HAVING count(*) > 1) x), 0::bigint, 'what is published is unique');
SELECT drop_all('u'), dq_gate.expect_unique('u', '{mail}', in_target => true, action => 'warn') \g /dev/null
INSERT INTO u_s VALUES (10, 'ten', NULL, NULL), (11, 'four', NULL, NULL);
DELETE FROM u_s WHERE id IN (6, 7, 8, 9);
SELECT dq_gate.audit('u_s', 'u') \g /dev/null
SELECT is(finding('mail_unique'), 'failed 3 of 5', 'duplicates within the batch, and clashes with the target');
SELECT drop_all('u'), dq_gate.expect_unique('u', '{mail}', in_target => true, filter => 'id > 10', action => 'warn') \g /dev/null
SELECT dq_gate.audit('u_s', 'u') \g /dev/null
SELECT is(finding('mail_unique'), 'failed 1 of 1', 'a filter is about rows of the batch');
SELECT is((SELECT reads_target FROM dq_gate.checks WHERE name = 'mail_unique'), true, 'it is known to read the target');
-- values that change places
SELECT drop_all('u'), dq_gate.expect_unique('u', '{mail}', in_target => true) \g /dev/null
TRUNCATE u, u_s;
INSERT INTO u VALUES (1, 'one'), (2, 'two'), (3, NULL);
INSERT INTO u_s VALUES (1, 'two'), (2, 'one');
SELECT is(outcome(dq_gate.publish('u_s', 'u')), 'published 2: 2 updated', 'values may change places');
-- NULLs that are the same
INSERT INTO u_s VALUES (4, NULL);
SELECT drop_all('u'), dq_gate.expect_unique('u', '{mail}', in_target => true, nulls => 'fail', action => 'warn') \g /dev/null
SELECT dq_gate.audit('u_s', 'u') \g /dev/null
SELECT is(finding('mail_unique'), 'failed 1 of 3, 1 null', 'where NULLs are equal to each other, those of the target are as well');
-- a row that is to be moved replaces nothing: its value is not free
DELETE FROM u_s;
INSERT INTO u_s VALUES (1, 'new', -1), (5, 'two', 5);
SELECT drop_all('u'), dq_gate.expect_unique('u', '{mail}', in_target => true, action => 'quarantine'), dq_gate.expect_range('u', 'a', 0, action => 'quarantine') \g /dev/null
SELECT dq_gate.publish('u_s', 'u') \g /dev/null
SELECT is((SELECT string_agg(mail, ', ') FROM (SELECT mail FROM u WHERE mail IS NOT NULL GROUP BY 1 HAVING count(*) > 1) x), NULL, 'a row of the target whose replacement is moved keeps its value');
SELECT drop_all('u') \g /dev/null
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
SET client_min_messages = warning;
CREATE SCHEMA elsewhere;
CREATE EXTENSION citext SCHEMA elsewhere;
RESET client_min_messages;
CREATE TABLE ci (id int PRIMARY KEY, c elsewhere.citext, n int);
CREATE TABLE ci_s (id int, c text, n int);
INSERT INTO ci VALUES (1, 'Bob', 1);
INSERT INTO ci_s VALUES (2, 'BOB', 1), (3, 'Eve', 1);
SELECT dq_gate.expect_unique('ci', '{c}', in_target => true, action => 'warn'), dq_gate.expect_unique('ci', '{c,n}', in_target => true, action => 'warn') \g /dev/null
SELECT dq_gate.audit('ci_s', 'ci') \g /dev/null
SELECT is(finding('c_unique') || '; ' || finding('c_n_unique'), 'failed 1 of 2; failed 1 of 2', 'a type that ignores case');
\else
SELECT skip('no citext');
\endif

-- MATCH FULL: all of the columns, or none
CREATE TABLE ref (a int, b text);
INSERT INTO ref VALUES (1, 'x'), (NULL, NULL);
CREATE TABLE m (id int PRIMARY KEY, a int, b text);
CREATE TABLE m_s (LIKE m);
INSERT INTO m_s VALUES (1, 1, 'x'), (2, 1, NULL), (3, NULL, 'x'), (4, NULL, NULL), (5, 1, 'y');
SELECT dq_gate.expect_referential('m', '{a,b}', 'ref', match => 'full', action => 'quarantine', name => 'full'), dq_gate.expect_referential('m', '{a,b}', 'ref', match => 'simple', action => 'warn', name => 'simple'), dq_gate.expect_referential('m', '{a,b}', 'ref', match => 'full', nulls => 'fail', action => 'warn', name => 'strict'),
	dq_gate.expect_referential('m', '{a}', 'ref', match => 'full', action => 'warn', name => 'one') \g /dev/null
SELECT is(outcome(dq_gate.publish('m_s', 'm')), 'published 5: 2 inserted, 3 quarantined', 'a row of which some columns are NULL refers to nothing, and is moved');
SELECT is(finding('full') || '; ' || finding('simple') || '; ' || finding('strict') || '; ' || finding('one'), 'failed 3 of 5, 3 null; failed 1 of 5, 3 null; failed 4 of 5, 3 null; passed 0 of 5, 2 null', 'unlike with MATCH SIMPLE; where NULL fails, that of all columns does as well; one column is all of them');
SELECT results_eq('SELECT id FROM dq_quarantine.m ORDER BY 1', 'VALUES (2), (3), (5)', 'by its own reason');
SELECT is((SELECT rule FROM dq_gate.checks_of('m') WHERE check_name = 'full'), '(a, b) is in public.ref (a, b), or all NULL', 'in words');
SELECT raises($$ SELECT dq_gate.expect_referential('m', '{a,b}', 'ref', match => 'partial') $$, '22023', 'match "partial" is not known[^$]*"simple"[^$]*"full"', 'another way to match');
-- as the constraint itself does
CREATE TABLE ref_key (a int, b text, PRIMARY KEY (a, b));
INSERT INTO ref_key VALUES (1, 'x');
CREATE TABLE mk (id int PRIMARY KEY, a int, b text, FOREIGN KEY (a, b) REFERENCES ref_key MATCH FULL);
SELECT dq_gate.audit('m_s', 'mk') \g /dev/null
SELECT is(finding('mk_a_b_fkey'), 'failed 3 of 5, 3 null', 'as a foreign key with MATCH FULL does');

SELECT finish();
