/*
 * unique.c
 *		Uniqueness: in the batch, and in the target as it will be.
 *
 * Of columns, as people declare it, or of what a unique index compares.
 * Counted are the rows that share their value with another row; the message
 * gives the number of such values and of surplus rows as well.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "columns.h"
#include "compat.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"
#include "unique_index.h"

/* A staged row itself, whatever is in it: no key need be there */
#define ROW_IDENTITY	"(staged.tableoid::pg_catalog.text || staged.ctid::pg_catalog.text)"

/* What a check wants to be unique, and among which rows */
typedef struct Uniqueness
{
	const Check *check;
	const ColumnMap *map;
	const UniqueIndex *index;	/* NULL: no index enforces it */
	List	   *parts;			/* of UniquePart * */
	bool		in_target;		/* also among the rows of the target */
	bool		own_equality;	/* of some part: GROUP BY has another one */
} Uniqueness;

/* Something for each of the parts, such as "key_1, key_2", made from its number */
static char *
numbered(int count, const char *format)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 1; i <= count; i++)
	{
		if (i > 1)
			appendStringInfoString(&buf, ", ");
		appendStringInfo(&buf, format, i);
	}
	return buf.data;
}

/* The values over alias "batch" */
static char *
values_sql(List *parts)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, parts)
		appendStringInfo(&buf, "%s%s", lc == list_head(parts) ? "" : ", ",
						 ((UniquePart *) lfirst(lc))->batch_sql);
	return buf.data;
}

static char *
parts_words(List *parts)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, parts)
		appendStringInfo(&buf, "%s%s", lc == list_head(parts) ? "" : ", ",
						 ((UniquePart *) lfirst(lc))->words);
	return psprintf(list_length(parts) == 1 ? "%s" : "(%s)", buf.data);
}

static List *
parts_names(List *parts)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, parts)
		names = lappend(names, ((UniquePart *) lfirst(lc))->name);
	return names;
}

/* True where one of the values is NULL.  A row of NULLs is a value. */
static char *
any_null_sql(List *parts)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, parts)
	{
		const UniquePart *part = lfirst(lc);

		appendStringInfo(&buf, type_is_rowtype(part->typid) ? "%s(%s IS NOT DISTINCT FROM NULL)" :
						 "%s(%s IS NULL)", buf.len > 0 ? " OR " : "(", part->batch_sql);
	}
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/* True for the rows of the batch that have to be unique, NULL: for all */
static char *
counted_sql(const Uniqueness *unique)
{
	StringInfoData sql;

	initStringInfo(&sql);
	if (unique->check->nulls_distinct)
		appendStringInfo(&sql, "NOT %s", any_null_sql(unique->parts));
	if (unique->index && unique->index->predicate)
		appendStringInfo(&sql, "%s(%s) IS TRUE", sql.len > 0 ? " AND " : "", unique->index->batch_predicate);
	if (unique->check->filter_sql)
		appendStringInfo(&sql, "%s(%s) IS TRUE", sql.len > 0 ? " AND " : "", unique->check->filter_sql);
	return sql.len > 0 ? sql.data : NULL;
}

/*
 * Values that stand in more than one row, with their count, as groups (key_1,
 * key_2, ..., row_count): no name of the table's gets in.
 */
static char *
groups_sql(const char *source, const char *values, int count, const char *condition)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "(SELECT %s, pg_catalog.count(*) FROM %s", values, source);
	if (condition)
		appendStringInfo(&sql, " WHERE %s", condition);
	appendStringInfo(&sql, " GROUP BY %s HAVING pg_catalog.count(*) > 1) AS groups (%s, row_count)",
					 values, numbered(count, "key_%d"));
	return sql.data;
}

/* Each group as jsonb: the values, and how many rows share them */
static char *
groups_sample_sql(const char *groups, List *names)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT pg_catalog.jsonb_build_object(");
	foreach(lc, names)
		appendStringInfo(&sql, "%s, groups.key_%d, ", dq_literal(lfirst(lc)),
						 foreach_current_index(lc) + 1);
	appendStringInfo(&sql, "%s, groups.row_count) AS dq_sample FROM %s",
					 dq_literal(dq_free_name("rows", names)), groups);
	return sql.data;
}

