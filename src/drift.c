/*
 * drift.c
 *		Staging has other columns than the target: what the gate makes of it.
 *
 * The policies are applied to the matched columns before anything looks at
 * them, so that whatever comes after just sees columns: a rescued one has a
 * value made of others, an added one is not there yet, a widened one has its
 * type to come.  The target itself is altered last, right before the batch
 * comes in and in the same subtransaction: readers of the target are locked
 * out from then on only, and a publish that fails takes it back.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_publication_rel.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "columns.h"
#include "compat.h"
#include "drift.h"
#include "fit.h"
#include "spi_util.h"

static bool
may_round(const ColumnMap *map)
{
	return map->gate->on_rounding == DQ_ROUNDING_ALLOW;
}

/* A staged value to be made jsonb, the same in every time zone */
static char *
json_value(const StagedColumn *staged)
{
	char	   *value = psprintf("staged.%s", quote_identifier(staged->name));

	if (getBaseType(staged->typid) != TIMESTAMPTZOID)
		return value;
	return psprintf("CASE WHEN %1$s OPERATOR(pg_catalog.>=) '0001-01-01 00:00+00' AND %1$s OPERATOR(pg_catalog.<) 'infinity'"
					" THEN pg_catalog.to_jsonb(pg_catalog.concat("
					"pg_catalog.to_jsonb(pg_catalog.timezone('UTC', %1$s)) OPERATOR(pg_catalog.#>>) '{}', '+00:00'))"
					" ELSE pg_catalog.to_jsonb(%1$s) END", value);
}

/* A function takes 100 arguments, two of which make one member of an object */
#define MEMBERS_PER_CALL	50

/*
 * The staged columns that the target lacks, by name, as one jsonb.  A column
 * without a value is left out, a row without any has NULL.  Not by
 * jsonb_strip_nulls, which would also strip those that are part of a value.
 */
static char *
rescued_sql(List *unknown)
{
	StringInfoData objects;
	StringInfoData without;
	StringInfoData none;
	ListCell   *lc;

	initStringInfo(&objects);
	initStringInfo(&without);
	initStringInfo(&none);
	foreach(lc, unknown)
	{
		const StagedColumn *staged = lfirst(lc);
		char	   *name = psprintf("%s::pg_catalog.text", dq_literal(staged->name));
		/* a row of NULLs is a value, unlike for IS NULL */
		char	   *is_null = psprintf("staged.%s IS NOT DISTINCT FROM NULL", quote_identifier(staged->name));
		int			place = foreach_current_index(lc);

		if (place % MEMBERS_PER_CALL == 0)
			appendStringInfo(&objects, "%spg_catalog.jsonb_build_object(",
							 place == 0 ? "" : ") OPERATOR(pg_catalog.||) ");
		else
			appendStringInfoString(&objects, ", ");
		appendStringInfo(&objects, "%s, %s", name, json_value(staged));
		appendStringInfo(&without, "%sCASE WHEN %s THEN %s END", place == 0 ? "" : ", ", is_null, name);
		appendStringInfo(&none, "%s%s", place == 0 ? "" : " AND ", is_null);
	}
	return psprintf("CASE WHEN NOT (%s) THEN (%s)) OPERATOR(pg_catalog.-) pg_catalog.array_remove(ARRAY[%s], NULL) END",
					none.data, objects.data, without.data);
}

/*
 * The target's column of type jsonb takes the columns that it lacks, besides
 * what staging has for that column itself.
 */
static void
rescue(ColumnMap *map, List *unknown)
{
	Column	   *column = dq_find_column(map, map->gate->rescue_column);
	char	   *value = rescued_sql(unknown);
	ListCell   *lc;

	/* the settings will be refused, or the contract fails */
	if (column == NULL || getBaseType(column->typid) != JSONBOID)
		return;
	foreach(lc, unknown)
	{
		StagedColumn *staged = lfirst(lc);

		staged->provided = true;
		if (column->staged && getBaseType(column->staged_typid) != JSONBOID)
			staged->refusal = psprintf("%s itself is staged as %s, not as jsonb",
									   quote_identifier(column->name),
									   format_type_be(column->staged_typid));
	}
	if (column->staged && getBaseType(column->staged_typid) != JSONBOID)
		return;
	if (column->staged)
		value = psprintf("COALESCE(%1$s::pg_catalog.jsonb OPERATOR(pg_catalog.||) (%2$s), %1$s::pg_catalog.jsonb, %2$s)",
						 column->staged_sql, value);
	column->staged = true;
	column->staged_typid = JSONBOID;
	column->staged_typmod = -1;
	column->staged_sql = column->notnull ?
		psprintf("COALESCE(%s, '{}'::pg_catalog.jsonb)", value) : psprintf("(%s)", value);
	dq_choose_fit(column, may_round(map));
}

