/*
 * columns.c
 *		Match the columns of staging with those of the target.
 *
 * Columns are matched by name, never by position.  Whatever is wrong with the
 * match is a finding of the schema contract and is only recorded here; the
 * one thing that no run can do without is the merge key.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/bitmapset.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "columns.h"
#include "compat.h"
#include "drift.h"
#include "fit.h"
#include "policy.h"
#include "spi_util.h"

Column *
dq_find_column(const ColumnMap *map, const char *name)
{
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (strcmp(column->name, name) == 0)
			return column;
	}
	return NULL;
}

List *
dq_column_names(List *columns)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, columns)
		names = lappend(names, ((Column *) lfirst(lc))->name);
	return names;
}

/* A domain over a domain may say NOT NULL at any level */
bool
dq_domain_is_not_null(Oid typid)
{
	while (get_typtype(typid) == TYPTYPE_DOMAIN)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(typid));
		Form_pg_type form;
		bool		notnull;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", typid);
		form = (Form_pg_type) GETSTRUCT(tuple);
		notnull = form->typnotnull;
		typid = form->typbasetype;
		ReleaseSysCache(tuple);
		if (notnull)
			return true;
	}
	return false;
}

static List *
target_columns(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *columns = NIL;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		Column	   *column;

		if (att->attisdropped)
			continue;
		column = palloc0(sizeof(Column));
		column->name = pstrdup(NameStr(att->attname));
		column->attnum = att->attnum;
		column->typid = att->atttypid;
		column->typmod = att->atttypmod;
		column->collid = att->attcollation;
		column->notnull = att->attnotnull || dq_domain_is_not_null(att->atttypid);
		column->has_default = att->atthasdef || get_typdefault(att->atttypid) != NULL;
		column->identity = att->attidentity;
		column->generated = att->attgenerated;
		columns = lappend(columns, column);
	}
	return columns;
}

/* Give each column of the target its counterpart in staging */
static void
match_staging(ColumnMap *map)
{
	Relation	rel = relation_open(map->staging, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		StagedColumn *staged;
		Column	   *column;

		if (att->attisdropped)
			continue;
		staged = palloc0(sizeof(StagedColumn));
		staged->name = pstrdup(NameStr(att->attname));
		staged->typid = att->atttypid;
		staged->typmod = att->atttypmod;
		staged->identity = att->attidentity;
		staged->generated = att->attgenerated;
		staged->collid = att->attcollation;
		map->staged = lappend(map->staged, staged);

		column = dq_find_column(map, staged->name);
		if (column == NULL)
			continue;
		staged->in_target = true;
		/* the target computes it, whatever staging says */
		if (column->generated != '\0')
			continue;
		column->staged = true;
		column->staged_typid = att->atttypid;
		column->staged_typmod = att->atttypmod;
		column->staged_collid = att->attcollation;
		column->staged_sql = psprintf("staged.%s", quote_identifier(column->name));
		dq_choose_fit(column, map->gate->on_rounding == DQ_ROUNDING_ALLOW);
	}
	relation_close(rel, NoLock);
}

/* Whether a unique index is one that can serve as a key: plain and complete */
bool
dq_index_is_plain_unique(Form_pg_index index, HeapTuple tuple)
{
	return index->indisunique && index->indisvalid &&
		!dq_index_temporal(index) &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL) &&
		heap_attisnull(tuple, Anum_pg_index_indexprs, NULL);
}

static Bitmapset *
index_columns(Form_pg_index index)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < index->indnkeyatts; i++)
		columns = bms_add_member(columns, index->indkey.values[i]);
	return columns;
}

static Column *
column_by_attnum(const ColumnMap *map, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (column->attnum == attnum)
			return column;
	}
	return NULL;
}

/*
 * Derive the key from the target: its primary key, else the only unique index
 * over columns that cannot be NULL.  With a key given, learn whether an index
 * makes it unique.
 */
