/*
 * backlog.sql
 *
 * Rules for what is published already: what is bad there, and how PostgreSQL
 * itself can enforce them.
 */

CREATE FUNCTION dq_gate.audit_table(target pg_catalog.regclass,
									OUT check_name pg_catalog.text,
									OUT check_type pg_catalog.text,
									OUT columns pg_catalog.text[],
									OUT rule pg_catalog.text,
									OUT action pg_catalog.text,
									OUT status pg_catalog.text,
									OUT examined_rows pg_catalog.int8,
									OUT failing_rows pg_catalog.int8,
									OUT null_rows pg_catalog.int8,
									OUT sample pg_catalog.jsonb,
									OUT message pg_catalog.text,
									OUT owner pg_catalog.text)
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'dq_gate_audit_table'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.audit_table(pg_catalog.regclass) IS
	'what each check about rows finds in the published table itself; logs and changes nothing';

CREATE FUNCTION dq_gate.constraint_ddl(target pg_catalog.regclass,
									   OUT check_name pg_catalog.text,
									   OUT statement pg_catalog.text,
									   OUT note pg_catalog.text)
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'dq_gate_constraint_ddl'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.constraint_ddl(pg_catalog.regclass) IS
	'the statements that make PostgreSQL itself enforce the declared checks of a table, in order, or why it cannot; executes none of them';
