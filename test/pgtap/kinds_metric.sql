-- expect_metric: a number compared with what it was in earlier batches
\ir include/helpers.sql
SELECT plan(160);
SET client_min_messages = error;

CREATE TABLE s (id int, v float8, n numeric, k text);
CREATE FUNCTION found(name text) RETURNS text LANGUAGE sql AS
	$$ SELECT status || ': ' || coalesce(message, actual_value, '') FROM dq_gate.results_of(last_run()) WHERE check_name = name $$;
-- a batch of these values, published
CREATE FUNCTION load(target regclass, numbers float8[], day date DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE s;
	INSERT INTO s (id, v) SELECT no, x FROM unnest(numbers) WITH ORDINALITY AS u (x, no);
	RETURN (dq_gate.publish('s', target, as_of => day)).verdict;
END
$$;
-- or only looked at, so that no later batch sees it: what the check finds
CREATE FUNCTION look(target regclass, name text, numbers float8[], day date DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE s;
	INSERT INTO s (id, v) SELECT no, x FROM unnest(numbers) WITH ORDINALITY AS u (x, no);
	PERFORM dq_gate.audit('s', target, as_of => day);
	RETURN found(name);
END
$$;
-- batches of one value each
CREATE FUNCTION history(target regclass, numbers float8[], first_day date DEFAULT NULL) RETURNS void LANGUAGE sql AS
	$$ SELECT load(target, ARRAY[n], first_day + no::int - 1) FROM unnest(numbers) WITH ORDINALITY AS u (n, no) ORDER BY no $$;
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' $$;
CREATE FUNCTION gate(name text) RETURNS regclass LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, v float8, n numeric, k text)', name);
	RETURN dq_gate.create_gate(name::regclass);
END
$$;
-- the number in the middle, or that between the two in the middle
CREATE FUNCTION middle(numbers float8[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT avg(n) FROM (SELECT n, row_number() OVER (ORDER BY n) AS no, count(*) OVER () AS size FROM unnest(numbers) n) o WHERE 2 * no BETWEEN size AND size + 2
$$;
SELECT is(middle('{1,1,2,2,4,6,9}') || ' ' || middle('{1,1,0,0,2,4,7}') || ' ' || middle('{4,1,3,2}'), '2 1 2.5', 'the median by hand is one');
SELECT gate('t') \g /dev/null

-- as it is declared, and the results
SELECT is(dq_gate.expect_metric('t', 'sum(v)', name => 'total'), 'total', 'it is named as it is called');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'total'),
	'(metric,{v},"sum(v): ratio to the median between 0.5 and 2 of the last 14 batches",block,,declared)', 'as checks_of shows it');
SELECT is(load('t', ARRAY[x, 1]) || ' ' || found('total'), format('published not_judged: not enough history (%s of 5)', no - 1), 'first runs do not alarm: ' || no)
FROM unnest('{9,7,11,99,0}'::float8[]) WITH ORDINALITY AS u (x, no) ORDER BY no;
SELECT results_eq($$ SELECT measured FROM dq_gate.results WHERE check_name = 'total' ORDER BY run_id $$, $$ SELECT unnest('{10,8,12,100,1}'::float8[]) $$, 'but the number is measured');
SELECT is((SELECT ROW(status, passed, actual_value, threshold, examined_rows, failing_rows, sample)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'total'),
	'(not_judged,,1,"ratio to the median between 0.5 and 2 of the last 14 batches",2,,)', 'and shown');
SELECT is(look('t', 'total', '{4,1}'), 'passed: 5, ratio to the median 0.5, usually 10', 'bounds are included');
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, examined_rows, failing_rows, null_rows, measured, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'total'),
	'(passed,t,"sum(v): ratio to the median between 0.5 and 2 of the last 14 batches","5, ratio to the median 0.5, usually 10","ratio to the median between 0.5 and 2 of the last 14 batches",2,,,5,,)', 'the result of a pass');
SELECT is(look('t', 'total', '{20}') || ', ' || look('t', 'total', '{20.01}'), 'passed: 20, ratio to the median 2, usually 10, failed: sum(v): ratio to the median not between 0.5 and 2; 20.01, ratio to the median 2.001, usually 10', 'above as well');
SELECT is(load('t', '{2,2}') || ' ' || found('total'), 'rejected failed: sum(v): ratio to the median not between 0.5 and 2; 4, ratio to the median 0.4, usually 10', 'it blocks');
SELECT is((SELECT ROW(status, passed, actual_value, measured, sample)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'total'), '(failed,f,"4, ratio to the median 0.4, usually 10",4,)', 'the result of a failure');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), ARRAY['total: ' || message('total')], 'the run says so');
SELECT results_eq('SELECT failed_checks FROM dq_quarantine.t', $$ SELECT '{}'::text[] FROM generate_series(1, 2) $$, 'no row of it is to blame');
SELECT is(look('t', 'total', '{10}'), 'passed: 10, ratio to the median 1, usually 10', 'what was rejected is no history');
SELECT drop_all('t'), dq_gate.expect_metric('t', 'sum(v)', action => 'skip', name => 'total') \g /dev/null
SELECT is(load('t', '{1,1}'), 'skipped', 'such a batch can be left alone');
SELECT drop_all('t'), dq_gate.expect_metric('t', 'sum(v)', action => 'declare', name => 'total') \g /dev/null
SELECT is(load('t', '{1,1}') || ' ' || found('total'), 'published not_judged: declared only, not evaluated', 'or the rule be declared alone');

-- methods, each against the same in other SQL
SELECT gate('methods') \g /dev/null
SELECT dq_gate.expect_metric('methods', 'sum(v)', 'ratio_to_median', history => 7, min_history => 2, action => 'warn', name => 'ratio'), dq_gate.expect_metric('methods', 'sum(v)', 'change', min_history => 1, action => 'warn', name => 'change'),
	dq_gate.expect_metric('methods', 'sum(v)', 'zscore', history => 7, min_history => 3, min_spread => 0, action => 'warn', name => 'zscore'), dq_gate.expect_metric('methods', 'sum(v)', 'zscore', history => 7, min_history => 3, min_spread => 0.5, action => 'warn', name => 'floor'),
	dq_gate.expect_metric('methods', 'sum(v)', 'bounds', -10, 40, action => 'warn', name => 'bounds'), dq_gate.expect_metric('methods', 'sum(v)', 'forecast', history => 10, min_history => 4, min_spread => 0, season => '3 days', action => 'warn', name => 'forecast') \g /dev/null
