/*
 * referential.c
 *		Every value stands in the columns of another table.
 *
 * Derived from a foreign key, with the operators that the key itself uses.  A
 * table that refers to itself may find the row in the batch as well.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "columns.h"
#include "compat.h"
#include "kinds/kinds.h"
#include "miscadmin.h"
#include "spi_util.h"

/* Whether the role of the run sees all rows of the referenced table */
static bool
can_read_all(Check *check, Oid relid)
{
	if (!dq_schema_usage(get_rel_namespace(relid), GetUserId()) ||
		pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		check->unjudged = psprintf("role %s may not read %s; the foreign key itself is enforced when the batch is published",
								   quote_identifier(GetUserNameFromId(GetUserId(), false)),
								   dq_relation_sql(relid));
	else if (check_enable_rls(relid, GetUserId(), true) == RLS_ENABLED)
		check->unjudged = psprintf("row-level security hides rows of %s from role %s; the foreign key itself is enforced when the batch is published",
								   dq_relation_sql(relid),
								   quote_identifier(GetUserNameFromId(GetUserId(), false)));
	return check->unjudged == NULL;
}

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

static void
referential_compile(Check *check, const ColumnMap *map)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(check->constraint_oid));
	Form_pg_constraint form;
	int			nkeys;
	AttrNumber	conkey[INDEX_MAX_KEYS];
	AttrNumber	confkey[INDEX_MAX_KEYS];
	Oid			operators[INDEX_MAX_KEYS];
	Oid			parent;
	bool		match_full;
	List	   *parent_names = NIL;
	StringInfoData join;
	StringInfoData sibling;
	char	   *orphan;
	char	   *any_null;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", check->constraint_oid);
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	parent = form->confrelid;
	match_full = form->confmatchtype == FKCONSTR_MATCH_FULL;
	DeconstructFkConstraintRow(tuple, &nkeys, conkey, confkey, operators,
							   NULL, NULL, NULL, NULL);
	ReleaseSysCache(tuple);

	initStringInfo(&join);
	initStringInfo(&sibling);
	for (int i = 0; i < nkeys; i++)
	{
		char	   *parent_name = get_attname(parent, confkey[i], false);
		char	   *name = list_nth(check->columns, i);
		char	   *operator = dq_operator_sql(operators[i]);
		Oid			parent_type;
		int32		parent_typmod;
		Oid			parent_coll;
		Column	   *column = dq_find_column(map, name);
		char	   *value = psprintf("batch.%s", quote_identifier(name));

		get_atttypetypmodcoll(parent, confkey[i], &parent_type, &parent_typmod, &parent_coll);
		if (OidIsValid(parent_coll) && column->collid != parent_coll)
			value = psprintf("%s COLLATE %s", value, dq_collation_sql(parent_coll));
		appendStringInfo(&join, "%sparent.%s %s %s", i > 0 ? " AND " : "",
						 quote_identifier(parent_name), operator, value);
		appendStringInfo(&sibling, "%ssibling.%s %s %s", i > 0 ? " AND " : "",
						 quote_identifier(parent_name), operator, value);
		parent_names = lappend(parent_names, parent_name);
	}

	check->rule = psprintf("%s is in %s (%s)", dq_tuple_names(check->columns),
						   dq_relation_sql(parent), dq_list_names(parent_names));
	check->complaint = psprintf("%s is not in %s (%s)", dq_tuple_names(check->columns),
								dq_relation_sql(parent), dq_list_names(parent_names));
	if (!dq_usable_columns(check, map) || !OidIsValid(map->staging) ||
		!can_read_all(check, parent))
		return;

	orphan = psprintf("NOT EXISTS (SELECT 1 FROM %s AS parent WHERE %s)",
					  dq_relation_sql(parent), join.data);
	if (parent == map->target)
	{
		/* the rows that it refers to may come with the same batch */
		check->reads_target = true;
		if (all_staged(map, parent_names))
			orphan = psprintf("%s AND NOT EXISTS (SELECT 1 FROM %s WHERE %s)", orphan,
							  dq_source_sql(map, "sibling"), sibling.data);
	}

	any_null = dq_any_null_sql(check->columns);
	check->null_sql = any_null;
	if (match_full && nkeys > 1)
	{
		StringInfoData columns;

		initStringInfo(&columns);
		dq_append_names(&columns, check->columns, "batch.");
		check->fail_sql = psprintf("(pg_catalog.num_nonnulls(%s) BETWEEN 1 AND %d OR (NOT %s AND %s))",
								   columns.data, nkeys - 1, any_null, orphan);
	}
	else
		check->fail_sql = psprintf("(NOT %s AND %s)", any_null, orphan);
	check->probe_sql = psprintf("SELECT pg_catalog.count(*) FROM %s WHERE %s",
								dq_source_sql(map, "batch"), check->fail_sql);
}

const CheckKind dq_kind_referential = {
	.name = "referential",
	.evaluation = EVAL_QUERY,
	.actions = DQ_ANY_ACTION,
	.compile = referential_compile,
};
