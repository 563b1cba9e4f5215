/*
 * gate.c
 *		Resolve, authorize, lock and register a gate.
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
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "access.h"
#include "after_publish.h"
#include "compat.h"
#include "gate.h"
#include "gate_settings.h"
#include "operators.h"
#include "policy.h"
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

static bool
role_exists(const Gate *gate)
{
	return SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(gate->run_as));
}

/* Refuse to act as a role that was dropped; the gate can still get another one */
void
dq_require_role(const Gate *gate)
{
	if (!role_exists(gate))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the role that gate %s runs as does not exist any more", gate->name),
				 errhint("Give it another one with SELECT dq_gate.alter_gate(%s, run_as => '...').",
						 quote_literal_cstr(gate->name))));
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

/* A right on a table, on all of it or on some of its columns */
static bool
has_right(Oid relid, Oid role, AclMode mode)
{
	return pg_class_aclcheck(relid, role, mode) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all(relid, role, mode, ACLMASK_ANY) == ACLCHECK_OK;
}

/* The rights that a run needs on a table, in words */
static char *
rights_words(AclMode modes)
{
	static const struct
	{
		AclMode		mode;
		const char *name;
	}			names[] = {
		{ACL_SELECT, "SELECT"}, {ACL_INSERT, "INSERT"}, {ACL_UPDATE, "UPDATE"},
		{ACL_DELETE, "DELETE"}, {ACL_TRUNCATE, "TRUNCATE"}
	};
	StringInfoData words;

	initStringInfo(&words);
	for (int i = 0; i < (int) lengthof(names); i++)
	{
		if (!(modes & names[i].mode))
			continue;
		modes &= ~names[i].mode;
		appendStringInfo(&words, "%s%s", words.len == 0 ? "" : modes ? ", " : " and ", names[i].name);
	}
	appendStringInfoString(&words, " on it");
	return words.data;
}

/* Refuse a run whose role lacks a right, or would not see all rows */
static void
authorize_table(const Gate *gate, Oid relid, AclMode modes)
{
	char	   *role = GetUserNameFromId(gate->run_as, false);
	char	   *rights = rights_words(modes);
	bool		allowed = dq_schema_usage(get_rel_namespace(relid), gate->run_as);

	if (!allowed)
		rights = "USAGE on its schema";
	for (AclMode mode = 1; allowed && mode != 0 && mode <= modes; mode <<= 1)
	{
		if (modes & mode)
			allowed = has_right(relid, gate->run_as, mode);
	}
	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s", dq_relation_sql(relid)),
				 errdetail("Role %s, as which gate %s runs, needs %s.",
						   quote_identifier(role), gate->name, rights)));
	if (check_enable_rls(relid, gate->run_as, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row-level security of table %s would hide rows from gate %s",
						dq_relation_sql(relid), gate->name),
				 errdetail("The gate runs as role %s, to which policies apply: it would audit a part of the rows and take it for all.",
						   quote_identifier(role)),
				 errhint("Run it as a role that bypasses row-level security, or as the owner of the table.")));
}

/*
 * Whether a role may run the gate: one that can act as the gate's role, or was
 * granted to run it.  Without a gate a run acts as the caller, and anybody may
 * try.  SPI is connected.
 */
bool
dq_may_run(const Gate *gate, Oid caller)
{
	return !gate->registered || dq_can_act_as(caller, gate->run_as) ||
		dq_is_operator(gate->target, caller);
}

/* Refuse a caller who may not run the gate */
void
dq_authorize_caller(const Gate *gate, Oid caller)
{
	char	   *run_as;

	dq_require_role(gate);
	if (dq_may_run(gate, caller))
		return;
	run_as = GetUserNameFromId(gate->run_as, false);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for gate %s", gate->name),
			 errdetail("It runs as role %s, and role %s is not a member of it, nor an operator of the gate.",
					   quote_identifier(run_as),
					   quote_identifier(GetUserNameFromId(caller, false))),
			 errhint("A member of role %s can let it run the gate with SELECT dq_gate.grant_operator(%s, %s).",
					 quote_identifier(run_as), quote_literal_cstr(gate->name),
					 quote_literal_cstr(quote_identifier(GetUserNameFromId(caller, false))))));
}

