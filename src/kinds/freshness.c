/*
 * freshness.c
 *		The latest value of a column is no older than so much.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "columns.h"
#include "declare.h"
#include "kinds/instant.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

static void
freshness_compile(Check *check, const ColumnMap *map)
{
	const char *name = quote_identifier(linitial(check->columns));
	char	   *max_age = dq_param(check->params, "max_age");
	Column	   *column;
	char	   *latest;

	check->rule = psprintf("latest %s no older than %s", name, max_age);
	check->complaint = psprintf("latest %s is older than %s", name, max_age);
	column = dq_usable_column(check, map, linitial(check->columns));
	if (column == NULL)
		return;
	latest = dq_instant_sql(check, column);
	if (latest == NULL)
		return;
	/* infinity is fresh for ever; and a day has 24 hours, in every time zone */
	latest = psprintf("pg_catalog.timezone('UTC', pg_catalog.max(%1$s) FILTER (WHERE %2$s AND pg_catalog.isfinite(%1$s)))",
					  latest, dq_picked_sql(check));
	check->null_sql = dq_null_sql(column);
	/* no value at all is not fresh */
	check->aggregate_sql = psprintf("(%s >= pg_catalog.timezone('UTC', pg_catalog.now()) - %s::pg_catalog.interval) IS NOT TRUE",
									latest, dq_literal(max_age));
	check->observed_sql = psprintf("(%s)::pg_catalog.text || ' UTC'", latest);
}

const CheckKind dq_kind_freshness = {
	.name = "freshness",
	.evaluation = EVAL_AGGREGATE,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.judges_empty = true,
	.compile = freshness_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_freshness);

/*
 * expect_freshness(target, column_name, max_age, and the common arguments)
 * declares how old the latest value of a column may be.
 */
Datum
dq_gate_expect_freshness(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_freshness);
	Column	   *column = dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));
	Interval	zero = {0};

	dq_require_instant(decl, column);
	if (PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"max_age\" must not be NULL")));
	if (DatumGetInt32(DirectFunctionCall2(interval_cmp, PG_GETARG_DATUM(2),
										  PointerGetDatum(&zero))) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"max_age\" must be longer than nothing")));
	decl->params = dq_set_param(decl->params, "max_age", dq_interval_argument(fcinfo, 2, "max_age"));
	dq_declare_common(fcinfo, 3, decl);
	return dq_finish_declaration(fcinfo, decl);
}
