/*
 * outcome.c
 *		What becomes of each row, of the batch and of the target, to be
 *		selected from.
 *
 * A publish does it; this is for those who have to know it beforehand.  They
 * select from rows and count, and no row is kept.  Unlike the source of a
 * publish, this one raises no error: a row that the target cannot take is
 * known as such, and matched with nothing.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "changes.h"
#include "columns.h"
#include "outcome.h"
#include "policy.h"
#include "spi_util.h"

/* A function call takes 100 arguments, two for each value */
#define MAX_SHOWN		46

/* The failed results whose check can say of each row whether it failed */
List *
dq_row_results(const Run *run)
{
	List	   *results = NIL;
	ListCell   *lc;

	foreach(lc, run->results)
	{
		CheckResult *result = lfirst(lc);

		if (result->status == DQ_FAILED && result->check->fail_sql)
			results = lappend(results, result);
	}
	return results;
}

/*
 * True for a row that the audited run moves out of the batch by that action,
 * NULL if it moves none.
 */
char *
dq_moved_sql(const Run *run, DqAction action)
{
	StringInfoData sql;
	ListCell   *lc;

	if (!run->gate->enforce)
		return NULL;
	initStringInfo(&sql);
	foreach(lc, dq_row_results(run))
	{
		CheckResult *result = lfirst(lc);

		if (result->action == action)
			appendStringInfo(&sql, "%s%s", sql.len > 0 ? " OR " : "", result->check->fail_sql);
	}
	return sql.len > 0 ? sql.data : NULL;
}

/*
 * True for a row with a value that does not fit, or none where the target
 * wants one.  A check blocks it or moves it out.
 */
static char *
unfit_sql(const ColumnMap *map)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (!column->staged)
			continue;
		if (column->fit == FIT_NEVER)
			return "true";
		if (column->fit == FIT_SOME)
			appendStringInfo(&sql, "%s%s", sql.len > 0 ? " OR " : "", column->misfit_sql);
		if (column->is_key || column->notnull)
			appendStringInfo(&sql, "%sstaged.%s IS NOT DISTINCT FROM NULL", sql.len > 0 ? " OR " : "",
							 quote_identifier(column->name));
	}
	return sql.len > 0 ? sql.data : "false";
}

/* A staged value as it would be published, NULL where it cannot be */
static char *
value_sql(const Column *column)
{
	if (column->fit == FIT_NEVER)
		return psprintf("NULL::%s", dq_type_sql(getBaseType(column->typid), -1));
	if (column->fit == FIT_ALWAYS)
		return column->publish_sql;
	/* a domain may forbid NULL */
	return psprintf("CASE WHEN %s%s THEN NULL ELSE %s END", column->misfit_sql,
					column->notnull ? psprintf(" OR staged.%s IS NOT DISTINCT FROM NULL",
											   quote_identifier(column->name)) : "",
					column->publish_sql);
}

/*
 * The rows of the batch as they would be published, with why a row is not, if
 * it is not, and the key as it is staged.
 */
static char *
source_sql(const ColumnMap *map, const char *quarantined, const char *dropped,
		   const char *fate, Outcome *outcome)
{
	StringInfoData sql;
	List	   *names = list_make1(unconstify(char *, fate));
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "(SELECT ");
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (!column->staged)
			continue;
		names = lappend(names, column->name);
		appendStringInfo(&sql, "%s AS %s, ", value_sql(column), quote_identifier(column->name));
	}
	foreach(lc, map->key)
	{
		Column	   *column = lfirst(lc);
		char	   *name = dq_free_name("staged", names);

		names = lappend(names, name);
		outcome->staged_key = lappend(outcome->staged_key, name);
		appendStringInfo(&sql, "staged.%s AS %s, ", quote_identifier(column->name),
						 quote_identifier(name));
	}
	appendStringInfoString(&sql, "CASE");
	if (quarantined)
		appendStringInfo(&sql, " WHEN %s THEN 'quarantined'", quarantined);
	if (dropped)
		appendStringInfo(&sql, " WHEN %s THEN 'dropped'", dropped);
	appendStringInfo(&sql, " WHEN %s THEN 'unfit' END AS %s FROM %s) AS batch",
					 unfit_sql(map), quote_identifier(fate), dq_source_sql(map, "batch"));
	return sql.data;
}

