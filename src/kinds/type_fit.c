/*
 * type_fit.c
 *		Staged values that the type of the target's column would refuse, or
 *		change in silence.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"

static void
type_fit_compile(Check *check, const ColumnMap *map)
{
	char	   *name = linitial(check->columns);
	Column	   *column = dq_find_column(map, name);
	char	   *type;

	if (column == NULL)
	{
		check->rule = psprintf("%s fits its type", quote_identifier(name));
		check->broken = psprintf("column %s does not exist in the target", quote_identifier(name));
		return;
	}
	type = format_type_with_typemod(column->typid, column->typmod);
	check->rule = psprintf("%s fits %s", quote_identifier(name), type);
	if (!column->staged)
	{
		/* to say why */
		if (OidIsValid(map->staging))
			(void) dq_usable_column(check, map, name);
		return;
	}
	check->complaint = psprintf("%s does not fit: %s to %s", quote_identifier(name),
								format_type_with_typemod(column->staged_typid,
														 column->staged_typmod),
								type);
	check->null_sql = psprintf("(%s IS NULL)", column->staged_sql);
	if (column->fit == FIT_NEVER)
		(void) dq_usable_column(check, map, name);
	else
		check->fail_sql = psprintf(check->nulls_fail ? "(%s OR %s)" : "(%s)",
								   column->fit == FIT_ALWAYS ? "false" : column->misfit_sql,
								   check->null_sql);
	if (column->rounded_sql)
	{
		char	   *failing = psprintf("pg_catalog.count(*) FILTER (WHERE %s AND %s)",
									   dq_picked_sql(check), check->fail_sql);

		check->observed_sql = psprintf("%1$s || CASE %1$s WHEN 1 THEN ' row, ' ELSE ' rows, ' END"
									   " || pg_catalog.count(*) FILTER (WHERE %2$s AND %3$s) || ' rounded'",
									   failing, dq_picked_sql(check), column->rounded_sql);
	}
}

const CheckKind dq_kind_type_fit = {
	.name = "type_fit",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.observes_counts = true,
	.compile = type_fit_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_type_fit);

/*
 * expect_type_fit(target, column_name, and the common arguments) declares what
 * becomes of staged values that the type of a column does not take.
 */
Datum
dq_gate_expect_type_fit(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_type_fit);

	dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));
	dq_declare_common(fcinfo, 2, decl);
	return dq_finish_declaration(fcinfo, decl);
}
