/*
 * derive.c
 *		The target's own constraints and unique indexes become checks.
 *
 * Everything here would be enforced by the target as well, but one row at a
 * time, by an error that stops the whole batch and leaves no evidence.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "columns.h"
#include "compat.h"
#include "derive.h"
#include "expression.h"
#include "fit.h"
#include "kinds/kinds.h"
#include "params.h"
#include "policy.h"
#include "row_limits.h"
#include "spi_util.h"
#include "unique_index.h"

static Check *
derive(const CheckKind *kind, char *name, List *columns, char *origin)
{
	Check	   *check = palloc0(sizeof(Check));

	check->kind = kind;
	check->name = name;
	check->columns = columns;
	check->action = DQ_BLOCK;
	dq_init_limits(&check->limits);
	check->nulls_fail = kind->nulls_fail;
	check->origin = origin;
	return check;
}

/* Names of the columns of a constraint */
List *
dq_constraint_columns(Oid target, HeapTuple tuple)
{
	bool		isnull;
	Datum		datum = SysCacheGetAttr(CONSTROID, tuple, Anum_pg_constraint_conkey, &isnull);
	Datum	   *attnums;
	int			count;
	List	   *names = NIL;

	if (isnull)
		return NIL;
	deconstruct_array(DatumGetArrayTypeP(datum), INT2OID, sizeof(int16), true,
					  TYPALIGN_SHORT, &attnums, NULL, &count);
	for (int i = 0; i < count; i++)
		names = lappend(names, get_attname(target, DatumGetInt16(attnums[i]), false));
	return names;
}

/* A CHECK constraint is a rule over the row, NULL satisfies it */
static Check *
derive_check_constraint(Oid target, HeapTuple tuple, Form_pg_constraint form)
{
	bool		isnull;
	Datum		binary = SysCacheGetAttr(CONSTROID, tuple, Anum_pg_constraint_conbin, &isnull);
	Node	   *rule;
	RuleColumns needs;
	char	   *name = pstrdup(NameStr(form->conname));
	Check	   *check;

	if (isnull)
		return NULL;
	rule = stringToNode(TextDatumGetCString(binary));
	dq_rule_columns(rule, target, &needs);
	check = derive(&dq_kind_check_constraint, name, needs.names,
				   psprintf("CHECK constraint %s", quote_identifier(name)));
	check->constraint_oid = form->oid;
	check->params = dq_set_param(NIL, "expression", dq_deparse_rule(rule, target, false));
	check->params = dq_set_param(check->params, "resolved", dq_deparse_rule(rule, target, true));
	if (needs.whole_row || needs.system)
		check->unjudged = "the rule is about the row of the target itself, which enforces it";
	else if (dq_rule_is_unnameable(rule))
		check->unjudged = "the rule compares with an operator that its text cannot name; the target itself enforces it";
	return check;
}

static Check *
derive_referential(const ColumnMap *map, HeapTuple tuple, Form_pg_constraint form)
{
	char	   *name = pstrdup(NameStr(form->conname));
	Check	   *check;

	check = derive(&dq_kind_referential, name, dq_constraint_columns(map->target, tuple),
				   psprintf("FOREIGN KEY constraint %s", quote_identifier(name)));
	check->constraint_oid = form->oid;
	return check;
}

/*
 * A foreign key to a partitioned table has a row for each partition besides,
 * which taken alone would want every value in that partition.  A key that a
 * partition has from its parent is one of its own.
 */
static bool
is_part_of_key(Form_pg_constraint form)
{
	HeapTuple	parent;
	bool		part;

	if (!OidIsValid(form->conparentid))
		return false;
	parent = SearchSysCache1(CONSTROID, ObjectIdGetDatum(form->conparentid));
	if (!HeapTupleIsValid(parent))
		return false;
	part = ((Form_pg_constraint) GETSTRUCT(parent))->conrelid == form->conrelid;
	ReleaseSysCache(parent);
	return part;
}

