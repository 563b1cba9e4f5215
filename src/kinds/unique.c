/*
 * unique.c
 *		Uniqueness: in the batch, and in the target as it will be.
 *
 * Of columns, as people declare it, or of what a unique index compares.
 * Counted are the rows that share their value with another row; the message
 * gives the number of such values and of surplus rows as well.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "kinds/uniqueness.h"
#include "params.h"
#include "policy.h"
#include "spi_util.h"

/* Something for each of the parts, such as "key_1, key_2", made from its number */
char *
dq_numbered(int count, const char *format)
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
char *
dq_part_values_sql(List *parts)
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

List *
dq_part_names(List *parts)
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
char *
dq_counted_sql(const Uniqueness *unique)
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
char *
dq_groups_sql(const char *source, const char *values, int count, const char *condition)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "(SELECT %s, pg_catalog.count(*) FROM %s", values, source);
	if (condition)
		appendStringInfo(&sql, " WHERE %s", condition);
	appendStringInfo(&sql, " GROUP BY %s HAVING pg_catalog.count(*) > 1) AS groups (%s, row_count)",
					 values, dq_numbered(count, "key_%d"));
	return sql.data;
}

/* Each group as jsonb: the values, and how many rows share them */
char *
dq_groups_sample_sql(const char *groups, List *names)
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

/* Whether all rows of the batch count, but for NULLs */
static bool
counts_all(const Uniqueness *unique)
{
	return unique->check->filter_sql == NULL && unique->check->moved_sql == NULL &&
		dq_all_written(unique) && (unique->index == NULL || unique->index->predicate == NULL);
}

/* A count of 0 where nothing is duplicated, in the form that costs least then */
char *
dq_count_groups_sql(const Uniqueness *unique, const char *groups)
{
	if (unique->check->nulls_distinct && is_integer(unique->parts) && counts_all(unique))
		return psprintf("SELECT pg_catalog.count(%1$s) - pg_catalog.count(DISTINCT %1$s) FROM %2$s",
						dq_part_values_sql(unique->parts), dq_source_sql(unique->map, "batch"));
	return psprintf("SELECT pg_catalog.count(*) FROM %s", groups);
}

/* Unique in the batch, whatever the target has */
static void
compile_in_batch(Check *check, const Uniqueness *unique)
{
	char	   *values = dq_part_values_sql(unique->parts);
	char	   *source = dq_source_sql(unique->map, "batch");
	char	   *condition = dq_counted_sql(unique);
	char	   *groups = dq_groups_sql(source, values, list_length(unique->parts), condition);

	check->probe_sql = dq_count_groups_sql(unique, groups);
	check->detail_sql = psprintf("SELECT pg_catalog.sum(row_count)::pg_catalog.int8,"
								 " pg_catalog.format('%%s duplicated value%%s in %%s rows, %%s surplus',"
								 " pg_catalog.count(*), CASE WHEN pg_catalog.count(*) > 1 THEN 's' ELSE '' END,"
								 " pg_catalog.sum(row_count), pg_catalog.sum(row_count) - pg_catalog.count(*))"
								 " FROM %s", groups);
	check->sample_sql = dq_groups_sample_sql(groups, dq_part_names(unique->parts));

	/* a window, since the row alone does not know; over the rows that count */
	if (counts_all(unique))
		check->fail_sql = psprintf("(%s pg_catalog.count(*) OVER (PARTITION BY %s) > 1)",
								   condition ? psprintf("%s AND", condition) : "", values);
	else
		check->fail_sql = psprintf("((%1$s) AND pg_catalog.count(*) FILTER (WHERE %1$s) OVER (PARTITION BY %2$s) > 1)",
								   condition, values);
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
	if (unique->in_target && OidIsValid(unique->map->staging) && unique->map->key == NIL &&
		dq_mode_matches(unique->map->gate))
		check->broken = "without a key nobody knows which rows of the target the batch replaces";
	return check->unjudged == NULL && check->broken == NULL && OidIsValid(unique->map->staging);
}

static void
unique_compile(Check *check, const ColumnMap *map)
{
	Uniqueness	unique = {check, map, NULL, NIL, false, false};
	char	   *words;
	char	   *predicate = "";
	const char *where;
	ListCell   *lc;

	if (OidIsValid(check->index_oid))
		unique.index = dq_read_unique_index(map, check->index_oid);
	/* where the index says nothing of a batch, what was declared still does */
	if (unique.index && unique.index->reason && check->declared)
		unique.index = NULL;
	unique.in_target = dq_unique_in_target(check, map, unique.index);
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
		dq_compile_in_target(check, &unique);
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
	groups = dq_groups_sql(psprintf("%s AS target", map->target_sql), columns.data, list_length(check->columns),
						   psprintf("EXISTS (SELECT 1 FROM %s WHERE %s)",
									dq_source_sql(map, "batch"), dq_match_sql(map)));
	check->probe_sql = psprintf("SELECT pg_catalog.count(*) FROM %s", groups);
	check->sample_sql = dq_groups_sample_sql(groups, check->columns);
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
