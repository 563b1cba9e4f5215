/*
 * run.c
 *		One attempt to audit and publish a batch, from top to bottom:
 *
 *		gate -> columns -> plan -> audit -> verdict -> publish | quarantine -> log
 *
 * Everything happens in the caller's transaction.  Locks are taken in one
 * order, gate, staging, target, and before any snapshot that matters: what
 * was audited is what is published.  Readers of the target are never locked
 * out, unless the gate alters it: then from the publish on.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "access.h"
#include "activity.h"
#include "after_publish.h"
#include "audit.h"
#include "authorize.h"
#include "batch_identity.h"
#include "columns.h"
#include "drift.h"
#include "error_context.h"
#include "gate.h"
#include "log.h"
#include "plan.h"
#include "policy.h"
#include "publish.h"
#include "quarantine.h"
#include "run.h"
#include "spi_util.h"
#include "tick.h"
#include "verdict.h"

static void
check_transaction(const Run *run)
{
	PreventCommandIfReadOnly("a run of dq_gate");
	if (!run->dry_run)
		dq_require_read_committed("publish");
}

/* Resolve the gate and see that everything is in order to run it */
static void
open_gate(Run *run, Oid staging, Oid target)
{
	run->gate = dq_resolve_gate(target);
	dq_check_staging(staging, target);
	dq_authorize_run(run->gate, staging, run->caller, run->dry_run);
	run->veiled = dq_is_veiled(run->gate, staging, run->caller);
}

/*
 * Make the gate ours, and resolve it again under its lock, since it may have
 * been changed by whoever held it.
 */
static void
lock_gate(Run *run)
{
	if (run->dry_run)
		return;
	dq_lock_gate(run->gate->target);
	open_gate(run, run->map->staging, run->gate->target);
}

/*
 * Take the locks on the tables.  A dry run only keeps them from being altered
 * under it.
 */
static void
lock_tables(Run *run)
{
	Oid			staging = run->map->staging;
	Oid			target = run->gate->target;

	dq_activity_phase(run, RUN_LOCKING);
	dq_lock_table(staging, run->dry_run ? AccessShareLock : dq_staging_lock(run->gate));
	dq_lock_table(target, AccessShareLock);
	open_gate(run, staging, target);
}

static void
name_batch(Run *run)
{
	run->named = run->batch_id != NULL;
	if (!run->named)
	{
		/* from the clock, so that batches sort by time */
		pg_time_t	seconds = timestamptz_to_time_t(run->started_at);
		struct pg_tm *utc = pg_gmtime(&seconds);

		run->batch_id = psprintf("%04d%02d%02dT%02d%02d%02d.%06dZ", utc->tm_year + 1900,
								 utc->tm_mon + 1, utc->tm_mday, utc->tm_hour, utc->tm_min,
								 utc->tm_sec,
								 (int) ((run->started_at % USECS_PER_SEC + USECS_PER_SEC) % USECS_PER_SEC));
	}
}

/* What publish_step works on */
typedef struct PublishStep
{
	Run		   *run;
	Quarantine *quarantine;		/* NULL where no rows are to be moved */
	Snapshot	snapshot;
} PublishStep;

