/*
 * plan.c
 *		Derived and declared checks become the effective plan.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "action.h"
#include "derive.h"
#include "kinds/kinds.h"
#include "params.h"
#include "plan.h"
#include "spi_util.h"

/* A limit of the last result, negative where it is not set */
static double
result_limit(uint64 row, int column)
{
	bool		isnull;
	Datum		value = dq_result_datum(row, column, &isnull);

	return isnull ? -1 : DatumGetFloat8(value);
}

/* The checks that were declared on the gate, by name */
static List *
declared_checks(const Gate *gate)
{
	Oid			types[1] = {REGCLASSOID};
	Datum		values[1] = {ObjectIdGetDatum(gate->target)};
	List	   *checks = NIL;
	Identity	saved;
	uint64		count;

	if (!gate->registered)
		return NIL;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	count = dq_execute("SELECT name, check_type, columns, action, nulls, owner, description,"
					   " reads_target,"
					   " ARRAY(SELECT p.key FROM pg_catalog.jsonb_each_text(parameters) p ORDER BY 1),"
					   " ARRAY(SELECT p.value FROM pg_catalog.jsonb_each_text(parameters) p ORDER BY p.key),"
					   " filter, filter_resolved, max_rate, max_rows::pg_catalog.float8, warn_above,"
					   " block_above, samples, tags, ref_table::pg_catalog.oid, severity"
					   " FROM dq_gate.checks WHERE target = $1 ORDER BY name COLLATE \"C\"",
					   1, types, values, NULL, false);
	for (uint64 row = 0; row < count; row++)
	{
		Check	   *check = palloc0(sizeof(Check));
		bool		isnull;
		Datum		value;
		ListCell   *nc;
		ListCell   *vc;

		check->name = dq_result_text(row, 1);
		check->kind = dq_find_kind(dq_result_text(row, 2));
		check->columns = dq_text_list(dq_result_datum(row, 3, &isnull));
		if (!dq_action_by_name(dq_result_text(row, 4), &check->action))
			elog(ERROR, "action \"%s\" is not known", dq_result_text(row, 4));
		check->nulls_fail = strcmp(dq_result_text(row, 5), "fail") == 0;
		check->owner = dq_result_text(row, 6);
		check->description = dq_result_text(row, 7);
		check->reads_target = DatumGetBool(dq_result_datum(row, 8, &isnull));
		forboth(nc, dq_text_list(dq_result_datum(row, 9, &isnull)),
				vc, dq_text_list(dq_result_datum(row, 10, &isnull)))
			check->params = dq_set_param(check->params, lfirst(nc), lfirst(vc));
		check->filter = dq_result_text(row, 11);
		check->filter_sql = dq_result_text(row, 12);
		check->limits.max_rate = result_limit(row, 13);
		check->limits.max_rows = result_limit(row, 14);
		check->limits.warn_above = result_limit(row, 15);
		check->limits.block_above = result_limit(row, 16);
		check->no_samples = !DatumGetBool(dq_result_datum(row, 17, &isnull));
		value = dq_result_datum(row, 18, &isnull);
		check->tags = isnull ? NIL : dq_text_list(value);
		value = dq_result_datum(row, 19, &isnull);
		check->ref_table = isnull ? InvalidOid : DatumGetObjectId(value);
		check->severity = dq_result_text(row, 20);
		check->declared = true;
		check->origin = "declared";
		checks = lappend(checks, check);
	}
	dq_free_result();
	dq_resume(&saved);
	return checks;
}

static bool
name_is_taken(List *checks, const char *name)
{
	ListCell   *lc;

	foreach(lc, checks)
	{
		if (strcmp(((Check *) lfirst(lc))->name, name) == 0)
			return true;
	}
	return false;
}

/*
 * A row rule with a filter is about some of the rows; the others pass, and the
 * rule is not even evaluated for them.  Checks with a query of their own have
 * the filter in it.
 */
static void
apply_filter(Check *check)
{
	if (check->filter_sql == NULL)
		return;
	if (check->null_sql)
		check->null_sql = psprintf("((%s) IS TRUE AND %s)", check->filter_sql, check->null_sql);
	if (check->kind->evaluation != EVAL_SCAN)
		return;
	if (check->fail_sql)
		check->fail_sql = psprintf("CASE WHEN (%s) THEN %s ELSE false END",
								   check->filter_sql, check->fail_sql);
	if (check->rule_sql)
		check->rule_sql = psprintf("CASE WHEN (%s) THEN (%s) ELSE true END",
								   check->filter_sql, check->rule_sql);
}

static bool
same_names(List *a, List *b)
{
	ListCell   *lc;

	if (list_length(a) != list_length(b))
		return false;
	foreach(lc, a)
	{
		if (!dq_has_name(b, lfirst(lc)))
			return false;
	}
	return true;
}

/*
 * Whether a declared check says all that a derived one says, so that its
 * action is the one that counts: no bad row passes it, neither by a filter or
 * a limit nor by a mere warning.
 */
static bool
supersedes(const Check *declared, const Check *derived)
{
	return declared->kind == derived->kind && declared->kind->rows &&
		(declared->kind == &dq_kind_not_null || declared->kind == &dq_kind_unique) &&
		declared->action != DQ_WARN && declared->action != DQ_DECLARE &&
		declared->filter == NULL &&
		declared->limits.max_rate < 0 && declared->limits.max_rows < 0 &&
		(declared->limits.block_above < 0 || declared->action != DQ_BLOCK) &&
		(declared->nulls_fail ||
		 (declared->kind == &dq_kind_unique && derived->nulls_distinct)) &&
		same_names(declared->columns, derived->columns);
}

static List *
without_superseded(List *derived, List *declared)
{
	List	   *remaining = NIL;
	ListCell   *lc;

	foreach(lc, derived)
	{
		ListCell   *other;
		bool		needed = true;

		foreach(other, declared)
			needed = needed && !supersedes(lfirst(other), lfirst(lc));
		if (needed)
			remaining = lappend(remaining, lfirst(lc));
	}
	return remaining;
}

/*
 * The effective checks of a gate.  Names are unique among them: a declared
 * check keeps its name, a derived one makes way.
 */
CheckPlan *
dq_make_plan(const Gate *gate, const ColumnMap *map)
{
	CheckPlan  *plan = palloc0(sizeof(CheckPlan));
	List	   *declared = declared_checks(gate);
	List	   *taken = list_copy(declared);
	Identity	saved;
	ListCell   *lc;

	/* with the pinned search_path, so that deparsed names are qualified */
	dq_assume(&saved, gate->run_as, PHASE_AUDIT);
	plan->checks = without_superseded(dq_derive_checks(map), declared);
	foreach(lc, plan->checks)
	{
		Check	   *check = lfirst(lc);
		char	   *name = check->name;

		for (int i = 2; name_is_taken(taken, check->name); i++)
			check->name = psprintf("%s_%d", name, i);
		taken = lappend(taken, check);
		check->owner = gate->owner;
	}
	foreach(lc, declared)
	{
		Check	   *check = lfirst(lc);

		if (check->owner == NULL)
			check->owner = gate->owner;
	}
	plan->checks = list_concat(plan->checks, declared);

	foreach(lc, plan->checks)
	{
		Check	   *check = lfirst(lc);

		check->no_samples |= !gate->samples;
		check->kind->compile(check, map);
		if (check->action == DQ_DECLARE)
		{
			check->broken = NULL;
			check->unjudged = "declared only, not evaluated";
		}
		check->row_sql = check->fail_sql;
		apply_filter(check);
		plan->reads_target |= check->reads_target;
	}
	dq_resume(&saved);
	return plan;
}
