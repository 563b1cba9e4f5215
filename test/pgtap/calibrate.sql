-- thresholds by what earlier batches measured
\ir include/helpers.sql
SELECT plan(46);
SET client_min_messages = error;
CREATE SCHEMA "My Lake";
CREATE TABLE "My Lake"."Or""ders" (id int PRIMARY KEY, v numeric, kind text, day date);
CREATE TABLE staged (id int, v numeric, kind text, day date);
CREATE TABLE kinds (kind text PRIMARY KEY);
CREATE FUNCTION "My Lake".half(x numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT x / 2';
-- the table, since a name with quotes is a long one
CREATE FUNCTION t() RETURNS regclass LANGUAGE sql AS $$ SELECT '"My Lake"."Or""ders"'::regclass $$;
SELECT dq_gate.create_gate(t()) \g /dev/null

SET search_path = "My Lake", public;
\o /dev/null
SELECT dq_gate.expect_row_count(t(), min => 1, max => 100000, name => 'it''s "size"', owner => 'team', tags => ARRAY['a,b', 'c'], description => E'back\\slash', severity => 'minor', action => 'warn');
SELECT dq_gate.expect_row_count(t(), max => 9999, name => 'one_sided', filter => 'half(v) > 1');
SELECT dq_gate.expect_aggregate(t(), 'mean', 'avg(half(v))', min => -1000, max => 1000, action => 'warn');
SELECT dq_gate.expect_distinct(t(), ARRAY['kind'], min => 1, max => 1000, min_distinct_rate => 0.001);
SELECT dq_gate.expect_volume(t(), min_ratio => 0.01, max_ratio => 100, history => 5, min_history => 3, name => 'usual');
SELECT dq_gate.expect_range(t(), 'v', 0, 'Infinity'::numeric, max_rate => 0.9, action => 'warn', nulls => 'fail', samples => false);
SELECT dq_gate.expect_not_null(t(), 'kind', action => 'warn');
SELECT dq_gate.expect_not_null(t(), 'day', max_rate => 0.1, max_rows => 1000, block_above => 0.12);
SELECT dq_gate.expect_metric(t(), 'it''s "size"', action => 'warn', name => 'size_metric');
SELECT dq_gate.expect_referential(t(), ARRAY['kind'], 'kinds', max_rate => 0.9, action => 'warn', name => 'gone');
\o
RESET search_path;

SELECT is_empty('SELECT * FROM dq_gate.calibrate(t())', 'without a history there is nothing to go by');

-- batches of 41 days: 100 rows on even days, 80 on odd ones, 300 on the last but one; few rows fail
CREATE FUNCTION a_day(n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE staged;
	INSERT INTO staged SELECT g, CASE WHEN g <= n % 5 THEN -1 ELSE 100 + n + g END, 'k' || g % (10 + n % 3), CASE WHEN g > 9 THEN date '2020-01-01' END
	FROM generate_series(1, CASE WHEN n = 39 THEN 300 WHEN n % 2 = 0 THEN 100 ELSE 80 END) g;
	UPDATE staged SET day = '2020-01-01' WHERE id > n % 3;
	PERFORM dq_gate.publish('staged', t(), as_of => date '2020-01-01' + n);
END
$$;
SELECT a_day(n) FROM generate_series(0, 8) n \g /dev/null
SELECT is_empty('SELECT * FROM dq_gate.calibrate(t())', 'nine batches tell nothing');
SELECT a_day(9) \g /dev/null
SELECT isnt_empty('SELECT * FROM dq_gate.calibrate(t())', 'ten do');
SELECT a_day(n) FROM generate_series(10, 40) n \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE baseline), 41::bigint, 'there is a history');
-- a rejected one that does not count
TRUNCATE staged;
SELECT dq_gate.publish('staged', t(), as_of => '2020-03-01') \g /dev/null

