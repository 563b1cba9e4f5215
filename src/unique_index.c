/*
 * unique_index.c
 *		What a unique index of the target compares.
 *
 * Columns and expressions, by the operators and collations of the index, in
 * the rows of its predicate: over a row of the batch and over one of the
 * target.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "changes.h"
#include "columns.h"
#include "compat.h"
#include "expression.h"
#include "spi_util.h"
#include "unique_index.h"
#include "policy.h"

/* What a read works on */
typedef struct Reading
{
	const ColumnMap *map;
	Relation	rel;
	UniqueIndex *index;
} Reading;

/*
 * The unique indexes of a table, by OID, but for those that are being built or
 * are about periods.
 */
List *
dq_unique_indexes(Oid target)
{
	Relation	rel = table_open(target, NoLock);
	List	   *found = NIL;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_index form;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for index %u", lfirst_oid(lc));
		form = (Form_pg_index) GETSTRUCT(tuple);
		if (form->indisunique && form->indisvalid && form->indisready && !dq_index_temporal(form))
			found = lappend_oid(found, lfirst_oid(lc));
		ReleaseSysCache(tuple);
	}
	table_close(rel, NoLock);
	return found;
}

/* A generated column of the batch is what the target will make of the others */
static Node *
inline_generated(Node *node, void *context)
{
	Relation	rel = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;
		Node	   *value;

		if (var->varattno <= 0 ||
			TupleDescAttr(RelationGetDescr(rel), var->varattno - 1)->attgenerated == '\0')
			return copyObject(node);
		value = build_column_default(rel, var->varattno);
		if (OidIsValid(var->varcollid) && exprCollation(value) != var->varcollid)
		{
			CollateExpr *collate = makeNode(CollateExpr);

			collate->arg = (Expr *) value;
			collate->collOid = var->varcollid;
			collate->location = -1;
			value = (Node *) collate;
		}
		return value;
	}
	return expression_tree_mutator(node, inline_generated, context);
}

static void
need_column(const Reading *reading, char *name)
{
	const Column *column = dq_find_column(reading->map, name);

	/* of such a column only new rows take the staged value */
	if (dq_mode_updates(reading->map->gate) && !column->is_key && dq_keeps_value(reading->map, column))
		reading->index->reason = psprintf("column %s%s keeps its value in rows that exist; the target itself enforces the rule",
										  quote_identifier(name),
										  column->identity == ATTRIBUTE_IDENTITY_ALWAYS ? " is GENERATED ALWAYS AS IDENTITY and" : "");
	reading->index->needs = dq_add_names(reading->index->needs, list_make1(name));
}

/* An expression over the row, as a batch sees it; NULL if it cannot */
static char *
batch_sql(const Reading *reading, Node *expression)
{
	Node	   *inlined = inline_generated(expression, reading->rel);
	RuleColumns shown;
	RuleColumns needs;
	ListCell   *lc;

	dq_rule_columns(expression, reading->map->target, &shown);
	reading->index->columns = dq_add_names(reading->index->columns, shown.names);
	dq_rule_columns(inlined, reading->map->target, &needs);
	if (needs.whole_row || needs.system)
	{
		reading->index->reason = "it is about the row of the target itself, which enforces it";
		return NULL;
	}
	if (dq_rule_is_unnameable(inlined))
	{
		reading->index->reason = "it compares with an operator that its text cannot name; the target itself enforces it";
		return NULL;
	}
	foreach(lc, needs.names)
		need_column(reading, lfirst(lc));
	return dq_deparse_over(inlined, reading->map->target, "batch");
}

/* How the index compares the values of one of its columns */
static void
read_operator(const Reading *reading, UniquePart *part, Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	if (form->opcmethod == BTREE_AM_OID)
		part->equality = get_opfamily_member(form->opcfamily, form->opcintype, form->opcintype,
											 BTEqualStrategyNumber);
	if (!OidIsValid(part->equality))
		reading->index->reason = psprintf("what operator class %s takes for equal is not known; the target itself enforces the rule",
										  quote_identifier(NameStr(form->opcname)));
	ReleaseSysCache(tuple);
	part->own_equality = part->equality != dq_equality_operator(part->typid);
}

static UniquePart *
read_column(const Reading *reading, AttrNumber attnum, Oid collation)
{
	char	   *name = get_attname(reading->map->target, attnum, false);
	Column	   *column = dq_find_column(reading->map, name);
	UniquePart *part = dq_unique_column(column);

	part->as_column = collation == column->collid;
	if (column->generated != '\0')
	{
		Var		   *var = makeVar(1, attnum, column->typid, column->typmod, column->collid, 0);

		part->batch_sql = batch_sql(reading, (Node *) var);
	}
	else
	{
		reading->index->columns = dq_add_names(reading->index->columns, list_make1(name));
		need_column(reading, name);
	}
	return part;
}

