/*
 * clash.c
 *		Values that are unique in the batch and in the target, as it will be.
 *
 * Two functions know what a publish does to the rows: written_sql, which of
 * the batch it writes, and stays_sql, which of the target it lets be, both by
 * what changes.c says.  What contains_key says follows from the latter.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "changes.h"
#include "columns.h"
#include "compat.h"
#include "kinds/uniqueness.h"
#include "params.h"
#include "policy.h"
#include "spi_util.h"

/* A staged row itself, whatever is in it: no key need be there */
#define ROW_IDENTITY	"(staged.tableoid::pg_catalog.text || staged.ctid::pg_catalog.text)"

/* Where a row of the target has the key of a row of rows_sql */
static char *
key_match_sql(const ColumnMap *map)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	foreach(lc, map->key)
	{
		const Column *column = lfirst(lc);

		appendStringInfo(&sql, "%starget.%s %s batch.match_%d", lc == list_head(map->key) ? "" : " AND ",
						 quote_identifier(column->name),
						 dq_operator_sql(dq_equality_operator(column->typid)),
						 foreach_current_index(lc) + 1);
	}
	return sql.data;
}

/*
 * Whether the publish writes a row of the batch, alias "batch" of rows_sql,
 * into the table that an index is on; NULL: all of them.  Not a row that the
 * mode leaves out because of the one of its key in the target; nor one whose
 * key a table has that inherits from the target: it goes there.
 */
static char *
written_sql(const Uniqueness *unique)
{
	const ColumnMap *map = unique->map;
	char	   *stale = dq_stale_sql(map);
	char	   *left_out;

	if (!dq_mode_matches(map->gate))
		return NULL;
	if (map->gate->mode == DQ_INSERT_ONLY)
		left_out = "true";
	else if (unique->index != NULL && get_rel_relkind(map->target) == RELKIND_RELATION &&
			 has_subclass(map->target))
		left_out = psprintf("(target.tableoid <> %u%s%s)", map->target, stale ? " OR " : "",
							stale ? stale : "");
	else if (stale)
		left_out = stale;
	else
		return NULL;
	return psprintf("NOT EXISTS (SELECT 1 FROM %s AS target WHERE %s AND %s)",
					map->target_sql, key_match_sql(map), left_out);
}

/* Whether it writes all of them */
bool
dq_all_written(const Uniqueness *unique)
{
	return written_sql(unique) == NULL;
}

/* What the publish leaves in the batch, each row by an identity of its own */
static char *
rows_sql(const Uniqueness *unique, const char *alias)
{
	const ColumnMap *map = unique->map;
	int			parts = list_length(unique->parts);
	int			keys = list_length(map->key);
	char	   *counted = dq_counted_sql(unique);
	char	   *written = written_sql(unique);
	const char *newer = map->gate->only_if_newer ? quote_identifier(map->gate->only_if_newer) : NULL;
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfo(&sql, "(SELECT batch.* FROM (SELECT " ROW_IDENTITY ", %s", dq_part_values_sql(unique->parts));
	foreach(lc, map->key)
		appendStringInfo(&sql, ", batch.%s", quote_identifier(((Column *) lfirst(lc))->name));
	if (newer)
		appendStringInfo(&sql, ", batch.%s", newer);
	/* what moves rows may hold a window, so it cannot be a condition here */
	appendStringInfo(&sql, ", %s, %s FROM %s) AS batch (row_id, %s%s%s%s%s, moved, counted) WHERE NOT batch.moved",
					 unique->check->moved_sql ? unique->check->moved_sql : "false",
					 counted ? counted : "true", dq_source_sql(map, "batch"),
					 dq_numbered(parts, "key_%d"), keys > 0 ? ", " : "", dq_numbered(keys, "match_%d"),
					 newer ? ", " : "", newer ? newer : "");
	if (written)
		appendStringInfo(&sql, " AND %s", written);
	appendStringInfo(&sql, ") AS %s", alias);
	return sql.data;
}

/* Whether a row of the target is there whatever the mode deletes, NULL: all are */
static char *
spared_sql(const Uniqueness *unique)
{
	const ColumnMap *map = unique->map;
	char	   *deleted = dq_deleted_sql(map, dq_remaining_sql(map, unique->check->moved_sql, "batch"));

	return deleted ? psprintf("(%s) IS NOT TRUE", deleted) : NULL;
}