CREATE TEMP TABLE proposed AS SELECT * FROM dq_gate.calibrate(t());
CREATE TEMP TABLE measured AS SELECT r.batch_time, s.check_name, s.measured FROM dq_gate.runs r JOIN dq_gate.results s USING (run_id) WHERE r.baseline;
-- percentiles by hand: linear between the two values around
CREATE FUNCTION percentile(name text, p numeric, n int DEFAULT 100) RETURNS numeric LANGUAGE sql AS $$
	SELECT a[floor(x)::int + 1] + (x - floor(x)) * (coalesce(a[floor(x)::int + 2], a[floor(x)::int + 1]) - a[floor(x)::int + 1])
	FROM (SELECT array_agg(measured::numeric ORDER BY measured) a, p * (count(*) - 1) x FROM (SELECT * FROM measured WHERE check_name = name AND measured IS NOT NULL ORDER BY batch_time DESC LIMIT n) m) v
$$;
CREATE FUNCTION proposal(name text, argument text) RETURNS text LANGUAGE sql AS $$ SELECT current_value || ' -> ' || proposed_value FROM proposed WHERE check_name = name AND proposed.argument = $2 $$;
SELECT is(proposal('it''s "size"', 'min'), '1 -> 80', 'row_count, from below');
SELECT is(proposal('it''s "size"', 'max'), '100000 -> 100', 'and from above');
SELECT results_eq($$ SELECT floor(percentile('it''s "size"', 0.05)), ceil(percentile('it''s "size"', 0.95)) $$, 'VALUES (80::numeric, 100::numeric)', 'by hand');
SELECT is((SELECT evidence FROM proposed WHERE check_name = 'it''s "size"' AND argument = 'max'), 'the 95% percentile of 41 runs, which measured 80 to 300', 'with the evidence');
SELECT is(proposal('one_sided', 'min'), NULL, 'what is open stays open');
SELECT is(proposal('one_sided', 'max'), '9999 -> ' || ceil(percentile('one_sided', 0.95)), 'what is not does not');
SELECT is((SELECT abs(proposed_value::numeric - percentile('mean', 0.05)) <= 0.001 AND proposed_value::numeric <= percentile('mean', 0.05) FROM proposed WHERE check_name = 'mean' AND argument = 'min'), true, 'aggregate, rounded outwards');
SELECT is((SELECT abs(proposed_value::numeric - percentile('mean', 0.95)) <= 0.001 AND proposed_value::numeric >= percentile('mean', 0.95) AND length(proposed_value) <= 8 FROM proposed WHERE check_name = 'mean' AND argument = 'max'), true, 'to six digits');
SELECT is(proposal('kind_distinct', 'min') || ', ' || proposal('kind_distinct', 'max'), '1 -> 10, 1000 -> 12', 'distinct');
SELECT is(proposal('kind_distinct', 'min_distinct_rate'), NULL, 'but for its rates');
SELECT is(proposal('v_range', 'max_rate'), '0.9 -> ' || trim_scale(ceil(percentile('v_range', 0.95) * 10000) / 10000), 'a tolerance of rows');
SELECT is(proposal('kind_not_null', 'max_rate'), NULL, 'none where there was none');
SELECT is(proposal('day_not_null', 'max_rate'), '0.1 -> ' || trim_scale(ceil(percentile('day_not_null', 0.95) * 10000) / 10000), 'beside a level');
-- ratios by hand: of each batch to the median of the five before
CREATE TEMP TABLE ratios AS SELECT n, row_count::numeric / (SELECT CASE WHEN count(*) % 2 = 1 THEN (array_agg(e.row_count ORDER BY e.row_count))[count(*) / 2 + 1] ELSE ((array_agg(e.row_count ORDER BY e.row_count))[count(*) / 2] + (array_agg(e.row_count ORDER BY e.row_count))[count(*) / 2 + 1]) / 2.0 END
		FROM (SELECT row_count FROM dq_gate.runs e WHERE e.baseline AND e.as_of < r.as_of ORDER BY e.as_of DESC LIMIT 5) e) AS measured
	FROM (SELECT *, row_number() OVER (ORDER BY as_of) AS n FROM dq_gate.runs WHERE baseline) r WHERE n > 3;
