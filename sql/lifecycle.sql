/*
 * lifecycle.sql
 *
 * A dropped table takes its gate, its checks and the mapping to its quarantine
 * with it, so that no later table inherits them with its OID and no dump
 * carries an OID that means nothing.  Its history stays, under its name.
 */

CREATE FUNCTION dq_gate.forget_dropped_tables()
RETURNS pg_catalog.event_trigger
AS $$
DECLARE
	gone	pg_catalog.regclass[];
BEGIN
	SELECT pg_catalog.array_agg(objid::pg_catalog.regclass) INTO gone
	FROM pg_catalog.pg_event_trigger_dropped_objects()
	WHERE classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
	AND objsubid OPERATOR(pg_catalog.=) 0;

	IF gone IS NOT NULL THEN
		DELETE FROM dq_gate.gates WHERE target OPERATOR(pg_catalog.=) ANY (gone);
		UPDATE dq_gate.gates SET staging = NULL
		WHERE staging OPERATOR(pg_catalog.=) ANY (gone);
		UPDATE dq_gate.checks SET ref_table = NULL
		WHERE ref_table OPERATOR(pg_catalog.=) ANY (gone);
		DELETE FROM dq_gate.quarantines
		WHERE target OPERATOR(pg_catalog.=) ANY (gone)
		OR quarantine OPERATOR(pg_catalog.=) ANY (gone);
		UPDATE dq_gate.runs SET target = NULL
		WHERE target OPERATOR(pg_catalog.=) ANY (gone);
	END IF;
END
$$
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.forget_dropped_tables() IS
	'event trigger: forgets the gates of tables that are dropped';
REVOKE ALL ON FUNCTION dq_gate.forget_dropped_tables() FROM PUBLIC;

CREATE EVENT TRIGGER dq_gate_forget_dropped_tables ON sql_drop
	EXECUTE FUNCTION dq_gate.forget_dropped_tables();