static UniquePart *
read_expression(const Reading *reading, Node *expression)
{
	UniquePart *part = palloc0(sizeof(UniquePart));

	part->name = dq_deparse_rule(expression, reading->map->target, false);
	part->words = part->name;
	part->typid = exprType(expression);
	part->nullable = true;
	part->batch_sql = batch_sql(reading, expression);
	part->target_sql = psprintf("(%s)", dq_deparse_over(expression, reading->map->target, "target"));
	return part;
}

static void
read_parts(const Reading *reading, HeapTuple tuple, Form_pg_index form)
{
	bool		isnull;
	oidvector  *opclasses = (oidvector *) DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indclass, &isnull));
	oidvector  *collations = (oidvector *) DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indcollation, &isnull));
	Datum		binary = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indexprs, &isnull);
	List	   *expressions = isnull ? NIL : (List *) stringToNode(TextDatumGetCString(binary));
	ListCell   *expression = list_head(expressions);

	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber	attnum = form->indkey.values[i];
		Oid			collation = collations->values[i];
		UniquePart *part;

		if (attnum != 0)
			part = read_column(reading, attnum, collation);
		else
		{
			part = read_expression(reading, lfirst(expression));
			expression = lnext(expressions, expression);
		}
		read_operator(reading, part, opclasses->values[i]);
		part->as_column = part->as_column && !part->own_equality;
		reading->index->plain = reading->index->plain && part->as_column;
		reading->index->parts = lappend(reading->index->parts, part);

		/* said on both sides wherever it does not go without saying */
		if (!OidIsValid(collation) || part->batch_sql == NULL ||
			(part->as_column && part->column->generated == '\0'))
			continue;
		part->batch_sql = psprintf("((%s) COLLATE %s)", part->batch_sql, dq_collation_sql(collation));
		part->target_sql = psprintf("(%s COLLATE %s)", part->target_sql, dq_collation_sql(collation));
	}
}

static void
read_predicate(const Reading *reading, HeapTuple tuple)
{
	bool		whole;
	Datum		binary = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indpred, &whole);
	Node	   *predicate;

	if (whole)
		return;
	predicate = stringToNode(TextDatumGetCString(binary));
	reading->index->plain = false;
	reading->index->predicate = dq_deparse_rule(predicate, reading->map->target, false);
	reading->index->batch_predicate = batch_sql(reading, predicate);
	reading->index->target_predicate = dq_deparse_over(predicate, reading->map->target, "target");
}

/* The name of an index is that of its constraint */
static void
name_index(UniqueIndex *index, Form_pg_index form)
{
	index->constraint = get_index_constraint(form->indexrelid);
	index->name = OidIsValid(index->constraint) ? get_constraint_name(index->constraint) :
		get_rel_name(form->indexrelid);
	index->origin = psprintf("%s %s", !OidIsValid(index->constraint) ? "unique index" :
							 form->indisprimary ? "PRIMARY KEY constraint" : "UNIQUE constraint",
							 quote_identifier(index->name));
}

/*
 * A column that is compared by the equality of its type.
 */
UniquePart *
dq_unique_column(Column *column)
{
	UniquePart *part = palloc0(sizeof(UniquePart));

	part->name = column->name;
	part->words = pstrdup(quote_identifier(column->name));
	part->column = column;
	part->batch_sql = psprintf("batch.%s", part->words);
	part->target_sql = psprintf("target.%s", part->words);
	part->typid = column->typid;
	part->equality = dq_equality_operator(column->typid);
	part->as_column = true;
	part->nullable = !column->notnull;
	return part;
}

/*
 * What an index compares, as text that means the same with the current
 * search_path, which is the pinned one.
 */
UniqueIndex *
dq_read_unique_index(const ColumnMap *map, Oid indexoid)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(indexoid));
	Form_pg_index form;
	Reading		reading;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", indexoid);
	form = (Form_pg_index) GETSTRUCT(tuple);
	reading.map = map;
	reading.rel = table_open(map->target, NoLock);
	reading.index = palloc0(sizeof(UniqueIndex));
	reading.index->plain = true;
	reading.index->nulls_distinct = !form->indnullsnotdistinct;
	reading.index->deferrable = !form->indimmediate;
	name_index(reading.index, form);
	read_parts(&reading, tuple, form);
	read_predicate(&reading, tuple);
	table_close(reading.rel, NoLock);
	ReleaseSysCache(tuple);
	return reading.index;
}
