/*
 * triggers.c
 *		The triggers of a table.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "triggers.h"

static List *
append_triggers(List *triggers, Relation catalog, Oid relid)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);
		TargetTrigger *trigger = palloc0(sizeof(TargetTrigger));

		trigger->type = form->tgtype;
		trigger->function = form->tgfoid;
		trigger->constraint = form->tgconstraint;
		trigger->deferrable = form->tgdeferrable;
		trigger->deferred = form->tginitdeferred;
		triggers = lappend(triggers, trigger);
	}
	systable_endscan(scan);
	return triggers;
}

/*
 * The triggers of a table and of its partitions or children, those of
 * constraints included, as a list of TargetTrigger.
 */
List *
dq_target_triggers(Oid target)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	List	   *triggers = NIL;
	ListCell   *lc;

	foreach(lc, find_all_inheritors(target, NoLock, NULL))
		triggers = append_triggers(triggers, catalog, lfirst_oid(lc));
	table_close(catalog, AccessShareLock);
	return triggers;
}

/*
 * The constraint of another table that deletes or changes rows of that one
 * when rows of the target are deleted, InvalidOid if there is none.
 */
Oid
dq_cascading_constraint(Oid target)
{
	ListCell   *lc;

	foreach(lc, dq_target_triggers(target))
	{
		TargetTrigger *trigger = lfirst(lc);

		if (trigger->function == F_RI_FKEY_CASCADE_DEL ||
			trigger->function == F_RI_FKEY_SETNULL_DEL ||
			trigger->function == F_RI_FKEY_SETDEFAULT_DEL)
			return trigger->constraint;
	}
	return InvalidOid;
}
