/*
 * alerts.sql
 *
 * What somebody ought to look at: which runs nobody has, and who has looked at
 * the others.
 */

CREATE VIEW dq_gate.unread WITH (security_invoker = true) AS
SELECT r.run_id,
	r.gate,
	r.target,
	r.batch_id,
	r.as_of,
	r.started_at,
	pg_catalog.date_trunc('second', pg_catalog.now() OPERATOR(pg_catalog.-) r.started_at) AS age,
	r.verdict,
	r.quarantined,
	r.dropped,
	ARRAY(SELECT DISTINCT o.owner
		  FROM (SELECT r.owner
				UNION ALL
				SELECT s.owner FROM dq_gate.results s
				WHERE s.run_id OPERATOR(pg_catalog.=) r.run_id AND s.status IN ('failed', 'error')) AS o
		  WHERE o.owner IS NOT NULL
		  ORDER BY o.owner) AS owners,
	r.failures
FROM dq_gate.runs r
WHERE r.attention
AND NOT EXISTS (SELECT FROM dq_gate.acknowledgements a WHERE a.run_id OPERATOR(pg_catalog.=) r.run_id)
ORDER BY r.run_id DESC;
COMMENT ON VIEW dq_gate.unread IS
	'the runs that need attention and that nobody has acknowledged, the newest first';
COMMENT ON COLUMN dq_gate.unread.gate IS 'qualified name of the target when the run was made';
COMMENT ON COLUMN dq_gate.unread.target IS 'the target; NULL once it is dropped';
COMMENT ON COLUMN dq_gate.unread.age IS 'how long ago the run started';
COMMENT ON COLUMN dq_gate.unread.owners IS 'of the gate, and of the checks that failed';

CREATE FUNCTION dq_gate.acknowledge(run_id pg_catalog.int8, note pg_catalog.text)
RETURNS pg_catalog.int8
AS 'MODULE_PATHNAME', 'dq_gate_acknowledge'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.acknowledge(pg_catalog.int8, pg_catalog.text) IS
	'somebody has looked at a run that needed attention, and says what came of it; answers its run_id';