/* Whether columns are the key, in whatever order */
static bool
is_key(const ColumnMap *map, List *names)
{
	ListCell   *lc;

	if (list_length(names) != list_length(map->key))
		return false;
	foreach(lc, names)
	{
		if (!dq_find_column(map, lfirst(lc))->is_key)
			return false;
	}
	return true;
}

static int
by_name(const ListCell *a, const ListCell *b)
{
	return strcmp(((const Check *) lfirst(a))->name, ((const Check *) lfirst(b))->name);
}

/* The constraints of a table, of HeapTuple, but for those that bind nobody or only periods */
List *
dq_enforced_constraints(Oid target)
{
	List	   *constraints = NIL;
	Relation	catalog = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(target));
	scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true,
							  NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		if (dq_constraint_enforced((Form_pg_constraint) GETSTRUCT(tuple)) &&
			!dq_constraint_temporal((Form_pg_constraint) GETSTRUCT(tuple)))
			constraints = lappend(constraints, heap_copytuple(tuple));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return constraints;
}

/*
 * Checks for the unique indexes, with a constraint behind them or not.  One
 * over the key has a check of its own already, which stands for it.
 */
static List *
derive_unique(const ColumnMap *map, Check *key_unique)
{
	List	   *checks = NIL;
	ListCell   *lc;

	foreach(lc, dq_unique_indexes(map->target))
	{
		UniqueIndex *index = dq_read_unique_index(map, lfirst_oid(lc));
		Check	   *check;

		if (key_unique != NULL && index->plain && is_key(map, index->columns))
			check = key_unique;
		else
		{
			check = derive(&dq_kind_unique, index->name, index->columns, index->origin);
			check->nulls_distinct = index->nulls_distinct;
			check->plain = index->plain;
			checks = lappend(checks, check);
		}
		if (!OidIsValid(check->index_oid))
			check->index_oid = lfirst_oid(lc);
		if (!OidIsValid(check->constraint_oid))
			check->constraint_oid = index->constraint;
	}
	return checks;
}

/* Checks for CHECK and FOREIGN KEY constraints, and those of unique indexes, by name */
static List *
derive_constraints(const ColumnMap *map, Check *key_unique)
{
	List	   *checks = derive_unique(map, key_unique);
	ListCell   *lc;

	foreach(lc, dq_enforced_constraints(map->target))
	{
		HeapTuple	tuple = lfirst(lc);
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);
		Check	   *check = NULL;

		if (form->contype == CONSTRAINT_CHECK)
			check = derive_check_constraint(map->target, tuple, form);
		else if (form->contype == CONSTRAINT_FOREIGN && !is_part_of_key(form))
			check = derive_referential(map, tuple, form);
		if (check != NULL)
			checks = lappend(checks, check);
	}

	list_sort(checks, by_name);
	return checks;
}

/* A type that takes fewer values than staging could hold */
static bool
type_restricts(const Column *column)
{
	return column->typmod >= 0 || get_typtype(column->typid) == TYPTYPE_ENUM ||
		dq_domain_restricts(column->typid);
}

/* Checks for single columns: that the value is there, and that it fits */
static List *
derive_columns(const ColumnMap *map)
{
	List	   *checks = NIL;
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);
		const char *name = quote_identifier(column->name);
		List	   *names = list_make1(column->name);

		if (column->generated != '\0')
			continue;
		if (column->staged ? column->fit == FIT_SOME :
			!OidIsValid(map->staging) && type_restricts(column))
			checks = lappend(checks,
							 derive(&dq_kind_type_fit, psprintf("%s_type_fit", column->name), names,
									psprintf("type %s of column %s",
											 format_type_with_typemod(column->typid, column->typmod),
											 name)));
		/* a column that is not staged is the schema contract's business */
		if (OidIsValid(map->staging) && !column->staged)
			continue;
		if (column->is_key)
			checks = lappend(checks,
							 derive(&dq_kind_not_null, psprintf("%s_not_null", column->name), names,
									psprintf("key (%s)", map->key_source)));
		else if (column->notnull)
			checks = lappend(checks,
							 derive(&dq_kind_not_null, psprintf("%s_not_null", column->name), names,
									psprintf("NOT NULL of column %s", name)));
	}
	return checks;
}

