/*
 * referential.c
 *		Every value stands in the columns of another table.
 *
 * Derived from a foreign key, with the operators that the key itself uses.  A
 * table that refers to itself may find the row in the batch as well.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_proc.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

static bool
all_staged(const ColumnMap *map, List *names)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		Column	   *column = dq_find_column(map, lfirst(lc));

		if (!column->staged || column->fit == FIT_NEVER)
			return false;
	}
	return true;
}

/* How a check refers to the other table, whoever says so */
typedef struct Reference
{
	Oid			parent;
	List	   *parent_names;	/* of char * */
	List	   *operators;		/* of Oid: parent = child */
	bool		match_full;
} Reference;

static Reference *
reference_of_constraint(const Check *check)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(check->constraint_oid));
	Reference  *ref = palloc0(sizeof(Reference));
	Form_pg_constraint form;
	int			nkeys;
	AttrNumber	conkey[INDEX_MAX_KEYS];
	AttrNumber	confkey[INDEX_MAX_KEYS];
	Oid			operators[INDEX_MAX_KEYS];

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", check->constraint_oid);
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	ref->parent = form->confrelid;
	ref->match_full = form->confmatchtype == FKCONSTR_MATCH_FULL;
	DeconstructFkConstraintRow(tuple, &nkeys, conkey, confkey, operators,
							   NULL, NULL, NULL, NULL);
	ReleaseSysCache(tuple);
	for (int i = 0; i < nkeys; i++)
	{
		ref->parent_names = lappend(ref->parent_names, get_attname(ref->parent, confkey[i], false));
		ref->operators = lappend_oid(ref->operators, operators[i]);
	}
	return ref;
}

/*
 * The equality of a column of the other table with values of the given type,
 * if there is one that needs no cast by somebody's leave, and none that goes
 * by settings such as the time zone.
 */
static Oid
equality_for(Oid parent, const char *parent_name, Oid child_type, Oid *parent_type)
{
	AttrNumber	attnum = get_attnum(parent, parent_name);
	Oid			from = getBaseType(child_type);
	TypeCacheEntry *type;
	CoercionPathType path;
	Oid			function;

	*parent_type = InvalidOid;
	if (attnum == InvalidAttrNumber)
		return InvalidOid;
	*parent_type = getBaseType(get_atttype(parent, attnum));

	/* as a foreign key does, by what the type's own operators say */
	type = lookup_type_cache(*parent_type, TYPECACHE_BTREE_OPFAMILY);
	if (OidIsValid(type->btree_opf))
	{
		Oid			operator = get_opfamily_member(type->btree_opf, *parent_type, from,
												   BTEqualStrategyNumber);

		if (OidIsValid(operator))
			return op_volatile(operator) == PROVOLATILE_IMMUTABLE ? operator : InvalidOid;
	}
	path = find_coercion_pathway(*parent_type, from, COERCION_IMPLICIT, &function);
	if (path == COERCION_PATH_NONE ||
		(OidIsValid(function) && func_volatile(function) != PROVOLATILE_IMMUTABLE))
		return InvalidOid;
	return dq_equality_operator(*parent_type);
}

static Reference *
reference_of_declaration(Check *check, const ColumnMap *map)
{
	Reference  *ref = palloc0(sizeof(Reference));
	ListCell   *pc;
	ListCell   *cc;

	if (!OidIsValid(check->ref_table))
	{
		check->broken = "the table that it refers to is gone";
		return NULL;
	}
	ref->parent = check->ref_table;
	ref->match_full = dq_param(check->params, "match") != NULL;
	ref->parent_names = dq_text_list(dq_array_from_text(dq_param(check->params, "ref_columns")));
	forboth(pc, ref->parent_names, cc, check->columns)
	{
		Column	   *column = dq_find_column(map, lfirst(cc));
		Oid			parent_type = InvalidOid;
		Oid			operator = InvalidOid;

		if (column != NULL)
			operator = equality_for(ref->parent, lfirst(pc), column->typid, &parent_type);
		if (column != NULL && !OidIsValid(parent_type))
			check->broken = psprintf("column %s of %s does not exist any more",
									 quote_identifier(lfirst(pc)), dq_relation_sql(ref->parent));
		else if (!OidIsValid(operator))
			check->broken = psprintf("column %s cannot be compared with column %s of %s any more",
									 quote_identifier(lfirst(cc)), quote_identifier(lfirst(pc)),
									 dq_relation_sql(ref->parent));
		ref->operators = lappend_oid(ref->operators, operator);
	}
	return check->broken ? NULL : ref;
}

/* Where a row of the other table, or of the batch again, is the one referred to */
static char *
join_sql(const Reference *ref, const Check *check, const ColumnMap *map, const char *alias)
{
	StringInfoData sql;
	ListCell   *pc;
	ListCell   *cc;
	ListCell   *oc;

	initStringInfo(&sql);
	forthree(pc, ref->parent_names, cc, check->columns, oc, ref->operators)
	{
		Column	   *column = dq_find_column(map, lfirst(cc));
		char	   *value = psprintf("batch.%s", quote_identifier(lfirst(cc)));
		Oid			type;
		int32		typmod;
		Oid			collation;

		get_atttypetypmodcoll(ref->parent, get_attnum(ref->parent, lfirst(pc)),
							  &type, &typmod, &collation);
		if (OidIsValid(collation) && column->collid != collation)
			value = psprintf("%s COLLATE %s", value, dq_collation_sql(collation));
		appendStringInfo(&sql, "%s%s.%s %s %s", sql.len > 0 ? " AND " : "", alias,
						 quote_identifier(lfirst(pc)), dq_operator_sql(lfirst_oid(oc)), value);
	}
	return sql.data;
}

