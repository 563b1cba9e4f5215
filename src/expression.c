/*
 * expression.c
 *		Boolean rules over a row of the batch: from text and back.
 *
 * A rule is parsed once, when it is declared, with the search_path of whoever
 * declares it, and kept as text in which every name is qualified: it means
 * the same in every later run, and no other statement can hide in it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "expression.h"
#include "spi_util.h"

/* Put before a rule to make it a statement */
#define STATEMENT_PREFIX	"SELECT "

/* The one expression that the statement holds, nothing before or behind it */
static Node *
parse_single_expression(const char *statement)
{
	List	   *statements = raw_parser(statement, RAW_PARSE_DEFAULT);
	SelectStmt *select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
	ResTarget  *target = NULL;

	if (list_length(statements) == 1 && IsA(select, SelectStmt) &&
		list_length(select->targetList) == 1 &&
		!(select->distinctClause || select->intoClause || select->fromClause ||
		  select->whereClause || select->groupClause || select->havingClause ||
		  select->windowClause || select->valuesLists || select->sortClause ||
		  select->limitOffset || select->limitCount || select->lockingClause ||
		  select->withClause || select->op != SETOP_NONE))
		target = linitial_node(ResTarget, select->targetList);

	/* a star is no expression, but the grammar has it where one may stand */
	if (target == NULL || target->name != NULL ||
		(IsA(target->val, ColumnRef) &&
		 IsA(llast(((ColumnRef *) target->val)->fields), A_Star)))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("a rule must be one boolean expression over the columns of a row"),
				 errdetail("Found: %s", statement + strlen(STATEMENT_PREFIX))));
	return target->val;
}

/* A text being parsed, of which the parser sees a longer one */
typedef struct ParsedText
{
	ErrorContextCallback callback;
	const char *text;
	int			prefix;
} ParsedText;

/* An error in a rule points into the rule, not into the statement around it */
static void
point_into_text(void *arg)
{
	ParsedText *parsed = arg;
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(Max(1, position - parsed->prefix));
		internalerrquery(parsed->text);
	}
	else
		errcontext("\"%s\"", parsed->text);
}

static void
begin_text(ParsedText *parsed, const char *text, int prefix)
{
	parsed->text = text;
	parsed->prefix = prefix;
	parsed->callback.callback = point_into_text;
	parsed->callback.arg = parsed;
	parsed->callback.previous = error_context_stack;
	error_context_stack = &parsed->callback;
}

static void
end_text(const ParsedText *parsed)
{
	error_context_stack = parsed->callback.previous;
}

/*
 * Parse a rule with the current search_path.
 */
Node *
dq_parse_rule(const char *text, Oid target, const char *what)
{
	ParseState *pstate = make_parsestate(NULL);
	Relation	rel = table_open(target, AccessShareLock);
	ParseNamespaceItem *item;
	char	   *statement = psprintf(STATEMENT_PREFIX "%s", text);
	Node	   *rule;
	ParsedText	parsed;

	begin_text(&parsed, text, strlen(STATEMENT_PREFIX));

	pstate->p_sourcetext = statement;
	item = addRangeTableEntryForRelation(pstate, rel, AccessShareLock,
										 makeAlias(DQ_BATCH_ALIAS, NIL), false, true);
	addNSItemToQuery(pstate, item, true, true, true);

	rule = transformExpr(pstate, parse_single_expression(statement), EXPR_KIND_WHERE);
	rule = coerce_to_boolean(pstate, rule, what);
	assign_expr_collations(pstate, rule);

	end_text(&parsed);
	table_close(rel, NoLock);
	free_parsestate(pstate);
	return rule;
}

/* Let every aggregate over the batch see only the rows that a filter picks */
static Node *
filter_aggregates(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, SubLink) && contain_aggs_of_level(node, 0))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a filter cannot reach an aggregate within a subquery"),
				 errhint("Write the filter into the expression: aggregate(...) FILTER (WHERE ...).")));
	if (IsA(node, Aggref))
	{
		Aggref	   *aggregate = copyObject((Aggref *) node);
		Expr	   *filter = copyObject((Expr *) context);

		aggregate->aggfilter = aggregate->aggfilter ?
			(Expr *) makeBoolExpr(AND_EXPR, list_make2(aggregate->aggfilter, filter), -1) : filter;
		return (Node *) aggregate;
	}
	return expression_tree_mutator(node, filter_aggregates, context);
}

