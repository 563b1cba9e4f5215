/*
 * quarantine.c
 *		Keep rejected rows, with the reasons.
 *
 * Each target has one quarantine table, made when it is first needed and
 * found again by a stored mapping, not by its name.  It belongs to the role
 * of the gate (to the owner of the target where no gate is registered) and
 * follows staging: a new column is added, and a column whose type has changed
 * takes a type that holds both the old values and the new ones.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "columns.h"
#include "compat.h"
#include "current_batch.h"
#include "gate.h"
#include "outcome.h"
#include "quarantine.h"
#include "spi_util.h"

static const char *const own_columns[] = {
	"run_id", "batch_id", "quarantined_at", "failed_checks", "requeued_at", "requeued_by"
};

/* What a staged column is called whose name is one of these */
#define STAGED_PREFIX	"staged_"

static bool
is_own_column(const char *name)
{
	for (int i = 0; i < (int) lengthof(own_columns); i++)
	{
		if (strcmp(name, own_columns[i]) == 0)
			return true;
	}
	return false;
}

/*
 * A staged column keeps its name unless that is one of our own, or one made
 * of them here.  It follows from the name alone: what a column in quarantine
 * holds must not change with the columns that staging gets later.
 */
static char *
quarantine_name(const StagedColumn *staged)
{
	const char *name = staged->name;

	while (strncmp(name, STAGED_PREFIX, strlen(STAGED_PREFIX)) == 0)
		name += strlen(STAGED_PREFIX);
	return is_own_column(name) ? psprintf(STAGED_PREFIX "%s", staged->name) : staged->name;
}

/* Quarantine takes any value: no domain, no limit of length or precision */
static Oid
quarantine_type(const StagedColumn *staged)
{
	return getBaseType(staged->typid);
}

static List *
quarantine_columns(const ColumnMap *map)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, map->staged)
	{
		QuarantineColumn *column = palloc0(sizeof(QuarantineColumn));

		column->staged = lfirst(lc);
		column->name = quarantine_name(column->staged);
		column->typid = quarantine_type(column->staged);
		columns = lappend(columns, column);
	}
	return columns;
}

/* The role that owns a table, and that its triggers run as here */
Oid
dq_relation_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* The mapped quarantine table of a target, InvalidOid if there is none */
static Oid
find_quarantine(Oid target)
{
	Oid			types[1] = {REGCLASSOID};
	Datum		values[1] = {ObjectIdGetDatum(target)};
	Oid			relid = InvalidOid;
	bool		isnull;

	if (dq_execute("SELECT q.quarantine::pg_catalog.oid FROM dq_gate.quarantines q"
				   " JOIN pg_catalog.pg_class c ON c.oid = q.quarantine"
				   " WHERE q.target = $1", 1, types, values, NULL, false) > 0)
		relid = DatumGetObjectId(dq_result_datum(0, 1, &isnull));
	dq_free_result();
	return relid;
}

/* Its owner may have altered it beyond use; then it is left as it is */
static bool
has_own_columns(Oid relid)
{
	for (int i = 0; i < (int) lengthof(own_columns); i++)
	{
		if (get_attnum(relid, own_columns[i]) == InvalidAttrNumber)
			return false;
	}
	return true;
}

static char *
grantee_sql(Oid role)
{
	return OidIsValid(role) ? unconstify(char *, quote_identifier(GetUserNameFromId(role, false))) : "PUBLIC";
}

/*
 * Take something new from everybody but its owner: whatever default privileges
 * say of its like, rejected rows are not what they were meant for.
 */
static void
close_to_others(const char *object, const char *privileges)
{
	List	   *grantees = NIL;
	ListCell   *lc;
	uint64		count;

	count = dq_execute(psprintf("SELECT DISTINCT a.grantee FROM %s AS o (owner, acl), pg_catalog.aclexplode(o.acl) AS a"
								" WHERE a.grantee <> o.owner", privileges), 0, NULL, NULL, NULL, false);
	for (uint64 i = 0; i < count; i++)
	{
		bool		isnull;

		grantees = lappend_oid(grantees, DatumGetObjectId(dq_result_datum(i, 1, &isnull)));
	}
	dq_free_result();
	foreach(lc, grantees)
		dq_execute(psprintf("REVOKE ALL ON %s FROM %s CASCADE", object, grantee_sql(lfirst_oid(lc))),
				   0, NULL, NULL, NULL, false);
}

