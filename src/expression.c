/*
 * expression.c
 *		Boolean rules over a row of the batch: from text and back.
 *
 * A rule is parsed once, when it is declared, with the search_path of whoever
 * declares it, and kept as text in which every name is qualified: it means
 * the same in every later run, and no other statement can hide in it.
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "expression.h"

/* The alias under which a rule sees the row, as in dq_source_sql */
#define BATCH_ALIAS		"batch"

/* The one expression that the text holds, nothing before or behind it */
static Node *
parse_single_expression(const char *text)
{
	List	   *statements = raw_parser(text, RAW_PARSE_PLPGSQL_EXPR);
	SelectStmt *select;
	ResTarget  *target;

	Assert(list_length(statements) == 1);
	select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
	if (!IsA(select, SelectStmt) ||
		list_length(select->targetList) != 1 ||
		select->distinctClause || select->intoClause || select->fromClause ||
		select->whereClause || select->groupClause || select->havingClause ||
		select->windowClause || select->valuesLists || select->sortClause ||
		select->limitOffset || select->limitCount || select->lockingClause ||
		select->withClause || select->op != SETOP_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("a rule must be one boolean expression over the columns of a row"),
				 errdetail("Found: %s", text)));
	target = linitial_node(ResTarget, select->targetList);
	if (target->name != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("a rule must be one boolean expression over the columns of a row"),
				 errdetail("Found: %s", text)));
	return target->val;
}

/* An error in a rule points into the rule, not into the statement around it */
static void
point_into_rule(void *arg)
{
	const char *text = arg;
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(text);
	}
	else
		errcontext("rule \"%s\"", text);
}

/*
 * Parse a rule with the current search_path.
 */
Node *
dq_parse_rule(const char *text, Oid target)
{
	ParseState *pstate = make_parsestate(NULL);
	Relation	rel = table_open(target, AccessShareLock);
	ParseNamespaceItem *item;
	Node	   *rule;
	ErrorContextCallback callback;

	callback.callback = point_into_rule;
	callback.arg = unconstify(char *, text);
	callback.previous = error_context_stack;
	error_context_stack = &callback;

	pstate->p_sourcetext = text;
	item = addRangeTableEntryForRelation(pstate, rel, AccessShareLock,
										 makeAlias(BATCH_ALIAS, NIL), false, true);
	addNSItemToQuery(pstate, item, true, true, true);

	rule = transformExpr(pstate, parse_single_expression(text), EXPR_KIND_WHERE);
	rule = coerce_to_boolean(pstate, rule, "rule");
	assign_expr_collations(pstate, rule);

	error_context_stack = callback.previous;
	table_close(rel, NoLock);
	free_parsestate(pstate);
	return rule;
}

/*
 * A rule as text, over the alias "batch" or, for people, without it;
 * qualified as far as the current search_path, which is the pinned one, needs
 * it.
 */
char *
dq_deparse_rule(Node *rule, Oid target, bool with_alias)
{
	return deparse_expression(rule, deparse_context_for(BATCH_ALIAS, target),
							  with_alias, false);
}

typedef struct ColumnWalk
{
	int			level;
	Bitmapset  *attributes;		/* offset by FirstLowInvalidHeapAttributeNumber */
} ColumnWalk;

static bool
collect_columns(Node *node, void *context)
{
	ColumnWalk *walk = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if ((int) var->varlevelsup == walk->level)
			walk->attributes = bms_add_member(walk->attributes,
											  var->varattno - FirstLowInvalidHeapAttributeNumber);
		return false;
	}
	if (IsA(node, Query))
	{
		bool		result;

		walk->level++;
		result = query_tree_walker((Query *) node, collect_columns, context, 0);
		walk->level--;
		return result;
	}
	return expression_tree_walker(node, collect_columns, context);
}

/*
 * The columns of the row that a rule looks at, also from within subqueries.
 */
void
dq_rule_columns(Node *rule, Oid target, RuleColumns *found)
{
	ColumnWalk	walk = {0, NULL};
	int			member = -1;

	memset(found, 0, sizeof(RuleColumns));
	collect_columns(rule, &walk);
	while ((member = bms_next_member(walk.attributes, member)) >= 0)
	{
		AttrNumber	attnum = member + FirstLowInvalidHeapAttributeNumber;

		if (attnum == 0)
			found->whole_row = true;
		else if (attnum < 0)
			found->system = true;
		else
			found->names = lappend(found->names, get_attname(target, attnum, false));
	}
}
