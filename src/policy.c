/*
 * policy.c
 *		Whether the settings of a gate make sense together, and with its
 *		target.
 *
 * Looked at when they are given, and again when the gate is run, since the
 * target may have been altered.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "rewrite/prs2lock.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "columns.h"
#include "error_context.h"
#include "expression.h"
#include "gate.h"
#include "gate_settings.h"
#include "policy.h"
#include "spi_util.h"
#include "triggers.h"

/* Whether rows of the target can change */
bool
dq_mode_updates(const Gate *gate)
{
	return gate->mode == DQ_MERGE || gate->mode == DQ_SYNC;
}

/* Whether rows of the target can go */
bool
dq_mode_deletes(const Gate *gate)
{
	return gate->mode == DQ_SYNC || gate->mode == DQ_REPLACE;
}

/* Whether rows of the batch are matched with those of the target */
bool
dq_mode_matches(const Gate *gate)
{
	return gate->mode != DQ_APPEND && gate->mode != DQ_REPLACE;
}

/* Whether it takes a key to tell one row from another */
bool
dq_mode_needs_key(const Gate *gate)
{
	return dq_mode_matches(gate) || gate->keep_latest_by;
}

/*
 * What the scope of a gate means for good, with the search_path of whoever
 * gives it.
 */
void
dq_resolve_scope(Gate *gate)
{
	DqErrorContext context;
	List	   *columns;
	Node	   *rule;

	gate->scope_of_batch = gate->scope_of_target = NULL;
	if (gate->scope == NULL)
		return;
	dq_push_context(&context, "scope of gate %s", gate->name);
	rule = dq_parse_rule(gate->scope, gate->target, "scope");
	if (contain_volatile_functions(rule) || contain_subplans(rule))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a scope cannot have a subquery or call a volatile function"),
				 errdetail("It has to say the same of a row whenever it is asked."),
				 errhint("Write it over the columns of the target alone.")));
	gate->scope_of_batch = dq_rule_meaning(rule, gate->target, DQ_BATCH_ALIAS, "a scope", &columns);
	gate->scope_of_target = dq_rule_meaning(rule, gate->target, "target", "a scope", &columns);
	dq_pop_context(&context);
}

/* A setting that the mode of the gate has no use for */
static void
refuse_in_mode(const Gate *gate, bool given, const char *setting, const char *modes)
{
	if (given)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" has no meaning for gate %s in mode \"%s\"", setting, gate->name,
						dq_mode_words[gate->mode]),
				 errhint("It is for %s.", modes)));
}

static void
refuse_together(const Gate *gate, bool given, const char *one, const char *other)
{
	if (given)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" and \"%s\" of gate %s exclude each other", one, other, gate->name)));
}

static void
check_settings(const Gate *gate)
{
	bool		replaces = gate->mode == DQ_REPLACE;

	refuse_in_mode(gate, !replaces && gate->replace_by != NIL, "replace_by", "mode \"replace\"");
	refuse_in_mode(gate, !dq_mode_deletes(gate) && gate->scope, "scope",
				   "the modes \"sync\" and \"replace\"");
	refuse_in_mode(gate, gate->mode != DQ_SYNC && gate->max_delete_rate < 1, "max_delete_rate",
				   "mode \"sync\"");
	refuse_in_mode(gate, !dq_mode_updates(gate) && gate->update_columns != NIL, "update_columns",
				   "the modes \"merge\" and \"sync\"");
	refuse_in_mode(gate, !dq_mode_updates(gate) && gate->exclude_columns != NIL, "exclude_columns",
				   "the modes \"merge\" and \"sync\"");
	refuse_in_mode(gate, !dq_mode_updates(gate) && gate->compare_columns != NIL, "compare_columns",
				   "the modes \"merge\" and \"sync\"");
	refuse_in_mode(gate, !dq_mode_updates(gate) && gate->only_if_newer, "only_if_newer",
				   "the modes \"merge\" and \"sync\"");
	refuse_together(gate, gate->update_columns != NIL && gate->exclude_columns != NIL,
					"update_columns", "exclude_columns");
	refuse_together(gate, gate->replace_by != NIL && gate->scope, "replace_by", "scope");
	if (replaces && gate->replace_by == NIL && gate->scope == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gate %s in mode \"replace\" does not say what is replaced", gate->name),
				 errhint("Name the columns whose values in the batch name the slices, such as replace_by => '{day}', or the slice itself by a scope.")));
	if ((gate->rescue_column != NULL) != (gate->on_new_column == DQ_NEW_RESCUE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"rescue_column\" of gate %s goes with on_new_column => 'rescue'", gate->name),
				 errhint("Name the column of type jsonb that keeps what the target has no column for, or neither.")));
}

