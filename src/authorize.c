/*
 * authorize.c
 *		Who may do what with a gate, and whether its role can.
 *
 * A run needs a caller who may run the gate, by membership in its role or as
 * an operator, and a role with the rights that the run takes.  A change needs
 * one who can act as the role, since that role evaluates what is declared.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "access.h"
#include "after_publish.h"
#include "authorize.h"
#include "compat.h"
#include "operators.h"
#include "policy.h"
#include "spi_util.h"

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

void
dq_authorize_change(const Gate *gate)
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
