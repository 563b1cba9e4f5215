/*
 * metric.c
 *		A number that is compared with what it was in earlier batches.
 *
 * The number is an expression over the rows of the batch, or what another
 * check measured.  A method turns it and its history into a statistic, which
 * has to lie between two bounds; an open bound makes a check of one side.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "columns.h"
#include "declare.h"
#include "expression.h"
#include "history.h"
#include "kinds/baseline.h"
#include "kinds/kinds.h"
#include "kinds/totals.h"
#include "params.h"
#include "plan.h"
#include "spi_util.h"

/*
 * The methods: SQL for (usual, statistic) from rows h (value, time, no) and
 * the number x, and the bounds that go without saying.
 *
 * The robust z-score is that of Iglewicz and Hoaglin (How to Detect and Handle
 * Outliers, 1993): 0.6745 (x - median) / MAD, an outlier beyond 3.5; MAD has a
 * floor, so that a history without spread does not make an outlier of every
 * other value.  The forecast is the seasonal naive one with the standard
 * deviation of its own residuals (Hyndman and Athanasopoulos, Forecasting:
 * Principles and Practice, 5.5): what was a season ago, give or take 1.96
 * deviations for 95%.
 */
typedef struct Method
{
	const char *name;
	/* %1$s history h, %2$s floor, %3$s time of the batch, %4$s season, %5$s history e */
	const char *sql;
	const char *words;
	const char *min;
	const char *max;
} Method;

/* A difference in units of a spread, which may be none */
#define DEVIATIONS(value, usual, factor, spread) \
	"CASE WHEN " value " = " usual " THEN 0 WHEN " spread " > 0 THEN " factor " * (" value " - " usual ") / " spread \
	" ELSE pg_catalog.sign(" value " - " usual ") * 'Infinity'::pg_catalog.float8 END"

#define MEDIAN_OF(value) \
	"pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY " value ")"

static const Method methods[] = {
	{"ratio_to_median",
		"SELECT s.median, CASE WHEN s.median <> 0 THEN x.x / s.median WHEN x.x = 0 THEN 1 ELSE pg_catalog.sign(x.x) * 'Infinity'::pg_catalog.float8 END"
		" FROM x, (SELECT " MEDIAN_OF("h.value") " FROM %1$s) AS s (median)",
	"ratio to the median", "0.5", "2"},
	{"change",
		"SELECT h.value, " DEVIATIONS("x.x", "h.value", "1", "pg_catalog.abs(h.value)")
		" FROM x, %1$s WHERE h.no = 1",
	"relative change", "-0.5", "0.5"},
	{"zscore",
		"SELECT s.median, " DEVIATIONS("x.x", "s.median", "0.6745", "d.mad")
		" FROM x, (SELECT " MEDIAN_OF("h.value") " FROM %1$s) AS s (median),"
		" LATERAL (SELECT GREATEST(" MEDIAN_OF("pg_catalog.abs(h.value - s.median)") ","
		" 0.6745 * %2$s::pg_catalog.float8 * pg_catalog.abs(s.median)) FROM %1$s) AS d (mad)",
	"robust z-score", "-3.5", "3.5"},
	{"bounds",
		"SELECT NULL::pg_catalog.float8, x.x FROM x",
	"value", NULL, NULL},
	{"forecast",
		"SELECT f.value, " DEVIATIONS("x.x", "f.value", "1", "d.deviation")
		" FROM x, (SELECT h.value FROM %1$s WHERE h.time = %3$s::pg_catalog.timestamp - %4$s::pg_catalog.interval LIMIT 1) AS f (value),"
		" LATERAL (SELECT GREATEST(pg_catalog.sqrt(pg_catalog.avg((h.value - e.value) ^ 2)),"
		" %2$s::pg_catalog.float8 * pg_catalog.abs(f.value)) FROM %1$s, %5$s"
		" WHERE e.time = h.time - %4$s::pg_catalog.interval) AS d (deviation)",
	"deviations from the forecast", "-1.96", "1.96"},
};

