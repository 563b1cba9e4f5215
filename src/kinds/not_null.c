/*
 * not_null.c
 *		A column that must have a value in every row.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "kinds/kinds.h"

static void
not_null_compile(Check *check, const ColumnMap *map)
{
	const char *name = quote_identifier(linitial(check->columns));
	Column	   *column;

	check->rule = psprintf("%s is not NULL", name);
	check->complaint = psprintf("%s is NULL", name);
	column = dq_usable_column(check, map, linitial(check->columns));
	if (column == NULL)
		return;

	/*
	 * The staged value, so that one that does not fit its type is not counted
	 * as NULL.  A row of NULLs is a value, unlike for IS NULL.
	 */
	check->null_sql = type_is_rowtype(column->staged_typid) ?
		psprintf("(staged.%s IS NOT DISTINCT FROM NULL)", name) :
		psprintf("(staged.%s IS NULL)", name);
	check->fail_sql = check->null_sql;
}

const CheckKind dq_kind_not_null = {
	.name = "not_null",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.nulls_fail = true,
	.compile = not_null_compile,
};
