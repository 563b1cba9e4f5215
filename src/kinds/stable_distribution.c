/*
 * stable_distribution.c
 *		The values of a column are spread as they were in earlier batches.
 *
 * Compared are profiles, so no old batch has to be there.  Every earlier batch
 * counts the same.  Numbers and points in time are compared by their
 * percentiles, everything else by the shares of its values.
 *
 * The population stability index is the sum over bins of (a - e) ln(a / e); a
 * share of none counts as 0.1%.  Below 0.1 is little change, above 0.2 much
 * (Siddiqi, Credit Risk Scorecards, 2006).  Kolmogorov and Smirnov's D is the
 * largest difference between the two distribution functions.  Either has to
 * exceed what chance makes of samples of that size, too.  Chi-square is
 * that of two samples, given as the normal deviate that Wilson and Hilferty
 * (1931) make of it, so that one limit serves every number of categories.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "columns.h"
#include "declare.h"
#include "history.h"
#include "kinds/baseline.h"
#include "kinds/kinds.h"
#include "params.h"
#include "profile.h"
#include "spi_util.h"

/* %1$s profiles of earlier batches, a jsonb array; gives (statistic, chance, notes) */
typedef struct Method
{
	const char *name;
	const char *by_percentiles;
	const char *by_shares;
	const char *max;
} Method;

/* An array of a profile, which has none where all values are NULL */
#define ARRAY_OF(profile, name) \
	"CASE pg_catalog.jsonb_typeof(" profile " -> '" name "') WHEN 'array' THEN " profile " -> '" name "' ELSE '[]' END"
#define VALUES_IN(profile) \
	"((" profile " ->> 'rows')::pg_catalog.float8 - (" profile " ->> 'nulls')::pg_catalog.float8)"
#define THIS		"$2::pg_catalog.jsonb"
#define EARLIER		"pg_catalog.jsonb_array_elements(%1$s::pg_catalog.jsonb) AS h (p)"
#define COMMON		CppAsString2(DQ_COMMON_VALUES)

/* How many values there are on both sides, and what one over these is */
#define SIZES \
	"n (a, b, inverse) AS MATERIALIZED (SELECT s.a, s.b, 1 / NULLIF(s.a, 0) + 1 / NULLIF(s.b, 0) FROM (SELECT " VALUES_IN(THIS) "," \
	"  (SELECT pg_catalog.sum(" VALUES_IN("h.p") ") FROM " EARLIER ")) AS s (a, b)),"

#define PERCENTILES \
	SIZES \
	" a (x) AS MATERIALIZED (SELECT q.x::pg_catalog.float8 FROM pg_catalog.jsonb_array_elements_text(" ARRAY_OF(THIS, "quantiles") ") AS q (x))," \
	" b (x) AS MATERIALIZED (SELECT q.x::pg_catalog.float8 FROM " EARLIER ", pg_catalog.jsonb_array_elements_text(" ARRAY_OF("h.p", "quantiles") ") AS q (x)),"

/*
 * Shares of values on both sides.  Where a side does not list all its values,
 * one that it lacks may be among the rest of it: those of an earlier batch are
 * taken to be as common there as the last that it lists, and those that a
 * whole side lacks are taken together, for as much as its rest can hold.
 */
