/*
 * rights.sql
 *
 * Everybody may call the functions, which check rights on the tables they are
 * given, and may read the configuration of the gates whose target they may
 * read, and the log of those of which they may see all rows.  Nobody but the
 * extension writes.
 */

GRANT USAGE ON SCHEMA dq_gate TO PUBLIC;

REVOKE ALL ON ALL TABLES IN SCHEMA dq_gate FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA dq_gate FROM PUBLIC;
GRANT SELECT ON dq_gate.gates, dq_gate.checks, dq_gate.runs, dq_gate.results,
	dq_gate.profiles, dq_gate.acknowledgements, dq_gate.mutes, dq_gate.rule_sets, dq_gate.quarantines, dq_gate.operators TO PUBLIC;
-- those of the invoker, so that they show no more than that
GRANT SELECT ON dq_gate.dq_check_results, dq_gate.check_trend, dq_gate.pass_rate, dq_gate.failed_checks TO PUBLIC;
GRANT SELECT ON dq_gate.unread, dq_gate.housekeeping TO PUBLIC;
-- everybody may know why he waits; see there for what it hides
GRANT SELECT ON dq_gate.activity TO PUBLIC;

ALTER TABLE dq_gate.gates ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.checks ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.results ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.acknowledgements ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.mutes ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.rule_sets ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.quarantines ENABLE ROW LEVEL SECURITY;
ALTER TABLE dq_gate.operators ENABLE ROW LEVEL SECURITY;

-- who may run a gate has to know what is set for it
CREATE POLICY readers_of_target ON dq_gate.gates FOR SELECT
	USING (dq_gate.may_read(target)
		   OR EXISTS (SELECT FROM dq_gate.operators o
					  WHERE o.target OPERATOR(pg_catalog.=) gates.target
					  AND pg_catalog.pg_has_role(o.operator, 'USAGE')));
CREATE POLICY readers_of_target ON dq_gate.operators FOR SELECT
	USING (dq_gate.may_read(target) OR pg_catalog.pg_has_role(operator, 'USAGE'));
CREATE POLICY readers_of_target ON dq_gate.checks FOR SELECT
	USING (dq_gate.may_read(target));
CREATE POLICY readers_of_target ON dq_gate.quarantines FOR SELECT
	USING (dq_gate.may_read(target));

-- all that was found in rows, counts and the texts of errors included
CREATE POLICY readers_of_rows ON dq_gate.runs FOR SELECT
	USING (dq_gate.may_see_rows(target));
CREATE POLICY readers_of_rows ON dq_gate.results FOR SELECT
	USING (EXISTS (SELECT FROM dq_gate.runs r
				   WHERE r.run_id OPERATOR(pg_catalog.=) results.run_id
				   AND dq_gate.may_see_rows(r.target)));
CREATE POLICY readers_of_rows ON dq_gate.profiles FOR SELECT
	USING (EXISTS (SELECT FROM dq_gate.runs r
				   WHERE r.run_id OPERATOR(pg_catalog.=) profiles.run_id
				   AND dq_gate.may_see_rows(r.target)));
CREATE POLICY readers_of_rows ON dq_gate.acknowledgements FOR SELECT
	USING (EXISTS (SELECT FROM dq_gate.runs r
				   WHERE r.run_id OPERATOR(pg_catalog.=) acknowledgements.run_id
				   AND dq_gate.may_see_rows(r.target)));
CREATE POLICY readers_of_target ON dq_gate.mutes FOR SELECT
	USING (dq_gate.may_read(target));
CREATE POLICY readers_of_rows ON dq_gate.rule_sets FOR SELECT
	USING (EXISTS (SELECT FROM dq_gate.runs r
				   WHERE r.rules_hash OPERATOR(pg_catalog.=) rule_sets.rules_hash
				   AND dq_gate.may_see_rows(r.target)));
