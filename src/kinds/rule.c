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
 * expect_sql(target, name, expression, and the common arguments but name)
 * declares that a boolean expression is true for every staged row.
 */
Datum
dq_gate_expect_sql(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_sql);
	char	   *text = dq_required_text(fcinfo, 2, "expression");
	char	   *resolved;
	List	   *columns;

	decl->name = dq_required_text(fcinfo, 1, "name");
	dq_declare_common(fcinfo, 3, decl);
	resolved = dq_declare_expression(decl, "rule", text, &columns);
	dq_declare_columns(decl, columns);
	decl->params = dq_set_param(decl->params, "expression", text);
	decl->params = dq_set_param(decl->params, "resolved", resolved);
	return dq_finish_declaration(fcinfo, decl);
}
