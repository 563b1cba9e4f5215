/*
 * not_future.c
 *		A point in time that is not after now, give or take.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "columns.h"
#include "kinds/instant.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

static void
not_future_compile(Check *check, const ColumnMap *map)
{
	const char *name = quote_identifier(linitial(check->columns));
	char	   *tolerance = dq_param(check->params, "tolerance");
	Column	   *column;
	char	   *instant;

	check->rule = tolerance ? psprintf("%s at most %s from now", name, tolerance) :
		psprintf("%s not in the future", name);
	check->complaint = tolerance ? psprintf("%s more than %s from now", name, tolerance) :
		psprintf("%s in the future", name);
	column = dq_usable_column(check, map, linitial(check->columns));
	if (column == NULL)
		return;
	instant = dq_instant_sql(check, column);
	if (instant == NULL)
		return;
	/* a day is in the future when it has not begun */
	if (getBaseType(column->typid) == DATEOID)
		instant = psprintf("%s - '1 day'::pg_catalog.interval", instant);
	check->null_sql = dq_null_sql(column);
	check->fail_sql = dq_value_rule_sql(check, column,
										psprintf("pg_catalog.timezone('UTC', %s) > pg_catalog.timezone('UTC', pg_catalog.now()) + %s::pg_catalog.interval",
												 instant, dq_literal(tolerance ? tolerance : "0")));
}

const CheckKind dq_kind_not_future = {
	.name = "not_future",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = not_future_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_not_future);

/*
 * expect_not_future(target, column_name, tolerance, and the common arguments)
 * declares that a column is not after now, or not by more than a tolerance.
 */
Datum
dq_gate_expect_not_future(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_not_future);
	Column	   *column = dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));

	dq_require_instant(decl, column);
	decl->params = dq_set_param(decl->params, "tolerance", dq_interval_argument(fcinfo, 2, "tolerance"));
	dq_declare_common(fcinfo, 3, decl);
	return dq_finish_declaration(fcinfo, decl);
}
