/*
 * type_fit.c
 *		Staged values that the type of the target's column would refuse, or
 *		change in silence.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "columns.h"
#include "kinds/kinds.h"

static void
type_fit_compile(Check *check, const ColumnMap *map)
{
	char	   *name = linitial(check->columns);
	Column	   *column = dq_find_column(map, name);
	char	   *type = format_type_with_typemod(column->typid, column->typmod);

	check->rule = psprintf("%s fits %s", quote_identifier(name), type);
	if (!column->staged)
		return;
	check->complaint = psprintf("%s does not fit: %s to %s", quote_identifier(name),
								format_type_with_typemod(column->staged_typid,
														 column->staged_typmod),
								type);
	check->fail_sql = column->misfit_sql;
	check->null_sql = psprintf("(staged.%s IS NULL)", quote_identifier(name));
}

const CheckKind dq_kind_type_fit = {
	.name = "type_fit",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = type_fit_compile,
};