/* A column that a setting names */
static Column *
named_column(const ColumnMap *map, const char *setting, const char *name)
{
	Column	   *column = dq_find_column(map, name);

	if (column == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column %s in \"%s\" of gate %s does not exist",
						quote_identifier(name), setting, map->gate->name)));
	return column;
}

/* Columns that a setting names, none twice, none of them of the key */
static void
check_columns(const ColumnMap *map, const char *setting, List *names, bool may_be_key)
{
	ListCell   *lc;
	List	   *seen = NIL;

	foreach(lc, names)
	{
		Column	   *column = named_column(map, setting, lfirst(lc));

		if (list_member_ptr(seen, column))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column %s is named twice in \"%s\" of gate %s",
							quote_identifier(column->name), setting, map->gate->name)));
		seen = lappend(seen, column);
		if (!may_be_key && (column->is_key || column->generated != '\0' ||
							column->identity == ATTRIBUTE_IDENTITY_ALWAYS))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column %s in \"%s\" of gate %s is never updated",
							quote_identifier(column->name), setting, map->gate->name),
					 column->is_key ? errdetail("It belongs to the key, by which rows are matched.") :
					 column->generated != '\0' ? errdetail("The target computes it.") :
					 errdetail("It is an identity column, GENERATED ALWAYS.")));
	}
}

/* A column that has to be staged for a setting to mean anything */
static void
require_staged(const ColumnMap *map, const char *setting, const char *name)
{
	ListCell   *lc;

	if (!OidIsValid(map->staging))
		return;
	foreach(lc, map->staged)
	{
		if (strcmp(((StagedColumn *) lfirst(lc))->name, name) == 0)
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column %s in \"%s\" of gate %s is missing in staging table %s",
					quote_identifier(name), setting, map->gate->name, map->staging_sql),
			 errhint("Stage the column, or take the setting back with dq_gate.alter_gate.")));
}

static void
require_order(const ColumnMap *map, const char *setting, const char *name, Oid typid)
{
	TypeCacheEntry *type = lookup_type_cache(typid, TYPECACHE_LT_OPR);

	if (!OidIsValid(type->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column %s in \"%s\" of gate %s has type %s, which has no order",
						quote_identifier(name), setting, map->gate->name, format_type_be(typid))));
}

static void
check_newer(const ColumnMap *map)
{
	const char *name = map->gate->only_if_newer;
	Column	   *column;

	if (name == NULL)
		return;
	column = named_column(map, "only_if_newer", name);
	check_columns(map, "only_if_newer", list_make1(unconstify(char *, name)), false);
	if (dq_has_name(map->gate->exclude_columns, name) ||
		(map->gate->update_columns != NIL && !dq_has_name(map->gate->update_columns, name)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column %s in \"only_if_newer\" of gate %s is not updated",
						quote_identifier(name), map->gate->name),
				 errdetail("Nobody would know later how new the row is."),
				 errhint("Let it be updated with the others.")));
	require_order(map, "only_if_newer", name, column->typid);
	require_staged(map, "only_if_newer", name);
}

/* The column by which the last row of a key is known need not be published */
static void
check_latest(const ColumnMap *map)
{
	const char *name = map->gate->keep_latest_by;
	Column	   *column;
	ListCell   *lc;

	if (name == NULL)
		return;
	column = dq_find_column(map, name);
	if (column != NULL)
		require_order(map, "keep_latest_by", name, column->typid);
	if (!OidIsValid(map->staging))
		return;
	require_staged(map, "keep_latest_by", name);
	foreach(lc, map->staged)
	{
		StagedColumn *staged = lfirst(lc);

		if (strcmp(staged->name, name) == 0)
			require_order(map, "keep_latest_by", name, staged->typid);
	}
}

static void
check_slices(const ColumnMap *map)
{
	ListCell   *lc;

	check_columns(map, "replace_by", map->gate->replace_by, true);
	foreach(lc, map->gate->replace_by)
	{
		Column	   *column = named_column(map, "replace_by", lfirst(lc));

		if (column->generated != '\0')
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column %s in \"replace_by\" of gate %s is a generated column",
							quote_identifier(column->name), map->gate->name),
					 errhint("Name columns that are staged.")));
		if (!OidIsValid(dq_equality_operator(column->typid)))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("column %s in \"replace_by\" of gate %s has type %s, which has no equality operator",
							quote_identifier(column->name), map->gate->name,
							format_type_be(column->typid))));
		require_staged(map, "replace_by", column->name);
	}
}

static void
check_rescue(const ColumnMap *map)
{
	const char *name = map->gate->rescue_column;
	Column	   *column;

	if (name == NULL)
		return;
	column = named_column(map, "rescue_column", name);
	check_columns(map, "rescue_column", list_make1(unconstify(char *, name)), false);
	if (getBaseType(column->typid) != JSONBOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column %s in \"rescue_column\" of gate %s must be of type jsonb",
						quote_identifier(name), map->gate->name),
				 errdetail("It is of type %s.", format_type_be(column->typid))));
}

