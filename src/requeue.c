/*
 * requeue.c
 *		Put the quarantined rows of a run back into staging, once.
 *
 * From there on they are staged rows like others, and the next run accounts
 * for them.  What went back is marked in quarantine, in the same transaction.
 *
 * Locks are taken in the order of a run, gate, staging, target, and then
 * quarantine: whoever loads or corrects rows is waited for, and the statements
 * below all see the same rows.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "access.h"
#include "authorize.h"
#include "columns.h"
#include "deferred.h"
#include "error_context.h"
#include "fit.h"
#include "gate.h"
#include "quarantine.h"
#include "read_arguments.h"
#include "spi_util.h"

/* How much of a key an error shows */
#define SHOWN_KEY	200

/* What becomes of a column of staging */
typedef struct Returning
{
	Column		column;			/* of staging, as that of a target */
	char	   *kept;			/* its name in quarantine; NULL: not there */
	char	   *sql;			/* the kept value with the type of staging */
	bool		inserted;
} Returning;

typedef struct Requeue
{
	int64		run_id;
	bool		dry_run;
	Oid			caller;
	bool		veiled;			/* who may not see the rows */

	/* what the log has of the run */
	Oid			target;
	char	   *run_staging;
	char	   *verdict;
	int64		quarantined;

	Gate	   *gate;
	Oid			staging;
	Oid			quarantine_relid;
	ColumnMap  *map;			/* staging and target */
	Quarantine *quarantine;
	List	   *columns;		/* of Returning *, one a column of staging */
	int64		kept;			/* rows of the run in quarantine */
	int64		before;			/* of which so many were requeued already */
	int64		rows;			/* and so many are now */
} Requeue;

/* "1 row", "2 rows" */
static char *
count_rows(int64 rows)
{
	return psprintf(INT64_FORMAT " row%s", rows, rows == 1 ? "" : "s");
}

/* What the log has of the run */
static void
find_run(Requeue *requeue)
{
	Oid			types[1] = {INT8OID};
	Datum		values[1] = {Int64GetDatum(requeue->run_id)};
	Identity	saved;
	bool		found;
	bool		dropped = false;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	found = dq_execute("SELECT target::pg_catalog.oid, staging, verdict, quarantined"
					   " FROM dq_gate.runs WHERE run_id = $1",
					   1, types, values, NULL, false) > 0;
	if (found)
	{
		requeue->target = DatumGetObjectId(dq_result_datum(0, 1, &dropped));
		requeue->run_staging = dq_result_text(0, 2);
		requeue->verdict = dq_result_text(0, 3);
		requeue->quarantined = dq_result_int64(0, 4, 0);
	}
	dq_free_result();
	dq_resume(&saved);

	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("run " INT64_FORMAT " does not exist", requeue->run_id),
				 errhint("The runs are in dq_gate.runs, unless they were purged.")));
	if (dropped)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the target of run " INT64_FORMAT " does not exist any more", requeue->run_id),
				 errhint("Its quarantine table has stayed: copy the rows from there.")));
}

/*
 * The table that a name in the log stands for, InvalidOid if there is none.
 * A temporary one of another session is none: its schema may be that of
 * another session by now.
 */
static Oid
logged_table(const char *name)
{
	List	   *names = textToQualifiedNameList(cstring_to_text(name));
	Oid			namespace;

	if (list_length(names) != 2)
		return InvalidOid;
	namespace = get_namespace_oid(strVal(linitial(names)), true);
	if (!OidIsValid(namespace) || isOtherTempNamespace(namespace))
		return InvalidOid;
	return get_relname_relid(strVal(lsecond(names)), namespace);
}

/* Where the rows go: the table that is named, that of the gate, that of the run */
static Oid
choose_staging(const Requeue *requeue, Oid named)
{
	Oid			staging = OidIsValid(named) ? named : requeue->gate->staging;

	if (!OidIsValid(staging))
		staging = logged_table(requeue->run_staging);
	if (!OidIsValid(staging))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("staging table %s of run " INT64_FORMAT " does not exist any more",
						requeue->run_staging, requeue->run_id),
				 errhint("Name another one: SELECT * FROM dq_gate.requeue(" INT64_FORMAT ", staging => '...').",
						 requeue->run_id)));
	return staging;
}

