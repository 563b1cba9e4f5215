/*
 * series.c
 *		Every hour, day or number between two ends is there.
 *
 * A step is there if some row has a value in it, from its beginning to the
 * beginning of the next one.  Steps are numbered, so that values of every type
 * find theirs by binary search, months of different length included.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "columns.h"
#include "declare.h"
#include "expression.h"
#include "kinds/instant.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/* More steps than this are a slip of the ends */
#define MAX_STEPS		"10000000"

static bool
is_whole_number(Oid base)
{
	return base == INT2OID || base == INT4OID || base == INT8OID;
}

/* A value on the scale of the series: int8, or timestamp in UTC */
static char *
scaled_sql(const char *value, Oid type)
{
	if (is_whole_number(type))
		return psprintf("(%s)::pg_catalog.int8", value);
	if (type == TIMESTAMPTZOID)
		return psprintf("pg_catalog.timezone('UTC', %s)", value);
	return psprintf("(%s)::pg_catalog.timestamp", value);
}

/* How many steps lie between the ends, as far as it takes to refuse too many */
static const char *
steps_sql(bool whole)
{
	return whole ? "(e.hi::pg_catalog.numeric - e.lo) / e.step" :
		"pg_catalog.date_part('epoch', e.hi - e.lo) / pg_catalog.date_part('epoch', e.step)";
}

