/*
 * activity.sql
 *
 * The runs under way, as their marks in the lock table show them; activity.c
 * says how those are made.
 *
 * Everybody sees that a gate is busy, and in which backend, since pg_locks
 * shows that anyway, and who waits must be able to find out why.  The rest is
 * for those who may read the target; what a backend is doing is shown as
 * pg_stat_activity shows it.
 */

CREATE VIEW dq_gate.activity WITH (security_invoker = true) AS
WITH locks AS MATERIALIZED (
	-- looked at once, so that all of it is of one moment
	SELECT l.*, l.locktype OPERATOR(pg_catalog.=) 'object' AND l.granted AND d.oid IS NOT NULL AS object
	FROM pg_catalog.pg_locks l
	LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) l.database
		AND d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	WHERE l.locktype OPERATOR(pg_catalog.=) 'object' OR NOT l.granted
),
marks AS (
	SELECT r.virtualtransaction, r.pid, r.objid AS target, r.objsubid AS level,
		-- 10 and 12 are the high halves of the numbers before them
		m.objid::pg_catalog.int8 OPERATOR(pg_catalog.*)
			CASE WHEN f.field IN (10, 12) THEN 4294967296 ELSE 1 END AS value,
		f.field
	FROM locks r
	JOIN locks m ON m.virtualtransaction OPERATOR(pg_catalog.=) r.virtualtransaction
		AND m.classid OPERATOR(pg_catalog.=) r.objid
		AND m.objsubid OPERATOR(pg_catalog./) 16 OPERATOR(pg_catalog.=) r.objsubid
	CROSS JOIN LATERAL (SELECT m.objsubid OPERATOR(pg_catalog.%) 16 AS field) AS f
	WHERE r.object AND m.object
	AND r.classid OPERATOR(pg_catalog.=) 'dq_gate.runs'::pg_catalog.regclass::pg_catalog.oid
),
runs AS (
	SELECT virtualtransaction, pid, target, level,
		-- between two phases there are two for a moment
		(pg_catalog.array_agg(field ORDER BY value DESC, field DESC)
		 FILTER (WHERE field OPERATOR(pg_catalog.<=) 7))[1] AS phase,
		pg_catalog.max(value) FILTER (WHERE field OPERATOR(pg_catalog.<=) 7) AS phase_since,
		pg_catalog.max(value) FILTER (WHERE field OPERATOR(pg_catalog.=) 8) AS started_at,
		pg_catalog.max(value) FILTER (WHERE field OPERATOR(pg_catalog.=) 9) OPERATOR(pg_catalog.+)
			COALESCE(pg_catalog.max(value) FILTER (WHERE field OPERATOR(pg_catalog.=) 10), 0) AS run_id,
		pg_catalog.max(value) FILTER (WHERE field OPERATOR(pg_catalog.=) 11) OPERATOR(pg_catalog.+)
			COALESCE(pg_catalog.max(value) FILTER (WHERE field OPERATOR(pg_catalog.=) 12), 0) AS row_count,
		pg_catalog.bool_or(field OPERATOR(pg_catalog.=) 13) AS dry_run
	FROM marks
	GROUP BY virtualtransaction, pid, target, level
)
SELECT r.pid,
	a.usename,
	a.application_name,
	r.target::pg_catalog.regclass AS target,
	pg_catalog.format('%I.%I', n.nspname, c.relname) AS gate,
	CASE WHEN s.details THEN r.run_id END AS run_id,
	r.dry_run,
	CASE r.phase
		WHEN 1 THEN 'taking locks'
		WHEN 2 THEN 'planning'
		WHEN 3 THEN 'auditing'
		WHEN 4 THEN 'quarantining'
		WHEN 5 THEN 'publishing'
		WHEN 6 THEN 'logging'
		WHEN 7 THEN 'done, not yet committed'
	END AS phase,
	pg_catalog.to_timestamp(r.phase_since::pg_catalog.float8) AS phase_since,
	pg_catalog.to_timestamp(r.started_at::pg_catalog.float8) AS started_at,
	CASE WHEN s.details THEN r.row_count END AS row_count,
	CASE
		WHEN w.locktype OPERATOR(pg_catalog.=) 'object'
			AND w.classid OPERATOR(pg_catalog.=) 'dq_gate.gates'::pg_catalog.regclass::pg_catalog.oid
			THEN pg_catalog.concat('gate ', w.objid::pg_catalog.regclass)
		WHEN w.locktype OPERATOR(pg_catalog.=) 'relation'
			THEN pg_catalog.concat('table ', w.relation::pg_catalog.regclass)
		WHEN w.relation IS NOT NULL
			THEN pg_catalog.concat(w.locktype, ' of table ', w.relation::pg_catalog.regclass)
		ELSE w.locktype
	END AS waiting_for,
	w.waitstart AS waiting_since,
	CASE WHEN w.pid IS NOT NULL THEN pg_catalog.pg_blocking_pids(w.pid) END AS blocked_by,
	a.state,
	a.wait_event_type,
	a.wait_event,
	a.query
FROM runs r
CROSS JOIN LATERAL (
	SELECT dq_gate.may_see_rows(r.target)
		OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE') AS details
) AS s
LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.target
LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) r.pid
LEFT JOIN locks w ON w.pid OPERATOR(pg_catalog.=) r.pid AND NOT w.granted;
COMMENT ON VIEW dq_gate.activity IS
	'the runs that are under way, or done and not yet committed, in this database';
COMMENT ON COLUMN dq_gate.activity.pid IS 'the backend; NULL: a prepared transaction';
COMMENT ON COLUMN dq_gate.activity.run_id IS 'for those who may read the target; in the log once it is committed';
COMMENT ON COLUMN dq_gate.activity.phase_since IS 'when the phase began, to the second';
COMMENT ON COLUMN dq_gate.activity.started_at IS 'when the run began, to the second';
COMMENT ON COLUMN dq_gate.activity.row_count IS 'staged rows, once they are counted; for those who may read the target';
COMMENT ON COLUMN dq_gate.activity.waiting_for IS 'the lock that the backend waits for; NULL: none';
COMMENT ON COLUMN dq_gate.activity.blocked_by IS 'the backends that are in the way of that lock';
