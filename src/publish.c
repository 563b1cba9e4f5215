/*
 * publish.c
 *		Bring the batch into the target: by one MERGE, or by an INSERT where
 *		no rows are matched, after a DELETE where the mode wants one.
 *
 * Columns are named, never counted on; rows that would not change are not
 * rewritten.
 */
#include "postgres.h"

#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_trigger.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "after_publish.h"
#include "changes.h"
#include "columns.h"
#include "compat.h"
#include "current_batch.h"
#include "deferred.h"
#include "drift.h"
#include "merge.h"
#include "policy.h"
#include "publish.h"
#include "spi_util.h"
#include "triggers.h"

/* The rows to publish: the staged ones, less those a table already keeps */
static void
append_source(StringInfo sql, const ColumnMap *map, const char *without)
{
	bool		first = true;
	ListCell   *lc;

	appendStringInfoString(sql, "(SELECT ");
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (!column->staged)
			continue;
		appendStringInfo(sql, "%s%s AS %s", first ? "" : ", ", column->publish_sql,
						 quote_identifier(column->name));
		first = false;
	}
	appendStringInfo(sql, " FROM %s AS staged", map->staged_from);
	if (without)
	{
		/* rows without a key, or with one that does not fit, are in quarantine, or the audit had not passed */
		appendStringInfo(sql, " WHERE NOT EXISTS (%s)", without);
		foreach(lc, map->key)
			appendStringInfo(sql, " AND %s IS NOT NULL", ((Column *) lfirst(lc))->value_sql);
	}
	appendStringInfoString(sql, ") AS batch");
}

/* The source with no other columns than an INSERT names */
static char *
source_sql(const ColumnMap *map, const char *without)
{
	StringInfoData sql;

	initStringInfo(&sql);
	append_source(&sql, map, without);
	return sql.data;
}

/* The columns of new rows, those of the batch with a prefix */
static char *
inserted_columns(const ColumnMap *map, const char *prefix)
{
	StringInfoData names;
	ListCell   *lc;

	initStringInfo(&names);
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (column->staged)
			appendStringInfo(&names, "%s%s%s", names.len > 0 ? ", " : "", prefix,
							 quote_identifier(column->name));
	}
	return names.data;
}

/* Staged values count even where the target would make its own */
static const char *
overriding(const ColumnMap *map)
{
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (column->staged && column->identity == ATTRIBUTE_IDENTITY_ALWAYS)
			return " OVERRIDING SYSTEM VALUE";
	}
	return "";
}

/* New rows are inserted, known ones updated where the mode says so */
static char *
merge_sql(const ColumnMap *map, const char *source)
{
	StringInfoData sql;
	StringInfoData assignments;
	char	   *update = dq_update_sql(map);
	ListCell   *lc;

	initStringInfo(&assignments);
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);
		const char *name = quote_identifier(column->name);

		if (dq_is_updated(map, column))
			appendStringInfo(&assignments, "%s%s = batch.%s",
							 assignments.len > 0 ? ", " : "", name, name);
	}

	initStringInfo(&sql);
	appendStringInfo(&sql, "MERGE INTO %s AS target USING %s ON (%s)", map->target_sql, source,
					 dq_match_sql(map));
	if (update)
		appendStringInfo(&sql, " WHEN MATCHED AND (%s) THEN UPDATE SET %s", update, assignments.data);
	appendStringInfo(&sql, " WHEN NOT MATCHED THEN INSERT (%s)%s VALUES (%s)",
					 inserted_columns(map, ""), overriding(map), inserted_columns(map, "batch."));
	return sql.data;
}

/* All rows are inserted */
static char *
insert_sql(const ColumnMap *map, const char *source)
{
	return psprintf("INSERT INTO %s (%s)%s SELECT %s FROM %s", map->target_sql,
					inserted_columns(map, ""), overriding(map), inserted_columns(map, "batch."),
					source);
}

/* Whether a trigger may suppress updates of the target's rows */
static bool
has_before_update_trigger(Oid target)
{
	ListCell   *lc;

	foreach(lc, dq_target_triggers(target))
	{
		int16		type = ((TargetTrigger *) lfirst(lc))->type;

		if (TRIGGER_FOR_ROW(type) && TRIGGER_FOR_BEFORE(type) && TRIGGER_FOR_UPDATE(type))
			return true;
	}
	return false;
}

/* How many rows of the target a condition holds for, among those that the batch has */
static int64
count_known(const ColumnMap *map, const char *source, const char *condition)
{
	int64		count;

	if (condition == NULL)
		return 0;
	dq_execute(psprintf("SELECT pg_catalog.count(*) FROM %s AS target JOIN %s ON (%s) WHERE %s",
						map->target_sql, source, dq_match_sql(map), condition),
			   0, NULL, NULL, NULL, false);
	count = dq_result_int64(0, 1, 0);
	dq_free_result();
	return count;
}

