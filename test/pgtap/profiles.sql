-- profiles: what the columns of a batch look like, against the same in other SQL
\ir include/helpers.sql
SELECT plan(176);
SET client_min_messages = error;
SET timezone = 'UTC';

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE point3 AS (x int, y int, label text);
CREATE DOMAIN score AS int CHECK (VALUE >= 0);
CREATE DOMAIN code AS varchar(20);
CREATE TABLE s (id int, i int, bi bigint, n numeric, x float8, r real, t text, v varchar(30), c char(5), d date, at timestamptz, ts timestamp, b bool, e mood, u uuid, j json, jb jsonb, a int[], sc score, co code, p point3, iv interval, by bytea, "Odd ""%s $1" text);
CREATE TABLE t (LIKE s, g int GENERATED ALWAYS AS (id * 2) STORED, missing int DEFAULT 7, PRIMARY KEY (id));
SELECT dq_gate.create_gate('t', profile => true), dq_gate.expect_volume('t', action => 'declare') \g /dev/null
SELECT is((SELECT profile FROM dq_gate.gates), true, 'a gate that profiles');
INSERT INTO s SELECT i, i * i % 97, i % 5 * 10000000000, CASE WHEN i % 7 > 0 THEN i * i % 31 * 1.25 END, CASE i % 9 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' WHEN 3 THEN NULL ELSE sqrt(i) END, i / 8.0, CASE WHEN i % 4 > 0 THEN 'Wört ' || i % 13 ELSE '' END,
	CASE WHEN i % 2 = 0 THEN 'v' || i % 6 END, 'c' || i % 3, date '1969-12-01' + i * i % 61, timestamptz '2024-03-31 00:00+00' + i % 50 * interval '1 h', timestamp '1900-01-01' + i % 10 * interval '1 month', CASE i % 5 WHEN 0 THEN NULL ELSE i % 3 = 0 END, (ARRAY['sad', 'ok', 'happy', NULL])[1 + i * i % 4]::mood,
	md5((i % 20)::text)::uuid, json_build_object('i', i % 3), jsonb_build_object('i', i % 3), CASE WHEN i % 3 > 0 THEN ARRAY[i % 4, NULL] ELSE '{}' END, i % 11, 'code' || i % 9, CASE WHEN i % 6 > 0 THEN ROW(i % 3, CASE WHEN i % 2 > 0 THEN i % 4 END, NULL)::point3 END, make_interval(hours => i % 30), decode(md5((i % 3)::text), 'hex'), 'odd' || i % 2
FROM generate_series(1, 250) i;
INSERT INTO s (id) VALUES (251), (252);
UPDATE s SET p = ROW(NULL, NULL, NULL) WHERE id = 252;
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT verdict FROM dq_gate.runs), 'published', 'a batch of all types');
SELECT results_eq('SELECT column_name FROM dq_gate.profiles ORDER BY 1', $$ SELECT attname::text COLLATE "default" FROM pg_attribute WHERE attrelid = 's'::regclass AND attnum > 0 ORDER BY 1 $$, 'each column has a profile, but those that the target generates or that are not staged');

