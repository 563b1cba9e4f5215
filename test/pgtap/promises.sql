-- many random batches, each compared with a model of what a publish is to do, in plain SQL
\ir include/helpers.sql
SELECT plan(18);

CREATE TABLE parents (id int PRIMARY KEY);
INSERT INTO parents SELECT generate_series(0, 8);
CREATE TABLE t (
	a int, b text, v int, w int REFERENCES parents, n numeric(4,1), code text NOT NULL, note text DEFAULT 'new' CHECK (note <> 'bad'),
	PRIMARY KEY (a, b)
);
CREATE TABLE s (note text, n text, w int, v int, code text, b text, a int, no int);
ALTER TABLE s DROP no;
-- random batches have no usual size
SELECT dq_gate.expect_volume('t', action => 'declare') \g /dev/null
SELECT dq_gate.expect_range('t', 'v', min => 0, action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_sql('t', 'together', 'v + w < 12', action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_sql('t', 'either', 'v > 3 OR w > 3', action => 'quarantine', nulls => 'pass') \g /dev/null
SELECT dq_gate.expect_sql('t', 'only a warning', 'v <> 5', action => 'warn') \g /dev/null

-- one row in many is at fault
CREATE FUNCTION load(faults float8) RETURNS void LANGUAGE sql AS $$
	TRUNCATE s;
	INSERT INTO s (a, b, v, w, n, code, note)
	SELECT CASE WHEN random() > faults / 3 THEN key / 3 END, CASE WHEN random() > faults / 3 THEN chr(97 + key % 3) END,
		CASE WHEN random() > 0.1 THEN floor(random() * 10)::int - 1 END,
		CASE WHEN random() > 0.1 THEN floor(random() * CASE WHEN random() < faults THEN 20 ELSE 9 END)::int END,
		CASE WHEN random() < faults / 3 THEN (ARRAY['x', '', '1000', '0.55', '1e9'])[ceil(random() * 5)::int] ELSE (ARRAY['1', '1.0', '1.50', ' 2 ', 'NaN', NULL])[ceil(random() * 6)::int] END,
		CASE WHEN random() > faults / 3 THEN (ARRAY['x', 'y'])[ceil(random() * 2)::int] END,
		CASE WHEN random() < faults / 3 THEN 'bad' ELSE (ARRAY['n', NULL])[ceil(random() * 2)::int] END
	FROM (SELECT CASE WHEN random() < faults / 3 THEN 7 ELSE key END AS key FROM generate_series(0, 29) key ORDER BY random()
		LIMIT floor(random() * 13)::int) keys;
	-- some come again as they are
	UPDATE s SET v = t.v, w = t.w, n = t.n, code = t.code, note = t.note FROM t WHERE (s.a, s.b) = (t.a, t.b) AND random() < 0.3
$$;

-- a first batch makes the quarantine
INSERT INTO s (a) VALUES (NULL);
SELECT dq_gate.publish('s', 't') \g /dev/null

-- the reasons that quarantine gives, and those that the model gives
CREATE VIEW reasons AS
	SELECT run_id, (SELECT array_agg(f ORDER BY f) FROM unnest(failed_checks) f) AS failed_checks, (SELECT array_agg(f ORDER BY f) FROM unnest(ARRAY[
			CASE WHEN a IS NULL THEN 'a_not_null' END,
			CASE WHEN b IS NULL THEN 'b_not_null' END,
			CASE WHEN code IS NULL THEN 'code_not_null' END,
			CASE WHEN a IS NOT NULL AND b IS NOT NULL AND twins > 1 THEN 'key_unique' END,
			CASE WHEN n IN ('x', '', '1000', '0.55', '1e9') THEN 'n_type_fit' END,
			CASE WHEN w > 8 THEN 't_w_fkey' END,
			CASE WHEN note = 'bad' THEN 't_note_check' END,
			CASE WHEN v < 0 THEN 'v_range' END,
			CASE WHEN (v + w < 12) IS NOT TRUE THEN 'together' END,
			CASE WHEN (v > 3 OR w > 3) IS FALSE THEN 'either' END,
			CASE WHEN (v <> 5) IS NOT TRUE THEN 'only a warning' END]) f WHERE f IS NOT NULL) AS expected
	FROM (SELECT *, count(*) OVER (PARTITION BY run_id, a, b) AS twins FROM dq_quarantine.t) q;

CREATE TABLE rounds (seed float8, round int, verdict text, inserted bigint, updated bigint, unchanged bigint, quarantined bigint, fault text);

-- publish what is staged; what is wrong with the outcome, NULL if nothing is
CREATE FUNCTION try(this float8, round int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	r dq_gate.run_summary;
	fault text;
	blocked bool; bad bigint; rows bigint; inserts bigint; updates bigint;
BEGIN
	-- the model: what blocks
	SELECT count(*) INTO rows FROM s;
	blocked := rows = 0
		OR EXISTS (SELECT FROM s WHERE a IS NULL OR b IS NULL OR code IS NULL OR note = 'bad')
		OR EXISTS (SELECT FROM s GROUP BY a, b HAVING count(*) > 1)
		OR EXISTS (SELECT FROM s WHERE w IS NOT NULL AND w NOT IN (SELECT id FROM parents))
		OR EXISTS (SELECT FROM s WHERE n IN ('x', '', '1000', '0.55', '1e9'));
	-- which rows are moved, and what the others do
	CREATE TEMP TABLE good ON COMMIT DROP AS
		SELECT a, b, v, w, n::numeric(4,1) AS n, code, note FROM s
		WHERE NOT blocked AND (v IS NULL OR v >= 0) AND (v + w < 12) IS TRUE AND (v > 3 OR w > 3) IS NOT FALSE;
	blocked := blocked OR NOT EXISTS (SELECT FROM good);
	bad := CASE WHEN blocked THEN rows ELSE rows - (SELECT count(*) FROM good) END;
	SELECT count(*) FILTER (WHERE t.a IS NULL), count(*) FILTER (WHERE t.a IS NOT NULL AND (t.v, t.w, t.n::text, t.code, t.note) IS DISTINCT FROM (good.v, good.w, good.n::text, good.code, good.note))
		INTO inserts, updates FROM good LEFT JOIN t USING (a, b);
	CREATE TEMP TABLE expected ON COMMIT DROP AS
		SELECT a, b, v, w, n::text, code, note FROM t WHERE (a, b) NOT IN (SELECT a, b FROM good) UNION ALL SELECT a, b, v, w, n::text, code, note FROM good;

	r := dq_gate.publish('s', 't');

	fault := CASE
		WHEN r.verdict <> CASE WHEN blocked THEN 'rejected' ELSE 'published' END THEN 'verdict'
		WHEN r.row_count <> rows THEN 'row_count'
		WHEN r.row_count <> r.inserted + r.updated + r.unchanged + r.quarantined + r.dropped THEN 'the counts do not add up'
		WHEN (r.inserted, r.updated, r.quarantined) <> (inserts, updates, bad) THEN format('counts: not %s %s %s', inserts, updates, bad)
		WHEN EXISTS (SELECT a, b, v, w, n::text, code, note FROM t EXCEPT ALL TABLE expected) THEN 'the target has rows that it should not'
		WHEN EXISTS (TABLE expected EXCEPT ALL SELECT a, b, v, w, n::text, code, note FROM t) THEN 'the target lacks rows'
		WHEN EXISTS (SELECT a, b, v, w, n, code, note FROM dq_quarantine.t WHERE run_id = r.run_id EXCEPT ALL SELECT a, b, v, w, n, code, note FROM s) THEN 'quarantine has rows that were not staged'
		WHEN (SELECT count(*) FROM dq_quarantine.t WHERE run_id = r.run_id) <> bad THEN 'quarantine has not the rows that were counted'
		WHEN NOT blocked AND EXISTS (SELECT a, b FROM s EXCEPT ALL (SELECT a, b FROM good UNION ALL SELECT a, b FROM dq_quarantine.t WHERE run_id = r.run_id)) THEN 'a row is on no side'
		WHEN EXISTS (SELECT FROM reasons WHERE run_id = r.run_id AND failed_checks IS DISTINCT FROM expected) THEN 'reasons'
		WHEN EXISTS (SELECT FROM dq_gate.results_of(r.run_id) WHERE status = 'error') THEN 'a check is broken'
		WHEN rows > 0 AND (SELECT failing_rows FROM dq_gate.results_of(r.run_id) WHERE check_name = 'together') <> (SELECT count(*) FROM s WHERE (v + w < 12) IS NOT TRUE) THEN 'failing_rows'
		WHEN rows > 0 AND (SELECT null_rows FROM dq_gate.results_of(r.run_id) WHERE check_name = 'together') <> (SELECT count(*) FROM s WHERE v + w IS NULL) THEN 'null_rows'
	END;
	INSERT INTO rounds VALUES (this, round, r.verdict, r.inserted, r.updated, r.unchanged, r.quarantined, fault);
END
$$;

-- a round is a transaction
\o /dev/null
SELECT setseed(0.25) \g /dev/null
SELECT format('SELECT load(%s); SELECT try(0.25, %s)', CASE WHEN round % 3 = 0 THEN 0.2 ELSE 0.01 END, round) FROM generate_series(1, 120) round \gexec
\o
SELECT is((SELECT string_agg(round || ' ' || fault, ', ' ORDER BY round) FROM rounds), NULL, '120 random batches do what the model does');
SELECT is((SELECT count(*) FROM rounds), 120::bigint, 'each of them');

-- that they were worth it
SELECT cmp_ok((SELECT count(*) FROM rounds WHERE verdict = 'published'), '>=', 30::bigint, 'many were published');
SELECT cmp_ok((SELECT count(*) FROM rounds WHERE verdict = 'rejected'), '>=', 15::bigint, 'many were rejected');
SELECT cmp_ok((SELECT sum(inserted) FROM rounds), '>=', 10::numeric, 'rows were inserted');
SELECT cmp_ok((SELECT sum(updated) FROM rounds), '>=', 30::numeric, 'and updated');
SELECT cmp_ok((SELECT sum(unchanged) FROM rounds), '>=', 1::numeric, 'and left alone');
SELECT cmp_ok((SELECT sum(quarantined) FROM rounds WHERE verdict = 'published'), '>=', 30::numeric, 'and moved out of batches that were published');
SELECT is((SELECT count(DISTINCT check_name) FROM dq_gate.results WHERE status = 'failed' AND check_name <> 'not_empty'), 11::bigint, 'and every check found something');

-- the log of all of them
SELECT is_empty('SELECT 1 FROM dq_gate.runs WHERE row_count IS DISTINCT FROM inserted + updated + unchanged + quarantined + dropped', 'recorded counts add up');
SELECT is_empty('SELECT 1 FROM dq_gate.runs r WHERE quarantined <> (SELECT count(*) FROM dq_quarantine.t q WHERE q.run_id = r.run_id)', 'and agree with the quarantine');
SELECT is_empty($$ SELECT 1 FROM dq_gate.runs WHERE published <> (verdict = 'published') OR passed <> (verdict = 'published') $$, 'a run is published where it passed');
SELECT is_empty($$ SELECT 1 FROM dq_gate.runs r WHERE checks_failed <> (SELECT count(*) FROM dq_gate.results s WHERE s.run_id = r.run_id AND s.status IN ('failed', 'error')) $$, 'and failed checks are counted');
SELECT is_empty('SELECT 1 FROM dq_gate.runs r WHERE checks_run <> (SELECT count(*) FROM dq_gate.results s WHERE s.run_id = r.run_id)', 'as are all checks');
SELECT is_empty($$ SELECT 1 FROM dq_gate.results WHERE failing_rows > examined_rows OR null_rows > examined_rows OR (status = 'passed' AND failing_rows > 0) OR (status = 'failed' AND failing_rows = 0) $$,
	'no result contradicts itself');

-- batches that are good as a whole: the target becomes the last image of each key
TRUNCATE t;
SELECT dq_gate.drop_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null
CREATE TABLE history (no int, a int, b text, v int);
INSERT INTO history SELECT batch, key / 3, chr(97 + key % 3), (key * batch) % 4 FROM generate_series(1, 12) batch, generate_series(0, 29) key WHERE (key * 7 + batch * 5) % 11 < 6;
\o /dev/null
SELECT format('TRUNCATE s; INSERT INTO s (a, b, v, code) SELECT a, b, v, ''c'' FROM history WHERE no = %s; SELECT dq_gate.publish(''s'', ''t'')', no) FROM generate_series(1, 12) no \gexec
\o
SELECT set_eq('SELECT a, b, v FROM t', 'SELECT DISTINCT ON (a, b) a, b, v FROM history ORDER BY a, b, no DESC', 'the target is the last image of each key');
SELECT is((SELECT sum(inserted) FROM (SELECT inserted FROM dq_gate.runs ORDER BY run_id DESC LIMIT 12) r), (SELECT count(*) FROM t)::numeric, 'every row was inserted once');
SELECT is((SELECT sum(updated) FROM (SELECT updated FROM dq_gate.runs ORDER BY run_id DESC LIMIT 12) r),
	(SELECT count(*) FROM (SELECT v, lag(v) OVER (PARTITION BY a, b ORDER BY no) AS before FROM history) h WHERE before IS NOT NULL AND v <> before)::numeric, 'and updated as often as it changed');

SELECT finish();
