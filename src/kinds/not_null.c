/*
 * not_null.c
 *		A column that must have a value in every row.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "declare.h"
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
		psprintf("(%s IS NOT DISTINCT FROM NULL)", column->staged_sql) :
		psprintf("(%s IS NULL)", column->staged_sql);
	check->fail_sql = check->null_sql;
}

const CheckKind dq_kind_not_null = {
	.name = "not_null",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.nulls_fail = true,
	.compile = not_null_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_not_null);

/*
 * expect_not_null(target, column_name, and the common arguments) declares that
 * a column has a value in every row.
 */
Datum
dq_gate_expect_not_null(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_not_null);

	dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));
	dq_declare_common(fcinfo, 2, decl);
	if (!decl->nulls_fail)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"not_null\" cannot let NULL pass"),
				 errhint("Give a tolerance with max_rate or max_rows.")));
	return dq_finish_declaration(fcinfo, decl);
}
