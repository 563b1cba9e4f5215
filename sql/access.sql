/*
 * access.sql
 *
 * What the current user may do about a target.  The policies of rights.sql ask
 * these, once a row.
 */

CREATE FUNCTION dq_gate.may_read(target pg_catalog.regclass)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME', 'dq_gate_may_read'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dq_gate.may_read(pg_catalog.regclass) IS
	'whether the current user may read the table: SELECT on all of it, and USAGE on its schema';

CREATE FUNCTION dq_gate.may_see_rows(target pg_catalog.regclass)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME', 'dq_gate_may_see_rows'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dq_gate.may_see_rows(pg_catalog.regclass) IS
	'whether the current user may read the table, and row-level security hides none of its rows';

CREATE FUNCTION dq_gate.may_run(target pg_catalog.regclass, staging pg_catalog.regclass DEFAULT NULL)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME', 'dq_gate_may_run'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.may_run(pg_catalog.regclass, pg_catalog.regclass) IS
	'whether the current user may run the gate of the table: as one who can act as its role, or as an operator on the staging table of the gate';