CREATE TABLE numbers AS SELECT date '2024-02-20' + i AS day, ((i * i * 37 % 101) - 24.5)::float8 AS x FROM generate_series(1, 40) i;
SELECT load('methods', ARRAY[x], day) FROM numbers ORDER BY day \g /dev/null
CREATE VIEW history_by_hand AS SELECT n.day, n.x, h.last, (h.all_of[1:7]) AS h, h.size, f.x AS forecast, d.sd
FROM numbers n, LATERAL (SELECT array_agg(e.x ORDER BY e.day DESC) AS all_of, (array_agg(e.x ORDER BY e.day DESC))[1] AS last, count(*) AS size FROM numbers e WHERE e.day < n.day) h
LEFT JOIN LATERAL (SELECT x FROM numbers e WHERE e.day = n.day - 3) f ON true
LEFT JOIN LATERAL (SELECT sqrt(sum(residual * residual) / count(*)) AS sd FROM (SELECT e.x - lag(e.x, 3) OVER (ORDER BY e.day) AS residual FROM numbers e WHERE e.day < n.day AND e.day >= n.day - 10) r WHERE residual IS NOT NULL) d ON true;
CREATE VIEW expected AS SELECT day, name, x, usual, statistic, CASE WHEN name = 'forecast' AND size < 4 OR name = 'ratio' AND size < 2 OR name = 'change' AND size < 1 OR name IN ('zscore', 'floor') AND size < 3 THEN 'not_judged' WHEN statistic BETWEEN low AND high THEN 'passed' ELSE 'failed' END AS status
FROM history_by_hand, LATERAL (SELECT middle(h)) AS m (m), LATERAL (SELECT middle(array_agg(abs(y - m))) FROM unnest(h) y) AS d (mad),
	LATERAL (VALUES ('ratio', m, x / m, 0.5, 2), ('change', last, (x - last) / abs(last), -0.5, 0.5), ('zscore', m, (x - m) / nullif(mad / 0.6745, 0), -3.5, 3.5), ('floor', m, (x - m) / greatest(mad / 0.6745, 0.5 * abs(m)), -3.5, 3.5),
		('bounds', NULL, x, -10, 40), ('forecast', forecast, (x - forecast) / nullif(sd, 0), -1.96, 1.96)) AS v (name, usual, statistic, low, high);
CREATE VIEW reported AS SELECT as_of AS day, check_name AS name, measured AS x, nullif(split_part(actual_value, 'usually ', 2), '')::float8 AS usual, nullif(substring(actual_value FROM '[a-z] (-?[0-9.]+|-?Infinity|NaN)(?:,|$)'), '')::float8 AS statistic, status
FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE gate = 'public.methods' AND check_type = 'metric';
SELECT is_empty($$ SELECT name, day, e.status, r.status FROM expected e FULL JOIN reported r USING (day, name) WHERE e.status IS DISTINCT FROM r.status OR e.x IS DISTINCT FROM r.x $$, 'each method judges as other SQL does');
SELECT is_empty($$ SELECT name, day, e.statistic, r.statistic, e.usual, r.usual FROM expected e FULL JOIN reported r USING (day, name) WHERE e.status <> 'not_judged' AND (abs(e.statistic - r.statistic) < 0.00051 AND coalesce(abs(e.usual - r.usual), 0) < 1e-9 AND (e.usual IS NULL) = (r.usual IS NULL)) IS NOT TRUE $$, 'by the same statistic');
SELECT results_eq($$ SELECT name, count(*), count(DISTINCT status) >= CASE WHEN name = 'bounds' THEN 2 ELSE 3 END FROM reported GROUP BY name ORDER BY 1 $$,
	$$ VALUES ('bounds', 40::bigint, true), ('change', 40, true), ('floor', 40, true), ('forecast', 40, true), ('ratio', 40, true), ('zscore', 40, true) $$, 'all of them are judged, pass and fail at times');
SELECT is((SELECT string_agg(rule, '; ' ORDER BY check_name) FROM dq_gate.checks_of('methods') WHERE check_type = 'metric'),
	'sum(v): value between -10 and 40; sum(v): relative change between -0.5 and 0.5 of the last 14 batches; sum(v): robust z-score between -3.5 and 3.5 of the last 7 batches; sum(v): deviations from the forecast between -1.96 and 1.96 of the last 10 batches; sum(v): ratio to the median between 0.5 and 2 of the last 7 batches; sum(v): robust z-score between -3.5 and 3.5 of the last 7 batches', 'the rules in words');

-- published values: the median absolute deviation of 1, 1, 2, 2, 4, 6, 9 is 1, about a median of 2
SELECT gate('mad') \g /dev/null
SELECT dq_gate.expect_metric('mad', 'max(v)', 'zscore', min_spread => 0, name => 'z'), history('mad', '{1,1,2,2,4,6}') \g /dev/null
SELECT dq_gate.drop_check('mad', 'z'), dq_gate.expect_metric('mad', 'max(v)', 'zscore', min_spread => 0, action => 'warn', name => 'z'), history('mad', '{9}') \g /dev/null
SELECT is(look('mad', 'z', '{2}'), 'passed: 2, robust z-score 0, usually 2', 'the median is no outlier');
SELECT is(look('mad', 'z', '{3}'), 'passed: 3, robust z-score 0.675, usually 2', 'one deviation away is 0.6745');
SELECT is(look('mad', 'z', '{7}') || ', ' || look('mad', 'z', '{7.2}'), 'passed: 7, robust z-score 3.373, usually 2, failed: max(v): robust z-score not between -3.5 and 3.5; 7.2, robust z-score 3.507, usually 2', 'outliers are those beyond 3.5');
SELECT is(look('mad', 'z', '{-3}') || ', ' || look('mad', 'z', '{-3.2}'), 'passed: -3, robust z-score -3.373, usually 2, failed: max(v): robust z-score not between -3.5 and 3.5; -3.2, robust z-score -3.507, usually 2', 'below as well');
-- the data of Grubbs, in the handbook of NIST: 245.57 is an outlier among values about 200
SELECT gate('grubbs') \g /dev/null
SELECT dq_gate.expect_metric('grubbs', 'sum(v)', 'zscore', min_spread => 0, action => 'warn', name => 'z'), history('grubbs', '{199.31,199.53,200.19,200.82,201.92,201.95,202.18}') \g /dev/null
SELECT is(look('grubbs', 'z', '{245.57}'), 'failed: sum(v): robust z-score not between -3.5 and 3.5; 245.57, robust z-score 26.711, usually 200.82', 'the outlier of a textbook is one');
SELECT is(look('grubbs', 'z', '{205}'), 'passed: 205, robust z-score 2.495, usually 200.82', 'and the others are not');

-- a history without spread
SELECT gate('constant') \g /dev/null
SELECT dq_gate.expect_metric('constant', 'sum(v)', 'zscore', action => 'warn', name => 'z'), dq_gate.expect_metric('constant', 'sum(v)', 'zscore', min_spread => 0, action => 'warn', name => 'strict'), dq_gate.expect_metric('constant', 'sum(v)', 'zscore', min_spread => NULL, action => 'warn', name => 'also_strict'),
	dq_gate.expect_metric('constant', 'sum(v)', action => 'warn', name => 'r'), dq_gate.expect_metric('constant', 'sum(v)', 'change', action => 'warn', name => 'c'), history('constant', '{100,100,100,100,100}') \g /dev/null