/*
 * Parse an expression over all rows of the batch, made of aggregates; with a
 * filter, over those that it picks.
 */
Node *
dq_parse_aggregate(const char *text, const char *filter, Oid target)
{
	Node	   *expression;
	char	   *statement = psprintf(STATEMENT_PREFIX "%s", text);
	ParsedText	parsed;
	RawStmt    *raw = makeNode(RawStmt);
	SelectStmt *select = makeNode(SelectStmt);
	ResTarget  *column = makeNode(ResTarget);
	RangeVar   *from;
	Query	   *query;

	begin_text(&parsed, text, strlen(STATEMENT_PREFIX));
	from = makeRangeVar(get_namespace_name(get_rel_namespace(target)), get_rel_name(target), -1);
	from->alias = makeAlias(DQ_BATCH_ALIAS, NIL);
	column->val = parse_single_expression(statement);
	column->location = -1;
	select->targetList = list_make1(column);
	select->fromClause = list_make1(from);
	raw->stmt = (Node *) select;
	query = parse_analyze_fixedparams(raw, statement, NULL, 0, NULL);
	if (!query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs)
		ereport(ERROR,
				(errcode(ERRCODE_GROUPING_ERROR),
				 errmsg("the expression must be made of aggregates over the rows of a batch"),
				 errhint("Such as sum(amount), or count(DISTINCT customer) / count(*)::numeric.")));
	expression = (Node *) linitial_node(TargetEntry, query->targetList)->expr;
	if (filter)
		expression = filter_aggregates(expression, dq_parse_rule(filter, target, "filter"));
	end_text(&parsed);
	return expression;
}

/*
 * Parse a query of a check with the current search_path: one SELECT that only
 * reads.
 */
Node *
dq_parse_query(const char *text)
{
	ParsedText	parsed;
	List	   *statements;
	Query	   *query;

	begin_text(&parsed, text, 0);
	statements = raw_parser(text, RAW_PARSE_DEFAULT);
	if (list_length(statements) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("a check must be one query"),
				 errdetail("Found %d statements.", list_length(statements))));
	query = parse_analyze_fixedparams(linitial_node(RawStmt, statements), text, NULL, 0, NULL);
	if (query->commandType != CMD_SELECT || query->utilityStmt != NULL ||
		query->hasModifyingCTE || query->rowMarks != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check must be a query that only reads"),
				 errhint("Use a SELECT that returns the rows that are wrong.")));
	end_text(&parsed);
	return (Node *) query;
}

/*
 * Parse an expression that stands for itself, over no row: a query of one
 * value.
 */
Node *
dq_parse_scalar(const char *text)
{
	char	   *statement = psprintf(STATEMENT_PREFIX "%s", text);
	ParsedText	parsed;

	begin_text(&parsed, text, strlen(STATEMENT_PREFIX));
	(void) parse_single_expression(statement);
	end_text(&parsed);
	return dq_parse_query(statement);
}

/*
 * An expression or a query as text over an alias of the row.  Qualified as far
 * as the current search_path, which is the pinned one, needs it.
 */
char *
dq_deparse_over(Node *expression, Oid target, const char *alias)
{
	if (IsA(expression, Query))
		return pg_get_querydef((Query *) expression, false);
	return deparse_expression(expression, deparse_context_for(alias, target), true, false);
}

/*
 * A rule as text over the alias "batch" or, for people, without it; qualified
 * likewise.
 */
char *
dq_deparse_rule(Node *rule, Oid target, bool with_alias)
{
	if (with_alias || IsA(rule, Query))
		return dq_deparse_over(rule, target, DQ_BATCH_ALIAS);
	return deparse_expression(rule, deparse_context_for(DQ_BATCH_ALIAS, target), false, false);
}

/* Whether an operator would not be found by the pinned search_path */
static bool
is_foreign_operator(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	bool		foreign;

	if (!HeapTupleIsValid(tuple))
		return true;
	foreign = ((Form_pg_operator) GETSTRUCT(tuple))->oprnamespace != PG_CATALOG_NAMESPACE;
	ReleaseSysCache(tuple);
	return foreign;
}

