/*
 * reconciled.c
 *		The batch is what its source has: as many rows, the same sums, the same
 *		keys.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "kinds/totals.h"
#include "params.h"
#include "spi_util.h"

/*
 * The keys of one side that the other side lacks; NULLs are one key here.
 * Grouped, since the hash table of an EXCEPT does not spill to disk.
 */
static const char *
lacking_sql(List *keys, const char *source, const char *condition,
			const char *other_source, const char *other_condition)
{
	const char *found = quote_identifier(dq_free_name("found", keys));
	StringInfoData columns;
	StringInfoData names;

	if (keys == NIL)
		return "SELECT 1 WHERE false";
	initStringInfo(&columns);
	dq_append_names(&columns, keys, "batch.");
	initStringInfo(&names);
	dq_append_names(&names, keys, "u.");
	return psprintf("SELECT %7$s FROM (SELECT %1$s, false AS %6$s FROM %2$s WHERE %3$s"
					" UNION ALL SELECT %1$s, true FROM %4$s WHERE %5$s) AS u"
					" GROUP BY %7$s HAVING NOT pg_catalog.bool_or(u.%6$s)",
					columns.data, source, condition, other_source, other_condition, found, names.data);
}

/* Some of them as jsonb, under the name of their side; empty if there are none */
static char *
some_sql(const char *side)
{
	return psprintf("CASE WHEN k.%2$s > 0 THEN pg_catalog.jsonb_build_object(%1$s, (SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(s.*))"
					" FROM (SELECT * FROM %2$s LIMIT %3$d) AS s)) ELSE '{}' END",
					dq_literal(side), side, DQ_SAMPLE_ROWS);
}

static void
reconciled_compile(Check *check, const ColumnMap *map)
{
	char	   *key = dq_param(check->params, "key");
	char	   *rows = dq_param(check->params, "other_rows");
	char	   *tolerance = dq_param(check->params, "tolerance");
	List	   *sums = NIL;
	List	   *keys = NIL;
	char	   *table;
	char	   *source;
	char	   *batch;

	if (key)
		keys = dq_text_list(dq_array_from_text(key));
	if (dq_param(check->params, "sums"))
		sums = dq_text_list(dq_array_from_text(dq_param(check->params, "sums")));
	check->rule = "the batch has what its source has";
	check->complaint = "the batch differs from its source";
	table = dq_other_table(check);
	if (table == NULL)
		return;
	check->rule = psprintf("the batch has what %s has%s%s: as many rows%s%s%s%s", table,
						   rows ? " where " : "", rows ? dq_param(check->params, "source_filter") : "",
						   sums ? ", the sums of " : "", sums ? dq_list_names(sums) : "",
						   keys ? ", the keys " : "", keys ? dq_tuple_names(keys) : "");
	check->complaint = psprintf("the batch differs from %s", table);
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;

	source = psprintf("%s AS batch", table);
	batch = dq_source_sql(map, "batch");
	if (rows == NULL)
		rows = "true";
	check->observed_sql = dq_totals_sql(sums, dq_picked_sql(check));

	check->judge_sql = psprintf("WITH w (totals) AS MATERIALIZED (SELECT (%1$s)::pg_catalog.jsonb FROM %2$s WHERE %3$s),"
								" missing AS MATERIALIZED (%4$s), extra AS MATERIALIZED (%5$s),"
								" k (missing, extra) AS (SELECT (SELECT pg_catalog.count(*) FROM missing), (SELECT pg_catalog.count(*) FROM extra))"
								" SELECT d.differs IS NOT FALSE OR k.missing + k.extra > 0,"
								" d.actual || CASE WHEN %8$s THEN pg_catalog.format(', keys: %%s missing, %%s extra', k.missing, k.extra) ELSE '' END,"
								" %9$s || ': ' || pg_catalog.concat_ws('; ', d.finding,"
								" CASE WHEN k.missing > 0 THEN k.missing || ' key' || CASE WHEN k.missing = 1 THEN '' ELSE 's' END || ' missing' END,"
								" CASE WHEN k.extra > 0 THEN k.extra || ' key' || CASE WHEN k.extra = 1 THEN '' ELSE 's' END || ' extra' END),"
								" CASE WHEN k.missing + k.extra > 0 THEN %6$s || %7$s END"
								" FROM w, k, LATERAL %10$s AS d (differs, actual, finding)",
								dq_totals_sql(sums, "true"), source, rows,
								lacking_sql(keys, source, rows, batch, dq_picked_sql(check)),
								lacking_sql(keys, batch, dq_picked_sql(check), source, rows),
								some_sql("missing"), some_sql("extra"),
								keys ? "true" : "false",
								dq_literal(check->complaint),
								dq_differences_sql(lcons(DQ_ROW_COUNT, list_copy(sums)), "w.totals",
												   tolerance ? tolerance : "0"));
}