static void
examine_indexes(Relation rel, ColumnMap *map)
{
	List	   *indexes = RelationGetIndexList(rel);
	Bitmapset  *given = NULL;
	List	   *candidate = NIL;
	char	   *candidate_source = NULL;
	int			candidates = 0;
	ListCell   *lc;

	foreach(lc, map->key)
		given = bms_add_member(given, ((Column *) lfirst(lc))->attnum);

	foreach(lc, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_index index;
		List	   *columns = NIL;
		bool		not_null = true;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for index %u", lfirst_oid(lc));
		index = (Form_pg_index) GETSTRUCT(tuple);
		if (!dq_index_is_plain_unique(index, tuple))
		{
			ReleaseSysCache(tuple);
			continue;
		}

		for (int i = 0; i < index->indnkeyatts; i++)
		{
			Column	   *column = column_by_attnum(map, index->indkey.values[i]);

			not_null = not_null && column != NULL && column->notnull;
			columns = lappend(columns, column);
		}

		if (given != NULL)
		{
			/* a unique set of columns stays unique with more added */
			if (bms_is_subset(index_columns(index), given))
				map->key_is_unique = true;
		}
		else if (index->indisprimary)
		{
			candidate = columns;
			candidate_source = psprintf("primary key %s",
										quote_identifier(get_rel_name(index->indexrelid)));
			candidates = 1;
			ReleaseSysCache(tuple);
			break;
		}
		else if (not_null)
		{
			candidate = columns;
			candidate_source = psprintf("unique index %s",
										quote_identifier(get_rel_name(index->indexrelid)));
			candidates++;
		}
		ReleaseSysCache(tuple);
	}

	if (given == NULL && candidates == 1)
	{
		map->key = candidate;
		map->key_source = candidate_source;
		map->key_is_unique = true;
	}

	/* an index knows nothing of the rows of inheriting tables */
	if (rel->rd_rel->relkind == RELKIND_RELATION && has_subclass(map->target))
		map->key_is_unique = false;
}

/* The key that the gate names, by name */
static void
resolve_given_key(const Gate *gate, ColumnMap *map)
{
	ListCell   *lc;

	foreach(lc, gate->key)
	{
		char	   *name = lfirst(lc);
		Column	   *column = dq_find_column(map, name);

		if (column == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("key column %s of gate %s does not exist",
							quote_identifier(name), gate->name),
					 errhint("Name the columns that identify a row with SELECT dq_gate.alter_gate(%s, key => ARRAY[...]).",
							 quote_literal_cstr(gate->name))));
		if (list_member_ptr(map->key, column))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("key column %s of gate %s is named twice",
							quote_identifier(name), gate->name)));
		map->key = lappend(map->key, column);
	}
	map->key_source = "gate";
}

/* A run needs a key whose columns are staged and can be compared */
static void
check_key(const Gate *gate, ColumnMap *map)
{
	ListCell   *lc;

	if (map->key == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no key found for gate %s", gate->name),
				 errdetail("The target has no primary key, and not exactly one unique index on columns that are NOT NULL."),
				 errhint("Add a primary key, or name the columns that identify a row: SELECT dq_gate.%s(%s, key => ARRAY['...']).",
						 gate->registered ? "alter_gate" : "create_gate",
						 quote_literal_cstr(gate->name))));

	foreach(lc, map->key)
	{
		Column	   *column = lfirst(lc);
		TypeCacheEntry *type = lookup_type_cache(column->typid, TYPECACHE_EQ_OPR);

		column->is_key = true;
		if (!OidIsValid(type->eq_opr))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("key column %s of gate %s has type %s, which has no equality operator",
							quote_identifier(column->name), gate->name,
							format_type_be(column->typid))));
		if (column->generated != '\0')
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("key column %s of gate %s is a generated column",
							quote_identifier(column->name), gate->name),
					 errhint("Use a key of columns that are staged.")));
		if (OidIsValid(map->staging) && !column->staged)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("key column %s of gate %s is missing in staging table %s",
							quote_identifier(column->name), gate->name, map->staging_sql),
					 errhint("Add the column to the staging table, or give the gate another key with dq_gate.%s.",
							 gate->registered ? "alter_gate" : "create_gate")));
	}
}

/* Whether a derived key can be taken from the batch */
static bool
key_is_staged(const ColumnMap *map)
{
	ListCell   *lc;

	foreach(lc, map->key)
	{
		Column	   *column = lfirst(lc);

		if (column->generated != '\0' || (OidIsValid(map->staging) && !column->staged))
			return false;
	}
	return true;
}

/*
 * The staged rows less those of which there is a later one of the same key,
 * as a subquery.  Of rows that are equally late none is dropped, nor is a row
 * without a key: these are for the checks to find.  Each keeps its address.
 */