static const Method *
find_method(const char *name)
{
	for (int i = 0; i < (int) lengthof(methods); i++)
	{
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	}
	return NULL;
}

static void
metric_compile(Check *check, const ColumnMap *map)
{
	const Method *method = find_method(dq_param(check->params, "method"));
	char	   *metric = dq_param(check->params, "metric");
	char	   *min = dq_param(check->params, "min");
	char	   *max = dq_param(check->params, "max");
	char	   *spread = dq_param(check->params, "min_spread");
	char	   *of = dq_param(check->params, "metric_of");
	char	   *lacking;

	check->threshold = psprintf("%s %s", method->words, dq_bounds_words(min, max));
	if (strcmp(method->name, "bounds") != 0)
		check->threshold = psprintf("%s of the %s", check->threshold, dq_grouping_words(check));
	check->rule = psprintf("%s%s: %s", of ? "what is measured by " : "", metric, check->threshold);
	check->complaint = psprintf("%s%s: %s not %s", of ? "what is measured by " : "", metric, method->words,
								dq_bounds_words(min, max));
	check->metric_of = of;
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;
	if (of == NULL)
		check->observed_sql = psprintf("pg_catalog.trim_scale((%s)::pg_catalog.numeric)::pg_catalog.text",
									   dq_param(check->params, "resolved"));
	if (check->history == NULL)
		return;
	lacking = strcmp(method->name, "bounds") != 0 ? dq_lacking_history(check) : NULL;
	if (lacking)
	{
		/* measured all the same, to become history */
		check->judge_sql = dq_unjudged_sql("$2", lacking);
		return;
	}

	check->judge_sql = psprintf("WITH x (x) AS MATERIALIZED (SELECT $2::pg_catalog.float8), m (usual, statistic) AS MATERIALIZED (%1$s)"
								" SELECT (%2$s AND %3$s AND m.statistic <> 'NaN') IS NOT TRUE,"
								" CASE WHEN m.statistic IS NULL THEN x.x::pg_catalog.text ELSE pg_catalog.format('%%s, %%s %%s', x.x, %4$s::pg_catalog.text, s.words)"
								" || COALESCE(', usually ' || m.usual, '') END,"
								" pg_catalog.format('%%s; %%s, %%s %%s', %5$s::pg_catalog.text, COALESCE(x.x::pg_catalog.text, 'no value'),"
								" %4$s::pg_catalog.text, COALESCE(s.words, 'unknown')) || COALESCE(', usually ' || m.usual, ''),"
								" NULL::pg_catalog.jsonb,"
								" CASE WHEN m.usual IS NULL AND m.statistic IS NULL AND x.x IS NOT NULL THEN 'no batch to compare with' END"
								" FROM x LEFT JOIN m ON true, LATERAL (SELECT CASE WHEN m.statistic IN ('Infinity', '-Infinity', 'NaN') THEN m.statistic::pg_catalog.text"
								" ELSE pg_catalog.trim_scale(pg_catalog.round(m.statistic::pg_catalog.numeric, 3))::pg_catalog.text END) AS s (words)",
								psprintf(method->sql, dq_history_sql(check, "h"), dq_literal(spread),
										 dq_literal(check->history->time),
										 dq_literal(dq_param(check->params, "season")),
										 dq_history_sql(check, "e")),
								min ? psprintf("m.statistic >= %s::pg_catalog.float8", dq_literal(min)) : "true",
								max ? psprintf("m.statistic <= %s::pg_catalog.float8", dq_literal(max)) : "true",
								dq_literal(method->words), dq_literal(check->complaint));
}

/* What it was in them, or what the check it is about has measured there */
static History *
metric_learn(const Check *check, const Run *run, const char *by, int size)
{
	char	   *of = dq_param(check->params, "metric_of");

	return dq_read_history(run, of ? of : check->name, by, size);
}

