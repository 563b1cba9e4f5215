/*
 * query.c
 *		A query of the user's own that finds what is wrong: it returns no rows
 *		where all is well.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "declare.h"
#include "expression.h"
#include "kinds/kinds.h"
#include "params.h"

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
	char	   *resolved;
	List	   *columns;

	decl->name = dq_required_text(fcinfo, 1, "name");
	dq_declare_common(fcinfo, 3, decl);

	resolved = dq_declare_meaning(decl, "a query", dq_parse_query(text), &columns);
	decl->params = dq_set_param(decl->params, "query", text);
	decl->params = dq_set_param(decl->params, "resolved", resolved);
	return dq_finish_declaration(fcinfo, decl);
}
