/*
 * unique.c
 *		Uniqueness: of columns in the batch, and of the key in the target.
 *
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
#include "params.h"
#include "spi_util.h"

static char *
names_sql(List *names, const char *prefix)
{
	StringInfoData buf;

	initStringInfo(&buf);
	dq_append_names(&buf, names, prefix);
	return buf.data;
}

/*
 * The values of the columns that stand in more than one row, with their count,
 * as groups (key_1, key_2, ..., row_count): no name of the table's gets in.
 */
static char *
groups_sql(const char *source, List *names, const char *prefix, const char *condition)
{
	char	   *columns = names_sql(names, prefix);
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "(SELECT %s, pg_catalog.count(*) FROM %s", columns, source);
	if (condition)
		appendStringInfo(&sql, " WHERE %s", condition);
	appendStringInfo(&sql, " GROUP BY %s HAVING pg_catalog.count(*) > 1) AS groups (", columns);
	for (int i = 1; i <= list_length(names); i++)
		appendStringInfo(&sql, "key_%d, ", i);
	appendStringInfoString(&sql, "row_count)");
	return sql.data;
}

/* Each group as jsonb: the columns, and how many rows share them */
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
is_integer(const ColumnMap *map, List *names)
{
	Oid			typid = dq_find_column(map, linitial(names))->typid;

	return list_length(names) == 1 &&
		(typid == INT2OID || typid == INT4OID || typid == INT8OID);
}

static void
unique_compile(Check *check, const ColumnMap *map)
{
	char	   *columns = names_sql(check->columns, "batch.");
	char	   *any_null;
	char	   *source;
	char	   *condition;
	char	   *groups;
	const char *where = map->staging == map->target ? "table" : "batch";

	check->rule = psprintf("%s is unique in the %s", dq_tuple_names(check->columns), where);
	check->complaint = psprintf("%s is not unique in the %s", dq_tuple_names(check->columns), where);
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;

	source = dq_source_sql(map, "batch");
	any_null = dq_any_null_sql(map, check->columns);
	/* by default NULLs differ from each other, as in SQL */
	if (check->declared)
		check->nulls_distinct = !check->nulls_fail;
	condition = check->nulls_distinct ? psprintf("NOT %s", any_null) : NULL;
	if (check->filter_sql)
		condition = condition ? psprintf("%s AND (%s)", condition, check->filter_sql) :
			psprintf("(%s)", check->filter_sql);
	groups = groups_sql(source, check->columns, "batch.", condition);
	check->null_sql = any_null;

	/* the form that costs least where nothing is wrong */
	if (check->nulls_distinct && is_integer(map, check->columns) && !check->filter_sql)
		check->probe_sql = psprintf("SELECT pg_catalog.count(%1$s) - pg_catalog.count(DISTINCT %1$s) FROM %2$s",
									columns, source);
	else
		check->probe_sql = psprintf("SELECT pg_catalog.count(*) FROM %s", groups);
	check->detail_sql = psprintf("SELECT pg_catalog.sum(row_count)::pg_catalog.int8,"
								 " pg_catalog.format('%%s duplicated value%%s in %%s rows, %%s surplus',"
								 " pg_catalog.count(*), CASE WHEN pg_catalog.count(*) > 1 THEN 's' ELSE '' END,"
								 " pg_catalog.sum(row_count), pg_catalog.sum(row_count) - pg_catalog.count(*))"
								 " FROM %s", groups);
	check->sample_sql = groups_sample_sql(groups, check->columns);

	/* a window, since the row alone does not know; over the rows that count */
	if (check->filter_sql)
		check->fail_sql = psprintf("((%1$s) IS TRUE AND pg_catalog.count(*) FILTER (WHERE (%1$s) IS TRUE) OVER (PARTITION BY %2$s) > 1)",
								   condition, columns);
	else
		check->fail_sql = psprintf("(%s pg_catalog.count(*) OVER (PARTITION BY %s) > 1)",
								   condition ? psprintf("%s AND", condition) : "", columns);
}

/*
 * True for a row whose value stands in a row of the target that the batch does
 * not replace.  In a form that the server can hash where one operator does for
 * all columns.
 */
