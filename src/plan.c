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
					   " ARRAY(SELECT p.value FROM pg_catalog.jsonb_each_text(parameters) p ORDER BY p.key)"
					   " FROM dq_gate.checks WHERE target = $1 ORDER BY name COLLATE \"C\"",
					   1, types, values, NULL, false);
	for (uint64 row = 0; row < count; row++)
	{
		Check	   *check = palloc0(sizeof(Check));
		bool		isnull;
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
 * The effective checks of a gate.  Names are unique among them: a declared
 * check keeps its name, a derived one makes way.
 */
CheckPlan *
dq_make_plan(const Gate *gate, const ColumnMap *map)
{
	CheckPlan	   *plan = palloc0(sizeof(CheckPlan));
	List	   *declared = declared_checks(gate);
	List	   *taken = list_copy(declared);
	Identity	saved;
	ListCell   *lc;

	/* with the pinned search_path, so that deparsed names are qualified */
	dq_assume(&saved, gate->run_as, PHASE_AUDIT);
	plan->checks = dq_derive_checks(map);
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

		check->kind->compile(check, map);
		plan->reads_target |= check->reads_target;
	}
	dq_resume(&saved);
	return plan;
}