-- the most common values without the keys, which are nobody's business
CREATE FUNCTION top(list jsonb) RETURNS jsonb LANGUAGE sql STRICT AS $$ SELECT jsonb_agg(e - '{key,share}'::text[]) FROM jsonb_array_elements(list) e $$;
-- by hand: a table of the values of each column, one row a row of the batch
CREATE FUNCTION value_of(c text) RETURNS TABLE (missing bool, v text) LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE format('SELECT %1$I IS NOT DISTINCT FROM NULL, %1$I::text FROM s', c); END $$;
CREATE FUNCTION hand(c text, expression text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE result text; BEGIN EXECUTE format('SELECT (%s)::text FROM (SELECT %I AS c FROM s) q', expression, c) INTO result; RETURN result; END $$;
SELECT is(p.row_count || ' ' || p.null_count, (SELECT count(*) || ' ' || count(*) FILTER (WHERE missing) FROM value_of(p.column_name)), 'rows and NULLs of ' || p.column_name) FROM dq_gate.profiles p ORDER BY p.column_name;
SELECT is(p.distinct_count, hand(p.column_name, 'count(DISTINCT c) FILTER (WHERE c IS DISTINCT FROM NULL)')::bigint, 'different values of ' || p.column_name) FROM dq_gate.profiles p WHERE column_name <> 'j' ORDER BY p.column_name;
SELECT is((SELECT ROW(distinct_count, min_value, max_value, mean, stddev, quantiles, top(top_values), min_length, max_length)::text FROM dq_gate.profiles WHERE column_name = 'j'), '(,,,,,,,,)', 'of a type without equality there is no more to say');
SELECT is(p.min_value || ' .. ' || p.max_value, hand(p.column_name, '(array_agg(c ORDER BY c))[1]::text || '' .. '' || (array_agg(c ORDER BY c DESC NULLS LAST))[1]::text'), 'ends of ' || p.column_name) FROM dq_gate.profiles p WHERE column_name NOT IN ('j', 'a', 'p') ORDER BY p.column_name;
SELECT is(p.min_value || ' .. ' || p.max_value, (SELECT min(a)::text || ' .. ' || max(a)::text FROM s), 'ends of arrays') FROM dq_gate.profiles p WHERE column_name = 'a';
SELECT is(p.min_value || ' .. ' || p.max_value, (SELECT (SELECT s.p::text FROM s WHERE s.p IS DISTINCT FROM NULL ORDER BY s.p LIMIT 1) || ' .. ' || (SELECT s.p::text FROM s WHERE s.p IS DISTINCT FROM NULL ORDER BY s.p DESC LIMIT 1)), 'ends of rows') FROM dq_gate.profiles p WHERE column_name = 'p';
SELECT is(p.min_length || ' ' || p.max_length, hand(p.column_name, 'min(length(c)) || '' '' || max(length(c))'), 'lengths of ' || p.column_name) FROM dq_gate.profiles p WHERE column_name IN ('t', 'v', 'c', 'co', 'Odd "%s $1') ORDER BY p.column_name;
SELECT is((SELECT count(*) FROM dq_gate.profiles WHERE min_length IS NOT NULL OR max_length IS NOT NULL), 5::bigint, 'which only texts have');
SELECT is_empty($$ SELECT column_name FROM dq_gate.profiles p, jsonb_array_elements(p.top_values) e WHERE abs((e ->> 'share')::numeric - (e ->> 'rows')::numeric / (p.row_count - p.null_count)) > 1e-9 $$, 'each with its share of the rows that have a value');
-- the most common values, ties in the order of their text
SELECT is((SELECT jsonb_agg(e - '{key,share}'::text[]) FROM jsonb_array_elements(p.top_values) e), (SELECT jsonb_agg(jsonb_build_object('value', v, 'rows', n) ORDER BY n DESC, v COLLATE "C") FROM (SELECT v, count(*) AS n FROM value_of(p.column_name) WHERE NOT missing GROUP BY v ORDER BY n DESC, v COLLATE "C" LIMIT 100) q), 'most common values of ' || p.column_name) FROM dq_gate.profiles p WHERE column_name NOT IN ('j', 'n') ORDER BY p.column_name;
SELECT is((SELECT jsonb_agg(jsonb_build_object('value', (e ->> 'value')::numeric, 'rows', e -> 'rows')) FROM jsonb_array_elements(p.top_values) e), (SELECT jsonb_agg(jsonb_build_object('value', v, 'rows', c) ORDER BY c DESC, v::text COLLATE "C") FROM (SELECT n AS v, count(*) AS c FROM s WHERE n IS NOT NULL GROUP BY n) q), 'most common values of n') FROM dq_gate.profiles p WHERE column_name = 'n';
SELECT is((SELECT jsonb_array_length(top_values) || ' of ' || distinct_count FROM dq_gate.profiles WHERE column_name = 'id'), '100 of 252', 'of many values 100 are kept');

-- numbers and points in time, these in seconds since 1970
CREATE FUNCTION position_of(c text) RETURNS SETOF float8 LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format(CASE WHEN c IN ('d', 'ts', 'at') THEN 'SELECT extract(epoch FROM %I)::float8 FROM s' ELSE 'SELECT %I::float8 FROM s' END, c);
END
$$;
CREATE FUNCTION quantiles_by_hand(numbers float8[]) RETURNS float8[] LANGUAGE sql AS $$
	SELECT array_agg(sorted[greatest(1, ceil(k * cardinality(sorted) / 100.0))] ORDER BY k) FROM (SELECT array_agg(x ORDER BY x) AS sorted FROM unnest(numbers) x WHERE x IS NOT NULL) o, generate_series(0, 100) k
$$;
SELECT is((SELECT string_agg(column_name, ' ' ORDER BY column_name) FROM dq_gate.profiles WHERE quantiles IS NOT NULL), 'at bi d i id n r sc ts x', 'numbers and points in time have percentiles');
SELECT is(quantiles_by_hand('{5,1,3,2,4}') = array_fill(1::float8, ARRAY[21]) || array_fill(2::float8, ARRAY[20]) || array_fill(3::float8, ARRAY[20]) || array_fill(4::float8, ARRAY[20]) || array_fill(5::float8, ARRAY[20]), true, 'as computed by hand');
SELECT is(p.quantiles, quantiles_by_hand(ARRAY(SELECT position_of(p.column_name))), 'percentiles of ' || p.column_name) FROM dq_gate.profiles p WHERE quantiles IS NOT NULL ORDER BY p.column_name;
SELECT is(p.quantiles[51], (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM position_of(p.column_name) x), 'the median of ' || p.column_name) FROM dq_gate.profiles p WHERE quantiles IS NOT NULL ORDER BY p.column_name;
SELECT ok(abs(p.mean - m.mean) <= 1e-9 * abs(m.mean) AND abs(p.stddev - m.sd) <= 1e-9 * m.sd, 'mean and standard deviation of ' || p.column_name)
FROM dq_gate.profiles p, LATERAL (SELECT avg(x), stddev_samp(x) FROM position_of(p.column_name) x WHERE x NOT IN ('NaN', 'Infinity', '-Infinity')) AS m (mean, sd) WHERE quantiles IS NOT NULL ORDER BY p.column_name;
SELECT is((SELECT count(*) FROM dq_gate.profiles WHERE (mean IS NULL) <> (quantiles IS NULL) OR (stddev IS NULL) <> (quantiles IS NULL)), 0::bigint, 'which the others have not');
-- published: the standard deviation of 2, 4, 4, 4, 5, 5, 7, 9 is 2, that of a sample 2.138; their mean is 5
CREATE TABLE known (id int PRIMARY KEY, x int);
CREATE TABLE known_s AS SELECT no::int AS id, x FROM unnest('{2,4,4,4,5,5,7,9}'::int[]) WITH ORDINALITY AS u (x, no);
SELECT dq_gate.create_gate('known', profile => true), (dq_gate.publish('known_s', 'known')).verdict \g /dev/null
SELECT is((SELECT ROW(row_count, null_count, distinct_count, min_value, max_value, mean, round(stddev::numeric, 4), quantiles[1], quantiles[26], quantiles[51], quantiles[76], quantiles[101], cardinality(quantiles), top(top_values))::text FROM dq_gate.profiles WHERE run_id = last_run() AND column_name = 'x'),
	'(8,0,5,2,9,5,2.1381,2,4,4,5,9,101,"[{""rows"": 3, ""value"": ""4""}, {""rows"": 2, ""value"": ""5""}, {""rows"": 1, ""value"": ""2""}, {""rows"": 1, ""value"": ""7""}, {""rows"": 1, ""value"": ""9""}]")', 'numbers that are known');

-- few rows, nothing but NULL, nothing but NaN, long texts
TRUNCATE s;
INSERT INTO s (id, i, x, t, b) VALUES (1, 5, 'NaN', repeat('é', 300), true);
SELECT dq_gate.publish('s', 't') \g /dev/null
CREATE FUNCTION profile(name text) RETURNS text LANGUAGE sql AS $$ SELECT ROW(row_count, null_count, distinct_count, min_value, max_value, mean, stddev, quantiles[1], quantiles[51], quantiles[101], top(top_values), min_length, max_length)::text FROM dq_gate.profiles WHERE run_id = last_run() AND column_name = name $$;
SELECT is(profile('i'), '(1,0,1,5,5,5,,5,5,5,"[{""rows"": 1, ""value"": ""5""}]",,)', 'one row has no deviation');
SELECT is(profile('x'), '(1,0,1,NaN,NaN,,,NaN,NaN,NaN,"[{""rows"": 1, ""value"": ""NaN""}]",,)', 'NaN has no mean');
SELECT is(profile('n'), '(1,1,0,,,,,,,,,,)', 'of NULL there is nothing but their number');
SELECT is(profile('v') || profile('p') || profile('a'), '(1,1,0,,,,,,,,,,)(1,1,0,,,,,,,,,,)(1,1,0,,,,,,,,,,)', 'whatever their type');
SELECT is((SELECT ROW(length(min_value), length(max_value), length(top_values -> 0 ->> 'value'), min_length, max_length)::text FROM dq_gate.profiles WHERE run_id = last_run() AND column_name = 't'), '(100,100,100,300,300)', 'long texts are cut, and their length is the whole');
-- rows some of whose fields are NULL are values
TRUNCATE s;
INSERT INTO s (id, p) VALUES (1, NULL), (2, ROW(NULL, NULL, NULL)), (3, ROW(1, NULL, 'a')), (4, ROW(1, NULL, 'a')), (5, ROW(1, 2, 'a'));
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT ROW(row_count, null_count, distinct_count, jsonb_array_length(top_values))::text FROM dq_gate.profiles WHERE run_id = last_run() AND column_name = 'p'), '(5,1,3,3)', 'rows with fields that are NULL are no NULL');
SELECT is((SELECT top(top_values) -> 0 FROM dq_gate.profiles WHERE run_id = last_run() AND column_name = 'p'), '{"rows": 2, "value": "(1,,a)"}', 'and can be the most common');