static void
close_table(Oid relid)
{
	close_to_others(dq_relation_sql(relid),
					psprintf("(SELECT c.relowner, c.relacl FROM pg_catalog.pg_class c WHERE c.oid = %u)", relid));
}

/*
 * The schema of all quarantine tables, made when it is first needed.  It is
 * no member of the extension, so that the evidence outlives it; one that
 * somebody else owns, who could drop what is in it, is not used.
 */
static Oid
quarantine_schema(void)
{
	Oid			namespace = get_namespace_oid(DQ_QUARANTINE_SCHEMA, true);
	Oid			owner;

	if (!OidIsValid(namespace))
	{
		LockDatabaseObject(dq_table("quarantines"), 0, 0, ExclusiveLock);
		namespace = get_namespace_oid(DQ_QUARANTINE_SCHEMA, true);
	}
	if (!OidIsValid(namespace))
	{
		dq_execute("CREATE SCHEMA " DQ_QUARANTINE_SCHEMA, 0, NULL, NULL, NULL, false);
		dq_execute("COMMENT ON SCHEMA " DQ_QUARANTINE_SCHEMA " IS"
				   " 'rejected rows, one table a guarded target, made by dq_gate; they stay when it is dropped'",
				   0, NULL, NULL, NULL, false);
		close_to_others("SCHEMA " DQ_QUARANTINE_SCHEMA,
						"(SELECT n.nspowner, n.nspacl FROM pg_catalog.pg_namespace n WHERE n.nspname = '" DQ_QUARANTINE_SCHEMA "')");
		dq_execute("GRANT USAGE ON SCHEMA " DQ_QUARANTINE_SCHEMA " TO PUBLIC", 0, NULL, NULL, NULL, false);
		return get_namespace_oid(DQ_QUARANTINE_SCHEMA, false);
	}

	owner = dq_schema_owner(namespace);
	if (owner != dq_extension_owner() && !superuser_arg(owner))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("schema " DQ_QUARANTINE_SCHEMA " belongs to role %s, and cannot hold rejected rows",
						quote_identifier(GetUserNameFromId(owner, false))),
				 errdetail("Its owner could drop them."),
				 errhint("Look at what is in it, then ALTER SCHEMA " DQ_QUARANTINE_SCHEMA " OWNER TO %s, or rename it.",
						 quote_identifier(GetUserNameFromId(dq_extension_owner(), false)))));
	return namespace;
}

/*
 * A name nobody has yet: that of the target, or one made from it.  Targets of
 * one name in two schemas must not choose at the same time.
 */
static char *
choose_name(Oid target, Oid namespace)
{
	char	   *relname = get_rel_name(target);

	LockDatabaseObject(dq_table("quarantines"),
					   hash_bytes((unsigned char *) relname, strlen(relname)), 0,
					   ExclusiveLock);

	if (!OidIsValid(get_relname_relid(relname, namespace)))
		return relname;
	return ChooseRelationName(get_namespace_name(get_rel_namespace(target)), relname,
							  "rejected", namespace, false);
}

static Oid
create_quarantine(const Run *run, List *columns)
{
	Oid			target = run->map->target;
	Oid			namespace = quarantine_schema();
	Oid			owner = run->gate->registered ? run->gate->run_as : dq_relation_owner(target);
	Oid			types[2] = {REGCLASSOID, REGCLASSOID};
	Datum		values[2];
	StringInfoData sql;
	char	   *relname;
	char	   *name;
	ListCell   *lc;

	relname = choose_name(target, namespace);
	name = quote_qualified_identifier(DQ_QUARANTINE_SCHEMA, relname);
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE TABLE %s (run_id pg_catalog.int8 NOT NULL,"
					 " batch_id pg_catalog.text NOT NULL,"
					 " quarantined_at pg_catalog.timestamptz NOT NULL,"
					 " failed_checks pg_catalog.text[] NOT NULL,"
					 " requeued_at pg_catalog.timestamptz,"
					 " requeued_by pg_catalog.name", name);
	foreach(lc, columns)
	{
		QuarantineColumn *column = lfirst(lc);

		appendStringInfo(&sql, ", %s %s", quote_identifier(column->name),
						 dq_type_sql(column->typid, -1));
	}
	appendStringInfoChar(&sql, ')');
	dq_execute(sql.data, 0, NULL, NULL, NULL, false);

	dq_execute(psprintf("CREATE INDEX ON %s (run_id)", name), 0, NULL, NULL, NULL, false);
	dq_execute(psprintf("COMMENT ON TABLE %s IS %s", name,
						dq_literal(psprintf("rows that did not get into %s", run->map->target_sql))),
			   0, NULL, NULL, NULL, false);
	close_table(get_relname_relid(relname, namespace));
	dq_execute(psprintf("ALTER TABLE %s OWNER TO %s", name,
						quote_identifier(GetUserNameFromId(owner, false))),
			   0, NULL, NULL, NULL, false);

	values[0] = ObjectIdGetDatum(target);
	values[1] = ObjectIdGetDatum(get_relname_relid(relname, namespace));
	dq_execute("INSERT INTO dq_gate.quarantines (target, quarantine) VALUES ($1, $2)"
			   " ON CONFLICT (target) DO UPDATE SET quarantine = EXCLUDED.quarantine",
			   2, types, values, NULL, false);
	return DatumGetObjectId(values[1]);
}

