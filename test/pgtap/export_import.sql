-- rules as code: a gate leaves as a document and comes back as it was
\ir include/helpers.sql
SELECT plan(138);

CREATE SCHEMA "My Lake";
CREATE TABLE "My Lake"."Parents" (id int, "Reg ion" text, UNIQUE (id, "Reg ion"));
CREATE TABLE "My Lake"."Or""ders" (id int PRIMARY KEY, total numeric, score float8, "Reg ion" text, "on" date, at timestamptz, pause interval, big int8, labels text[], ok bool, code text, low int, high int);
CREATE TABLE "My Lake"."Staged" (LIKE "My Lake"."Or""ders");
CREATE FUNCTION target() RETURNS regclass LANGUAGE sql AS $$ SELECT '"My Lake"."Or""ders"'::regclass $$;

-- what an import did, in words: "gate unchanged, b added"
CREATE FUNCTION imported(definition jsonb, dry_run bool DEFAULT false) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(CASE object WHEN 'gate' THEN 'gate' ELSE name END || ' ' || change, ', ' ORDER BY no)
	FROM dq_gate.import_gate(definition, dry_run) WITH ORDINALITY AS i (object, name, change, no)
$$;
-- how many of what: "19 unchanged"
CREATE FUNCTION counted(definition jsonb, dry_run bool DEFAULT false) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format('%s %s', n, change), ', ' ORDER BY change) FROM (SELECT count(*) n, change FROM dq_gate.import_gate(definition, dry_run) GROUP BY change) c
$$;
-- all that is kept of gates and checks
CREATE FUNCTION kept() RETURNS text LANGUAGE sql AS $$
	SELECT (SELECT coalesce(string_agg(g::text, E'\n' ORDER BY target::text), '') FROM dq_gate.gates g) || E'\n' || (SELECT coalesce(string_agg(c::text, E'\n' ORDER BY target::text, name), '') FROM dq_gate.checks c)
$$;
-- the same but for who made it and when
CREATE FUNCTION meant() RETURNS text LANGUAGE sql AS $$
	SELECT (SELECT string_agg((to_jsonb(g) - 'created_at')::text, E'\n' ORDER BY target::text) FROM dq_gate.gates g) || E'\n' || (SELECT string_agg((to_jsonb(c) - 'created_at')::text, E'\n' ORDER BY target::text, name) FROM dq_gate.checks c)
$$;
CREATE FUNCTION context_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	context text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
	RETURN context;
END
$$;

-- a gate with everything, and a check of every kind
SELECT dq_gate.create_gate(target(), staging => '"My Lake"."Staged"', key => '{id}', layer => 'gold', owner => 'it''s "us"', description => E'a\\b\n${c}', enforce => false, samples => false, check_timeout => '90 s', expected_every => '1 day') \g /dev/null
SELECT dq_gate.expect_not_null(target(), 'Reg ion', name => 'Odd "name"; it''s', description => 'ü ✓', nulls => 'fail', filter => $$"on" > '2020-02-03' AND code <> E'\\'''$$, max_rate => 0.0001, owner => 'o', severity => 'Critical', tags => '{a,"b c","d\"e",NULL2}', samples => false),
	dq_gate.expect_range(target(), 'total', min => -123456789012345678901234567890.123456789012345678901234567890, max => 1e40, name => 'digits'),
	dq_gate.expect_range(target(), 'total', max => 'NaN'::numeric, name => 'nan'), dq_gate.expect_range(target(), 'score', min => 0.1::float8, max => 'Infinity'::float8, name => 'floats'),
	dq_gate.expect_range(target(), 'score', min => 1e-300::float8, max => '1e300', name => 'far floats'), dq_gate.expect_range(target(), 'big', min => -9223372036854775808, max => 9223372036854775807, name => 'bigs'),
	dq_gate.expect_range(target(), 'total', min => 5.00, max => '7.50', name => 'scale'), dq_gate.expect_range(target(), 'on', min => date '2020-12-31', max => '2024-02-29', name => 'dates'),
	dq_gate.expect_range(target(), 'at', min => timestamptz '2020-12-31 10:00+02', name => 'times'), dq_gate.expect_range(target(), 'pause', min => interval '-1 mon +2 days -03:04:05.6', max => interval '1 year', name => 'pauses'),
	dq_gate.expect_range(target(), 'ok', min => true, name => 'bools'), dq_gate.expect_range(target(), 'labels', min => ARRAY['a', 'b"c', NULL], max => ARRAY[ARRAY['x', 'y'], ARRAY['z', '']], name => 'arrays'),
	dq_gate.expect_range(target(), 'code', min => 5, name => 'number for a text') \g /dev/null
