/*
 * activity.c
 *		What other sessions see of a run under way, in the view activity.
 *
 * A run is part of one open transaction, so no table can tell of it.  The
 * lock table can: every session may read it, and what a transaction has
 * there is gone with the transaction, however that ends.  So a run leaves
 * marks there: locks on objects that do not exist, in a mode that meets
 * nobody's.  The view puts them together again.
 *
 *		class			object		subobject
 *		dq_gate.runs	target		level				there is a run
 *		target			value		16 * level + field	and this is known of it
 *
 * Level 1 is a run, and 2 one of the same gate that a trigger makes in it, and
 * so on.  Level 0 is what a run leaves until the transaction ends: that there
 * is something to commit.  It is said once of a gate, so that a transaction
 * of a thousand runs does not fill the lock table.
 *
 * There is no state here that an error would have to reset: which level is
 * free is asked of the lock table.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "activity.h"
#include "compat.h"
#include "gate.h"

/*
 * What is known of a run; the values below are phases, with their beginning.
 * sql/activity.sql knows these numbers.
 */
enum
{
	FIELD_STARTED_AT = RUN_DONE + 1,
	FIELD_RUN_ID,
	FIELD_RUN_ID_HIGH,
	FIELD_ROW_COUNT,
	FIELD_ROW_COUNT_HIGH,
	FIELD_DRY_RUN,
	FIELDS = 16
};

/* pg_locks shows the subobject as a smallint */
#define LEVELS	(PG_INT16_MAX / FIELDS)

typedef struct Activity
{
	Oid			runs;
	int			level;
	RunPhase	phase;
	ResourceOwner owner;		/* the same for all marks, whatever subtransaction sets them */
	bool		held[FIELDS];
	uint32		values[FIELDS];
} Activity;

static LOCKTAG
mark(Oid class, uint32 object, int subobject)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, class, object, subobject);
	return tag;
}

/* Where the lock table is full, the run goes on unseen */
static bool
set_mark(const Activity *activity, LOCKTAG tag)
{
	ResourceOwner saved = CurrentResourceOwner;
	bool		set;

	CurrentResourceOwner = activity->owner;
	set = dq_try_lock(&tag, AccessShareLock);
	CurrentResourceOwner = saved;
	return set;
}

static void
clear_mark(const Activity *activity, LOCKTAG tag)
{
	ResourceOwner saved = CurrentResourceOwner;

	CurrentResourceOwner = activity->owner;
	(void) LockRelease(&tag, AccessShareLock, false);
	CurrentResourceOwner = saved;
}

static void
set_field(const Run *run, int field, uint32 value)
{
	Activity   *activity = run->activity;

	activity->values[field] = value;
	activity->held[field] = set_mark(activity, mark(run->gate->target, value,
													FIELDS * activity->level + field));
}

static void
clear_field(const Run *run, int field)
{
	Activity   *activity = run->activity;

	if (activity->held[field])
		clear_mark(activity, mark(run->gate->target, activity->values[field],
								  FIELDS * activity->level + field));
	activity->held[field] = false;
}

/* A number takes two marks where it is large, and both are needed */
static void
set_number(const Run *run, int field, int64 number)
{
	if (number == DQ_UNKNOWN)
		return;
	if (number >> 32 != 0)
	{
		set_field(run, field + 1, (uint32) (number >> 32));
		if (!run->activity->held[field + 1])
			return;
	}
	set_field(run, field, (uint32) number);
}

static uint32
seconds(TimestampTz time)
{
	return (uint32) timestamptz_to_time_t(time);
}

/*
 * Show that there is a run, before it waits for anything.
 */
void
dq_activity_begin(Run *run)
{
	Activity   *activity = palloc0(sizeof(Activity));
	Oid			target = run->gate->target;
	LOCKTAG		tag;

	activity->runs = dq_table("runs");
	activity->owner = CurrentResourceOwner;
	do
	{
		tag = mark(activity->runs, target, ++activity->level);
	} while (dq_holds_lock(&tag, AccessShareLock) && activity->level < LEVELS);

	if (!set_mark(activity, tag))
		return;
	run->activity = activity;
	set_field(run, FIELD_STARTED_AT, seconds(run->started_at));
	if (run->dry_run)
		set_field(run, FIELD_DRY_RUN, 0);
	dq_activity_phase(run, RUN_LOCKING);
}

/*
 * Show what the run does from now on.
 */
void
dq_activity_phase(const Run *run, RunPhase phase)
{
	Activity   *activity = run->activity;
	RunPhase	before;

	if (activity == NULL || activity->phase == phase)
		return;
	before = activity->phase;
	activity->phase = phase;
	/* the new one first: whoever looks finds one */
	set_field(run, phase, seconds(GetCurrentTimestamp()));
	if (before != 0)
		clear_field(run, before);
}

/*
 * Show the number of the run, now that it has one.
 */
void
dq_activity_run_id(const Run *run)
{
	if (run->activity)
		set_number(run, FIELD_RUN_ID, run->run_id);
}

/*
 * Show the size of the batch, now that it was counted.
 */
void
dq_activity_row_count(const Run *run)
{
	if (run->activity)
		set_number(run, FIELD_ROW_COUNT, run->row_count);
}

/*
 * The run is over.  Of one that may have changed something a trace stays
 * until that is committed; where it is not the first one of its gate in the
 * transaction, there is one already.
 */
void
dq_activity_end(const Run *run)
{
	Activity   *activity = run->activity;
	LOCKTAG		tag;

	if (activity == NULL)
		return;
	for (int field = 0; field < FIELDS; field++)
		clear_field(run, field);
	clear_mark(activity, mark(activity->runs, run->gate->target, activity->level));

	activity->level = 0;
	tag = mark(activity->runs, run->gate->target, activity->level);
	if (run->dry_run || dq_holds_lock(&tag, AccessShareLock) || !set_mark(activity, tag))
		return;
	set_field(run, FIELD_STARTED_AT, seconds(run->started_at));
	set_field(run, RUN_DONE, seconds(run->finished_at));
	set_number(run, FIELD_RUN_ID, run->run_id);
	set_number(run, FIELD_ROW_COUNT, run->row_count);
}
