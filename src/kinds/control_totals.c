/*
 * control_totals.c
 *		The totals of a batch are those that its sender says: in a manifest
 *		table, or with the call.
 *
 * Totals that are given with a call are compared whether a check of them is
 * declared or not.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "columns.h"
#include "current_batch.h"
#include "declare.h"
#include "expression.h"
#include "kinds/kinds.h"
#include "kinds/totals.h"
#include "params.h"
#include "spi_util.h"

static void
control_totals_compile(Check *check, const ColumnMap *map)
{
	char	   *query = dq_param(check->params, "resolved");
	char	   *tolerance = dq_param(check->params, "tolerance");
	List	   *names = list_copy(check->columns);
	char	   *wanted;

	check->rule = psprintf("%s as %s%s%s",
						   names == NIL ? "number of rows" :
						   psprintf("number of rows and sums of %s", dq_list_names(names)),
						   query ? psprintf("in: %s", dq_param(check->params, "query")) : "given with the call",
						   tolerance ? ", give or take " : "", tolerance ? tolerance : "");
	check->complaint = "totals differ";
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;

	check->observed_sql = dq_totals_sql(names, dq_picked_sql(check));
	/* a sender need not say how many rows there are, but is held to it */
	names = lcons(DQ_ROW_COUNT, names);
	if (query)
		/* one row of what may by mistake be many */
		wanted = psprintf("SELECT pg_catalog.count(*), pg_catalog.min(pg_catalog.to_jsonb(m.*)::pg_catalog.text)::pg_catalog.jsonb"
						  " FROM (%s) AS m", query);
	else
		wanted = psprintf("SELECT pg_catalog.count(*), (pg_catalog.array_agg(m.totals))[1]"
						  " FROM (SELECT pg_catalog.current_setting('" DQ_TOTALS_SETTING "')) AS s (given),"
						  " LATERAL (SELECT s.given::pg_catalog.jsonb WHERE s.given <> '') AS m (totals)");
	check->judge_sql = psprintf("WITH w (rows, totals) AS MATERIALIZED (%1$s)"
								" SELECT w.rows <> 1 OR d.differs IS NOT FALSE, d.actual,"
								" CASE WHEN w.rows = 1 THEN %2$s || ': ' || d.finding"
								" ELSE %3$s || CASE WHEN w.rows > 1 THEN pg_catalog.format(': %%s rows', w.rows) ELSE '' END END,"
								" NULL::pg_catalog.jsonb FROM w, LATERAL %4$s AS d (differs, actual, finding)",
								wanted, dq_literal(check->complaint),
								dq_literal(query ? "the query for the totals must return one row" :
										   "no totals were given with the call"),
								dq_differences_sql(names,
												   psprintf("(CASE WHEN w.totals ? '" DQ_ROW_COUNT "' THEN '{}'::pg_catalog.jsonb"
															" ELSE pg_catalog.jsonb_build_object('" DQ_ROW_COUNT "',"
															" $2::pg_catalog.jsonb -> '" DQ_ROW_COUNT "') END || w.totals)"),
												   tolerance ? tolerance : "0"));
}

const CheckKind dq_kind_control_totals = {
	.name = "control_totals",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.judges_empty = true,
	.compile = control_totals_compile,
};

/*
 * The names of the totals given with a call that are sums of columns.  What
 * cannot be compared is an error before anything is done.
 */
List *
dq_given_totals(const char *totals, const ColumnMap *map)
{
	Oid			types[1] = {TEXTOID};
	Datum		values[1] = {CStringGetTextDatum(totals)};
	List	   *names = NIL;
	uint64		count;

	if (totals[0] != '{')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"totals\" must be a JSON object"),
				 errhint("Such as {\"row_count\": 24, \"amount\": 100.10}, with the sum of each column.")));
	count = dq_execute("SELECT t.key, pg_catalog.jsonb_typeof(t.value) = 'number'"
					   " FROM pg_catalog.jsonb_each($1::pg_catalog.jsonb) AS t"
					   " ORDER BY t.key COLLATE \"C\"",
					   1, types, values, NULL, true);
	for (uint64 row = 0; row < count; row++)
	{
		char	   *name = dq_result_text(row, 1);
		Column	   *column = dq_find_column(map, name);
		bool		isnull;

		if (!DatumGetBool(dq_result_datum(row, 2, &isnull)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("total %s must be a number", quote_identifier(name))));
		if (strcmp(name, DQ_ROW_COUNT) == 0)
			continue;
		if (column == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("total %s is that of no column of %s", quote_identifier(name), map->target_sql),
					 errhint("Totals are named like the columns that they are the sums of, and \"%s\".",
							 DQ_ROW_COUNT)));
		if (!dq_is_number(column->typid))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column %s of %s has type %s, which cannot be added up",
							quote_identifier(name), map->target_sql, format_type_be(column->typid))));
		names = lappend(names, name);
	}
	dq_free_result();
	return names;
}

PG_FUNCTION_INFO_V1(dq_gate_expect_control_totals);

/*
 * expect_control_totals(target, columns, query, tolerance, and the common
 * arguments) declares that the number of rows and the sums of columns are
 * those that a query finds, or that come with the call.
 */
Datum
dq_gate_expect_control_totals(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_control_totals);
	char	   *query = dq_optional_text(fcinfo, 2);

	if (!PG_ARGISNULL(1))
	{
		dq_declare_columns(decl, dq_required_names(fcinfo, 1, "columns"));
		dq_require_sums(decl, decl->columns);
	}
	decl->params = dq_set_param(decl->params, "tolerance", dq_positive_argument(fcinfo, 3, "tolerance"));
	dq_declare_common(fcinfo, 4, decl);
	if (query)
	{
		List	   *columns;

		decl->params = dq_set_param(decl->params, "query", query);
		decl->params = dq_set_param(decl->params, "resolved",
									dq_declare_meaning(decl, "a query", dq_parse_query(query), &columns));
	}
	return dq_finish_declaration(fcinfo, decl);
}