-- runs of any kind: dry ones, rejected ones; none of an empty batch
TRUNCATE s;
INSERT INTO s (id, i) VALUES (1, 1), (1, 2), (2, NULL);
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT verdict FROM dq_gate.runs WHERE run_id = last_run()) || ' ' || profile('i'), 'rejected (3,1,2,1,2,1.5,0.7071067811865476,1,1,2,"[{""rows"": 1, ""value"": ""1""}, {""rows"": 1, ""value"": ""2""}]",,)', 'a rejected batch has a profile');
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.profiles WHERE run_id = last_run()), (SELECT count(*) FROM pg_attribute WHERE attrelid = 's'::regclass AND attnum > 0), 'so has one that is only looked at');
TRUNCATE s;
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.profiles WHERE run_id = last_run()), 0::bigint, 'an empty batch has nothing to profile');
-- staged as text: values of the type; what does not fit is none
CREATE TABLE as_text (id text, i text, d text);
INSERT INTO as_text VALUES ('1', ' 07', '2024-02-29'), ('2', '7', '20240301'), ('3', '10', NULL);
SELECT dq_gate.publish('as_text', 't') \g /dev/null
SELECT is(profile('i'), '(3,0,2,7,10,8,1.7320508075688772,7,7,10,"[{""rows"": 2, ""value"": ""7""}, {""rows"": 1, ""value"": ""10""}]",,)', 'staged as text, values are of the type');
SELECT is((SELECT ROW(min_value, max_value, quantiles[1])::text FROM dq_gate.profiles WHERE run_id = last_run() AND column_name = 'd'), '(2024-02-29,2024-03-01,1709164800)', 'dates as well');
SELECT results_eq('SELECT column_name FROM dq_gate.profiles WHERE run_id = last_run() ORDER BY 1', $$ VALUES ('d'), ('i'), ('id') $$, 'and only what is staged');

