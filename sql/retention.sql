/*
 * retention.sql
 *
 * What dq_gate keeps, how much room that takes, and how it goes.
 */

CREATE PROCEDURE dq_gate.purge(target pg_catalog.regclass DEFAULT NULL,
							   unacknowledged pg_catalog.bool DEFAULT false,
							   step_rows pg_catalog.int4 DEFAULT 10000,
							   default_quarantine_retention pg_catalog.interval DEFAULT NULL,
							   default_log_retention pg_catalog.interval DEFAULT NULL)
AS 'MODULE_PATHNAME', 'dq_gate_purge'
LANGUAGE C;
COMMENT ON PROCEDURE dq_gate.purge IS
	'delete quarantined rows and runs that are older than their gate keeps them, in steps that are committed';

CREATE FUNCTION dq_gate.purgeable(target pg_catalog.regclass,
								  unacknowledged pg_catalog.bool DEFAULT false,
								  default_quarantine_retention pg_catalog.interval DEFAULT NULL,
								  default_log_retention pg_catalog.interval DEFAULT NULL,
								  OUT quarantined_rows pg_catalog.int8,
								  OUT runs pg_catalog.int8,
								  OUT unacknowledged_runs pg_catalog.int8)
RETURNS pg_catalog.record
AS 'MODULE_PATHNAME', 'dq_gate_purgeable'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.purgeable IS
	'what purge would delete of a gate now, and what it would leave because nobody has acknowledged it';

CREATE FUNCTION dq_gate.stray_quarantines()
RETURNS SETOF pg_catalog.oid
AS $$
	-- as the owner of the mapping, since a reader may see only a part of it
	SELECT c.oid
	FROM pg_catalog.pg_class c
	WHERE c.relnamespace OPERATOR(pg_catalog.=) 'dq_quarantine'::pg_catalog.regnamespace::pg_catalog.oid
	AND c.relkind IN ('r', 'p') AND NOT c.relispartition
	AND NOT EXISTS (SELECT FROM dq_gate.quarantines q WHERE q.quarantine::pg_catalog.oid OPERATOR(pg_catalog.=) c.oid)
$$
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.stray_quarantines() IS
	'tables in schema dq_quarantine that are the quarantine of no table any more';

/*
 * Sizes and numbers of rows are public in PostgreSQL, and the tables of a gate
 * are shown to those who may read its target.  Names in advice are quoted, so
 * that it can be pasted.
 */