/* Refuse a run that has nothing in quarantine */
static void
check_run(const Requeue *requeue)
{
	if (requeue->quarantined == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("run " INT64_FORMAT " has quarantined no rows", requeue->run_id),
				 strcmp(requeue->verdict, "audited") == 0 ?
				 errdetail("It was a dry run, which quarantines nothing.") :
				 errdetail("Its verdict is \"%s\".", requeue->verdict)));
	if (!OidIsValid(requeue->quarantine_relid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("gate %s has no quarantine table any more", requeue->gate->name),
				 errdetail("It was dropped, or altered until it could not be used.")));
	if (requeue->quarantine_relid == requeue->staging)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is the quarantine table of gate %s, and cannot be a staging table",
						dq_relation_sql(requeue->staging), requeue->gate->name)));
}

/* Resolve the gate and see that everything is in order to requeue its rows */
static void
open_gate(Requeue *requeue, Oid named)
{
	dq_check_target(requeue->target);
	requeue->gate = dq_resolve_gate(requeue->target);
	requeue->staging = choose_staging(requeue, named);
	dq_check_staging(requeue->staging, requeue->target);
	dq_authorize_run(requeue->gate, requeue->staging, requeue->caller, false);
	requeue->veiled = dq_is_veiled(requeue->gate, requeue->staging, requeue->caller);
	requeue->quarantine_relid = dq_quarantine_of(requeue->target);
	check_run(requeue);
	dq_authorize_requeue(requeue->gate, requeue->staging, requeue->quarantine_relid);
}

/*
 * Take the locks.  A dry run only keeps the tables from being altered under
 * it.  What was resolved before may have changed while they were waited for.
 */
static void
lock_tables(Requeue *requeue, Oid named)
{
	LOCKMODE	mode = requeue->dry_run ? AccessShareLock : ShareRowExclusiveLock;

	/* nobody waits for what he may not do */
	open_gate(requeue, named);
	if (!requeue->dry_run)
	{
		dq_lock_gate(requeue->target);
		open_gate(requeue, named);
	}
	dq_lock_table(requeue->staging, mode);
	dq_lock_table(requeue->target, AccessShareLock);
	dq_lock_table(requeue->quarantine_relid, mode);
	open_gate(requeue, requeue->staging);
}

/* How the kept value of a column becomes one of staging */
static Returning *
returning_column(const Requeue *requeue, const QuarantineColumn *kept)
{
	const StagedColumn *staged = kept->staged;
	Returning  *returning = palloc0(sizeof(Returning));
	Column	   *column = &returning->column;

	column->name = staged->name;
	column->identity = staged->identity;
	column->generated = staged->generated;
	get_atttypetypmodcoll(requeue->staging, get_attnum(requeue->staging, staged->name),
						  &column->typid, &column->typmod, &column->collid);
	if (OidIsValid(kept->typid))
	{
		returning->kept = kept->name;
		get_atttypetypmodcoll(requeue->quarantine->relid,
							  get_attnum(requeue->quarantine->relid, kept->name),
							  &column->staged_typid, &column->staged_typmod, &column->staged_collid);
		column->staged_sql = psprintf("staged.%s", quote_identifier(column->name));
		dq_choose_fit(column, false);
	}
	else
		column->fit = FIT_NEVER;

	/* staging computes the one, and has a default for the other */
	returning->inserted = returning->kept != NULL && column->generated == '\0';
	if (column->fit == FIT_NEVER)
		returning->sql = psprintf("CAST(NULL AS %s)", dq_type_sql(getBaseType(column->typid), -1));
	else
		returning->sql = returning->inserted ? column->publish_sql : column->value_sql;
	return returning;
}

static void
match_columns(Requeue *requeue)
{
	ListCell   *lc;

	requeue->map = dq_match_columns(requeue->gate, requeue->staging, false);
	requeue->quarantine = dq_read_quarantine(requeue->quarantine_relid, requeue->map);
	foreach(lc, requeue->quarantine->columns)
		requeue->columns = lappend(requeue->columns, returning_column(requeue, lfirst(lc)));
}