/*
 * An operator runs the gate as it was set up: by naming another staging table
 * he would read with the rights of the gate's role, and publish what he likes.
 */
bool
dq_may_name_staging(const Gate *gate, Oid staging, Oid caller)
{
	return !gate->registered || staging == gate->staging || dq_can_act_as(caller, gate->run_as);
}

static void
authorize_named_staging(const Gate *gate, Oid staging, Oid caller)
{
	char	   *run_as;

	if (dq_may_name_staging(gate, staging, caller))
		return;
	run_as = GetUserNameFromId(gate->run_as, false);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for staging table %s of gate %s", dq_relation_sql(staging), gate->name),
			 errdetail("Role %s is an operator of the gate and not a member of role %s, and so takes batches from the staging table of the gate only%s%s.",
					   quote_identifier(GetUserNameFromId(caller, false)), quote_identifier(run_as),
					   OidIsValid(gate->staging) ? ": " : ", which names none",
					   OidIsValid(gate->staging) ? dq_relation_sql(gate->staging) : ""),
			 errhint("A member of role %s can name it with SELECT dq_gate.alter_gate(%s, staging => %s).",
					 quote_identifier(run_as), quote_literal_cstr(gate->name),
					 quote_literal_cstr(dq_relation_sql(staging)))));
}

/*
 * Code of the gate that looks for a table or a type finds a temporary one of
 * the session, first if it sets a search_path without pg_temp: an operator
 * could have it run a view of his with the rights of the gate's role.
 */
void
dq_authorize_session(const Gate *gate, Oid caller)
{
	Oid			types[1] = {OIDOID};
	Datum		values[1];
	Oid			namespace;
	Oid			toast_namespace;
	Identity	saved;
	bool		found;

	GetTempNamespaceState(&namespace, &toast_namespace);
	if (!OidIsValid(namespace) || !gate->registered || dq_can_act_as(caller, gate->run_as))
		return;
	values[0] = ObjectIdGetDatum(namespace);
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	found = dq_execute("SELECT FROM pg_catalog.pg_type WHERE typnamespace = $1 LIMIT 1",
					   1, types, values, NULL, false) > 0;
	dq_free_result();
	dq_resume(&saved);
	if (found)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("role %s cannot run gate %s in a session that has temporary tables, views or types",
						quote_identifier(GetUserNameFromId(caller, false)), gate->name),
				 errdetail("It is an operator of the gate and not a member of role %s, as which triggers and functions run that would find them.",
						   quote_identifier(GetUserNameFromId(gate->run_as, false))),
				 errhint("Drop them with DISCARD TEMP, or run the gate in another session.")));
}

/* Whether the gate's role may read all of a table, and sees all its rows */
void
dq_authorize_reading(const Gate *gate, Oid relid)
{
	authorize_table(gate, relid, ACL_SELECT);
}

/*
 * Whether the caller may run the gate on a staging table, and the gate's role
 * do what a run does.  Known before anything is locked.
 */
void
dq_authorize_run(const Gate *gate, Oid staging, Oid caller, bool dry_run)
{
	dq_authorize_caller(gate, caller);
	authorize_named_staging(gate, staging, caller);
	dq_authorize_session(gate, caller);
	authorize_table(gate, staging, ACL_SELECT | (dry_run ? ACL_NO_RIGHTS : dq_staging_rights(gate)));
	if (!dry_run)
		authorize_table(gate, gate->target, ACL_SELECT | ACL_INSERT |
						(dq_mode_updates(gate) ? ACL_UPDATE : ACL_NO_RIGHTS) |
						(dq_mode_deletes(gate) ? ACL_DELETE : ACL_NO_RIGHTS));
}