static void
series_compile(Check *check, const ColumnMap *map)
{
	char	   *column_name = linitial(check->columns);
	const char *name = quote_identifier(column_name);
	List	   *by = list_copy_tail(check->columns, 1);
	char	   *step = dq_param(check->params, "step_resolved");
	char	   *from = dq_param(check->params, "from_resolved");
	char	   *to = dq_param(check->params, "to_resolved");
	Column	   *column;
	Oid			base;
	bool		whole;
	const char *type;
	char	   *value;
	char	   *picked;
	StringInfoData batch_by;
	StringInfoData out_by;
	StringInfoData by_json;
	StringInfoData by_words;
	StringInfoData group_words;
	ListCell   *lc;

	check->rule = psprintf("%s has every %s from %s to %s%s%s", name, dq_param(check->params, "step"),
						   from ? dq_param(check->params, "from") : "its first",
						   to ? dq_param(check->params, "to") : "its last",
						   by ? ", for each " : "", by ? dq_tuple_names(by) : "");
	check->complaint = psprintf("%s has gaps", name);
	check->threshold = "no gap";
	column = dq_usable_column(check, map, column_name);
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;
	base = getBaseType(column->typid);
	if (!is_whole_number(base) && !dq_is_instant(base))
	{
		check->broken = psprintf("type %s of column %s has no steps", format_type_be(column->typid), name);
		return;
	}
	whole = is_whole_number(base);
	type = whole ? "pg_catalog.int8" : "pg_catalog.timestamp";
	value = scaled_sql(psprintf("batch.%s", name), base);
	picked = whole ? psprintf("%s AND %s IS NOT NULL", dq_picked_sql(check), value) :
		psprintf("%s AND pg_catalog.isfinite(batch.%s)", dq_picked_sql(check), name);
	if (from == NULL || to == NULL)
		check->observed_sql = psprintf("pg_catalog.jsonb_build_object("
									   "'lo', pg_catalog.min(%1$s) FILTER (WHERE %2$s), 'hi', pg_catalog.max(%1$s) FILTER (WHERE %2$s))::pg_catalog.text",
									   value, picked);

	initStringInfo(&batch_by);
	initStringInfo(&out_by);
	initStringInfo(&by_json);
	initStringInfo(&by_words);
	initStringInfo(&group_words);
	foreach(lc, by)
	{
		int			no = foreach_current_index(lc) + 1;

		appendStringInfo(&batch_by, ", batch.%s AS by_%d", quote_identifier(lfirst(lc)), no);
		appendStringInfo(&out_by, ", by_%d", no);
		appendStringInfo(&by_json, "%s, by_%d, ", dq_literal(lfirst(lc)), no);
		appendStringInfo(&by_words, "%sby_%d", no > 1 ? ", " : "", no);
		appendStringInfo(&group_words, "COALESCE(by_%d::pg_catalog.text, 'NULL') || ' ' || ", no);
	}

	check->judge_sql = psprintf("WITH e (lo, hi, step) AS MATERIALIZED (SELECT %1$s, %2$s, %3$s::%4$s),"
								" g (steps, count) AS MATERIALIZED (SELECT pg_catalog.array_agg(s ORDER BY s), pg_catalog.count(*)"
								"  FROM e, pg_catalog.generate_series(e.lo, e.hi, e.step) AS s"
								"  WHERE %5$s <= " MAX_STEPS "),"
								" present AS MATERIALIZED (SELECT DISTINCT CASE WHEN %6$s >= e.lo AND %17$s THEN"
								"  pg_catalog.width_bucket(%6$s, g.steps)::pg_catalog.int8 END AS no%7$s FROM e, g, %8$s WHERE %9$s),"
								/* no EXCEPT, whose hash table does not spill to disk */
								" missing AS (SELECT no%10$s FROM (SELECT n.no%10$s, false AS found FROM g, pg_catalog.generate_series(1, g.count) AS n (no)%11$s"
								"  UNION ALL SELECT no%10$s, true FROM present) AS u GROUP BY no%10$s HAVING NOT pg_catalog.bool_or(found)),"
								" gaps AS MATERIALIZED (SELECT pg_catalog.min(no) AS first, pg_catalog.max(no) AS last, pg_catalog.count(*) AS count%10$s"
								"  FROM (SELECT m.*, m.no - pg_catalog.row_number() OVER (%12$s ORDER BY m.no) AS island FROM missing AS m) AS i"
								"  GROUP BY island%10$s),"
								" found (missing, gaps, present) AS (SELECT COALESCE(pg_catalog.sum(count), 0), pg_catalog.count(*),"
								"  (SELECT pg_catalog.count(no) FROM present) FROM gaps)"
								" SELECT (f.missing = 0 AND f.present > 0) IS NOT TRUE,"
								" pg_catalog.format('%%s of %%s steps missing', f.missing, f.missing + f.present),"
								" CASE WHEN e.lo IS NULL OR e.hi IS NULL THEN 'nobody knows where the series begins and ends'"
								" WHEN e.lo > e.hi THEN 'the series ends before it begins'"
								" WHEN %5$s > " MAX_STEPS " THEN 'the series has more than " MAX_STEPS " steps'"
								" ELSE %13$s || ': ' || pg_catalog.format('%%s of %%s steps missing', f.missing, f.missing + f.present)"
								" || COALESCE((SELECT ', ' || pg_catalog.string_agg(l.words, '; ' ORDER BY l.first%10$s) FROM (SELECT x.*,"
								" %14$s g.steps[x.first] || CASE WHEN x.count > 1 THEN ' to ' || g.steps[x.last] ELSE '' END AS words"
								" FROM gaps AS x ORDER BY first%10$s LIMIT %15$d) AS l), '')"
								" || CASE WHEN f.gaps > %15$d THEN '; ...' ELSE '' END END,"
								" (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(%16$s%18$s, g.steps[x.first], %19$s, g.steps[x.last],"
								" %20$s, x.count) ORDER BY x.first%10$s) FROM (SELECT * FROM gaps ORDER BY first%10$s LIMIT %15$d) AS x)"
								" FROM e, g, found AS f",
								from ? from : psprintf("($2::pg_catalog.jsonb ->> 'lo')::%s", type),
								to ? to : psprintf("($2::pg_catalog.jsonb ->> 'hi')::%s", type),
								dq_literal(step), whole ? "pg_catalog.int8" : "pg_catalog.interval",
								steps_sql(whole), value, batch_by.data, dq_source_sql(map, "batch"), dq_picked_sql(check),
								out_by.data,
								by ? psprintf(", (SELECT DISTINCT %s FROM present) AS b", by_words.data) : "",
								by ? psprintf("PARTITION BY %s", by_words.data) : "",
								dq_literal(check->complaint),
								group_words.data,
								DQ_SAMPLE_ROWS, by_json.data,
								whole ? psprintf("(%s)::pg_catalog.numeric < g.steps[g.count]::pg_catalog.numeric + e.step", value) :
								psprintf("%s < g.steps[g.count] + e.step", value),
								dq_literal(dq_free_name("from", by)), dq_literal(dq_free_name("to", by)),
								dq_literal(dq_free_name("missing", by)));
}

const CheckKind dq_kind_series = {
	.name = "series",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.observes_number = true,
	.judges_empty = true,
	.compile = series_compile,
};

