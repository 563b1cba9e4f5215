/*
 * query.c
 *		A query of the user's own that finds what is wrong: it returns no rows
 *		where all is well.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"

#include "declare.h"
#include "expression.h"
#include "kinds/kinds.h"
#include "kinds/totals.h"
#include "params.h"
#include "row_limits.h"
#include "spi_util.h"

/* A query that answers with one number */
static void
scalar_compile(Check *check, const char *query, const char *min, const char *max)
{
	check->rule = psprintf("%s %s", dq_param(check->params, "query"), dq_bounds_words(min, max));
	check->complaint = psprintf("the query answers with a number not %s", dq_bounds_words(min, max));
	check->threshold = dq_bounds_words(min, max);
	check->judge_sql = psprintf("SELECT NOT answered.value::pg_catalog.numeric"
								" BETWEEN COALESCE(%1$s::pg_catalog.numeric, '-Infinity')"
								" AND COALESCE(%2$s::pg_catalog.numeric, 'Infinity')"
								" OR answered.value::pg_catalog.numeric = 'NaN',"
								" answered.value::pg_catalog.text,"
								" %3$s || ': ' || COALESCE(answered.value::pg_catalog.text, 'no value'),"
								" NULL::pg_catalog.jsonb FROM (SELECT (%4$s)) AS answered (value)",
								min ? dq_literal(min) : "NULL", max ? dq_literal(max) : "NULL",
								dq_literal(check->complaint), query);
}

static void
query_compile(Check *check, const ColumnMap *map)
{
	char	   *query = dq_param(check->params, "resolved");
	char	   *min = dq_param(check->params, "min");
	char	   *max = dq_param(check->params, "max");

	if (min != NULL || max != NULL)
	{
		scalar_compile(check, query, min, max);
		return;
	}
	check->rule = psprintf("no rows from: %s", dq_param(check->params, "query"));
	check->complaint = "found by the query";
	check->probe_sql = psprintf("SELECT pg_catalog.count(*) FROM (%s) AS found", query);
	check->sample_sql = psprintf("SELECT pg_catalog.to_jsonb(found.*) AS dq_sample FROM (%s) AS found",
								 query);
}

const CheckKind dq_kind_query = {
	.name = "query",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.counts = true,
	.observes_number = true,
	.compile = query_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_query);

static int
count_junk(List *targets)
{
	int			count = 0;
	ListCell   *lc;

	foreach(lc, targets)
		count += lfirst_node(TargetEntry, lc)->resjunk;
	return count;
}

/* One number is not so many rows */
static void
refuse_row_limits(const Declaration *decl)
{
	if (dq_has_limits(&decl->limits))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a query with min or max does not take \"max_rate\", \"max_rows\", \"warn_above\" or \"block_above\""),
				 errdetail("They count the rows that a query returns.")));
}

/* The type of the only column of a query, InvalidOid if it has not one column */
Oid
dq_query_type(const Query *query)
{
	if (query->targetList == NIL ||
		list_length(query->targetList) != 1 + count_junk(query->targetList))
		return InvalidOid;
	return exprType((Node *) linitial_node(TargetEntry, query->targetList)->expr);
}

/* Refuse a query that does not answer with one number */
static void
require_number(const Query *query)
{
	Oid			type = dq_query_type(query);

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a query with min or max must return one column")));
	if (!dq_is_number(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a query with min or max must return a number, not a value of type %s",
						format_type_be(type))));
}

/*
 * expect_query(target, name, query, min, max, and the common arguments but
 * name) declares that a query returns no rows or, where there is a bound, that
 * the number it returns keeps it.
 */
Datum
dq_gate_expect_query(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_query);
	char	   *text = dq_required_text(fcinfo, 2, "query");
	char	   *min = dq_numeric_argument(fcinfo, 3, "min");
	char	   *max = dq_numeric_argument(fcinfo, 4, "max");
	char	   *resolved;
	List	   *columns;
	Node	   *query;

	decl->name = dq_required_text(fcinfo, 1, "name");
	dq_declare_common(fcinfo, 5, decl);
	dq_check_order("min", min, "max", max);

	query = dq_parse_query(text);
	if (min != NULL || max != NULL)
	{
		require_number((Query *) query);
		refuse_row_limits(decl);
	}
	resolved = dq_declare_meaning(decl, "a query", query, &columns);
	decl->params = dq_set_param(decl->params, "min", min);
	decl->params = dq_set_param(decl->params, "max", max);
	decl->params = dq_set_param(decl->params, "query", text);
	decl->params = dq_set_param(decl->params, "resolved", resolved);
	return dq_finish_declaration(fcinfo, decl);
}
