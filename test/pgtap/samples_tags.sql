-- examples of failing rows, on or off, and the tags of a check
\ir include/helpers.sql
SELECT plan(35);

CREATE TABLE ref (v int);
CREATE TABLE t (a int, b text, v int, c text, PRIMARY KEY (a, b));
CREATE TABLE s (LIKE t);
INSERT INTO s SELECT i, 'k' || i, -7, 'secret' FROM generate_series(1, 9) i;
SELECT dq_gate.create_gate('t') \g /dev/null

-- every kind of rule about rows
CREATE FUNCTION declare_all(samples bool) RETURNS void LANGUAGE sql AS $$
	SELECT dq_gate.expect_range('t', 'v', 0, name => 'r01', samples => samples), dq_gate.expect_accepted_values('t', 'v', '{1}', name => 'r02', samples => samples),
		dq_gate.expect_rejected_values('t', 'v', '{-7}', name => 'r03', samples => samples), dq_gate.expect_pattern('t', 'c', '^\d', name => 'r04', samples => samples),
		dq_gate.expect_like('t', 'c', '1%', name => 'r05', samples => samples), dq_gate.expect_length('t', 'c', max => 2, name => 'r06', samples => samples),
		dq_gate.expect_unique('t', '{v,c}', name => 'r07', samples => samples), dq_gate.expect_referential('t', '{v}', 'ref', name => 'r08', samples => samples),
		dq_gate.expect_sql('t', 'r09', 'v > 0 AND c > ''''', samples => samples)
$$;
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' $$;
SELECT declare_all(true) \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^r\d' AND status = 'failed'), 9::bigint, 'nine rules failed');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'r01'),
	'[{"a": 1, "b": "k1", "v": -7}, {"a": 2, "b": "k2", "v": -7}, {"a": 3, "b": "k3", "v": -7}, {"a": 4, "b": "k4", "v": -7}, {"a": 5, "b": "k5", "v": -7}]', 'up to five rows are shown, by their key and the column of the check');
SELECT is((SELECT sample -> 0 FROM dq_gate.results_of(last_run()) WHERE check_name = 'r09'), '{"a": 1, "b": "k1", "c": "secret", "v": -7}', 'or the columns of the rule');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'r07'), '[{"c": "secret", "v": -7, "rows": 9}]', 'or the duplicated value');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^r\d' AND jsonb_array_length(sample) = CASE check_name WHEN 'r07' THEN 1 ELSE 5 END AND message LIKE '%, for example {%'), 9::bigint, 'so it is for every kind');
SELECT drop_all('t'), declare_all(NULL) \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT count(sample) FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^r\d'), 9::bigint, 'unless a check says otherwise');

-- off
SELECT drop_all('t'), declare_all(false) \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^r\d' AND status = 'failed'), 9::bigint, 'the nine rules fail all the same');
SELECT is((SELECT count(sample) FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^r\d'), 0::bigint, 'without examples');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^r\d' AND message ~ 'for example'), 0::bigint, 'in the message as well');
SELECT is((SELECT message FROM dq_gate.results_of(last_run()) WHERE check_name = 'r04'), '9 of 9 rows: c does not match ''^\d''', 'which says how many');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) r WHERE (r.message || coalesce(r.actual_value, '') || coalesce(r.sample::text, '')) ~ 'secret'), 0::bigint, 'no value of a row is in the results');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'r01'), '9 rows', 'the smallest and the largest value are values, too');
SELECT is((SELECT failures::text ~ 'secret|k1' FROM dq_gate.runs WHERE run_id = last_run()), false, 'nor in the run');
SELECT is((SELECT array_length(failed_checks, 1) FROM dq_quarantine.t WHERE run_id = last_run() LIMIT 1), 9, 'the rows in quarantine have their reasons');
SELECT drop_all('t') \g /dev/null

-- off for one, on for another
SELECT dq_gate.expect_range('t', 'v', 0, name => 'quiet', samples => false, action => 'quarantine'), dq_gate.expect_range('t', 'v', 0, name => 'open', action => 'warn') \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT results_eq($$ SELECT check_name, jsonb_array_length(sample), message ~ 'for example' FROM dq_gate.results_of(last_run()) WHERE check_type = 'range' ORDER BY 1 $$,
	$$ VALUES ('open', 5, true), ('quiet', NULL, false) $$, 'each check has its own switch');