/* Place of a type among those that each hold all values of the one before */
static int
rank_in(Oid typid, const Oid *order, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (order[i] == typid)
			return i;
	}
	return -1;
}

/*
 * A type for the column that loses neither old values nor new ones.  Not
 * whatever casts implicitly: bigint to float8 does, and drops digits.
 */
static Oid
common_type(Oid old, Oid new)
{
	static const Oid integers[] = {INT2OID, INT4OID, INT8OID, NUMERICOID};
	static const Oid floats[] = {FLOAT4OID, FLOAT8OID};
	int			a;
	int			b;

	if (old == new)
		return old;
	a = rank_in(old, integers, lengthof(integers));
	b = rank_in(new, integers, lengthof(integers));
	if (a >= 0 && b >= 0)
		return integers[Max(a, b)];
	a = rank_in(old, floats, lengthof(floats));
	b = rank_in(new, floats, lengthof(floats));
	if (a >= 0 && b >= 0)
		return floats[Max(a, b)];
	return TEXTOID;
}

/* Make the quarantine table have a place for every staged column */
static void
follow_staging(Oid relid, List *columns)
{
	char	   *name = dq_relation_sql(relid);
	ListCell   *lc;

	foreach(lc, columns)
	{
		QuarantineColumn *column = lfirst(lc);
		AttrNumber	attnum = get_attnum(relid, column->name);
		Oid			old;
		Identity	saved;

		if (attnum == InvalidAttrNumber)
		{
			dq_execute(psprintf("ALTER TABLE %s ADD COLUMN %s %s", name,
								quote_identifier(column->name), dq_type_sql(column->typid, -1)),
					   0, NULL, NULL, NULL, false);
			continue;
		}
		old = get_atttype(relid, attnum);
		column->typid = common_type(old, quarantine_type(column->staged));
		if (column->typid == old)
			continue;
		/* a cast may run anybody's function: as the owner of the rows then */
		dq_assume(&saved, dq_relation_owner(relid), PHASE_EVIDENCE);
		dq_execute(psprintf("ALTER TABLE %1$s ALTER COLUMN %2$s TYPE %3$s USING %2$s::%3$s",
							name, quote_identifier(column->name),
							dq_type_sql(column->typid, -1)),
				   0, NULL, NULL, NULL, false);
		dq_resume(&saved);
	}
}

/* The gate's role writes the rows and reads them back; see publish.c */
static void
grant_to_role(Oid relid, Oid role)
{
	Oid			namespace = get_rel_namespace(relid);

	if (namespace == get_namespace_oid(DQ_QUARANTINE_SCHEMA, true) && !dq_schema_usage(namespace, role))
		dq_execute(psprintf("GRANT USAGE ON SCHEMA " DQ_QUARANTINE_SCHEMA " TO %s",
							quote_identifier(GetUserNameFromId(role, false))),
				   0, NULL, NULL, NULL, false);
	if (pg_class_aclcheck(relid, role, ACL_SELECT) != ACLCHECK_OK ||
		pg_class_aclcheck(relid, role, ACL_INSERT) != ACLCHECK_OK)
		dq_execute(psprintf("GRANT SELECT, INSERT ON %s TO %s", dq_relation_sql(relid),
							quote_identifier(GetUserNameFromId(role, false))),
				   0, NULL, NULL, NULL, false);
}

/*
 * The quarantine table for the batch of a run, made or brought up to date.
 */