/*
 * How many rows were inserted.  The server counts an insert that a trigger has
 * suppressed, and an update that would have moved a row to another partition;
 * written says how many there were of both, and the target which.
 */
static int64
count_inserted(const ColumnMap *map, const char *source, int64 rows, const ChangeCounts *counts)
{
	int64		inserted = counts->written - counts->updated;

	if (counts->updated == 0 || counts->written == counts->inserted + counts->updated ||
		get_rel_relkind(map->target) != RELKIND_PARTITIONED_TABLE)
		return inserted;
	inserted = Max(inserted, count_known(map, source, "true") - (rows - counts->inserted));
	return Min(Max(inserted, 0), Min(counts->inserted, counts->written));
}

/* Whether the run acts as somebody else than its caller */
static bool
lends_role(const Run *run)
{
	return run->gate->run_as != run->caller;
}

/*
 * The search_path that triggers see is the one of the caller, as with any
 * other statement; but not of an operator, who could put functions and tables
 * of his before those that they mean, and have them run as the gate's role.
 */
static char *
search_path_of_triggers(const Run *run)
{
	return dq_can_act_as(run->caller, run->gate->run_as) ?
		pstrdup(GetConfigOption("search_path", false, false)) : "pg_catalog, pg_temp";
}

/* To be called as the caller, outside of what is undone when a publish fails */
void
dq_begin_publish(const Run *run)
{
	if (lends_role(run))
		dq_begin_immediate();
}

void
dq_end_publish(const Run *run)
{
	if (lends_role(run))
		dq_end_immediate();
}

/*
 * Rows that the mode takes out of the target, before the batch comes in.  A
 * batch without rows, which only gets here where the gate does not enforce its
 * checks, takes out none.
 */
static void
delete_rows(Run *run, const char *source, const char *search_path)
{
	const ColumnMap *map = run->map;
	char	   *deleted = dq_deleted_sql(map, source);
	ChangeCounts counts = {0};

	if (deleted == NULL || run->row_count == 0)
		return;
	dq_execute_change(psprintf("DELETE FROM %s AS target WHERE %s", map->target_sql, deleted),
					  search_path, &counts);
	run->deleted = counts.written;
	run->undeleted = counts.known ? counts.processed - counts.written : 0;
}

/*
 * Publish the batch without the rows that the given subquery finds, which
 * may refer to the staged row as "staged".  Sets the counts of the run.
 */
void
dq_publish(Run *run, const char *without)
{
	const ColumnMap *map = run->map;
	bool		matches = dq_mode_matches(run->gate);
	char	   *search_path = search_path_of_triggers(run);
	char	   *source = source_sql(map, without);
	int64		rows = run->row_count - run->stale - run->quarantined - run->dropped;
	int64		stale;
	int64		changes = DQ_UNKNOWN;
	int64		suppressed;
	ChangeCounts counts = {0};
	Identity	saved;

	dq_assume(&saved, run->gate->run_as,
			  lends_role(run) ? PHASE_PUBLISH_LENT : PHASE_PUBLISH);
	/* a scope may ask for it */
	dq_pin_batch(run);
	dq_alter_target(map, search_path);
	delete_rows(run, source, search_path);
	stale = count_known(map, source, dq_stale_sql(map));
	if (matches && has_before_update_trigger(map->target))
		changes = count_known(map, source, dq_update_sql(map));
	dq_execute_change(matches ? merge_sql(map, source) : insert_sql(map, source), search_path, &counts);
	if (counts.known)
		run->inserted = count_inserted(map, source, rows, &counts);
	if (!lends_role(run))
		dq_check_deferred(map->target);
	dq_empty_staging(run, search_path);
	dq_resume(&saved);

	if (!counts.known)
	{
		/* a plan without a node of ours: what split there was is not known */
		run->inserted = run->updated = run->unchanged = DQ_UNKNOWN;
		return;
	}
	if (counts.processed != rows)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("the batch changed while it was published"),
				 errdetail(INT64_FORMAT " rows were audited to be published, " INT64_FORMAT " were read.",
						   rows, counts.processed)));

	/* what triggers have suppressed: inserts and moves, and other updates */
	suppressed = counts.inserted + counts.updated - counts.written;
	if (changes != DQ_UNKNOWN)
		suppressed += changes - counts.updated;
	run->updated = counts.written - run->inserted;
	run->stale += stale;
	run->dropped += suppressed;
	run->unchanged = rows - counts.written - stale - suppressed;
}
