/*
 * row_count_match.c
 *		As many rows as another table has, give or take.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

static void
row_count_match_compile(Check *check, const ColumnMap *map)
{
	char	   *min_ratio = dq_param(check->params, "min_ratio");
	char	   *max_ratio = dq_param(check->params, "max_ratio");
	char	   *max_variance = dq_param(check->params, "max_variance");
	char	   *rows = dq_param(check->params, "other_rows");
	char	   *words;
	char	   *table;
	StringInfoData rule;

	if (max_variance)
		words = psprintf("within %s%%", max_variance);
	else
		words = psprintf("%s times as many", dq_bounds_words(min_ratio, max_ratio));
	check->threshold = words;
	check->rule = "number of rows as in another table";
	check->complaint = "another number of rows than in the other table";
	table = dq_other_table(check);
	if (table == NULL)
		return;
	check->rule = psprintf("number of rows as in %s%s%s, %s", table, rows ? " where " : "",
						   rows ? dq_param(check->params, "ref_filter") : "", words);
	check->complaint = psprintf("not as many rows as in %s, %s", table, words);

	/* without rows in the other table there is no ratio, but none is as many as none */
	initStringInfo(&rule);
	if (max_variance)
		appendStringInfo(&rule, "CASE WHEN r.other = 0 THEN $1 = 0"
						 " ELSE pg_catalog.abs($1 - r.other) * 100 <= %s::pg_catalog.numeric * r.other END",
						 dq_literal(max_variance));
	else
	{
		appendStringInfoString(&rule, "r.other > 0");
		if (min_ratio)
			appendStringInfo(&rule, " AND $1 >= %s::pg_catalog.numeric * r.other", dq_literal(min_ratio));
		if (max_ratio)
			appendStringInfo(&rule, " AND $1 <= %s::pg_catalog.numeric * r.other", dq_literal(max_ratio));
	}
	check->judge_sql = psprintf("SELECT (%1$s) IS NOT TRUE,"
								" pg_catalog.format('%%s to %%s rows', $1, r.other),"
								" pg_catalog.format('%%s: %%s to %%s rows, %%s', %2$s::pg_catalog.text, $1, r.other,"
								" CASE WHEN r.other = 0 THEN 'no ratio to none' ELSE"
								" pg_catalog.trim_scale(pg_catalog.round($1 * 100 / r.other, 2)) || '%%' END),"
								" NULL::pg_catalog.jsonb"
								" FROM (SELECT pg_catalog.count(*)::pg_catalog.numeric FROM %3$s AS batch%4$s%5$s) AS r (other)",
								rule.data, dq_literal(check->complaint), table,
								rows ? " WHERE " : "", rows ? rows : "");
}

const CheckKind dq_kind_row_count_match = {
	.name = "row_count_match",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.judges_empty = true,
	.observes_counts = true,
	.compile = row_count_match_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_row_count_match);

/*
 * expect_row_count_match(target, ref_table, min_ratio, max_ratio,
 * max_variance, ref_filter, and the common arguments) declares that a batch
 * has as many rows as another table, or nearly so: by a ratio of the two, or
 * by a difference in percent of the other.
 */
Datum
dq_gate_expect_row_count_match(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_row_count_match);
	char	   *min_ratio = dq_positive_argument(fcinfo, 2, "min_ratio");
	char	   *max_ratio = dq_positive_argument(fcinfo, 3, "max_ratio");
	char	   *max_variance = dq_positive_argument(fcinfo, 4, "max_variance");

	if (max_variance && (min_ratio || max_ratio))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("give a ratio or \"max_variance\", not both")));
	dq_check_order("min_ratio", min_ratio, "max_ratio", max_ratio);
	if (!max_variance && !min_ratio && !max_ratio)
		max_variance = "0";
	decl->params = dq_set_param(decl->params, "min_ratio", min_ratio);
	decl->params = dq_set_param(decl->params, "max_ratio", max_ratio);
	decl->params = dq_set_param(decl->params, "max_variance", max_variance);
	dq_declare_other(decl, dq_required_oid(fcinfo, 1, "ref_table"), "ref_filter",
					 dq_optional_text(fcinfo, 5));
	dq_declare_common(fcinfo, 6, decl);
	return dq_finish_declaration(fcinfo, decl);
}