/* A column that the target gets from staging */
static void
add_column(ColumnMap *map, StagedColumn *staged)
{
	Column	   *column = palloc0(sizeof(Column));

	staged->provided = true;
	if (dq_domain_is_not_null(staged->typid))
	{
		staged->refusal = psprintf("%s does not allow NULL, which rows that are there already would have",
								   format_type_be(staged->typid));
		return;
	}
	column->name = staged->name;
	column->added = true;
	column->attnum = InvalidAttrNumber;
	column->typid = column->staged_typid = staged->typid;
	column->typmod = column->staged_typmod = staged->typmod;
	column->collid = column->staged_collid = staged->collid;
	column->staged = true;
	column->staged_sql = psprintf("staged.%s", quote_identifier(column->name));
	dq_choose_fit(column, may_round(map));
	map->columns = lappend(map->columns, column);
}

static void
settle_new_columns(ColumnMap *map)
{
	List	   *unknown = NIL;
	ListCell   *lc;

	foreach(lc, map->staged)
	{
		StagedColumn *staged = lfirst(lc);

		if (!staged->in_target)
			unknown = lappend(unknown, staged);
	}
	if (unknown == NIL)
		return;
	switch ((DqNewColumn) map->gate->on_new_column)
	{
		case DQ_NEW_FAIL:
			break;
		case DQ_NEW_IGNORE:
			foreach(lc, unknown)
				((StagedColumn *) lfirst(lc))->provided = true;
			break;
		case DQ_NEW_RESCUE:
			rescue(map, unknown);
			break;
		case DQ_NEW_EVOLVE:
			foreach(lc, unknown)
				add_column(map, lfirst(lc));
			break;
	}
}

/* Whether an object that depends on a column keeps its type from being changed */
static bool
holds_type(const ObjectAddress *object, Oid relid, AttrNumber attnum)
{
	switch (object->classId)
	{
		case RewriteRelationId:
		case TriggerRelationId:
		case PolicyRelationId:
		case PublicationRelRelationId:
		case ProcedureRelationId:
			return true;
		case AttrDefaultRelationId:
			/* that of a generated column; its own one can be converted */
			return GetAttrDefaultColumnAddress(object->objectId).objectSubId != attnum;
		case ConstraintRelationId:
			{
				/* PostgreSQL would rebuild it, and lock the table that refers to this one */
				HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(object->objectId));
				bool		referenced;

				if (!HeapTupleIsValid(tuple))
					return false;
				referenced = ((Form_pg_constraint) GETSTRUCT(tuple))->contype == CONSTRAINT_FOREIGN &&
					((Form_pg_constraint) GETSTRUCT(tuple))->confrelid == relid;
				ReleaseSysCache(tuple);
				return referenced;
			}
		default:
			return false;
	}
}

/* What keeps the type of a column from being changed, in words; NULL: nothing */
static char *
holder_of_type(Oid relid, AttrNumber attnum)
{
	Relation	catalog = table_open(DependRelationId, AccessShareLock);
	char	   *holder = NULL;
	ScanKeyData key[3];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	ScanKeyInit(&key[2], Anum_pg_depend_refobjsubid, BTEqualStrategyNumber,
				F_INT4EQ, Int32GetDatum(attnum));
	scan = systable_beginscan(catalog, DependReferenceIndexId, true, NULL, 3, key);
	while (holder == NULL && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);
		ObjectAddress object = {form->classid, form->objid, form->objsubid};

		if (holds_type(&object, relid, attnum))
			holder = psprintf("%s depends on it", getObjectDescription(&object, false));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return holder;
}

/* Whether rows of a table are put into partitions by a column */
static bool
is_partition_key(Oid relid, AttrNumber attnum)
{
	Relation	rel = relation_open(relid, NoLock);
	bool		found = has_partition_attrs(rel, bms_make_singleton(attnum - FirstLowInvalidHeapAttributeNumber),
											NULL);

	relation_close(rel, NoLock);
	return found;
}

