/*
 * access.c
 *		Who may see what of a table, and so of what is known about it.
 *
 * The policies of dq_gate's own tables and the functions that answer with
 * values ask here.  Configuration is shown to those who may read the target;
 * what was found in rows, to those who may read all rows and columns of it: a
 * sample, a message, a count say something of rows that a policy hides.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "access.h"
#include "authorize.h"
#include "compat.h"
#include "gate.h"
#include "read_arguments.h"
#include "spi_util.h"

/*
 * Whether a role may read all columns of a table.  Without USAGE on the schema
 * it cannot, whatever it was granted.  One that was dropped nobody reads.
 */
bool
dq_may_read(Oid relid, Oid role)
{
	Oid			namespace = get_rel_namespace(relid);
	bool		missing = false;

	return OidIsValid(namespace) &&
		pg_class_aclcheck_ext(relid, role, ACL_SELECT, &missing) == ACLCHECK_OK && !missing &&
		dq_schema_usage(namespace, role);
}

/* Whether no policy hides rows from it either */
bool
dq_may_see_rows(Oid relid, Oid role)
{
	return dq_may_read(relid, role) && check_enable_rls(relid, role, true) != RLS_ENABLED;
}

/*
 * Whether the caller may be shown what the gate reads in a table: who can act
 * as the gate's role can read it himself.
 */
bool
dq_shows_rows(const Gate *gate, Oid relid, Oid caller)
{
	return !gate->registered || dq_can_act_as(caller, gate->run_as) || dq_may_see_rows(relid, caller);
}

/*
 * Whether the caller of a run may not see the rows that it works on.
 */
bool
dq_is_veiled(const Gate *gate, Oid staging, Oid caller)
{
	return !dq_shows_rows(gate, staging, caller) || !dq_shows_rows(gate, gate->target, caller);
}

/* Whether the text of an error is the server's or our own, about no row */
static bool
names_no_values(int sqlstate)
{
	switch (ERRCODE_TO_CATEGORY(sqlstate))
	{
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_SYSTEM_ERROR:
			return true;
	}
	return sqlstate == ERRCODE_LOCK_NOT_AVAILABLE || sqlstate == ERRCODE_DQ_BATCH_REUSED ||
		sqlstate == ERRCODE_INSUFFICIENT_PRIVILEGE;
}

/*
 * Do a step.  Where the caller may not see the rows that it works on, he gets
 * no more of an error than what kind it is: its text, detail and context may
 * show a value.
 */
void
dq_run_veiled(bool veiled, DqStep step, void *arg, const Gate *gate, Oid caller)
{
	MemoryContext context = CurrentMemoryContext;

	if (!veiled)
	{
		step(arg);
		return;
	}
	PG_TRY();
	{
		step(arg);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (names_no_values(error->sqlerrcode))
			PG_RE_THROW();
		FlushErrorState();
		ereport(ERROR,
				(errcode(error->sqlerrcode),
				 errmsg("gate %s: an error with SQLSTATE %s", gate->name, unpack_sql_state(error->sqlerrcode)),
				 errdetail("What it says may show values of rows, and role %s may not read all of the tables of the gate.",
						   quote_identifier(GetUserNameFromId(caller, false)))));
	}
	PG_END_TRY();
}

PG_FUNCTION_INFO_V1(dq_gate_may_read);
PG_FUNCTION_INFO_V1(dq_gate_may_see_rows);
PG_FUNCTION_INFO_V1(dq_gate_may_run);

/*
 * may_read(target), of the current user
 */
Datum
dq_gate_may_read(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(dq_may_read(PG_GETARG_OID(0), GetUserId()));
}

/*
 * may_see_rows(target), of the current user
 */
Datum
dq_gate_may_see_rows(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(dq_may_see_rows(PG_GETARG_OID(0), GetUserId()));
}

/*
 * may_run(target, staging), of the current user; without staging on that of
 * the gate.
 */
Datum
dq_gate_may_run(PG_FUNCTION_ARGS)
{
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	Oid			caller = GetUserId();
	Gate	   *gate;
	bool		may;

	dq_check_nargs(fcinfo, 2);
	SPI_connect();
	dq_check_target(target);
	gate = dq_resolve_gate(target);
	may = dq_may_run(gate, caller) &&
		(PG_ARGISNULL(1) || dq_may_name_staging(gate, PG_GETARG_OID(1), caller));
	SPI_finish();
	PG_RETURN_BOOL(may);
}
