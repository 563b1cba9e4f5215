/*
 * lifecycle.sql
 *
 * A dropped table takes its gate, its checks and the mapping to its quarantine
 * with it, so that no later table inherits them with its OID and no dump
 * carries an OID that means nothing.  Its history stays, under its name.
 *
 * Some tables go unnoticed: temporary ones at the end of their session, and
 * any while event triggers are off.  So do roles.  What is left of them goes
 * with the next table that is dropped.
 */

CREATE FUNCTION dq_gate.delete_with_it()
RETURNS pg_catalog.trigger
AS $$
DECLARE
	own_key		pg_catalog.text := TG_ARGV[0];
	table_name	pg_catalog.text;
BEGIN
	FOREACH table_name IN ARRAY TG_ARGV[1:] LOOP
		EXECUTE pg_catalog.format('DELETE FROM dq_gate.%1$I t USING gone g WHERE t.%2$I OPERATOR(pg_catalog.=) g.%2$I',
								  table_name, own_key);
	END LOOP;
	RETURN NULL;
END
$$
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.delete_with_it() IS
	'trigger: deletes what belongs to the deleted rows; its arguments are their key and the tables that have it too';
REVOKE ALL ON FUNCTION dq_gate.delete_with_it() FROM PUBLIC;

CREATE TRIGGER delete_with_gate AFTER DELETE ON dq_gate.gates
	REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
	EXECUTE FUNCTION dq_gate.delete_with_it('target', 'checks', 'operators', 'mutes');
CREATE TRIGGER delete_with_run AFTER DELETE ON dq_gate.runs
	REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
	EXECUTE FUNCTION dq_gate.delete_with_it('run_id', 'results', 'profiles', 'acknowledgements');

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
		WITH RECURSIVE targets AS (
			-- each once, by the index: there are many runs of few targets
			(SELECT r.target FROM dq_gate.runs r WHERE r.target IS NOT NULL ORDER BY r.target LIMIT 1)
			UNION ALL
			SELECT (SELECT r.target FROM dq_gate.runs r
					WHERE r.target OPERATOR(pg_catalog.>) t.target ORDER BY r.target LIMIT 1)
			FROM targets t WHERE t.target IS NOT NULL
		), known (relid) AS (
			SELECT t.target FROM targets t
			UNION SELECT g.target FROM dq_gate.gates g
			UNION SELECT g.staging FROM dq_gate.gates g
			UNION SELECT c.target FROM dq_gate.checks c
			UNION SELECT c.ref_table FROM dq_gate.checks c
			UNION SELECT q.target FROM dq_gate.quarantines q
			UNION SELECT q.quarantine FROM dq_gate.quarantines q
		)
		SELECT gone OPERATOR(pg_catalog.||) COALESCE(pg_catalog.array_agg(k.relid), '{}') INTO gone
		FROM known k
		WHERE k.relid IS NOT NULL
		AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) k.relid);

		DELETE FROM dq_gate.gates WHERE target OPERATOR(pg_catalog.=) ANY (gone);
		DELETE FROM dq_gate.checks WHERE target OPERATOR(pg_catalog.=) ANY (gone);
		-- the number of a role is that of another one in another cluster
		UPDATE dq_gate.gates SET run_as = 0::pg_catalog.oid
		WHERE run_as OPERATOR(pg_catalog.<>) 0::pg_catalog.oid
		AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) run_as);
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
-- a table is as gone where a replica applies that it was dropped
ALTER EVENT TRIGGER dq_gate_forget_dropped_tables ENABLE ALWAYS;

CREATE FUNCTION dq_gate.say_what_stays()
RETURNS pg_catalog.event_trigger
AS 'MODULE_PATHNAME', 'dq_gate_say_what_stays'
LANGUAGE C;
COMMENT ON FUNCTION dq_gate.say_what_stays() IS
	'event trigger: says what DROP EXTENSION dq_gate takes and what it leaves';
REVOKE ALL ON FUNCTION dq_gate.say_what_stays() FROM PUBLIC;

CREATE EVENT TRIGGER dq_gate_say_what_stays ON ddl_command_start
	WHEN TAG IN ('DROP EXTENSION')
	EXECUTE FUNCTION dq_gate.say_what_stays();
