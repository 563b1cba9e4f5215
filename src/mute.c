/*
 * mute.c
 *		A gate raises no alert for a while.
 *
 * All else goes on: its runs are logged, warned of and unread.  Mutes that are
 * over are kept, so that the log can say why nobody was told.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "authorize.h"
#include "gate.h"
#include "read_arguments.h"
#include "spi_util.h"

PG_FUNCTION_INFO_V1(dq_gate_mute);
PG_FUNCTION_INFO_V1(dq_gate_unmute);

/* The registered gate of a target, for one who may mute it */
static Gate *
open_gate(Oid target)
{
	Gate	   *gate;

	PreventCommandIfReadOnly("a mute of a gate");
	dq_check_target(target);
	gate = dq_resolve_gate(target);
	if (!dq_may_answer_for(gate, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for gate %s", gate->name),
				 errdetail("It is muted by those who may run it.")));
	dq_require_registered(gate);
	return gate;
}

/* End the mute of a gate.  Returns false where there is none. */
static bool
end_mute(Oid target)
{
	Oid			types[1] = {REGCLASSOID};
	Datum		values[1] = {ObjectIdGetDatum(target)};

	/* one at a time, since a gate has one mute at the most */
	dq_execute("SELECT FROM dq_gate.gates WHERE target = $1 FOR NO KEY UPDATE",
			   1, types, values, NULL, false);
	dq_free_result();
	return dq_execute("UPDATE dq_gate.mutes SET muted_until = pg_catalog.clock_timestamp(), ended_by = SESSION_USER"
					  " WHERE target = $1 AND muted_until > pg_catalog.clock_timestamp()",
					  1, types, values, NULL, false) > 0;
}

static void
begin_mute(Oid target, TimestampTz until, const char *reason)
{
	Oid			types[3] = {REGCLASSOID, TIMESTAMPTZOID, TEXTOID};
	Datum		values[3];

	values[0] = ObjectIdGetDatum(target);
	values[1] = TimestampTzGetDatum(until);
	values[2] = CStringGetTextDatum(reason);
	dq_execute("INSERT INTO dq_gate.mutes (target, muted_until, reason) VALUES ($1, $2, $3)",
			   3, types, values, NULL, false);
}

/*
 * mute(target, until, reason) keeps the gate from raising alerts until then,
 * in place of an earlier mute.
 */
Datum
dq_gate_mute(PG_FUNCTION_ARGS)
{
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	TimestampTz until;
	char	   *reason;
	Identity	saved;

	dq_check_nargs(fcinfo, 3);
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"until\" must not be NULL")));
	until = PG_GETARG_TIMESTAMPTZ(1);
	reason = dq_required_words(fcinfo, 2, "reason");

	SPI_connect();
	open_gate(target);
	if (TIMESTAMP_IS_NOEND(until))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a mute must end"),
				 errhint("To be told nothing at all, use SELECT dq_gate.alter_gate(%s, alert => 'never').",
						 quote_literal_cstr(dq_relation_sql(target)))));
	if (until <= GetCurrentTimestamp())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"until\" must be in the future"),
				 errhint("For example: now() + interval '2 hours'.")));
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	(void) end_mute(target);
	begin_mute(target, until, reason);
	dq_resume(&saved);
	SPI_finish();
	PG_RETURN_OID(target);
}

/*
 * unmute(target) lets the gate raise alerts again.  Answers whether it was
 * muted.
 */
Datum
dq_gate_unmute(PG_FUNCTION_ARGS)
{
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	Identity	saved;
	bool		muted;

	dq_check_nargs(fcinfo, 1);
	SPI_connect();
	open_gate(target);
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	muted = end_mute(target);
	dq_resume(&saved);
	SPI_finish();
	PG_RETURN_BOOL(muted);
}
