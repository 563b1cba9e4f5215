/*
 * checks.sql
 *
 * Forgetting checks and looking at them.
 */

CREATE FUNCTION dq_gate.drop_check(target pg_catalog.regclass, name pg_catalog.text)
RETURNS pg_catalog.void
AS 'MODULE_PATHNAME', 'dq_gate_drop_check'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.drop_check(pg_catalog.regclass, pg_catalog.text) IS
	'forget a declared check';

CREATE FUNCTION dq_gate.checks_of(target pg_catalog.regclass,
								  staging pg_catalog.regclass DEFAULT NULL,
								  OUT check_name pg_catalog.text,
								  OUT check_type pg_catalog.text,
								  OUT columns pg_catalog.text[],
								  OUT rule pg_catalog.text,
								  OUT action pg_catalog.text,
								  OUT nulls pg_catalog.text,
								  OUT owner pg_catalog.text,
								  OUT origin pg_catalog.text,
								  OUT description pg_catalog.text,
								  OUT filter pg_catalog.text,
								  OUT tolerance pg_catalog.text,
								  OUT tags pg_catalog.text[],
								  OUT severity pg_catalog.text)
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'dq_gate_checks_of'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.checks_of(pg_catalog.regclass, pg_catalog.regclass) IS
	'every effective check of a target, derived or declared, with its action and where it came from';

/*
 * How a staged value becomes one of the target's type where the conversion
 * can fail: called by the statements of an audit.  Conversion depends on
 * settings such as DateStyle, hence stable.
 */
CREATE FUNCTION dq_gate.fits(value pg_catalog.text, type pg_catalog.oid, typmod pg_catalog.int4)
RETURNS pg_catalog.bool
AS 'MODULE_PATHNAME', 'dq_gate_fits'
LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.fits(pg_catalog.text, pg_catalog.oid, pg_catalog.int4) IS
	'whether the type with this modifier takes the text as a value';

CREATE FUNCTION dq_gate.try_cast(value pg_catalog.text, type pg_catalog.anyelement, typmod pg_catalog.int4)
RETURNS pg_catalog.anyelement
AS 'MODULE_PATHNAME', 'dq_gate_try_cast'
LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.try_cast(pg_catalog.text, pg_catalog.anyelement, pg_catalog.int4) IS
	'the text as a value of the type of the second argument, or NULL where it does not fit';

-- before 16 a failed conversion has to be caught in a subtransaction, which a parallel worker cannot have
DO $$
BEGIN
	IF pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 160000 THEN
		ALTER FUNCTION dq_gate.fits(pg_catalog.text, pg_catalog.oid, pg_catalog.int4) PARALLEL SAFE;
		ALTER FUNCTION dq_gate.try_cast(pg_catalog.text, pg_catalog.anyelement, pg_catalog.int4) PARALLEL SAFE;
	END IF;
END
$$;