const CheckKind dq_kind_reconciled = {
	.name = "reconciled",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.judges_empty = true,
	.compile = reconciled_compile,
};

/* See that the two sides can be compared, as an error that names the check */
typedef struct Comparison
{
	char	   *sql;
} Comparison;

static void
compare_step(void *arg)
{
	dq_parse_statement(((Comparison *) arg)->sql);
}

static void
require_comparable(const Declaration *decl, List *keys, List *sums)
{
	Comparison	comparison;
	StringInfoData columns;
	StringInfoData added;
	ErrorData  *error;
	Identity	saved;
	ListCell   *lc;
	bool		done;

	initStringInfo(&columns);
	dq_append_names(&columns, keys, "batch.");
	initStringInfo(&added);
	foreach(lc, sums)
		appendStringInfo(&added, ", pg_catalog.sum(batch.%s)::pg_catalog.numeric", quote_identifier(lfirst(lc)));
	comparison.sql = psprintf("SELECT pg_catalog.count(*)%s FROM %s AS batch WHERE false%s%s",
							  added.data, dq_relation_sql(decl->ref_table),
							  keys == NIL ? "" : " AND EXISTS (",
							  keys == NIL ? "" : psprintf("SELECT %1$s FROM %2$s AS batch EXCEPT SELECT %1$s FROM %3$s AS batch)",
														  columns.data, dq_relation_sql(decl->gate->target),
														  dq_relation_sql(decl->ref_table)));
	dq_assume(&saved, decl->gate->run_as, PHASE_AUDIT);
	done = dq_attempt(compare_step, &comparison, &error);
	dq_resume(&saved);
	if (!done)
		ereport(ERROR,
				(errcode(error->sqlerrcode),
				 errmsg("%s cannot be compared with %s", decl->gate->name, dq_relation_sql(decl->ref_table)),
				 errdetail("%s", dq_error_text(error)),
				 errhint("Columns are compared under the same names; where the source has others, make a view and name that.")));
}

PG_FUNCTION_INFO_V1(dq_gate_expect_reconciled);

/*
 * expect_reconciled(target, source_table, key, sums, source_filter, tolerance,
 * and the common arguments) declares that the batch has the rows, the sums and
 * the keys that another table has.
 */
Datum
dq_gate_expect_reconciled(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_reconciled);
	List	   *keys = NIL;
	List	   *sums = PG_ARGISNULL(3) ? NIL : dq_required_names(fcinfo, 3, "sums");

	if (PG_ARGISNULL(2))
		keys = dq_column_names(decl->map->key);
	/* no columns at all: the rows and the sums are enough */
	else if (dq_text_list(PG_GETARG_DATUM(2)) != NIL)
		keys = dq_required_names(fcinfo, 2, "key");
	dq_declare_columns(decl, sums);
	dq_require_sums(decl, sums);
	dq_declare_columns(decl, keys);
	dq_require_equality(decl);
	decl->columns = dq_add_names(list_copy(keys), sums);
	dq_declare_other(decl, dq_required_oid(fcinfo, 1, "source_table"), "source_filter",
					 dq_optional_text(fcinfo, 4));
	require_comparable(decl, keys, sums);
	if (keys != NIL)
		decl->params = dq_set_param(decl->params, "key", dq_array_as_text(dq_text_array(keys)));
	if (sums != NIL)
		decl->params = dq_set_param(decl->params, "sums", dq_array_as_text(dq_text_array(sums)));
	decl->params = dq_set_param(decl->params, "tolerance", dq_positive_argument(fcinfo, 5, "tolerance"));
	dq_declare_common(fcinfo, 6, decl);
	return dq_finish_declaration(fcinfo, decl);
}
