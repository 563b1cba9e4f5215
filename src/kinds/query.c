/*
 * query.c
 *		A query of the user's own that finds what is wrong: it returns no rows
 *		where all is well.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"

#include "declare.h"
#include "expression.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

static void
query_compile(Check *check, const ColumnMap *map)
{
	char	   *query = dq_param(check->params, "resolved");

	check->rule = psprintf("no rows from: %s", dq_param(check->params, "query"));
	check->complaint = "found by the query";
	check->probe_sql = psprintf("SELECT pg_catalog.count(*) FROM (%s) AS found", query);
	check->sample_sql = psprintf("SELECT pg_catalog.to_jsonb(found) AS dq_sample FROM (%s) AS found",
								 query);
}

const CheckKind dq_kind_query = {
	.name = "query",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.counts = true,
	.compile = query_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_query);

/*
 * expect_query(target, name, query, and the common arguments but name)
 * declares that a query returns no rows.
 */
Datum
dq_gate_expect_query(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_query);
	char	   *text = dq_required_text(fcinfo, 2, "query");
	Node	   *query;
	char	   *resolved;
	Identity	saved;

	decl->name = dq_required_text(fcinfo, 1, "name");
	dq_declare_common(fcinfo, 3, decl);

	query = dq_parse_query(text);
	if (dq_rule_is_unnameable(query))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a query cannot compare with an operator that its text does not name"),
				 errhint("Write the comparison with the operator itself, such as a = b.")));
	decl->reads_target = dq_rule_reads(query, decl->gate->target);
	dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
	resolved = pg_get_querydef((Query *) query, false);
	dq_resume(&saved);

	decl->params = dq_set_param(decl->params, "query", text);
	decl->params = dq_set_param(decl->params, "resolved", resolved);
	return dq_finish_declaration(fcinfo, decl);
}
