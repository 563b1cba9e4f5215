/*
 * publish.c
 *		Bring the batch into the target, by one MERGE.
 *
 * Columns are named, never counted on; rows that would not change are not
 * rewritten.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "columns.h"
#include "deferred.h"
#include "merge.h"
#include "publish.h"
#include "spi_util.h"
#include "triggers.h"

/*
 * Whether equal values of a column are the same for every purpose, as the
 * type's default btree operator class says, so that IS DISTINCT FROM finds
 * every change.  1.0 and 1.00, 'Bob' and 'bob' in a citext are equal, and a
 * change all the same.
 */
static bool
equality_is_identity(const Column *column)
{
	Oid			base = getBaseType(column->typid);
	TypeCacheEntry *type = lookup_type_cache(base, TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY);
	HeapTuple	tuple;
	Oid			namespace;
	Oid			function;
	Oid			collation;

	if (!OidIsValid(type->eq_opr) || !OidIsValid(type->btree_opf))
		return false;

	/* IS DISTINCT FROM takes the operator that the search_path finds */
	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(type->eq_opr));
	if (!HeapTupleIsValid(tuple))
		return false;
	namespace = ((Form_pg_operator) GETSTRUCT(tuple))->oprnamespace;
	ReleaseSysCache(tuple);
	if (namespace != PG_CATALOG_NAMESPACE)
		return false;

	/* only char(n) pads its values to one form */
	if (base == BPCHAROID && column->typmod < 0)
		return false;

	function = get_opfamily_proc(type->btree_opf, type->btree_opintype,
								 type->btree_opintype, BTEQUALIMAGE_PROC);
	if (!OidIsValid(function))
		return false;
	collation = OidIsValid(column->collid) ? column->collid : DEFAULT_COLLATION_OID;
	return DatumGetBool(OidFunctionCall1Coll(function, collation,
											 ObjectIdGetDatum(type->btree_opintype)));
}

/* Columns that MERGE may update: staged, not the key, not the server's own */
static bool
is_updatable(const Column *column)
{
	return column->staged && !column->is_key &&
		column->identity != ATTRIBUTE_IDENTITY_ALWAYS;
}

/* True where a matched row would change */
static char *
changed_sql(const ColumnMap *map)
{
	StringInfoData sql;
	StringInfoData old_images;
	StringInfoData new_images;
	ListCell   *lc;

	initStringInfo(&sql);
	initStringInfo(&old_images);
	initStringInfo(&new_images);
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);
		const char *name = quote_identifier(column->name);

		if (!is_updatable(column))
			continue;
		if (equality_is_identity(column))
			appendStringInfo(&sql, "%starget.%s IS DISTINCT FROM batch.%s",
							 sql.len > 0 ? " OR " : "", name, name);
		else
		{
			appendStringInfo(&old_images, "%starget.%s", old_images.len > 0 ? ", " : "", name);
			appendStringInfo(&new_images, "%sbatch.%s", new_images.len > 0 ? ", " : "", name);
		}
	}
	if (old_images.len > 0)
		appendStringInfo(&sql, "%spg_catalog.record_image_ne(ROW(%s), ROW(%s))",
						 sql.len > 0 ? " OR " : "", old_images.data, new_images.data);
	return sql.data;
}

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
	appendStringInfo(sql, " FROM %s AS staged", map->staging_sql);
	if (without)
	{
		/* rows without a key, or with one that does not fit, are in quarantine, or the audit had not passed */
		appendStringInfo(sql, " WHERE NOT EXISTS (%s)", without);
		foreach(lc, map->key)
			appendStringInfo(sql, " AND %s IS NOT NULL", ((Column *) lfirst(lc))->value_sql);
	}
	appendStringInfoString(sql, ") AS batch");
}

static char *
merge_sql(const ColumnMap *map, const char *without)
{
	StringInfoData sql;
	StringInfoData names;
	StringInfoData values;
	StringInfoData assignments;
	bool		overriding = false;
	ListCell   *lc;

	initStringInfo(&names);
	initStringInfo(&values);
	initStringInfo(&assignments);
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);
		const char *name = quote_identifier(column->name);

		if (!column->staged)
			continue;
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", name);
		appendStringInfo(&values, "%sbatch.%s", values.len > 0 ? ", " : "", name);
		overriding = overriding || column->identity == ATTRIBUTE_IDENTITY_ALWAYS;
		if (is_updatable(column))
			appendStringInfo(&assignments, "%s%s = batch.%s",
							 assignments.len > 0 ? ", " : "", name, name);
	}

	initStringInfo(&sql);
	appendStringInfo(&sql, "MERGE INTO %s AS target USING ", map->target_sql);
	append_source(&sql, map, without);
	appendStringInfo(&sql, " ON (%s)", dq_match_sql(map));
	if (assignments.len > 0)
		appendStringInfo(&sql, " WHEN MATCHED AND (%s) THEN UPDATE SET %s",
						 changed_sql(map), assignments.data);
	appendStringInfo(&sql, " WHEN NOT MATCHED THEN INSERT (%s)%s VALUES (%s)", names.data,
					 overriding ? " OVERRIDING SYSTEM VALUE" : "", values.data);
	return sql.data;
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

/*
 * Rows of the target that the batch is to change; MERGE counts only those
 * that it did change.
 */
static int64
count_changes(const ColumnMap *map, const char *without)
{
	StringInfoData sql;
	char	   *changed = changed_sql(map);
	int64		count;

	if (changed[0] == '\0')
		return 0;
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT pg_catalog.count(*) FROM %s AS target JOIN ", map->target_sql);
	append_source(&sql, map, without);
	appendStringInfo(&sql, " ON (%s) WHERE %s", dq_match_sql(map), changed);
	dq_execute(sql.data, 0, NULL, NULL, NULL, false);
	count = dq_result_int64(0, 1, 0);
	dq_free_result();
	return count;
}

/* Whether the run acts as somebody else than its caller */
static bool
lends_role(const Run *run)
{
	return run->gate->run_as != run->caller;
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
 * Publish the batch without the rows that the given subquery finds, which
 * may refer to the staged row as "staged".  Sets the counts of the run.
 */
void
dq_publish(Run *run, const char *without)
{
	const ColumnMap *map = run->map;
	char	   *search_path = pstrdup(GetConfigOption("search_path", false, false));
	int64		rows = run->row_count - run->quarantined - run->dropped;
	int64		changes = DQ_UNKNOWN;
	MergeCounts counts = {0};
	Identity	saved;

	dq_assume(&saved, run->gate->run_as,
			  lends_role(run) ? PHASE_PUBLISH_LENT : PHASE_PUBLISH);
	if (has_before_update_trigger(map->target))
		changes = count_changes(map, without);
	dq_execute_merge(merge_sql(map, without), search_path, &counts);
	if (!lends_role(run))
		dq_check_deferred(map->target);
	dq_resume(&saved);

	if (!counts.known)
	{
		/* a plan without a MERGE node of ours: what split there was is not known */
		run->inserted = run->updated = run->unchanged = DQ_UNKNOWN;
		return;
	}
	if (counts.processed != rows)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("the batch changed while it was published"),
				 errdetail(INT64_FORMAT " rows were audited to be published, " INT64_FORMAT " were merged.",
						   rows, counts.processed)));

	/* the server counts an insert that a trigger has suppressed; written says so */
	run->updated = counts.updated;
	run->inserted = counts.written - counts.updated;
	run->dropped = counts.inserted - run->inserted;
	if (changes != DQ_UNKNOWN)
		run->dropped += changes - counts.updated;
	run->unchanged = rows - run->inserted - run->updated - run->dropped;
}