SELECT drop_all('t') \g /dev/null

-- an error may hold a value of a row
SELECT dq_gate.expect_sql('t', 'cast', 'c::int > 0', samples => false) \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is(finding('cast'), 'error', 'a rule that fails with an error');
SELECT ok(message('cast') !~ 'secret', 'does not show the value either');
SELECT matches(message('cast'), 'could not be evaluated', 'but says that it could not be evaluated');
SELECT drop_all('t') \g /dev/null

-- fewer rows than five; a long value, and names
CREATE TABLE "Odd" ("Id" int PRIMARY KEY, "a""b" text, n numeric, f bool, d date, j jsonb);
CREATE TABLE "Odd stg" (LIKE "Odd");
INSERT INTO "Odd stg" VALUES (1, repeat('ä', 150), 1.50, true, '2024-01-02', '{"x": 1}'), (2, 'q"', NULL, NULL, NULL, NULL);
SELECT dq_gate.expect_length('"Odd"', 'a"b', max => 1), dq_gate.expect_sql('"Odd"', 'none', 'n < 0 AND f AND d > ''2025-01-01'' AND j IS NULL AND "Id" < 0') \g /dev/null
SET DateStyle = 'German';
SELECT dq_gate.audit('"Odd stg"', '"Odd"') \g /dev/null
RESET DateStyle;
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'a"b_length'), jsonb_build_array(jsonb_build_object('Id', 1, 'a"b', repeat('ä', 100)), '{"Id": 2, "a\"b": "q\""}'::jsonb), 'long values are cut, quotes are escaped');
SELECT is((SELECT sample -> 0 FROM dq_gate.results_of(last_run()) WHERE check_name = 'none'), '{"Id": 1, "d": "2024-01-02", "f": true, "j": "{\"x\": 1}", "n": 1.50}', 'numbers and booleans are themselves, the rest is text');
SELECT is((SELECT sample -> 1 FROM dq_gate.results_of(last_run()) WHERE check_name = 'none'), '{"Id": 2, "d": null, "f": null, "j": null, "n": null}', 'NULL is null');

-- a check that passes has none; one that tolerates rows shows them
SELECT dq_gate.expect_not_null('"Odd"', 'Id', name => 'fine'), dq_gate.expect_not_null('"Odd"', 'n', name => 'some', max_rows => 1), dq_gate.expect_not_null('"Odd"', 'f', name => 'hush', max_rows => 1, samples => false) \g /dev/null
SELECT dq_gate.audit('"Odd stg"', '"Odd"') \g /dev/null
SELECT results_eq($$ SELECT check_name, status, sample FROM dq_gate.results_of(last_run()) WHERE check_name IN ('fine', 'some', 'hush') ORDER BY 1 $$,
	$$ VALUES ('fine', 'passed', NULL::jsonb), ('hush', 'passed', NULL), ('some', 'passed', '[{"n": null, "Id": 2}]') $$, 'rows that are tolerated are shown where failing ones would be');

-- staged as text: the value as it is staged
CREATE TABLE n (id int PRIMARY KEY, v int);
CREATE TABLE n_s (id text, v text);
INSERT INTO n_s VALUES ('01', ' -5');
SELECT dq_gate.expect_range('n', 'v', 0) \g /dev/null
SELECT dq_gate.audit('n_s', 'n') \g /dev/null
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'v_range'), '[{"v": " -5", "id": "01"}]', 'a value is shown as it is staged');

-- a function takes 100 arguments
CREATE TABLE wide (id int PRIMARY KEY, v int);
DO $$ BEGIN EXECUTE (SELECT 'ALTER TABLE wide ' || string_agg('ADD c' || i || ' int', ', ') FROM generate_series(1, 80) i); END $$;
CREATE TABLE wide_s (LIKE wide);
INSERT INTO wide_s (id, v) VALUES (1, -1);
SELECT dq_gate.expect_sql('wide', 'many', (SELECT string_agg('c' || i || ' IS NOT NULL', ' AND ') FROM generate_series(1, 80) i)) \g /dev/null
SELECT dq_gate.audit('wide_s', 'wide') \g /dev/null
SELECT is((SELECT (sample -> 0 -> 'id')::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'many'), '1', 'a rule over very many columns has examples as well');

