/*
 * volume.c
 *		As many rows as a batch of this gate usually has.
 *
 * Usual is the median of earlier batches, which one odd batch does not move.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "declare.h"
#include "history.h"
#include "kinds/baseline.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

static void
volume_compile(Check *check, const ColumnMap *map)
{
	char	   *min = dq_param(check->params, "min_ratio");
	char	   *max = dq_param(check->params, "max_ratio");

	check->threshold = psprintf("%s times the median of the %s", dq_bounds_words(min, max),
								dq_grouping_words(check));
	check->rule = psprintf("number of rows %s", check->threshold);
	check->complaint = psprintf("number of rows not %s", check->threshold);
	if (check->history == NULL)
		return;
	check->unjudged = dq_lacking_history(check);
	if (check->unjudged)
		return;

	/* none is as many as usual where the usual is none; more has no ratio */
	check->judge_sql = psprintf("SELECT (%1$s AND %2$s) IS NOT TRUE,"
								" pg_catalog.format('%%s row%%s, %%s times the median of %%s', $1, CASE WHEN $1 = 1 THEN '' ELSE 's' END, s.words, m.median),"
								" pg_catalog.format('%%s: %%s row%%s, %%s times the median of %%s', %3$s::pg_catalog.text, $1, CASE WHEN $1 = 1 THEN '' ELSE 's' END, s.words, m.median),"
								" NULL::pg_catalog.jsonb"
								" FROM (SELECT pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY h.value) FROM %4$s) AS m (median),"
								" LATERAL (SELECT CASE WHEN m.median > 0 THEN $1 / m.median WHEN $1 = 0 THEN 1 ELSE 'Infinity' END) AS r (ratio),"
								" LATERAL (SELECT pg_catalog.trim_scale(pg_catalog.round(r.ratio::pg_catalog.numeric, 2))::pg_catalog.text) AS s (words)",
								min ? psprintf("r.ratio >= %s::pg_catalog.float8", dq_literal(min)) : "true",
								max ? psprintf("r.ratio <= %s::pg_catalog.float8", dq_literal(max)) : "true",
								dq_literal(check->complaint), dq_history_sql(check, "h"));
}

/* How many rows they had */
static History *
volume_learn(const Check *check, const Run *run, const char *by, int size)
{
	return dq_read_history(run, NULL, by, size);
}

const CheckKind dq_kind_volume = {
	.name = "volume",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.judges_empty = true,
	.observes_counts = true,
	.observes_number = true,
	.learn = volume_learn,
	.compile = volume_compile,
};

/* What a gate expects for which nobody declared a volume */
List *
dq_default_volume(void)
{
	List	   *params = dq_history_params(14, 5, "batches");

	params = dq_set_param(params, "min_ratio", "0.5");
	return dq_set_param(params, "max_ratio", "2.0");
}

PG_FUNCTION_INFO_V1(dq_gate_expect_volume);

/*
 * expect_volume(target, min_ratio, max_ratio, history, min_history, by, and
 * the common arguments) declares how many rows a batch has, compared with
 * earlier ones.
 */
Datum
dq_gate_expect_volume(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_volume);
	char	   *min = dq_positive_argument(fcinfo, 1, "min_ratio");
	char	   *max = dq_positive_argument(fcinfo, 2, "max_ratio");

	if (min == NULL && max == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"volume\" needs min_ratio, max_ratio or both")));
	dq_check_order("min_ratio", min, "max_ratio", max);
	decl->params = dq_set_param(decl->params, "min_ratio", min);
	decl->params = dq_set_param(decl->params, "max_ratio", max);
	dq_declare_history(fcinfo, 3, decl);
	dq_declare_common(fcinfo, 6, decl);
	return dq_finish_declaration(fcinfo, decl);
}