/*
 * Whether a row of the target, alias "target", may be there as it is now when
 * a row of the batch, alias "batch", is written; NULL: all may.  What the mode
 * deletes is gone by then.  The end is what counts where no index says
 * otherwise, and for a constraint that is deferrable: a row is gone if it is
 * replaced.  Otherwise the server looks at each row that it writes, in an
 * order of its own, and all but the replaced one may be there.
 */
static char *
stays_sql(const Uniqueness *unique, bool at_the_end)
{
	char	   *spared = spared_sql(unique);
	char	   *stays = NULL;

	if (dq_mode_updates(unique->map->gate))
		stays = at_the_end ?
			psprintf("NOT EXISTS (SELECT 1 FROM %s WHERE %s)", rows_sql(unique, "batch"),
					 key_match_sql(unique->map)) :
			psprintf("(%s) IS NOT TRUE", key_match_sql(unique->map));
	if (stays && spared)
		return psprintf("%s AND %s", stays, spared);
	return stays ? stays : spared;
}

/*
 * Where a value of the target is that of a row of rows_sql.  An array of one
 * takes NULLs for equal, and can be hashed; of arrays it would be another one.
 */
static char *
same_sql(const Uniqueness *unique, const char *alias)
{
	bool		target = strcmp(alias, "target") == 0;
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	foreach(lc, unique->parts)
	{
		const UniquePart *part = lfirst(lc);
		int			number = foreach_current_index(lc) + 1;
		char	   *other = target ? part->target_sql : psprintf("%s.key_%d", alias, number);
		char	   *operator = dq_operator_sql(part->equality);

		if (lc != list_head(unique->parts))
			appendStringInfoString(&sql, " AND ");
		if (unique->check->nulls_distinct || (target && !part->nullable))
			appendStringInfo(&sql, "%s %s batch.key_%d", other, operator, number);
		else if (!part->own_equality && !type_is_array_domain(part->typid))
			appendStringInfo(&sql, "ARRAY[%s] OPERATOR(pg_catalog.=) ARRAY[batch.key_%d]", other, number);
		else
			appendStringInfo(&sql, "((%1$s %2$s batch.key_%3$d) IS TRUE OR"
							 " (%1$s IS NOT DISTINCT FROM NULL AND batch.key_%3$d IS NOT DISTINCT FROM NULL))",
							 other, operator, number);
	}
	return sql.data;
}

/* The rows of the target that may clash: those that the index has */
static char *
target_sql(const Uniqueness *unique)
{
	const ColumnMap *map = unique->map;

	return psprintf("%s%s AS target",
					unique->index && get_rel_relkind(map->target) == RELKIND_RELATION ? "ONLY " : "",
					map->target_sql);
}

/* Where a row of the target clashes with one of the batch */
static char *
clash_sql(const Uniqueness *unique, bool at_the_end)
{
	char	   *stays = stays_sql(unique, at_the_end);

	return psprintf("%s%s%s%s%s%s", same_sql(unique, "target"), stays ? " AND " : "", stays ? stays : "",
					unique->index && unique->index->predicate ? " AND (" : "",
					unique->index && unique->index->predicate ? unique->index->target_predicate : "",
					unique->index && unique->index->predicate ? ")" : "");
}

/* The rows of the batch that clash with one of the target, as a query */
static char *
clashing_sql(const Uniqueness *unique, bool at_the_end)
{
	return psprintf("SELECT batch.row_id FROM %s WHERE batch.counted AND EXISTS (SELECT 1 FROM %s WHERE %s)",
					rows_sql(unique, "batch"), target_sql(unique), clash_sql(unique, at_the_end));
}

/* The rows of the batch that share their values with another one of it */
static char *
duplicated_sql(const Uniqueness *unique)
{
	if (unique->own_equality)
		return psprintf("SELECT batch.row_id FROM %s WHERE batch.counted AND EXISTS (SELECT 1 FROM %s"
						" WHERE sibling.counted AND sibling.row_id <> batch.row_id AND %s)",
						rows_sql(unique, "batch"), rows_sql(unique, "sibling"), same_sql(unique, "sibling"));
	return psprintf("SELECT shared.row_id FROM (SELECT batch.row_id, pg_catalog.count(*) OVER (PARTITION BY %s)"
					" FROM %s WHERE batch.counted) AS shared (row_id, row_count) WHERE shared.row_count > 1",
					dq_numbered(list_length(unique->parts), "batch.key_%d"), rows_sql(unique, "batch"));
}