static bool
is_integer(List *parts)
{
	Oid			typid = ((UniquePart *) linitial(parts))->typid;

	return list_length(parts) == 1 &&
		(typid == INT2OID || typid == INT4OID || typid == INT8OID);
}

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
 * into the table that an index is on; NULL: all of them.  MERGE writes each
 * row, but one whose key a table has that inherits from the target goes there.
 */
static char *
written_sql(const Uniqueness *unique)
{
	const ColumnMap *map = unique->map;

	if (unique->index == NULL || get_rel_relkind(map->target) != RELKIND_RELATION ||
		!has_subclass(map->target))
		return NULL;
	return psprintf("NOT EXISTS (SELECT 1 FROM %s AS target WHERE target.tableoid <> %u AND %s)",
					map->target_sql, map->target, key_match_sql(map));
}

/* Whether all rows of the batch count, but for NULLs */
static bool
counts_all(const Uniqueness *unique)
{
	return unique->check->filter_sql == NULL && unique->check->moved_sql == NULL &&
		written_sql(unique) == NULL && (unique->index == NULL || unique->index->predicate == NULL);
}

/* A count of 0 where nothing is duplicated, in the form that costs least then */
static char *
count_groups_sql(const Uniqueness *unique, const char *groups)
{
	if (unique->check->nulls_distinct && is_integer(unique->parts) && counts_all(unique))
		return psprintf("SELECT pg_catalog.count(%1$s) - pg_catalog.count(DISTINCT %1$s) FROM %2$s",
						values_sql(unique->parts), dq_source_sql(unique->map, "batch"));
	return psprintf("SELECT pg_catalog.count(*) FROM %s", groups);
}

/* Unique in the batch, whatever the target has */
static void
compile_in_batch(Check *check, const Uniqueness *unique)
{
	char	   *values = values_sql(unique->parts);
	char	   *source = dq_source_sql(unique->map, "batch");
	char	   *condition = counted_sql(unique);
	char	   *groups = groups_sql(source, values, list_length(unique->parts), condition);

	check->probe_sql = count_groups_sql(unique, groups);
	check->detail_sql = psprintf("SELECT pg_catalog.sum(row_count)::pg_catalog.int8,"
								 " pg_catalog.format('%%s duplicated value%%s in %%s rows, %%s surplus',"
								 " pg_catalog.count(*), CASE WHEN pg_catalog.count(*) > 1 THEN 's' ELSE '' END,"
								 " pg_catalog.sum(row_count), pg_catalog.sum(row_count) - pg_catalog.count(*))"
								 " FROM %s", groups);
	check->sample_sql = groups_sample_sql(groups, parts_names(unique->parts));

	/* a window, since the row alone does not know; over the rows that count */
	if (counts_all(unique))
		check->fail_sql = psprintf("(%s pg_catalog.count(*) OVER (PARTITION BY %s) > 1)",
								   condition ? psprintf("%s AND", condition) : "", values);
	else
		check->fail_sql = psprintf("((%1$s) AND pg_catalog.count(*) FILTER (WHERE %1$s) OVER (PARTITION BY %2$s) > 1)",
								   condition, values);
}

/* What the publish leaves in the batch, each row by an identity of its own */
static char *
rows_sql(const Uniqueness *unique, const char *alias)
{
	const ColumnMap *map = unique->map;
	int			parts = list_length(unique->parts);
	int			keys = list_length(map->key);
	char	   *counted = counted_sql(unique);
	char	   *written = written_sql(unique);
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfo(&sql, "(SELECT batch.* FROM (SELECT " ROW_IDENTITY ", %s", values_sql(unique->parts));
	foreach(lc, map->key)
		appendStringInfo(&sql, ", batch.%s", quote_identifier(((Column *) lfirst(lc))->name));
	/* what moves rows may hold a window, so it cannot be a condition here */
	appendStringInfo(&sql, ", %s, %s FROM %s) AS batch (row_id, %s%s%s, moved, counted) WHERE NOT batch.moved",
					 unique->check->moved_sql ? unique->check->moved_sql : "false",
					 counted ? counted : "true", dq_source_sql(map, "batch"),
					 numbered(parts, "key_%d"), keys > 0 ? ", " : "", numbered(keys, "match_%d"));
	if (written)
		appendStringInfo(&sql, " AND %s", written);
	appendStringInfo(&sql, ") AS %s", alias);
	return sql.data;
}