/*
 * Whether the gate's role may put quarantined rows back into staging; what a
 * run takes is asked for by dq_authorize_run.
 */
void
dq_authorize_requeue(const Gate *gate, Oid staging, Oid quarantine)
{
	authorize_table(gate, staging, ACL_INSERT);
	authorize_table(gate, quarantine, ACL_SELECT);
}

/*
 * Whether a role may answer for what the gate does, acknowledge its runs and
 * mute it: one that may run it.  Where no gate is registered, which anybody may
 * run as himself, it is the owner of the target, or one who could publish there.
 */
bool
dq_may_answer_for(const Gate *gate, Oid role)
{
	if (gate->registered && role_exists(gate))
		return dq_may_run(gate, role);
	return dq_owns_relation(gate->target, role) ||
		(!gate->registered && has_right(gate->target, role, ACL_SELECT) &&
		 has_right(gate->target, role, ACL_INSERT) && has_right(gate->target, role, ACL_UPDATE));
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
 * Whether the current user may register the gate, or change what it does: the
 * owner of the target registers it, and then whoever can act as its role,
 * since that role evaluates what is declared.
 */
static bool
may_change(const Gate *gate)
{
	return gate->registered && role_exists(gate) ? dq_can_act_as(GetUserId(), gate->run_as) :
		dq_owns_relation(gate->target, GetUserId());
}

static void
authorize_change(const Gate *gate)
{
	if (may_change(gate))
		return;
	if (!gate->registered || !role_exists(gate))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s", gate->name),
				 errdetail("A gate is registered by the owner of its target.")));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for gate %s", gate->name),
			 errdetail("It runs as role %s, and is changed by members of that role only.",
					   quote_identifier(GetUserNameFromId(gate->run_as, false)))));
}

/* Whether the current user may delete what the gate keeps: one who may change it */
bool
dq_may_purge(const Gate *gate)
{
	return may_change(gate);
}

void
dq_authorize_purge(const Gate *gate)
{
	if (dq_may_purge(gate))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to purge gate %s", gate->name),
			 gate->registered && role_exists(gate) ?
			 errdetail("It runs as role %s, and is purged by members of that role only.",
					   quote_identifier(GetUserNameFromId(gate->run_as, false))) :
			 errdetail("It is purged by the owner of its target.")));
}

/* Whether the current user may read the target, or change the gate */
bool
dq_may_look(const Gate *gate)
{
	return dq_may_read(gate->target, GetUserId()) ||
		dq_owns_relation(gate->target, GetUserId()) || may_change(gate);
}

/*
 * Whether the current user may look at the rules of the gate: one who may
 * read the target or change the gate.
 */
void
dq_authorize_look(const Gate *gate)
{
	dq_require_role(gate);
	if (!dq_may_look(gate))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for gate %s", gate->name),
				 errdetail("Its checks are shown to those who may read its target, or change it.")));
}

/* Whether a role may be shown what is in the rows of the target */
void
dq_authorize_values(const Gate *gate, Oid caller)
{
	if (!dq_shows_rows(gate, gate->target, caller))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s", gate->name),
				 errdetail("What was found in its rows is shown to those who may read all of them.")));
}

/* Whether the current user may have a staging table of the gate looked at */
void
dq_authorize_staging(const Gate *gate, Oid staging)
{
	if (staging != gate->staging && !dq_may_read(staging, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s", dq_relation_sql(staging))));
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
	authorize_change(dq_resolve_gate(target));
	dq_lock_gate(target);
	return dq_resolve_gate(target);
}

/* The same of a target that has one */
Gate *
dq_open_registered_gate(Oid target)
{
	Gate	   *gate = dq_open_gate(target);

	if (!gate->registered)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("no gate is registered for %s", gate->name),
				 errhint("Register one with SELECT dq_gate.create_gate(%s).",
						 quote_literal_cstr(gate->name))));
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