/* A subquery: the rows that are to go back, as quarantine keeps them, with the names of staging */
static char *
kept_rows_sql(const Requeue *requeue)
{
	StringInfoData columns;
	ListCell   *lc;

	initStringInfo(&columns);
	foreach(lc, requeue->columns)
	{
		Returning  *returning = lfirst(lc);

		if (returning->kept)
			appendStringInfo(&columns, "%sq.%s AS %s", columns.len > 0 ? ", " : "",
							 quote_identifier(returning->kept),
							 quote_identifier(returning->column.name));
	}
	return psprintf("SELECT %s FROM %s AS q WHERE " DQ_NOT_REQUEUED, columns.data,
					requeue->quarantine->sql);
}

/* A subquery: the same rows as staging would have them */
static char *
returning_rows_sql(const Requeue *requeue)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	foreach(lc, requeue->columns)
	{
		Returning  *returning = lfirst(lc);

		appendStringInfo(&sql, "%s %s AS %s", sql.len > 0 ? "," : "SELECT", returning->sql,
						 quote_identifier(returning->column.name));
	}
	appendStringInfo(&sql, " FROM (%s) AS staged", kept_rows_sql(requeue));
	return sql.data;
}

/* Run a statement about the rows of the run, which are $1 in it */
static int64
execute(const Requeue *requeue, const char *sql)
{
	Oid			types[1] = {INT8OID};
	Datum		values[1] = {Int64GetDatum(requeue->run_id)};

	return (int64) dq_execute(sql, 1, types, values, NULL, false);
}

/* The same for one that only looks, as the gate's role; see dq_free_result */
static void
look(const Requeue *requeue, const char *sql)
{
	Identity	saved;

	dq_assume(&saved, requeue->gate->run_as, PHASE_AUDIT);
	(void) execute(requeue, sql);
	dq_resume(&saved);
}

/* Refuse to do it twice */
static void
check_marks(Requeue *requeue)
{
	char	   *when;
	char	   *who;

	look(requeue, psprintf("SELECT pg_catalog.count(*), pg_catalog.count(q.requeued_at),"
						   " pg_catalog.max(q.requeued_at)::pg_catalog.text,"
						   " pg_catalog.string_agg(DISTINCT q.requeued_by::pg_catalog.text, ', ')"
						   " FROM %s AS q WHERE q.run_id = $1", requeue->quarantine->sql));
	requeue->kept = dq_result_int64(0, 1, 0);
	requeue->before = dq_result_int64(0, 2, 0);
	requeue->rows = requeue->kept - requeue->before;
	when = dq_result_text(0, 3);
	who = dq_result_text(0, 4);
	dq_free_result();

	if (requeue->kept == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("quarantine table %s has no rows of run " INT64_FORMAT " any more",
						requeue->quarantine->sql, requeue->run_id),
				 errdetail("It quarantined %s.", count_rows(requeue->quarantined))));
	if (requeue->rows == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the rows of run " INT64_FORMAT " were requeued already", requeue->run_id),
				 errdetail("%s went back into staging, %s on %s%s%s.", count_rows(requeue->before),
						   requeue->before == 1 ? "that" : "the last", when,
						   who ? " by " : "", who ? who : ""),
				 errhint("Rows that failed again are in quarantine under the run that found so. To requeue these again, set their requeued_at in %s to NULL.",
						 requeue->quarantine->sql)));
}

