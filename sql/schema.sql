/*
 * schema.sql
 *
 * The two schemas of dq_gate.  They are not named in the control file, so that
 * a schema somebody planted under one of these names fails the installation
 * instead of being adopted by it.
 */
-- complain if the script is sourced in psql rather than run by CREATE EXTENSION
\echo Use "CREATE EXTENSION dq_gate" to load this file. \quit

CREATE SCHEMA dq_gate;
COMMENT ON SCHEMA dq_gate IS
	'gates, checks, runs and results of dq_gate, and its functions';

-- The schema of the rejected rows is made when it is first needed, and is no
-- member of the extension: they outlive it.  One that is there already was
-- restored, or left by DROP EXTENSION; what somebody planted is refused.
DO $$
DECLARE
	kept	pg_catalog.record;
	grantee	pg_catalog.text;
BEGIN
	SELECT n.nspowner, n.nspowner::pg_catalog.regrole AS owner, n.nspacl,
		r.rolsuper OR r.rolname OPERATOR(pg_catalog.=) CURRENT_USER AS safe INTO kept
	FROM pg_catalog.pg_namespace n
	LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
	WHERE n.nspname OPERATOR(pg_catalog.=) 'dq_quarantine';

	IF NOT FOUND THEN
		RETURN;
	END IF;
	IF kept.safe IS NOT TRUE THEN
		RAISE EXCEPTION USING
			ERRCODE = 'duplicate_schema',
			MESSAGE = pg_catalog.format('schema dq_quarantine already exists and belongs to role %s, which is no superuser', kept.owner),
			DETAIL = 'dq_gate keeps rejected rows in a schema of this name, whose owner could drop them.',
			HINT = 'Look at what is in it, then give it to a superuser with ALTER SCHEMA dq_quarantine OWNER TO ..., or rename it.';
	END IF;
	-- nobody else makes anything in it
	FOR grantee IN
		SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::pg_catalog.regrole::pg_catalog.text END
		FROM pg_catalog.aclexplode(kept.nspacl) a
		WHERE a.privilege_type OPERATOR(pg_catalog.=) 'CREATE' AND a.grantee OPERATOR(pg_catalog.<>) kept.nspowner
	LOOP
		EXECUTE pg_catalog.format('REVOKE CREATE ON SCHEMA dq_quarantine FROM %s CASCADE', grantee);
	END LOOP;
	GRANT USAGE ON SCHEMA dq_quarantine TO PUBLIC;
END
$$;
