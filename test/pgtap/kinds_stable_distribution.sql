-- expect_stable_distribution: the values of a column are spread as in earlier batches
\ir include/helpers.sql
SELECT plan(149);
SET client_min_messages = error;

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN score AS int CHECK (VALUE >= 0);
CREATE TABLE columns (id int, k text, x float8, n int, m numeric, d date, at timestamptz, ts timestamp, e mood, b bool, u uuid, a int[], sc score, vc varchar(200), j json, jb jsonb, i interval);
CREATE TABLE s (LIKE columns);
CREATE FUNCTION found(name text) RETURNS text LANGUAGE sql AS
	$$ SELECT status || ': ' || coalesce(message, actual_value, '') FROM dq_gate.results_of(last_run()) WHERE check_name = name $$;
-- a gate with a table of these columns, and batches of any size
CREATE FUNCTION gate(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (LIKE columns, g int GENERATED ALWAYS AS (id * 2) STORED, PRIMARY KEY (id))', name);
	PERFORM dq_gate.create_gate(name::regclass), dq_gate.expect_volume(name::regclass, action => 'declare');
END
$$;
CREATE FUNCTION stage(columns text, query text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE s;
	EXECUTE format('INSERT INTO s (id, %s) SELECT row_number() OVER (), q.* FROM (%s) q', columns, query);
END
$$;
CREATE FUNCTION load(target regclass, columns text, query text, times int DEFAULT 1) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM stage(columns, query);
	RETURN (SELECT max((dq_gate.publish('s', target)).verdict) FROM generate_series(1, times));
END
$$;
CREATE FUNCTION look(target regclass, name text, columns text, query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM stage(columns, query);
	PERFORM dq_gate.audit('s', target);
	RETURN found(name);
END
$$;
CREATE FUNCTION statistic() RETURNS float8 LANGUAGE sql AS $$ SELECT measured FROM dq_gate.results_of(last_run()) WHERE check_type = 'stable_distribution' ORDER BY check_no DESC LIMIT 1 $$;
-- so many rows of each
CREATE FUNCTION rows_of(counts jsonb) RETURNS SETOF text LANGUAGE sql AS $$ SELECT key FROM jsonb_each_text(counts), generate_series(1, value::int) $$;
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE check_type = 'stable_distribution' $$;

-- as it is declared, and the results
SELECT gate('t') \g /dev/null
SELECT is(dq_gate.expect_stable_distribution('t', 'k'), 'k_stable_distribution', 'it is named after its column');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'k_stable_distribution'),
	'(stable_distribution,{k},"k spread as in the last 14 batches, psi at most 0.2",block,,declared)', 'as checks_of shows it');
SELECT is(load('t', 'k', $$ SELECT rows_of('{"a": 50, "b": 40, "c": 10}') $$) || ' ' || found('k_stable_distribution'), format('published not_judged: not enough history (%s of 5)', no), 'first runs do not alarm: ' || no) FROM generate_series(0, 4) no;
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, failing_rows, measured, sample)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'k_stable_distribution'), '(not_judged,,"k spread as in the last 14 batches, psi at most 0.2",,"psi at most 0.2",,,)', 'the result of a check that is not judged');
SELECT results_eq('SELECT column_name, row_count, distinct_count FROM dq_gate.profiles ORDER BY run_id', $$ SELECT 'k', 100::bigint, 3::bigint FROM generate_series(1, 5) $$, 'to be compared, the column is profiled, and no other');
SELECT is(look('t', 'k_stable_distribution', 'k', $$ SELECT rows_of('{"a": 50, "b": 40, "c": 10}') $$), 'passed: 0', 'the same is the same');
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, examined_rows, failing_rows, null_rows, measured, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'k_stable_distribution'),
	'(passed,t,"k spread as in the last 14 batches, psi at most 0.2",0,"psi at most 0.2",100,,,0,,)', 'the result of a pass');
SELECT is(look('t', 'k_stable_distribution', 'k', $$ SELECT * FROM rows_of('{"c": 100, "a": 500, "b": 400}') r ORDER BY md5(r || random()) $$), 'passed: 0', 'the same in another order and number is the same');
SELECT is(load('t', 'k', $$ SELECT rows_of('{"a": 50, "b": 40, "d": 10}') $$) || ' ' || found('k_stable_distribution'), 'rejected failed: k not spread as in the last 14 batches: psi 0.9118, new: d (10.0%), vanished: c (10.0%)', 'one category for another: both are named');
SELECT is((SELECT ROW(status, passed, actual_value, measured, sample)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'k_stable_distribution'), '(failed,f,0.9118,0.9118,)', 'the result of a failure');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), '{"k_stable_distribution: k not spread as in the last 14 batches: psi 0.9118"}', 'what the run says names no value of a row');
SELECT results_eq('SELECT DISTINCT failed_checks FROM dq_quarantine.t', $$ VALUES ('{}'::text[]) $$, 'no row in particular is to blame');
SELECT is(look('t', 'k_stable_distribution', 'k', $$ SELECT rows_of('{"a": 50, "b": 40, "c": 10}') $$), 'passed: 0', 'what was rejected is no history');
SELECT drop_all('t'), dq_gate.expect_stable_distribution('t', 'k', action => 'skip', name => 'stable') \g /dev/null
SELECT is(load('t', 'k', $$ SELECT rows_of('{"a": 100}') $$), 'skipped', 'such a batch can be left alone');
SELECT is(found('stable'), 'failed: k not spread as in the last 14 batches: psi 3.1931, vanished: b (40.0%), vanished: c (10.0%)', 'all that is missing is named');
SELECT drop_all('t'), dq_gate.expect_stable_distribution('t', 'k', action => 'declare', name => 'stable') \g /dev/null
SELECT is(load('t', 'k', $$ SELECT rows_of('{"z": 100}') $$) || ' ' || found('stable'), 'published not_judged: declared only, not evaluated', 'or the rule be declared alone');
SELECT drop_all('t') \g /dev/null

