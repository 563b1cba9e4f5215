/*
 * after_publish.c
 *		What becomes of staging when the batch is published.
 *
 * It is emptied of exactly the rows that were audited, in the transaction
 * that publishes them: its lock is taken with the run, strong enough from the
 * start for what is done in the end, since a lock that is raised later can
 * deadlock.
 */
#include "postgres.h"

#include "after_publish.h"
#include "merge.h"
#include "spi_util.h"
#include "triggers.h"

/* The lock on staging that a run takes, against those who write to it at least */
LOCKMODE
dq_staging_lock(const Gate *gate)
{
	switch (gate->after_publish)
	{
		case DQ_AFTER_TRUNCATE:
			return AccessExclusiveLock;
		case DQ_AFTER_DELETE:
			/* of two gates that share it one has to wait */
			return ShareRowExclusiveLock;
		default:
			return ShareLock;
	}
}

/* What the gate's role must be allowed to do with staging, reading apart */
AclMode
dq_staging_rights(const Gate *gate)
{
	switch (gate->after_publish)
	{
		case DQ_AFTER_TRUNCATE:
			return ACL_TRUNCATE;
		case DQ_AFTER_DELETE:
			return ACL_DELETE;
		default:
			return ACL_NO_RIGHTS;
	}
}

/* Exactly what was audited goes, not what came in since by a trigger of ours */
static void
check_rows(const Run *run, int64 rows, const char *became)
{
	if (rows != run->row_count)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("staging table %s cannot be emptied of the rows that were published",
						run->map->staging_sql),
				 errdetail(INT64_FORMAT " rows were audited, " INT64_FORMAT " %s.",
						   run->row_count, rows, became),
				 errhint("Look for a trigger, of the staging table or the target, that keeps or adds staged rows.")));
}

/* A TRUNCATE does not say how many rows it takes, and only triggers can have added any */
static void
truncate_staging(const Run *run, const char *search_path)
{
	if (dq_target_triggers(run->map->target) != NIL)
	{
		dq_execute(psprintf("SELECT pg_catalog.count(*) FROM %s", run->map->staging_sql),
				   0, NULL, NULL, NULL, false);
		check_rows(run, dq_result_int64(0, 1, 0), "are there");
		dq_free_result();
	}
	/* there is nothing to look up in it, and triggers find what they always do */
	dq_pin_setting("search_path", search_path);
	dq_execute(psprintf("TRUNCATE TABLE %s", run->map->staging_sql), 0, NULL, NULL, NULL, false);
	dq_pin_search_path();
}

/*
 * Empty staging, if the gate wants that.  To be called as the gate's role;
 * triggers see the given search_path.
 */
void
dq_empty_staging(const Run *run, const char *search_path)
{
	ChangeCounts counts = {0};

	if (run->gate->after_publish == DQ_AFTER_TRUNCATE)
		truncate_staging(run, search_path);
	else if (run->gate->after_publish == DQ_AFTER_DELETE)
	{
		dq_execute_change(psprintf("DELETE FROM %s", run->map->staging_sql), search_path, &counts);
		check_rows(run, counts.written, "could be deleted");
	}
}