static bool
is_inherited(Oid relid, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(attnum));
	bool		inherited;

	if (!HeapTupleIsValid(tuple))
		return false;
	inherited = ((Form_pg_attribute) GETSTRUCT(tuple))->attinhcount > 0;
	ReleaseSysCache(tuple);
	return inherited;
}

/* Why a column cannot take the type that is staged, in words; NULL: it can */
static char *
why_unwidened(const ColumnMap *map, const Column *column)
{
	ListCell   *lc;

	if (column->identity != '\0' && column->staged_typid == NUMERICOID)
		return "an identity column has to be of a type of integers";
	if (is_inherited(map->target, column->attnum))
		return "the column is inherited";
	foreach(lc, find_all_inheritors(map->target, NoLock, NULL))
	{
		AttrNumber	attnum = get_attnum(lfirst_oid(lc), column->name);
		char	   *holder = holder_of_type(lfirst_oid(lc), attnum);

		if (is_partition_key(lfirst_oid(lc), attnum))
			return "it belongs to the partition key";
		if (holder)
			return holder;
	}
	return NULL;
}

/*
 * A column that is staged with a wider type takes that.  Where it cannot, the
 * values have to fit, as they have to without the policy.
 */
static void
widen_columns(ColumnMap *map)
{
	ListCell   *lc;

	if (map->gate->on_type_change != DQ_TYPE_WIDEN)
		return;
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (!column->staged || column->added ||
			!dq_type_widens(column->typid, column->typmod, column->staged_typid, column->staged_typmod))
			continue;
		column->unwidened = why_unwidened(map, column);
		if (column->unwidened)
			continue;
		column->old_typid = column->typid;
		column->old_typmod = column->typmod;
		column->typid = column->staged_typid;
		column->typmod = column->staged_typmod;
		dq_choose_fit(column, may_round(map));
	}
}

/*
 * Apply the policies of the gate to what does not match.
 */
void
dq_apply_drift(ColumnMap *map)
{
	const Gate *gate = map->gate;
	Identity	saved;

	if (gate->on_new_column == DQ_NEW_FAIL && gate->on_type_change == DQ_TYPE_FAIL)
		return;
	/* so that objects are named the same whoever runs the gate */
	dq_assume(&saved, gate->run_as, PHASE_AUDIT);
	settle_new_columns(map);
	widen_columns(map);
	dq_resume(&saved);
}

/* Whether the publish alters the column, or adds it */
static bool
is_altered(const Column *column)
{
	return column->added || OidIsValid(column->old_typid);
}

/* Whether the publish alters the target */
bool
dq_drift_alters(const ColumnMap *map)
{
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		if (is_altered(lfirst(lc)))
			return true;
	}
	return false;
}

/* Altering a table takes owning it, and each of its partitions or children */
static void
require_ownership(const ColumnMap *map, const Column *column)
{
	const Gate *gate = map->gate;
	ListCell   *lc;

	foreach(lc, find_all_inheritors(map->target, NoLock, NULL))
	{
		if (dq_owns_relation(lfirst_oid(lc), gate->run_as))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s to %s column %s",
						dq_relation_sql(lfirst_oid(lc)), column->added ? "add" : "widen",
						quote_identifier(column->name)),
				 errdetail("Gate %s runs as role %s, and says %s.", gate->name,
						   quote_identifier(GetUserNameFromId(gate->run_as, false)),
						   column->added ? "on_new_column => 'evolve'" : "on_type_change => 'widen'"),
				 errhint("Alter the table as its owner before the batch is published, let the gate run as its owner, or change the setting with dq_gate.alter_gate.")));
	}
}

static Oid
type_namespace(Oid typid)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(typid));
	Oid			namespace;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", typid);
	namespace = ((Form_pg_type) GETSTRUCT(tuple))->typnamespace;
	ReleaseSysCache(tuple);
	return namespace;
}