-- what cannot be profiled keeps nobody from publishing, unless a check wants it
TRUNCATE s;
INSERT INTO s (id, i, n) SELECT no, no, 10::numeric ^ 400 FROM generate_series(1, 100) no;
SELECT is((dq_gate.publish('s', 't')).verdict || coalesce(not_passed(), ''), 'published', 'a number that cannot be placed');
SELECT is((SELECT count(*) FROM dq_gate.profiles WHERE run_id = last_run() AND column_name IN ('n', 'i')) > 0, true, 'the other columns have their profile');

-- time zones and styles of the session
TRUNCATE s;
INSERT INTO s (id, d, at, ts, iv, by, x) VALUES (1, '2024-03-31', '2024-03-31 23:30+00', '2024-03-31 23:30', '1 mon 2 days 03:00', '\xdeadbeef', 1 / 3.0), (2, '2024-04-01', '2024-10-27 01:30+00', '1999-12-31 23:59:59.999999', '-1 day', '', 0.1);
SELECT (dq_gate.audit('s', 't')).run_id AS plain \gset
SET timezone = 'America/St_Johns';
SET datestyle = 'SQL, DMY';
SET intervalstyle = 'iso_8601';
SET bytea_output = 'escape';
SET extra_float_digits = -10;
SELECT (dq_gate.audit('s', 't')).run_id AS styled \gset
RESET datestyle;
RESET intervalstyle;
RESET bytea_output;
RESET extra_float_digits;
SET timezone = 'UTC';
CREATE FUNCTION kept(run_id bigint) RETURNS SETOF text LANGUAGE sql AS $$ SELECT ROW(column_name, mean, stddev, quantiles[1], quantiles[101], CASE WHEN column_name <> 'at' THEN ROW(min_value, max_value, top(top_values)) END)::text FROM dq_gate.profiles p WHERE p.run_id = kept.run_id ORDER BY column_name $$;
SELECT is(array_agg(styled), (SELECT array_agg(plain) FROM kept(:plain) plain), 'settings of the session do not matter') FROM kept(:styled) styled;
SELECT is(a.min_value || ' ' || a.top_values, b.min_value || ' ' || b.top_values, 'nor does its time zone, for the text of points in time') FROM dq_gate.profiles a, dq_gate.profiles b WHERE a.run_id = :styled AND b.run_id = :plain AND a.column_name = 'at' AND b.column_name = 'at';