static char *
latest_rows(const ColumnMap *map)
{
	Column	   *latest = dq_find_column(map, map->gate->keep_latest_by);
	List	   *names = NIL;
	StringInfoData keys,
				nulls,
				columns;
	char	   *rank;
	ListCell   *lc;

	initStringInfo(&keys);
	initStringInfo(&nulls);
	initStringInfo(&columns);
	foreach(lc, map->key)
	{
		Column	   *column = lfirst(lc);
		const char *value = column->value_sql;

		/* nobody can compare what has no value in the target's type */
		if (!column->staged || column->fit == FIT_NEVER)
			return map->staging_sql;
		appendStringInfo(&keys, "%s%s", keys.len > 0 ? ", " : "", value);
		appendStringInfo(&nulls, "%s(%s) IS NULL", nulls.len > 0 ? " OR " : "", value);
	}
	foreach(lc, map->staged)
	{
		names = lappend(names, ((StagedColumn *) lfirst(lc))->name);
		appendStringInfo(&columns, "%sstaged.%s", columns.len > 0 ? ", " : "",
						 quote_identifier(llast(names)));
	}
	rank = dq_free_name("rank", names);
	return psprintf("(SELECT staged.tableoid, staged.ctid, %1$s FROM (SELECT staged.tableoid, staged.ctid, %1$s, CASE WHEN %2$s THEN 1 ELSE pg_catalog.rank() OVER"
					" (PARTITION BY %3$s ORDER BY %4$s DESC NULLS LAST) END AS %5$s FROM %6$s AS staged) AS staged"
					" WHERE staged.%5$s = 1)",
					columns.data, nulls.data, keys.data,
					latest && latest->staged && latest->fit != FIT_NEVER ? latest->value_sql :
					psprintf("staged.%s", quote_identifier(map->gate->keep_latest_by)),
					quote_identifier(rank), map->staging_sql);
}

/*
 * The tables of a run, whose columns nobody has looked at yet.
 */
ColumnMap *
dq_unmatched_columns(const Gate *gate, Oid staging)
{
	ColumnMap  *map = palloc0(sizeof(ColumnMap));

	map->gate = gate;
	map->target = gate->target;
	map->staging = staging;
	map->target_sql = dq_relation_sql(gate->target);
	if (OidIsValid(staging))
		map->staging_sql = dq_relation_sql(staging);
	return map;
}

/*
 * Match the columns of staging with those of the gate's target.  Without a
 * staging table only the target is looked at.
 */
ColumnMap *
dq_match_columns(const Gate *gate, Oid staging, bool need_key)
{
	ColumnMap  *map = dq_unmatched_columns(gate, staging);
	Relation	rel = relation_open(gate->target, NoLock);

	map->columns = target_columns(rel);
	if (OidIsValid(staging))
		match_staging(map);

	if (gate->key != NIL)
		resolve_given_key(gate, map);
	examine_indexes(rel, map);
	relation_close(rel, NoLock);
	if (OidIsValid(staging) && staging != gate->target)
		dq_apply_drift(map);

	if (!dq_mode_needs_key(gate) && gate->key == NIL && !key_is_staged(map))
	{
		/* rows that are only added get along without it */
		map->key = NIL;
		map->key_source = NULL;
		map->key_is_unique = false;
	}
	if ((need_key && dq_mode_needs_key(gate)) || map->key != NIL)
		check_key(gate, map);
	map->staged_from = gate->keep_latest_by && OidIsValid(staging) ? latest_rows(map) : map->staging_sql;
	return map;
}

/* Rows of staging in two forms; see dq_source_sql */
static char *
rows_sql(const ColumnMap *map, const char *from, const char *alias)
{
	StringInfoData buf;
	bool		first = true;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s AS staged, LATERAL (SELECT", from);
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (!column->staged || column->fit == FIT_NEVER)
			continue;
		appendStringInfo(&buf, "%s %s AS %s", first ? "" : ",",
						 column->value_sql, quote_identifier(column->name));
		first = false;
	}
	appendStringInfo(&buf, ") AS %s", alias);
	return buf.data;
}

/*
 * The rows of the batch as an audit sees them: "staged" has the columns as
 * they are staged, the alias those that the target knows, with its types.
 * The subquery costs nothing, the planner takes it apart.
 */
char *
dq_source_sql(const ColumnMap *map, const char *alias)
{
	return rows_sql(map, map->staged_from, alias);
}

/*
 * The same of all rows that are staged, also those of which there is a later
 * one.
 */
char *
dq_whole_batch_sql(const ColumnMap *map, const char *alias)
{
	return rows_sql(map, map->staging_sql, alias);
}

/*
 * Where a row of the target, alias "target", has the key of a row of the
 * batch, alias "batch".
 */
char *
dq_match_sql(const ColumnMap *map)
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