/*
 * Whether a row of the target, alias "target", is there as it is now when
 * a row of the batch, alias "batch", is written.  The end is what counts where
 * no index says otherwise, and for a constraint that is deferrable: a row is
 * gone if the batch replaces it.  Otherwise the server looks at each row that
 * it writes, in an order of its own, so that every other row is still there.
 */
static char *
stays_sql(const Uniqueness *unique, bool at_the_end)
{
	if (at_the_end)
		return psprintf("NOT EXISTS (SELECT 1 FROM %s WHERE %s)", rows_sql(unique, "batch"),
						key_match_sql(unique->map));
	return psprintf("(%s) IS NOT TRUE", key_match_sql(unique->map));
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
	return psprintf("%s AND %s%s%s%s", same_sql(unique, "target"), stays_sql(unique, at_the_end),
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
					numbered(list_length(unique->parts), "batch.key_%d"), rows_sql(unique, "batch"));
}

/* A clash as jsonb: the values, and the keys of both rows */
static char *
clash_sample_sql(const Uniqueness *unique, bool at_the_end)
{
	List	   *names = parts_names(unique->parts);
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
static void
compile_in_target(Check *check, const Uniqueness *unique)
{
	bool		at_the_end = unique->index == NULL || unique->index->deferrable;
	int			parts = list_length(unique->parts);
	char	   *clashing = clashing_sql(unique, at_the_end);
	char	   *rows = rows_sql(unique, "batch");
	char	   *groups = NULL;
	char	   *sample = clash_sample_sql(unique, at_the_end);
	char	   *duplicates;

	if (unique->own_equality)
		duplicates = psprintf("SELECT pg_catalog.count(*) FROM (%s) AS duplicated", duplicated_sql(unique));
	else
	{
		groups = groups_sql(rows, numbered(parts, "batch.key_%d"), parts, "batch.counted");
		duplicates = count_groups_sql(unique, groups);
		sample = psprintf("%s UNION ALL %s", groups_sample_sql(groups, parts_names(unique->parts)), sample);
	}
	check->reads_target = true;
	check->probe_sql = psprintf("SELECT duplicates.found + clashes.found FROM (%s) AS duplicates (found),"
								" (SELECT pg_catalog.count(*) FROM (%s) AS clashing) AS clashes (found)",
								duplicates, clashing);
	check->detail_sql = detail_sql(unique, groups, at_the_end);
	check->sample_sql = sample;
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
 * one row of the target, which the batch replaces.
 */
static bool
contains_key(const UniqueIndex *index, const ColumnMap *map)
{
	ListCell   *kc;

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
dq_unique_in_target(const Check *check, const ColumnMap *map)
{
	if (check->kind != &dq_kind_unique || map->staging == map->target)
		return false;
	if (dq_param(check->params, "in_target"))
		return true;
	return OidIsValid(check->index_oid) &&
		!contains_key(dq_read_unique_index(map, check->index_oid), map) &&
		can_read_target(map, check->columns);
}

/* The columns of a check that no index stands for */
static List *
column_parts(const ColumnMap *map, List *names)
{
	List	   *parts = NIL;
	ListCell   *lc;

	foreach(lc, names)
	{
		Column	   *column = dq_find_column(map, lfirst(lc));

		if (column == NULL)
			return NIL;
		parts = lappend(parts, dq_unique_column(column));
	}
	return parts;
}

/* Whether the batch has what it takes to judge it; the check is told if not */
static bool
is_judgeable(Check *check, const Uniqueness *unique)
{
	ListCell   *lc;

	if (unique->index == NULL && !dq_usable_columns(check, unique->map))
		return false;
	foreach(lc, unique->index ? unique->index->needs : NIL)
	{
		if (dq_usable_column(check, unique->map, lfirst(lc)) == NULL)
			return false;
	}
	if (unique->index && unique->index->reason)
		check->unjudged = unique->index->reason;
	else if (unique->own_equality && !unique->in_target)
		check->unjudged = "it compares by other operators than those of the type; the target itself enforces the rule";
	foreach(lc, unique->parts)
	{
		const UniquePart *part = lfirst(lc);

		if (check->unjudged == NULL && !OidIsValid(part->equality))
			check->broken = psprintf("%s has type %s, which has no equality operator", part->words,
									 format_type_be(part->typid));
	}
	if (unique->in_target && OidIsValid(unique->map->staging) && unique->map->key == NIL)
		check->broken = "without a key nobody knows which rows of the target the batch replaces";
	return check->unjudged == NULL && check->broken == NULL && OidIsValid(unique->map->staging);
}

static void
unique_compile(Check *check, const ColumnMap *map)
{
	Uniqueness	unique = {check, map, NULL, NIL, dq_unique_in_target(check, map), false};
	char	   *words;
	char	   *predicate = "";
	const char *where;
	ListCell   *lc;

	if (OidIsValid(check->index_oid))
		unique.index = dq_read_unique_index(map, check->index_oid);
	unique.parts = unique.index ? unique.index->parts : column_parts(map, check->columns);
	foreach(lc, unique.parts)
		unique.own_equality |= ((UniquePart *) lfirst(lc))->own_equality;

	words = unique.parts ? parts_words(unique.parts) : dq_tuple_names(check->columns);
	where = map->staging == map->target ? "table" :
		unique.in_target ? "batch and in the target" : "batch";
	if (unique.index && unique.index->predicate)
		predicate = psprintf(", where %s", unique.index->predicate);
	check->rule = psprintf("%s is unique in the %s%s", words, where, predicate);
	check->complaint = psprintf("%s is not unique in the %s%s", words, where, predicate);
	if (!is_judgeable(check, &unique))
		return;

	/* by default NULLs differ from each other, as in SQL */
	if (check->declared)
		check->nulls_distinct = !check->nulls_fail;
	check->null_sql = any_null_sql(unique.parts);
	if (unique.index && unique.index->predicate)
		check->null_sql = psprintf("((%s) IS TRUE AND %s)", unique.index->batch_predicate, check->null_sql);
	if (unique.in_target)
		compile_in_target(check, &unique);
	else
		compile_in_batch(check, &unique);
}

const CheckKind dq_kind_unique = {
	.name = "unique",
	.evaluation = EVAL_QUERY,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = unique_compile,
};

/*
 * Where no index makes the key unique, one staged row could match several
 * rows of the target and change them all.
 */
static void
unique_in_target_compile(Check *check, const ColumnMap *map)
{
	StringInfoData columns;
	char	   *groups;

	check->rule = psprintf("%s is unique in the target", dq_tuple_names(check->columns));
	check->complaint = psprintf("%s is not unique in the target", dq_tuple_names(check->columns));
	check->reads_target = true;
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;

	initStringInfo(&columns);
	dq_append_names(&columns, check->columns, "target.");
	groups = groups_sql(psprintf("%s AS target", map->target_sql), columns.data, list_length(check->columns),
						psprintf("EXISTS (SELECT 1 FROM %s WHERE %s)",
								 dq_source_sql(map, "batch"), dq_match_sql(map)));
	check->probe_sql = psprintf("SELECT pg_catalog.count(*) FROM %s", groups);
	check->sample_sql = groups_sample_sql(groups, check->columns);
}

const CheckKind dq_kind_unique_in_target = {
	.name = "unique_in_target",
	.evaluation = EVAL_QUERY,
	.actions = DQ_BATCH_ACTION,
	.compile = unique_in_target_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_unique);

/*
 * expect_unique(target, columns, in_target, and the common arguments) declares
 * that columns are unique in the batch, and in the target if so asked.
 */
Datum
dq_gate_expect_unique(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_unique);

	dq_declare_columns(decl, dq_required_names(fcinfo, 1, "columns"));
	dq_require_equality(decl);
	if (!PG_ARGISNULL(2) && PG_GETARG_BOOL(2))
	{
		decl->params = dq_set_param(decl->params, "in_target", "true");
		decl->reads_target = true;
	}
	dq_declare_common(fcinfo, 3, decl);
	return dq_finish_declaration(fcinfo, decl);
}