/* A column of a type takes the right to use that */
static void
require_type(const ColumnMap *map, const Column *column)
{
	const Gate *gate = map->gate;
	Oid			element = get_element_type(column->typid);
	Oid			typid = OidIsValid(element) ? element : column->typid;

	if (dq_type_usage(typid, gate->run_as) &&
		dq_schema_usage(type_namespace(typid), gate->run_as))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for type %s", format_type_be_qualified(typid)),
			 errdetail("Column %s of that type is to be added to %s, and role %s, as which gate %s runs, needs USAGE on the type and its schema.",
					   quote_identifier(column->name), map->target_sql,
					   quote_identifier(GetUserNameFromId(gate->run_as, false)), gate->name)));
}

/*
 * Whether the role of the gate may alter the target as it has to.  Known
 * before any work is done.
 */
void
dq_authorize_drift(const ColumnMap *map)
{
	bool		owned = false;
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		const Column *column = lfirst(lc);

		if (!is_altered(column))
			continue;
		if (!owned)
			require_ownership(map, column);
		owned = true;
		require_type(map, column);
	}
}

/* The type of a column as DDL wants it, with a collation that is not the type's own */
static char *
column_type_sql(const Column *column)
{
	char	   *type = dq_type_sql(column->typid, column->typmod);

	if (!OidIsValid(column->collid) || column->collid == get_typcollation(column->typid))
		return type;
	return psprintf("%s COLLATE %s", type, dq_collation_sql(column->collid));
}

/*
 * Alter the target as the policies want it, in one statement, so that it is
 * rewritten once at most.  Called as the role of the gate; event triggers see
 * the given search_path, as they do with any other statement.
 */
void
dq_alter_target(const ColumnMap *map, const char *search_path)
{
	StringInfoData sql;
	char	   *pinned;
	ListCell   *lc;

	if (!dq_drift_alters(map))
		return;
	initStringInfo(&sql);
	foreach(lc, map->columns)
	{
		const Column *column = lfirst(lc);

		if (is_altered(column))
			appendStringInfo(&sql, "%s%s %s%s %s", sql.len > 0 ? ", " : "",
							 column->added ? "ADD COLUMN" : "ALTER COLUMN",
							 quote_identifier(column->name), column->added ? "" : " TYPE",
							 column_type_sql(column));
	}
	pinned = pstrdup(GetConfigOption("search_path", false, false));
	dq_pin_setting("search_path", search_path);
	dq_execute(psprintf("ALTER TABLE %s %s", map->target_sql, sql.data), 0, NULL, NULL, NULL, false);
	dq_pin_setting("search_path", pinned);
}

/* What became of a staged column that the target lacked, or would */
static char *
new_column_change(const ColumnMap *map, const StagedColumn *staged, bool would)
{
	const char *name = quote_identifier(staged->name);

	switch ((DqNewColumn) map->gate->on_new_column)
	{
		case DQ_NEW_IGNORE:
			return psprintf("%s column %s", would ? "would ignore" : "ignored", name);
		case DQ_NEW_RESCUE:
			return psprintf("%s column %s into %s", would ? "would rescue" : "rescued", name,
							quote_identifier(map->gate->rescue_column));
		case DQ_NEW_EVOLVE:
			return psprintf("%s column %s %s", would ? "would add" : "added", name,
							format_type_with_typemod(staged->typid, staged->typmod));
		default:
			return NULL;
	}
}

/*
 * What the run did about columns that did not match, one text each; nothing
 * if the batch was not published.  A dry run says what a publish would do.
 */
List *
dq_schema_changes(const Run *run)
{
	const ColumnMap *map = run->map;
	bool		would = run->dry_run;
	List	   *changes = NIL;
	Identity	saved;
	ListCell   *lc;

	if (would ? !run->passed || run->skipped : !run->published)
		return NIL;
	/* as in dq_apply_drift */
	dq_assume(&saved, run->gate->run_as, PHASE_EVIDENCE);
	foreach(lc, map->staged)
	{
		const StagedColumn *staged = lfirst(lc);

		if (staged->provided)
			changes = lappend(changes, new_column_change(map, staged, would));
	}
	foreach(lc, map->columns)
	{
		const Column *column = lfirst(lc);

		if (OidIsValid(column->old_typid))
			changes = lappend(changes,
							  psprintf("%s column %s from %s to %s", would ? "would widen" : "widened",
									   quote_identifier(column->name),
									   format_type_with_typemod(column->old_typid, column->old_typmod),
									   format_type_with_typemod(column->typid, column->typmod)));
	}
	dq_resume(&saved);
	return changes;
}
