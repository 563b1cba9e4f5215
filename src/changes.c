/*
 * changes.c
 *		What a publish does to which row of the target, as SQL.
 *
 * A row of the target has the alias "target", one of the batch "batch".  All
 * who have to know what a publish will do, or do it, ask here, so that they
 * cannot differ.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "changes.h"
#include "columns.h"
#include "policy.h"
#include "spi_util.h"

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

/*
 * Whether a known row keeps its value of a column whatever is staged: the key,
 * what the server computes, and what the gate leaves alone.
 */
bool
dq_keeps_value(const ColumnMap *map, const Column *column)
{
	const Gate *gate = map->gate;

	return !dq_mode_updates(gate) || column->is_key ||
		column->identity == ATTRIBUTE_IDENTITY_ALWAYS ||
		(gate->update_columns != NIL && !dq_has_name(gate->update_columns, column->name)) ||
		dq_has_name(gate->exclude_columns, column->name);
}

/* Whether a known row takes the staged value of a column */
bool
dq_is_updated(const ColumnMap *map, const Column *column)
{
	return column->staged && !dq_keeps_value(map, column);
}

/* Whether a known row has changed where the column has another value */
static bool
is_compared(const ColumnMap *map, const Column *column)
{
	const Gate *gate = map->gate;

	if (gate->compare_columns == NIL)
		return dq_is_updated(map, column);
	return column->staged && dq_has_name(gate->compare_columns, column->name);
}

/*
 * A value of the column to be compared by its image, which takes two of one
 * type: a batch may have that of the domain or the one behind it.
 */
static char *
image_sql(const Column *column, const char *alias)
{
	const char *name = quote_identifier(column->name);

	if (get_typtype(column->typid) != TYPTYPE_DOMAIN)
		return psprintf("%s.%s", alias, name);
	return psprintf("%s.%s::%s", alias, name, dq_type_sql(getBaseType(column->typid), -1));
}

/* True where a column has another value in the batch than in the target */
char *
dq_column_changed_sql(const Column *column)
{
	const char *name = quote_identifier(column->name);

	if (equality_is_identity(column))
		return psprintf("target.%1$s IS DISTINCT FROM batch.%1$s", name);
	return psprintf("pg_catalog.record_image_ne(ROW(%s), ROW(%s))",
					image_sql(column, "target"), image_sql(column, "batch"));
}

/* True where a known row would change, NULL where none ever does */
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

		if (!is_compared(map, column))
			continue;
		if (equality_is_identity(column))
			appendStringInfo(&sql, "%s%s", sql.len > 0 ? " OR " : "", dq_column_changed_sql(column));
		else
		{
			appendStringInfo(&old_images, "%s%s", old_images.len > 0 ? ", " : "",
							 image_sql(column, "target"));
			appendStringInfo(&new_images, "%s%s", new_images.len > 0 ? ", " : "",
							 image_sql(column, "batch"));
		}
	}
	if (old_images.len > 0)
		appendStringInfo(&sql, "%spg_catalog.record_image_ne(ROW(%s), ROW(%s))",
						 sql.len > 0 ? " OR " : "", old_images.data, new_images.data);
	return sql.len > 0 ? sql.data : NULL;
}

/*
 * True where the row of the target is newer than that of the batch, or is the
 * only one of the two to say how new it is; NULL where the gate does not ask.
 */
char *
dq_stale_sql(const ColumnMap *map)
{
	const char *name = map->gate->only_if_newer;
	Column	   *column;

	/* one that is gone is for the run to refuse */
	column = name ? dq_find_column(map, name) : NULL;
	if (column == NULL)
		return NULL;
	name = quote_identifier(name);
	return psprintf("(target.%1$s IS NOT NULL AND (batch.%1$s IS NULL OR batch.%1$s %2$s target.%1$s))",
					name,
					dq_operator_sql(lookup_type_cache(column->typid, TYPECACHE_LT_OPR)->lt_opr));
}

/* Whether there is a column that a known row takes from the batch */
static bool
updates_any(const ColumnMap *map)
{
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		if (dq_is_updated(map, lfirst(lc)))
			return true;
	}
	return false;
}

/*
 * True where a known row is to be updated, NULL where none ever is: what is
 * compared need not be what is updated.
 */
char *
dq_update_sql(const ColumnMap *map)
{
	char	   *changed = updates_any(map) ? changed_sql(map) : NULL;
	char	   *stale = dq_stale_sql(map);

	if (changed == NULL || !stale)
		return changed;
	return psprintf("NOT %s AND (%s)", stale, changed);
}

/* True for a row of the target in one of the slices that the source names */
static char *
in_slice_sql(const ColumnMap *map, const char *source)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfo(&sql, "EXISTS (SELECT 1 FROM %s WHERE ", source);
	foreach(lc, map->gate->replace_by)
	{
		Column	   *column = dq_find_column(map, lfirst(lc));
		const char *name = quote_identifier(lfirst(lc));

		/* one that is gone is for the run to refuse */
		if (column == NULL)
			return "false";
		appendStringInfo(&sql, "%starget.%s %s batch.%s", lc == list_head(map->gate->replace_by) ? "" : " AND ",
						 name, dq_operator_sql(dq_equality_operator(column->typid)), name);
	}
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/*
 * True for a row of the target that the publish deletes, NULL where it deletes
 * none.  The source is what is published, as "batch".  A sync spares the rows
 * of which the batch has the key, whatever becomes of the staged row.
 */
char *
dq_deleted_sql(const ColumnMap *map, const char *source)
{
	const Gate *gate = map->gate;

	if (gate->mode == DQ_REPLACE)
		return gate->scope ? psprintf("(%s)", gate->scope_of_target) : in_slice_sql(map, source);
	if (gate->mode == DQ_SYNC)
		return psprintf("%s%s%sNOT EXISTS (SELECT 1 FROM %s WHERE %s)",
						gate->scope ? "(" : "", gate->scope ? gate->scope_of_target : "",
						gate->scope ? ") AND " : "",
						dq_whole_batch_sql(map, "batch"), dq_match_sql(map));
	return NULL;
}

/*
 * The rows of the batch without those that a condition picks, which may hold a
 * window, as a table to select from.
 */
char *
dq_remaining_sql(const ColumnMap *map, const char *moved, const char *alias)
{
	List	   *names = NIL;
	StringInfoData columns;
	char	   *flag;
	ListCell   *lc;

	if (moved == NULL)
		return dq_source_sql(map, alias);
	initStringInfo(&columns);
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (!column->staged || column->fit == FIT_NEVER)
			continue;
		names = lappend(names, column->name);
		appendStringInfo(&columns, "batch.%s, ", quote_identifier(column->name));
	}
	flag = dq_free_name("moved", names);
	return psprintf("(SELECT batch.* FROM (SELECT %s(%s) AS %s FROM %s) AS batch WHERE NOT batch.%s) AS %s",
					columns.data, moved, quote_identifier(flag), dq_source_sql(map, "batch"),
					quote_identifier(flag), alias);
}