/* Tables whose columns are those of something else get none of their own */
static void
check_evolve(const ColumnMap *map)
{
	HeapTuple	tuple;
	const char *kind = NULL;

	if (map->gate->on_new_column != DQ_NEW_EVOLVE)
		return;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(map->target));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", map->target);
	if (((Form_pg_class) GETSTRUCT(tuple))->relispartition)
		kind = "a partition";
	else if (OidIsValid(((Form_pg_class) GETSTRUCT(tuple))->reloftype))
		kind = "a table of a type";
	ReleaseSysCache(tuple);
	if (kind)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"on_new_column\" of gate %s cannot be \"evolve\"", map->gate->name),
				 errdetail("Its target is %s, to which no column can be added.", kind),
				 errhint("Let the gate ignore or rescue new columns.")));
}

/*
 * What is said about the scope of a staged row has to be true of the row that
 * comes of it.
 */
static void
check_scope(const ColumnMap *map)
{
	RuleColumns needs;
	ListCell   *lc;

	if (map->gate->scope == NULL)
		return;
	dq_rule_columns(dq_parse_rule(map->gate->scope_of_batch, map->target, "scope"),
					map->target, &needs);
	foreach(lc, needs.names)
	{
		const char *name = lfirst(lc);

		if (named_column(map, "scope", name)->generated != '\0')
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column %s in \"scope\" of gate %s is a generated column",
							quote_identifier(name), map->gate->name),
					 errhint("Name columns that are staged.")));
		require_staged(map, "scope", name);
	}
}

/*
 * Rows that are deleted and inserted again take the rows with them that refer
 * to them by ON DELETE CASCADE, and those do not come back.
 */
static void
refuse_cascades(const ColumnMap *map)
{
	Oid			constraint;

	if (map->gate->mode != DQ_REPLACE)
		return;
	constraint = dq_cascading_constraint(map->target);
	if (OidIsValid(constraint))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("gate %s cannot be in mode \"replace\"", map->gate->name),
				 errdetail("Foreign key %s refers to its target and would delete or change rows when a slice is deleted, which do not come back with the slice.",
						   quote_identifier(get_constraint_name(constraint))),
				 errhint("Use mode \"sync\", or a foreign key with ON DELETE NO ACTION.")));
}

/* What MERGE refuses, known before any work is done */
static void
refuse_foreign_parts(const ColumnMap *map)
{
	Oid			part = dq_foreign_part(map->target);

	if (OidIsValid(part))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("target %s cannot be published into", map->target_sql),
				 errdetail("%s is a foreign table, into which a batch cannot be merged, and which another server can change while it is audited.",
						   dq_relation_sql(part)),
				 errhint("Publish on the server that has the table, or detach the foreign part.")));
}

/*
 * MERGE refuses rules; INSERT and DELETE do something else then, of which
 * nobody knows.
 */
static void
refuse_rules(const ColumnMap *map)
{
	Relation	rel = relation_open(map->target, NoLock);
	bool		ruled = rel->rd_rules != NULL && rel->rd_rules->numLocks > 0;

	relation_close(rel, NoLock);
	if (ruled)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("target %s cannot be published into", map->target_sql),
				 errdetail("It has rules, by which what is published could become something else."),
				 errhint("Drop the rules, or make triggers of them.")));
}

/* Something has to be staged that the target takes; a key would have been missed before */
static void
require_columns(const ColumnMap *map)
{
	ListCell   *lc;

	foreach(lc, map->columns)
	{
		if (((Column *) lfirst(lc))->staged)
			return;
	}
	if (OidIsValid(map->staging))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("staging table %s has no column that gate %s could publish",
						map->staging_sql, map->gate->name),
				 errhint("Columns are matched by name: name them as the target does.")));
}

/*
 * Refuse settings that contradict each other, or that the target, or staging
 * if there is one, cannot bear.
 */
void
dq_check_policy(const ColumnMap *map)
{
	const Gate *gate = map->gate;
	DqErrorContext context;
	ListCell   *lc;

	dq_push_context(&context, "settings of gate %s", gate->name);
	check_settings(gate);
	check_columns(map, "update_columns", gate->update_columns, false);
	check_columns(map, "exclude_columns", gate->exclude_columns, true);
	check_columns(map, "compare_columns", gate->compare_columns, false);
	foreach(lc, gate->compare_columns)
		require_staged(map, "compare_columns", lfirst(lc));
	check_slices(map);
	check_newer(map);
	check_latest(map);
	check_rescue(map);
	check_scope(map);
	check_evolve(map);
	refuse_cascades(map);
	refuse_foreign_parts(map);
	refuse_rules(map);
	require_columns(map);
	dq_pop_context(&context);
}
