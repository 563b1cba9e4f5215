/*
 * alerts.sql
 *
 * What somebody ought to look at: which runs nobody has, who has looked at the
 * others, and what is told to those who listen on the channel dq_gate.
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

CREATE FUNCTION dq_gate.mute(target pg_catalog.regclass,
							 until pg_catalog.timestamptz,
							 reason pg_catalog.text)
RETURNS pg_catalog.regclass
AS 'MODULE_PATHNAME', 'dq_gate_mute'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.mute(pg_catalog.regclass, pg_catalog.timestamptz, pg_catalog.text) IS
	'a gate raises no alert until then; its runs are logged, warned of and unread as ever';

CREATE FUNCTION dq_gate.unmute(target pg_catalog.regclass)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME', 'dq_gate_unmute'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.unmute(pg_catalog.regclass) IS
	'a muted gate raises alerts again; answers whether it was muted';

CREATE FUNCTION dq_gate.alert_overdue(at pg_catalog.timestamptz DEFAULT pg_catalog.now())
RETURNS pg_catalog.int8
AS $$
	SELECT pg_catalog.count(pg_catalog.pg_notify('dq_gate', pg_catalog.json_build_object(
		'event', 'overdue',
		'gate', o.gate,
		'schema', n.nspname,
		'table', c.relname,
		'layer', pg_catalog."left"(g.layer, 100),
		'last_published', o.last_published,
		'expected_every', o.expected_every,
		'source', o.source,
		'expected_by', o.expected_by,
		'overdue_by', pg_catalog.date_trunc('second', o.overdue_by),
		'owners', ARRAY(SELECT pg_catalog."left"(o.owner, 200) WHERE o.owner IS NOT NULL))::pg_catalog.text))
	FROM dq_gate.overdue($1) o
	JOIN (dq_gate.gates g
		  JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) g.target::pg_catalog.oid
		  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace)
		ON o.gate OPERATOR(pg_catalog.=) pg_catalog.format('%I.%I', n.nspname, c.relname)
	WHERE g.alert OPERATOR(pg_catalog.<>) 'never'
	AND NOT EXISTS (
		SELECT FROM dq_gate.mutes m
		WHERE m.target OPERATOR(pg_catalog.=) g.target
		AND m.muted_until OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp())
$$
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.alert_overdue(pg_catalog.timestamptz) IS
	'tell which gates are overdue to those who listen on the channel dq_gate; answers how many';
