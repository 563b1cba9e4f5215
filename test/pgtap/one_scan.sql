-- however many rules there are, staging is read as often as with a few
\ir include/helpers.sql
SELECT plan(14);

CREATE TABLE ref (v int);
INSERT INTO ref SELECT i FROM generate_series(0, 100) i;
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL CHECK (v >= 0), c text NOT NULL, at timestamptz, n numeric(6,2), u int UNIQUE);
CREATE TABLE s (id int, v int, c text, at timestamptz, n numeric, u int);
INSERT INTO s SELECT i, i % 100, 'c' || i, now(), i, i FROM generate_series(1, 1000) i;
SELECT dq_gate.create_gate('t') \g /dev/null

-- so many checks, of all kinds that can share a scan in turn
CREATE FUNCTION declare(checks int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dq_gate.drop_check('t', check_name) FROM dq_gate.checks_of('t') WHERE origin = 'declared';
	FOR i IN 1 .. checks LOOP
		CASE i % 10
			WHEN 0 THEN PERFORM dq_gate.expect_not_null('t', 'at', name => 'c' || i);
			WHEN 1 THEN PERFORM dq_gate.expect_range('t', 'v', -i, 100 + i, name => 'c' || i);
			WHEN 2 THEN PERFORM dq_gate.expect_accepted_values('t', 'v', ARRAY(SELECT v::text FROM ref), name => 'c' || i);
			WHEN 3 THEN PERFORM dq_gate.expect_rejected_values('t', 'c', ARRAY['x' || i], name => 'c' || i);
			WHEN 4 THEN PERFORM dq_gate.expect_pattern('t', 'c', '^c\d+$', name => 'c' || i);
			WHEN 5 THEN PERFORM dq_gate.expect_like('t', 'c', 'c%', name => 'c' || i);
			WHEN 6 THEN PERFORM dq_gate.expect_length('t', 'c', 1, 100 + i, name => 'c' || i);
			WHEN 7 THEN PERFORM dq_gate.expect_sql('t', 'c' || i, 'v + ' || i || ' > 0', nulls => CASE WHEN i % 20 = 7 THEN 'pass' END);
			WHEN 8 THEN PERFORM dq_gate.expect_range('t', 'n', 0, filter => 'v > ' || i, name => 'c' || i);
			WHEN 9 THEN PERFORM dq_gate.expect_freshness('t', 'at', '1 day', name => 'c' || i);
		END CASE;
	END LOOP;
END
$$;

-- how often a statement reads a table from end to end
CREATE FUNCTION scans(statement text, relation regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
BEGIN
	before := pg_stat_get_xact_numscans(relation);
	EXECUTE statement;
	RETURN pg_stat_get_xact_numscans(relation) - before;
END
$$;
SELECT is(scans('SELECT count(*), (SELECT count(*) FROM s) FROM s', 's'), 2::bigint, 'scans are counted');

SET max_parallel_workers_per_gather = 0;
SELECT declare(0) \g /dev/null
SELECT scans($$ SELECT dq_gate.audit('s', 't') $$, 's') AS none \gset
SELECT declare(5) \g /dev/null
SELECT scans($$ SELECT dq_gate.audit('s', 't') $$, 's') AS few \gset
SELECT is((SELECT ROW(checks_failed, passed)::text FROM dq_gate.runs WHERE run_id = last_run()), '(0,t)', 'an audit with 5 declared checks');
SELECT declare(60) \g /dev/null
SELECT scans($$ SELECT dq_gate.audit('s', 't') $$, 's') AS many \gset
SELECT is((SELECT ROW(checks_failed, passed)::text FROM dq_gate.runs WHERE run_id = last_run()), '(0,t)', 'an audit with 60');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE origin = 'declared' AND status = 'passed' AND examined_rows > 0), 60::bigint, 'each of them is judged');
SELECT is(:few::bigint, :none::bigint, '5 checks need no scan more than what is derived');
SELECT is(:many::bigint, :few::bigint, '60 checks need no more scans than 5');
-- the shared scan, one each for the uniqueness of the key and of u, and one to look for u in the target
SELECT is(:many::bigint, 4::bigint, 'it is one scan for all of them, beside three for uniqueness');
SELECT ok(scans($$ SELECT dq_gate.audit('s', 't') $$, 't') <= 1, 'the target is read once, if not by its index');
ALTER TABLE t DROP CONSTRAINT t_u_key;
SELECT is(scans($$ SELECT dq_gate.audit('s', 't') $$, 's'), 2::bigint, 'the key is unique in the target already');
SELECT is(scans($$ SELECT dq_gate.audit('s', 't') $$, 't'), 0::bigint, 'which is not read for it');

-- 60 rules that fail: a short look for examples each
UPDATE s SET v = -200, c = 'x', at = NULL, n = -1 WHERE id = 1000;
SELECT is((dq_gate.audit('s', 't')).verdict, 'audited', 'rows that fail most of the rules');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE origin = 'declared' AND failing_rows = 1 AND jsonb_array_length(sample) = 1), 
	(SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE origin = 'declared' AND status = 'failed'), 'have examples');

-- a rule that is broken costs scans, and only those that find it
SELECT dq_gate.expect_sql('t', 'broken', '1 / (id - 500) < 2', action => 'warn') \g /dev/null
SELECT ok(scans($$ SELECT dq_gate.audit('s', 't') $$, 's') < 100, 'a broken rule among 60 is found by halves');
SELECT is(finding('broken'), 'error', 'and named');

SELECT finish();