/* Whether some part of a comparison is done by such an operator */
static bool
compares_by_foreign(Node *node, void *context)
{
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, OpExpr) && is_foreign_operator(((OpExpr *) node)->opno))
		return true;
	if (IsA(node, RowCompareExpr))
	{
		foreach(lc, ((RowCompareExpr *) node)->opnos)
		{
			if (is_foreign_operator(lfirst_oid(lc)))
				return true;
		}
	}
	return expression_tree_walker(node, compares_by_foreign, context);
}

static bool
find_unnameable(Node *node, void *context)
{
	ListCell   *lc;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_DistinctExpr:
		case T_NullIfExpr:
			if (is_foreign_operator(((OpExpr *) node)->opno))
				return true;
			break;
		case T_CaseExpr:
			if (((CaseExpr *) node)->arg == NULL)
				break;
			foreach(lc, ((CaseExpr *) node)->args)
			{
				if (compares_by_foreign((Node *) lfirst_node(CaseWhen, lc)->expr, NULL))
					return true;
			}
			break;
		case T_RowCompareExpr:
			if (compares_by_foreign(node, NULL))
				return true;
			break;
		case T_SubLink:
			{
				Node	   *test = ((SubLink *) node)->testexpr;

				if (test != NULL && !IsA(test, OpExpr) && compares_by_foreign(test, NULL))
					return true;
				break;
			}
		case T_JoinExpr:
			if (((JoinExpr *) node)->usingClause != NIL &&
				compares_by_foreign(((JoinExpr *) node)->quals, NULL))
				return true;
			break;
		case T_Query:
			return query_tree_walker((Query *) node, find_unnameable, context, 0);
		default:
			break;
	}
	return expression_tree_walker(node, find_unnameable, context);
}

/*
 * Whether the text of a rule would mean something else with the pinned
 * search_path.  IS DISTINCT FROM, NULLIF, CASE x WHEN, comparisons of rows and
 * JOIN USING look their operator up by name, and have no form that names its
 * schema: for citext they would find the one of text.
 */
bool
dq_rule_is_unnameable(Node *rule)
{
	return find_unnameable(rule, NULL);
}

/*
 * Whether another table is the target, or part of it, or a view, which may
 * read it.
 */
bool
dq_relation_reads(Oid relid, Oid target)
{
	return get_rel_relkind(relid) == RELKIND_VIEW ||
		list_member_oid(find_all_inheritors(target, NoLock, NULL), relid) ||
		list_member_oid(find_all_inheritors(relid, NoLock, NULL), target);
}

/* Whether a subquery reads the table */
static bool
find_reading(Node *node, void *context)
{
	Oid			target = *(Oid *) context;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		return rte->rtekind == RTE_RELATION && dq_relation_reads(rte->relid, target);
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_reading, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, find_reading, context);
}

/*
 * Whether a rule reads the target, which must then not change while the batch
 * is audited.
 */
bool
dq_rule_reads(Node *rule, Oid target)
{
	return find_reading(rule, &target);
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

/*
 * What a parsed rule, aggregate or query means for good, as text over an
 * alias, and which columns of the row it looks at, which is one of the given
 * table.  The noun is for messages: "a rule".
 */
char *
dq_rule_meaning(Node *rule, Oid relid, const char *alias, const char *noun, List **columns)
{
	RuleColumns needs;
	Identity	saved;
	char	   *resolved;

	dq_rule_columns(rule, relid, &needs);
	if (needs.whole_row || needs.system)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot use a %s", noun, needs.whole_row ? "whole row" : "system column"),
				 errhint("Name the columns that it is about.")));
	if (dq_rule_is_unnameable(rule))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot compare with an operator that its text does not name", noun),
				 errdetail("IS DISTINCT FROM, NULLIF, CASE ... WHEN, comparisons of rows and JOIN USING cannot say from which schema their operator is, and this one is not in pg_catalog."),
				 errhint("Write the comparison with the operator itself, such as a = b.")));
	*columns = needs.names;

	/* so that names are qualified for the search_path of an audit */
	dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
	resolved = dq_deparse_over(rule, relid, alias);
	dq_resume(&saved);
	return resolved;
}