SELECT is(look('constant', 'z', '{101}'), 'passed: 101, robust z-score 0.1, usually 100', 'O22: a history without spread does not make an outlier of every other value');
SELECT is(look('constant', 'z', '{134.9}') || ', ' || look('constant', 'z', '{65.1}'), 'passed: 134.9, robust z-score 3.49, usually 100, passed: 65.1, robust z-score -3.49, usually 100', 'within 35% of it none is one');
SELECT is(look('constant', 'z', '{135.1}') || ', ' || look('constant', 'z', '{64.9}'), 'failed: sum(v): robust z-score not between -3.5 and 3.5; 135.1, robust z-score 3.51, usually 100, failed: sum(v): robust z-score not between -3.5 and 3.5; 64.9, robust z-score -3.51, usually 100', 'but beyond');
SELECT is(look('constant', 'strict', '{100}') || ', ' || look('constant', 'strict', '{100.001}'), 'passed: 100, robust z-score 0, usually 100, failed: sum(v): robust z-score not between -3.5 and 3.5; 100.001, robust z-score Infinity, usually 100', 'unless no spread is assumed');
SELECT is(look('constant', 'also_strict', '{99}'), 'failed: sum(v): robust z-score not between -3.5 and 3.5; 99, robust z-score -Infinity, usually 100', 'which NULL says too');
SELECT is(look('constant', 'r', '{101}') || ', ' || found('c'), 'passed: 101, ratio to the median 1.01, usually 100, passed: 101, relative change 0.01, usually 100', 'nor do other methods alarm');

-- zero
SELECT gate('zero') \g /dev/null
SELECT dq_gate.expect_metric('zero', 'sum(v)', 'zscore', action => 'warn', name => 'z'), dq_gate.expect_metric('zero', 'sum(v)', action => 'warn', name => 'r'), dq_gate.expect_metric('zero', 'sum(v)', 'change', action => 'warn', name => 'c'),
	dq_gate.expect_metric('zero', 'sum(v)', min => 0.5, action => 'warn', name => 'least'), dq_gate.expect_metric('zero', 'sum(v)', max => 2, action => 'warn', name => 'most'), history('zero', '{0,0,0,0,0}') \g /dev/null
SELECT is(look('zero', 'z', '{0}') || ', ' || found('r') || ', ' || found('c'), 'passed: 0, robust z-score 0, usually 0, passed: 0, ratio to the median 1, usually 0, passed: 0, relative change 0, usually 0', 'nothing is as usual as ever where that is the usual');
SELECT is(look('zero', 'z', '{0.1}') || ', ' || found('r') || ', ' || found('c'), 'failed: sum(v): robust z-score not between -3.5 and 3.5; 0.1, robust z-score Infinity, usually 0, failed: sum(v): ratio to the median not between 0.5 and 2; 0.1, ratio to the median Infinity, usually 0, failed: sum(v): relative change not between -0.5 and 0.5; 0.1, relative change Infinity, usually 0', 'something is infinitely far off');
SELECT is(found('least') || ', ' || found('most'), 'passed: 0.1, ratio to the median Infinity, usually 0, failed: sum(v): ratio to the median not at most 2; 0.1, ratio to the median Infinity, usually 0', 'to the side on which it is');
SELECT is(look('zero', 'z', '{-0.1}') || ', ' || found('r') || ', ' || found('c'), 'failed: sum(v): robust z-score not between -3.5 and 3.5; -0.1, robust z-score -Infinity, usually 0, failed: sum(v): ratio to the median not between 0.5 and 2; -0.1, ratio to the median -Infinity, usually 0, failed: sum(v): relative change not between -0.5 and 0.5; -0.1, relative change -Infinity, usually 0', 'less than nothing is so below');
SELECT is(split_part(found('least'), ':', 1) || ', ' || split_part(found('most'), ':', 1), 'failed, passed', 'and fails a rule of the least');

-- negative numbers
SELECT gate('negative') \g /dev/null
SELECT dq_gate.expect_metric('negative', 'sum(v)', 'zscore', min_spread => 0, action => 'warn', name => 'z'), dq_gate.expect_metric('negative', 'sum(v)', action => 'warn', name => 'r'), dq_gate.expect_metric('negative', 'sum(v)', 'change', action => 'warn', name => 'c'), dq_gate.expect_metric('negative', 'sum(v)', 'zscore', action => 'warn', name => 'f'), history('negative', '{-8,-9,-10,-11,-10}') \g /dev/null
SELECT is(look('negative', 'z', '{-14}') || ', ' || found('r') || ', ' || found('c') || ', ' || found('f'), 'passed: -14, robust z-score -2.698, usually -10, passed: -14, ratio to the median 1.4, usually -10, passed: -14, relative change -0.4, usually -10, passed: -14, robust z-score -2.698, usually -10', 'less is less, where numbers are negative as well');
SELECT is(look('negative', 'c', '{-4}'), 'failed: sum(v): relative change not between -0.5 and 0.5; -4, relative change 0.6, usually -10', 'and more is more');
SELECT is(look('negative', 'r', '{5}') || ', ' || found('c'), 'failed: sum(v): ratio to the median not between 0.5 and 2; 5, ratio to the median -0.5, usually -10, failed: sum(v): relative change not between -0.5 and 0.5; 5, relative change 1.5, usually -10', 'another sign alarms');

-- one side
SELECT gate('side') \g /dev/null
SELECT dq_gate.expect_metric('side', 'sum(v)', 'zscore', max => 3.5, action => 'warn', name => 'high'), dq_gate.expect_metric('side', 'sum(v)', 'zscore', -3.5, action => 'warn', name => 'low'), dq_gate.expect_metric('side', 'sum(v)', 'change', min => 0, action => 'warn', name => 'grown'), dq_gate.expect_metric('side', 'sum(v)', 'bounds', max => 7, action => 'warn', name => 'few'), history('side', '{4,5,6,5,5}') \g /dev/null
SELECT is((SELECT string_agg(check_name || ' ' || rule, '; ' ORDER BY check_name) FROM dq_gate.checks_of('side') WHERE check_type = 'metric'), 'few sum(v): value at most 7; grown sum(v): relative change at least 0 of the last 14 batches; high sum(v): robust z-score at most 3.5 of the last 14 batches; low sum(v): robust z-score at least -3.5 of the last 14 batches', 'one bound leaves the other side open, not to the default');
SELECT look('side', 'high', '{1000}') \g /dev/null
SELECT is(not_passed(), 'few failed, high failed', 'too high');
SELECT look('side', 'high', '{-1000}') \g /dev/null
SELECT is(not_passed(), 'grown failed, low failed', 'too low');
SELECT is(look('side', 'few', '{7}') || ', ' || look('side', 'few', '{7.1}'), 'passed: 7, value 7, failed: sum(v): value not at most 7; 7.1, value 7.1', 'bounds of the value itself');
SELECT gate('bounds') \g /dev/null
SELECT dq_gate.expect_metric('bounds', 'avg(v)', 'bounds', 1, 2, name => 'b') \g /dev/null
SELECT is(load('bounds', '{1,3}') || ', ' || load('bounds', '{1,4}'), 'published, rejected', 'need no history');

