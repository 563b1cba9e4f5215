-- a table suggests its checks: each statement runs, and each check passes on the table itself
\ir include/helpers.sql
CREATE EXTENSION citext;
CREATE SCHEMA "My Lake";
SET search_path = "My Lake", public;
SET client_min_messages = error;
CREATE TYPE color AS ENUM ('red', 'green', 'it''s "blue"', 'never');
CREATE DOMAIN code AS varchar(8);
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE DOMAIN sure AS text NOT NULL;
CREATE TYPE pair AS (a int, b int);
CREATE TABLE customers (customer_id int PRIMARY KEY);
INSERT INTO customers SELECT generate_series(1, 300);
CREATE TABLE "Categories" (id text PRIMARY KEY);
CREATE TABLE category (id smallint PRIMARY KEY);
INSERT INTO category SELECT generate_series(1, 5);
CREATE TABLE "Or""ders" (
 "id" bigint GENERATED ALWAYS AS IDENTITY,
 "Sp ace" text, "q'uote" int, "back\slash" text, "select" color, customer_id int, category_id smallint,
 u uuid, mail text, dig char(10), iso text, ci citext, amount numeric(12,2), f4 real, f8 double precision, sm smallint, big bigint,
 ord date, ship date, at timestamp, atz timestamptz, future timestamptz, inf date,
 js json, jb jsonb, pt point, bo boolean, ar int[], rg int4range, co pair, by bytea, xm xml, c code, pos positive, su sure DEFAULT 'x',
 gen int GENERATED ALWAYS AS (1) STORED, allnull int, lim varchar(3), nanf float8, net inet, iv interval, tm time, mny money, nm name, bitc bit(3), ch "char", rc regclass, big8 numeric, collated text COLLATE "C", empty text, const numeric);
INSERT INTO "Or""ders" ("Sp ace", "q'uote", "back\slash", "select", customer_id, category_id, u, mail, dig, iso, ci, amount, f4, f8, sm, big, ord, ship, at, atz, future, inf, js, jb, pt, bo, ar, rg, co, by, xm, c, pos, su, lim, nanf, net, iv, tm, mny, nm, bitc, ch, rc, big8, collated, empty, const)
SELECT 'it''s \ ' || g % 3, g % 4 - 2, E'a\\b' || g, (ARRAY['red', 'green', 'it''s "blue"'])[g % 3 + 1]::color, g % 300 + 1, g % 5 + 1, gen_random_uuid(), 'a' || g || '@example.org', lpad(g::text, 9, '0'), (date '2020-01-01' + g)::text,
 CASE g % 2 WHEN 0 THEN 'Yes' ELSE 'yES' END, (random() * 1000)::numeric(12,2), g / 7.0, CASE g WHEN 1 THEN 1e308 WHEN 2 THEN -1e308 ELSE g END, 32000 + g % 700, 9223372036854775807 - g, date '2024-01-01' + g % 90, date '2024-01-01' + g % 90 + g % 4, current_timestamp - g * interval '1 hour', current_timestamp - g * interval '1 minute', now() + g * interval '1 day',
 CASE g WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE date '2020-01-01' END, '{}', '{}', '(1,2)', true, ARRAY[g], int4range(g, g + 1), (g, g)::pair, decode(lpad(to_hex(g), 8, '0'), 'hex'), '<a/>', 'c' || g % 90, g, 's' || g, 'a' || g % 50, CASE WHEN g % 2 = 0 THEN 'NaN'::float8 ELSE g END, ('10.0.' || g / 250 || '.' || g % 250)::inet, g * interval '1 s', '00:00'::time + g * interval '1 s', g::numeric::money, 'n' || g, (g % 8)::bit(3), 'a', 'pg_class'::regclass, 10::numeric ^ g, 'c' || g % 40, '', 7
FROM generate_series(1, 600) g;
UPDATE "Or""ders" SET amount = NULL WHERE id <= 3;

-- real data
CREATE TABLE airports (faa text PRIMARY KEY, name text NOT NULL, lat float8, lon float8, alt int, tz int, dst text, tzone text);
CREATE TABLE planes (tailnum text PRIMARY KEY, year int, type text, manufacturer text, model text, engines int,
	seats int CONSTRAINT seated CHECK (seats < 4000), speed int, engine text);
CREATE TABLE weather (origin text, year int, month int, day int, hour int, temp numeric, dewp numeric, humid numeric, wind_dir int,
	wind_speed float8, wind_gust float8, precip numeric, pressure numeric, visib numeric, time_hour timestamptz);