/* A step as text; refuse one that leads nowhere */
static char *
declared_step(const char *text, Oid base)
{
	char	   *step = pstrdup(text);
	Oid			type = is_whole_number(base) ? INT8OID : INTERVALOID;
	Interval	zero = {0};
	ErrorData  *error;
	Datum		value;
	Identity	saved;
	bool		known;

	dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
	known = dq_try_value(type, &step, &value, &error);
	dq_resume(&saved);
	if (!known)
		ereport(ERROR,
				(errcode(error->sqlerrcode),
				 errmsg("step \"%s\" is no %s", text, format_type_be(type)),
				 errhint("Such as '1 hour' for points in time, or '1' for whole numbers.")));
	if (type == INT8OID ? DatumGetInt64(value) <= 0 :
		DatumGetInt32(DirectFunctionCall2(interval_cmp, value, IntervalPGetDatum(&zero))) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("step \"%s\" leads nowhere", text)));
	return step;
}

/* A literal as the column would understand it, where it has no time zone in UTC */
static char *
end_literal(char *text, Oid base)
{
	ErrorData  *error;
	Datum		value;
	Identity	saved;
	bool		known;

	dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
	dq_pin_setting("TimeZone", "UTC");
	known = dq_try_value(base, &text, &value, &error);
	dq_resume(&saved);
	if (!known)
		ReThrowError(error);
	return psprintf("%s::%s", dq_literal(text), dq_type_sql(base, -1));
}

/* An end of the series: an expression that stands for itself */
static void
declare_end(Declaration *decl, FunctionCallInfo fcinfo, int arg, const char *name, Oid base)
{
	char	   *typed = dq_optional_text(fcinfo, arg);
	DqErrorContext context;
	Query	   *query;
	Node	   *expression;
	Oid			type;
	List	   *columns;
	char	   *resolved;

	if (typed == NULL)
		return;
	dq_push_context(&context, "argument %s_", name);
	query = (Query *) dq_parse_scalar(typed);
	expression = (Node *) linitial_node(TargetEntry, query->targetList)->expr;
	type = getBaseType(exprType(expression));
	if (type == TEXTOID && IsA(expression, Const) && !((Const *) expression)->constisnull)
	{
		resolved = end_literal(TextDatumGetCString(((Const *) expression)->constvalue), base);
		decl->params = dq_set_param(decl->params, name, typed);
		decl->params = dq_set_param(decl->params, psprintf("%s_resolved", name), scaled_sql(resolved, base));
		dq_pop_context(&context);
		return;
	}
	if ((is_whole_number(base) ? !is_whole_number(type) : !dq_is_instant(type)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("an end of the series cannot be of type %s, since column %s is of type %s",
						format_type_be(type), quote_identifier(linitial(decl->columns)),
						format_type_be(base))));
	resolved = psprintf("(%s)", dq_declare_meaning(decl, "an end of the series", (Node *) query, &columns));
	decl->params = dq_set_param(decl->params, name, typed);
	decl->params = dq_set_param(decl->params, psprintf("%s_resolved", name), scaled_sql(resolved, type));
	dq_pop_context(&context);
}

PG_FUNCTION_INFO_V1(dq_gate_expect_series);

/*
 * expect_series(target, column_name, step, from_, to_, by_columns, and the
 * common arguments) declares that a column has a value in every step between
 * two ends, for each group of rows if there are columns to group by.
 */
Datum
dq_gate_expect_series(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_series);
	char	   *name = dq_required_text(fcinfo, 1, "column_name");
	List	   *columns = list_make1(name);
	Column	   *column;
	Oid			base;
	char	   *step;

	if (!PG_ARGISNULL(5))
	{
		List	   *by = dq_required_names(fcinfo, 5, "by_columns");

		if (dq_has_name(by, name))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column %s cannot be the series and one of \"by_columns\"",
							quote_identifier(name))));
		columns = list_concat(columns, by);
	}
	column = dq_declare_columns(decl, columns);
	dq_require_equality(decl);
	base = getBaseType(column->typid);
	if (!is_whole_number(base) && !dq_is_instant(base))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("column %s of gate %s has type %s, which has no steps",
						quote_identifier(column->name), decl->gate->name,
						format_type_be(column->typid)),
				 errhint("A whole number, a date, a timestamp or a timestamp with time zone has.")));
	step = dq_required_text(fcinfo, 2, "step");
	decl->params = dq_set_param(decl->params, "step", step);
	decl->params = dq_set_param(decl->params, "step_resolved", declared_step(step, base));
	declare_end(decl, fcinfo, 3, "from", base);
	declare_end(decl, fcinfo, 4, "to", base);
	dq_declare_common(fcinfo, 6, decl);
	return dq_finish_declaration(fcinfo, decl);
}
