/*
 * plan.c
 *		Derived and declared checks become the effective plan.
 */
#include "postgres.h"

#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "action.h"
#include "derive.h"
#include "kinds/kinds.h"
#include "params.h"
#include "plan.h"
#include "row_limits.h"
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
					   " block_above, samples, tags,"
					   /* it may have gone unnoticed; see lifecycle.sql */
					   " (SELECT c.oid FROM pg_catalog.pg_class c WHERE c.oid = ref_table), severity"
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

/* A name that no check has yet: with a number behind it from the second on */
static char *
free_check_name(const char *name, List *taken)
{
	char	   *free = pstrdup(name);

	for (int i = 2; name_is_taken(taken, free); i++)
		free = psprintf("%s_%d", name, i);
	return free;
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
	bool		same;

	/* how many rows are usual is for people to say, and whether it matters */
	if (derived->kind == &dq_kind_volume)
		return declared->kind == &dq_kind_volume;
	if (OidIsValid(declared->constraint_oid))
		same = declared->constraint_oid == derived->constraint_oid;
	else if (declared->kind == &dq_kind_unique)
		same = derived->kind == &dq_kind_unique && derived->plain &&
			(declared->nulls_fail || derived->nulls_distinct) &&
			same_names(declared->columns, derived->columns);
	else
		same = (declared->kind == &dq_kind_not_null || declared->kind == &dq_kind_type_fit) &&
			declared->kind == derived->kind && same_names(declared->columns, derived->columns);

	return same &&
		(declared->nulls_fail || declared->kind != &dq_kind_not_null) &&
		declared->action != DQ_WARN && declared->action != DQ_DECLARE &&
		declared->filter == NULL &&
		declared->limits.max_rate < 0 && declared->limits.max_rows < 0 &&
		(declared->limits.block_above < 0 || declared->action != DQ_BLOCK);
}

/*
 * A check that was declared of a constraint becomes that constraint's own,
 * under the name and with the action that were declared.
 */
static void
adopt_constraints(const Gate *gate, List *declared, List *derived)
{
	ListCell   *lc;

	foreach(lc, declared)
	{
		Check	   *check = lfirst(lc);
		Oid			constraint;
		ListCell   *other;

		if (check->kind != &dq_kind_constraint)
			continue;
		constraint = get_relation_constraint_oid(gate->target,
												 dq_param(check->params, "constraint_name"), true);
		foreach(other, derived)
		{
			Check	   *own = lfirst(other);

			if (!OidIsValid(constraint) || own->constraint_oid != constraint)
				continue;
			check->kind = own->kind;
			check->columns = own->columns;
			check->nulls_fail = own->nulls_fail;
			check->params = own->params;
			check->constraint_oid = constraint;
			check->index_oid = own->index_oid;
			check->plain = own->plain;
			check->nulls_distinct = own->nulls_distinct;
			check->unjudged = own->unjudged;
			check->origin = own->origin;
			check->declared = false;
			break;
		}
	}
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
		{
			Check	   *check = lfirst(other);

			if (!supersedes(check, lfirst(lc)))
				continue;
			needed = false;
			/* it has to find all that the other one would */
			if (!OidIsValid(check->index_oid))
				check->index_oid = ((Check *) lfirst(lc))->index_oid;
		}
		if (needed)
			remaining = lappend(remaining, lfirst(lc));
	}
	return remaining;
}

/*
 * Totals that come with the call are compared: by the check that was declared
 * of them, or else by one that blocks.
 */
static List *
expect_totals(const Run *run, const ColumnMap *map, List *declared)
{
	Check	   *check = NULL;
	ListCell   *lc;

	foreach(lc, declared)
	{
		Check	   *other = lfirst(lc);

		if (other->kind == &dq_kind_control_totals && other->action != DQ_DECLARE &&
			dq_param(other->params, "query") == NULL)
			check = other;
	}
	if (check == NULL)
	{
		check = palloc0(sizeof(Check));
		check->kind = &dq_kind_control_totals;
		check->name = free_check_name("control_totals", declared);
		check->action = DQ_BLOCK;
		dq_init_limits(&check->limits);
		check->owner = run->gate->owner;
		check->origin = "given with the call";
		check->declared = true;
		declared = lappend(declared, check);
	}
	check->columns = dq_add_names(check->columns, dq_given_totals(run->totals, map));
	return declared;
}

/* From parameters to SQL and words */
static void
compile(Check *check, const Gate *gate, const ColumnMap *map, const Run *run)
{
	check->no_samples |= !gate->samples;
	if (check->kind->learn && run != NULL && check->action != DQ_DECLARE)
	{
		char	   *size = dq_param(check->params, "history");

		check->history = check->kind->learn(check, run, dq_param(check->params, "by"),
											size ? pg_strtoint32(size) : 0);
	}
	check->kind->compile(check, map);
	if (check->action == DQ_DECLARE)
	{
		check->broken = NULL;
		check->unjudged = "declared only, not evaluated";
	}
	else if (run != NULL && check->needs_as_of && !run->has_as_of)
		check->broken = "the run was given no as_of";
	check->row_sql = check->fail_sql;
	apply_filter(check);
}

/*
 * The checks that say whether the source is ready, NULL if there is none.  They
 * need to know no column.
 */
CheckPlan *
dq_plan_readiness(const Gate *gate, const ColumnMap *map, const Run *run)
{
	CheckPlan  *plan = palloc0(sizeof(CheckPlan));
	Identity	saved;
	ListCell   *lc;

	foreach(lc, declared_checks(gate))
	{
		Check	   *check = lfirst(lc);

		if (check->kind == &dq_kind_ready && check->action != DQ_DECLARE)
			plan->checks = lappend(plan->checks, check);
	}
	if (plan->checks == NIL)
		return NULL;
	dq_assume(&saved, gate->run_as, PHASE_AUDIT);
	foreach(lc, plan->checks)
	{
		Check	   *check = lfirst(lc);

		if (check->owner == NULL)
			check->owner = gate->owner;
		compile(check, gate, map, run);
	}
	dq_resume(&saved);
	return plan;
}

/*
 * The effective checks of a gate.  Names are unique among them: a declared
 * check keeps its name, a derived one makes way.  Without a run, they are
 * only looked at.
 */
CheckPlan *
dq_make_plan(const Gate *gate, const ColumnMap *map, const Run *run)
{
	CheckPlan  *plan = palloc0(sizeof(CheckPlan));
	List	   *declared = declared_checks(gate);
	List	   *taken = list_copy(declared);
	Identity	saved;
	ListCell   *lc;

	/* with the pinned search_path, so that deparsed names are qualified */
	dq_assume(&saved, gate->run_as, PHASE_AUDIT);
	plan->checks = dq_derive_checks(map);
	adopt_constraints(gate, declared, plan->checks);
	plan->checks = without_superseded(plan->checks, declared);
	foreach(lc, plan->checks)
	{
		Check	   *check = lfirst(lc);

		check->name = free_check_name(check->name, taken);
		taken = lappend(taken, check);
		check->owner = gate->owner;
	}
	foreach(lc, declared)
	{
		Check	   *check = lfirst(lc);

		if (check->owner == NULL)
			check->owner = gate->owner;
	}
	if (run != NULL && run->totals != NULL)
		declared = expect_totals(run, map, declared);
	plan->checks = list_concat(plan->checks, declared);

	foreach(lc, plan->checks)
	{
		Check	   *check = lfirst(lc);

		compile(check, gate, map, run);
		plan->reads_target |= check->reads_target;
	}
	dq_resume(&saved);
	return plan;
}