/* Move failing rows to quarantine and publish the others: both or neither */
static void
publish_step(void *arg)
{
	PublishStep *step = arg;
	Run		   *run = step->run;
	char	   *without = NULL;

	if (step->quarantine)
	{
		dq_activity_phase(run, RUN_QUARANTINING);
		run->quarantined = dq_quarantine_failing(run, step->quarantine, step->snapshot);
		if (run->quarantined + run->stale == run->row_count)
		{
			/* nothing is left to publish: rejected, and so kept as a whole */
			dq_keep_dropped(run, step->quarantine);
			run->quarantined += dq_quarantine_superseded(run, step->quarantine, step->snapshot);
			return;
		}
		without = dq_in_quarantine_sql(run, step->quarantine);
	}
	dq_activity_phase(run, RUN_PUBLISHING);
	dq_publish(run, without);
	run->published = true;
	if (run->dropped > 0 || run->undeleted > 0)
		run->failed = lappend(run->failed, "publish");
	if (run->dropped > 0)
		run->failures = lappend(run->failures,
								psprintf("publish: " INT64_FORMAT " row%s dropped by a trigger of the target (warn)",
										 run->dropped, run->dropped == 1 ? " was" : "s were"));
	if (run->undeleted > 0)
		run->failures = lappend(run->failures,
								psprintf("publish: " INT64_FORMAT " row%s kept from being deleted by a trigger of the target (warn)",
										 run->undeleted, run->undeleted == 1 ? " was" : "s were"));
	if (step->quarantine)
	{
		int64		dropped = dq_forget_dropped(run, step->quarantine);

		run->quarantined -= dropped;
		run->dropped += dropped;
	}
}

/* A batch that is not published is kept as a whole */
static int64
quarantine_batch(Run *run, Snapshot snapshot)
{
	dq_activity_phase(run, RUN_QUARANTINING);
	return dq_quarantine_batch(run, dq_open_quarantine(run), snapshot);
}

/* Why the publish failed; an error may name values, which some gates do not keep */
static char *
publish_error(const Run *run, const ErrorData *error, bool detailed)
{
	if (run->gate->samples)
		return detailed ? dq_error_text(error) : error->message;
	return psprintf("SQLSTATE %s%s%s", unpack_sql_state(error->sqlerrcode),
					error->constraint_name ? ", constraint " : "",
					error->constraint_name ? quote_identifier(error->constraint_name) : "");
}

/* A batch that passed its audit goes to the target; it may still fail there */
static void
publish(Run *run, Snapshot snapshot)
{
	PublishStep step = {run, NULL, snapshot};
	DqErrorContext context;
	ErrorData  *error;
	bool		done;

	dq_activity_phase(run, RUN_LOCKING);
	if (dq_moves_rows(run))
		step.quarantine = dq_open_quarantine(run);
	dq_lock_table(run->map->target, ShareRowExclusiveLock);

	dq_activity_phase(run, RUN_PUBLISHING);
	dq_begin_publish(run);
	dq_push_context(&context, "publishing into %s", run->map->target_sql);
	done = dq_attempt(publish_step, &step, &error);
	dq_pop_context(&context);
	dq_end_publish(run);

	if (done && !run->published)
		dq_reject_emptied(run);
	else if (!done)
	{
		run->dropped = 0;
		run->verdict = DQ_VERDICT_PUBLISH_FAILED;
		run->published = false;
		run->inserted = run->updated = run->unchanged = run->deleted = run->stale = 0;
		run->quarantined = 0;
		run->error = publish_error(run, error, true);
		run->error_sqlstate = pstrdup(unpack_sql_state(error->sqlerrcode));
		run->failed = lappend(run->failed, "publish");
		run->failures = lappend(run->failures, psprintf("publish: %s", publish_error(run, error, false)));
		FreeErrorData(error);
		run->quarantined = quarantine_batch(run, snapshot);
	}
}

/* Audit with one snapshot, then publish or quarantine with what it showed */
static void
audit_and_publish(void *arg)
{
	Run		   *run = arg;
	Snapshot	snapshot;

	CommandCounterIncrement();
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	PushActiveSnapshot(snapshot);
	dq_activity_phase(run, RUN_AUDITING);
	if (run->named && !run->dry_run && dq_is_repeated(run))
		dq_skip_repeated(run);
	else
	{
		dq_audit(run);
		dq_judge_run(run);
	}
	PopActiveSnapshot();
	run->audited_at = GetCurrentTimestamp();

	if (run->verdict == DQ_VERDICT_PUBLISHED)
		publish(run, snapshot);
	else if (run->verdict == DQ_VERDICT_REJECTED && run->row_count > 0)
		run->quarantined = quarantine_batch(run, snapshot);
	/* what is not published is not older than anything */
	if (!run->published && !run->dry_run)
		run->stale = 0;
	UnregisterSnapshot(snapshot);
	if (!run->dry_run)
		run->published_at = GetCurrentTimestamp();
}