static char *
clash_sql(const Check *check, const ColumnMap *map)
{
	/* a row that is moved out leaves its row of the target as it is */
	char	   *kept = psprintf("NOT EXISTS (SELECT 1 FROM %s WHERE %s%s%s)",
								dq_source_sql(map, "batch"), dq_match_sql(map),
								check->moved_sql ? " AND NOT " : "",
								check->moved_sql ? check->moved_sql : "");
	char	   *operator = NULL;
	bool		one_operator = true;
	StringInfoData same;
	ListCell   *lc;

	initStringInfo(&same);
	foreach(lc, check->columns)
	{
		const char *name = quote_identifier(lfirst(lc));
		Column	   *column = dq_find_column(map, lfirst(lc));
		char	   *equal = dq_operator_sql(dq_equality_operator(column->typid));

		one_operator = one_operator && (operator == NULL || strcmp(operator, equal) == 0);
		operator = equal;
		if (check->nulls_distinct)
			appendStringInfo(&same, "target.%s %s batch.%s AND ", name, equal, name);
		else
			appendStringInfo(&same, "((target.%1$s %2$s batch.%1$s) IS TRUE OR (target.%1$s IS NULL AND batch.%1$s IS NULL)) AND ",
							 name, equal);
	}
	if (one_operator && check->nulls_distinct)
		return psprintf("(((%s) %s ANY (SELECT %s FROM %s AS target WHERE %s)) IS TRUE)",
						names_sql(check->columns, "batch."), operator,
						names_sql(check->columns, "target."), map->target_sql, kept);
	return psprintf("EXISTS (SELECT 1 FROM %s AS target WHERE %s %s)",
					map->target_sql, same.data, kept);
}

/* Unique in the target as well, as it will be when the batch is published */
static void
extend_to_target(Check *check, const ColumnMap *map)
{
	char	   *columns = dq_tuple_names(check->columns);
	StringInfoData sample;
	ListCell   *lc;

	check->rule = psprintf("%s is unique in the batch and in the target", columns);
	check->complaint = psprintf("%s is not unique in the batch and in the target", columns);
	if (check->fail_sql == NULL)
		return;
	if (map->key == NIL)
	{
		check->broken = "without a key nobody knows which rows of the target the batch replaces";
		return;
	}
	check->fail_sql = psprintf("(%s OR (%s AND %s))", check->fail_sql, dq_picked_sql(check),
							   clash_sql(check, map));
	check->probe_sql = psprintf("SELECT pg_catalog.count(*) FROM (SELECT %s FROM %s) AS found (failing)"
								" WHERE found.failing",
								check->fail_sql, dq_source_sql(map, "batch"));
	check->detail_sql = NULL;

	initStringInfo(&sample);
	appendStringInfoString(&sample, "SELECT found.dq_sample FROM (SELECT pg_catalog.jsonb_build_object(");
	foreach(lc, check->columns)
		appendStringInfo(&sample, "%s%s, batch.%s", lc == list_head(check->columns) ? "" : ", ",
						 dq_literal(lfirst(lc)), quote_identifier(lfirst(lc)));
	appendStringInfo(&sample, "), %s FROM %s) AS found (dq_sample, failing) WHERE found.failing",
					 check->fail_sql, dq_source_sql(map, "batch"));
	check->sample_sql = sample.data;
}

static void
unique_or_new_compile(Check *check, const ColumnMap *map)
{
	unique_compile(check, map);
	if (dq_param(check->params, "in_target"))
		extend_to_target(check, map);
}

const CheckKind dq_kind_unique = {
	.name = "unique",
	.evaluation = EVAL_QUERY,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = unique_or_new_compile,
};

/*
 * Where no index makes the key unique, one staged row could match several
 * rows of the target and change them all.
 */
static void
unique_in_target_compile(Check *check, const ColumnMap *map)
{
	char	   *groups;

	check->rule = psprintf("%s is unique in the target", dq_tuple_names(check->columns));
	check->complaint = psprintf("%s is not unique in the target", dq_tuple_names(check->columns));
	check->reads_target = true;
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;

	groups = groups_sql(psprintf("%s AS target", map->target_sql), check->columns, "target.",
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
