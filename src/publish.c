/*
 * publish.c
 *		Bring the batch into the target, by one MERGE.
 *
 * Columns are named, never counted on; rows that would not change are not
 * rewritten.  The counts are those of the server: the executor's state of our
 * own MERGE holds them when it finishes.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "columns.h"
#include "publish.h"
#include "spi_util.h"

/*
 * Counting.  The hooks look at a statement only while "merge" says that it is
 * ours; execute_merge sets it around its one call of SPI.
 */
typedef struct MergeCounts
{
	const char *sql;
	const char *search_path;	/* that of the caller */
	bool		known;
	int64		processed;		/* source rows that MERGE has seen */
	int64		inserted;
	int64		updated;
	int64		deleted;
} MergeCounts;

static MergeCounts *merge = NULL;
static ExecutorStart_hook_type previous_start = NULL;
static ExecutorFinish_hook_type previous_finish = NULL;

static bool
is_our_merge(const QueryDesc *query)
{
	return merge != NULL && query->operation == CMD_MERGE &&
		query->sourceText != NULL && strcmp(query->sourceText, merge->sql) == 0;
}

/*
 * Rows that match and do not change are counted by nobody unless asked to.
 * And from here on, with every name of ours resolved, the search_path is the
 * caller's again: triggers find what they find with any other statement.
 */
static void
count_start(QueryDesc *query, int eflags)
{
	if (is_our_merge(query))
	{
		query->instrument_options |= INSTRUMENT_ROWS;
		dq_pin_setting("search_path", merge->search_path);
	}
	if (previous_start)
		previous_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

static void
count_finish(QueryDesc *query)
{
	if (previous_finish)
		previous_finish(query);
	else
		standard_ExecutorFinish(query);

	if (is_our_merge(query) && IsA(query->planstate, ModifyTableState))
	{
		ModifyTableState *state = (ModifyTableState *) query->planstate;
		Instrumentation *instrument = outerPlanState(state)->instrument;

		merge->inserted = (int64) state->mt_merge_inserted;
		merge->updated = (int64) state->mt_merge_updated;
		merge->deleted = (int64) state->mt_merge_deleted;
		if (instrument != NULL)
		{
			merge->processed = (int64) (instrument->ntuples + instrument->tuplecount);
			merge->known = true;
		}
	}
}

void
dq_install_merge_hooks(void)
{
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = count_start;
	previous_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = count_finish;
}

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
		appendStringInfo(sql, " WHERE NOT EXISTS (%s)", without);
	appendStringInfoString(sql, ") AS batch");
}

/* Where a row of the target is the one of the batch */
static char *
match_sql(const ColumnMap *map)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	foreach(lc, map->key)
	{
		Column	   *column = lfirst(lc);

		appendStringInfo(&sql, "%starget.%s %s batch.%s",
						 lc == list_head(map->key) ? "" : " AND ",
						 quote_identifier(column->name),
						 dq_operator_sql(dq_equality_operator(column->typid)),
						 quote_identifier(column->name));
	}
	return sql.data;
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
	appendStringInfo(&sql, " ON (%s)", match_sql(map));
	if (assignments.len > 0)
		appendStringInfo(&sql, " WHEN MATCHED AND (%s) THEN UPDATE SET %s",
						 changed_sql(map), assignments.data);
	appendStringInfo(&sql, " WHEN NOT MATCHED THEN INSERT (%s)%s VALUES (%s)", names.data,
					 overriding ? " OVERRIDING SYSTEM VALUE" : "", values.data);
	return sql.data;
}

/* Run our MERGE with the hooks armed; returns the rows that it wrote */
static int64
execute_merge(MergeCounts *counts)
{
	MergeCounts *outer = merge;	/* a trigger may publish as well */
	volatile int64 written = 0;

	merge = counts;
	PG_TRY();
	{
		written = dq_execute(counts->sql, 0, NULL, NULL, NULL, false);
	}
	PG_FINALLY();
	{
		merge = outer;
	}
	PG_END_TRY();
	return written;
}

/* Qualified name of a constraint, NULL if it is gone */
static char *
constraint_sql(Oid constraint)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	Form_pg_constraint form;
	char	   *sql;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	sql = quote_qualified_identifier(get_namespace_name(form->connamespace),
									 NameStr(form->conname));
	ReleaseSysCache(tuple);
	return sql;
}

/*
 * The deferrable constraints of the target and its partitions, as SET
 * CONSTRAINTS takes them; only_deferred leaves those that begin immediate.
 */