/* Refuse rows with values that staging has no column for */
static void
check_strays(const Requeue *requeue)
{
	List	   *strays = dq_stray_columns(requeue->quarantine);
	List	   *lost = NIL;
	StringInfoData sql;
	ListCell   *lc;

	if (strays == NIL)
		return;
	initStringInfo(&sql);
	foreach(lc, strays)
		appendStringInfo(&sql, "%s pg_catalog.count(q.%s)", sql.len > 0 ? "," : "SELECT",
						 quote_identifier(lfirst(lc)));
	appendStringInfo(&sql, " FROM %s AS q WHERE " DQ_NOT_REQUEUED, requeue->quarantine->sql);
	look(requeue, sql.data);
	foreach(lc, strays)
	{
		if (dq_result_int64(0, foreach_current_index(lc) + 1, 0) > 0)
			lost = lappend(lost, lfirst(lc));
	}
	dq_free_result();

	if (lost != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("staging table %s has no column for all values of the rows of run " INT64_FORMAT,
						requeue->map->staging_sql, requeue->run_id),
				 errdetail("It lacks %s.", dq_list_names(lost)),
				 errhint("Add what is missing, set it to NULL in %s, or name another staging table.",
						 requeue->quarantine->sql)));
}

/* Refuse rows with values that the types of staging do not take as they are */
static void
check_types(const Requeue *requeue)
{
	List	   *doubtful = NIL;
	StringInfoData sql;
	StringInfoData misfits;
	ListCell   *lc;

	initStringInfo(&sql);
	initStringInfo(&misfits);
	foreach(lc, requeue->columns)
	{
		Returning  *returning = lfirst(lc);
		Column	   *column = &returning->column;

		if (!returning->inserted || column->fit == FIT_ALWAYS)
			continue;
		doubtful = lappend(doubtful, column);
		appendStringInfo(&sql, "%s pg_catalog.count(*) FILTER (WHERE %s)", sql.len > 0 ? "," : "SELECT",
						 column->fit == FIT_SOME ? column->misfit_sql :
						 psprintf("staged.%s IS NOT NULL", quote_identifier(column->name)));
	}
	if (doubtful == NIL)
		return;
	appendStringInfo(&sql, " FROM (%s) AS staged", kept_rows_sql(requeue));
	look(requeue, sql.data);
	foreach(lc, doubtful)
	{
		Column	   *column = lfirst(lc);
		int64		count = dq_result_int64(0, foreach_current_index(lc) + 1, 0);

		if (count > 0)
			appendStringInfo(&misfits, "%s%s: %s not fit %s", misfits.len > 0 ? "\n" : "",
							 quote_identifier(column->name),
							 psprintf("%s do%s", count_rows(count), count == 1 ? "es" : ""),
							 format_type_with_typemod(column->typid, column->typmod));
	}
	dq_free_result();

	if (misfits.len > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows of run " INT64_FORMAT " do not fit staging table %s",
						requeue->run_id, requeue->map->staging_sql),
				 errdetail("%s", misfits.data),
				 errhint("Correct them in %s, or alter the staging table.", requeue->quarantine->sql)));
}

/* The values of a staged row that make it the same as another one */
typedef struct Sameness
{
	StringInfoData values;		/* of the key, in types of the target, as key_1 ... */
	StringInfoData pairs;		/* present.key_1 = kept.key_1 ... */
	StringInfoData keys;		/* kept.key_1, ... */
	StringInfoData missing;		/* true where one of them is NULL */
	StringInfoData row;			/* all that goes back, as text */
} Sameness;

static void
describe_sameness(const Requeue *requeue, Sameness *same)
{
	ListCell   *lc;

	initStringInfo(&same->values);
	initStringInfo(&same->pairs);
	initStringInfo(&same->keys);
	initStringInfo(&same->missing);
	initStringInfo(&same->row);
	foreach(lc, requeue->map->key)
	{
		Column	   *column = lfirst(lc);
		int			no = foreach_current_index(lc) + 1;
		const char *value = column->fit == FIT_NEVER ?
			psprintf("CAST(NULL AS %s)", dq_type_sql(getBaseType(column->typid), -1)) : column->value_sql;

		appendStringInfo(&same->values, "%s%s AS key_%d", no > 1 ? ", " : "", value, no);
		appendStringInfo(&same->pairs, "%spresent.key_%d %s kept.key_%d", no > 1 ? " AND " : "", no,
						 dq_operator_sql(dq_equality_operator(column->typid)), no);
		appendStringInfo(&same->keys, "%skept.key_%d", no > 1 ? ", " : "", no);
		appendStringInfo(&same->missing, "%s(%s) IS NULL", no > 1 ? " OR " : "", value);
	}
	foreach(lc, requeue->columns)
	{
		Returning  *returning = lfirst(lc);

		if (returning->inserted)
			appendStringInfo(&same->row, "%sstaged.%s", same->row.len > 0 ? ", " : "",
							 quote_identifier(returning->column.name));
	}
}