/* A scope whose columns are to be known */
typedef struct ScopeStep
{
	const Gate *gate;
	RuleColumns needs;
} ScopeStep;

static void
scope_step(void *arg)
{
	ScopeStep  *step = arg;

	dq_rule_columns(dq_parse_rule(step->gate->scope_of_batch, step->gate->target, "scope"),
					step->gate->target, &step->needs);
}

/* Every row of a batch is in the scope, which may be about what is gone by now */
static Check *
derive_scope(const Gate *gate)
{
	Check	   *scope = derive(&dq_kind_sql, "scope", NIL, "scope of the gate");
	ScopeStep	step = {gate, {NIL}};
	ErrorData  *error;

	scope->essential = true;
	scope->params = dq_set_param(NIL, "expression", gate->scope);
	scope->params = dq_set_param(scope->params, "resolved", gate->scope_of_batch);
	if (dq_attempt(scope_step, &step, &error))
		scope->columns = step.needs.names;
	else
	{
		scope->broken = dq_error_text(error);
		FreeErrorData(error);
	}
	return scope;
}

/* What the gate's mode wants of a batch: every row in its scope or slice, and not too few */
static List *
derive_mode(const ColumnMap *map)
{
	const Gate *gate = map->gate;
	List	   *checks = NIL;
	ListCell   *lc;

	if (gate->scope)
		checks = lappend(checks, derive_scope(gate));
	if (gate->max_delete_rate < 1)
	{
		Check	   *rate = derive(&dq_kind_change_rate, "delete_rate", NIL, "max_delete_rate of the gate");

		rate->params = dq_set_param(NIL, "max_delete_rate", float8out_internal(gate->max_delete_rate));
		checks = lappend(checks, rate);
	}
	foreach(lc, gate->replace_by)
	{
		Column	   *column = dq_find_column(map, lfirst(lc));

		if (column != NULL && !column->notnull && !column->is_key)
			checks = lappend(checks,
							 derive(&dq_kind_not_null, psprintf("%s_not_null", column->name),
									list_make1(column->name), "replace_by of the gate"));
	}
	return checks;
}

/*
 * All checks that follow from the target, in the order in which they are
 * shown.
 */
List *
dq_derive_checks(const ColumnMap *map)
{
	List	   *checks = NIL;
	Check	   *contract;
	Check	   *volume;
	Check	   *key_unique = NULL;

	checks = lappend(checks, derive(&dq_kind_not_empty, "not_empty", NIL, "gate"));
	contract = derive(&dq_kind_schema_contract, "schema_contract", NIL, "columns of the target");
	contract->essential = true;
	checks = lappend(checks, contract);
	volume = derive(&dq_kind_volume, "volume", NIL, "earlier batches");
	volume->params = dq_default_volume();
	checks = lappend(checks, volume);
	if (map->key != NIL)
	{
		key_unique = derive(&dq_kind_unique, "key_unique", dq_column_names(map->key),
							psprintf("key (%s)", map->key_source));
		key_unique->nulls_distinct = true;
		key_unique->plain = true;
		checks = lappend(checks, key_unique);
		if (!map->key_is_unique && dq_mode_matches(map->gate))
			checks = lappend(checks,
							 derive(&dq_kind_unique_in_target, "key_unique_in_target",
									dq_column_names(map->key),
									psprintf("key (%s)", map->key_source)));
	}
	checks = list_concat(checks, derive_columns(map));
	checks = list_concat(checks, derive_mode(map));
	checks = list_concat(checks, derive_constraints(map, key_unique));
	return checks;
}