-- psi: a worked example has shares of 0.4, 0.3, 0.3, and then of 0.35, 0.25, 0.4: 0.0446
SELECT gate('example') \g /dev/null
SELECT dq_gate.expect_stable_distribution('example', 'k', min_history => 1), dq_gate.expect_stable_distribution('example', 'k', max => 0.0445, min_history => 1, action => 'warn', name => 'strict'), load('example', 'k', $$ SELECT rows_of('{"low": 4000, "medium": 3000, "high": 3000}') $$) \g /dev/null
SELECT is(look('example', 'k_stable_distribution', 'k', $$ SELECT rows_of('{"low": 7000, "medium": 5000, "high": 8000}') $$) || ', ' || found('strict'), 'passed: 0.0446, failed: k not spread as in the last 14 batches: psi 0.0446', 'psi of a worked example');
-- a share of none counts as 0.1%; earlier batches count the same, whatever their size
SELECT gate('weights') \g /dev/null
SELECT dq_gate.expect_stable_distribution('weights', 'k', max => 0, history => 2, min_history => 1, action => 'warn'), load('weights', 'k', $$ SELECT rows_of('{"q": 100}') $$), load('weights', 'k', $$ SELECT rows_of('{"a": 60, "b": 40}') $$), load('weights', 'k', $$ SELECT rows_of('{"a": 200, "b": 700, "c": 100}') $$) \g /dev/null
SELECT is(look('weights', 'k_stable_distribution', 'k', $$ SELECT rows_of('{"a": 40, "b": 55, "c": 5}') $$), 'passed: 0', 'usual is the mean of the shares');
SELECT look('weights', 'k_stable_distribution', 'k', $$ SELECT rows_of('{"a": 60, "b": 40}') $$) \g /dev/null
SELECT is(found('k_stable_distribution'), (SELECT format('failed: k not spread as in the last 2 batches: psi %s, vanished: c (5.0%%)', round(sum((new - old) * ln(new / old)), 4)) FROM (VALUES (0.6, 0.4), (0.4, 0.55), (0.001, 0.05)) AS v (new, old)), 'by hand');

-- chi-square of two samples (a very large one is as good as a known distribution): given as a deviate of the normal distribution, so that tables of chi-square hold: 10.828 of 1 degree of freedom is 3.09
SELECT gate('chi') \g /dev/null
SELECT dq_gate.expect_stable_distribution('chi', 'k', 'chi_square', min_history => 1, min_rows => 10, action => 'warn'), load('chi', 'k', $$ SELECT rows_of('{"1": 10000, "2": 10000, "3": 10000, "4": 10000, "5": 10000, "6": 10000}') $$) \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('chi') WHERE check_type = 'stable_distribution'), 'k spread as in the last 14 batches, chi_square at most 3.09', 'chi-square in words');
SELECT look('chi', 'k_stable_distribution', 'k', $$ SELECT rows_of('{"1": 5, "2": 8, "3": 9, "4": 8, "5": 10, "6": 20}') $$) \g /dev/null
SELECT cmp_ok(abs(statistic() - 2.0556), '<', 0.01::float8, 'a die that shows 5, 8, 9, 8, 10, 20 in 60 throws has chi-square 13.4, and p = 0.0199');
SELECT is(split_part(found('k_stable_distribution'), ':', 1), 'passed', 'which is not beyond 0.001');
SELECT look('chi', 'k_stable_distribution', 'k', $$ SELECT rows_of('{"1": 50, "2": 80, "3": 90, "4": 80, "5": 100, "6": 200}') $$) \g /dev/null
SELECT is(split_part(found('k_stable_distribution'), ':', 1), 'failed', 'ten times as many throws of that kind are');
CREATE FUNCTION chi_square_of(degrees int, chi float8, total int DEFAULT 1000000) RETURNS jsonb LANGUAGE sql AS $$
	-- so many categories of the same share but the first two, which are off by what makes this chi-square beside a sample as large where they are not
	SELECT jsonb_object_agg(i, total / (degrees + 1) + CASE i WHEN 1 THEN d WHEN 2 THEN -d ELSE 0 END) FROM generate_series(1, degrees + 1) i, (SELECT round(2 * e * sqrt(chi / (4 * e + chi)))::int FROM (SELECT total::float8 / (degrees + 1)) AS each (e)) AS o (d)
$$;
SELECT gate('chi_' || k) FROM unnest(ARRAY[1, 3, 9, 30]) k \g /dev/null
SELECT dq_gate.expect_stable_distribution(('chi_' || k)::regclass, 'k', 'chi_square', min_history => 1, action => 'warn'), load(('chi_' || k)::regclass, 'k', format('SELECT rows_of(%L)', chi_square_of(k, 0, 9920))) FROM unnest(ARRAY[1, 3, 9, 30]) k \g /dev/null
CREATE FUNCTION deviate(degrees int, chi float8) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	PERFORM look(('chi_' || degrees)::regclass, 'k_stable_distribution', 'k', format('SELECT rows_of(%L)', chi_square_of(degrees, chi, 9920)));
	RETURN statistic();
END
$$;
SELECT cmp_ok(abs(deviate(degrees, chi) - z), '<', 0.1::float8, format('chi-square %s of %s degrees of freedom is %s', chi, degrees, z))
FROM (VALUES (1, 10.828::float8, 3.09::float8), (1, 3.841, 1.645), (3, 16.266, 3.09), (3, 7.815, 1.645), (9, 27.877, 3.09), (9, 16.919, 1.645), (9, 3.325, -1.645), (30, 59.703, 3.09), (30, 43.773, 1.645)) AS v (degrees, chi, z);
SELECT is(round(deviate(9, 0)) < 0, true, 'no difference at all is far below');

