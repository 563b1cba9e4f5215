/*
 * gate.c
 *		Resolve, lock and register a gate.
 *
 * A target without a registered gate is guarded all the same, on defaults
 * derived from the target and as the role that calls.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "authorize.h"
#include "compat.h"
#include "gate.h"
#include "gate_settings.h"
#include "spi_util.h"

/* One of dq_gate's own tables */
Oid
dq_table(const char *name)
{
	return get_relname_relid(name, get_namespace_oid(DQ_SCHEMA, false));
}

/*
 * The gate of a target, as registered or with derived defaults.
 */
Gate *
dq_resolve_gate(Oid target)
{
	Gate	   *gate = palloc0(sizeof(Gate));
	Oid			types[1] = {REGCLASSOID};
	Datum		values[1] = {ObjectIdGetDatum(target)};
	Identity	saved;

	gate->target = target;
	gate->name = dq_relation_sql(target);
	dq_default_settings(gate);
	gate->run_as = GetUserId();

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	if (dq_execute(psprintf("SELECT %s FROM dq_gate.gates WHERE target = $1", dq_setting_columns()),
				   1, types, values, NULL, false) > 0)
	{
		gate->registered = true;
		dq_read_settings(gate, 1);
	}
	dq_free_result();
	dq_resume(&saved);

	return gate;
}

/* Refuse what is no ordinary table, saying which part it was to play */
static void
check_table(Oid relid, const char *part, const char *hint)
{
	char		relkind = get_rel_relkind(relid);
	Oid			namespace;

	if (relkind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("%s table with OID %u does not exist", part, relid)));
	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s cannot be a %s table", dq_relation_sql(relid), part),
				 errdetail_relkind_not_supported(relkind),
				 errhint("%s", hint)));

	namespace = get_rel_namespace(relid);
	if (IsCatalogRelationOid(relid) ||
		namespace == get_namespace_oid(DQ_SCHEMA, false) ||
		namespace == get_namespace_oid(DQ_QUARANTINE_SCHEMA, true))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s cannot be a %s table", dq_relation_sql(relid), part),
				 errdetail("It belongs to the system or to dq_gate itself.")));
	if (isOtherTempNamespace(namespace))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s is a temporary table of another session", dq_relation_sql(relid))));
}

void
dq_check_target(Oid target)
{
	check_table(target, "target",
				"A gate guards an ordinary or partitioned table; name the table itself.");
}

/*
 * A part of a table that is on another server, InvalidOid if there is none:
 * that one can change it, whatever is locked here.
 */
Oid
dq_foreign_part(Oid relid)
{
	ListCell   *lc;

	foreach(lc, find_all_inheritors(relid, NoLock, NULL))
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
			return lfirst_oid(lc);
	}
	return InvalidOid;
}

void
dq_check_staging(Oid staging, Oid target)
{
	Oid			part;

	check_table(staging, "staging",
				"A batch must be in an ordinary, partitioned or temporary table, which can be locked; copy it into one.");
	if (staging == target)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("staging and target are the same table: %s", dq_relation_sql(target)),
				 errhint("Load the batch into a table of its own, for example CREATE TABLE ... (LIKE %s).",
						 dq_relation_sql(target))));
	part = dq_foreign_part(staging);
	if (OidIsValid(part))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s cannot be a staging table", dq_relation_sql(staging)),
				 errdetail("%s is a foreign table, which another server can change while it is audited.",
						   dq_relation_sql(part)),
				 errhint("Copy the batch into a table of this database.")));
	if (list_member_oid(find_all_inheritors(target, NoLock, NULL), staging) ||
		list_member_oid(find_all_inheritors(staging, NoLock, NULL), target))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("staging table %s and target %s are parts of each other",
						dq_relation_sql(staging), dq_relation_sql(target)),
				 errhint("Load the batch into a table of its own.")));
}

/*
 * What relies on its locks must see what was committed before they were
 * granted, and a transaction that keeps its first snapshot does not.
 */
void
dq_require_read_committed(const char *act)
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s in a transaction with isolation level %s", act,
						XactIsoLevel == XACT_SERIALIZABLE ? "SERIALIZABLE" : "REPEATABLE READ"),
				 errdetail("Its snapshot may be older than its locks, and rows committed in between would be missed."),
				 IsTransactionBlock() ?
				 errhint("Begin the transaction with BEGIN ISOLATION LEVEL READ COMMITTED.") :
				 errhint("SET default_transaction_isolation TO 'read committed' in this session.")));
}

/* The backends that hold a lock, as text */
static char *
lock_holders(const LOCKTAG *tag)
{
	int			count;
	VirtualTransactionId *holders = GetLockConflicts(tag, ExclusiveLock, &count);
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < count; i++)
	{
		PGPROC	   *proc = dq_lock_holder(holders[i]);

		if (proc != NULL && proc->pid != 0 && proc->pid != MyProcPid)
			appendStringInfo(&buf, "%s%d", buf.len > 0 ? ", " : "", proc->pid);
	}
	return buf.data;
}

