/*
 * purge.c
 *		Delete what is old enough to go, in steps of so many rows.
 *
 * Each step is a transaction: it is short, so that nobody waits long for what
 * it has locked, and what it did stays done whatever becomes of the others.  It
 * waits for nobody itself: rows that are locked are left for the next time.  A
 * run and what belongs to it go in one step.
 *
 * Quarantined rows are deleted as the owner of their table, restricted: it may
 * have triggers.  The log is deleted as the extension's owner.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/timestamp.h"

#include "authorize.h"
#include "compat.h"
#include "error_context.h"
#include "gate.h"
#include "gate_settings.h"
#include "quarantine.h"
#include "read_arguments.h"
#include "retention.h"
#include "spi_util.h"

#define MAX_STEP_ROWS	1000000

/* How many runs a step looks at, at most and at least: each may be one that stays */
#define MAX_STEP_RUNS	1000
#define MIN_STEP_RUNS	100

typedef struct PurgeCounts
{
	int64		gates;
	int64		rows;			/* in quarantine */
	int64		runs;
	int64		results;
	int64		profiles;
	int64		unread;			/* runs that stay for that */
} PurgeCounts;

typedef struct Purge
{
	bool		counting;		/* what would go; nothing is changed */
	bool		unacknowledged;
	int			step_rows;
	char	   *rows_interval;	/* of what has none of its own */
	char	   *log_interval;
	TimestampTz now;
	PurgeCounts counts;

	/* all gates: what became of the others */
	bool		all;
	int			denied;			/* that the caller must not purge */
	int			failed;
	int			failed_sqlstate;
	StringInfoData failures;
	StringInfoData busy;		/* quarantine tables that somebody had locked */
	StringInfoData suppressed;	/* those that did not let go of rows */

	/* the gate at hand, and how far it got */
	MemoryContext gate_context;
	MemoryContext step_context;
	Retention	retention;
	int64		after_quarantined;
	OldRun		after;
	bool		noted;			/* that rows were not let go */
	bool		more;
} Purge;

/* How many runs a step looks at */
static int
step_runs(const Purge *purge)
{
	return Min(Max(purge->step_rows, MIN_STEP_RUNS), MAX_STEP_RUNS);
}

/* Append to a list, for people */
static void
note(StringInfo list, const char *separator, const char *item)
{
	appendStringInfo(list, "%s%s", list->len > 0 ? separator : "", item);
}

/*
 * Delete quarantined rows of the runs, at most so many; answers how many there
 * were to be deleted, and how many are.
 */
static int64
delete_quarantined(const Purge *purge, Oid quarantine, Datum runs, int64 *deleted)
{
	Oid			types[3] = {INT8ARRAYOID, TIMESTAMPTZOID, INT4OID};
	Datum		values[3];
	char	   *old = "q.run_id = ANY ($1) AND q.quarantined_at < $2";
	char	   *name = dq_relation_sql(quarantine);
	int64		chosen;
	Identity	saved;

	values[0] = runs;
	values[1] = TimestampTzGetDatum(purge->retention.rows_before);
	values[2] = Int32GetDatum(purge->step_rows);
	dq_assume(&saved, dq_relation_owner(quarantine), purge->counting ? PHASE_AUDIT : PHASE_EVIDENCE);
	dq_execute(purge->counting ?
			   psprintf("SELECT NULL, pg_catalog.count(*) FROM %s AS q WHERE %s AND $3 > 0", name, old) :
			   psprintf("WITH chosen AS MATERIALIZED (SELECT q.ctid FROM %1$s AS q WHERE %2$s LIMIT $3 FOR UPDATE SKIP LOCKED),"
						" gone AS (DELETE FROM %1$s AS q WHERE q.ctid = ANY (ARRAY(SELECT c.ctid FROM chosen AS c)) AND %2$s RETURNING 1)"
						" SELECT (SELECT pg_catalog.count(*) FROM chosen), (SELECT pg_catalog.count(*) FROM gone)", name, old),
			   3, types, values, NULL, false);
	chosen = dq_result_int64(0, 1, 0);
	*deleted = dq_result_int64(0, 2, 0);
	dq_free_result();
	dq_resume(&saved);
	return chosen;
}

