/*
 * rights.sql
 *
 * Everybody may call the functions, which check rights on the tables they are
 * given, and may read configuration and log of the gates whose target they
 * may read.  Nobody but the extension writes.
 */

GRANT USAGE ON SCHEMA dq_gate TO PUBLIC;

REVOKE ALL ON ALL TABLES IN SCHEMA dq_gate FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA dq_gate FROM PUBLIC;
GRANT SELECT ON dq_gate.gates, dq_gate.checks, dq_gate.runs, dq_gate.results,
	dq_gate.profiles, dq_gate.acknowledgements, dq_gate.rule_sets, dq_gate.quarantines, dq_gate.operators TO PUBLIC;
-- those of the invoker, so that they show no more than that
GRANT SELECT ON dq_gate.dq_check_results, dq_gate.check_trend, dq_gate.pass_rate, dq_gate.failed_checks TO PUBLIC;
GRANT SELECT ON dq_gate.unread TO PUBLIC;
-- everybody may know why he waits; see there for what it hides
GRANT SELECT ON dq_gate.activity TO PUBLIC;

ALTER TABLE dq_gate.gates ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.checks ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.results ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.acknowledgements ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.rule_sets ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.quarantines ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.operators ENABLE ROW LEVEL SECURITY;

CREATE POLICY readers_of_target ON dq_gate.gates FOR SELECT
	USING (pg_catalog.has_table_privilege(target, 'SELECT'));
CREATE POLICY readers_of_target ON dq_gate.checks FOR SELECT
	USING (pg_catalog.has_table_privilege(target, 'SELECT'));
CREATE POLICY readers_of_target ON dq_gate.runs FOR SELECT
	USING (pg_catalog.has_table_privilege(target, 'SELECT'));
CREATE POLICY readers_of_target ON dq_gate.results FOR SELECT
	USING (EXISTS (SELECT FROM dq_gate.runs r
				   WHERE r.run_id OPERATOR(pg_catalog.=) results.run_id
				   AND pg_catalog.has_table_privilege(r.target, 'SELECT')));
CREATE POLICY readers_of_target ON dq_gate.profiles FOR SELECT
	USING (EXISTS (SELECT FROM dq_gate.runs r
				   WHERE r.run_id OPERATOR(pg_catalog.=) profiles.run_id
				   AND pg_catalog.has_table_privilege(r.target, 'SELECT')));
CREATE POLICY readers_of_target ON dq_gate.acknowledgements FOR SELECT
	USING (EXISTS (SELECT FROM dq_gate.runs r
				   WHERE r.run_id OPERATOR(pg_catalog.=) acknowledgements.run_id
				   AND pg_catalog.has_table_privilege(r.target, 'SELECT')));
CREATE POLICY readers_of_target ON dq_gate.rule_sets FOR SELECT
	USING (EXISTS (SELECT FROM dq_gate.runs r
				   WHERE r.rules_hash OPERATOR(pg_catalog.=) rule_sets.rules_hash
				   AND pg_catalog.has_table_privilege(r.target, 'SELECT')));
CREATE POLICY readers_of_target ON dq_gate.quarantines FOR SELECT
	USING (pg_catalog.has_table_privilege(target, 'SELECT'));
-- an operator may know of himself
CREATE POLICY readers_of_target ON dq_gate.operators FOR SELECT
	USING (pg_catalog.has_table_privilege(target, 'SELECT') OR pg_catalog.pg_has_role(operator, 'USAGE'));