-- without samples no value is kept
SELECT dq_gate.alter_gate('t', samples => false) \g /dev/null
TRUNCATE s;
INSERT INTO s (id, t, v, e, u, j, jb, p, by, d) VALUES (1, 'secret1', 'secret2', 'ok', md5('x')::uuid, '"secret3"', '"secret4"', ROW(1, 2, 'secret5'), 'secret6', '2024-02-29');
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.profiles p WHERE run_id = last_run() AND (p::text LIKE '%secret%' OR p::text LIKE '%' || md5('x')::uuid || '%' OR min_value IS NOT NULL OR max_value IS NOT NULL OR top_values IS NOT NULL)), 0::bigint, 'without samples no value is kept');
SELECT is((SELECT ROW(row_count, null_count, distinct_count, min_length, max_length)::text FROM dq_gate.profiles WHERE run_id = last_run() AND column_name = 't'), '(1,0,1,7,7)', 'but how many there are, and how long');
SELECT dq_gate.alter_gate('t', samples => true) \g /dev/null

-- a gate that does not profile, and a check that wants it
SELECT dq_gate.alter_gate('t', profile => false) \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.profiles WHERE run_id = last_run()), 0::bigint, 'it can be turned off');
SELECT dq_gate.expect_stable_distribution('t', 'v', action => 'warn'), dq_gate.publish('s', 't') \g /dev/null
SELECT results_eq('SELECT column_name, top(top_values) FROM dq_gate.profiles WHERE run_id = last_run()', $$ VALUES ('v', '[{"rows": 1, "value": "secret2"}]'::jsonb) $$, 'then those columns have one that a check compares');
SELECT dq_gate.alter_gate('t', profile => true), dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT count(*) || ' ' || count(DISTINCT column_name) FROM dq_gate.profiles WHERE run_id = last_run()), (SELECT count(*) || ' ' || count(*) FROM pg_attribute WHERE attrelid = 's'::regclass AND attnum > 0), 'turned on again, each has one, and no column two');
CREATE TABLE unregistered (id int PRIMARY KEY);
SELECT dq_gate.publish('s', 'unregistered') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.profiles WHERE run_id = last_run()), 0::bigint, 'a table without a gate of its own has none');
SELECT is((SELECT count(*) FROM dq_gate.gates WHERE target = 'unregistered'::regclass AND profile), 0::bigint, 'nor does a gate profile, unless it is told to');
SELECT is(dq_gate.export_gate('known') ->> 'profile', 'true', 'it is exported');

