/*
 * deferred.c
 *		When deferred constraints are checked.
 *
 * Not at commit: there a failure could no longer be logged, and a trigger
 * would run as whoever commits.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_constraint.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "deferred.h"
#include "spi_util.h"
#include "triggers.h"

/* Qualified name of a constraint, NULL if it is gone */
static char *
constraint_sql(Oid constraint)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	Form_pg_constraint form;
	char	   *sql;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	sql = quote_qualified_identifier(get_namespace_name(form->connamespace),
									 NameStr(form->conname));
	ReleaseSysCache(tuple);
	return sql;
}

/*
 * The deferrable constraints behind the triggers of a target, as SET
 * CONSTRAINTS takes them; only_deferred leaves those that begin immediate.
 */
static char *
deferrable_constraints(List *triggers, bool only_deferred)
{
	StringInfoData names;
	List	   *seen = NIL;
	ListCell   *lc;

	initStringInfo(&names);
	foreach(lc, triggers)
	{
		TargetTrigger *trigger = lfirst(lc);
		char	   *name;

		if (!trigger->deferrable || !OidIsValid(trigger->constraint) ||
			(only_deferred && !trigger->deferred) ||
			list_member_oid(seen, trigger->constraint))
			continue;
		seen = lappend_oid(seen, trigger->constraint);
		name = constraint_sql(trigger->constraint);
		if (name != NULL)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", name);
	}
	return names.len > 0 ? names.data : NULL;
}

/* All constraints of the database that begin deferred */
static char *
all_deferred_constraints(void)
{
	char	   *names;

	dq_execute("SELECT pg_catalog.string_agg(pg_catalog.format('%I.%I', n.nspname, c.conname), ', ')"
			   " FROM pg_catalog.pg_constraint c"
			   " JOIN pg_catalog.pg_namespace n ON n.oid = c.connamespace"
			   " WHERE c.condeferred", 0, NULL, NULL, NULL, false);
	names = dq_result_text(0, 1);
	dq_free_result();
	return names;
}

static void
set_constraints(const char *names, const char *mode)
{
	if (names)
		dq_execute(psprintf("SET CONSTRAINTS %s %s", names, mode), 0, NULL, NULL, NULL, false);
}

/*
 * The deferred constraints of the target are checked right after the MERGE,
 * rather than at commit when nobody could log a failure.
 */
void
dq_check_deferred(Oid target)
{
	List	   *triggers = dq_target_triggers(target);

	set_constraints(deferrable_constraints(triggers, false), "IMMEDIATE");
	set_constraints(deferrable_constraints(triggers, true), "DEFERRED");
}

/*
 * Where a run acts as another role than its caller, nothing that the role's
 * triggers do may be left to the end of the transaction, when it would be done
 * as the caller.  Before the publish, as the caller, all constraints become
 * immediate; what the caller had pending is checked now, by the caller.
 */
void
dq_begin_immediate(void)
{
	set_constraints("ALL", "IMMEDIATE");
}

/* And those that begin deferred are deferred again, which fires nothing */
void
dq_end_immediate(void)
{
	Identity	saved;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	set_constraints(all_deferred_constraints(), "DEFERRED");
	dq_resume(&saved);
}