/* How many of the rows are there already; key shows one of them */
static int64
count_staged(const Requeue *requeue, const char *sql, char **key)
{
	int64		count;

	look(requeue, sql);
	count = dq_result_int64(0, 1, 0);
	*key = dq_result_text(0, 2);
	dq_free_result();
	return count;
}

static void
refuse_staged(const Requeue *requeue, int64 count, const char *how)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("staging table %s still has rows that run " INT64_FORMAT " has quarantined",
					requeue->map->staging_sql, requeue->run_id),
			 errdetail(INT64_FORMAT " of %s %s there, %s.", count, count_rows(requeue->rows),
					   count == 1 ? "is" : "are", how),
			 errhint("Publish what is staged, or empty the table first: TRUNCATE %s.",
					 requeue->map->staging_sql)));
}

/*
 * Never twice the same row: refuse where one with the same key, as the target
 * sees it, is in staging.  A row without a key is the same as one that is so
 * as a whole.
 */
static void
check_not_staged(const Requeue *requeue)
{
	char	   *rows = returning_rows_sql(requeue);
	Sameness	same;
	char	   *key;
	int64		count;

	describe_sameness(requeue, &same);
	if (requeue->map->key != NIL)
	{
		char	   *names = dq_tuple_names(dq_column_names(requeue->map->key));

		count = count_staged(requeue, psprintf("SELECT pg_catalog.count(*), pg_catalog.min(pg_catalog.left("
											   "ROW(%s)::pg_catalog.text, %d) COLLATE pg_catalog.\"C\")"
											   " FROM (SELECT %s FROM (%s) AS staged) AS kept"
											   " WHERE EXISTS (SELECT FROM (SELECT %s FROM %s AS staged) AS present WHERE %s)",
											   same.keys.data, SHOWN_KEY, same.values.data, rows,
											   same.values.data, requeue->map->staging_sql, same.pairs.data), &key);
		if (count > 0)
			refuse_staged(requeue, count, requeue->gate->samples && !requeue->veiled ?
						  psprintf("by the key %s, for example %s", names, key) :
						  psprintf("by the key %s", names));
	}
	count = count_staged(requeue, psprintf("SELECT pg_catalog.count(*), NULL"
										   " FROM (SELECT ROW(%1$s)::pg_catalog.text AS whole FROM (%2$s) AS staged WHERE %3$s) AS kept"
										   " WHERE EXISTS (SELECT FROM (SELECT ROW(%1$s)::pg_catalog.text AS whole FROM %4$s AS staged"
										   " WHERE %3$s) AS present WHERE present.whole = kept.whole)",
										   same.row.data, rows,
										   requeue->map->key == NIL ? "true" : same.missing.data,
										   requeue->map->staging_sql), &key);
	if (count > 0)
		refuse_staged(requeue, count, "compared as a whole for want of a key");
}

/* See that the rows can go back */
static void
check_rows(Requeue *requeue)
{
	ListCell   *lc;
	bool		some = false;

	check_marks(requeue);
	check_strays(requeue);
	foreach(lc, requeue->columns)
		some = some || ((Returning *) lfirst(lc))->inserted;
	if (!some)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("staging table %s has no column in common with the rows of run " INT64_FORMAT,
						requeue->map->staging_sql, requeue->run_id)));
	check_types(requeue);
	check_not_staged(requeue);
}

/*
 * Copy the rows into staging, as the gate's role: triggers of staging fire as
 * that, and where it is not the caller none of them is left to the end of the
 * transaction, when it would act as the caller.
 */
