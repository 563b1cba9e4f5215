/*
 * tick.c
 *		Calls that a scheduler makes by the clock, whether or not the last one
 *		has ended.
 *
 * Such calls must not pile up behind a long run.  One tick of a staging table
 * and its target is under way at a time, and any other ends at once.  A tick
 * can also come late: it has waited for the gate, or its scheduler starts what
 * it could not start in time when the last one has ended, as pg_cron does.
 * Then the log says that a run was going when it was due.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "spi_util.h"
#include "tick.h"

/* How many of the latest runs are looked at; more are not skipped in a minute */
#define LATEST_RUNS		"1000"

/*
 * How often the scheduler calls, in microseconds; 0 where the caller is none.
 */
int64
dq_tick_argument(FunctionCallInfo fcinfo, int arg)
{
	double		seconds;

	if (PG_ARGISNULL(arg))
		return 0;
	seconds = DatumGetFloat8(DirectFunctionCall2(interval_part, CStringGetTextDatum("epoch"),
												 PG_GETARG_DATUM(arg)));
	if (!(seconds >= 1 && seconds <= 1e9))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"tick\" must be 1 second or more"),
				 errhint("It says how often a scheduler makes this call.")));
	return (int64) (seconds * USECS_PER_SEC);
}

/*
 * Whether no other tick of this staging table and target is under way, until
 * the transaction ends.  A lock of its own, on an object that does not exist,
 * since a run of another staging table makes the tick wait, not end.
 */
bool
dq_claim_tick(const Run *run)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, run->gate->target, run->map->staging, PG_INT16_MAX);
	return dq_try_lock(&tag, ExclusiveLock);
}

/*
 * The run of the same staging table that was going when this tick was due, 0 if
 * there was none.  Schedules in minutes are due when a minute begins.  Those in
 * seconds have no such mark: there, a run that took as long as it is from tick
 * to tick has put off the one that comes soon after it.
 */
int64
dq_missed_by(const Run *run)
{
	Oid			types[4] = {REGCLASSOID, TEXTOID, TIMESTAMPTZOID, INT8OID};
	Datum		values[4];
	int64		missed = 0;
	Identity	saved;

	values[0] = ObjectIdGetDatum(run->gate->target);
	values[1] = CStringGetTextDatum(run->map->staging_sql);
	values[2] = TimestampTzGetDatum(run->started_at);
	values[3] = Int64GetDatum(run->tick);
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	if (dq_execute("SELECT r.run_id FROM (SELECT * FROM dq_gate.runs WHERE target = $1"
				   " ORDER BY run_id DESC LIMIT " LATEST_RUNS ") AS r,"
				   " (SELECT pg_catalog.make_interval(secs => $4 / 1000000.0)) AS t (tick)"
				   " WHERE r.staging = $2 AND r.verdict NOT IN ('skipped', 'audited')"
				   " AND CASE WHEN tick < '1 minute'"
				   "  THEN r.duration >= tick AND r.started_at + r.duration > $3 - tick"
				   "  ELSE r.started_at + r.duration > pg_catalog.date_trunc('minute', $3) END"
				   " ORDER BY r.run_id DESC LIMIT 1",
				   4, types, values, NULL, false) > 0)
		missed = dq_result_int64(0, 1, 0);
	dq_free_result();
	dq_resume(&saved);
	return missed;
}
