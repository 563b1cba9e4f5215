/*
 * rule.c
 *		Boolean rules over a row: declared expressions, and the CHECK
 *		constraints of the target.
 *
 * They differ in what NULL means: a declared rule is satisfied only where it
 * is true, a CHECK constraint is violated only where it is false.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/*
 * Parameters: "expression", for people, and "resolved", the same over the
 * alias "batch" with every name qualified.
 */
static void
rule_compile(Check *check, const ColumnMap *map)
{
	char	   *resolved = dq_param(check->params, "resolved");

	check->rule = dq_param(check->params, "expression");
	check->complaint = psprintf("not satisfied: %s", check->rule);
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging))
		return;
	check->rule_sql = resolved;
	check->fail_sql = psprintf(check->nulls_fail ? "((%s) IS NOT TRUE)" : "((%s) IS FALSE)",
							   resolved);
}

const CheckKind dq_kind_sql = {
	.name = "sql",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.nulls_fail = true,
	.compile = rule_compile,
};

const CheckKind dq_kind_check_constraint = {
	.name = "check_constraint",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = rule_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_sql);

/*
 * expect_sql(target, name, expression, when_, and the common arguments but
 * name) declares that a boolean expression is true for every staged row, or
 * for those on which a condition holds.  A condition that is NULL lets no row
 * slip away: the expression has to be true then, as in logic.
 */
Datum
dq_gate_expect_sql(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_sql);
	char	   *text = dq_required_text(fcinfo, 2, "expression");
	char	   *resolved;
	char	   *condition = dq_optional_text(fcinfo, 3);
	List	   *columns;

	decl->name = dq_required_text(fcinfo, 1, "name");
	dq_declare_common(fcinfo, 4, decl);
	resolved = dq_declare_expression(decl, "rule", text, &columns);
	if (condition)
	{
		List	   *more;
		char	   *when = dq_declare_expression(decl, "condition", condition, &more);

		/* in this order: the condition may keep the rule from an error */
		resolved = psprintf("CASE WHEN (%1$s) IS FALSE THEN true ELSE (NOT (%1$s)) OR (%2$s) END",
							when, resolved);
		text = psprintf("%s, when %s", text, condition);
		columns = dq_add_names(columns, more);
	}
	dq_declare_columns(decl, columns);
	decl->params = dq_set_param(decl->params, "expression", text);
	decl->params = dq_set_param(decl->params, "resolved", resolved);
	return dq_finish_declaration(fcinfo, decl);
}

const CheckKind dq_kind_compare = {
	.name = "compare",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.nulls_fail = true,
	.compile = rule_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_compare);

/*
 * expect_compare(target, left_column, comparison, right_column, and the common
 * arguments) declares how two columns of a row compare.
 */
Datum
dq_gate_expect_compare(PG_FUNCTION_ARGS)
{
	static const char *const comparisons[] = {"<", "<=", "=", "<>", ">=", ">"};
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_compare);
	char	   *left = dq_required_text(fcinfo, 1, "left_column");
	char	   *comparison = dq_required_text(fcinfo, 2, "comparison");
	char	   *right = dq_required_text(fcinfo, 3, "right_column");
	bool		known = false;
	char	   *text;
	char	   *resolved;
	List	   *columns;

	dq_declare_columns(decl, list_make2(left, right));
	dq_declare_common(fcinfo, 4, decl);
	for (int i = 0; i < (int) lengthof(comparisons); i++)
		known = known || strcmp(comparison, comparisons[i]) == 0;
	if (!known)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("comparison \"%s\" is not known", comparison),
				 errhint("It is one of <, <=, =, <>, >= and >.")));
	text = psprintf("%s %s %s", quote_identifier(left), comparison, quote_identifier(right));
	resolved = dq_declare_expression(decl, "rule", text, &columns);
	decl->params = dq_set_param(decl->params, "expression", text);
	decl->params = dq_set_param(decl->params, "resolved", resolved);
	return dq_finish_declaration(fcinfo, decl);
}