#define SHARES \
	SIZES \
	" hs (p, n, count, cut) AS MATERIALIZED (SELECT h.p, NULLIF(" VALUES_IN("h.p") ", 0), pg_catalog.count(*) OVER ()," \
	"  CASE WHEN (h.p ->> 'distinct')::pg_catalog.int8 > " COMMON " THEN (h.p #>> '{top,-1,rows}')::pg_catalog.float8 / NULLIF(" VALUES_IN("h.p") ", 0) ELSE 0 END FROM " EARLIER ")," \
	" known (a, b) AS MATERIALIZED (SELECT (" THIS " ->> 'distinct')::pg_catalog.int8 <= " COMMON ", NOT EXISTS (SELECT 1 FROM hs WHERE hs.cut > 0))," \
	" a (key, v, share) AS MATERIALIZED (SELECT t.p ->> 'key', pg_catalog.min(t.p ->> 'value'), pg_catalog.sum((t.p ->> 'rows')::pg_catalog.float8 / NULLIF(n.a, 0))" \
	"  FROM n, pg_catalog.jsonb_array_elements(" ARRAY_OF(THIS, "top") ") AS t (p) GROUP BY 1)," \
	" b (key, v, share) AS MATERIALIZED (SELECT t.p ->> 'key', pg_catalog.min(t.p ->> 'value')," \
	"  (pg_catalog.sum((t.p ->> 'rows')::pg_catalog.float8 / hs.n) + (SELECT pg_catalog.sum(hs.cut) FROM hs) - pg_catalog.sum(hs.cut)) / pg_catalog.max(hs.count)" \
	"  FROM hs, pg_catalog.jsonb_array_elements(" ARRAY_OF("hs.p", "top") ") AS t (p) GROUP BY 1)," \
	" joined (v, a, b) AS MATERIALIZED (SELECT COALESCE(a.v, b.v), a.share, b.share FROM a FULL JOIN b ON a.key = b.key)," \
	" rest (a, b) AS MATERIALIZED (SELECT GREATEST(1 - COALESCE(pg_catalog.sum(j.a), 0), 0), GREATEST(1 - COALESCE(pg_catalog.sum(j.b), 0), 0) FROM joined AS j)," \
	" told (v, a, b) AS MATERIALIZED (" \
	"  SELECT j.v, COALESCE(j.a, 0), COALESCE(j.b, 0) FROM joined AS j, known WHERE (j.a IS NOT NULL OR known.a) AND (j.b IS NOT NULL OR known.b)" \
	"  UNION ALL SELECT NULL, pg_catalog.sum(j.a), LEAST(pg_catalog.sum(j.a), rest.b) FROM joined AS j, known, rest WHERE j.b IS NULL AND NOT known.b GROUP BY rest.b" \
	"  UNION ALL SELECT NULL, LEAST(pg_catalog.sum(j.b), rest.a), pg_catalog.sum(j.b) FROM joined AS j, known, rest WHERE j.a IS NULL AND NOT known.a GROUP BY rest.a)," \
	" both_sides (v, a, b) AS MATERIALIZED (SELECT t.v, t.a, t.b FROM told AS t UNION ALL SELECT NULL, GREATEST(1 - COALESCE(pg_catalog.sum(t.a), 0), 0)," \
	"  GREATEST(1 - COALESCE(pg_catalog.sum(t.b), 0), 0) FROM told AS t),"

/* Categories that came or went */
#define SHARE_NOTES \
	"(SELECT pg_catalog.string_agg(s.words, ', ' ORDER BY s.words) FROM (" \
	"SELECT CASE WHEN c.b = 0 AND c.a >= 0.01 THEN pg_catalog.format('new: %%s (%%s%%%%)', c.v, pg_catalog.round((c.a * 100)::pg_catalog.numeric, 1))" \
	" WHEN c.a = 0 AND c.b >= 0.01 THEN pg_catalog.format('vanished: %%s (%%s%%%%)', c.v, pg_catalog.round((c.b * 100)::pg_catalog.numeric, 1)) END" \
	" FROM both_sides AS c WHERE c.v IS NOT NULL) AS s (words))"

#define STABILITY(from) \
	"pg_catalog.sum((GREATEST(c.a, 0.001) - GREATEST(c.b, 0.001)) * pg_catalog.ln(GREATEST(c.a, 0.001) / GREATEST(c.b, 0.001))) FROM " from " AS c"

/*
 * What chance alone exceeds once in a thousand batches: the index is as large
 * as a chi-square of one bin less times the inverse sizes.
 */
#define CHANCE_OF_STABILITY \
	"(SELECT (k.k + 3.09 * pg_catalog.sqrt(2 * k.k)) * n.inverse FROM n, (SELECT GREATEST(pg_catalog.count(*) - 1, 0)::pg_catalog.float8" \
	" FROM both_sides AS c WHERE c.a > 1e-9 OR c.b > 1e-9) AS k (k))"

/* The bin of a value: a decile that stands more than once has one of its own */
#define BIN(x) \
	"pg_catalog.width_bucket(" x ", e.edges), " x " = ANY (e.repeated)"

