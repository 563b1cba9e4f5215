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
 * largest difference between the two distribution functions.  Chi-square is
 * given as the normal deviate that Wilson and Hilferty (1931) make of it, so
 * that one limit serves every number of categories.
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

/* %1$s profiles of earlier batches, a jsonb array; gives (statistic, notes) */
typedef struct Method
{
	const char *name;
	const char *by_percentiles;
	const char *by_shares;
	const char *max;
} Method;

#define PERCENTILES \
	"a (x) AS MATERIALIZED (SELECT q.x::pg_catalog.float8 FROM pg_catalog.jsonb_array_elements_text($2::pg_catalog.jsonb -> 'quantiles') AS q (x))," \
	" b (x) AS MATERIALIZED (SELECT q.x::pg_catalog.float8 FROM pg_catalog.jsonb_array_elements(%1$s::pg_catalog.jsonb) AS h (p)," \
	" pg_catalog.jsonb_array_elements_text(h.p -> 'quantiles') AS q (x)),"

#define SHARES \
	"a (v, share) AS MATERIALIZED (SELECT t.p ->> 'value', (t.p ->> 'rows')::pg_catalog.float8 / NULLIF(n.n, 0)" \
	" FROM (SELECT ($2::pg_catalog.jsonb ->> 'rows')::pg_catalog.float8 - ($2::pg_catalog.jsonb ->> 'nulls')::pg_catalog.float8) AS n (n)," \
	" pg_catalog.jsonb_array_elements($2::pg_catalog.jsonb -> 'top') AS t (p))," \
	" hs (p, n, count) AS MATERIALIZED (SELECT h.p, NULLIF((h.p ->> 'rows')::pg_catalog.float8 - (h.p ->> 'nulls')::pg_catalog.float8, 0)," \
	"  pg_catalog.count(*) OVER () FROM pg_catalog.jsonb_array_elements(%1$s::pg_catalog.jsonb) AS h (p))," \
	" b (v, share) AS MATERIALIZED (SELECT t.p ->> 'value', pg_catalog.sum((t.p ->> 'rows')::pg_catalog.float8 / hs.n / hs.count)" \
	" FROM hs, pg_catalog.jsonb_array_elements(hs.p -> 'top') AS t (p) GROUP BY 1)," \
	" both_sides (v, a, b) AS MATERIALIZED (SELECT COALESCE(a.v, b.v), COALESCE(a.share, 0), COALESCE(b.share, 0) FROM a FULL JOIN b ON a.v = b.v" \
	" UNION ALL SELECT NULL, 1 - (SELECT COALESCE(pg_catalog.sum(a.share), 0) FROM a), 1 - (SELECT COALESCE(pg_catalog.sum(b.share), 0) FROM b)),"

/* Categories that came or went, where the lists of values are complete */
#define SHARE_NOTES \
	"(SELECT pg_catalog.string_agg(s.words, ', ' ORDER BY s.words) FROM (" \
	"SELECT CASE WHEN c.b = 0 AND c.a >= 0.01 AND NOT EXISTS (SELECT 1 FROM hs WHERE (hs.p ->> 'distinct')::pg_catalog.int8 > " COMMON ")" \
	" THEN pg_catalog.format('new: %%s (%%s%%%%)', c.v, pg_catalog.round((c.a * 100)::pg_catalog.numeric, 1))" \
	" WHEN c.a = 0 AND c.b >= 0.01 AND ($2::pg_catalog.jsonb ->> 'distinct')::pg_catalog.int8 <= " COMMON \
	" THEN pg_catalog.format('vanished: %%s (%%s%%%%)', c.v, pg_catalog.round((c.b * 100)::pg_catalog.numeric, 1)) END" \
	" FROM both_sides AS c WHERE c.v IS NOT NULL) AS s (words))"
#define COMMON		CppAsString2(DQ_COMMON_VALUES)

#define STABILITY(from) \
	"pg_catalog.sum((GREATEST(c.a, 0.001) - GREATEST(c.b, 0.001)) * pg_catalog.ln(GREATEST(c.a, 0.001) / GREATEST(c.b, 0.001))) FROM " from " AS c"

