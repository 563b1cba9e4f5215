/*
 * within.c
 *		A point in time that is near another one: now, or the as_of of the run.
 *
 * Dates are compared with dates, everything else with instants; a timestamp
 * without time zone is read as UTC, and as_of is the midnight it begins with.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "columns.h"
#include "declare.h"
#include "kinds/instant.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/* The value as a timestamp */
static char *
value_sql(const Column *column)
{
	const char *name = quote_identifier(column->name);

	switch (getBaseType(column->typid))
	{
		case TIMESTAMPTZOID:
			return psprintf("pg_catalog.timezone('UTC', batch.%s)", name);
		case TIMESTAMPOID:
			return psprintf("batch.%s", name);
		case DATEOID:
			return psprintf("batch.%s::pg_catalog.timestamp", name);
		default:
			return NULL;
	}
}

/* What it is near to, as a timestamp as well */
static const char *
reference_sql(const Check *check, const Column *column)
{
	if (check->needs_as_of)
		return DQ_SCHEMA ".as_of()::pg_catalog.timestamp";
	if (getBaseType(column->typid) == DATEOID)
		return "pg_catalog.date_trunc('day', pg_catalog.timezone('UTC', pg_catalog.now()))";
	return "pg_catalog.timezone('UTC', pg_catalog.now())";
}

static void
within_compile(Check *check, const ColumnMap *map)
{
	const char *name = quote_identifier(linitial(check->columns));
	char	   *max_past = dq_param(check->params, "max_past");
	char	   *max_future = dq_param(check->params, "max_future");
	char	   *reference = dq_param(check->params, "reference");
	char	   *words;
	Column	   *column;
	char	   *value;
	StringInfoData failure;

	words = psprintf("%s%s%s", max_past ? psprintf("%s before", max_past) : "",
					 max_past && max_future ? " to " : "",
					 max_future ? psprintf("%s after", max_future) : "");
	check->rule = psprintf("%s at most %s %s", name, words, reference);
	check->complaint = psprintf("%s not at most %s %s", name, words, reference);
	check->needs_as_of = strcmp(reference, "as_of") == 0;
	column = dq_usable_column(check, map, linitial(check->columns));
	if (column == NULL)
		return;
	value = value_sql(column);
	if (value == NULL)
	{
		check->broken = psprintf("type %s of column %s is no point in time",
								 format_type_be(column->typid), name);
		return;
	}

	initStringInfo(&failure);
	if (max_past)
		appendStringInfo(&failure, "%s < %s - %s::pg_catalog.interval", value,
						 reference_sql(check, column), dq_literal(max_past));
	if (max_future)
		appendStringInfo(&failure, "%s%s > %s + %s::pg_catalog.interval", max_past ? " OR " : "",
						 value, reference_sql(check, column), dq_literal(max_future));
	check->null_sql = dq_null_sql(column);
	check->fail_sql = dq_value_rule_sql(check, column,
										psprintf("(%s) IS NOT FALSE", failure.data));
}

const CheckKind dq_kind_within = {
	.name = "within",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = within_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_within);

/*
 * expect_within(target, column_name, max_past, max_future, reference, and the
 * common arguments) declares how far a point in time may be from now or from
 * the as_of of the run.
 */
Datum
dq_gate_expect_within(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_within);
	Column	   *column = dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));
	char	   *reference = dq_required_text(fcinfo, 4, "reference");

	dq_require_instant(decl, column);
	if (PG_ARGISNULL(2) && PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"within\" needs max_past, max_future or both")));
	if (strcmp(reference, "now") != 0 && strcmp(reference, "as_of") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("reference \"%s\" is not known", reference),
				 errhint("It is \"now\" or \"as_of\".")));
	decl->params = dq_set_param(decl->params, "max_past", dq_interval_argument(fcinfo, 2, "max_past"));
	decl->params = dq_set_param(decl->params, "max_future", dq_interval_argument(fcinfo, 3, "max_future"));
	decl->params = dq_set_param(decl->params, "reference", reference);
	dq_declare_common(fcinfo, 5, decl);
	return dq_finish_declaration(fcinfo, decl);
}