CREATE VIEW dq_gate.housekeeping WITH (security_invoker = true) AS
WITH RECURSIVE known AS (
	SELECT COALESCE(g.target, q.target) AS target, q.quarantine, g.staging, g.after_publish,
		g.target IS NOT NULL AS registered, g.quarantine_retention, g.log_retention
	FROM dq_gate.gates g
	FULL JOIN dq_gate.quarantines q ON q.target::pg_catalog.oid OPERATOR(pg_catalog.=) g.target::pg_catalog.oid
),
gates AS MATERIALIZED (
	SELECT k.*, pg_catalog.format('%I.%I', n.nspname, c.relname) AS gate
	FROM known k
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) k.target::pg_catalog.oid
	JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
	WHERE dq_gate.may_see_rows(k.target)
),
old AS MATERIALIZED (
	SELECT g.target, p.*
	FROM gates g
	CROSS JOIN LATERAL dq_gate.purgeable(g.target) AS p
	WHERE g.quarantine_retention IS NOT NULL OR g.log_retention IS NOT NULL
),
tables (target, role, relid) AS MATERIALIZED (
	SELECT NULL::pg_catalog.regclass, 'log', c.oid
	FROM pg_catalog.pg_class c
	WHERE c.relnamespace OPERATOR(pg_catalog.=) 'dq_gate'::pg_catalog.regnamespace::pg_catalog.oid AND c.relkind IN ('r')
	AND c.relname IN ('runs', 'results', 'profiles', 'acknowledgements', 'rule_sets')
	UNION ALL
	SELECT g.target, 'quarantine', g.quarantine::pg_catalog.oid FROM gates g WHERE g.quarantine IS NOT NULL
	UNION ALL
	SELECT NULL, 'quarantine', s.oid FROM dq_gate.stray_quarantines() AS s (oid)
	UNION ALL
	SELECT g.target, 'staging', g.staging::pg_catalog.oid FROM gates g WHERE g.staging IS NOT NULL
),
parts (whole, relid) AS (
	SELECT t.relid, t.relid FROM tables t
	UNION
	SELECT p.whole, i.inhrelid FROM parts p
	JOIN pg_catalog.pg_inherits i ON i.inhparent OPERATOR(pg_catalog.=) p.relid
),
sizes AS (
	SELECT p.whole,
		pg_catalog.sum(pg_catalog.pg_total_relation_size(p.relid))::pg_catalog.int8 AS bytes,
		pg_catalog.sum(s.n_live_tup)::pg_catalog.int8 AS live,
		pg_catalog.sum(s.n_dead_tup)::pg_catalog.int8 AS dead,
		pg_catalog.max(GREATEST(s.last_vacuum, s.last_autovacuum)) AS vacuumed,
		pg_catalog.max(GREATEST(s.last_analyze, s.last_autoanalyze)) AS analyzed
	FROM parts p
	LEFT JOIN pg_catalog.pg_stat_all_tables s ON s.relid OPERATOR(pg_catalog.=) p.relid
	GROUP BY p.whole
),
shares AS (
	SELECT z.*, pg_catalog.round(z.dead::pg_catalog.numeric OPERATOR(pg_catalog./)
		NULLIF(z.live OPERATOR(pg_catalog.+) z.dead, 0), 3) AS dead_share
	FROM sizes z
)
SELECT g.gate,
	t.role,
	pg_catalog.format('%I.%I', n.nspname, c.relname) AS table_name,
	z.bytes AS total_bytes,
	pg_catalog.pg_size_pretty(z.bytes) AS total_size,
	z.live AS live_rows,
	z.dead AS dead_rows,
	z.dead_share,
	z.vacuumed AS last_vacuum,
	z.analyzed AS last_analyze,
	CASE t.role WHEN 'quarantine' THEN g.quarantine_retention END AS retention,
	e.expired,
	e.unacknowledged,
	NULLIF(pg_catalog.concat_ws(E'\n',
		-- what is old
		CASE WHEN e.expired OPERATOR(pg_catalog.>) 0 AND t.role OPERATOR(pg_catalog.=) 'quarantine'
			 THEN pg_catalog.format('CALL dq_gate.purge(%L); -- %s row%s older than %s', g.gate, e.expired,
				CASE e.expired WHEN 1 THEN ' is' ELSE 's are' END, g.quarantine_retention)
			 WHEN e.expired OPERATOR(pg_catalog.>) 0
			 THEN pg_catalog.format('CALL dq_gate.purge(); -- %s run%s older than the log_retention of %s', e.expired,
				CASE e.expired WHEN 1 THEN ' is' ELSE 's are' END, CASE e.expired WHEN 1 THEN 'its gate' ELSE 'their gates' END) END,
		CASE WHEN e.unacknowledged OPERATOR(pg_catalog.>) 0 AND t.role OPERATOR(pg_catalog.=) 'quarantine'
			 THEN pg_catalog.format('SELECT * FROM dq_gate.unread WHERE target = %L::regclass; -- %s old run%s not acknowledged, and so not purged', g.gate,
				e.unacknowledged, CASE e.unacknowledged WHEN 1 THEN ' is' ELSE 's are' END) END,
		-- what is kept for ever
		CASE WHEN t.role OPERATOR(pg_catalog.=) 'quarantine' THEN
			CASE WHEN g.gate IS NULL
				 THEN pg_catalog.format('DROP TABLE %I.%I; -- if nobody needs its rows: it is the quarantine of no table any more', n.nspname, c.relname)
				 WHEN z.live OPERATOR(pg_catalog.=) 0 THEN NULL
				 WHEN NOT g.registered
				 THEN pg_catalog.format('CALL dq_gate.purge(%L, default_quarantine_retention => ''90 days''); -- no gate is registered, so rows are kept for ever', g.gate)
				 WHEN g.quarantine_retention IS NULL
				 THEN pg_catalog.format('SELECT dq_gate.alter_gate(%L, quarantine_retention => ''90 days''); -- rows are kept for ever', g.gate) END END,
		CASE WHEN e.endless OPERATOR(pg_catalog.>) 0
			 THEN pg_catalog.format('SELECT dq_gate.alter_gate(target, log_retention => ''1 year'') FROM dq_gate.gates WHERE log_retention IS NULL; -- %s gate%s runs for ever',
				e.endless, CASE e.endless WHEN 1 THEN ' keeps its' ELSE 's keep their' END) END,
		-- what is staged
		CASE WHEN l.published AND g.after_publish OPERATOR(pg_catalog.=) 'keep' AND z.live OPERATOR(pg_catalog.>) 0
			 THEN pg_catalog.format('SELECT dq_gate.alter_gate(%L, after_publish => ''truncate''); -- run %s has published from it, and it has rows', g.gate, l.run_id) END,
		-- what autovacuum has not come to
		CASE WHEN z.live OPERATOR(pg_catalog.>=) 1000 AND z.analyzed IS NULL
			 THEN pg_catalog.format('ANALYZE %I.%I; -- the planner knows nothing of its rows', n.nspname, c.relname) END,
		CASE WHEN z.dead OPERATOR(pg_catalog.>=) 1000 AND z.dead_share OPERATOR(pg_catalog.>) 0.2
			 THEN pg_catalog.format('VACUUM %I.%I; -- %s%% of its rows are dead', n.nspname, c.relname,
				pg_catalog.round(z.dead_share OPERATOR(pg_catalog.*) 100)) END), '') AS advice