\copy airports FROM 'examples/nyc/airports.csv' WITH (FORMAT csv, HEADER, NULL 'NA')
\copy planes FROM PROGRAM 'gzip -dc examples/nyc/planes.csv.gz' WITH (FORMAT csv, HEADER, NULL 'NA')
\copy weather FROM PROGRAM 'gzip -dc examples/nyc/weather.csv.gz' WITH (FORMAT csv, HEADER, NULL 'NA')

-- what is suggested of a type for a column, its arguments after the target and its evidence
CREATE FUNCTION suggested(relation regclass, type text, VARIADIC cols text[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(regexp_replace(statement, '^SELECT dq_gate.expect_[a-z_]+\(''[^'']+'', (.*), action => ''warn''\);$', '\1') || ' | ' || evidence, E'\n') FROM dq_gate.suggest_checks(relation) WHERE check_type = type AND columns = cols
$$;
-- declare all of it under other settings than those under which it was found, and say what then fails
CREATE FUNCTION declared(relation regclass, OUT checks int, OUT failing text) LANGUAGE plpgsql AS $$
DECLARE s text;
BEGIN
	checks := 0;
	FOR s IN SELECT statement FROM dq_gate.suggest_checks(relation) LOOP
		EXECUTE s;
		checks := checks + 1;
	END LOOP;
	SELECT string_agg(check_name || ' ' || status || coalesce(' ' || message, ''), E'\n') INTO failing FROM dq_gate.audit_table(relation) WHERE status <> 'passed';
END
$$;
SELECT plan(81);

-- weather, which has no key
SELECT is(suggested('weather', 'accepted_values', 'origin'), '''origin'', ARRAY[''EWR'', ''JFK'', ''LGA''] | 3 distinct values in 26115 rows', 'accepted values');
SELECT is(suggested('weather', 'not_null', 'origin'), '''origin'' | no NULL in 26115 rows', 'no NULL');
SELECT is(suggested('weather', 'not_null', 'wind_speed'), (SELECT format('''wind_speed'', max_rate => 0.01 | %s NULL in %s rows, %s%%', count(*) FILTER (WHERE wind_speed IS NULL), count(*), trim_scale(round(100.0 * count(*) FILTER (WHERE wind_speed IS NULL) / count(*), 3))) FROM weather), 'few NULLs');
SELECT is(suggested('weather', 'not_null', 'wind_gust'), NULL, 'nothing where there are many');
SELECT is(suggested('weather', 'range', 'temp'), '''temp'', min => -43, max => 154 | 10.94 to 100.04 in 26115 rows, standard deviation 17.8', 'a range with room on both sides');
SELECT ok((SELECT -43 <= min(temp) - 3 * stddev(temp) AND -42 > min(temp) - 3 * stddev(temp) AND 154 >= max(temp) + 3 * stddev(temp) AND 153 < max(temp) + 3 * stddev(temp) FROM weather), 'of three standard deviations');
SELECT is(suggested('weather', 'range', 'precip'), (SELECT format('''precip'', min => %s, max => %s | 0 to 1.21 in 26115 rows, standard deviation 0.0302', trim_scale(floor(-3000 * stddev(precip)) / 1000), trim_scale(ceil(1210 + 3000 * stddev(precip)) / 1000)) FROM weather), 'to two digits of it');
SELECT is(suggested('weather', 'not_future', 'time_hour'), '''time_hour'' | the latest of 26115 rows is 2013-12-30 23:00:00+00', 'what is past is not in the future');
SELECT is(suggested('weather', 'range', 'time_hour'), '''time_hour'', min => ''2013-01-01 00:00:00+00'' | 2013-01-01 06:00:00+00 to 2013-12-30 23:00:00+00 in 26115 rows', 'nor before its year');
SELECT is(suggested('weather', 'freshness', 'time_hour'), NULL, 'nor is it fresh');
SELECT is(suggested('weather', 'unique', 'origin', 'time_hour'), 'ARRAY[''origin'', ''time_hour''] | no two of 26115 rows have the same (origin, time_hour)', 'a key that nobody declared');
SELECT is((SELECT array_agg(columns) FROM dq_gate.suggest_checks('weather') WHERE check_type = 'unique'), ARRAY[ARRAY['origin', 'time_hour']], 'is the only one');
-- planes, which have one
SELECT is(suggested('planes', 'not_null', 'tailnum'), NULL, 'nothing that the key says');
SELECT is(suggested('planes', 'unique', 'tailnum'), NULL, 'already');
SELECT is(suggested('planes', 'range', 'seats'), NULL, 'nor a constraint');
SELECT is(suggested('planes', 'length', 'tailnum'), '''tailnum'', min => 5, max => 6 | 5 to 6 characters in 3322 rows', 'lengths');
SELECT is(suggested('planes', 'accepted_values', 'engines'), '''engines'', ARRAY[''1'', ''2'', ''3'', ''4''] | 4 distinct values in 3322 rows', 'whole numbers may be codes');
SELECT is(suggested('planes', 'range', 'engines'), NULL, 'which then have no range');
SELECT is(suggested('airports', 'unique', 'faa'), NULL, 'airports have a key');
SELECT is((SELECT count(*) FROM dq_gate.checks), 0::bigint, 'nothing is declared');
SELECT results_eq($$ SELECT DISTINCT left(statement, 28) FROM dq_gate.suggest_checks('planes') WHERE check_type = 'range' $$, ARRAY['SELECT dq_gate.expect_range('], 'a statement is one');
SET datestyle = 'German';
SET timezone = 'Asia/Tokyo';
SET extra_float_digits = -10;
SELECT results_eq(format('SELECT checks > %s, failing FROM declared(%L)', n, relation), 'VALUES (true, NULL::text)', format('every suggestion for %s can be declared and passes', relation)) FROM (VALUES ('weather', 20), ('planes', 10), ('airports', 8)) AS t (relation, n);
SELECT is_empty(format('SELECT * FROM dq_gate.suggest_checks(%L)', relation), format('and %s suggests it no more', relation)) FROM (VALUES ('weather'), ('planes'), ('airports')) AS t (relation);

-- all sorts of columns
SELECT is(suggested('"Or""ders"', 'accepted_values', 'Sp ace'), $$'Sp ace', ARRAY[E'it''s \\ 0', E'it''s \\ 1', E'it''s \\ 2'] | 3 distinct values in 600 rows$$, 'odd names and values');
SELECT is(suggested('"Or""ders"', 'unique', E'back\\slash'), $$ARRAY[E'back\\slash'] | no two of 600 values are equal$$, 'odder names');
SELECT is(suggested('"Or""ders"', 'accepted_values', 'select'), $$'select', ARRAY['green', 'it''s "blue"', 'red'] | 3 distinct values in 600 rows$$, 'labels of an enum, if some are not used');
SELECT is(suggested('"Or""ders"', 'accepted_values', 'ci'), $$'ci', ARRAY['Yes'] | 1 distinct value in 600 rows$$, 'values that are equal are one');
SELECT is(suggested('"Or""ders"', 'accepted_values', 'bo'), NULL, 'a boolean has only two');
SELECT is(suggested('"Or""ders"', 'pattern', 'mail'), $$'mail', '^[^@[:space:]]+@[^@[:space:]]+[.][^@[:space:].]+$' | each of 600 values is an e-mail address$$, 'e-mail addresses');
SELECT is(suggested('"Or""ders"', 'pattern', 'dig'), $$'dig', '^[0-9]+$' | each of 600 values is a string of digits$$, 'digits');
SELECT is(suggested('"Or""ders"', 'length', 'dig'), $$'dig', min => 9, max => 9 | 9 characters in 600 rows$$, 'without the blanks of a char(n)');
SELECT is(suggested('"Or""ders"', 'pattern', 'iso'), $$'iso', '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' | each of 600 values is an ISO date$$, 'dates as text');
SELECT is(suggested('"Or""ders"', 'length', 'iso'), NULL, 'have the length of their pattern');
SELECT is(suggested('"Or""ders"', 'length', 'lim'), $$'lim', min => 2 | 2 to 3 characters in 600 rows$$, 'a limit of the type is one already');
SELECT is(suggested('"Or""ders"', 'compare', 'ord', 'ship'), $$'ord', '<=', 'ship', nulls => 'pass' | ord is before ship in 450 of 600 rows, and after it in none$$, 'one that comes before the other');
SELECT is((SELECT array_agg(columns::text ORDER BY columns) FROM dq_gate.suggest_checks('"Or""ders"') WHERE check_type = 'compare'), ARRAY['{atz,future}', '{ord,ship}'], 'of the same type');
SELECT is(suggested('"Or""ders"', 'referential', 'customer_id'), $$ARRAY['customer_id'], '"My Lake".customers', ARRAY['customer_id'] | all of 600 values are in "My Lake".customers (customer_id)$$, 'a key of the same name');
SELECT is(suggested('"Or""ders"', 'referential', 'category_id'), $$ARRAY['category_id'], '"My Lake".category', ARRAY['id'] | all of 600 values are in "My Lake".category (id)$$, 'or of the name of its table');
SELECT is(suggested('"Or""ders"', 'range', 'customer_id') , NULL, 'needs no range');
RESET datestyle;
SELECT is(suggested('"Or""ders"', 'freshness', 'at'), (SELECT format('''at'', ''1 day'' | the latest of 600 rows is %s, %s ago', max(at), date_trunc('minute', now() AT TIME ZONE 'UTC' - max(at))) FROM "Or""ders"), 'what is fresh');
SELECT is((SELECT string_agg(check_type, ',') FROM dq_gate.suggest_checks('"Or""ders"') WHERE columns = ARRAY[c]), wanted, format('%s: %s', c, coalesce(wanted, 'nothing'))) FROM (VALUES ('id', 'unique'), ('allnull', NULL), ('gen', NULL), ('co', NULL),
	('nanf', 'not_null'), ('f8', 'not_null,unique'), ('inf', 'not_null'), ('js', 'not_null'), ('pt', 'not_null'), ('pos', 'not_null,unique'), ('su', 'unique,length'), ('big', 'not_null,unique'), ('const', 'not_null'), ('u', 'not_null,unique')) AS t (c, wanted);
SET datestyle = 'SQL, DMY';
SELECT results_eq('SELECT checks > 90, failing FROM declared(''"Or""ders"'')', 'VALUES (true, NULL::text)', 'all of it can be declared and passes');
SELECT is_empty('SELECT * FROM dq_gate.suggest_checks(''"Or""ders"'')', 'and is suggested no more');

RESET datestyle;

-- what constraints say
CREATE TABLE guarded (id int PRIMARY KEY, a int CHECK (a > 0), b int NOT NULL UNIQUE, customer_id int REFERENCES customers, c text CHECK (c IS NOT NULL), d date, e date, CHECK (d <= e), f text);
INSERT INTO guarded SELECT g, g % 50, g, g, 'x', date '2020-01-01', date '2020-01-01' + g, 'f' || g FROM generate_series(1, 120) g WHERE g % 50 > 0;
SELECT results_eq($$ SELECT check_type, columns::text FROM dq_gate.suggest_checks('guarded') $$, $$ VALUES ('not_null', '{a}'), ('not_null', '{customer_id}'), ('unique', '{customer_id}'),
	('not_null', '{d}'), ('not_future', '{d}'), ('range', '{d}'), ('not_null', '{e}'), ('unique', '{e}'), ('not_future', '{e}'), ('range', '{e}'), ('not_null', '{f}'), ('unique', '{f}'), ('length', '{f}') $$, 'nothing that constraints say already');

-- history
CREATE TABLE staged (LIKE customers);
SELECT is_empty($$ SELECT * FROM dq_gate.suggest_checks('customers') WHERE check_type = 'volume' $$, 'no volume without a history');
INSERT INTO staged SELECT generate_series(1, 10);
SELECT dq_gate.publish('staged', 'customers', as_of => date '2020-01-01' + n) FROM generate_series(1, 5) n \g /dev/null
DELETE FROM staged WHERE customer_id > 8;
SELECT dq_gate.publish('staged', 'customers', as_of => '2020-01-10') \g /dev/null
SELECT results_eq($$ SELECT columns, statement, evidence FROM dq_gate.suggest_checks('customers') WHERE check_type = 'volume' $$,
	$$ VALUES ('{}'::text[], 'SELECT dq_gate.expect_volume(''"My Lake".customers'', min_ratio => 0.64, max_ratio => 1.25, action => ''warn'');', '8 to 10 rows in 6 batches, median 10') $$, 'one by the batches that there were');

-- large ones
CREATE TABLE large (id int, v int, t text) PARTITION BY RANGE (id);
CREATE TABLE large_1 PARTITION OF large FOR VALUES FROM (0) TO (20000);
CREATE TABLE large_2 PARTITION OF large FOR VALUES FROM (20000) TO (100000);
INSERT INTO large SELECT g, g % 1000, 't' || g % 3 FROM generate_series(1, 50000) g;
SELECT is((SELECT evidence FROM dq_gate.suggest_checks('large') WHERE check_type = 'accepted_values'), '3 distinct values in 50000 rows', 'all rows, unless there are too many');
SELECT ok((SELECT bool_and(evidence ~ 'sampled rows') AND count(*) = 5 AND max(substring(evidence from '(\d+) sampled')::int) BETWEEN 500 AND 40000 FROM dq_gate.suggest_checks('large', 10000)), 'else some of them, and no more is said than they tell');
ANALYZE large;
SELECT ok((SELECT max(substring(evidence from '(\d+) sampled')::int) BETWEEN 5000 AND 15000 FROM dq_gate.suggest_checks('large', 10000)), 'about as many as are wanted');
SELECT ok((SELECT bool_and(evidence ~ 'in (the first 1 rows|\d+ sampled rows)') FROM dq_gate.suggest_checks('large', 1)), 'however few');
SELECT is((SELECT count(*) FROM dq_gate.suggest_checks('large', NULL) WHERE check_type = 'unique'), 1::bigint, 'NULL takes all');
SELECT is((SELECT count(*) FROM dq_gate.suggest_checks('large', 9223372036854775807) WHERE check_type = 'unique'), 1::bigint, 'and so does a large number');
SELECT format('CREATE TABLE wide (%s)', string_agg(format('c%s %s', n, (ARRAY['int', 'text', 'date', 'numeric', 'float8'])[n % 5 + 1]), ', ')) FROM generate_series(1, 120) n \gexec
SELECT format('INSERT INTO wide SELECT %s FROM generate_series(1, 300) g', string_agg(format('(%s)::%s', (ARRAY['g %% 7', '''v'' || g', 'date ''2020-01-01'' + g', 'g', 'g / 3'])[n % 5 + 1], (ARRAY['int', 'text', 'date', 'numeric', 'float8'])[n % 5 + 1]), ', ')) FROM generate_series(1, 120) n \gset
SELECT replace(:'format', '%%', '%') \gexec
SELECT is((SELECT count(DISTINCT columns[1]) FROM dq_gate.suggest_checks('wide')), 120::bigint, 'a hundred and twenty columns');

-- nothing to go by, and what is none
CREATE TABLE bare (id int, v text);
SELECT is_empty($$ SELECT * FROM dq_gate.suggest_checks('bare') $$, 'an empty table suggests nothing');
CREATE TABLE no_columns ();
INSERT INTO no_columns DEFAULT VALUES;
SELECT is_empty($$ SELECT * FROM dq_gate.suggest_checks('no_columns') $$, 'nor does one without columns');
CREATE VIEW seen AS SELECT 1 AS one;
SELECT raises($$ SELECT * FROM dq_gate.suggest_checks('seen') $$, '42809', 'seen cannot be a target table', 'a view is none');
SELECT raises($$ SELECT * FROM dq_gate.suggest_checks('pg_class') $$, '42809', 'pg_class cannot be', 'nor is a catalog');
SELECT raises($$ SELECT * FROM dq_gate.suggest_checks(NULL) $$, '22004', 'table_name', 'NULL');
SELECT raises($$ SELECT * FROM dq_gate.suggest_checks(4711) $$, '42P01', '4711', 'a table that is gone');
SELECT raises($$ SELECT * FROM dq_gate.suggest_checks('bare', 0) $$, '22023', 'sample_rows', 'no rows');

-- who may
GRANT USAGE ON SCHEMA "My Lake" TO dq_loader, dq_outsider;
GRANT SELECT (origin, temp) ON weather TO dq_loader;
SET ROLE dq_loader;
SELECT set_eq($$ SELECT DISTINCT columns::text FROM dq_gate.suggest_checks('weather') $$, ARRAY['{origin}', '{temp}'], 'one sees the columns that one may read');
SET ROLE dq_outsider;
SELECT raises($$ SELECT * FROM dq_gate.suggest_checks('weather') $$, '42501', 'permission denied', 'and without rights none');
RESET ROLE;
ALTER TABLE planes ENABLE ROW LEVEL SECURITY;
ALTER TABLE planes FORCE ROW LEVEL SECURITY;
SELECT raises($$ SELECT * FROM dq_gate.suggest_checks('planes') $$, '42501', 'row-level security', 'a part of the rows is not taken for all');
BEGIN READ ONLY;
SELECT lives_ok($$ SELECT * FROM dq_gate.suggest_checks('airports') $$, 'it only reads');
COMMIT;
SELECT finish();