INSERT INTO measured SELECT '2020-01-01'::timestamp + n * interval '1 day', 'ratio', measured FROM ratios;
SELECT is((SELECT count(*) FROM measured WHERE check_name = 'ratio'), 38::bigint, 'a batch has a ratio once there are enough before it');
SELECT is(proposal('usual', 'min_ratio'), '0.01 -> ' || trim_scale(floor(percentile('ratio', 0.05) * 100) / 100), 'volume, from below');
SELECT is(proposal('usual', 'max_ratio'), '100 -> ' || trim_scale(ceil(percentile('ratio', 0.95) * 100) / 100), 'and from above');
SELECT set_eq('SELECT DISTINCT check_name FROM proposed', ARRAY['it''s "size"', 'one_sided', 'mean', 'kind_distinct', 'usual', 'v_range', 'day_not_null', 'gone'], 'no other check');
SELECT results_eq('SELECT proposed_value FROM dq_gate.calibrate(t(), low => 0, high => 1) WHERE check_name = ''it''''s "size"''', ARRAY['80', '300'], 'other percentiles');
SELECT results_eq('SELECT evidence FROM dq_gate.calibrate(t(), runs => 10) WHERE argument = ''max'' AND check_name = ''one_sided''', $$ SELECT format('the 95%% percentile of 10 runs, which measured %s to %s', min(measured), max(measured)) FROM (SELECT measured FROM measured WHERE check_name = 'one_sided' ORDER BY batch_time DESC LIMIT 10) m $$, 'of fewer runs');
SELECT is((SELECT count(DISTINCT parameters) FROM dq_gate.checks WHERE name = 'mean' AND parameters ->> 'max' = '1000'), 1::bigint, 'nothing is changed');

-- a statement does what is proposed
SELECT is((SELECT min(statement) FROM proposed WHERE check_name = 'it''s "size"'), (SELECT max(statement) FROM proposed WHERE check_name = 'it''s "size"'), 'one statement a check');
BEGIN;
SET search_path = "My Lake", public;
SELECT DISTINCT statement FROM proposed WHERE check_name <> 'gone' \gexec
RESET search_path;
SELECT is((SELECT count(*) FROM proposed p JOIN dq_gate.checks c ON c.name = p.check_name WHERE p.check_name <> 'gone' AND (c.arguments ->> p.argument)::numeric <> p.proposed_value::numeric), 0::bigint, 'the statements do what is proposed');
ROLLBACK;

-- and so does apply
DROP TABLE kinds;
CREATE TEMP TABLE before AS SELECT * FROM dq_gate.checks;
SET search_path = "My Lake", public;
CREATE TEMP TABLE applied AS SELECT * FROM dq_gate.calibrate(t(), apply => true);
RESET search_path;
SELECT bag_eq('SELECT check_name, argument, current_value, proposed_value, evidence, statement FROM applied', 'SELECT check_name, argument, current_value, proposed_value, evidence, statement FROM proposed WHERE check_name <> ''gone''', 'apply does what was proposed, but for a check whose other table is gone');
SELECT is_empty($$ SELECT * FROM applied a JOIN dq_gate.checks c ON c.name = a.check_name WHERE (c.arguments ->> a.argument)::numeric IS DISTINCT FROM a.proposed_value::numeric $$, 'the checks have the thresholds');
SELECT results_eq($$ SELECT c.name, c.arguments - 'min' - 'max' - 'min_ratio' - 'max_ratio' - 'max_rate', c.action, c.owner, c.tags, c.description, c.severity, c.filter, c.filter_resolved, c.samples, c.nulls, c.max_rows, c.block_above, c.parameters ->> 'resolved' FROM dq_gate.checks c ORDER BY 1 $$,
	$$ SELECT c.name, c.arguments - 'min' - 'max' - 'min_ratio' - 'max_ratio' - 'max_rate', c.action, c.owner, c.tags, c.description, c.severity, c.filter, c.filter_resolved, c.samples, c.nulls, c.max_rows, c.block_above, c.parameters ->> 'resolved' FROM before c ORDER BY 1 $$, 'and all else that they had');
