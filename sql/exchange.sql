/*
 * exchange.sql
 *
 * Rules as code: a gate and its checks as a document.
 */

CREATE FUNCTION dq_gate.export_gate(target pg_catalog.regclass)
RETURNS pg_catalog.jsonb
AS 'MODULE_PATHNAME', 'dq_gate_export_gate'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.export_gate(pg_catalog.regclass) IS
	'a gate and its declared checks as a document, to be kept with the code and imported elsewhere';

CREATE FUNCTION dq_gate.import_gate(definition pg_catalog.jsonb,
									dry_run pg_catalog.bool DEFAULT false,
									OUT object pg_catalog.text,
									OUT name pg_catalog.text,
									OUT change pg_catalog.text)
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'dq_gate_import_gate'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.import_gate(pg_catalog.jsonb, pg_catalog.bool) IS
	'make a gate and its checks what the document says; one row a gate or check: added, changed, removed or unchanged';
