/*
 * null_rate.c
 *		How many of the values of many columns may be missing.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/* All columns that come with the batch, but for the key, which has no NULL */
static List *
all_columns(const ColumnMap *map)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (!column->is_key && column->generated == '\0' &&
			(column->staged || !OidIsValid(map->staging)) && column->fit != FIT_NEVER)
			names = lappend(names, column->name);
	}
	return names;
}

static void
null_rate_compile(Check *check, const ColumnMap *map)
{
	char	   *max = dq_param(check->params, "max_null_rate");
	char	   *percent = dq_param(check->params, "percent");
	char	   *rows = psprintf("pg_catalog.count(*) FILTER (WHERE %s)", dq_picked_sql(check));
	bool		all = check->columns == NIL;
	StringInfoData failure;
	StringInfoData observed;
	ListCell   *lc;

	if (all)
		check->columns = all_columns(map);
	check->rule = psprintf("at most %s NULL in %s", percent,
						   all ? "each column" : dq_list_names(check->columns));
	check->complaint = psprintf("more than %s NULL", percent);
	check->threshold = percent;
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;
	if (check->columns == NIL)
	{
		check->unjudged = "the batch has no column but the key";
		return;
	}

	initStringInfo(&failure);
	initStringInfo(&observed);
	foreach(lc, check->columns)
	{
		char	   *rate = psprintf("(pg_catalog.count(*) FILTER (WHERE %s AND %s)::pg_catalog.float8 / NULLIF(%s, 0))",
									dq_picked_sql(check),
									dq_null_sql(dq_find_column(map, lfirst(lc))), rows);

		appendStringInfo(&failure, "%s%s > %s::pg_catalog.float8",
						 failure.len > 0 ? " OR " : "", rate, dq_literal(max));
		appendStringInfo(&observed, "%sCASE WHEN %s > %s::pg_catalog.float8 THEN %s || ' ' ||"
						 " pg_catalog.trim_scale(pg_catalog.round((%s * 100)::pg_catalog.numeric, 2)) || '%%' END",
						 observed.len > 0 ? ", " : "", rate, dq_literal(max),
						 dq_literal(quote_identifier(lfirst(lc))), rate);
	}
	check->aggregate_sql = psprintf("(%s) IS TRUE", failure.data);
	check->observed_sql = psprintf("COALESCE(NULLIF(pg_catalog.array_to_string(ARRAY[%s], ', '), ''), 'no column above')",
								   observed.data);
}

const CheckKind dq_kind_null_rate = {
	.name = "null_rate",
	.evaluation = EVAL_AGGREGATE,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.observes_counts = true,
	.compile = null_rate_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_null_rate);

/*
 * expect_null_rate(target, max_null_rate, columns, and the common arguments)
 * declares how many values of each of the columns may be missing; without
 * columns, of all but the key.
 */
Datum
dq_gate_expect_null_rate(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_null_rate);
	Identity	saved;

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"max_null_rate\" must not be NULL")));
	if (!(PG_GETARG_FLOAT8(1) >= 0 && PG_GETARG_FLOAT8(1) <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_null_rate cannot be %g", PG_GETARG_FLOAT8(1)),
				 errhint("It is a rate from 0 to 1, such as 0.01 for one row in a hundred.")));
	/* with all its digits, whatever the session shows */
	dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
	decl->params = dq_set_param(decl->params, "max_null_rate",
								DatumGetCString(DirectFunctionCall1(float8out, PG_GETARG_DATUM(1))));
	dq_resume(&saved);
	decl->params = dq_set_param(decl->params, "percent", psprintf("%g%%", PG_GETARG_FLOAT8(1) * 100));
	if (!PG_ARGISNULL(2))
		dq_declare_columns(decl, dq_required_names(fcinfo, 2, "columns"));
	dq_declare_common(fcinfo, 3, decl);
	return dq_finish_declaration(fcinfo, decl);
}
