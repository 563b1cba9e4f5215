/*
 * rule.c
 *		Boolean rules over a row: declared expressions, and the CHECK
 *		constraints of the target.
 *
 * They differ in what NULL means: a declared rule is satisfied only where it
 * is true, a CHECK constraint is violated only where it is false.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "declare.h"
#include "error_context.h"
#include "expression.h"
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
	.nulls_fail = true,
	.compile = rule_compile,
};

const CheckKind dq_kind_check_constraint = {
	.name = "check_constraint",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.compile = rule_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_sql);

/*
 * expect_sql(target, name, expression, action, owner, description, nulls)
 * declares that a boolean expression is true for every staged row.
 */
Datum
dq_gate_expect_sql(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_sql);
	char	   *text = dq_required_text(fcinfo, 2, "expression");
	char	   *resolved;
	RuleColumns needs;
	Node	   *rule;
	DqErrorContext context;
	Identity	saved;

	decl->name = dq_required_text(fcinfo, 1, "name");
	decl->owner = dq_optional_text(fcinfo, 4);
	decl->description = dq_optional_text(fcinfo, 5);
	dq_declare_action(decl, dq_optional_text(fcinfo, 3));
	dq_declare_nulls(decl, dq_optional_text(fcinfo, 6));

	dq_push_context(&context, "%s",
					psprintf("check %s of gate %s", quote_identifier(decl->name), decl->gate->name));
	rule = dq_parse_rule(text, decl->gate->target);
	dq_pop_context(&context);
	dq_rule_columns(rule, decl->gate->target, &needs);
	if (needs.whole_row || needs.system)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("check %s of gate %s uses a %s",
						quote_identifier(decl->name), decl->gate->name,
						needs.whole_row ? "whole row" : "system column"),
				 errhint("Name the columns that the rule is about.")));
	if (dq_rule_is_unnameable(rule))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("check %s of gate %s compares with an operator that its text cannot name",
						quote_identifier(decl->name), decl->gate->name),
				 errdetail("IS DISTINCT FROM, NULLIF, CASE ... WHEN, comparisons of rows and JOIN USING cannot say from which schema their operator is, and this one is not in pg_catalog."),
				 errhint("Write the comparison with the operator itself, such as a = b.")));
	if (decl->action == DQ_QUARANTINE && contain_volatile_functions(rule))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("check %s of gate %s calls a volatile function, and so cannot take the action \"quarantine\"",
						quote_identifier(decl->name), decl->gate->name),
				 errdetail("A row could pass when it is counted and fail when it is moved."),
				 errhint("Use a function marked STABLE or IMMUTABLE, or the action \"block\" or \"warn\".")));
	dq_declare_columns(decl, needs.names);
	decl->reads_target = dq_rule_reads(rule, decl->gate->target);

	dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
	resolved = dq_deparse_rule(rule, decl->gate->target, true);
	dq_resume(&saved);
	decl->params = dq_set_param(decl->params, "expression", text);
	decl->params = dq_set_param(decl->params, "resolved", resolved);

	return dq_finish_declaration(fcinfo, decl);
}