const CheckKind dq_kind_metric = {
	.name = "metric",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.judges_empty = true,
	.observes_number = true,
	.learn = metric_learn,
	.compile = metric_compile,
};

/* The check of that name, derived or declared, NULL if there is none */
static Check *
find_check(const Declaration *decl, const char *name)
{
	CheckPlan  *plan = dq_make_plan(decl->gate, decl->map, NULL);
	ListCell   *lc;

	foreach(lc, plan->checks)
	{
		Check	   *check = lfirst(lc);

		if (strcmp(check->name, name) == 0)
			return check;
	}
	return NULL;
}

/* An expression over the rows of the batch */
static void
declare_metric(Declaration *decl, const char *text)
{
	Node	   *expression = dq_parse_aggregate(text, decl->filter, decl->gate->target);
	Oid			type = exprType(expression);
	List	   *columns;

	if (!dq_is_number(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the metric must be a number, not of type %s", format_type_be(type))));
	decl->params = dq_set_param(decl->params, "resolved",
								dq_declare_meaning(decl, "the metric", expression, &columns));
	dq_declare_columns(decl, columns);
}

static char *
method_names(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < (int) lengthof(methods); i++)
		appendStringInfo(&buf, "%s\"%s\"", i > 0 ? ", " : "", methods[i].name);
	return buf.data;
}

PG_FUNCTION_INFO_V1(dq_gate_expect_metric);

/*
 * expect_metric(target, metric, method, min, max, history, min_history, by,
 * min_spread, season, and the common arguments) declares how a number compares
 * with what it was in earlier batches.
 */
Datum
dq_gate_expect_metric(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_metric);
	char	   *metric = dq_required_text(fcinfo, 1, "metric");
	char	   *method_name = dq_required_text(fcinfo, 2, "method");
	const Method *method = find_method(method_name);
	char	   *min = dq_numeric_argument(fcinfo, 3, "min");
	char	   *max = dq_numeric_argument(fcinfo, 4, "max");
	char	   *spread = dq_positive_argument(fcinfo, 8, "min_spread");
	char	   *season = dq_interval_argument(fcinfo, 9, "season");
	Interval	zero = {0};
	Check	   *other;

	if (method == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"%s\" is not known", method_name),
				 errhint("It is one of %s.", method_names())));
	if (min == NULL && max == NULL)
	{
		min = unconstify(char *, method->min);
		max = unconstify(char *, method->max);
	}
	if (min == NULL && max == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the method \"%s\" needs min, max or both", method_name)));
	if (season && DatumGetInt32(DirectFunctionCall2(interval_cmp, PG_GETARG_DATUM(9),
													IntervalPGetDatum(&zero))) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"season\" must be longer than nothing")));
	dq_check_order("min", min, "max", max);
	dq_declare_history(fcinfo, 5, decl);
	dq_declare_common(fcinfo, 10, decl);

	other = find_check(decl, metric);
	if (other != NULL)
	{
		if (decl->filter)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a metric that is what another check measures does not take a filter"),
					 errhint("Give check %s the filter.", quote_identifier(metric))));
		if (other->kind == &dq_kind_metric)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("check %s is about a metric itself", quote_identifier(metric)),
					 errhint("Name its metric.")));
		if (!(other->kind->rows || other->kind->counts || other->kind->observes_number))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("check %s, of type \"%s\", measures no number", quote_identifier(metric),
							other->kind->name)));
		decl->params = dq_set_param(decl->params, "metric_of", metric);
	}
	else
		declare_metric(decl, metric);
	decl->params = dq_set_param(decl->params, "metric", metric);
	decl->params = dq_set_param(decl->params, "method", method_name);
	decl->params = dq_set_param(decl->params, "min", min);
	decl->params = dq_set_param(decl->params, "max", max);
	decl->params = dq_set_param(decl->params, "min_spread", spread ? spread : "0");
	decl->params = dq_set_param(decl->params, "season", season ? season : "7 days");
	return dq_finish_declaration(fcinfo, decl);
}