/* Rows of some runs go; a run with many of them takes several steps */
static void
quarantine_step(void *arg)
{
	Purge	   *purge = arg;
	Oid			quarantine = dq_quarantine_of(purge->retention.target);
	int64		after = purge->after_quarantined;
	Datum		runs;
	int			looked_at;
	int64		unread;
	int64		chosen;
	int64		deleted;

	if (!OidIsValid(quarantine))
		return;
	if (!dq_try_quarantine(quarantine, purge->counting ? AccessShareLock : RowExclusiveLock))
	{
		note(&purge->busy, ", ", dq_relation_sql(quarantine));
		return;
	}
	looked_at = dq_old_quarantined(&purge->retention, quarantine, &after, step_runs(purge), &runs, &unread);
	if (looked_at == 0)
		return;
	chosen = delete_quarantined(purge, quarantine, runs, &deleted);
	purge->counts.rows += deleted;
	if (deleted < chosen && !purge->noted)
	{
		note(&purge->suppressed, ", ", dq_relation_sql(quarantine));
		purge->noted = true;
	}
	if (chosen < purge->step_rows || deleted == 0)
	{
		purge->after_quarantined = after;
		purge->counts.unread += unread;
	}
	purge->more = looked_at == step_runs(purge) || purge->after_quarantined != after;
}

/* Delete what a table of the log has of the runs; answers the number of rows */
static int64
delete_from(const char *table, Datum runs)
{
	Oid			types[1] = {INT8ARRAYOID};
	Datum		values[1] = {runs};

	return (int64) dq_execute(psprintf("DELETE FROM dq_gate.%s WHERE run_id = ANY ($1)", table),
							  1, types, values, NULL, false);
}

/* Those of the runs that nobody else has locked, for us */
static Datum
lock_runs(Datum runs)
{
	Oid			types[1] = {INT8ARRAYOID};
	Datum		values[1] = {runs};
	bool		isnull;
	Datum		locked;

	dq_execute("SELECT ARRAY(SELECT r.run_id FROM dq_gate.runs AS r WHERE r.run_id = ANY ($1)"
			   " ORDER BY r.run_id FOR UPDATE SKIP LOCKED)", 1, types, values, NULL, false);
	locked = PointerGetDatum(DatumGetArrayTypePCopy(dq_result_datum(0, 1, &isnull)));
	dq_free_result();
	return locked;
}

/* Some runs go, and the results and profiles of others */
static void
log_step(void *arg)
{
	Purge	   *purge = arg;
	Oid			quarantine = OidIsValid(purge->retention.target) ?
		dq_quarantine_of(purge->retention.target) : InvalidOid;
	OldRun	   *runs;
	int			count = dq_old_runs(&purge->retention, quarantine, &purge->after, step_runs(purge),
									purge->counting, &runs);
	int64	   *whole = palloc(sizeof(int64) * Max(1, count));
	int64	   *details = palloc(sizeof(int64) * Max(1, count));
	int			whole_count = 0;
	int			detail_count = 0;
	PurgeCounts counts = {0};
	int64		rows = 0;
	int			i;
	Identity	saved;
	Datum		locked;

	for (i = 0; i < count; i++)
	{
		int64		more = runs[i].details + !runs[i].published_once;

		if (!runs[i].stays && more > 0)
		{
			if (rows > 0 && rows + more > purge->step_rows && !purge->counting)
				break;
			rows += more;
			if (runs[i].published_once)
				details[detail_count++] = runs[i].run_id;
			else
				whole[whole_count++] = runs[i].run_id;
		}
		purge->after = runs[i];
	}
	purge->more = i < count || count == step_runs(purge);

	if (purge->counting)
	{
		purge->counts.runs += whole_count;
		return;
	}
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	locked = lock_runs(dq_int8_array(whole, whole_count));
	counts.results = delete_from("results", locked);
	counts.profiles = delete_from("profiles", locked);
	counts.runs = delete_from("runs", locked);
	if (detail_count > 0)
	{
		counts.results += delete_from("results", dq_int8_array(details, detail_count));
		counts.profiles += delete_from("profiles", dq_int8_array(details, detail_count));
	}
	dq_resume(&saved);

	/* of a step that fails nothing is counted */
	purge->counts.results += counts.results;
	purge->counts.profiles += counts.profiles;
	purge->counts.runs += counts.runs;
}

