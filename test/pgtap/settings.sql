-- settings of the caller do not change a verdict, nor does a run change settings
\ir include/helpers.sql
SELECT plan(40);

CREATE TABLE p (id int PRIMARY KEY);
INSERT INTO p VALUES (1), (2);
CREATE TABLE t ("Id" int PRIMARY KEY, v numeric(6,2) CHECK (v <> 13), f float8, d date, i interval, b bytea, a text[], name text COLLATE "C" CHECK (name <> E'back\\slash'), parent int REFERENCES p, ts timestamptz);
CREATE TABLE s ("Id" text, v float8, f text, d text, i text, b bytea, a text[], name text, parent text, ts timestamptz);
SELECT dq_gate.expect_range('t', 'v', min => 0.5, action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_range('t', 'd', min => date '2020-02-01', max => '2020-12-31', action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_range('t', 'ts', max => timestamptz '2020-06-01 00:00+00', action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_sql('t', 'rule', 'i < interval ''1 day 02:00'' AND f <> 0.1 AND b <> ''\x00ff'' AND name <> ''it''''s'' AND a <> ARRAY[''NULL'']', action => 'quarantine', nulls => 'pass') \g /dev/null
INSERT INTO s VALUES ('1', 1.25, '0.30000000000000004', '2020-03-04', '1 day 01:00:00', '\xff', '{a,NULL}', E'sla\\sh', '1', '2020-05-31 23:59+00'), ('2', 0.25, '1', '2020-03-04', NULL, NULL, NULL, NULL, NULL, NULL),
	('3', 1, '1', '2020-01-31', NULL, NULL, NULL, NULL, '2', NULL), ('4', 1, '1', '2020-03-05', '26:00', NULL, NULL, 'it''s', NULL, NULL), ('5', 1, '0.1', '2020-03-05', '27:00', '\x00ff', NULL, NULL, NULL, '2020-06-01 00:01+00');
CREATE FUNCTION image() RETURNS text LANGUAGE sql SET DateStyle = 'ISO' SET IntervalStyle = 'postgres' SET bytea_output = 'hex' SET extra_float_digits = 1 SET TimeZone = 'UTC'
	AS $$ SELECT string_agg(t::text, ' ' ORDER BY "Id") FROM t $$;
CREATE FUNCTION reasons() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT string_agg("Id" || failed_checks::text, ' ' ORDER BY "Id") FROM dq_quarantine.t WHERE run_id = last_run()); END $$;

SELECT is(outcome(dq_gate.publish('s', 't')), 'published 5: 1 inserted, 4 quarantined', 'with the settings of the server');
SELECT image() AS image, reasons() AS reasons \gset
SELECT is(:'reasons'::text, '2{v_range} 3{d_range} 4{rule} 5{rule,ts_range}', 'each row fails what it should');

CREATE FUNCTION with_setting(name text, value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before text := current_setting(name);
	during text;
	answer text;
BEGIN
	TRUNCATE t;
	PERFORM set_config(name, value, true);
	answer := outcome(dq_gate.publish('s', 't')) || '; ' || outcome(dq_gate.publish('s', 't'));
	PERFORM * FROM dq_gate.checks_of('t', 's');
	during := current_setting(name);
	PERFORM set_config(name, before, true);
	RETURN answer || '; ' || reasons() || CASE WHEN during <> value THEN '; the setting has changed to ' || during ELSE '' END;
END
$$;
SELECT is(with_setting(name, value), 'published 5: 1 inserted, 4 quarantined; published 5: 1 unchanged, 4 quarantined; 2{v_range} 3{d_range} 4{rule} 5{rule,ts_range}', format('with %s = %s', name, value))
FROM (VALUES ('standard_conforming_strings', 'off'), ('quote_all_identifiers', 'on'), ('IntervalStyle', 'sql_standard'), ('IntervalStyle', 'iso_8601'), ('bytea_output', 'escape'),
	('extra_float_digits', '-15'), ('array_nulls', 'off'), ('transform_null_equals', 'on'), ('TimeZone', 'Pacific/Auckland'), ('TimeZone', 'America/New_York'), ('jit', 'on'), ('jit_above_cost', '0'), ('enable_seqscan', 'off'), ('enable_hashjoin', 'off'),
	('enable_hashagg', 'off'), ('enable_sort', 'off'), ('enable_nestloop', 'off'), ('work_mem', '64kB'), ('plan_cache_mode', 'force_generic_plan'), ('row_security', 'off'), ('default_transaction_read_only', 'on'),
	('check_function_bodies', 'off'), ('xmloption', 'document'), ('lc_numeric', 'C'), ('default_text_search_config', 'pg_catalog.simple'), ('client_min_messages', 'error'), ('default_table_access_method', 'heap'),
	('constraint_exclusion', 'on'), ('join_collapse_limit', '1'), ('from_collapse_limit', '1'), ('geqo_threshold', '2'), ('max_parallel_workers_per_gather', '0'), ('DateStyle', 'ISO, YMD')) AS setting (name, value);

-- parallel plans, whatever a server calls the setting
SELECT CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'debug_parallel_query' ELSE 'force_parallel_mode' END AS parallel \gset
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT is(with_setting(:'parallel', 'on'), 'published 5: 1 inserted, 4 quarantined; published 5: 1 unchanged, 4 quarantined; 2{v_range} 3{d_range} 4{rule} 5{rule,ts_range}', 'with parallel plans');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT is(image(), :'image'::text, 'the target has the same values after all that');

-- a check that is declared with other settings
SET standard_conforming_strings = off;
SET quote_all_identifiers = on;
SET DateStyle = 'German';
SET IntervalStyle = 'iso_8601';
SET TimeZone = 'Asia/Tokyo';
SELECT dq_gate.drop_check('t', 'd_range'), dq_gate.drop_check('t', 'ts_range'), dq_gate.drop_check('t', 'rule') \g /dev/null
SELECT dq_gate.expect_range('t', 'd', min => date '01.02.2020', max => '31.12.2020', action => 'quarantine', name => 'd_range') \g /dev/null
SELECT dq_gate.expect_range('t', 'ts', max => timestamptz '01.06.2020 09:00', action => 'quarantine', name => 'ts_range') \g /dev/null
SELECT dq_gate.expect_sql('t', 'rule', 'i < interval ''P1DT2H'' AND f <> 0.1 AND b <> ''\\\\x00ff'' AND name <> ''it''''s'' AND d < date ''31.12.2020''', action => 'quarantine', nulls => 'pass') \g /dev/null
RESET ALL;
TRUNCATE t;
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 5: 1 inserted, 4 quarantined', 'a check declared with other settings');
SELECT is(reasons(), :'reasons'::text, 'means the same without them');
SELECT is(image(), :'image'::text, 'and changes nothing');

SELECT finish();