static const Method methods[] = {
	{"psi",
		PERCENTILES
		" e (edges) AS MATERIALIZED (SELECT ARRAY(SELECT DISTINCT u.x FROM pg_catalog.unnest((SELECT pg_catalog.percentile_disc("
		"'{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9}'::pg_catalog.float8[]) WITHIN GROUP (ORDER BY b.x) FROM b)) AS u (x) ORDER BY u.x)),"
		" both_sides (a, b) AS MATERIALIZED (SELECT pg_catalog.sum(s.a), pg_catalog.sum(s.b) FROM ("
		"SELECT pg_catalog.width_bucket(a.x, e.edges) AS bin, 1.0::pg_catalog.float8 / pg_catalog.count(*) OVER () AS a, 0::pg_catalog.float8 AS b FROM a, e"
		" UNION ALL SELECT pg_catalog.width_bucket(b.x, e.edges), 0, 1.0::pg_catalog.float8 / pg_catalog.count(*) OVER () FROM b, e) AS s GROUP BY s.bin),"
		" r (statistic, notes) AS (SELECT (SELECT " STABILITY("both_sides") "), NULL::pg_catalog.text)",
		SHARES
		" r (statistic, notes) AS (SELECT (SELECT " STABILITY("both_sides") "), " SHARE_NOTES ")",
	"0.2"},
	{"ks",
		PERCENTILES
		" steps (x, a, b) AS (SELECT s.x, pg_catalog.sum(s.a), pg_catalog.sum(s.b) FROM ("
		"SELECT a.x, 1.0::pg_catalog.float8 / pg_catalog.count(*) OVER () AS a, 0::pg_catalog.float8 AS b FROM a"
		" UNION ALL SELECT b.x, 0, 1.0::pg_catalog.float8 / pg_catalog.count(*) OVER () FROM b) AS s GROUP BY s.x),"
		" r (statistic, notes) AS (SELECT (SELECT pg_catalog.max(pg_catalog.abs(d.a - d.b)) FROM (SELECT pg_catalog.sum(steps.a) OVER w AS a,"
		" pg_catalog.sum(steps.b) OVER w AS b FROM steps WINDOW w AS (ORDER BY steps.x)) AS d), NULL::pg_catalog.text)",
		NULL,
	"0.1"},
	{"chi_square",
		NULL,
		SHARES
		" x (chi, k) AS (SELECT pg_catalog.sum((c.a - c.b) ^ 2 * n.n / GREATEST(c.b, 0.5 / n.n)), (pg_catalog.count(*) - 1)::pg_catalog.float8"
		" FROM both_sides AS c, (SELECT ($2::pg_catalog.jsonb ->> 'rows')::pg_catalog.float8 - ($2::pg_catalog.jsonb ->> 'nulls')::pg_catalog.float8) AS n (n)"
		" WHERE c.a > 1e-9 OR c.b > 1e-9),"
		" r (statistic, notes) AS (SELECT (SELECT CASE WHEN x.k < 1 THEN 0 ELSE"
		" ((x.chi / x.k) ^ (1.0 / 3) - (1 - 2 / (9 * x.k))) / pg_catalog.sqrt(2 / (9 * x.k)) END FROM x), " SHARE_NOTES ")",
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
	if (sql == method->by_shares && check->history->no_values)
	{
		check->judge_sql = "SELECT false, NULL::pg_catalog.text, NULL::pg_catalog.text, NULL::pg_catalog.jsonb,"
			" 'the gate keeps no values'::pg_catalog.text";
		return;
	}
	if (dq_lacking_history(check))
	{
		check->judge_sql = psprintf("SELECT false, NULL::pg_catalog.text, NULL::pg_catalog.text, NULL::pg_catalog.jsonb, %s::pg_catalog.text",
									dq_literal(dq_lacking_history(check)));
		return;
	}
	check->judge_sql = psprintf("WITH %s SELECT (r.statistic <= %s::pg_catalog.float8) IS NOT TRUE,"
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

const CheckKind dq_kind_stable_distribution = {
	.name = "stable_distribution",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.observes_number = true,
	.learns = true,
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