/*
 * Rules that no run was made under any more.  A run that is being logged under
 * the same rules has them locked, see log_rules; one that comes to it now waits
 * for us, and keeps them anew.  Looked at again under the lock, since a run may
 * have been committed in between.
 */
static void
rules_step(void *arg)
{
	Purge	   *purge = arg;
	Oid			types[1] = {TEXTARRAYOID};
	Datum		values[1];
	bool		isnull;
	Identity	saved;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dq_execute(psprintf("SELECT ARRAY(SELECT s.rules_hash FROM dq_gate.rule_sets AS s WHERE NOT EXISTS ("
						"SELECT FROM dq_gate.runs AS r WHERE r.rules_hash = s.rules_hash) LIMIT %d FOR UPDATE SKIP LOCKED)", MAX_STEP_RUNS),
			   0, NULL, NULL, NULL, false);
	values[0] = PointerGetDatum(DatumGetArrayTypePCopy(dq_result_datum(0, 1, &isnull)));
	dq_free_result();
	purge->more = dq_execute("DELETE FROM dq_gate.rule_sets AS s WHERE s.rules_hash = ANY ($1) AND NOT EXISTS ("
							 "SELECT FROM dq_gate.runs AS r WHERE r.rules_hash = s.rules_hash)",
							 1, types, values, NULL, false) == MAX_STEP_RUNS;
	dq_resume(&saved);
}

/* Of all gates, one that cannot be purged does not keep us from the others */
static bool
try_step(Purge *purge, DqStep step)
{
	ErrorData  *error;

	if (!purge->all)
	{
		step(purge);
		return true;
	}
	if (dq_attempt(step, purge, &error))
		return true;
	purge->more = false;
	if (purge->failed++ == 0)
		purge->failed_sqlstate = error->sqlerrcode;
	note(&purge->failures, "\n", psprintf("%s: %s", purge->retention.name, dq_error_text(error)));
	return false;
}

/* Take steps until there is nothing left to do; each is committed */
static bool
take_steps(Purge *purge, DqStep step)
{
	bool		done;

	do
	{
		DqErrorContext context;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(purge->step_context);
		MemoryContextSwitchTo(purge->step_context);
		purge->more = false;
		dq_push_context(&context, "purge of %s", purge->retention.name);
		done = try_step(purge, step);
		dq_pop_context(&context);
		if (!purge->counting)
			SPI_commit();
		MemoryContextSwitchTo(purge->gate_context);
	} while (purge->more);
	return done;
}

/* What is old of one gate, or, without one, of targets that were dropped */
static void
purge_gate(Purge *purge, const Gate *gate)
{
	Retention  *retention = &purge->retention;

	retention->unacknowledged = purge->unacknowledged;
	dq_open_retention(retention, gate, purge->rows_interval, purge->log_interval, purge->now);
	if (!retention->ends_rows && !retention->ends_log)
	{
		if (!purge->all && !purge->counting)
			ereport(NOTICE,
					(errmsg("%s keeps everything", retention->name),
					 errhint("Give it a quarantine_retention and a log_retention with dq_gate.alter_gate, or give the defaults to dq_gate.purge.")));
		return;
	}

	if (gate)
		purge->counts.gates++;
	purge->noted = false;
	purge->after_quarantined = PG_INT64_MIN;
	purge->after = (OldRun) {.started_at = DT_NOBEGIN};
	if ((!retention->ends_rows || take_steps(purge, quarantine_step)) && retention->ends_log)
		(void) take_steps(purge, log_step);
	purge->counts.unread += dq_count_unread(retention);
}