Quarantine *
dq_open_quarantine(const Run *run)
{
	Quarantine *quarantine = palloc0(sizeof(Quarantine));
	List	   *columns = quarantine_columns(run->map);
	Identity	saved;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	quarantine->relid = find_quarantine(run->map->target);
	if (OidIsValid(quarantine->relid) && has_own_columns(quarantine->relid))
		follow_staging(quarantine->relid, columns);
	else
		quarantine->relid = create_quarantine(run, columns);
	grant_to_role(quarantine->relid, run->gate->run_as);
	dq_resume(&saved);

	quarantine->columns = columns;
	quarantine->sql = dq_relation_sql(quarantine->relid);
	return quarantine;
}

/* A staged value as the column in quarantine has it */
static char *
kept_value(const QuarantineColumn *column)
{
	char	   *staged = psprintf("staged.%s", quote_identifier(column->staged->name));

	if (column->typid == column->staged->typid)
		return staged;
	return psprintf("%s::%s", staged, dq_type_sql(column->typid, -1));
}

/* The names of the checks that a row fails, as text[] */
static char *
reasons_sql(List *results)
{
	StringInfoData sql;
	ListCell   *lc;

	if (results == NIL)
		return "'{}'::pg_catalog.text[]";
	initStringInfo(&sql);
	appendStringInfoString(&sql, "pg_catalog.array_remove(ARRAY[");
	foreach(lc, results)
	{
		Check	   *check = ((CheckResult *) lfirst(lc))->check;

		appendStringInfo(&sql, "%sCASE WHEN %s THEN %s::pg_catalog.text END",
						 lc == list_head(results) ? "" : ", ",
						 check->fail_sql, dq_literal(check->name));
	}
	appendStringInfoString(&sql, "], NULL)");
	return sql.data;
}

/*
 * Copy staged rows, those that a condition picks, with their reasons, and the
 * number of the run times a sign.
 */
static int64
copy_rows(Run *run, const Quarantine *quarantine, const char *source, List *results,
		  const char *sign, const char *condition, Snapshot snapshot)
{
	Oid			types[3] = {INT8OID, TEXTOID, TIMESTAMPTZOID};
	Datum		values[3] = {Int64GetDatum(run->run_id),
		CStringGetTextDatum(run->batch_id),
	TimestampTzGetDatum(GetCurrentTimestamp())};
	StringInfoData sql;
	StringInfoData kept;
	StringInfoData names;
	StringInfoData places;
	ListCell   *lc;
	Identity	saved;
	int64		rows;

	initStringInfo(&sql);
	initStringInfo(&kept);
	initStringInfo(&names);
	initStringInfo(&places);
	appendStringInfo(&sql, "INSERT INTO %s (run_id, batch_id, quarantined_at, failed_checks",
					 quarantine->sql);
	foreach(lc, quarantine->columns)
	{
		QuarantineColumn *column = lfirst(lc);

		appendStringInfo(&sql, ", %s", quote_identifier(column->name));
		appendStringInfo(&kept, ", %s", kept_value(column));
		appendStringInfo(&names, ", value_%d", foreach_current_index(lc));
		appendStringInfo(&places, ", found.value_%d", foreach_current_index(lc));
	}
	/* a subquery, so that the condition may hold a window */
	appendStringInfo(&sql, ") SELECT $1 * found.sign, $2, $3, found.failed%s FROM (SELECT %s, %s, (%s)%s FROM %s)"
					 " AS found (failed, sign, moved%s) WHERE found.moved",
					 places.data, reasons_sql(results), sign, condition, kept.data,
					 source, names.data);

	dq_assume(&saved, run->gate->run_as, PHASE_EVIDENCE);
	dq_pin_batch(run);
	rows = dq_execute_at(sql.data, 3, types, values, NULL, snapshot);
	dq_resume(&saved);
	run->quarantine = quarantine->sql;
	return rows;
}

/*
 * Move out of the batch the rows that fail a check whose action is to
 * quarantine or to drop them, with the names of all checks that they fail.
 * Returns their number.
 *
 * Rows to be dropped are in quarantine as well, under the negative number of
 * the run, until the publish has passed them by; see dq_forget_dropped.
 */