/* A clash as jsonb: the values, and the keys of both rows */
static char *
clash_sample_sql(const Uniqueness *unique, bool at_the_end)
{
	List	   *names = dq_part_names(unique->parts);
	StringInfoData sql;
	StringInfoData batch_key;
	StringInfoData target_key;
	ListCell   *lc;

	initStringInfo(&sql);
	initStringInfo(&batch_key);
	initStringInfo(&target_key);
	appendStringInfoString(&sql, "SELECT pg_catalog.jsonb_build_object(");
	foreach(lc, names)
		appendStringInfo(&sql, "%s, batch.key_%d, ", dq_literal(lfirst(lc)), foreach_current_index(lc) + 1);
	foreach(lc, unique->map->key)
	{
		char	   *name = ((Column *) lfirst(lc))->name;
		const char *comma = lc == list_head(unique->map->key) ? "" : ", ";

		appendStringInfo(&batch_key, "%s%s, batch.match_%d", comma, dq_literal(name), foreach_current_index(lc) + 1);
		appendStringInfo(&target_key, "%s%s, target.%s", comma, dq_literal(name), quote_identifier(name));
	}
	appendStringInfo(&sql, "%s, pg_catalog.jsonb_build_object(%s), %s, pg_catalog.jsonb_build_object(%s)) AS dq_sample"
					 " FROM %s JOIN %s ON %s WHERE batch.counted",
					 dq_literal(dq_free_name("in_batch", names)), batch_key.data,
					 dq_literal(dq_free_name("in_target", names)), target_key.data,
					 rows_sql(unique, "batch"), target_sql(unique), clash_sql(unique, at_the_end));
	return sql.data;
}

/* What was found, in words and without a value; of a clash that only the order makes, the way out */
static char *
detail_sql(const Uniqueness *unique, const char *groups, bool at_the_end)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT pg_catalog.count(*), pg_catalog.concat_ws(', ',");
	if (groups)
		appendStringInfoString(&sql, " CASE WHEN pg_catalog.max(shared.groups) > 0 THEN"
							   " pg_catalog.format('%s duplicated value%s in %s rows, %s surplus', pg_catalog.max(shared.groups),"
							   " CASE WHEN pg_catalog.max(shared.groups) > 1 THEN 's' ELSE '' END,"
							   " pg_catalog.max(shared.rows), pg_catalog.max(shared.rows) - pg_catalog.max(shared.groups)) END,");
	else
		appendStringInfoString(&sql, " CASE WHEN pg_catalog.bool_or(found.duplicated) THEN"
							   " pg_catalog.format('%s rows with a duplicated value',"
							   " pg_catalog.count(*) FILTER (WHERE found.duplicated)) END,");
	appendStringInfo(&sql, " CASE WHEN pg_catalog.bool_or(found.clashing) THEN"
					 " pg_catalog.format('%%s row%%s with a value of another row of the target%%s',"
					 " pg_catalog.count(*) FILTER (WHERE found.clashing),"
					 " CASE WHEN pg_catalog.count(*) FILTER (WHERE found.clashing) > 1 THEN 's' ELSE '' END,"
					 " CASE WHEN pg_catalog.bool_or(found.passing) THEN"
					 " pg_catalog.format(', %%s of them of a row that the batch changes as well: %s',"
					 " pg_catalog.count(*) FILTER (WHERE found.passing)) END) END)",
					 unique->index && unique->index->plain ?
					 "a DEFERRABLE constraint would allow it" : "change that row in a batch before");
	appendStringInfo(&sql, " FROM (SELECT pg_catalog.bool_or(each.duplicated), pg_catalog.bool_or(each.clashing),"
					 " pg_catalog.bool_or(each.clashing) AND NOT pg_catalog.bool_or(each.duplicated OR each.lasting)"
					 " FROM (SELECT d.row_id, true, false, false FROM (%s) AS d"
					 " UNION ALL SELECT c.row_id, false, true, %s FROM (%s) AS c",
					 duplicated_sql(unique), at_the_end ? "true" : "false", clashing_sql(unique, at_the_end));
	if (!at_the_end)
		appendStringInfo(&sql, " UNION ALL SELECT l.row_id, false, false, true FROM (%s) AS l",
						 clashing_sql(unique, true));
	appendStringInfoString(&sql, ") AS each (row_id, duplicated, clashing, lasting) GROUP BY each.row_id"
						   " HAVING pg_catalog.bool_or(each.duplicated OR each.clashing)) AS found (duplicated, clashing, passing)");
	if (groups)
		appendStringInfo(&sql, ", (SELECT pg_catalog.count(*), pg_catalog.sum(groups.row_count) FROM %s) AS shared (groups, rows)",
						 groups);
	return sql.data;
}