static bool
is_publishable(const ColumnMap *map)
{
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (column->staged && column->fit == FIT_NEVER)
			return false;
	}
	return true;
}

/*
 * What a publish would make of the batch, without the rows that the given
 * conditions move out, over the aliases of dq_source_sql.
 */
Outcome *
dq_outcome(const ColumnMap *map, const char *quarantined, const char *dropped)
{
	Outcome    *outcome = palloc0(sizeof(Outcome));
	const char *fate = dq_free_name("fate", dq_column_names(map->columns));
	bool		matches = dq_mode_matches(map->gate);
	char	   *source = source_sql(map, quarantined, dropped, fate, outcome);
	char	   *update = dq_update_sql(map);
	char	   *stale = dq_stale_sql(map);
	StringInfoData sql;

	fate = quote_identifier(fate);
	outcome->publishable = is_publishable(map);
	if (update)
		outcome->updated = psprintf("%s JOIN %s AS target ON (%s) WHERE batch.%s IS NULL AND (%s)",
									source, map->target_sql, dq_match_sql(map), fate, update);

	initStringInfo(&sql);
	appendStringInfoString(&sql, source);
	if (matches)
		appendStringInfo(&sql, " LEFT JOIN %s AS target ON (batch.%s IS NULL AND %s)",
						 map->target_sql, fate, dq_match_sql(map));
	appendStringInfo(&sql, ", LATERAL (SELECT CASE WHEN batch.%1$s IS NOT NULL THEN batch.%1$s", fate);
	if (matches)
	{
		/* even a row of NULLs is no NULL by this */
		appendStringInfo(&sql, " WHEN target.%s IS NOT DISTINCT FROM NULL THEN 'inserted'",
						 quote_identifier(((Column *) linitial(map->key))->name));
		if (stale)
			appendStringInfo(&sql, " WHEN %s THEN 'stale'", stale);
		if (outcome->updated)
			appendStringInfo(&sql, " WHEN %s THEN 'updated'", update);
		appendStringInfoString(&sql, " ELSE 'unchanged'");
	}
	else
		appendStringInfoString(&sql, " ELSE 'inserted'");
	/* once a row, however many ask for it */
	appendStringInfoString(&sql, " END OFFSET 0) AS outcome (change)");
	outcome->rows = sql.data;

	if (outcome->publishable && dq_mode_deletes(map->gate))
		outcome->deleted = psprintf("%s AS target WHERE %s", map->target_sql,
									dq_deleted_sql(map, psprintf("(SELECT batch.* FROM %s WHERE batch.%s IS NULL) AS batch",
																 source, fate)));
	return outcome;
}

/* The columns of a row to be shown, the key first */
List *
dq_shown_columns(const ColumnMap *map)
{
	List	   *columns = list_copy(map->key);
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (!column->is_key && column->staged)
			columns = lappend(columns, column);
	}
	return list_truncate(columns, MAX_SHOWN);
}

/* The columns that a row is known by: its key, or what there is */
List *
dq_naming_columns(const ColumnMap *map)
{
	return map->key == NIL ? dq_shown_columns(map) : list_truncate(list_copy(map->key), MAX_SHOWN);
}

/* Columns as an alias has them */
List *
dq_qualified(List *names, const char *alias)
{
	List	   *values = NIL;
	ListCell   *lc;

	foreach(lc, names)
		values = lappend(values, psprintf("%s.%s", alias, quote_identifier(lfirst(lc))));
	return values;
}

/*
 * Some of the rows for which the condition holds, as an array of objects with
 * these names and values; NULL where there are none.  Each parallel worker may
 * keep as many.
 */
char *
dq_sample_sql(List *names, List *values, int samples, const char *condition)
{
	StringInfoData sql;
	ListCell   *nc;
	ListCell   *vc;

	if (samples <= 0 || names == NIL)
		return "NULL::pg_catalog.jsonb";
	initStringInfo(&sql);
	appendStringInfo(&sql, "pg_catalog.jsonb_path_query_array(dq_gate.sample_rows(%d", samples);
	forboth(nc, names, vc, values)
		appendStringInfo(&sql, ", %s::pg_catalog.text, %s", dq_literal(lfirst(nc)), (char *) lfirst(vc));
	appendStringInfo(&sql, ") FILTER (WHERE %s), '$[0 to %d]')", condition, samples - 1);
	return sql.data;
}
