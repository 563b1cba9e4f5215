/*
 * requeue.sql
 *
 * Quarantined rows that were corrected, or whose check was, go back to where
 * a batch comes from.
 */

CREATE TYPE dq_gate.requeue_summary AS (
	run_id		pg_catalog.int8,
	target		pg_catalog.regclass,
	staging		pg_catalog.regclass,
	quarantine	pg_catalog.regclass,
	quarantined	pg_catalog.int8,
	requeued	pg_catalog.int8,
	requeued_before	pg_catalog.int8,
	dry_run		pg_catalog.bool
);
COMMENT ON TYPE dq_gate.requeue_summary IS 'what requeue answers: where the rows went, and how many';

CREATE FUNCTION dq_gate.requeue(run_id pg_catalog.int8,
								staging pg_catalog.regclass DEFAULT NULL,
								dry_run pg_catalog.bool DEFAULT false)
RETURNS dq_gate.requeue_summary
AS 'MODULE_PATHNAME', 'dq_gate_requeue'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.requeue(pg_catalog.int8, pg_catalog.regclass, pg_catalog.bool) IS
	'put the quarantined rows of a run back into staging, once, for the next run to audit';
