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
#include "spi_util.h"

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

/*
 * Empty staging, if the gate wants that.  To be called as the gate's role.
 */
void
dq_empty_staging(const Run *run)
{
	uint64		rows;

	if (run->gate->after_publish == DQ_AFTER_TRUNCATE)
		dq_execute(psprintf("TRUNCATE TABLE %s", run->map->staging_sql), 0, NULL, NULL, NULL, false);
	else if (run->gate->after_publish == DQ_AFTER_DELETE)
	{
		rows = dq_execute(psprintf("DELETE FROM %s", run->map->staging_sql), 0, NULL, NULL, NULL, false);
		if (rows != (uint64) run->row_count)
			ereport(ERROR,
					(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
					 errmsg("staging table %s cannot be emptied of the rows that were published",
							run->map->staging_sql),
					 errdetail(INT64_FORMAT " rows were audited, " UINT64_FORMAT " could be deleted.",
							   run->row_count, rows),
					 errhint("Look for a trigger of the staging table that keeps or adds rows.")));
	}
}
