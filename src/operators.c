/*
 * operators.c
 *		Roles that may run a gate without being members of its role.
 *
 * A grant of dq_gate's own: PostgreSQL has none for a gate.  It is kept by the
 * OID of the role, so that it goes with a role that is renamed and not with a
 * name that another role is given later.  A role that was dropped holds none,
 * and what is left of its grant is removed by the next change; no dump carries
 * it, see tables.sql.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "gate.h"
#include "operators.h"
#include "read_arguments.h"
#include "spi_util.h"

/*
 * Whether a role has been granted to run the gate of a target, as such or as
 * one that has the privileges of a role that was.  SPI is connected.
 */
bool
dq_is_operator(Oid target, Oid caller)
{
	Oid			types[1] = {REGCLASSOID};
	Datum		values[1] = {ObjectIdGetDatum(target)};
	bool		found = false;
	Identity	saved;
	uint64		count;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	count = dq_execute("SELECT o.operator::pg_catalog.oid FROM dq_gate.operators o WHERE o.target = $1",
					   1, types, values, NULL, false);
	for (uint64 i = 0; i < count && !found; i++)
	{
		bool		isnull;

		found = has_privs_of_role(caller, DatumGetObjectId(dq_result_datum(i, 1, &isnull)));
	}
	dq_free_result();
	dq_resume(&saved);
	return found;
}

/* Write a grant or take it back; whether that changes anything */
static bool
write_grant(Oid target, Oid role, const char *sql)
{
	Oid			types[2] = {REGCLASSOID, REGROLEOID};
	Datum		values[2] = {ObjectIdGetDatum(target), ObjectIdGetDatum(role)};
	Identity	saved;
	bool		changed;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	changed = dq_execute(sql, 2, types, values, NULL, false) > 0;
	dq_execute("DELETE FROM dq_gate.operators o WHERE NOT EXISTS"
			   " (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = o.operator)",
			   0, NULL, NULL, NULL, false);
	dq_resume(&saved);
	return changed;
}

/*
 * What grant_operator and revoke_operator have in common.
 */
static Datum
change_grant(FunctionCallInfo fcinfo, const char *sql, bool exists)
{
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	Oid			role = dq_required_oid(fcinfo, 1, "operator");
	bool		changed;

	dq_check_nargs(fcinfo, 2);
	if (exists && !SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role with OID %u does not exist", role)));
	SPI_connect();
	dq_check_target(target);
	(void) dq_open_registered_gate(target);
	changed = write_grant(target, role, sql);
	SPI_finish();
	PG_RETURN_BOOL(changed);
}

PG_FUNCTION_INFO_V1(dq_gate_grant_operator);
PG_FUNCTION_INFO_V1(dq_gate_revoke_operator);

/*
 * grant_operator(target, operator) lets a role run the gate.  Answers whether
 * it could not before.
 */
Datum
dq_gate_grant_operator(PG_FUNCTION_ARGS)
{
	return change_grant(fcinfo, "INSERT INTO dq_gate.operators (target, operator) VALUES ($1, $2)"
						" ON CONFLICT DO NOTHING", true);
}

/*
 * revoke_operator(target, operator) takes that back.  Answers whether there
 * was something to take back.
 */
Datum
dq_gate_revoke_operator(PG_FUNCTION_ARGS)
{
	return change_grant(fcinfo, "DELETE FROM dq_gate.operators o"
						" WHERE o.target = $1 AND o.operator = $2", false);
}