/* Who calls, for which gate, with what */
static void
begin_run(Run *run, Oid staging, Oid target)
{
	run->started_at = GetCurrentTimestamp();
	run->caller = GetUserId();
	name_batch(run);
	open_gate(run, staging, target);
	run->map = dq_unmatched_columns(run->gate, staging);
	dq_activity_begin(run);
}

/* The locks, the columns and the plan */
static void
plan_run(Run *run)
{
	Oid			staging = run->map->staging;
	Oid			target = run->gate->target;

	lock_tables(run);
	dq_activity_phase(run, RUN_PLANNING);
	run->map = dq_match_columns(run->gate, staging, true);
	dq_check_policy(run->map);
	if (!run->dry_run)
		dq_authorize_drift(run->map);
	run->plan = dq_make_plan(run->gate, run->map, run);
	if ((run->plan->reads_target || dq_mode_deletes(run->gate)) && !run->dry_run)
	{
		dq_activity_phase(run, RUN_LOCKING);
		dq_lock_table(target, ShareRowExclusiveLock);
	}
}

/*
 * Everything that comes before the first look at a row, for one who only
 * looks.  The caller has set dry_run and what it knows of the batch, and is
 * connected to SPI.
 */
void
dq_prepare_run(Run *run, Oid staging, Oid target)
{
	begin_run(run, staging, target);
	lock_gate(run);
	plan_run(run);
}

/*
 * Whether this call is to do something: one that a scheduler makes is not,
 * where another one already does it or has just done it.
 */
static bool
is_due(Run *run)
{
	int64		missed_by;

	if (run->tick != 0 && !dq_claim_tick(run))
	{
		dq_skip_tick(run, "another one is under way");
		return false;
	}
	lock_gate(run);
	missed_by = run->tick != 0 ? dq_missed_by(run) : 0;
	if (missed_by != 0)
		dq_skip_tick(run, psprintf("run " INT64_FORMAT " had not ended when this one was due", missed_by));
	return missed_by == 0;
}

static void
ask_readiness(void *arg)
{
	PushActiveSnapshot(GetTransactionSnapshot());
	dq_audit_readiness(arg);
	PopActiveSnapshot();
}

/*
 * Whether the source is ready to be read, by the checks that say so.  They are
 * asked before staging is locked, so that nobody who loads it waits for one
 * who only asks; and again in the audit, which may be the first to see all.
 */
static bool
is_ready(Run *run)
{
	dq_activity_phase(run, RUN_PLANNING);
	run->plan = dq_plan_readiness(run->gate, run->map, run);
	if (run->plan == NULL)
		return true;
	dq_activity_phase(run, RUN_AUDITING);
	dq_run_veiled(run->veiled, ask_readiness, run, run->gate, run->caller);
	dq_judge_run(run);
	if (!run->passed)
		dq_leave_uncounted(run);
	else
		run->results = NIL;
	return run->passed;
}

/*
 * Run the gate of the target on the batch in staging.  See dq_prepare_run for
 * what is set.
 */
void
dq_run(Run *run, Oid staging, Oid target)
{
	DqErrorContext context;
	bool		settled;

	check_transaction(run);
	dq_check_target(target);

	dq_push_context(&context, "gate %s", dq_relation_sql(target));
	begin_run(run, staging, target);
	settled = !is_due(run) || !is_ready(run);
	if (!settled)
		plan_run(run);
	run->run_id = dq_next_run_id();
	dq_activity_run_id(run);
	if (!settled)
		dq_run_veiled(run->veiled, audit_and_publish, run, run->gate, run->caller);
	run->schema_changes = dq_schema_changes(run);
	run->finished_at = GetCurrentTimestamp();
	dq_activity_phase(run, RUN_LOGGING);
	dq_log_run(run);
	dq_activity_end(run);
	dq_pop_context(&context);
}