static char *
deferrable_constraints(Oid target, bool only_deferred)
{
	StringInfoData names;
	List	   *seen = NIL;
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	ListCell   *lc;

	initStringInfo(&names);
	foreach(lc, find_all_inheritors(target, NoLock, NULL))
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple	tuple;

		ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber,
					F_OIDEQ, ObjectIdGetDatum(lfirst_oid(lc)));
		scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 1, &key);
		while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		{
			Form_pg_trigger trigger = (Form_pg_trigger) GETSTRUCT(tuple);
			Oid			constraint = trigger->tgconstraint;
			char	   *name;

			if (!trigger->tgdeferrable || !OidIsValid(constraint) ||
				(only_deferred && !trigger->tginitdeferred) ||
				list_member_oid(seen, constraint))
				continue;
			seen = lappend_oid(seen, constraint);
			name = constraint_sql(constraint);
			if (name != NULL)
				appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", name);
		}
		systable_endscan(scan);
	}
	table_close(catalog, AccessShareLock);
	return names.len > 0 ? names.data : NULL;
}

/* All constraints of the database that begin deferred */
static char *
all_deferred_constraints(void)
{
	char	   *names;

	dq_execute("SELECT pg_catalog.string_agg(pg_catalog.format('%I.%I', n.nspname, c.conname), ', ')"
			   " FROM pg_catalog.pg_constraint c"
			   " JOIN pg_catalog.pg_namespace n ON n.oid = c.connamespace"
			   " WHERE c.condeferred", 0, NULL, NULL, NULL, false);
	names = dq_result_text(0, 1);
	dq_free_result();
	return names;
}

static void
set_constraints(const char *names, const char *mode)
{
	if (names)
		dq_execute(psprintf("SET CONSTRAINTS %s %s", names, mode), 0, NULL, NULL, NULL, false);
}

/*
 * The deferred constraints of the target are checked right after the MERGE,
 * rather than at commit when nobody could log a failure.
 */
static void
check_deferred(Oid target)
{
	set_constraints(deferrable_constraints(target, false), "IMMEDIATE");
	set_constraints(deferrable_constraints(target, true), "DEFERRED");
}

/* Whether the run acts as somebody else than its caller */
static bool
lends_role(const Run *run)
{
	return run->gate->run_as != run->caller;
}

/*
 * Where the run acts as another role than its caller, nothing that the role's
 * triggers do may be left to the end of the transaction, when it would be done
 * as the caller.  Before the publish, as the caller, all constraints become
 * immediate; what the caller had pending is checked now, by the caller.
 */
void
dq_begin_immediate(const Run *run)
{
	if (lends_role(run))
		set_constraints("ALL", "IMMEDIATE");
}

/* And those that begin deferred are deferred again, which fires nothing */
void
dq_end_immediate(const Run *run)
{
	Identity	saved;

	if (!lends_role(run))
		return;
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	set_constraints(all_deferred_constraints(), "DEFERRED");
	dq_resume(&saved);
}

/* Whether a trigger may suppress updates of the target's rows */
static bool
has_before_update_trigger(Oid target)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	bool		found = false;
	ListCell   *lc;

	foreach(lc, find_all_inheritors(target, NoLock, NULL))
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple	tuple;

		ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber,
					F_OIDEQ, ObjectIdGetDatum(lfirst_oid(lc)));
		scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 1, &key);
		while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		{
			int16		type = ((Form_pg_trigger) GETSTRUCT(tuple))->tgtype;

			found = found || (TRIGGER_FOR_ROW(type) && TRIGGER_FOR_BEFORE(type) &&
							  TRIGGER_FOR_UPDATE(type));
		}
		systable_endscan(scan);
	}
	table_close(catalog, AccessShareLock);
	return found;
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
	appendStringInfo(&sql, " ON (%s) WHERE %s", match_sql(map), changed);
	dq_execute(sql.data, 0, NULL, NULL, NULL, false);
	count = dq_result_int64(0, 1, 0);
	dq_free_result();
	return count;
}

/*
 * Publish the batch without the rows that the given subquery finds, which
 * may refer to the staged row as "staged".  Sets the counts of the run.
 */
void
dq_publish(Run *run, const char *without)
{
	const ColumnMap *map = run->map;
	int64		rows = run->row_count - run->quarantined - run->dropped;
	MergeCounts counts = {0};
	int64		changes = DQ_UNKNOWN;
	int64		written;
	Identity	saved;

	counts.sql = merge_sql(map, without);
	counts.search_path = pstrdup(GetConfigOption("search_path", false, false));

	dq_assume(&saved, run->gate->run_as,
			  lends_role(run) ? PHASE_PUBLISH_LENT : PHASE_PUBLISH);
	if (has_before_update_trigger(map->target))
		changes = count_changes(map, without);
	written = execute_merge(&counts);
	if (!lends_role(run))
		check_deferred(map->target);
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
	run->inserted = written - counts.updated;
	run->dropped = counts.inserted - run->inserted;
	if (changes != DQ_UNKNOWN)
		run->dropped += changes - counts.updated;
	run->unchanged = rows - run->inserted - run->updated - run->dropped;
}