int64
dq_quarantine_failing(Run *run, const Quarantine *quarantine, Snapshot snapshot)
{
	char	   *kept = dq_moved_sql(run, DQ_QUARANTINE);
	char	   *dropped = dq_moved_sql(run, DQ_DROP);

	if (kept == NULL)
		kept = "false";
	return copy_rows(run, quarantine, dq_source_sql(run->map, "batch"), dq_row_results(run),
					 psprintf("CASE WHEN %s THEN 1 ELSE -1 END", kept),
					 dropped ? psprintf("%s OR %s", kept, dropped) : kept, snapshot);
}

/* Do something with the rows that were to be dropped; returns their number */
static int64
with_dropped(const Run *run, const Quarantine *quarantine, const char *statement)
{
	Oid			types[1] = {INT8OID};
	Datum		values[1] = {Int64GetDatum(-run->run_id)};
	Identity	saved;
	int64		rows;

	dq_assume(&saved, dq_relation_owner(quarantine->relid), PHASE_EVIDENCE);
	rows = dq_execute(psprintf("%s WHERE run_id = $1", statement), 1, types, values, NULL, false);
	dq_resume(&saved);
	return rows;
}

/*
 * Delete the rows that were to be dropped.  Returns their number.
 */
int64
dq_forget_dropped(const Run *run, const Quarantine *quarantine)
{
	return with_dropped(run, quarantine, psprintf("DELETE FROM %s", quarantine->sql));
}

/*
 * Keep them after all, since the batch they belong to is rejected.
 */
void
dq_keep_dropped(const Run *run, const Quarantine *quarantine)
{
	(void) with_dropped(run, quarantine,
						psprintf("UPDATE %s SET run_id = -run_id", quarantine->sql));
}

/*
 * Keep the whole batch as evidence.  Returns the number of rows.
 */
int64
dq_quarantine_batch(Run *run, const Quarantine *quarantine, Snapshot snapshot)
{
	return copy_rows(run, quarantine, dq_whole_batch_sql(run->map, "batch"), dq_row_results(run),
					 "1", "true", snapshot);
}

/*
 * Keep the rows of which there was a later one as well, since their batch is
 * rejected.  Returns their number.
 */
int64
dq_quarantine_superseded(Run *run, const Quarantine *quarantine, Snapshot snapshot)
{
	const ColumnMap *map = run->map;

	if (map->staged_from == map->staging_sql)
		return 0;
	return copy_rows(run, quarantine, dq_whole_batch_sql(map, "batch"), NIL, "1",
					 psprintf("NOT EXISTS (SELECT 1 FROM %s AS latest"
							  " WHERE latest.tableoid = staged.tableoid AND latest.ctid = staged.ctid)",
							  map->staged_from), snapshot);
}

/* The row as it is staged, to be compared with others where there is no key */
static char *
row_text(const Quarantine *quarantine)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "ROW(");
	foreach(lc, quarantine->columns)
		appendStringInfo(&sql, "%sstaged.%s", lc == list_head(quarantine->columns) ? "" : ", ",
						 quote_identifier(((QuarantineColumn *) lfirst(lc))->staged->name));
	appendStringInfoString(&sql, ")::pg_catalog.text");
	return sql.data;
}

/*
 * A subquery that finds the staged row "staged" in the quarantine of this
 * run.  By key, which is unique in the batch and never NULL: the publish must
 * not evaluate the rules again, neither with another answer nor with the
 * rights that it has.  Compared are values of the target's type, since that
 * is where the key is unique.  Without a key the whole row is compared: what
 * a check says of a row it says of every other one like it.
 */
char *
dq_in_quarantine_sql(const Run *run, const Quarantine *quarantine)
{
	StringInfoData staged;
	StringInfoData values;
	StringInfoData match;
	ListCell   *lc;

	initStringInfo(&staged);
	initStringInfo(&values);
	initStringInfo(&match);
	foreach(lc, quarantine->columns)
	{
		QuarantineColumn *column = lfirst(lc);
		Column	   *target = dq_find_column(run->map, column->staged->name);
		const char *name = quote_identifier(column->name);
		int			no = foreach_current_index(lc);

		if (run->map->key != NIL && (target == NULL || !target->is_key))
			continue;
		appendStringInfo(&staged, "%sCAST(q.%s AS %s) AS %s", staged.len > 0 ? ", " : "", name,
						 dq_type_sql(column->staged->typid, column->staged->typmod),
						 quote_identifier(column->staged->name));
		if (run->map->key == NIL)
			continue;
		appendStringInfo(&values, "%s%s AS key_%d", values.len > 0 ? ", " : "",
						 target->value_sql, no);
		appendStringInfo(&match, "%skept.key_%d %s %s", match.len > 0 ? " AND " : "", no,
						 dq_operator_sql(dq_equality_operator(target->typid)), target->value_sql);
	}
	if (run->map->key == NIL)
	{
		appendStringInfo(&values, "%s AS row", row_text(quarantine));
		appendStringInfo(&match, "kept.row = %s", row_text(quarantine));
	}
	return psprintf("SELECT 1 FROM (SELECT %s FROM (SELECT %s FROM %s AS q"
					" WHERE q.run_id IN (" INT64_FORMAT ", " INT64_FORMAT ")) AS staged) AS kept WHERE %s",
					values.data, staged.data, quarantine->sql, run->run_id, -run->run_id, match.data);
}