-- Kolmogorov and Smirnov: the largest difference of the two distribution functions, as computed of all values
CREATE FUNCTION ks_by_hand(old float8[], new float8[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT max(abs((SELECT count(*) FROM unnest(old) o WHERE o <= x) / cardinality(old)::float8 - (SELECT count(*) FROM unnest(new) o WHERE o <= x) / cardinality(new)::float8)) FROM unnest(old || new) x
$$;
SELECT gate('ks') \g /dev/null
SELECT dq_gate.expect_stable_distribution('ks', 'x', 'ks', min_history => 1, action => 'warn'), load('ks', 'x', 'SELECT i / 500.0 FROM generate_series(1, 500) i') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('ks') WHERE check_type = 'stable_distribution'), 'x spread as in the last 14 batches, ks at most 0.1', 'its largest difference in words');
CREATE FUNCTION ks_of(query text) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN PERFORM look('ks', 'x_stable_distribution', 'x', query); RETURN statistic(); END $$;
SELECT cmp_ok(abs(ks_of(query) - d), '<=', 0.021::float8, name || ': a largest difference of ' || d) FROM (VALUES
	('SELECT i / 500.0 FROM generate_series(1, 500) i', 0, 'the same'),
	('SELECT i / 1000.0 FROM generate_series(1, 500) i', 0.5, 'half as large'),
	('SELECT i / 500.0 + 0.2 FROM generate_series(1, 500) i', 0.2, 'shifted by a fifth'),
	('SELECT (i / 500.0) ^ 2 FROM generate_series(1, 500) i', 0.25, 'squared'),
	('SELECT i / 500.0 + 2 FROM generate_series(1, 500) i', 1, 'all beyond'),
	('SELECT 0.5 FROM generate_series(1, 500) i', 0.5, 'only one value')) AS v (query, d, name);
SELECT cmp_ok(abs(ks_of('SELECT (i * i % 499) / 400.0 - 0.1 FROM generate_series(1, 400) i') - ks_by_hand(ARRAY(SELECT i / 500.0 FROM generate_series(1, 500) i), ARRAY(SELECT (i * i % 499) / 400.0 - 0.1 FROM generate_series(1, 400) i))), '<=', 0.03::float8, 'anything else, as by hand');
SELECT is(split_part(look('ks', 'x_stable_distribution', 'x', 'SELECT i / 500.0 + 0.05 FROM generate_series(1, 500) i'), ':', 1) || ' ' || split_part(look('ks', 'x_stable_distribution', 'x', 'SELECT i / 500.0 + 0.15 FROM generate_series(1, 500) i'), ':', 1), 'passed failed', 'less than 0.1 passes, more fails');

