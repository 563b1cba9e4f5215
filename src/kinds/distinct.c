/*
 * distinct.c
 *		How many different values columns have, as a number or as a share of
 *		the rows that have a value.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/* The bounds that the kind knows, and what each is compared with */
static const struct
{
	const char *name;
	const char *comparison;
	const char *value;
	const char *words;
}			bounds[] =
{
	{"min", ">=", "found.different", "at least %s"},
	{"max", "<=", "found.different", "at most %s"},
	{"min_rate", ">=", "found.different / NULLIF(found.valued, 0)", "at least %s of the rows"},
	{"max_rate", "<=", "found.different / NULLIF(found.valued, 0)", "at most %s of the rows"},
};

static void
distinct_compile(Check *check, const ColumnMap *map)
{
	StringInfoData words;
	StringInfoData rule;
	StringInfoData columns;

	initStringInfo(&words);
	initStringInfo(&rule);
	for (int i = 0; i < (int) lengthof(bounds); i++)
	{
		char	   *bound = dq_param(check->params, psprintf("distinct_%s", bounds[i].name));

		if (bound == NULL)
			continue;
		if (words.len > 0)
			appendStringInfoString(&words, ", ");
		appendStringInfo(&words, bounds[i].words, bound);
		appendStringInfo(&rule, "%s%s %s %s::pg_catalog.numeric", rule.len > 0 ? " AND " : "",
						 bounds[i].value, bounds[i].comparison, dq_literal(bound));
	}
	check->rule = psprintf("number of distinct %s %s", dq_tuple_names(check->columns), words.data);
	check->complaint = psprintf("number of distinct %s not %s", dq_tuple_names(check->columns), words.data);
	check->threshold = words.data;
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;

	initStringInfo(&columns);
	dq_append_names(&columns, check->columns, "batch.");
	/* grouped rather than count(DISTINCT), which sorts */
	check->judge_sql = psprintf("WITH found AS (SELECT pg_catalog.count(*)::pg_catalog.numeric AS different,"
								" COALESCE(pg_catalog.sum(row_count), 0) AS valued FROM"
								" (SELECT pg_catalog.count(*) FROM %1$s WHERE NOT %2$s AND %3$s GROUP BY %4$s) AS groups (row_count)),"
								" said AS (SELECT (%5$s) IS NOT TRUE AS failed,"
								" different || ' in ' || valued || ' row' || CASE WHEN valued = 1 THEN '' ELSE 's' END AS actual"
								" FROM found)"
								" SELECT failed, actual, %6$s || ': ' || actual, NULL::pg_catalog.jsonb FROM said",
								dq_source_sql(map, "batch"), dq_any_null_sql(map, check->columns),
								dq_picked_sql(check), columns.data, rule.data,
								dq_literal(check->complaint));
}

const CheckKind dq_kind_distinct = {
	.name = "distinct",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.observes_number = true,
	.observes_counts = true,
	.compile = distinct_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_distinct);

/*
 * expect_distinct(target, columns, min, max, min_distinct_rate,
 * max_distinct_rate, and the common arguments) declares how many different
 * values columns have.
 */
Datum
dq_gate_expect_distinct(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"min", "max", "min_distinct_rate", "max_distinct_rate"};
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_distinct);
	char	   *values[lengthof(names)];
	bool		any = false;

	dq_declare_columns(decl, dq_required_names(fcinfo, 1, "columns"));
	dq_require_equality(decl);
	for (int i = 0; i < (int) lengthof(names); i++)
	{
		values[i] = dq_positive_argument(fcinfo, i + 2, names[i]);
		any = any || values[i] != NULL;
		decl->params = dq_set_param(decl->params, psprintf("distinct_%s", bounds[i].name), values[i]);
	}
	if (!any)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"distinct\" needs a bound"),
				 errhint("Give min, max, min_distinct_rate or max_distinct_rate.")));
	dq_check_order("min", values[0], "max", values[1]);
	dq_check_order("min_distinct_rate", values[2], "max_distinct_rate", values[3]);
	dq_check_order("min_distinct_rate", values[2], "the highest rate", "1");
	dq_check_order("max_distinct_rate", values[3], "the highest rate", "1");
	dq_declare_common(fcinfo, 6, decl);
	return dq_finish_declaration(fcinfo, decl);
}