SELECT dq_gate.expect_accepted_values(target(), 'code', ARRAY['', 'a,b', '{c}', '"', '\', 'NULL', ' d ']), dq_gate.expect_rejected_values(target(), 'total', '{1.50,NaN}', action => 'warn', warn_above => 0.5),
	dq_gate.expect_pattern(target(), 'code', '^\w+\d{2,}''$', action => 'quarantine', block_above => 12), dq_gate.expect_like(target(), 'Reg ion', 'EU\_%', action => 'drop'), dq_gate.expect_length(target(), 'labels', max => 7),
	dq_gate.expect_unique(target(), ARRAY['Reg ion', 'code'], max_rows => 3), dq_gate.expect_referential(target(), '{id,"Reg ion"}', '"My Lake"."Parents"', '{id,"Reg ion"}'),
	dq_gate.expect_sql(target(), 'rule', $$total > 0 OR EXISTS (SELECT FROM "My Lake"."Parents" p WHERE p.id = batch.id)$$), dq_gate.expect_query(target(), 'query', 'SELECT id FROM "My Lake"."Parents" WHERE id < 0', max_rows => 2),
	dq_gate.expect_compare(target(), 'low', '<=', 'high', tags => '{}'), dq_gate.expect_not_future(target(), 'at', tolerance => '1 day 02:00'), dq_gate.expect_row_count(target(), min => 3000000000, action => 'skip'),
	dq_gate.expect_aggregate(target(), 'mean', 'avg(total)', min => 0.10, max => 12345678901234567890.5), dq_gate.expect_freshness(target(), 'at', '26:00:00', action => 'declare') \g /dev/null
SELECT dq_gate.expect_type_fit(target(), 'code', action => 'quarantine'), dq_gate.expect_constraint(target(), 'Or"ders_pkey', action => 'quarantine'),
	dq_gate.expect_within(target(), 'at', '1 mon 2 days', reference => 'as_of'), dq_gate.expect_null_rate(target(), 0.25, '{code,"Reg ion"}'), dq_gate.expect_distinct(target(), '{"Reg ion",code}', 1, 20, max_distinct_rate => 0.5),
	dq_gate.expect_row_count_match(target(), '"My Lake"."Parents"', 0.5, 1.50, ref_filter => $$"Reg ion" <> 'it''s'$$, filter => 'id > 0'), dq_gate.expect_schema(target(), '{id,"Reg ion"}', '{integer,"character varying(5)"}', 'at_least', true),
	dq_gate.expect_control_totals(target(), '{total}', 'SELECT count(*) AS row_count, 1 AS total FROM "My Lake"."Parents"', 0.01), dq_gate.expect_reconciled(target(), '"My Lake"."Parents"', '{id}', '{id}', 'id > 0'),
	dq_gate.expect_series(target(), 'at', '1 hour 30 min', 'dq_gate.as_of()', $$'2020-02-03'$$, '{"Reg ion"}'), dq_gate.expect_volume(target(), 0.25, NULL, 20, 3, 'weekday'),
	dq_gate.expect_metric(target(), 'avg(total)', 'zscore', NULL, 2.5, min_spread => 0.02, name => 'usual'), dq_gate.expect_stable_distribution(target(), 'code', 'chi_square', 4.5, 20, 3, 'days', 50), dq_gate.expect_metric(target(), 'digits', 'bounds', max => 0.5, name => 'often missing'), dq_gate.expect_change_rate(target(), 0.5, max_delete_rate => 0.05),
	dq_gate.expect_ready(target(), 'SELECT count(*) > 0 FROM "My Lake"."Parents" -- some', deadline => '30 hours'), dq_gate.expect_ready(target(), upstream => '"My Lake"."Parents"', name => 'after'), dq_gate.expect_ready(target(), idle => true, action => 'declare', name => 'nobody') \g /dev/null
CREATE TABLE seen AS SELECT dq_gate.export_gate(target()) AS document, kept(), meant();

SELECT is((SELECT string_agg(kind, ', ') FROM (SELECT substr(proname, 8) AS kind FROM pg_proc WHERE pronamespace = 'dq_gate'::regnamespace AND proname LIKE 'expect\_%'
		EXCEPT SELECT jsonb_path_query(document, '$.checks[*].kind') #>> '{}' FROM seen) missing), NULL,
	'a check of every kind is exported; if one is named here, declare a check of it above');
SELECT is((SELECT document - 'checks' FROM seen),
	'{"target": "\"My Lake\".\"Or\"\"ders\"", "staging": "\"My Lake\".\"Staged\"", "key": ["id"], "layer": "gold", "owner": "it''s \"us\"", "description": "a\\b\n${c}", "enforce": false, "samples": false, "check_timeout": "00:01:30", "expected_every": "1 day"}',
	'the gate is exported with what is set');
SELECT is((SELECT jsonb_agg(c -> 'name') FROM seen, jsonb_array_elements(document -> 'checks') c), (SELECT jsonb_agg(name ORDER BY name COLLATE "C") FROM dq_gate.checks), 'its checks in the order of their names');
SELECT is((SELECT c FROM seen, jsonb_array_elements(document -> 'checks') c WHERE c ->> 'name' = 'id_Reg ion_referential'),
	'{"name": "id_Reg ion_referential", "kind": "referential", "arguments": {"columns": ["id", "Reg ion"], "ref_table": "\"My Lake\".\"Parents\"", "ref_columns": ["id", "Reg ion"], "match": "simple", "action": "block"}}', 'each with the call that declared it');
SELECT is((SELECT c -> 'arguments' FROM seen, jsonb_array_elements(document -> 'checks') c WHERE c ->> 'name' = 'digits'),
	'{"column_name": "total", "min": -123456789012345678901234567890.123456789012345678901234567890, "max": 10000000000000000000000000000000000000000, "action": "block"}', 'numbers with all their digits');
SELECT is((SELECT c #>> '{arguments,min}' FROM seen, jsonb_array_elements(document -> 'checks') c WHERE c ->> 'name' = 'scale'), '5.00', 'and their scale');
SELECT doesnt_match((SELECT document::text FROM seen), 'dq_tester|run_as|created|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d', 'nothing of who and when');

-- round trip
SELECT is((SELECT counted(document) FROM seen), '46 unchanged', 'what was exported changes nothing');
SELECT is(kept(), (SELECT kept FROM seen), 'and leaves all as it is, created_at as well');
SET search_path = pg_catalog, public;
SET DateStyle = 'SQL, DMY';
SET IntervalStyle = 'sql_standard';
SET extra_float_digits = -15;
SET standard_conforming_strings = off;
SELECT public.is(dq_gate.export_gate(public.target()), (SELECT document FROM public.seen), 'the settings of the session do not matter to the document');
SELECT public.is((SELECT public.counted(document) FROM public.seen), '46 unchanged', 'nor to what it is');
RESET ALL;
SELECT dq_gate.drop_gate(target()) \g /dev/null
SELECT is((SELECT counted(document) FROM seen), '46 added', 'after the gate was dropped it comes back');
SELECT is(meant(), (SELECT meant FROM seen), 'as it was');
SELECT is(dq_gate.export_gate(target()), (SELECT document FROM seen), 'and is exported as it was');
SELECT is((SELECT counted(document) FROM seen), '46 unchanged', 'a second import changes nothing');
SELECT is((SELECT counted(document - 'checks') FROM seen), '45 removed, 1 unchanged', 'no checks are none');
SELECT is(dq_gate.export_gate(target()) -> 'checks', '[]', 'which is what is exported then');
SELECT dq_gate.drop_gate(target()) \g /dev/null

-- a gate on defaults
CREATE TABLE t (id int PRIMARY KEY, v int, w text);
CREATE TABLE s (LIKE t);
SELECT dq_gate.create_gate('t') \g /dev/null
SELECT is(dq_gate.export_gate('t'), '{"target": "public.t", "checks": []}', 'what is not set is not exported');
SELECT results_eq($$ SELECT * FROM dq_gate.import_gate('{"target": "t", "layer": "gold", "checks": [{"name": "b", "kind": "range", "arguments": {"column_name": "v", "min": 0}}, {"name": "B", "kind": "not_null", "arguments": {"column_name": "v"}}, {"kind": "sql", "name": "a", "arguments": {"expression": "v < 9"}}]}') $$,
	$$ VALUES ('gate', 'public.t', 'changed'), ('check', 'B', 'added'), ('check', 'a', 'added'), ('check', 'b', 'added') $$, 'the gate comes first, then the checks by name');

-- changed, added, removed, unchanged
CREATE FUNCTION definition(checks jsonb, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"target": "public.t"}' || more || jsonb_build_object('checks', checks) $$;
CREATE FUNCTION rule(name text, expression text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('name', name, 'kind', 'sql', 'arguments', jsonb_build_object('expression', expression) || more) $$;
CREATE FUNCTION checks(VARIADIC jsonb[]) RETURNS jsonb LANGUAGE sql AS $$ SELECT to_jsonb($1) $$;
SELECT is(imported(definition(checks(rule('keep', 'v > 0'), rule('alter', 'v > 0'), rule('drop', 'v > 0')))), 'gate changed, B removed, a removed, alter added, b removed, drop added, keep added', 'what a document lacks is removed');
CREATE TABLE times AS SELECT name, created_at, xmin::text AS writer FROM dq_gate.checks;
SELECT is(imported(definition(checks(rule('new', 'v > 0'), rule('keep', 'v > 0'), rule('alter', 'v > 1')))), 'gate unchanged, alter changed, drop removed, keep unchanged, new added', 'the rest is added, changed or left');
SELECT results_eq('SELECT name, c.created_at = t.created_at FROM dq_gate.checks c JOIN times t USING (name) ORDER BY name', $$ VALUES ('alter', false), ('keep', true) $$, 'what is unchanged keeps the time when it was declared');
SELECT is((SELECT c.xmin::text FROM dq_gate.checks c WHERE name = 'keep'), (SELECT writer FROM times WHERE name = 'keep'), 'being the same row');
SELECT is(imported(definition(checks(rule('keep', 'v > 0', more), rule('alter', 'v > 1'), rule('new', 'v > 0')), '{}'), true), 'gate unchanged, alter unchanged, keep changed, new unchanged', format('a difference in %s is one', more))
FROM unnest('{"{\"action\": \"warn\"}","{\"owner\": \"x\"}","{\"description\": \"x\"}","{\"nulls\": \"pass\"}","{\"filter\": \"v > 1\"}","{\"max_rate\": 0.5}","{\"max_rows\": 1}","{\"block_above\": 1}","{\"tags\": [\"x\"]}","{\"samples\": false}","{\"severity\": \"x\"}"}'::jsonb[]) more;
SELECT is(imported(definition('[{"name": "keep", "kind": "range", "arguments": {"column_name": "v", "min": 1}}]'), true), 'gate unchanged, alter removed, keep changed, new removed', 'and so is one of the kind');

-- properties of the gate
SELECT is(imported('{"target": "t", "staging": "s", "key": ["id"], "layer": "l", "owner": "o", "description": "d", "enforce": false, "samples": false, "check_timeout": "1 min"}'), 'gate changed, alter removed, keep removed, new removed', 'all properties of a gate');
SELECT is(dq_gate.export_gate('t'), '{"target": "public.t", "staging": "public.s", "key": ["id"], "layer": "l", "owner": "o", "description": "d", "enforce": false, "samples": false, "check_timeout": "00:01:00", "checks": []}', 'are imported');
SELECT is(imported(dq_gate.export_gate('t') - key, true), 'gate changed', format('without %s the gate differs', key)) FROM unnest('{staging,key,layer,owner,description,enforce,samples,check_timeout}'::text[]) key;
SELECT is(imported('{"target": "t", "staging": "s", "key": ["id"], "layer": "l", "owner": "o", "description": "d", "enforce": false, "samples": false, "check_timeout": "60 s"}'), 'gate unchanged', 'the same time in other words is the same');
SELECT is(imported('{"target": "t", "key": [], "layer": "", "owner": "", "check_timeout": "0"}'), 'gate changed', 'keys that a document lacks, or that are empty,');
SELECT is(dq_gate.export_gate('t'), '{"target": "public.t", "checks": []}', 'go back to the default');
SELECT is(imported('{"target": "t", "key": [], "layer": "", "owner": "", "enforce": true, "samples": true, "check_timeout": "0"}'), 'gate unchanged', 'which they then are');

-- the role belongs to the database
SELECT is(imported('{"target": "t", "run_as": "dq_loader"}'), 'gate changed', 'a document may name the role');
SELECT is(imported('{"target": "t", "run_as": "dq_loader"}'), 'gate unchanged', 'which then is the one');
SELECT is(imported('{"target": "t", "layer": "x"}'), 'gate changed', 'and where it does not');
SELECT is((SELECT run_as::text FROM dq_gate.gates), 'dq_loader', 'the role is kept');
SELECT raises($$ SELECT imported('{"target": "t", "run_as": "pg_read_all_data"}') $$, '42501', 'pg_read_all_data', 'it must be one that the caller can act as');
SELECT raises($$ SELECT imported('{"target": "t", "run_as": "nobody"}') $$, '42704', 'nobody', 'and exist');
SELECT is(imported('{"target": "t", "run_as": "dq_tester"}'), 'gate changed', 'back again');
CREATE TABLE n (id int PRIMARY KEY);
SELECT is(imported('{"target": "n", "run_as": "dq_loader"}'), 'gate added', 'a new gate');
SELECT is((SELECT run_as::text FROM dq_gate.gates WHERE target = 'n'::regclass), 'dq_loader', 'takes the role of the document');
SELECT dq_gate.drop_gate('n') \g /dev/null

-- a gate whose target has no key is one of checks alone
CREATE TABLE keyless (v int);
SELECT dq_gate.expect_range('keyless', 'v', 0) \g /dev/null
SELECT is(imported(dq_gate.export_gate('keyless')), 'gate unchanged, v_range unchanged', 'a gate that could not be made now is unchanged all the same');
SELECT dq_gate.drop_gate('keyless') \g /dev/null
SELECT raises($$ SELECT imported('{"target": "keyless"}') $$, '55000', 'no key', 'a new one needs a key');

-- dry run
SELECT imported(definition(checks(rule('x', 'v > 0'), rule('y', 'v > 0'), rule('z', 'v > 0')))) \g /dev/null
UPDATE seen SET kept = kept();
SELECT is(imported(definition(checks(rule('w', 'v > 0'), rule('x', 'v > 0'), rule('y', 'v > 1')), '{"layer": "q"}'), true), 'gate changed, w added, x unchanged, y changed, z removed', 'a dry run says what would be');
SELECT is(kept(), (SELECT kept FROM seen), 'and does nothing');
SELECT is(imported('{"target": "n", "checks": [{"name": "c", "kind": "not_null", "arguments": {"column_name": "id"}}]}', true), 'gate added, c added', 'nor does one for a gate that there is not yet');
SELECT is(kept(), (SELECT kept FROM seen), 'register it');
SELECT raises($$ SELECT imported(definition(checks(rule('w', 'v > 0'), rule('x', 'nothing > 0'))), true) $$, '42703', 'nothing', 'but it finds what an import would');
SELECT is((SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND classid = 'dq_gate.gates'::regclass AND pid = pg_backend_pid()), 0::bigint, 'no gate stays locked');

-- an error leaves nothing, and says where it is
SELECT raises($$ SELECT imported(definition(checks(rule('a', 'v > 0'), rule('x', 'v > 5'), rule('zz', 'v + 0')), '{"layer": "q"}')) $$, '42804', 'boolean', 'an error in the last check');
SELECT is(kept(), (SELECT kept FROM seen), 'leaves nothing of the first');
SELECT matches(context_of($$ SELECT imported(definition(checks(rule('a', 'v > 0'), rule('It''s', 'v + 0')))) $$), 'importing check "It''s" of gate public\.t', 'its context names the check');
SELECT matches(context_of($$ SELECT imported('{"target": "t", "key": ["nothing"]}') $$), 'importing gate public\.t', 'and that of an error in the gate, the gate');
SELECT is(kept(), (SELECT kept FROM seen), 'nothing stays of either');

-- what an expression means depends on the search_path
CREATE SCHEMA one; CREATE SCHEMA two; CREATE SCHEMA none;
CREATE TABLE one.lookup (id int); CREATE TABLE two.lookup (id int);
CREATE FUNCTION one.fine(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION two.fine(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT false';
SET search_path = public, one;
SELECT imported(definition(checks(rule('expression', 'EXISTS (SELECT FROM lookup l WHERE l.id = batch.id)'), rule('filter', 'v > 0', '{"filter": "fine(v)"}'), '{"name": "query", "kind": "query", "arguments": {"query": "SELECT 1 FROM lookup"}}', '{"name": "ref", "kind": "referential", "arguments": {"columns": ["id"], "ref_table": "lookup"}}'))) \g /dev/null
CREATE TABLE expressions AS SELECT dq_gate.export_gate('t') AS document;
SELECT is(imported(document), 'gate unchanged, expression unchanged, filter unchanged, query unchanged, ref unchanged', 'under the same search_path') FROM expressions;
SET search_path = public, two;
SELECT is(imported(document, true), 'gate unchanged, expression changed, filter changed, query changed, ref unchanged', 'under another one expressions mean something else, names of tables are qualified') FROM expressions;
SET search_path = public, none;
SELECT raises('SELECT imported(document) FROM expressions', '42P01', 'lookup', 'or nothing at all');
RESET search_path;
SELECT ok((SELECT bool_and(parameters::text !~ 'two' AND coalesce(filter_resolved, '') !~ 'two') FROM dq_gate.checks), 'what was declared means what it did');
ALTER TABLE one.lookup RENAME TO looked_up;
CREATE TABLE one.lookup (id int);
SELECT is(dq_gate.export_gate('t') #>> '{checks,3,arguments,ref_table}', 'one.looked_up', 'a table that was renamed is exported by its name of today');
SELECT is(imported(jsonb_set(dq_gate.export_gate('t'), '{checks}', (dq_gate.export_gate('t') #> '{checks}') - 2 - 1 - 0), true), 'gate unchanged, expression removed, filter removed, query removed, ref unchanged', 'and is the same table');

-- names of tables that look like numbers
CREATE SCHEMA e; CREATE TABLE e.e1 (id int);
SELECT is(imported('{"target": "n", "staging": "e.e1", "checks": [{"name": "c", "kind": "referential", "arguments": {"columns": ["id"], "ref_table": "e.e1"}}]}'), 'gate added, c added', 'a table e.e1');
SELECT is(dq_gate.export_gate('n') #>> '{checks,0,arguments,ref_table}', 'e.e1', 'is no number');
SELECT dq_gate.drop_gate('n') \g /dev/null
-- temporary tables have the same name in every session
CREATE TEMPORARY TABLE e (id int);
SELECT is(imported('{"target": "n", "staging": "pg_temp.e", "checks": [{"name": "c", "kind": "referential", "arguments": {"columns": ["id"], "ref_table": "pg_temp.e"}}]}'), 'gate added, c added', 'temporary tables');
SELECT is(dq_gate.export_gate('n'), '{"target": "public.n", "staging": "pg_temp.e", "checks": [{"name": "c", "kind": "referential", "arguments": {"match": "simple", "action": "block", "columns": ["id"], "ref_table": "pg_temp.e"}}]}', 'are exported as such');
SELECT is(imported(dq_gate.export_gate('n')), 'gate unchanged, c unchanged', 'and come back');
SELECT dq_gate.drop_gate('n') \g /dev/null

-- nothing that is planted in the search_path is called
CREATE SCHEMA planted;
CREATE FUNCTION planted.called(jsonb, jsonb) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'called as %', current_user; END $$;
CREATE FUNCTION planted.called(name, text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'called as %', current_user; END $$;
CREATE FUNCTION planted.jsonb_to_record(jsonb) RETURNS record LANGUAGE plpgsql AS $$ BEGIN RAISE 'called as %', current_user; END $$;
CREATE FUNCTION planted.expect_sql(target regclass, name text, expression text, action text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'called as %', current_user; END $$;
CREATE OPERATOR planted.= (leftarg = jsonb, rightarg = jsonb, function = planted.called);
CREATE OPERATOR planted.= (leftarg = name, rightarg = text, function = planted.called);
SELECT dq_gate.import_gate('{"target": "n", "checks": [{"name": "c", "kind": "sql", "arguments": {"expression": "id > 0", "tags": ["x"], "action": "warn"}}]}') \g /dev/null
SET search_path = planted, pg_catalog, public;
CREATE TABLE public.done AS SELECT change FROM dq_gate.import_gate(dq_gate.export_gate('public.n'));
RESET search_path;
SELECT is((SELECT string_agg(change, ' ') FROM done), 'unchanged unchanged', 'what is planted in the search_path is not called');
SELECT dq_gate.drop_gate('n') \g /dev/null

-- documents that are none
UPDATE seen SET kept = kept();
CREATE TABLE bad (no int GENERATED ALWAYS AS IDENTITY, definition jsonb, state text, pattern text, about text);
INSERT INTO bad (definition, state, pattern, about) VALUES
	('[]', '42804', 'definition of a gate must be an object[^$]*array', 'an array'), ('"t"', '42804', 'definition of a gate must be an object[^$]*string', 'a string'), ('null', '42804', 'definition of a gate must be an object[^$]*null', 'null'),
	('{}', '22004', 'no "target"[^$]*export_gate', 'no target'), ('{"target": ""}', '22004', 'no "target"', 'an empty target'), ('{"target": 1259}', '42804', '"target"[^$]*a string[^$]*number', 'an OID for a target'),
	('{"target": "1259"}', '42P01', 'relation "1259"', 'the text of one, which is a name like any other'), ('{"target": "public.nothing"}', '42P01', 'nothing', 'a target that does not exist'), ('{"target": "a.b.c.d"}', '42601', 'a\.b\.c\.d', 'a name that is none'),
	('{"target": "pg_class"}', '42809', 'pg_class', 'a target that cannot be one'), ('{"target": "t", "stagin": "s"}', '22023', 'key "stagin" of gate t is not known[^$]*"staging".*"checks"', 'a key that is not known'),
	('{"target": "t", "staging": "nothing"}', '42P01', 'nothing', 'a staging table that does not exist'), ('{"target": "t", "staging": "t"}', '22023', 'same table', 'a staging table that cannot be one'),
	('{"target": "t", "layer": null}', '42804', 'key "layer" of gate t must be a string[^$]*null[^$]*Leave it out', 'null'), ('{"target": "t", "key": "id"}', '42804', 'key "key" of gate t must be an array of strings', 'a text for an array'),
	('{"target": "t", "key": [1]}', '42804', 'array of strings', 'an array of numbers'), ('{"target": "t", "key": ["a"]}', '42703', '"?a"?', 'a key that does not exist'), ('{"target": "t", "enforce": "false"}', '42804', '"enforce" of gate t must be true or false', 'a text for a boolean'),
	('{"target": "t", "check_timeout": "soon"}', '22007', 'soon', 'a time that is none'), ('{"target": "t", "check_timeout": "-1 s"}', '22023', 'check_timeout', 'a time that is not possible'),
	('{"target": "t", "checks": {}}', '42804', '"checks" of gate t must be an array of objects', 'checks that are no array'), ('{"target": "t", "checks": [1]}', '42804', 'check number 1 of gate t must be an object', 'a check that is no object'),
	('{"target": "t", "checks": [{"kind": "sql"}]}', '22004', 'check number 1 of gate t has no "name"', 'a check without a name'), ('{"target": "t", "checks": [{"name": 1, "kind": "sql"}]}', '42804', '"name" of check number 1', 'a name that is no text'),
	('{"target": "t", "checks": [{"name": "c"}]}', '22004', 'check c of gate t has no "kind"', 'a check without a kind'), ('{"target": "t", "checks": [{"name": "c", "kind": "rang"}]}', '42704', 'kind "rang" of check c of gate t[^$]*"range"', 'a kind that is not known'),
	('{"target": "t", "checks": [{"name": "c", "kind": "not_empty"}]}', '42704', 'kind "not_empty" of check c', 'one that cannot be declared'), ('{"target": "t", "checks": [{"name": "c", "kind": "sql(1); --"}]}', '42704', 'is not known', 'one that is no name'),
	('{"target": "t", "checks": [{"name": "c", "kind": "sql", "args": {}}]}', '22023', 'key "args" of check c of gate t is not known[^$]*"arguments"', 'a key of a check that is not known'),
	('{"target": "t", "checks": [{"name": "c", "kind": "sql", "arguments": []}]}', '42804', '"arguments" of check c of gate t must be an object', 'arguments that are no object'),
	('{"target": "t", "checks": [{"name": "c", "kind": "range", "arguments": {"column": "v"}}]}', '22023', 'argument "column" of check c of gate t[^$]*"range" takes "column_name", "min"', 'an argument that is not known'),
	('{"target": "t", "checks": [{"name": "c", "kind": "range", "arguments": {"name": "d"}}]}', '22023', '"name" is no argument of check c', 'a name among the arguments'), ('{"target": "t", "checks": [{"name": "c", "kind": "range", "arguments": {"target": "s"}}]}', '22023', '"target" is no argument', 'a target'),
	('{"target": "t", "checks": [{"name": "c", "kind": "range", "arguments": {"column_name": "v", "min": {}}}]}', '42804', 'argument "min" of check c', 'an object for a bound'), ('{"target": "t", "checks": [{"name": "c", "kind": "range", "arguments": {"column_name": "v", "min": null}}]}', '42804', 'argument "min" of check c', 'null for one'),
	('{"target": "t", "checks": [{"name": "c", "kind": "not_null", "arguments": {"column_name": "v", "max_rows": true}}]}', '42804', '"max_rows" of check c of gate t must be a number', 'a boolean for a number'),
	('{"target": "t", "checks": [{"name": "c", "kind": "not_null", "arguments": {"column_name": "v", "samples": 0}}]}', '42804', '"samples" of check c of gate t must be true or false', 'a number for a boolean'),
	('{"target": "t", "checks": [{"name": "c", "kind": "not_null", "arguments": {"column_name": "v", "tags": "a"}}]}', '42804', '"tags" of check c of gate t must be an array of strings', 'a text for tags'),
	('{"target": "t", "checks": [{"name": "c", "kind": "not_null", "arguments": {"column_name": 1}}]}', '42804', '"column_name" of check c of gate t must be a string', 'a number for a text'),
	('{"target": "t", "checks": [{"name": "c", "kind": "referential", "arguments": {"columns": ["id"], "ref_table": "16384"}}]}', '42P01', 'relation "16384"', 'an OID for a table'),
	('{"target": "t", "checks": [{"name": "c", "kind": "not_null"}]}', '22004', 'check c of gate t has no argument "column_name"', 'an argument that is missing'),
	('{"target": "t", "checks": [{"name": "c", "kind": "not_null", "arguments": {"column_name": ""}}]}', '22004', 'column_name', 'one that is empty'),
	('{"target": "t", "checks": [{"name": "c", "kind": "not_null", "arguments": {"column_name": "v"}}, {"name": "d", "kind": "not_null", "arguments": {"column_name": "id"}}, {"name": "c", "kind": "sql", "arguments": {"expression": "true"}}]}', '42710', 'check c of gate t is defined twice', 'two checks of a name');
SELECT raises(format('SELECT * FROM dq_gate.import_gate(%L)', definition), state, pattern, format('refused: %s', about)) FROM bad ORDER BY no;
SELECT raises('SELECT * FROM dq_gate.import_gate(NULL)', '22004', 'definition', 'refused: no document');
SELECT raises($$ SELECT * FROM dq_gate.import_gate('{"target": "t"}', NULL) $$, '22004', 'dry_run', 'refused: perhaps a dry run');
SELECT raises('SELECT dq_gate.export_gate(NULL)', '22004', 'target', 'no target to export');
SELECT raises($$ SELECT dq_gate.export_gate('s') $$, '42704', 'no gate[^$]*create_gate', 'no gate to export');
SELECT is(kept(), (SELECT kept FROM seen), 'none of them did anything');

-- who may
GRANT SELECT ON bad, seen TO dq_outsider;
SET ROLE dq_outsider;
SELECT raises($$ SELECT dq_gate.export_gate('t') $$, '42501', 'public\.t', 'who may not read a target may not export its gate');
SELECT raises($$ SELECT imported('{"target": "t"}') $$, '42501', 'public\.t', 'nor import one');
SELECT raises($$ SELECT imported('{"target": "t"}', true) $$, '42501', 'public\.t', 'not even for a try');
SELECT raises($$ SELECT imported('{"target": "n"}') $$, '42501', 'must be owner', 'nor register one for a table of somebody else');
RESET ROLE;
GRANT SELECT ON t TO dq_outsider;
SET ROLE dq_outsider;
SELECT is(dq_gate.export_gate('t') ->> 'target', 'public.t', 'who may read it may export');
SELECT raises($$ SELECT imported(dq_gate.export_gate('t') - 'checks') $$, '42501', 'public\.t', 'but not import');
RESET ROLE;
SELECT dq_gate.alter_gate('t', run_as => 'dq_loader') \g /dev/null
GRANT SELECT ON one.looked_up TO dq_loader;
GRANT USAGE ON SCHEMA one TO dq_loader;
SET ROLE dq_loader;
SELECT is(imported(dq_gate.export_gate('t') || '{"checks": []}', true), 'gate unchanged, expression removed, filter removed, query removed, ref removed', 'the role of a gate may, without a right to read the target');
RESET ROLE;

SELECT finish();