-- filter
SELECT gate('filters') \g /dev/null
SELECT dq_gate.expect_metric('filters', 'count(*)', min_history => 1, filter => 'v > 10', action => 'warn', name => 'big'), dq_gate.expect_metric('filters', 'sum(v)', min_history => 1, filter => 'v > 10', action => 'warn', name => 'sum'), dq_gate.expect_metric('filters', 'count(v) / count(*)::numeric', min_history => 1, filter => 'id > 1', action => 'warn', name => 'rate'), load('filters', '{1,5,11,12,NULL}') \g /dev/null
SELECT results_eq($$ SELECT check_name, measured, examined_rows, expected_value FROM dq_gate.results_of(last_run()) WHERE check_type = 'metric' ORDER BY 1 $$,
	$$ VALUES ('big', (SELECT count(*) FROM s WHERE v > 10)::float8, 2::bigint, 'count(*): ratio to the median between 0.5 and 2 of the last 14 batches, where v > 10'), ('rate', 0.75, 4, 'count(v) / count(*)::numeric: ratio to the median between 0.5 and 2 of the last 14 batches, where id > 1'), ('sum', 23, 2, 'sum(v): ratio to the median between 0.5 and 2 of the last 14 batches, where v > 10') $$, 'a number of the rows that a filter picks');
SELECT is(look('filters', 'big', '{1,2,3}') || ', ' || found('sum'), 'failed: count(*): ratio to the median not between 0.5 and 2; 0, ratio to the median 0, usually 2, failed: sum(v): ratio to the median not between 0.5 and 2; no value, ratio to the median unknown, usually 23', 'if it picks none, their number is 0, and their sum unknown, which is no pass');
SELECT ok(look('filters', 'rate', '{1}') NOT LIKE 'passed%', 'nor is a share of nothing');

