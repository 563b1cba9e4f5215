/*
 * change_rate.c
 *		No more of the target changes, or goes, than so much of it.
 *
 * A batch that is well formed can be wrong all the same: half of an export
 * deletes the other half, a column that came empty overwrites what was there.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/float.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "outcome.h"
#include "params.h"
#include "policy.h"
#include "spi_util.h"

/* The limits, what they are about, and what that is in the answer of the query */
static const struct
{
	const char *name;
	const char *words;
	const char *count;
	bool		updates;
	bool		deletes;
}			limits[] = {
	{"max_change_rate", "updated or deleted", "c.updated + c.deleted", true, true},
	{"max_update_rate", "updated", "c.updated", true, false},
	{"max_delete_rate", "deleted", "c.deleted", false, true},
};

/* A rate in percent, for people: all its digits */
static char *
percent_words(const char *rate)
{
	return psprintf("%.15g%%", strtod(rate, NULL) * 100);
}

/* The rows of the target that rates are of: those in the scope of a sync */
static char *
base_sql(const ColumnMap *map)
{
	const Gate *gate = map->gate;
	bool		scoped = gate->mode == DQ_SYNC && gate->scope;

	return psprintf("SELECT pg_catalog.count(*) FROM %s AS target%s%s", map->target_sql,
					scoped ? " WHERE " : "", scoped ? gate->scope_of_target : "");
}

/* The number and a sample of the rows that change, and of those that go, as far as they are asked for */
static char *
changes_sql(const Check *check, const ColumnMap *map, bool updates, bool deletes)
{
	List	   *naming = dq_column_names(dq_naming_columns(map));
	int			samples = check->no_samples ? 0 : DQ_SAMPLE_ROWS;
	Outcome    *outcome = dq_outcome(map, check->moved_sql, NULL);
	char	   *sample = dq_sample_sql(naming, dq_qualified(naming, "target"), samples, "true");
	char	   *updated = "SELECT 0, NULL::pg_catalog.jsonb";
	char	   *deleted = updated;

	if (updates && outcome->updated)
		updated = psprintf("SELECT pg_catalog.count(*), %s FROM %s", sample, outcome->updated);
	if (deletes && outcome->deleted)
		deleted = psprintf("SELECT pg_catalog.count(*), %s FROM %s", sample, outcome->deleted);
	return psprintf("(SELECT u.rows, d.rows, b.rows,"
					" CASE WHEN u.sample IS NULL THEN '{}' ELSE pg_catalog.jsonb_build_object('updated', u.sample) END"
					" || CASE WHEN d.sample IS NULL THEN '{}' ELSE pg_catalog.jsonb_build_object('deleted', d.sample) END"
					" FROM (%s) AS u (rows, sample), (%s) AS d (rows, sample), (%s) AS b (rows)"
					") AS c (updated, deleted, base, sample)",
					updated, deleted, base_sql(map));
}

/* Whether the batch can be brought into the target at all */
static bool
is_publishable(Check *check, const ColumnMap *map)
{
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (column->staged && column->fit == FIT_NEVER)
			return dq_usable_column(check, map, column->name) != NULL;
	}
	return true;
}

/* The share of the rows that a limit is about; of none, any is all */
static char *
rate_sql(const char *count)
{
	return psprintf("CASE WHEN %1$s = 0 THEN 0 WHEN c.base = 0 THEN 1"
					" ELSE (%1$s)::pg_catalog.float8 / c.base END", count);
}

static void
change_rate_compile(Check *check, const ColumnMap *map)
{
	bool		updates = false;
	bool		deletes = false;
	char	   *rate = NULL;
	char	   *counts;
	StringInfoData words;
	StringInfoData exceeded;
	StringInfoData found;

	initStringInfo(&words);
	initStringInfo(&exceeded);
	initStringInfo(&found);
	for (int i = 0; i < (int) lengthof(limits); i++)
	{
		char	   *limit = dq_param(check->params, limits[i].name);
		char	   *share = rate_sql(limits[i].count);

		if (limit == NULL)
			continue;
		appendStringInfo(&words, "%sat most %s %s", words.len > 0 ? ", " : "", percent_words(limit),
						 limits[i].words);
		appendStringInfo(&exceeded, "%s%s > %s::pg_catalog.float8", exceeded.len > 0 ? " OR " : "",
						 share, dq_literal(limit));
		appendStringInfo(&found, "%spg_catalog.trim_scale(pg_catalog.round((%s)::pg_catalog.numeric * 100, 4)) || %s",
						 found.len > 0 ? " || '; ' || " : "", share,
						 dq_literal(psprintf("%% %s, at most %s", limits[i].words, percent_words(limit))));
		updates |= limits[i].updates;
		deletes |= limits[i].deletes;
		/* the number of the check: the first of them */
		if (rate == NULL)
			rate = share;
	}
	check->threshold = words.data;
	check->rule = psprintf("%s of the rows of the target", words.data);
	check->complaint = "too much of the target would change";
	check->reads_target = dq_mode_updates(map->gate) || dq_mode_deletes(map->gate);
	if (!OidIsValid(map->staging) || !is_publishable(check, map))
		return;
	/* only in a run is it known that key and settings go with the columns, and which rows are moved out */
	if (check->moved_sql == NULL)
		return;

	counts = updates && deletes ? "update %s and delete %s" : updates ? "update %s" : "delete %s";
	check->judge_sql = psprintf("SELECT %1$s,"
								" pg_catalog.format('%%s: to %6$s of %%s row%%s',"
								" pg_catalog.trim_scale(pg_catalog.round((%2$s)::pg_catalog.numeric, 6)), %7$s, c.base, %5$s),"
								" pg_catalog.format('would %6$s of %%s row%%s: %%s', %7$s, c.base, %5$s, %3$s),"
								" NULLIF(c.sample, '{}') FROM %4$s",
								exceeded.data, rate, found.data,
								changes_sql(check, map, updates, deletes),
								"CASE WHEN c.base = 1 THEN '' ELSE 's' END", counts,
								updates && deletes ? "c.updated, c.deleted" :
								updates ? "c.updated" : "c.deleted");
}

const CheckKind dq_kind_change_rate = {
	.name = "change_rate",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.judges_empty = true,
	.judged_last = true,
	.observes_counts = true,
	.observes_number = true,
	.compile = change_rate_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_change_rate);

/*
 * expect_change_rate(target, max_change_rate, max_update_rate,
 * max_delete_rate, and the common arguments) declares how much of the target
 * a batch may change.
 */
Datum
dq_gate_expect_change_rate(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_change_rate);
	const int	count = lengthof(limits);

	for (int i = 0; i < count; i++)
	{
		double		rate;

		if (PG_ARGISNULL(i + 1))
			continue;
		rate = PG_GETARG_FLOAT8(i + 1);
		if (!(rate >= 0 && rate <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"%s\" must be between 0 and 1", limits[i].name),
					 errhint("It is a share of the rows of the target, such as 0.1 for one row in ten.")));
		decl->params = dq_set_param(decl->params, limits[i].name, float8out_internal(rate));
	}
	if (decl->params == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"change_rate\" needs max_change_rate, max_update_rate or max_delete_rate")));
	decl->reads_target = true;
	dq_declare_common(fcinfo, count + 1, decl);
	return dq_finish_declaration(fcinfo, decl);
}