/* All gates that the caller may purge */
static void
purge_all(Purge *purge)
{
	bool		defaults = purge->rows_interval != NULL || purge->log_interval != NULL;
	MemoryContext context = CurrentMemoryContext;
	List	   *targets = dq_retention_targets(defaults);
	ListCell   *lc;

	foreach(lc, targets)
	{
		Gate	   *gate;

		MemoryContextReset(purge->gate_context);
		MemoryContextSwitchTo(purge->gate_context);
		/* it may be gone by now */
		if (get_rel_name(lfirst_oid(lc)) != NULL)
		{
			gate = dq_resolve_gate(lfirst_oid(lc));
			if (dq_may_purge(gate))
				purge_gate(purge, gate);
			else
				purge->denied++;
		}
		MemoryContextSwitchTo(context);
	}
	if (purge->log_interval && dq_can_act_as(GetUserId(), dq_extension_owner()))
	{
		MemoryContextReset(purge->gate_context);
		MemoryContextSwitchTo(purge->gate_context);
		purge_gate(purge, NULL);
		MemoryContextSwitchTo(context);
	}
}

/* "1 row", "2 rows" */
static char *
count_of(int64 count, const char *what)
{
	return psprintf(INT64_FORMAT " %s%s", count, what, count == 1 ? "" : "s");
}

/* Say what was done, and what was not */
static void
announce(const Purge *purge)
{
	const PurgeCounts *counts = &purge->counts;
	StringInfoData left;

	initStringInfo(&left);
	if (counts->unread > 0)
		note(&left, "\n", psprintf("%s old enough to go stay%s, since nobody has acknowledged %s.",
								   count_of(counts->unread, "run"), counts->unread == 1 ? "s" : "",
								   counts->unread == 1 ? "it" : "them"));
	if (purge->denied > 0)
		note(&left, "\n", psprintf("%s that only others may purge %s left out.",
								   count_of(purge->denied, "gate"), purge->denied == 1 ? "is" : "are"));
	if (purge->busy.len > 0)
		note(&left, "\n", psprintf("Somebody has locked %s, which is left for the next time.", purge->busy.data));
	if (purge->suppressed.len > 0)
		note(&left, "\n", psprintf("Triggers have kept rows in %s.", purge->suppressed.data));

	ereport(NOTICE,
			(errmsg("%s purged: %s, %s, %s, %s", count_of(counts->gates, "gate"),
					count_of(counts->rows, "quarantined row"), count_of(counts->runs, "run"),
					count_of(counts->results, "result"), count_of(counts->profiles, "profile")),
			 left.len > 0 ? errdetail_internal("%s", left.data) : 0,
			 counts->unread > 0 ?
			 errhint("See dq_gate.unread. With unacknowledged => true they go as well.") : 0));
	if (purge->failed > 0)
		ereport(ERROR,
				(errcode(purge->failed_sqlstate),
				 errmsg("%s could not be purged", count_of(purge->failed, "gate")),
				 errdetail("%s", purge->failures.data),
				 errhint("The others are.")));
}

/* A retention given with the call, NULL if there is none */
static char *
retention_argument(FunctionCallInfo fcinfo, int arg, const char *name)
{
	char	   *text = dq_interval_argument(fcinfo, arg, name);

	if (text == NULL)
		return NULL;
	if (DatumGetBool(DirectFunctionCall2(interval_eq, PG_GETARG_DATUM(arg),
										 IntervalPGetDatum(&(Interval) {0}))) ||
		!dq_is_retention(PG_GETARG_INTERVAL_P(arg)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must be more than 0 and at most 1000 years", name),
				 errhint("Without it, what has no retention of its own is kept.")));
	return text;
}