-- NULL, NaN and what is infinite
SELECT gate('odd') \g /dev/null
SELECT dq_gate.expect_metric('odd', 'sum(v)', m, CASE m WHEN 'bounds' THEN -1e9 END, CASE m WHEN 'bounds' THEN 1e9 END, min_history => 2, season => '1 day', action => 'warn', name => m) FROM unnest(ARRAY['ratio_to_median', 'change', 'zscore', 'bounds', 'forecast']) m \g /dev/null
CREATE FUNCTION statuses() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(check_name || ' ' || status, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_type = 'metric' $$;
SELECT history('odd', '{NULL,NaN}', '2024-01-01') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE gate = 'public.odd' AND baseline), 2::bigint, 'batches without a number are published');
SELECT is((SELECT string_agg(DISTINCT coalesce(measured::text, 'none'), ' ') FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE gate = 'public.odd' AND check_type = 'metric'), 'none', 'and measure none');
SELECT is(statuses(), 'bounds failed, change not_judged, forecast not_judged, ratio_to_median not_judged, zscore not_judged', 'NaN is between no bounds');
SELECT history('odd', '{10,12}', '2024-01-03') \g /dev/null
SELECT is(statuses(), 'bounds passed, change not_judged, forecast not_judged, ratio_to_median not_judged, zscore not_judged', 'a batch without a number is no history of it');
SELECT history('odd', '{14}', '2024-01-05') \g /dev/null
SELECT is(statuses() || '; ' || found('ratio_to_median'), 'bounds passed, change passed, forecast passed, ratio_to_median passed, zscore passed; passed: 14, ratio to the median 1.273, usually 11', 'two with one are');
SELECT look('odd', 'change', ARRAY[NULL]::float8[], '2024-01-06') \g /dev/null
SELECT is(statuses(), 'bounds failed, change failed, forecast failed, ratio_to_median failed, zscore failed', 'no number is no pass, by whatever method');
SELECT is(found('change'), 'failed: sum(v): relative change not between -0.5 and 0.5; no value, relative change unknown, usually 14', 'which is said');
SELECT is((SELECT string_agg(coalesce(measured::text, 'none'), ' ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'metric'), 'none none none none none', 'it measures none');
SELECT look('odd', 'change', '{NaN}', '2024-01-06') \g /dev/null
SELECT is(statuses(), 'bounds failed, change failed, forecast failed, ratio_to_median failed, zscore failed', 'nor is NaN');
SELECT look('odd', 'change', '{Infinity}', '2024-01-06') \g /dev/null
SELECT is(statuses(), 'bounds failed, change failed, forecast failed, ratio_to_median failed, zscore failed', 'nor is what is infinite');
SELECT look('odd', 'change', '{-Infinity}', '2024-01-06') \g /dev/null
SELECT is(statuses(), 'bounds failed, change failed, forecast failed, ratio_to_median failed, zscore failed', 'to either side');
SELECT history('odd', '{Infinity}', '2024-01-06') \g /dev/null
SELECT look('odd', 'change', '{15}', '2024-01-07') \g /dev/null
SELECT is(statuses() || '; ' || found('ratio_to_median'), 'bounds passed, change failed, forecast failed, ratio_to_median passed, zscore passed; passed: 15, ratio to the median 1.154, usually 13', 'once one was, a median does not mind, and the others fail');
SELECT history('odd', '{1e300,-1e300}', '2024-01-07') \g /dev/null
SELECT look('odd', 'change', '{1e-300}', '2024-01-09') \g /dev/null
SELECT ok(statuses() NOT LIKE '%forecast passed%' AND statuses() NOT LIKE '%change passed%', 'numbers that are too large to be squared are no pass');
SELECT gate('tiny') \g /dev/null
SELECT dq_gate.expect_metric('tiny', 'sum(v)', max => 2, min_history => 1, action => 'warn', name => 'r'), history('tiny', '{1e-300}') \g /dev/null
SELECT ok(look('tiny', 'r', '{1e300}') NOT LIKE 'passed%', 'nor is a ratio that is too large');

-- forecast: five weeks, in which weekends have fewer visitors
SELECT gate('weeks') \g /dev/null
SELECT dq_gate.expect_metric('weeks', 'sum(v)', 'forecast', history => 28, min_history => 10, action => 'warn', name => 'f'), dq_gate.expect_metric('weeks', 'sum(v)', 'forecast', history => 28, min_history => 10, min_spread => 0, action => 'warn', name => 'strict'), dq_gate.expect_metric('weeks', 'sum(v)', 'ratio_to_median', action => 'warn', name => 'no_season') \g /dev/null
CREATE TABLE weekly AS SELECT date '2024-01-01' + i AS day, ((ARRAY[100, 110, 120, 115, 105, 40, 30])[1 + i % 7] + (i * 31 % 7) - 3 + i / 7)::float8 AS x FROM generate_series(0, 34) i;
SELECT load('weeks', ARRAY[x], day) FROM weekly ORDER BY day \g /dev/null
SELECT is((SELECT string_agg(status || ' ' || n, ', ' ORDER BY status) FROM (SELECT status, count(*) AS n FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE gate = 'public.weeks' AND check_name = 'f' GROUP BY 1) c), 'not_judged 10, passed 25', 'a weekly pattern does not alarm');
SELECT is((SELECT string_agg(DISTINCT to_char(as_of, 'ID'), ' ') FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE gate = 'public.weeks' AND check_name = 'no_season' AND status = 'failed'), '6 7', 'where a method that knows of no week would do so');
-- the forecast and its interval by hand: what was a week ago, give or take 1.96 times the root of the mean of squared residuals
SELECT (SELECT x FROM weekly WHERE day = '2024-01-29') AS usual, sqrt(sum((a.x - b.x) * (a.x - b.x)) / count(*)) AS sd, count(*) AS residuals FROM weekly a, weekly b WHERE a.day BETWEEN '2024-01-08' AND '2024-02-04' AND b.day = a.day - 7 AND b.day >= '2024-01-08' \gset
SELECT is(:residuals, 21, 'four weeks of history have three of residuals');
SELECT is(look('weeks', 'strict', ARRAY[:usual + 1.95 * :sd], '2024-02-05') || ', ' || look('weeks', 'strict', ARRAY[:usual - 1.95 * :sd], '2024-02-05'), format('passed: %s, deviations from the forecast 1.95, usually %s, passed: %s, deviations from the forecast -1.95, usually %s', :usual + 1.95 * :sd, :usual, :usual - 1.95 * :sd, :usual), 'what lies in the interval of 95% passes');
SELECT is(split_part(look('weeks', 'strict', ARRAY[:usual + 1.97 * :sd], '2024-02-05'), ':', 1) || ' ' || split_part(look('weeks', 'strict', ARRAY[:usual - 1.97 * :sd], '2024-02-05'), ':', 1), 'failed failed', 'what does not fails');
SELECT is(split_part(look('weeks', 'f', '{35}', '2024-02-05'), ';', 1), 'failed: sum(v): deviations from the forecast not between -1.96 and 1.96', 'a Monday like a Sunday breaks the pattern');
SELECT is(look('weeks', 'f', '{105}', '2024-02-12'), 'not_judged: no batch to compare with', 'where there was none a week ago there is nothing to compare with');
SELECT is((SELECT ROW(passed, measured, status)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'f'), '(,105,not_judged)', 'the number is measured all the same');
SELECT is(look('weeks', 'f', '{105}'), 'not_judged: no batch to compare with', 'nor is there for a run without a date');
-- the same every week: min_spread
SELECT gate('clockwork') \g /dev/null
SELECT dq_gate.expect_metric('clockwork', 'sum(v)', 'forecast', history => 21, min_spread => 0.05, season => '1 week', action => 'warn', name => 'f'), history('clockwork', ARRAY(SELECT (ARRAY[100, 100, 100, 100, 100, 40, 0])[1 + i % 7] FROM generate_series(0, 20) i), '2024-01-01') \g /dev/null
SELECT is(look('clockwork', 'f', '{109}', '2024-01-22') || ', ' || split_part(look('clockwork', 'f', '{110}', '2024-01-22'), ':', 1), 'passed: 109, deviations from the forecast 1.8, usually 100, failed', 'a history without residuals has the spread that is said');
SELECT is(look('clockwork', 'f', '{0}', '2024-01-28'), 'passed: 0, deviations from the forecast 0, usually 0', 'nothing where there is always nothing');
SELECT is(split_part(look('clockwork', 'f', '{1}', '2024-01-28'), ';', 2), ' 1, deviations from the forecast Infinity, usually 0', 'and anything else is infinitely far off');
-- a season of a day: the naive forecast
SELECT gate('naive') \g /dev/null
SELECT dq_gate.expect_metric('naive', 'sum(v)', 'forecast', season => '1 day', min_spread => 0, action => 'warn', name => 'f'), history('naive', '{10,13,12,14,13}', '2024-02-27') \g /dev/null
SELECT is(look('naive', 'f', '{16.75}', '2024-03-03'), 'passed: 16.75, deviations from the forecast 1.936, usually 13', 'residuals 3, -1, 2, -1 have a root mean square of 1.936');
SELECT is(split_part(look('naive', 'f', '{16.9}', '2024-03-03'), ';', 2), ' 16.9, deviations from the forecast 2.014, usually 13', 'and the interval ends at 16.8');

-- by other groups than the last batches
SELECT gate('weekday') \g /dev/null
SELECT dq_gate.expect_metric('weekday', 'sum(v)', 'zscore', history => 4, min_history => 3, by => 'weekday', action => 'warn', name => 'z'), dq_gate.expect_metric('weekday', 'sum(v)', 'change', history => 2, min_history => 1, by => 'days', action => 'warn', name => 'days') \g /dev/null
SELECT load('weekday', ARRAY[x], day) FROM weekly ORDER BY day \g /dev/null
SELECT is((SELECT string_agg(status || ' ' || n, ', ' ORDER BY status) FROM (SELECT status, count(*) AS n FROM dq_gate.runs JOIN dq_gate.results USING (run_id) WHERE gate = 'public.weekday' AND check_name = 'z' AND baseline GROUP BY 1) c), 'not_judged 21, passed 14', 'weekdays are compared with weekdays');
SELECT is((SELECT substring(found FROM 'usually .*') FROM look('weekday', 'z', '{100}', '2024-02-05') AS found), 'usually ' || (SELECT middle(array_agg(x)) FROM weekly WHERE to_char(day, 'ID') = '1' AND day > '2024-01-01'), 'the last four of them');
SELECT is(look('weekday', 'days', '{35}', '2024-02-05') || ', ' || look('weekday', 'days', '{35}', '2024-02-07'), (SELECT format('passed: 35, relative change %s, usually %s', round(((35 - x) / x)::numeric, 3)::float8, x) FROM weekly WHERE day = '2024-02-04') || ', not_judged: not enough history (0 of 1)', 'or with those of so many days');

-- two metrics in one gate, the same number by two methods, all at once
SELECT gate('two') \g /dev/null
SELECT dq_gate.expect_metric('two', 'min(v)', min_history => 2, action => 'warn', name => 'a'), dq_gate.expect_metric('two', 'max(v)', min_history => 2, action => 'warn', name => 'b'), dq_gate.expect_metric('two', 'max(v)', 'change', min_history => 2, action => 'warn', name => 'c'), load('two', '{1,10}'), load('two', '{3,30}') \g /dev/null
SELECT is(look('two', 'a', '{2,30}') || ', ' || found('b') || ', ' || found('c'), 'passed: 2, ratio to the median 1, usually 2, passed: 30, ratio to the median 1.5, usually 20, passed: 30, relative change 0, usually 30', 'each has a history of its own');
SELECT dq_gate.expect_metric('two', 'max(v)', min_history => 1, action => 'warn', name => 'later') \g /dev/null
SELECT is(look('two', 'later', '{2,30}'), 'not_judged: not enough history (0 of 1)', 'which begins when it is declared');
SELECT gate('other') \g /dev/null
SELECT dq_gate.expect_metric('other', 'min(v)', min_history => 1, action => 'warn', name => 'a') \g /dev/null
SELECT is(look('other', 'a', '{2,30}'), 'not_judged: not enough history (0 of 1)', 'and is none of another gate');

-- as of a date again
SELECT gate('again') \g /dev/null
SELECT dq_gate.expect_metric('again', 'sum(v)', min_history => 2, action => 'warn', name => 'm'), history('again', '{10,20,90}', '2024-01-01'), load('again', '{24}', '2024-01-03') \g /dev/null
SELECT is(found('m'), 'passed: 24, ratio to the median 1.6, usually 15', 'a date that is loaded again is not compared with itself');
SELECT is(look('again', 'm', '{20}', '2024-01-04'), 'passed: 20, ratio to the median 1, usually 20', 'and counts once');
SELECT load('again', '{15}', '2023-06-30') \g /dev/null
SELECT is(found('m'), 'not_judged: not enough history (0 of 2)', 'an old date has no history in later ones');

-- what another check measures: the share of rows that fail it
SELECT gate('share') \g /dev/null
SELECT dq_gate.expect_not_null('share', 'v', action => 'warn'), dq_gate.expect_range('share', 'v', 0, 10, action => 'warn', name => 'range'), dq_gate.expect_sql('share', 'zz', 'v < 5', action => 'warn', filter => 'v IS NOT NULL') \g /dev/null
SELECT is(dq_gate.expect_metric('share', 'v_not_null', 'bounds', max => 0.4, name => 'a_nulls'), 'a_nulls', 'the share of NULLs');
SELECT dq_gate.expect_metric('share', 'range', 'bounds', max => 0.4, name => 'a_range'), dq_gate.expect_metric('share', 'zz', min_history => 1, action => 'warn', name => 'a_rule'), dq_gate.expect_metric('share', 'key_unique', 'bounds', max => 0, name => 'a_key'), dq_gate.expect_metric('share', 'id_not_null', 'bounds', 0, 0, name => 'id_nulls') \g /dev/null
SELECT is((SELECT ROW(check_type, columns, rule)::text FROM dq_gate.checks_of('share') WHERE check_name = 'a_nulls'), '(metric,{},"what is measured by v_not_null: value at most 0.4")', 'as checks_of shows it');
SELECT is(load('share', '{1,2,NULL,11,7,7,7,7}') || ' ' || found('a_nulls') || ', ' || found('a_range') || ', ' || found('a_key') || ', ' || found('id_nulls'), 'published passed: 0.125, value 0.125, passed: 0.125, value 0.125, passed: 0, value 0, passed: 0, value 0', 'of all rows');
SELECT results_eq($$ SELECT check_name, measured FROM dq_gate.results_of(last_run()) WHERE check_name IN ('v_not_null', 'range', 'zz', 'a_nulls', 'a_range', 'a_rule') ORDER BY 1 $$,
	$$ SELECT v.* FROM (SELECT avg(CASE WHEN v IS NULL THEN 1 ELSE 0 END)::float8 AS nulls, avg(CASE WHEN v > 10 OR v < 0 THEN 1 ELSE 0 END)::float8 AS beyond, (avg(CASE WHEN v >= 5 THEN 1 ELSE 0 END) FILTER (WHERE v IS NOT NULL))::float8 AS large FROM s) c,
		LATERAL (VALUES ('a_nulls', nulls), ('a_range', beyond), ('a_rule', large), ('range', beyond), ('v_not_null', nulls), ('zz', large)) AS v $$, 'or of those that a filter picks, as counted by hand');
SELECT is(load('share', '{1,NULL,NULL,NULL,5}') || ' ' || found('a_nulls'), 'rejected failed: what is measured by v_not_null: value not at most 0.4; 0.6, value 0.6', 'what was a warning can block by its share');
SELECT is(look('share', 'a_rule', '{1,2,7,7,7,7,7}'), 'passed: 0.7142857142857143, ratio to the median 1, usually 0.7142857142857143', 'shares are compared with shares');
SELECT is(look('share', 'a_rule', '{1,2,3,7}'), 'failed: what is measured by zz: ratio to the median not between 0.5 and 2; 0.25, ratio to the median 0.35, usually 0.7142857142857143', 'in all their digits');

-- counts and numbers of other kinds
SELECT gate('kinds') \g /dev/null
SELECT dq_gate.expect_row_count('kinds', 1, name => 'rows'), dq_gate.expect_aggregate('kinds', 'avg', 'avg(v)', -1000, 1000), dq_gate.expect_distinct('kinds', '{v}', 0, name => 'different', action => 'warn'), dq_gate.expect_query('kinds', 'q', 'SELECT count(*) * 2 FROM kinds', 0, 1000) \g /dev/null
SELECT dq_gate.expect_metric('kinds', c, 'bounds', 0, 3, action => 'warn', name => 'm_' || c) FROM unnest(ARRAY['rows', 'avg', 'different', 'q', 'volume']) c \g /dev/null
SELECT is(load('kinds', '{1,1,4}'), 'published', 'what is measured by checks of other types');
SELECT results_eq($$ SELECT check_name, status, measured, message FROM dq_gate.results_of(last_run()) WHERE check_type = 'metric' ORDER BY 1 $$,
	$$ VALUES ('m_avg', 'passed', 2::float8, NULL), ('m_different', 'passed', 2, NULL), ('m_q', 'passed', 0, NULL), ('m_rows', 'passed', 3, NULL), ('m_volume', 'not_judged', NULL, 'check volume has measured nothing') $$, 'is the number that they found; where they found none nothing is judged');
SELECT load('kinds', '{5,5,5}') FROM generate_series(1, 4) \g /dev/null
SELECT is(look('kinds', 'm_volume', '{1,2,3}') || ', ' || found('m_q') || ', ' || found('m_avg'), 'passed: 3, value 3, failed: what is measured by q: value not between 0 and 3; 6, value 6, passed: 2, value 2', 'once they find one it is');
-- a check that cannot be evaluated, that is only declared, that has no rows to judge
SELECT gate('nothing') \g /dev/null
SELECT dq_gate.expect_sql('nothing', 'broken', '1 / (id - 1) > 0', action => 'warn'), dq_gate.expect_not_null('nothing', 'v', action => 'declare'), dq_gate.expect_not_null('nothing', 'k', action => 'warn', filter => 'v > 100') \g /dev/null
SELECT dq_gate.expect_metric('nothing', c, 'bounds', 0, 1, name => 'm_' || c) FROM unnest(ARRAY['broken', 'v_not_null', 'k_not_null']) c \g /dev/null
SELECT is(load('nothing', '{1,2}'), 'published', 'what measures nothing');
SELECT results_eq($$ SELECT check_name, status, passed, measured, message FROM dq_gate.results_of(last_run()) WHERE check_type = 'metric' ORDER BY 1 $$,
	$$ SELECT 'm_' || c, 'not_judged', NULL::bool, NULL::float8, format('check %s has measured nothing', c) FROM unnest(ARRAY['broken', 'k_not_null', 'v_not_null']) c $$, 'is not judged, and says why');
-- a check that is gone
SELECT dq_gate.drop_check('nothing', 'v_not_null') \g /dev/null
SELECT is(load('nothing', '{1,2}') || ' ' || found('m_v_not_null'), 'rejected error: could not be evaluated: there is no check v_not_null any more', 'a check that is gone is an error, and keeps the batch out');
SELECT dq_gate.drop_check('nothing', 'm_v_not_null'), dq_gate.expect_not_null('nothing', 'v', action => 'warn'), dq_gate.expect_metric('nothing', 'v_not_null', 'bounds', 0, 1, action => 'warn', name => 'm_v_not_null'), dq_gate.drop_check('nothing', 'v_not_null') \g /dev/null
SELECT is(load('nothing', '{1,2}') || ' ' || found('m_v_not_null'), 'published error: could not be evaluated: there is no check v_not_null any more', 'with action warn the batch passes, but the check does not');
SELECT dq_gate.expect_not_null('nothing', 'v', action => 'warn') \g /dev/null
SELECT is(load('nothing', '{1,NULL}') || ' ' || found('m_v_not_null'), 'published passed: 0.5, value 0.5', 'once it is back the metric is');
-- names come first, of whatever kind
SELECT gate('names') \g /dev/null
SELECT dq_gate.expect_not_null('names', 'v', action => 'warn', name => 'sum(v)'), dq_gate.expect_metric('names', 'sum(v)', 'bounds', 0, 1, name => 'm'), dq_gate.expect_not_null('names', 'v', action => 'warn', name => 'Share "of" NULL''s %s $1'), dq_gate.expect_metric('names', 'Share "of" NULL''s %s $1', 'bounds', max => 0, name => 'Met"ric''s %s $1') \g /dev/null
SELECT is(load('names', '{8,8,8,NULL}') || ' ' || found('m'), 'rejected passed: 0.25, value 0.25', 'a check of the name comes before an expression');
SELECT is(found('Met"ric''s %s $1'), 'failed: what is measured by Share "of" NULL''s %s $1: value not at most 0; 0.25, value 0.25', 'O09: names of any kind');
CREATE TABLE "Odd"" Table" (id int PRIMARY KEY, "select" float8, "a""b %s" float8);
CREATE TABLE "Odd s" AS SELECT 1 AS id, 2::float8 AS "select", 3::float8 AS "a""b %s";
SELECT dq_gate.expect_metric('"Odd"" Table"', 'sum("select" * "a""b %s")', 'bounds', 6, 6, name => 'm'), (dq_gate.publish('"Odd s"', '"Odd"" Table"')).verdict \g /dev/null
SELECT is(found('m'), 'passed: 6, value 6', 'O09: columns of any name');

-- without samples the number is in measured, since it is history, and nowhere else
SELECT gate('secret') \g /dev/null
SELECT dq_gate.expect_metric('secret', 'max(v)', min_history => 2, samples => false, action => 'warn', name => 'm'), dq_gate.expect_not_null('secret', 'v', action => 'warn'), dq_gate.expect_metric('secret', 'v_not_null', 'bounds', max => 0.1, samples => false, action => 'warn', name => 'share'), history('secret', '{4321,4320}') \g /dev/null
SELECT is((SELECT ROW(actual_value, measured)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'm'), '(,4320)', 'a number that is not judged yet is not shown');
SELECT is(look('secret', 'm', '{98765,NULL}'), 'failed: max(v): ratio to the median not between 0.5 and 2', 'without samples it says what is wrong');
SELECT is((SELECT ROW(actual_value, sample, measured)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'm'), '(,,98765)', 'and not the number');
SELECT is(found('share'), 'failed: what is measured by v_not_null: value not at most 0.1', 'of another check as well');
SELECT ok(look('secret', 'm', '{4321}') LIKE 'passed%' AND NOT EXISTS (SELECT FROM dq_gate.runs r JOIN dq_gate.results c USING (run_id) WHERE gate = 'public.secret' AND status <> 'not_judged' AND concat_ws(' ', message, actual_value, sample, failures, expected_value) ~ '432[01]|98765'), 'nor does a pass or the run show it');
SELECT dq_gate.expect_aggregate('secret', 'agg', 'max(v)', 0, samples => false), dq_gate.expect_metric('secret', 'agg', 'bounds', 0, 1, action => 'warn', name => 'of_agg') \g /dev/null
SELECT ok(look('secret', 'of_agg', '{4321}') ~ '^(failed|not_judged)' AND found('of_agg') !~ '4321', 'what another check does not show, its metric does not either');

-- a batch without rows, in a gate that does not enforce
SELECT gate('none') \g /dev/null
SELECT dq_gate.alter_gate('none', enforce => false), dq_gate.expect_metric('none', 'count(*)', min_history => 1, name => 'n'), dq_gate.expect_metric('none', 'count(v) / count(*)', min_history => 1, name => 'd'), dq_gate.expect_metric('none', 'max(v)', min_history => 1, name => 'x'), load('none', '{1,2}') \g /dev/null
SELECT load('none', '{}') \g /dev/null
SELECT is(found('n') || ', ' || found('x'), 'failed: count(*): ratio to the median not between 0.5 and 2; 0, ratio to the median 0, usually 2, failed: max(v): ratio to the median not between 0.5 and 2; no value, ratio to the median unknown, usually 2', 'a batch without rows is judged');
SELECT ok(found('d') NOT LIKE 'passed%', 'a division by the number of its rows is no pass');
SELECT is(look('none', 'n', '{1,2}'), 'passed: 2, ratio to the median 1, usually 2', 'nor is it history');

-- values as the target has them, of all numbers
CREATE TABLE texts (id text, v text, n text, k text);
INSERT INTO texts VALUES ('1', ' 1.5', '100000000000000000000.10', 'a'), ('2', '2', '0.0100', 'b');
SELECT gate('types') \g /dev/null
SELECT dq_gate.expect_metric('types', 'sum(v)', 'bounds', 3.5, 3.5, name => 'f'), dq_gate.expect_metric('types', 'max(n)', 'bounds', 1e19, 1e21, name => 'n'), dq_gate.expect_metric('types', 'min(id)', 'bounds', 1, 1, name => 'i'), dq_gate.expect_metric('types', 'count(DISTINCT k)', 'bounds', 2, 2, name => 'd'), dq_gate.expect_metric('types', 'corr(id, v)', 'bounds', 0.999, 1.001, name => 'c'), dq_gate.expect_metric('types', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY v)', 'bounds', 1.75, 1.75, name => 'p'), dq_gate.expect_metric('types', 'sum(id::money)', 'bounds', 3, 3, name => 'money'), dq_gate.expect_metric('types', 'avg(length(k)) FILTER (WHERE k <> ''a'')', 'bounds', 1, 1, name => 'l') \g /dev/null
SELECT is((dq_gate.publish('texts', 'types')).verdict || coalesce(not_passed(), ''), 'published', 'staged as text, values are those of the target; aggregates of any kind');
SELECT is((SELECT string_agg(actual_value, '; ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_name IN ('f', 'n')), '3.5, value 3.5; 1e+20, value 100000000000000000000', 'large numbers are numbers');

-- what is gone at run time
SELECT gate('gone') \g /dev/null
SELECT dq_gate.expect_metric('gone', 'sum(v)', 'bounds', 0, 1, name => 'm'), load('gone', '{1}') \g /dev/null
ALTER TABLE gone DROP COLUMN v;
CREATE TABLE less AS SELECT 2 AS id, 1::numeric AS n, 'x' AS k;
SELECT is((dq_gate.publish('less', 'gone')).verdict || ' ' || substring(found('m') FROM '^error: could not be evaluated: .*v'), 'rejected error: could not be evaluated: column v', 'a column that is gone is an error');

-- operators of the caller
CREATE SCHEMA trap;
CREATE FUNCTION trap.always(float8, float8) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION trap.one(float8, float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1::float8';
CREATE OPERATOR trap.>= (LEFTARG = float8, RIGHTARG = float8, FUNCTION = trap.always);
CREATE OPERATOR trap.= (LEFTARG = float8, RIGHTARG = float8, FUNCTION = trap.always);
CREATE OPERATOR trap./ (LEFTARG = float8, RIGHTARG = float8, FUNCTION = trap.one);
SET search_path = trap, pg_catalog, public;
SELECT look('constant', 'r', '{1}') AS r, found('z') AS z \gset
RESET search_path;
SELECT is(:'r' || ', ' || :'z', 'failed: sum(v): ratio to the median not between 0.5 and 2; 1, ratio to the median 0.01, usually 100, failed: sum(v): robust z-score not between -3.5 and 3.5; 1, robust z-score -9.9, usually 100', 'operators of the caller do not change the answer');

-- by a role that cannot read the log
SELECT gate('hidden') \g /dev/null
GRANT SELECT ON s TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON hidden TO dq_loader;
SELECT dq_gate.alter_gate('hidden', run_as => 'dq_loader'), dq_gate.expect_metric('hidden', 'sum(v)', min_history => 2, action => 'warn', name => 'm'), history('hidden', '{7,9}') \g /dev/null
REVOKE SELECT ON hidden FROM dq_loader;
SET ROLE dq_loader;
SELECT dq_gate.audit('s', 'hidden') \g /dev/null
SELECT count(*) AS seen FROM dq_gate.results JOIN dq_gate.runs USING (run_id) WHERE gate = 'public.hidden' \gset
RESET ROLE;
SELECT is(:seen || ' ' || found('m'), '0 passed: 9, ratio to the median 1.125, usually 8', 'a role that sees no result is told the median all the same');

-- refused when declared
SELECT dq_gate.expect_metric('share', 'sum(v)', name => 'base') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_metric(''share'', %s, name => ''x'')', call), state, pattern, name) FROM (VALUES
	('NULL', '22004', '"metric" must not be NULL', 'no metric'),
	('''''', '22004', '"metric" must not be NULL or empty', 'an empty one'),
	('''sum(v)'', NULL', '22004', '"method" must not be NULL', 'no method'),
	('''sum(v)'', ''median''', '22023', 'method "median" is not known[^$]*"ratio_to_median", "change", "zscore", "bounds", "forecast"', 'another method'),
	('''sum(v)'', ''bounds''', '22023', '"bounds" needs min, max or both', 'bounds without one'),
	('''sum(v)'', ''zscore'', 3, -3', '22023', 'min 3 is above max -3', 'bounds the wrong way round'),
	('''sum(v)'', ''zscore'', ''NaN''', '22023', '"min" must not be NaN', 'NaN'),
	('''sum(v)'', min_spread => -0.1', '22023', '"min_spread" must not be negative', 'a negative spread'),
	('''sum(v)'', min_spread => ''NaN''', '22023', '"min_spread" must not be NaN', 'a spread of NaN'),
	('''sum(v)'', ''forecast'', season => ''-1 day''', '22023', '"season" must not be negative', 'a season that is still to come'),
	('''sum(v)'', ''forecast'', season => ''0''', '22023', 'season', 'a season of no time'),
	('''sum(v)'', history => 0', '22023', 'history cannot be 0[^$]*from 1 to 1000', 'no history'),
	('''sum(v)'', min_history => 15', '22023', 'min_history cannot be 15[^$]*from 1 to the history of 14', 'to wait for more than what is looked at'),
	('''sum(v)'', history => NULL', '22004', '"history" and "min_history" must not be NULL', 'NULL'),
	('''sum(v)'', by => ''month''', '22023', 'by "month" is not known', 'by something else'),
	('''base''', '22023', 'check base is about a metric itself[^$]*Name its metric', 'a metric of a metric'),
	('''not_empty''', '22023', 'check not_empty, of type "not_empty", measures no number', 'a metric of a check that has none'),
	('''schema_contract''', '22023', 'check schema_contract, of type "schema_contract", measures no number', 'of another one'),
	('''x''', '42703', 'x', 'a metric of itself'),
	('''v_not_null'', filter => ''v > 1''', '22023', 'does not take a filter[^$]*Give check v_not_null the filter', 'a filter for what another check measures'),
	('''v''', '42803', 'made of aggregates', 'a column'),
	('''1''', '42803', 'made of aggregates', 'a constant'),
	('''max(k)''', '42804', 'must be a number, not of type text', 'a text'),
	('''bool_and(v > 1)''', '42804', 'must be a number, not of type boolean', 'a truth'),
	('''sum(v) OVER ()''', '42803', 'made of aggregates', 'a window'),
	('''sum(nothing)''', '42703', 'nothing', 'a column that is not there'),
	('''sum(v'', ''change''', '42601', '.', 'what does not parse'),
	('''sum(v); SELECT 1''', '42601', '.', 'two statements'),
	('''sum(v)'', filter => ''nothing > 1''', '42703', 'nothing', 'a filter that does not parse'),
	('''sum(v)'', action => ''quarantine''', '22023', 'metric[^$]*quarantine[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved'),
	('''sum(v)'', nulls => ''fail''', '22023', '"metric" does not take "nulls"[^$]*batch as a whole', 'what to do with NULL'),
	('''sum(v)'', max_rate => 0.1', '22023', '"metric" does not take "max_rate"', 'a rate'),
	('''sum(v)'', max_rows => 1', '22023', '"metric" does not take "max_rows"', 'a number of rows'),
	('''sum(v)'', warn_above => 1', '22023', '"metric" does not take "warn_above"', 'a level')) AS v (call, state, pattern, name);
SELECT raises('SELECT dq_gate.expect_metric(''share'', ''sum(v)'', name => ''base'')', '42710', 'check base of gate public.share already exists', 'a name that is taken');
SELECT is((SELECT count(*) FROM dq_gate.checks WHERE target = 'share'::regclass AND name = 'x'), 0::bigint, 'nothing of that was kept');
SELECT raises('SELECT dq_gate.expect_metric(NULL, ''sum(v)'', name => ''x'')', '22004', '"target" must not be NULL', 'no target');

-- rules as code
SELECT dq_gate.export_gate('weeks') AS definition \gset
SELECT is((SELECT c -> 'arguments' FROM jsonb_array_elements(:'definition'::jsonb -> 'checks') c WHERE c ->> 'name' = 'f'), '{"by": "batches", "action": "warn", "method": "forecast", "metric": "sum(v)", "season": "7 days", "history": 28, "min_spread": 0.1, "min_history": 10}', 'it is exported with its arguments');
SELECT drop_all('weeks') \g /dev/null
SELECT dq_gate.import_gate(:'definition'::jsonb) \g /dev/null
SELECT is(split_part(look('weeks', 'f', '{35}', '2024-02-05'), ';', 1), 'failed: sum(v): deviations from the forecast not between -1.96 and 1.96', 'imported again, it has its history');
SELECT finish();