-- a check of the profile that cannot be made
SELECT dq_gate.expect_stable_distribution('t', 'n', min_history => 1, action => 'warn') \g /dev/null
UPDATE s SET n = 10::numeric ^ 400;
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('n_stable_distribution'), 'published error of 1', 'a check that wants a profile that cannot be made cannot be evaluated');

-- who may read them, and write
SET ROLE dq_outsider;
SELECT is((SELECT count(*) FROM dq_gate.profiles), 0::bigint, 'who may not read the target sees no profile');
RESET ROLE;
GRANT SELECT ON known TO dq_outsider;
SET ROLE dq_outsider;
SELECT is((SELECT string_agg(DISTINCT gate || ' ' || column_name, ', ' ORDER BY gate || ' ' || column_name) FROM dq_gate.profiles JOIN dq_gate.runs USING (run_id)), 'public.known id, public.known x', 'who may read one, those of that');
SELECT is((SELECT count(*) FROM dq_gate.profiles), 2::bigint, 'and no others');
RESET ROLE;
SELECT raises(statement, '42501', 'profiles', 'nobody writes them: ' || split_part(statement, ' ', 1)) FROM unnest(ARRAY['INSERT INTO dq_gate.profiles (run_id, column_name, row_count, null_count) VALUES (1, ''z'', 0, 0)', 'UPDATE dq_gate.profiles SET row_count = 0', 'DELETE FROM dq_gate.profiles', 'TRUNCATE dq_gate.profiles']) statement;
-- they are a part of their run
SELECT matches((SELECT encode(tgargs, 'escape') FROM pg_trigger WHERE tgrelid = 'dq_gate.runs'::regclass AND tgname = 'delete_with_run'), '^run_id.*profiles', 'they go with their run');
SELECT is((SELECT count(*) FROM dq_gate.profiles WHERE run_id NOT IN (SELECT run_id FROM dq_gate.runs)), 0::bigint, 'none is without one');
BEGIN;
INSERT INTO known_s VALUES (9, 9);
SELECT dq_gate.publish('known_s', 'known') \g /dev/null
SELECT is((SELECT row_count FROM dq_gate.profiles WHERE run_id = last_run() AND column_name = 'x'), 9::bigint, 'a run that is taken back');
ROLLBACK;
SELECT is((SELECT max(p.row_count) FROM dq_gate.profiles p JOIN dq_gate.runs USING (run_id) WHERE gate = 'public.known'), 8::bigint, 'takes its profiles with it');
SELECT finish();