/*
 * The quarantine of a target, if there is one, goes from one role of the gate
 * to another; or, where there was no gate before, from everybody as which runs
 * were made, see grant_to_role.
 */
void
dq_pass_quarantine_on(Oid target, Oid old_role, Oid role)
{
	Identity	saved;
	Oid			relid;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	relid = find_quarantine(target);
	if (OidIsValid(relid) && dq_relation_owner(relid) != role)
		dq_execute(psprintf("ALTER TABLE %s OWNER TO %s", dq_relation_sql(relid),
							quote_identifier(GetUserNameFromId(role, false))),
				   0, NULL, NULL, NULL, false);
	if (OidIsValid(relid) && !OidIsValid(old_role))
		close_table(relid);
	else if (OidIsValid(relid) && old_role != role && SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(old_role)))
		dq_execute(psprintf("REVOKE ALL ON %s FROM %s CASCADE", dq_relation_sql(relid),
							grantee_sql(old_role)), 0, NULL, NULL, NULL, false);
	dq_resume(&saved);
}

/*
 * The quarantine that a target has, InvalidOid if there is none, or none that
 * can be used.
 */
Oid
dq_quarantine_of(Oid target)
{
	Identity	saved;
	Oid			relid;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	relid = find_quarantine(target);
	dq_resume(&saved);
	return OidIsValid(relid) && has_own_columns(relid) ? relid : InvalidOid;
}

/*
 * A quarantine as it is, and where the columns of staging are in it: those
 * that it does not have are of no type.
 */
Quarantine *
dq_read_quarantine(Oid relid, const ColumnMap *map)
{
	Quarantine *quarantine = palloc0(sizeof(Quarantine));
	ListCell   *lc;

	quarantine->relid = relid;
	quarantine->sql = dq_relation_sql(relid);
	quarantine->columns = quarantine_columns(map);
	foreach(lc, quarantine->columns)
	{
		QuarantineColumn *column = lfirst(lc);
		AttrNumber	attnum = get_attnum(relid, column->name);

		column->typid = attnum == InvalidAttrNumber ? InvalidOid : get_atttype(relid, attnum);
	}
	return quarantine;
}

/*
 * Names of the columns in quarantine that are neither ours nor those of
 * staging.
 */
List *
dq_stray_columns(const Quarantine *quarantine)
{
	Relation	rel = relation_open(quarantine->relid, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *names = NIL;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		bool		known = att->attisdropped || is_own_column(NameStr(att->attname));
		ListCell   *lc;

		foreach(lc, quarantine->columns)
			known = known || strcmp(((QuarantineColumn *) lfirst(lc))->name, NameStr(att->attname)) == 0;
		if (!known)
			names = lappend(names, pstrdup(NameStr(att->attname)));
	}
	relation_close(rel, NoLock);
	return names;
}

/*
 * Mark the rows of a run as put back into staging.  Returns their number.
 */
int64
dq_mark_requeued(const Quarantine *quarantine, int64 run_id, Oid caller)
{
	Oid			types[3] = {INT8OID, TIMESTAMPTZOID, TEXTOID};
	Datum		values[3] = {Int64GetDatum(run_id),
		TimestampTzGetDatum(GetCurrentTimestamp()),
	CStringGetTextDatum(GetUserNameFromId(caller, false))};
	Identity	saved;
	int64		rows;

	dq_assume(&saved, dq_relation_owner(quarantine->relid), PHASE_EVIDENCE);
	rows = dq_execute(psprintf("UPDATE %s AS q SET requeued_at = $2, requeued_by = $3"
							   " WHERE " DQ_NOT_REQUEUED, quarantine->sql),
					  3, types, values, NULL, false);
	dq_resume(&saved);
	return rows;
}