-- psi of numbers: by tenths of what was
SELECT gate('psi') \g /dev/null
SELECT dq_gate.expect_stable_distribution('psi', 'n', min_history => 1, action => 'warn'), load('psi', 'n', 'SELECT i FROM generate_series(1, 1000) i') \g /dev/null
CREATE FUNCTION psi_of(query text) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN PERFORM look('psi', 'n_stable_distribution', 'n', query); RETURN statistic(); END $$;
CREATE FUNCTION psi_by_hand(numbers int[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT sum((greatest(a, 0.001) - 0.1) * ln(greatest(a, 0.001) / 0.1)) FROM (SELECT (SELECT count(*) FROM unnest(numbers) n WHERE least(greatest((n - 1) / 100, 0), 9) = tenth) / cardinality(numbers)::float8 AS a FROM generate_series(0, 9) tenth) t
$$;
SELECT cmp_ok(abs(psi_of('SELECT i * 2 FROM generate_series(1, 500) i ORDER BY md5(i::text)')), '<', 0.02::float8, 'the same distribution in another order and number is the same');
SELECT cmp_ok(abs(psi_of('SELECT i FROM generate_series(1, 1000) i UNION ALL SELECT NULL FROM generate_series(1, 3000)')), '<', 0.001::float8, 'NULL is no value');
SELECT cmp_ok(abs(psi_of(query) - by_hand), '<', greatest(0.02, 0.2 * by_hand), format('%s: %s by hand', name, round(by_hand::numeric, 3))) FROM (VALUES
	('SELECT i + 50 FROM generate_series(1, 1000) i', ARRAY(SELECT i + 50 FROM generate_series(1, 1000) i), 'a small shift'),
	('SELECT i + 150 FROM generate_series(1, 1000) i', ARRAY(SELECT i + 150 FROM generate_series(1, 1000) i), 'a shift'),
	('SELECT i * i / 1000 FROM generate_series(1, 1000) i', ARRAY(SELECT i * i / 1000 FROM generate_series(1, 1000) i), 'squares')) AS v (query, numbers, name), LATERAL psi_by_hand(numbers) AS by_hand;
SELECT is(split_part(look('psi', 'n_stable_distribution', 'n', 'SELECT i + 150 FROM generate_series(1, 1000) i'), ':', 1), 'failed', 'a shift is found');
SELECT is(split_part(look('psi', 'n_stable_distribution', 'n', 'SELECT i * 100 FROM generate_series(1, 1000) i'), ':', 1), 'failed', 'so is another unit');
SELECT is(look('psi', 'n_stable_distribution', 'n', 'SELECT i * 100 FROM generate_series(1, 1000) i') LIKE '%new%', false, 'numbers are not named');

-- numbers of few values: a constant, a flag, mostly nothing
SELECT gate('few_' || i) FROM generate_series(1, 4) i \g /dev/null
SELECT dq_gate.expect_stable_distribution(('few_' || i)::regclass, 'n', method, min_history => 1, action => 'warn', name => method) FROM generate_series(1, 4) i, unnest(ARRAY['psi', 'ks', 'chi_square']) method \g /dev/null
SELECT load('few_1', 'n', 'SELECT 5 FROM generate_series(1, 200)'), load('few_2', 'n', 'SELECT (i % 100 < 5)::int FROM generate_series(1, 200) i'), load('few_3', 'n', 'SELECT CASE WHEN i % 100 < 3 THEN i ELSE 0 END FROM generate_series(1, 200) i'), load('few_4', 'n', 'SELECT (i % 100 < 95)::int FROM generate_series(1, 200) i') \g /dev/null
CREATE FUNCTION judged(target regclass, query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM look(target, 'psi', 'n', query);
	RETURN (SELECT string_agg(check_name || ' ' || status, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_type = 'stable_distribution');
END
$$;
SELECT is(judged('few_1', 'SELECT 5 FROM generate_series(1, 150)'), 'chi_square passed, ks passed, psi passed', 'a constant that stays');
SELECT is(judged('few_1', 'SELECT 4 FROM generate_series(1, 150)'), 'chi_square failed, ks failed, psi failed', 'a constant that falls');
SELECT is(judged('few_1', 'SELECT 6 FROM generate_series(1, 150)'), 'chi_square failed, ks failed, psi failed', 'a constant that rises');
SELECT is(judged('few_2', 'SELECT (i % 100 < 5)::int FROM generate_series(1, 400) i'), 'chi_square passed, ks passed, psi passed', 'a flag that stays');
SELECT is(judged('few_2', 'SELECT (i % 100 < 60)::int FROM generate_series(1, 200) i'), 'chi_square failed, ks failed, psi failed', 'a flag that was rare and is common');
SELECT matches(judged('few_3', 'SELECT CASE WHEN i % 100 < 40 THEN i ELSE 0 END FROM generate_series(1, 200) i'), 'ks failed, psi failed', 'numbers that were mostly 0 and are not any more');
SELECT is(judged('few_4', 'SELECT (i % 100 < 20)::int FROM generate_series(1, 200) i'), 'chi_square failed, ks failed, psi failed', 'a flag that was common and is rare');

-- types: the same passes, another spread does not
SELECT gate('types') \g /dev/null
CREATE TABLE spreads (c text, method text, usual text, other text);
INSERT INTO spreads VALUES
	('x', 'psi', 'SELECT i * 0.5 FROM generate_series(1, 200) i', 'SELECT i * 0.9 FROM generate_series(1, 200) i'), ('m', 'ks', 'SELECT i * 0.10 FROM generate_series(1, 200) i', 'SELECT i * 0.2 FROM generate_series(1, 200) i'),
	('sc', 'psi', 'SELECT i FROM generate_series(1, 200) i', 'SELECT i + 100 FROM generate_series(1, 200) i'), ('d', 'psi', 'SELECT date ''1960-01-01'' + i FROM generate_series(1, 200) i', 'SELECT date ''1960-01-01'' + i * 2 FROM generate_series(1, 200) i'),
	('at', 'ks', 'SELECT timestamptz ''2024-03-31 00:00+00'' + i * interval ''1 hour'' FROM generate_series(1, 200) i', 'SELECT timestamptz ''2024-03-31 00:00+00'' + i * interval ''1 day'' FROM generate_series(1, 200) i'),
	('ts', 'psi', 'SELECT timestamp ''2024-03-31'' + i * interval ''1 hour'' FROM generate_series(1, 200) i', 'SELECT timestamp ''2023-03-31'' + i * interval ''1 hour'' FROM generate_series(1, 200) i'),
	('e', 'psi', 'SELECT (ARRAY[''sad'', ''ok'', ''ok'', ''happy''])[1 + i % 4]::mood FROM generate_series(1, 200) i', 'SELECT (ARRAY[''sad'', ''ok'', ''sad'', ''sad''])[1 + i % 4]::mood FROM generate_series(1, 200) i'),
	('e', 'chi_square', 'SELECT (ARRAY[''sad'', ''ok'', ''ok'', ''happy''])[1 + i % 4]::mood FROM generate_series(1, 200) i', 'SELECT (ARRAY[''sad'', ''ok'', ''sad'', ''happy''])[1 + i % 4]::mood FROM generate_series(1, 200) i'),
	('b', 'psi', 'SELECT i % 3 = 0 FROM generate_series(1, 300) i', 'SELECT i % 3 > 0 FROM generate_series(1, 300) i'), ('b', 'chi_square', 'SELECT i % 3 = 0 FROM generate_series(1, 300) i', 'SELECT i % 2 = 0 FROM generate_series(1, 300) i'),
	('u', 'psi', 'SELECT md5((i % 3)::text)::uuid FROM generate_series(1, 300) i', 'SELECT md5((i % 4)::text)::uuid FROM generate_series(1, 300) i'), ('a', 'psi', 'SELECT ARRAY[i % 3, NULL] FROM generate_series(1, 300) i', 'SELECT ARRAY[i % 3] FROM generate_series(1, 300) i'),
	('vc', 'chi_square', 'SELECT (i % 3)::text FROM generate_series(1, 300) i', 'SELECT (i % 2)::text FROM generate_series(1, 300) i'), ('n', 'chi_square', 'SELECT i % 3 FROM generate_series(1, 300) i', 'SELECT i % 2 FROM generate_series(1, 300) i'),
	('jb', 'psi', 'SELECT jsonb_build_object(''a'', i % 3) FROM generate_series(1, 300) i', 'SELECT jsonb_build_object(''b'', i % 3) FROM generate_series(1, 300) i'),
	('k', 'psi', 'SELECT CASE WHEN i % 3 > 0 THEN '''' ELSE ''NULL'' END FROM generate_series(1, 300) i', 'SELECT CASE WHEN i % 3 > 0 THEN ''NULL'' ELSE '''' END FROM generate_series(1, 300) i'),
	('i', 'psi', 'SELECT make_interval(days => i % 3) FROM generate_series(1, 300) i', 'SELECT make_interval(days => i % 2) FROM generate_series(1, 300) i');
SELECT dq_gate.expect_stable_distribution('types', c, method, min_history => 1, action => 'warn', name => c || method) FROM spreads \g /dev/null
SELECT load('types', c, usual) FROM spreads GROUP BY c, usual \g /dev/null
SELECT is(split_part(look('types', c || method, c, usual), ':', 1) || ' ' || split_part(look('types', c || method, c, other), ':', 1), 'passed failed', format('%s by %s', c, method)) FROM spreads;
-- values that are equal are one category
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
CREATE EXTENSION citext;
CREATE TABLE ci (id int PRIMARY KEY, c citext);
CREATE TABLE ci_s (id int, c text);
SELECT dq_gate.expect_volume('ci', action => 'declare'), dq_gate.expect_stable_distribution('ci', 'c', min_history => 1, action => 'warn', name => 'ci') \g /dev/null
INSERT INTO ci_s SELECT i, CASE WHEN i % 2 = 0 THEN 'Bob' ELSE 'Eve' END FROM generate_series(1, 200) i;
SELECT dq_gate.publish('ci_s', 'ci') \g /dev/null
UPDATE ci_s SET c = lower(c);
SELECT dq_gate.audit('ci_s', 'ci') \g /dev/null
SELECT is(found('ci'), 'passed: 0', 'in a type that ignores case, case does not matter');
\else
SELECT skip('no citext');
\endif
SELECT is(look('types', 'ipsi', 'i', 'SELECT make_interval(hours => 24 * (i % 3)) FROM generate_series(1, 300) i'), 'passed: 0', 'nor does how an interval is written');
SELECT gate('equal') \g /dev/null
SELECT dq_gate.expect_stable_distribution('equal', 'm', 'chi_square', min_history => 1, action => 'warn', name => 'equal'), load('equal', 'm', 'SELECT (i % 3)::numeric FROM generate_series(1, 300) i') \g /dev/null
SELECT is(split_part(look('equal', 'equal', 'm', 'SELECT (i % 3)::numeric + 0.00 FROM generate_series(1, 300) i'), ':', 1), 'passed', 'nor zeros behind the point');
-- long texts that begin alike are different ones
SELECT gate('long') \g /dev/null
SELECT dq_gate.expect_stable_distribution('long', 'k', method, min_history => 1, action => 'warn', name => method) FROM unnest(ARRAY['psi', 'chi_square']) method \g /dev/null
SELECT load('long', 'k', 'SELECT repeat(''x'', 150) || i % 4 FROM generate_series(1, 400) i') \g /dev/null
SELECT ok(look('long', 'psi', 'k', 'SELECT repeat(''x'', 150) || i % 4 FROM generate_series(1, 400) i') LIKE 'passed%' AND found('chi_square') LIKE 'passed%', 'long texts that begin alike, spread as before');

-- new and vanished ones: at least a hundredth of the rows
SELECT gate('names') \g /dev/null
SELECT dq_gate.expect_stable_distribution('names', 'k', max => 0, min_history => 1, action => 'warn', name => 'n'), load('names', 'k', $$ SELECT rows_of('{"a": 900, "b": 91, "c": 9}') $$) \g /dev/null
SELECT is(regexp_replace(look('names', 'n', 'k', $$ SELECT rows_of('{"a": 900, "it''s": 46, "d": 45, "e": 9}') $$), 'psi [0-9.]+', 'psi'), 'failed: k not spread as in the last 14 batches: psi, new: d (4.5%), new: it''s (4.6%), vanished: b (9.1%)', 'what is rare is not named');
SELECT dq_gate.expect_stable_distribution('names', 'k', max => 0, min_history => 1, action => 'warn', name => 'quiet', samples => false) \g /dev/null
SELECT is(look('names', 'quiet', 'k', $$ SELECT rows_of('{"a": 900, "d": 100}') $$), 'failed: k not spread as in the last 14 batches', 'without samples nothing is named');
SELECT is((SELECT ROW(actual_value, sample, measured > 0.5)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'quiet'), '(,,t)', 'the statistic is measured');
SELECT load('names', 'k', $$ SELECT rows_of('{"a": 900, "hushhush": 100}') $$) \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.runs r JOIN dq_gate.results USING (run_id) WHERE run_id = last_run() AND (failures::text LIKE '%hush%' OR check_name <> 'n' AND concat(message, actual_value, sample) LIKE '%hush%')), 0::bigint, 'neither by the run nor by its results');

-- a gate that keeps no values: numbers are compared by their percentiles, categories not at all
SELECT gate('private') \g /dev/null
SELECT dq_gate.alter_gate('private', samples => false), dq_gate.expect_stable_distribution('private', 'n', min_history => 1, action => 'warn', name => 'n'), dq_gate.expect_stable_distribution('private', 'k', min_history => 1, action => 'warn', name => 'k'), dq_gate.expect_stable_distribution('private', 'n', 'chi_square', min_history => 1, action => 'warn', name => 'c'),
	load('private', 'n, k', 'SELECT i, ''secret'' || i % 2 FROM generate_series(1, 200) i', 2) \g /dev/null
SELECT is(look('private', 'n', 'n, k', 'SELECT i, ''secret'' || i % 2 FROM generate_series(1, 200) i') || ', ' || found('k') || ', ' || found('c'), 'passed: , not_judged: the gate keeps no values, not_judged: the gate keeps no values', 'without samples of the gate');
SELECT is(look('private', 'n', 'n, k', 'SELECT i * 3, ''secret'' || i % 3 FROM generate_series(1, 200) i') || ', ' || found('k'), 'failed: n not spread as in the last 14 batches, not_judged: the gate keeps no values', 'a shift is found all the same');
SELECT is((SELECT count(*) FROM dq_gate.profiles p WHERE p::text LIKE '%secret%' OR min_value IS NOT NULL OR max_value IS NOT NULL OR top_values::text LIKE '%secret%'), (SELECT count(*) FROM dq_gate.profiles WHERE run_id IN (SELECT run_id FROM dq_gate.runs WHERE gate <> 'public.private') AND (min_value IS NOT NULL OR max_value IS NOT NULL)), 'no value is kept');
SELECT dq_gate.alter_gate('private', samples => true) \g /dev/null
SELECT is(look('private', 'k', 'n, k', 'SELECT i, ''secret'' || i % 2 FROM generate_series(1, 200) i'), 'not_judged: not enough history (0 of 1)', 'once values are kept, history begins');

-- too few values, none at all
SELECT gate('sizes') \g /dev/null
SELECT dq_gate.expect_stable_distribution('sizes', 'k', min_history => 1, action => 'warn', name => 'k'), dq_gate.expect_stable_distribution('sizes', 'n', min_history => 1, min_rows => 5, action => 'warn', name => 'n'), load('sizes', 'k, n', 'SELECT NULL, NULL::int FROM generate_series(1, 200) i') \g /dev/null
SELECT is(look('sizes', 'k', 'k, n', 'SELECT ''a'', 1 FROM generate_series(1, 200) i') || ', ' || found('n'), 'not_judged: not enough history (0 of 1), not_judged: not enough history (0 of 1)', 'a batch of nothing but NULL is no history');
SELECT load('sizes', 'k, n', 'SELECT ''a'', i FROM generate_series(1, 200) i') \g /dev/null
SELECT is(look('sizes', 'k', 'k, n', 'SELECT ''a'', i FROM generate_series(1, 99) i'), 'not_judged: too few values (99 of 100)', 'too few rows say nothing');
SELECT is((SELECT passed FROM dq_gate.results_of(last_run()) WHERE check_name = 'k'), NULL, 'which is no pass');
SELECT is(look('sizes', 'k', 'k, n', 'SELECT ''a'', i FROM generate_series(1, 100) i'), 'passed: 0', 'one category, and just as many as are wanted');
SELECT is(look('sizes', 'k', 'k, n', 'SELECT CASE WHEN i < 100 THEN ''z'' END, CASE WHEN i < 5 THEN i END FROM generate_series(1, 1000) i') || ', ' || found('n'), 'not_judged: too few values (99 of 100), not_judged: too few values (4 of 5)', 'rows without a value are not counted');
SELECT is(look('sizes', 'k', 'k, n', 'SELECT NULL, NULL::int FROM generate_series(1, 200) i') || ', ' || found('n'), 'not_judged: too few values (0 of 100), not_judged: too few values (0 of 5)', 'nor is there anything to say of NULL alone');
SELECT is(split_part(look('sizes', 'n', 'n', 'SELECT 1000 FROM generate_series(1, 5) i'), ':', 1), 'failed', 'as few as are wanted are judged');
SELECT is(look('sizes', 'k', 'k', 'SELECT ''a'' WHERE false'), 'not_judged: no rows', 'an empty batch');
SELECT is(look('sizes', 'k', 'k', $$ SELECT rows_of('{"b": 100}') $$), 'failed: k not spread as in the last 14 batches: psi 13.8' || substring(message('k') FROM 'psi 13.8(\d*)') || ', new: b (100.0%), vanished: a (100.0%)', 'one category for another one');

-- more than 100 categories: of the rare ones only their sum is known
SELECT gate('many') \g /dev/null
SELECT dq_gate.expect_stable_distribution('many', 'k', method, min_history => 3, action => 'warn', name => method) FROM unnest(ARRAY['psi', 'chi_square']) method \g /dev/null
CREATE FUNCTION by_chance(seed text) RETURNS SETOF text LANGUAGE sql AS $$ SELECT 'c' || (get_byte(h, 0) * 256 + get_byte(h, 1)) % 150 FROM generate_series(1, 6000) i, decode(md5(i || seed), 'hex') h $$;
SELECT load('many', 'k', format('SELECT by_chance(''batch%s'')', no)) FROM generate_series(1, 10) no \g /dev/null
SELECT look('many', 'psi', 'k', 'SELECT by_chance(''last'')') \g /dev/null
SELECT unalike(found(method), 'failed%', '150 categories that are all as common as before, but for chance: ' || method) FROM unnest(ARRAY['psi', 'chi_square']) method;
SELECT look('many', 'psi', 'k', 'SELECT ''d'' || i % 150 FROM generate_series(1, 6000) i') \g /dev/null
SELECT unalike(found(method), 'passed%', 'all of them others: ' || method) FROM unnest(ARRAY['psi', 'chi_square']) method;
SELECT unalike(found('psi'), '%new:%', 'no list of values is complete, so none is called new');
SELECT look('many', 'psi', 'k', 'SELECT ''c'' || i % 5 FROM generate_series(1, 6000) i') \g /dev/null
SELECT unalike(found(method), 'passed%', 'most of them gone: ' || method) FROM unnest(ARRAY['psi', 'chi_square']) method;

-- chance alone seldom alarms, with as few rows as are wanted: 40 batches of the same distribution
SELECT gate('chance') \g /dev/null
SELECT dq_gate.expect_stable_distribution('chance', c, method, action => 'warn', name => c || ' ' || method) FROM (VALUES ('x', 'psi'), ('x', 'ks'), ('k', 'psi'), ('k', 'chi_square'), ('b', 'psi'), ('b', 'chi_square')) AS v (c, method) \g /dev/null
CREATE FUNCTION drawn(seed text, size int) RETURNS TABLE (x float8, k text, b bool) LANGUAGE sql AS $$
	SELECT sqrt(get_byte(h, 0) * 256 + get_byte(h, 1)), 'c' || get_byte(h, 2) % 20, get_byte(h, 3) < 100 FROM generate_series(1, size) i, decode(md5(i || seed), 'hex') h
$$;
SELECT load('chance', 'x, k, b', format('SELECT * FROM drawn(%L, 100)', 'small' || no)) FROM generate_series(1, 45) no \g /dev/null
CREATE VIEW alarms AS SELECT check_name AS name, count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'passed') AS passed FROM dq_gate.results JOIN dq_gate.runs USING (run_id) WHERE gate = 'public.chance' AND check_type = 'stable_distribution' GROUP BY 1;
SELECT is((SELECT string_agg(DISTINCT (failed + passed)::text, ' ') FROM alarms), '40', 'each is judged');
SELECT cmp_ok(failed, '<=', 4::bigint, 'chance alone seldom alarms: ' || name) FROM alarms ORDER BY name;

-- NaN and infinity among numbers
SELECT gate('odd') \g /dev/null
SELECT dq_gate.expect_stable_distribution('odd', c, method, min_history => 1, action => 'warn', name => c || method) FROM unnest(ARRAY['x', 'm']) c, unnest(ARRAY['psi', 'ks', 'chi_square']) method \g /dev/null
SELECT load('odd', 'x, m', $$ SELECT v::float8, v::numeric FROM (SELECT CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE (i % 2)::text END AS v FROM generate_series(1, 500) i) q $$) \g /dev/null
SELECT look('odd', 'xpsi', 'x, m', $$ SELECT v::float8, v::numeric FROM (SELECT CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE (i % 2)::text END AS v FROM generate_series(1, 1000) i) q $$) \g /dev/null
SELECT is((SELECT string_agg(DISTINCT status, ' ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'stable_distribution'), 'passed', 'NaN and what is infinite are values as well');
SELECT look('odd', 'xpsi', 'x, m', $$ SELECT v::float8, v::numeric FROM (SELECT CASE i % 5 WHEN 2 THEN '-Infinity' ELSE (i % 2)::text END AS v FROM generate_series(1, 1000) i) q $$) \g /dev/null
SELECT is((SELECT string_agg(DISTINCT status, ' ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'stable_distribution'), 'failed', 'which are missed when they are gone');
SELECT look('odd', 'xpsi', 'x, m', $$ SELECT 'NaN'::float8, 'NaN'::numeric FROM generate_series(1, 1000) i $$) \g /dev/null
SELECT is((SELECT string_agg(DISTINCT status, ' ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'stable_distribution'), 'failed', 'and no pass when they are all');
SELECT look('odd', 'xpsi', 'm', 'SELECT 10::numeric ^ 400 + i FROM generate_series(1, 200) i') \g /dev/null
SELECT ok(found('mpsi') !~ '^passed' AND found('mks') !~ '^passed', 'nor are numbers too large to be placed');
SELECT gate('time') \g /dev/null
SELECT dq_gate.expect_stable_distribution('time', c, 'ks', min_history => 1, action => 'warn', name => c) FROM unnest(ARRAY['d', 'at', 'ts']) c \g /dev/null
SELECT load('time', 'd, at, ts', $$ SELECT CASE WHEN i % 2 = 0 THEN 'infinity' ELSE date '2024-01-01' + i END, CASE WHEN i % 2 = 0 THEN '-infinity' ELSE timestamptz '2024-01-01 00:00+00' + i * interval '1 h' END, CASE WHEN i % 2 = 0 THEN 'infinity' ELSE timestamp '2024-01-01' + i * interval '1 h' END FROM generate_series(1, 200) i $$) \g /dev/null
SET timezone = 'Pacific/Kiritimati';
SELECT is(look('time', 'd', 'd, at, ts', $$ SELECT CASE WHEN i % 2 = 0 THEN 'infinity' ELSE date '2024-01-01' + i END, CASE WHEN i % 2 = 0 THEN '-infinity' ELSE timestamptz '2024-01-01 00:00+00' + i * interval '1 h' END, CASE WHEN i % 2 = 0 THEN 'infinity' ELSE timestamp '2024-01-01' + i * interval '1 h' END FROM generate_series(1, 200) i $$) || found('at') || found('ts'), 'passed: 0passed: 0passed: 0', 'points in time are the same in every time zone, endless ones included');
RESET timezone;
SELECT gate('zone') \g /dev/null
SELECT dq_gate.expect_stable_distribution('zone', 'at', 'chi_square', min_history => 1, action => 'warn', name => 'chi'), load('zone', 'at', $$ SELECT timestamptz '2024-01-01 00:00+00' + i % 3 * interval '1 h' FROM generate_series(1, 300) i $$) \g /dev/null
SET timezone = 'Asia/Kolkata';
SELECT is(split_part(look('zone', 'chi', 'at', $$ SELECT timestamptz '2024-01-01 00:00+00' + i % 3 * interval '1 h' FROM generate_series(1, 300) i $$), ':', 1), 'passed', 'as categories as well');
RESET timezone;

-- staged as text; by weekday; a batch that is loaded again; two columns
CREATE TABLE text_s (id text, n text);
SELECT gate('texts') \g /dev/null
SELECT dq_gate.expect_stable_distribution('texts', 'n', min_history => 1, action => 'warn', name => 'n') \g /dev/null
INSERT INTO text_s SELECT i, ' ' || i FROM generate_series(1, 200) i;
SELECT dq_gate.publish('text_s', 'texts') \g /dev/null
SELECT is(look('texts', 'n', 'n', 'SELECT i FROM generate_series(1, 200) i') || ', ' || split_part(look('texts', 'n', 'n', 'SELECT i * 2 FROM generate_series(1, 200) i'), ':', 1), 'passed: 0, failed', 'staged as text, they are numbers');
SELECT gate('dates') \g /dev/null
SELECT dq_gate.expect_stable_distribution('dates', 'k', min_history => 1, by => 'weekday', action => 'warn', name => 'k') \g /dev/null
CREATE FUNCTION on_day(day date, counts jsonb) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM stage('k', format('SELECT rows_of(%L)', counts)); PERFORM dq_gate.publish('s', 'dates', as_of => day); RETURN split_part(found('k'), ':', 1); END $$;
SELECT is((SELECT string_agg(on_day(day, CASE WHEN to_char(day, 'ID') > '5' THEN '{"leisure": 100}' ELSE '{"work": 100}' END::jsonb), ' ' ORDER BY day) FROM (SELECT date '2024-01-05' + i AS day FROM generate_series(0, 9) i) d), 'not_judged not_judged not_judged not_judged not_judged not_judged not_judged passed passed passed', 'weekends are compared with weekends');
SELECT is(on_day('2024-01-13', '{"work": 100}'), 'failed', 'a Saturday like a Friday alarms');

-- what cannot be profiled, what is gone
SELECT gate('gone') \g /dev/null
SELECT dq_gate.expect_stable_distribution('gone', 'k', min_history => 1), load('gone', 'k', $$ SELECT rows_of('{"a": 100}') $$) \g /dev/null
ALTER TABLE gone DROP COLUMN k;
CREATE TABLE without AS SELECT id FROM s;
SELECT is((dq_gate.publish('without', 'gone')).verdict || ' ' || split_part(found('k_stable_distribution'), ':', 1), 'rejected error', 'a column that is gone is an error');
SELECT gate('retyped') \g /dev/null
SELECT dq_gate.expect_stable_distribution('retyped', 'k', min_history => 1), load('retyped', 'k', $$ SELECT rows_of('{"a": 100}') $$) \g /dev/null
ALTER TABLE retyped ALTER k TYPE json USING NULL;
SELECT is((dq_gate.publish('s', 'retyped')).verdict || ' ' || found('k_stable_distribution'), 'rejected error: could not be evaluated: type json of column k has no equality operator', 'so is one whose type cannot be compared any more');

-- names
CREATE TABLE "Odd"" Table's" (id int PRIMARY KEY, "select ""%s $1" text, g text, v text);
CREATE TABLE "Odd s" AS SELECT i AS id, 'x'::text AS "select ""%s $1", i::text AS g, 'y'::text AS v FROM generate_series(1, 100) i;
SELECT dq_gate.expect_stable_distribution('"Odd"" Table''s"', c, max => 0.5, min_history => 1, action => 'warn', name => c) FROM unnest(ARRAY['select "%s $1', 'g', 'v']) c \g /dev/null
SELECT dq_gate.publish('"Odd s"', '"Odd"" Table''s"') FROM generate_series(1, 2) \g /dev/null
SELECT is((SELECT string_agg(status, ' ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'stable_distribution'), 'passed passed passed', 'O09: names of any kind');
UPDATE "Odd s" SET "select ""%s $1" = 'it''s %s "1"';
SELECT dq_gate.audit('"Odd s"', '"Odd"" Table''s"') \g /dev/null
SELECT is(regexp_replace(found('select "%s $1'), '1\d\.\d+', 'n'), 'failed: "select ""%s $1" not spread as in the last 14 batches: psi n, new: it''s %s "1" (100.0%), vanished: x (100.0%)', 'O09: and values');

-- by a role that cannot read the log
GRANT SELECT ON s TO dq_loader;
SELECT gate('hidden') \g /dev/null
GRANT SELECT, INSERT, UPDATE ON hidden TO dq_loader;
SELECT dq_gate.alter_gate('hidden', run_as => 'dq_loader'), dq_gate.expect_stable_distribution('hidden', 'k', min_history => 1, action => 'warn', name => 'k'), load('hidden', 'k', $$ SELECT rows_of('{"a": 100}') $$) \g /dev/null
REVOKE SELECT ON hidden FROM dq_loader;
SET ROLE dq_loader;
SELECT dq_gate.audit('s', 'hidden') \g /dev/null
SELECT count(*) AS seen FROM dq_gate.profiles JOIN dq_gate.runs USING (run_id) WHERE gate = 'public.hidden' \gset
RESET ROLE;
SELECT is(:seen || ' ' || found('k'), '0 passed: 0', 'a role that sees no profile has its batch compared all the same');

-- refused when declared
SELECT raises(format('SELECT dq_gate.expect_stable_distribution(''t'', %s)', call), state, pattern, name) FROM (VALUES
	('NULL', '22004', '"column_name" must not be NULL', 'no column'),
	('''nothing''', '42703', 'column nothing of gate public.t', 'a column that is not there'),
	('''g''', '0A000', 'g of gate public.t is generated', 'a column that the target generates'),
	('''j''', '42883', 'column j of gate public.t has type json, which has no equality', 'json'),
	('''k'', NULL', '22004', '"method" must not be NULL', 'no method'),
	('''k'', ''kl''', '22023', 'method "kl" is not known[^$]*"psi", "ks", "chi_square"', 'another method'),
	('''k'', ''ks''', '42804', '"ks" needs numbers or points in time, and column k of gate public.t has type text[^$]*"psi" or "chi_square"', 'what has no order'),
	('''b'', ''ks''', '42804', 'has type boolean', 'nor have truths'),
	('''k'', max => -1', '22023', '"max" must not be negative', 'a negative limit'),
	('''k'', max => ''NaN''', '22023', '"max" must not be NaN', 'a limit of NaN'),
	('''k'', min_rows => 0', '22023', '"min_rows" must be a number of rows, at least 1', 'no rows'),
	('''k'', min_rows => NULL', '22023', '"min_rows" must be a number of rows, at least 1', 'NULL rows'),
	('''k'', history => 0', '22023', 'history cannot be 0[^$]*from 1 to 1000', 'no history'),
	('''k'', min_history => 15', '22023', 'min_history cannot be 15', 'to wait for more than what is looked at'),
	('''k'', history => NULL', '22004', '"history" and "min_history" must not be NULL', 'NULL'),
	('''k'', by => ''month''', '22023', 'by "month" is not known', 'by something else'),
	('''k'', action => ''quarantine''', '22023', 'stable_distribution[^$]*quarantine[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved'),
	('''k'', filter => ''id > 1''', '22023', '"stable_distribution" does not take "filter"', 'a filter'),
	('''k'', nulls => ''fail''', '22023', '"stable_distribution" does not take "nulls"', 'what to do with NULL'),
	('''k'', max_rate => 0.1', '22023', '"stable_distribution" does not take "max_rate"', 'a rate'),
	('''k'', block_above => 1', '22023', '"stable_distribution" does not take "block_above"', 'a level')) AS v (call, state, pattern, name);
SELECT is((SELECT count(*) FROM dq_gate.checks WHERE target = 't'::regclass AND check_type = 'stable_distribution'), 0::bigint, 'nothing of that was kept');
SELECT finish();