/*
 * Make the gate of a target ours until the transaction ends, to run it or to
 * change it.  The lock is on an object
 * that only dq_gate knows, (gates, target), so that it meets nobody else's.
 * Waiting honours lock_timeout, and then says who was in the way.
 */
void
dq_lock_gate(Oid target)
{
	Oid			class = dq_table("gates");
	MemoryContext context = CurrentMemoryContext;
	LOCKTAG		tag;

	if (ConditionalLockDatabaseObject(class, target, 0, ExclusiveLock))
		return;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, class, target, 0);
	PG_TRY();
	{
		LockDatabaseObject(class, target, 0, ExclusiveLock);
	}
	PG_CATCH();
	{
		ErrorData  *error;
		char	   *holders;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		FlushErrorState();
		holders = lock_holders(&tag);
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("gate %s is busy", dq_relation_sql(target)),
				 holders[0] != '\0' ?
				 errdetail("It is being run or changed in backend %s.", holders) :
				 errdetail("It was being run or changed until just now."),
				 errhint("Wait for that to end, raise lock_timeout, or look at it with SELECT * FROM dq_gate.activity.")));
	}
	PG_END_TRY();
}

/*
 * The gate of a target for one who may change it, locked against runs and
 * other changes.
 */
Gate *
dq_open_gate(Oid target)
{
	PreventCommandIfReadOnly("a change of a gate");

	/* nobody waits, or makes others wait, for what he may not do */
	dq_authorize_change(dq_resolve_gate(target));
	dq_lock_gate(target);
	return dq_resolve_gate(target);
}

/* Refuse a target on its defaults */
void
dq_require_registered(const Gate *gate)
{
	if (!gate->registered)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("no gate is registered for %s", gate->name),
				 errhint("Register one with SELECT dq_gate.create_gate(%s).",
						 quote_literal_cstr(gate->name))));
}

/* The same of a target that has one */
Gate *
dq_open_registered_gate(Oid target)
{
	Gate	   *gate = dq_open_gate(target);

	dq_require_registered(gate);
	return gate;
}

/* Lock a table with its partitions or children, which can be written alone */
void
dq_lock_table(Oid relid, LOCKMODE mode)
{
	LockRelationOid(relid, mode);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table with OID %u was dropped by another session", relid)));
	(void) find_all_inheritors(relid, mode, NULL);
}

/* Write a gate, new or changed */
void
dq_save_gate(const Gate *gate)
{
	Oid		   *types = palloc(sizeof(Oid) * (dq_gate_setting_count + 1));
	Datum	   *values = palloc(sizeof(Datum) * (dq_gate_setting_count + 1));
	char	   *nulls = palloc0(dq_gate_setting_count + 2);
	StringInfoData names,
				places,
				changes;
	Identity	saved;

	initStringInfo(&names);
	initStringInfo(&places);
	initStringInfo(&changes);
	types[0] = REGCLASSOID;
	values[0] = ObjectIdGetDatum(gate->target);
	nulls[0] = ' ';
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	for (int i = 0; i < dq_gate_setting_count; i++)
	{
		const GateSetting *setting = &dq_gate_settings[i];
		char	   *text = dq_setting_text(gate, setting);
		bool		oid = setting->typid == REGCLASSOID || setting->typid == REGROLEOID;

		types[i + 1] = TEXTOID;
		values[i + 1] = text ? CStringGetTextDatum(text) : (Datum) 0;
		nulls[i + 1] = text ? ' ' : 'n';
		appendStringInfo(&names, ", %s", setting->name);
		appendStringInfo(&places, ", $%d%s::%s", i + 2, oid ? "::pg_catalog.oid" : "",
						 dq_type_sql(setting->typid, -1));
		appendStringInfo(&changes, "%s%s = EXCLUDED.%s", i > 0 ? ", " : "",
						 setting->name, setting->name);
	}
	dq_execute(psprintf("INSERT INTO dq_gate.gates (target%s) VALUES ($1%s)"
						" ON CONFLICT (target) DO UPDATE SET %s",
						names.data, places.data, changes.data),
			   dq_gate_setting_count + 1, types, values, nulls, false);
	dq_resume(&saved);
}

/* Remove a gate; its checks go with it */
void
dq_forget_gate(const Gate *gate)
{
	Oid			types[1] = {REGCLASSOID};
	Datum		values[1] = {ObjectIdGetDatum(gate->target)};
	Identity	saved;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dq_execute("DELETE FROM dq_gate.gates WHERE target = $1",
			   1, types, values, NULL, false);
	dq_resume(&saved);
}