/*
 * Unique in the target as well, as it is when the batch is published.  What
 * fails is found by joins, which take the index or can be hashed; a row only
 * looks itself up among that.  By way of an array: the planner takes it for
 * short, and hashes it however long it is.
 */
void
dq_compile_in_target(Check *check, const Uniqueness *unique)
{
	bool		at_the_end = unique->index == NULL || unique->index->deferrable;
	int			parts = list_length(unique->parts);
	char	   *clashing = clashing_sql(unique, at_the_end);
	char	   *rows = rows_sql(unique, "batch");
	char	   *groups = NULL;
	char	   *found = "SELECT clash.dq_sample FROM clash";
	char	   *duplicates;

	if (unique->own_equality)
		duplicates = psprintf("SELECT pg_catalog.count(*) FROM (%s) AS duplicated", duplicated_sql(unique));
	else
	{
		groups = dq_groups_sql(rows, dq_numbered(parts, "batch.key_%d"), parts, "batch.counted");
		duplicates = dq_count_groups_sql(unique, groups);
		found = psprintf("%s UNION ALL %s", dq_groups_sample_sql(groups, dq_part_names(unique->parts)), found);
	}
	check->reads_target = true;
	check->looks_at_others = true;
	check->probe_sql = psprintf("SELECT duplicates.found + clashes.found FROM (%s) AS duplicates (found),"
								" (SELECT pg_catalog.count(*) FROM (%s) AS clashing) AS clashes (found)",
								duplicates, clashing);
	check->detail_sql = detail_sql(unique, groups, at_the_end);
	/* materialized, or the limit would tempt the planner to look for row after row */
	check->sample_sql = psprintf("WITH clash AS MATERIALIZED (%s) %s", clash_sample_sql(unique, at_the_end), found);
	check->fail_sql = psprintf("(" ROW_IDENTITY " = ANY (SELECT pg_catalog.unnest(ARRAY(%s UNION ALL %s))))",
							   duplicated_sql(unique), clashing);
}

/* Whether the role of the run sees all of the target; an audit does not need to */
static bool
can_read_target(const ColumnMap *map, List *names)
{
	ListCell   *lc;

	if (!dq_schema_usage(get_rel_namespace(map->target), GetUserId()) ||
		check_enable_rls(map->target, GetUserId(), true) == RLS_ENABLED)
		return false;
	if (pg_class_aclcheck(map->target, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	foreach(lc, dq_add_names(dq_column_names(map->key), names))
	{
		if (pg_attribute_aclcheck(map->target, dq_find_column(map, lfirst(lc))->attnum,
								  GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			return false;
	}
	return true;
}

/*
 * Whether rows with the same values would have the same key anyway, and so be
 * one row of the target, which is replaced: nothing to look for there.
 */
static bool
contains_key(const UniqueIndex *index, const ColumnMap *map)
{
	ListCell   *kc;

	if (!dq_mode_matches(map->gate))
		return false;
	foreach(kc, map->key)
	{
		bool		found = false;
		ListCell   *lc;

		foreach(lc, index->parts)
		{
			const UniquePart *part = lfirst(lc);

			found = found || (part->as_column && part->column == lfirst(kc));
		}
		if (!found)
			return false;
	}
	return map->key != NIL;
}

/* Whether the check is about the rows of the target as well */
bool
dq_unique_in_target(const Check *check, const ColumnMap *map, const UniqueIndex *index)
{
	if (map->staging == map->target)
		return false;
	return dq_param(check->params, "in_target") != NULL ||
		(index != NULL && !contains_key(index, map) && can_read_target(map, index->columns));
}