static const Method methods[] = {
	{"psi",
		PERCENTILES
		" d (x, count) AS MATERIALIZED (SELECT u.x, pg_catalog.count(*) FROM pg_catalog.unnest((SELECT pg_catalog.percentile_disc("
		"'{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9}'::pg_catalog.float8[]) WITHIN GROUP (ORDER BY b.x) FROM b)) AS u (x) GROUP BY u.x),"
		" e (edges, repeated) AS MATERIALIZED (SELECT ARRAY(SELECT d.x FROM d ORDER BY d.x), ARRAY(SELECT d.x FROM d WHERE d.count > 1)),"
		" both_sides (a, b) AS MATERIALIZED (SELECT pg_catalog.sum(s.a), pg_catalog.sum(s.b) FROM ("
		"SELECT " BIN("a.x") ", 1.0::pg_catalog.float8 / pg_catalog.count(*) OVER (), 0::pg_catalog.float8 FROM a, e"
		" UNION ALL SELECT " BIN("b.x") ", 0, 1.0::pg_catalog.float8 / pg_catalog.count(*) OVER () FROM b, e) AS s (bin, at_edge, a, b) GROUP BY s.bin, s.at_edge),"
		" r (statistic, chance, notes) AS (SELECT (SELECT " STABILITY("both_sides") "), " CHANCE_OF_STABILITY ", NULL::pg_catalog.text)",
		SHARES
		" r (statistic, chance, notes) AS (SELECT (SELECT " STABILITY("both_sides") "), " CHANCE_OF_STABILITY ", " SHARE_NOTES ")",
	"0.2"},
	{"ks",
		PERCENTILES
		" steps (x, a, b) AS (SELECT s.x, pg_catalog.sum(s.a), pg_catalog.sum(s.b) FROM ("
		"SELECT a.x, 1.0::pg_catalog.float8 / pg_catalog.count(*) OVER () AS a, 0::pg_catalog.float8 AS b FROM a"
		" UNION ALL SELECT b.x, 0, 1.0::pg_catalog.float8 / pg_catalog.count(*) OVER () FROM b) AS s GROUP BY s.x),"
		" r (statistic, chance, notes) AS (SELECT (SELECT pg_catalog.max(pg_catalog.abs(d.a - d.b)) FROM (SELECT pg_catalog.sum(steps.a) OVER w AS a,"
		" pg_catalog.sum(steps.b) OVER w AS b FROM steps WINDOW w AS (ORDER BY steps.x)) AS d),"
		" (SELECT 1.95 * pg_catalog.sqrt(n.inverse) FROM n), NULL::pg_catalog.text)",
		NULL,
	"0.1"},
	{"chi_square",
		NULL,
		SHARES
		" x (chi, k) AS (SELECT pg_catalog.sum((c.a - c.b) ^ 2 / (GREATEST((c.a * n.a + c.b * n.b) / (n.a + n.b), 0.5 / (n.a + n.b)) * (1 / n.a + 1 / n.b))),"
		" (pg_catalog.count(*) - 1)::pg_catalog.float8 FROM both_sides AS c, n WHERE n.a > 0 AND n.b > 0 AND (c.a > 1e-9 OR c.b > 1e-9)),"
		" r (statistic, chance, notes) AS (SELECT (SELECT CASE WHEN x.k < 1 THEN 0 ELSE"
		" ((x.chi / x.k) ^ (1.0 / 3) - (1 - 2 / (9 * x.k))) / pg_catalog.sqrt(2 / (9 * x.k)) END FROM x), NULL::pg_catalog.float8, " SHARE_NOTES ")",
	"3.09"},
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
stable_distribution_compile(Check *check, const ColumnMap *map)
{
	char	   *column_name = linitial(check->columns);
	const char *name = quote_identifier(column_name);
	const Method *method = find_method(dq_param(check->params, "method"));
	char	   *max = dq_param(check->params, "max");
	char	   *min_rows = dq_param(check->params, "min_rows");
	Column	   *column;
	const char *sql;
	const char *lacking;

	check->threshold = psprintf("%s at most %s", method->name, max);
	check->rule = psprintf("%s spread as in the %s, %s", name, dq_grouping_words(check), check->threshold);
	check->complaint = psprintf("%s not spread as in the %s", name, dq_grouping_words(check));
	column = dq_usable_column(check, map, column_name);
	if (column == NULL)
		return;
	if (!OidIsValid(dq_equality_operator(column->typid)))
	{
		check->broken = psprintf("type %s of column %s has no equality operator",
								 format_type_be(column->typid), name);
		return;
	}
	sql = dq_is_scalar(column->typid) && method->by_percentiles ? method->by_percentiles : method->by_shares;
	if (sql == NULL)
	{
		check->broken = psprintf("the method \"%s\" needs numbers or points in time, not type %s",
								 method->name, format_type_be(column->typid));
		return;
	}

	/* profiled in any case, to become history */
	check->profile_of = column_name;
	if (check->history == NULL)
		return;
	lacking = sql == method->by_shares && check->history->no_values ? "the gate keeps no values" :
		dq_lacking_history(check);
	if (lacking)
	{
		check->judge_sql = dq_unjudged_sql("NULL::pg_catalog.text", lacking);
		return;
	}
	check->judge_sql = psprintf("WITH %s SELECT (r.statistic <= GREATEST(%s::pg_catalog.float8, r.chance)) IS NOT TRUE,"
								" pg_catalog.trim_scale(pg_catalog.round(r.statistic::pg_catalog.numeric, 4))::pg_catalog.text,"
								" pg_catalog.format('%%s: %%s %%s', %s::pg_catalog.text, %s::pg_catalog.text,"
								" COALESCE(pg_catalog.trim_scale(pg_catalog.round(r.statistic::pg_catalog.numeric, 4))::pg_catalog.text, 'unknown')),"
								" NULL::pg_catalog.jsonb,"
								" CASE WHEN n.n < %s THEN pg_catalog.format('too few values (%%s of %s)', n.n) END, r.notes"
								" FROM r, (SELECT ($2::pg_catalog.jsonb ->> 'rows')::pg_catalog.int8 - ($2::pg_catalog.jsonb ->> 'nulls')::pg_catalog.int8) AS n (n)",
								psprintf(sql, dq_literal(check->history->values)),
								dq_literal(max), dq_literal(check->complaint), dq_literal(method->name),
								min_rows, min_rows);
}

/* How the values of the column were spread */
static History *
stable_distribution_learn(const Check *check, const Run *run, const char *by, int size)
{
	return dq_read_profiles(run, linitial(check->columns), by, size);
}

const CheckKind dq_kind_stable_distribution = {
	.name = "stable_distribution",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.observes_number = true,
	.learn = stable_distribution_learn,
	.compile = stable_distribution_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_stable_distribution);

/*
 * expect_stable_distribution(target, column_name, method, max, history,
 * min_history, by, min_rows, and the common arguments) declares that the
 * values of a column are spread as in earlier batches.
 */
Datum
dq_gate_expect_stable_distribution(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_stable_distribution);
	Column	   *column = dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));
	char	   *method_name = dq_required_text(fcinfo, 2, "method");
	const Method *method = find_method(method_name);
	char	   *max = dq_positive_argument(fcinfo, 3, "max");

	dq_require_equality(decl);
	if (method == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"%s\" is not known", method_name),
				 errhint("It is one of \"psi\", \"ks\", \"chi_square\".")));
	if (method->by_shares == NULL && !dq_is_scalar(column->typid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the method \"%s\" needs numbers or points in time, and column %s of gate %s has type %s",
						method_name, quote_identifier(column->name), decl->gate->name,
						format_type_be(column->typid)),
				 errhint("Use \"psi\" or \"chi_square\".")));
	if (PG_ARGISNULL(7) || PG_GETARG_INT64(7) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"min_rows\" must be a number of rows, at least 1")));
	decl->params = dq_set_param(decl->params, "method", method_name);
	decl->params = dq_set_param(decl->params, "max", max ? max : method->max);
	decl->params = dq_set_param(decl->params, "min_rows", psprintf(INT64_FORMAT, PG_GETARG_INT64(7)));
	dq_declare_history(fcinfo, 4, decl);
	dq_declare_common(fcinfo, 8, decl);
	return dq_finish_declaration(fcinfo, decl);
}