FROM tables t
JOIN shares z ON z.whole OPERATOR(pg_catalog.=) t.relid
JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.relid
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
LEFT JOIN gates g ON g.target::pg_catalog.oid OPERATOR(pg_catalog.=) t.target::pg_catalog.oid
LEFT JOIN old o ON o.target::pg_catalog.oid OPERATOR(pg_catalog.=) t.target::pg_catalog.oid
LEFT JOIN LATERAL (
	SELECT r.run_id, r.published
	FROM dq_gate.runs r
	WHERE t.role OPERATOR(pg_catalog.=) 'staging' AND r.target::pg_catalog.oid OPERATOR(pg_catalog.=) g.target::pg_catalog.oid
	AND r.staging OPERATOR(pg_catalog.=) pg_catalog.format('%I.%I', n.nspname, c.relname)
	AND r.verdict OPERATOR(pg_catalog.<>) 'audited'
	ORDER BY r.run_id DESC LIMIT 1
) AS l ON true
CROSS JOIN LATERAL (
	SELECT o.quarantined_rows, o.unacknowledged_runs, NULL::pg_catalog.int8
	WHERE t.role OPERATOR(pg_catalog.=) 'quarantine'
	UNION ALL
	SELECT (SELECT pg_catalog.sum(p.runs)::pg_catalog.int8 FROM old p),
		(SELECT pg_catalog.sum(p.unacknowledged_runs)::pg_catalog.int8 FROM old p),
		(SELECT pg_catalog.count(*) FROM gates h
		 WHERE h.registered AND h.log_retention IS NULL
		 AND EXISTS (SELECT FROM dq_gate.runs r WHERE r.target::pg_catalog.oid OPERATOR(pg_catalog.=) h.target::pg_catalog.oid
					 AND r.started_at OPERATOR(pg_catalog.<) (pg_catalog.now() OPERATOR(pg_catalog.-) '90 days'::pg_catalog.interval)))
	WHERE t.role OPERATOR(pg_catalog.=) 'log' AND c.relname OPERATOR(pg_catalog.=) 'runs'
	UNION ALL
	SELECT NULL, NULL, NULL
	WHERE t.role OPERATOR(pg_catalog.=) 'staging' OR (t.role OPERATOR(pg_catalog.=) 'log' AND c.relname OPERATOR(pg_catalog.<>) 'runs')
) AS e (expired, unacknowledged, endless)
ORDER BY z.bytes DESC, 3;
COMMENT ON VIEW dq_gate.housekeeping IS
	'how large the tables are that dq_gate fills, and what to do about it';
COMMENT ON COLUMN dq_gate.housekeeping.gate IS 'the target; NULL for the log, which all gates share, and where the target was dropped';
COMMENT ON COLUMN dq_gate.housekeeping.role IS 'log, quarantine or staging';
COMMENT ON COLUMN dq_gate.housekeeping.total_bytes IS 'with indexes, TOAST, partitions and children';
COMMENT ON COLUMN dq_gate.housekeeping.live_rows IS 'as the statistics of the server estimate';
COMMENT ON COLUMN dq_gate.housekeeping.dead_rows IS 'rows that were deleted or updated and that no VACUUM has removed yet, likewise';
COMMENT ON COLUMN dq_gate.housekeeping.dead_share IS 'of dead_rows among all, from 0 to 1';
COMMENT ON COLUMN dq_gate.housekeeping.last_vacuum IS 'by hand or by autovacuum; NULL: never';
COMMENT ON COLUMN dq_gate.housekeeping.last_analyze IS 'likewise';
COMMENT ON COLUMN dq_gate.housekeeping.retention IS 'quarantine_retention of the gate; NULL: for ever';
COMMENT ON COLUMN dq_gate.housekeeping.expired IS 'quarantined rows, or runs, that purge would delete now';
COMMENT ON COLUMN dq_gate.housekeeping.unacknowledged IS 'runs that are old enough to be purged and stay because nobody has acknowledged them';
COMMENT ON COLUMN dq_gate.housekeeping.advice IS 'statements that can be pasted, each with the reason; NULL: there is nothing to do';