SELECT results_eq($$ SELECT arguments -> 'min', arguments -> 'max' FROM dq_gate.checks WHERE name = 'v_range' $$, $$ SELECT arguments -> 'min', arguments -> 'max' FROM before WHERE name = 'v_range' $$, 'bounds of rows among it');
SELECT is_empty('SELECT * FROM dq_gate.calibrate(t(), apply => true)', 'a second time there is nothing to do');
TRUNCATE staged;
INSERT INTO staged SELECT g, 150, 'k' || g % 11, '2020-01-01' FROM generate_series(1, 90) g;
SELECT dq_gate.publish('staged', t(), as_of => '2020-03-02') \g /dev/null
SELECT is((SELECT string_agg(status, ',') FROM dq_gate.results_of(last_run()) WHERE check_name IN ('it''s "size"', 'one_sided', 'kind_distinct', 'usual', 'day_not_null', 'size_metric')), 'passed,passed,passed,passed,passed,passed', 'a usual batch passes, also what is about another check');

-- a tolerance does not reach a level that blocks
SELECT dq_gate.drop_check(t(), 'day_not_null'), dq_gate.expect_not_null(t(), 'day', max_rate => 0.0001, block_above => 0.001) \g /dev/null
SELECT is_empty($$ SELECT * FROM dq_gate.calibrate(t()) WHERE check_name = 'day_not_null' $$, 'a tolerance stays below the level that blocks');

-- what is wrong
SELECT raises('SELECT * FROM dq_gate.calibrate(''staged'')', '42704', 'no gate is registered for public.staged', 'a table without a gate');
SELECT raises(format('SELECT * FROM dq_gate.calibrate(t(), %s)', arguments), state, message, arguments) FROM (VALUES ('low => 0.5, high => 0.5', '22023', 'low'), ('low => -0.1', '22023', 'low'), ('high => 1.1', '22023', 'high'), ('low => ''NaN''', '22023', 'low'), ('runs => 9', '22023', 'runs'), ('runs => NULL', '22004', 'runs'), ('apply => NULL', '22004', 'apply')) AS v (arguments, state, message);

-- who may
GRANT USAGE ON SCHEMA "My Lake" TO dq_loader;
GRANT SELECT ON "My Lake"."Or""ders" TO dq_loader;
CREATE FUNCTION loosen() RETURNS void LANGUAGE sql AS $$ SELECT dq_gate.drop_check(t(), 'mean'); SELECT dq_gate.expect_aggregate(t(), 'mean', 'avg(v)', 0, 5000); $$;
SELECT loosen() \g /dev/null
SET ROLE dq_loader;
SELECT isnt_empty($$ SELECT * FROM dq_gate.calibrate('"My Lake"."Or""ders"') $$, 'a reader may look');
SELECT raises($$ SELECT * FROM dq_gate.calibrate('"My Lake"."Or""ders"', apply => true) $$, '42501', 'permission denied for gate', 'not apply');
RESET ROLE;
REVOKE SELECT ON "My Lake"."Or""ders" FROM dq_loader;
SET ROLE dq_loader;
SELECT raises($$ SELECT * FROM dq_gate.calibrate('"My Lake"."Or""ders"') $$, '42501', 'permission denied for gate', 'and others not look');
RESET ROLE;
BEGIN READ ONLY;
SELECT isnt_empty('SELECT * FROM dq_gate.calibrate(t())', 'looking only reads');
SELECT raises('SELECT * FROM dq_gate.calibrate(t(), apply => true)', '25006', '', 'applying does not');
COMMIT;
SELECT finish();