-- tags
SELECT dq_gate.expect_range('n', 'v', 0, name => 'tagged', tags => ARRAY['finance', 'P1', 'a "b", c', '']), dq_gate.expect_row_count('n', 1, tags => '{volume}'), dq_gate.expect_range('n', 'v', 0, name => 'none', tags => '{}') \g /dev/null
SELECT results_eq($$ SELECT check_name, tags FROM dq_gate.checks_of('n') WHERE origin = 'declared' ORDER BY 1 $$,
	$$ VALUES ('none', NULL::text[]), ('row_count', '{volume}'), ('tagged', '{finance,P1,"a \"b\", c",""}'), ('v_range', NULL) $$, 'checks_of shows the tags of each check');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('n') WHERE origin <> 'declared' AND tags IS NOT NULL), 0::bigint, 'what is derived has none');
SELECT results_eq($$ SELECT check_name FROM dq_gate.checks_of('n') WHERE 'P1' = ANY (tags) $$, $$ VALUES ('tagged') $$, 'checks can be found by them');
SELECT raises($$ SELECT dq_gate.expect_range('n', 'v', 0, tags => ARRAY['a', NULL]) $$, '22004', 'NULL', 'NULL is no tag');

-- owner and description, with every function that declares
CREATE TABLE every (id int PRIMARY KEY, v int, c text, at timestamptz);
SELECT dq_gate.create_gate('every', owner => 'platform') \g /dev/null
SELECT dq_gate.expect_not_null('every', 'v', owner => 'o', name => 'c01', description => 'd', tags => '{x}'), dq_gate.expect_range('every', 'v', 0, owner => 'o', name => 'c02', description => 'd', tags => '{x}'),
	dq_gate.expect_accepted_values('every', 'v', '{1}', owner => 'o', name => 'c03', description => 'd', tags => '{x}'), dq_gate.expect_rejected_values('every', 'v', '{1}', owner => 'o', name => 'c04', description => 'd', tags => '{x}'),
	dq_gate.expect_pattern('every', 'c', 'x', owner => 'o', name => 'c05', description => 'd', tags => '{x}'), dq_gate.expect_like('every', 'c', 'x', owner => 'o', name => 'c06', description => 'd', tags => '{x}'),
	dq_gate.expect_length('every', 'c', 1, owner => 'o', name => 'c07', description => 'd', tags => '{x}'), dq_gate.expect_unique('every', '{v}', owner => 'o', name => 'c08', description => 'd', tags => '{x}'),
	dq_gate.expect_referential('every', '{v}', 'ref', owner => 'o', name => 'c09', description => 'd', tags => '{x}'), dq_gate.expect_sql('every', 'c10', 'v > 0', owner => 'o', description => 'd', tags => '{x}'),
	dq_gate.expect_row_count('every', 1, owner => 'o', name => 'c11', description => 'd', tags => '{x}'), dq_gate.expect_freshness('every', 'at', '1 day', owner => 'o', name => 'c12', description => 'd', tags => '{x}') \g /dev/null
SELECT is((SELECT count(*) FROM dq_gate.checks_of('every') WHERE owner = 'o' AND description = 'd' AND tags = '{x}' AND check_name ~ '^c\d\d$'), 12::bigint, 'every kind takes owner, name, description and tags');
SELECT is((SELECT string_agg(DISTINCT owner, ', ') FROM dq_gate.checks_of('every') WHERE origin <> 'declared'), 'platform', 'what is derived belongs to the owner of the gate');
SELECT dq_gate.expect_not_null('every', 'c') \g /dev/null
SELECT is((SELECT owner FROM dq_gate.checks_of('every') WHERE check_name = 'c_not_null'), 'platform', 'and what says nothing else as well');
SELECT raises(format('SELECT dq_gate.expect_%s, name => ''c01'')', call), '42710', 'c01.*already exists', 'a name that is taken: expect_' || split_part(call, '(', 1))
FROM unnest(ARRAY['pattern(''every'', ''c'', ''x''', 'unique(''every'', ''{c}''', 'row_count(''every'', 1', 'freshness(''every'', ''at'', ''1 day''']) call;

SELECT finish();