static int64
insert_rows(const Requeue *requeue)
{
	bool		lent = requeue->gate->run_as != requeue->caller;
	bool		overriding = false;
	List	   *names = NIL;
	StringInfoData sql;
	ListCell   *lc;
	Identity	saved;
	int64		rows;

	foreach(lc, requeue->columns)
	{
		Returning  *returning = lfirst(lc);

		if (!returning->inserted)
			continue;
		names = lappend(names, returning->column.name);
		overriding = overriding || returning->column.identity == ATTRIBUTE_IDENTITY_ALWAYS;
	}
	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO %s (", requeue->map->staging_sql);
	dq_append_names(&sql, names, "");
	appendStringInfo(&sql, ")%s SELECT ", overriding ? " OVERRIDING SYSTEM VALUE" : "");
	dq_append_names(&sql, names, "kept.");
	appendStringInfo(&sql, " FROM (%s) AS kept", returning_rows_sql(requeue));

	if (lent)
		dq_begin_immediate();
	dq_assume(&saved, requeue->gate->run_as, lent ? PHASE_PUBLISH_LENT : PHASE_PUBLISH);
	rows = execute(requeue, sql.data);
	dq_resume(&saved);
	if (lent)
		dq_end_immediate();
	return rows;
}

/* All rows that were to go back are there and marked, or none is */
static void
check_count(const Requeue *requeue, int64 rows, const char *table, const char *what)
{
	if (rows != requeue->rows)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("%s of run " INT64_FORMAT " were to be %s, and " INT64_FORMAT " were",
						count_rows(requeue->rows), requeue->run_id, what, rows),
				 errdetail("A trigger or rule of table %s has kept the others from it.", table)));
}

static void
move_rows(void *arg)
{
	Requeue    *requeue = arg;

	check_count(requeue, insert_rows(requeue), requeue->map->staging_sql, "staged");
	check_count(requeue, dq_mark_requeued(requeue->quarantine, requeue->run_id, requeue->caller),
				requeue->quarantine->sql, "marked as requeued");
}

static void
requeue_rows(Requeue *requeue, Oid named)
{
	DqErrorContext gate_context;
	DqErrorContext run_context;

	requeue->caller = GetUserId();
	if (!requeue->dry_run)
	{
		PreventCommandIfReadOnly("a requeue of dq_gate");
		dq_require_read_committed("requeue rows");
	}
	find_run(requeue);

	dq_push_context(&gate_context, "gate %s", dq_relation_sql(requeue->target));
	dq_push_context(&run_context, "requeue of run %s", psprintf(INT64_FORMAT, requeue->run_id));
	lock_tables(requeue, named);
	match_columns(requeue);
	check_rows(requeue);
	if (!requeue->dry_run)
		dq_run_veiled(requeue->veiled, move_rows, requeue, requeue->gate, requeue->caller);
	dq_pop_context(&run_context);
	dq_pop_context(&gate_context);
}

PG_FUNCTION_INFO_V1(dq_gate_requeue);

/*
 * requeue(run_id, staging, dry_run) puts the quarantined rows of a run back
 * into staging and marks them, or only says whether it could.
 */
Datum
dq_gate_requeue(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	Requeue    *requeue = palloc0(sizeof(Requeue));
	TupleDesc	desc;
	Datum		values[8];
	bool		nulls[8] = {false};

	dq_check_nargs(fcinfo, 3);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"run_id\" must not be NULL")));
	requeue->run_id = PG_GETARG_INT64(0);
	requeue->dry_run = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);

	SPI_connect();
	MemoryContextSwitchTo(caller);
	requeue_rows(requeue, PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1));
	SPI_finish();
	MemoryContextSwitchTo(caller);

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	dq_check_columns(desc, lengthof(values));
	values[0] = Int64GetDatum(requeue->run_id);
	values[1] = ObjectIdGetDatum(requeue->target);
	values[2] = ObjectIdGetDatum(requeue->staging);
	values[3] = ObjectIdGetDatum(requeue->quarantine->relid);
	values[4] = Int64GetDatum(requeue->kept);
	values[5] = Int64GetDatum(requeue->rows);
	values[6] = Int64GetDatum(requeue->before);
	values[7] = BoolGetDatum(requeue->dry_run);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
