/*
 * gate.sql
 *
 * Registering a gate.
 */

CREATE FUNCTION dq_gate.create_gate(target pg_catalog.regclass,
									staging pg_catalog.regclass DEFAULT NULL,
									key pg_catalog.text[] DEFAULT NULL,
									layer pg_catalog.text DEFAULT NULL,
									owner pg_catalog.text DEFAULT NULL,
									description pg_catalog.text DEFAULT NULL,
									run_as pg_catalog.regrole DEFAULT NULL,
									enforce pg_catalog.bool DEFAULT NULL,
									samples pg_catalog.bool DEFAULT NULL,
									check_timeout pg_catalog.interval DEFAULT NULL,
									profile pg_catalog.bool DEFAULT NULL,
									expected_every pg_catalog.interval DEFAULT NULL,
									mode pg_catalog.text DEFAULT NULL,
									scope pg_catalog.text DEFAULT NULL,
									replace_by pg_catalog.text[] DEFAULT NULL,
									max_delete_rate pg_catalog.float8 DEFAULT NULL,
									update_columns pg_catalog.text[] DEFAULT NULL,
									exclude_columns pg_catalog.text[] DEFAULT NULL,
									compare_columns pg_catalog.text[] DEFAULT NULL,
									only_if_newer pg_catalog.text DEFAULT NULL,
									keep_latest_by pg_catalog.text DEFAULT NULL,
									on_rounding pg_catalog.text DEFAULT NULL,
									on_new_column pg_catalog.text DEFAULT NULL,
									rescue_column pg_catalog.text DEFAULT NULL,
									on_missing_column pg_catalog.text DEFAULT NULL,
									on_type_change pg_catalog.text DEFAULT NULL,
									after_publish pg_catalog.text DEFAULT NULL,
									quarantine_retention pg_catalog.interval DEFAULT NULL,
									log_retention pg_catalog.interval DEFAULT NULL,
									alert pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.regclass
AS 'MODULE_PATHNAME', 'dq_gate_create_gate'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.create_gate IS
	'register a gate for a target table';

CREATE FUNCTION dq_gate.alter_gate(target pg_catalog.regclass,
								   staging pg_catalog.regclass DEFAULT NULL,
								   key pg_catalog.text[] DEFAULT NULL,
								   layer pg_catalog.text DEFAULT NULL,
								   owner pg_catalog.text DEFAULT NULL,
								   description pg_catalog.text DEFAULT NULL,
								   run_as pg_catalog.regrole DEFAULT NULL,
								   enforce pg_catalog.bool DEFAULT NULL,
								   samples pg_catalog.bool DEFAULT NULL,
								   check_timeout pg_catalog.interval DEFAULT NULL,
								   profile pg_catalog.bool DEFAULT NULL,
								   expected_every pg_catalog.interval DEFAULT NULL,
								   mode pg_catalog.text DEFAULT NULL,
								   scope pg_catalog.text DEFAULT NULL,
								   replace_by pg_catalog.text[] DEFAULT NULL,
								   max_delete_rate pg_catalog.float8 DEFAULT NULL,
								   update_columns pg_catalog.text[] DEFAULT NULL,
								   exclude_columns pg_catalog.text[] DEFAULT NULL,
								   compare_columns pg_catalog.text[] DEFAULT NULL,
								   only_if_newer pg_catalog.text DEFAULT NULL,
								   keep_latest_by pg_catalog.text DEFAULT NULL,
								   on_rounding pg_catalog.text DEFAULT NULL,
								   on_new_column pg_catalog.text DEFAULT NULL,
								   rescue_column pg_catalog.text DEFAULT NULL,
								   on_missing_column pg_catalog.text DEFAULT NULL,
								   on_type_change pg_catalog.text DEFAULT NULL,
								   after_publish pg_catalog.text DEFAULT NULL,
								   quarantine_retention pg_catalog.interval DEFAULT NULL,
								   log_retention pg_catalog.interval DEFAULT NULL,
								   alert pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.regclass
AS 'MODULE_PATHNAME', 'dq_gate_alter_gate'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.alter_gate IS
	'change a gate; what is NULL stays, an empty text or array goes back to the default';

CREATE FUNCTION dq_gate.drop_gate(target pg_catalog.regclass)
RETURNS pg_catalog.void
AS 'MODULE_PATHNAME', 'dq_gate_drop_gate'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.drop_gate(pg_catalog.regclass) IS
	'forget a gate and its declared checks; the tables, the log and the quarantine stay';

CREATE FUNCTION dq_gate.grant_operator(target pg_catalog.regclass, operator pg_catalog.regrole)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME', 'dq_gate_grant_operator'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.grant_operator(pg_catalog.regclass, pg_catalog.regrole) IS
	'let a role run a gate, on the staging table that the gate names; answers whether it was not granted before';

CREATE FUNCTION dq_gate.revoke_operator(target pg_catalog.regclass, operator pg_catalog.regrole)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME', 'dq_gate_revoke_operator'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.revoke_operator(pg_catalog.regclass, pg_catalog.regrole) IS
	'take back what grant_operator gave; answers whether there was something to take back';