static void
referential_compile(Check *check, const ColumnMap *map)
{
	Reference  *ref = check->declared ? reference_of_declaration(check, map) :
		reference_of_constraint(check);
	char	   *orphan;
	char	   *any_null;
	char	   *condition;
	char	   *to;

	if (ref == NULL)
	{
		check->rule = psprintf("%s is in another table", dq_tuple_names(check->columns));
		return;
	}
	to = psprintf("%s (%s)", dq_relation_sql(ref->parent), dq_list_names(ref->parent_names));
	check->rule = psprintf("%s is in %s", dq_tuple_names(check->columns), to);
	check->complaint = psprintf("%s is not in %s", dq_tuple_names(check->columns), to);
	if (ref->match_full && list_length(check->columns) > 1)
		check->rule = psprintf("%s, or all NULL", check->rule);
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging) ||
		!dq_can_read_all(check, ref->parent))
		return;

	orphan = psprintf("NOT EXISTS (SELECT 1 FROM %s AS parent WHERE %s)",
					  dq_relation_sql(ref->parent), join_sql(ref, check, map, "parent"));
	if (ref->parent == map->target)
	{
		/* the rows that it refers to may come with the same batch */
		check->reads_target = true;
		if (all_staged(map, ref->parent_names))
			orphan = psprintf("%s AND NOT EXISTS (SELECT 1 FROM %s WHERE %s)", orphan,
							  dq_source_sql(map, "sibling"), join_sql(ref, check, map, "sibling"));
	}

	any_null = dq_any_null_sql(map, check->columns);
	check->null_sql = any_null;
	if (ref->match_full && !check->nulls_fail && list_length(check->columns) > 1)
	{
		StringInfoData columns;

		initStringInfo(&columns);
		dq_append_names(&columns, check->columns, "batch.");
		condition = psprintf("(pg_catalog.num_nonnulls(%s) BETWEEN 1 AND %d OR (NOT %s AND %s))",
							 columns.data, list_length(check->columns) - 1, any_null, orphan);
	}
	else if (check->nulls_fail)
		condition = psprintf("(%s OR %s)", any_null, orphan);
	else
		condition = psprintf("(NOT %s AND %s)", any_null, orphan);
	check->fail_sql = check->filter_sql ?
		psprintf("((%s) IS TRUE AND %s)", check->filter_sql, condition) : condition;
	check->probe_sql = psprintf("SELECT pg_catalog.count(*) FROM %s WHERE %s",
								dq_source_sql(map, "batch"), check->fail_sql);
}

const CheckKind dq_kind_referential = {
	.name = "referential",
	.evaluation = EVAL_QUERY,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = referential_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_referential);

/*
 * expect_referential(target, columns, ref_table, ref_columns, match, and the common
 * arguments) declares that the values of columns stand in another table;
 * without ref_columns in columns of the same names.
 */
Datum
dq_gate_expect_referential(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_referential);
	List	   *ref_columns;
	char	   *match;
	ListCell   *pc;
	ListCell   *cc;

	dq_declare_columns(decl, dq_required_names(fcinfo, 1, "columns"));
	decl->ref_table = dq_required_oid(fcinfo, 2, "ref_table");
	ref_columns = PG_ARGISNULL(3) ? decl->columns : dq_required_names(fcinfo, 3, "ref_columns");
	if (list_length(ref_columns) != list_length(decl->columns))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"columns\" and \"ref_columns\" must name as many columns"),
				 errdetail("They name %d and %d.", list_length(decl->columns),
						   list_length(ref_columns))));
	forboth(pc, ref_columns, cc, decl->columns)
	{
		Column	   *column = dq_find_column(decl->map, lfirst(cc));
		Oid			parent_type;

		if (!OidIsValid(equality_for(decl->ref_table, lfirst(pc), column->typid, &parent_type)))
		{
			if (!OidIsValid(parent_type))
				ereport(ERROR,
						(errcode(ERRCODE_UNDEFINED_COLUMN),
						 errmsg("column %s of %s does not exist", quote_identifier(lfirst(pc)),
								dq_relation_sql(decl->ref_table))));
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column %s of gate %s, of type %s, cannot be compared with column %s of %s, of type %s",
							quote_identifier(column->name), decl->gate->name,
							format_type_be(column->typid), quote_identifier(lfirst(pc)),
							dq_relation_sql(decl->ref_table), format_type_be(parent_type)),
					 errhint("Use dq_gate.expect_sql with a cast: EXISTS (SELECT FROM ... WHERE ...).")));
		}
	}
	decl->params = dq_set_param(decl->params, "ref_columns",
								dq_array_as_text(dq_text_array(ref_columns)));
	decl->reads_target = decl->ref_table == decl->gate->target;
	match = dq_required_text(fcinfo, 4, "match");
	if (strcmp(match, "full") == 0)
		decl->params = dq_set_param(decl->params, "match", match);
	else if (strcmp(match, "simple") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("match \"%s\" is not known", match),
				 errhint("\"simple\" lets a row pass where one of the columns is NULL, \"full\" only where all are.")));
	dq_declare_common(fcinfo, 5, decl);
	return dq_finish_declaration(fcinfo, decl);
}
