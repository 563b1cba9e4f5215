/*
 * constraint.c
 *		What becomes of rows that violate a constraint of the target.
 *
 * The constraint's own check is there already; declared are its action, its
 * owner and the like.  See plan.c, which puts the two together.
 */
#include "postgres.h"

#include "catalog/pg_constraint.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "plan.h"

/* Nobody has found the constraint's own check, or this would not be compiled */
static void
constraint_compile(Check *check, const ColumnMap *map)
{
	char	   *name = dq_param(check->params, "constraint_name");

	check->rule = psprintf("constraint %s", quote_identifier(name));
	check->broken = psprintf("the target has no constraint %s that is checked in a batch",
							 quote_identifier(name));
}

const CheckKind dq_kind_constraint = {
	.name = "constraint",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = constraint_compile,
};

/* Whether a check is derived from the constraint */
static bool
is_checked(const Declaration *decl, Oid constraint)
{
	CheckPlan  *plan = dq_make_plan(decl->gate, decl->map, NULL);
	ListCell   *lc;

	foreach(lc, plan->checks)
	{
		if (((Check *) lfirst(lc))->constraint_oid == constraint)
			return true;
	}
	return false;
}

PG_FUNCTION_INFO_V1(dq_gate_expect_constraint);

/*
 * expect_constraint(target, constraint_name, and the common arguments)
 * declares what becomes of rows that violate a constraint of the target.
 */
Datum
dq_gate_expect_constraint(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_constraint);
	char	   *name = dq_required_text(fcinfo, 1, "constraint_name");
	Oid			constraint;
	char	   *common_name = dq_optional_text(fcinfo, 4);

	constraint = get_relation_constraint_oid(decl->gate->target, name, true);
	if (!OidIsValid(constraint))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("gate %s has no constraint %s", decl->gate->name, quote_identifier(name)),
				 errhint("See SELECT * FROM dq_gate.checks_of(%s) for what its constraints are called.",
						 quote_literal_cstr(decl->gate->name))));
	if (!is_checked(decl, constraint))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("constraint %s of gate %s has no check in a batch", quote_identifier(name),
						decl->gate->name),
				 errdetail("CHECK, UNIQUE, PRIMARY KEY and FOREIGN KEY constraints that are enforced have one."),
				 errhint("For NOT NULL use dq_gate.expect_not_null.")));
	if (!PG_ARGISNULL(6))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"constraint\" does not take \"nulls\""),
				 errdetail("The constraint says what NULL means.")));
	decl->params = dq_set_param(decl->params, "constraint_name", name);
	dq_declare_common(fcinfo, 2, decl);
	if (common_name == NULL)
		decl->name = name;
	return dq_finish_declaration(fcinfo, decl);
}
