/*
 * publish.sql
 *
 * The doors through which a batch goes.
 */

CREATE FUNCTION dq_gate.publish(staging pg_catalog.regclass,
								target pg_catalog.regclass,
								batch_id pg_catalog.text DEFAULT NULL,
								as_of pg_catalog.date DEFAULT NULL,
								totals pg_catalog.jsonb DEFAULT NULL)
RETURNS dq_gate.run_summary
AS 'MODULE_PATHNAME', 'dq_gate_publish'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.publish(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text, pg_catalog.date, pg_catalog.jsonb) IS
	'audit the batch in staging and publish it into target, or quarantine it; answers the verdict and warns on failure';

CREATE FUNCTION dq_gate.audit(staging pg_catalog.regclass,
							  target pg_catalog.regclass,
							  batch_id pg_catalog.text DEFAULT NULL,
							  as_of pg_catalog.date DEFAULT NULL,
							  totals pg_catalog.jsonb DEFAULT NULL)
RETURNS dq_gate.run_summary
AS 'MODULE_PATHNAME', 'dq_gate_audit'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.audit(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text, pg_catalog.date, pg_catalog.jsonb) IS
	'audit the batch in staging and log the results; publishes and quarantines nothing';

CREATE PROCEDURE dq_gate.publish_or_fail(staging pg_catalog.regclass,
										 target pg_catalog.regclass,
										 batch_id pg_catalog.text DEFAULT NULL,
										 as_of pg_catalog.date DEFAULT NULL,
										 totals pg_catalog.jsonb DEFAULT NULL,
										 tick pg_catalog.interval DEFAULT NULL)
AS 'MODULE_PATHNAME', 'dq_gate_publish_or_fail'
LANGUAGE C;
COMMENT ON PROCEDURE dq_gate.publish_or_fail(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text, pg_catalog.date, pg_catalog.jsonb, pg_catalog.interval) IS
	'like publish, but a batch that is not published commits its evidence and then raises an error: for schedulers and scripts';

CREATE FUNCTION dq_gate.batch_id()
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_batch_id'
LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dq_gate.batch_id() IS
	'the batch_id of the run that evaluates this, for rules, filters and queries; NULL outside of a run';

CREATE FUNCTION dq_gate.as_of()
RETURNS pg_catalog.date
AS 'MODULE_PATHNAME', 'dq_gate_as_of'
LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dq_gate.as_of() IS
	'the as_of of the run that evaluates this, for rules, filters and queries; NULL outside of a run or where it has none';

CREATE FUNCTION dq_gate.results_of(run_id pg_catalog.int8)
RETURNS SETOF dq_gate.results
AS $$
	SELECT r.*
	FROM dq_gate.results r
	WHERE r.run_id OPERATOR(pg_catalog.=) $1
	ORDER BY r.check_no
$$
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.results_of(pg_catalog.int8) IS
	'what each check of a run found, one row a check';

CREATE FUNCTION dq_gate.rules_of(run_id pg_catalog.int8,
								 OUT check_name pg_catalog.text,
								 OUT check_type pg_catalog.text,
								 OUT rule pg_catalog.text,
								 OUT action pg_catalog.text,
								 OUT nulls pg_catalog.text,
								 OUT filter pg_catalog.text,
								 OUT tolerance pg_catalog.text,
								 OUT origin pg_catalog.text)
RETURNS SETOF pg_catalog.record
AS $$
	SELECT e.check_name, e.check_type, e.rule, e.action, e.nulls, e.filter, e.tolerance, e.origin
	FROM dq_gate.runs r
	JOIN dq_gate.rule_sets s ON s.rules_hash OPERATOR(pg_catalog.=) r.rules_hash,
		pg_catalog.jsonb_to_recordset(s.rules) AS e (
			check_name pg_catalog.text, check_type pg_catalog.text, rule pg_catalog.text,
			action pg_catalog.text, nulls pg_catalog.text, filter pg_catalog.text,
			tolerance pg_catalog.text, origin pg_catalog.text)
	WHERE r.run_id OPERATOR(pg_catalog.=) $1
$$
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.rules_of(pg_catalog.int8) IS
	'the rules that a run was made under, as they were then';
