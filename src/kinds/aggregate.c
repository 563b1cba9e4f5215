/*
 * aggregate.c
 *		A number computed from all rows of the batch, between bounds: a sum, an
 *		average, a quantile, a share of distinct or of missing values.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "declare.h"
#include "expression.h"
#include "kinds/kinds.h"
#include "kinds/totals.h"
#include "params.h"
#include "spi_util.h"

static void
aggregate_compile(Check *check, const ColumnMap *map)
{
	char	   *value = dq_param(check->params, "resolved");
	char	   *min = dq_param(check->params, "min");
	char	   *max = dq_param(check->params, "max");
	StringInfoData failure;

	check->rule = psprintf("%s %s", dq_param(check->params, "expression"),
						   dq_bounds_words(min, max));
	check->complaint = psprintf("%s not %s", dq_param(check->params, "expression"),
								dq_bounds_words(min, max));
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;

	/* NaN is between no bounds, and no value at all is none */
	initStringInfo(&failure);
	appendStringInfo(&failure, "(%s)::pg_catalog.numeric = 'NaN'", value);
	if (min)
		appendStringInfo(&failure, " OR (%s)::pg_catalog.numeric < %s::pg_catalog.numeric",
						 value, dq_literal(min));
	if (max)
		appendStringInfo(&failure, " OR (%s)::pg_catalog.numeric > %s::pg_catalog.numeric",
						 value, dq_literal(max));
	check->aggregate_sql = psprintf("(%s) IS NOT FALSE", failure.data);
	check->observed_sql = psprintf("pg_catalog.trim_scale((%s)::pg_catalog.numeric)::pg_catalog.text", value);
}

const CheckKind dq_kind_aggregate = {
	.name = "aggregate",
	.evaluation = EVAL_AGGREGATE,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.observes_number = true,
	.compile = aggregate_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_aggregate);

/*
 * expect_aggregate(target, name, expression, min, max, and the common
 * arguments but name) declares bounds for an expression over all rows.
 */
Datum
dq_gate_expect_aggregate(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_aggregate);
	char	   *text = dq_required_text(fcinfo, 2, "expression");
	char	   *min = dq_numeric_argument(fcinfo, 3, "min");
	char	   *max = dq_numeric_argument(fcinfo, 4, "max");
	char	   *resolved;
	List	   *columns;
	Node	   *expression;
	Oid			type;

	decl->name = dq_required_text(fcinfo, 1, "name");
	dq_declare_common(fcinfo, 5, decl);
	if (min == NULL && max == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"aggregate\" needs min, max or both")));
	dq_check_order("min", min, "max", max);

	expression = dq_parse_aggregate(text, decl->filter, decl->gate->target);
	type = exprType(expression);
	if (!dq_is_number(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the expression must be a number, not of type %s", format_type_be(type))));
	resolved = dq_declare_meaning(decl, "the expression", expression, &columns);
	dq_declare_columns(decl, columns);

	decl->params = dq_set_param(decl->params, "expression", text);
	decl->params = dq_set_param(decl->params, "resolved", resolved);
	decl->params = dq_set_param(decl->params, "min", min);
	decl->params = dq_set_param(decl->params, "max", max);
	return dq_finish_declaration(fcinfo, decl);
}