/* A purge in a context of its own, which is made the current one */
static Purge *
begin_purge(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "dq_gate purge", ALLOCSET_DEFAULT_SIZES);
	Purge	   *purge;

	MemoryContextSwitchTo(context);
	purge = palloc0(sizeof(Purge));
	purge->gate_context = AllocSetContextCreate(context, "dq_gate purge of a gate", ALLOCSET_DEFAULT_SIZES);
	purge->step_context = AllocSetContextCreate(context, "dq_gate purge step", ALLOCSET_DEFAULT_SIZES);
	purge->now = GetCurrentTimestamp();
	initStringInfo(&purge->failures);
	initStringInfo(&purge->busy);
	initStringInfo(&purge->suppressed);
	return purge;
}

PG_FUNCTION_INFO_V1(dq_gate_purge);
PG_FUNCTION_INFO_V1(dq_gate_purgeable);

/*
 * purge(target, unacknowledged, step_rows, default_quarantine_retention,
 * default_log_retention) deletes what is old enough of one gate, or of all that
 * the caller may purge, and commits again and again.
 */
Datum
dq_gate_purge(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	Purge	   *purge;

	dq_check_nargs(fcinfo, 5);
	if (dq_is_atomic_call(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				 errmsg("dq_gate.purge must be called alone, outside a transaction block"),
				 errdetail("It commits after each step, which it cannot do here. Nothing was done."),
				 errhint("Send CALL dq_gate.purge(...) as a statement of its own.")));
	PreventCommandIfReadOnly("dq_gate.purge");
	dq_require_read_committed("purge");
	if (PG_ARGISNULL(2) || PG_GETARG_INT32(2) < 1 || PG_GETARG_INT32(2) > MAX_STEP_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"step_rows\" must be between 1 and %d", MAX_STEP_ROWS)));

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	purge = begin_purge(PortalContext);
	context = CurrentMemoryContext;
	purge->all = PG_ARGISNULL(0);
	purge->unacknowledged = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	purge->step_rows = PG_GETARG_INT32(2);
	purge->rows_interval = retention_argument(fcinfo, 3, "default_quarantine_retention");
	purge->log_interval = retention_argument(fcinfo, 4, "default_log_retention");

	if (purge->all)
		purge_all(purge);
	else
	{
		Gate	   *gate;

		dq_check_target(PG_GETARG_OID(0));
		gate = dq_resolve_gate(PG_GETARG_OID(0));
		dq_authorize_purge(gate);
		purge_gate(purge, gate);
	}
	if (purge->counts.runs > 0)
	{
		purge->retention.name = "rules without runs";
		(void) take_steps(purge, rules_step);
	}
	SPI_finish();

	/* lives across the commits, and until now */
	MemoryContextSwitchTo(context);
	announce(purge);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	PG_RETURN_VOID();
}

/*
 * purgeable(target, unacknowledged, default_quarantine_retention,
 * default_log_retention) counts what purge would delete.
 */
Datum
dq_gate_purgeable(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	Purge	   *purge;
	MemoryContext context;
	Gate	   *gate;
	TupleDesc	desc;
	Datum		values[3];
	bool		nulls[3] = {false};

	dq_check_nargs(fcinfo, 4);
	SPI_connect();
	purge = begin_purge(caller);
	context = CurrentMemoryContext;
	purge->counting = true;
	purge->unacknowledged = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	purge->step_rows = MAX_STEP_ROWS;
	purge->rows_interval = retention_argument(fcinfo, 2, "default_quarantine_retention");
	purge->log_interval = retention_argument(fcinfo, 3, "default_log_retention");

	dq_check_target(target);
	gate = dq_resolve_gate(target);
	if (!dq_may_look(gate))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for gate %s", gate->name),
				 errdetail("What it keeps is shown to those who may read its target, or change it.")));
	purge_gate(purge, gate);
	SPI_finish();

	MemoryContextSwitchTo(caller);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	dq_check_columns(desc, lengthof(values));
	values[0] = Int64GetDatum(purge->counts.rows);
	values[1] = Int64GetDatum(purge->counts.runs);
	values[2] = Int64GetDatum(purge->counts.unread);
	MemoryContextDelete(context);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
