/*
 * retention.c
 *		What dq_gate keeps of a gate that is old enough to go.
 *
 * Old enough is not all: a run that nobody has acknowledged stays, and so does
 * one whose rows are still in quarantine, one that later batches are compared
 * with, the last one and the last one that was published.  Of a run that has
 * published a batch which its caller named stays the run itself, without its
 * results: a batch_id is published once, however long ago that was.
 *
 * Nothing is changed here.  The log is read as the extension's owner, a
 * quarantine table as its own, since that may be a table of any making.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "history.h"
#include "quarantine.h"
#include "retention.h"
#include "spi_util.h"

/* Of a run r: somebody ought to look at it, and nobody has */
#define UNREAD \
	"(r.attention AND NOT EXISTS (SELECT FROM dq_gate.acknowledgements AS a WHERE a.run_id = r.run_id))"

/* The runs r of target $1 */
#define RUNS_OF(target) \
	(OidIsValid(target) ? "r.target = $1" : "r.target IS NULL")

Datum
dq_int8_array(const int64 *numbers, int count)
{
	Datum	   *elements = palloc(sizeof(Datum) * Max(1, count));

	for (int i = 0; i < count; i++)
		elements[i] = Int64GetDatum(numbers[i]);
	return PointerGetDatum(construct_array(elements, count, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* That long ago.  To be called as the extension's owner. */
static bool
long_ago(const char *interval, TimestampTz now, TimestampTz *before)
{
	Oid			types[2] = {TIMESTAMPTZOID, TEXTOID};
	Datum		values[2];
	bool		isnull;

	if (interval == NULL)
		return false;
	values[0] = TimestampTzGetDatum(now);
	values[1] = CStringGetTextDatum(interval);
	dq_execute("SELECT $1 - $2::pg_catalog.interval", 2, types, values, NULL, false);
	*before = DatumGetTimestampTz(dq_result_datum(0, 1, &isnull));
	dq_free_result();
	return true;
}

/* The last run of the target, and the last that was published */
static void
last_runs(Oid target, int64 *last, int64 *published)
{
	Oid			types[1] = {REGCLASSOID};
	Datum		values[1] = {ObjectIdGetDatum(target)};

	dq_execute("SELECT (SELECT r.run_id FROM dq_gate.runs AS r WHERE r.target = $1 ORDER BY r.run_id DESC LIMIT 1),"
			   " (SELECT r.run_id FROM dq_gate.runs AS r WHERE r.target = $1 AND r.published ORDER BY r.run_id DESC LIMIT 1)",
			   1, types, values, NULL, false);
	*last = dq_result_int64(0, 1, 0);
	*published = dq_result_int64(0, 2, 0);
	dq_free_result();
}

/*
 * How long the gate keeps what, in terms of now; without a gate, how long the
 * log keeps what is left of targets that were dropped.  The intervals are for
 * where the gate does not say.
 */
void
dq_open_retention(Retention *retention, const Gate *gate, const char *rows_interval,
				  const char *log_interval, TimestampTz now)
{
	Identity	saved;
	int64		last[2];

	retention->target = gate ? gate->target : InvalidOid;
	retention->name = gate ? psprintf("gate %s", gate->name) : "dropped targets";
	if (gate && gate->quarantine_retention)
		rows_interval = gate->quarantine_retention;
	if (gate && gate->log_retention)
		log_interval = gate->log_retention;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	retention->ends_rows = gate && long_ago(rows_interval, now, &retention->rows_before);
	retention->ends_log = long_ago(log_interval, now, &retention->log_before);
	retention->needed = dq_int8_array(NULL, 0);
	if (retention->ends_log && gate)
	{
		Oid			types[2] = {INT8ARRAYOID, INT8ARRAYOID};
		Datum		values[2];
		bool		isnull;

		last_runs(gate->target, &last[0], &last[1]);
		values[0] = dq_needed_baselines(gate->target, retention->log_before);
		values[1] = dq_int8_array(last, lengthof(last));
		dq_execute("SELECT pg_catalog.array_cat($1, $2)", 2, types, values, NULL, false);
		retention->needed = PointerGetDatum(DatumGetArrayTypePCopy(dq_result_datum(0, 1, &isnull)));
		dq_free_result();
	}
	dq_resume(&saved);
}

/* The targets of all gates, or of everything that the log knows */
List *
dq_retention_targets(bool unregistered)
{
	List	   *targets = NIL;
	Identity	saved;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dq_execute(unregistered ?
			   /* one look at the index for each target */
			   "WITH RECURSIVE t (target) AS ("
			   "(SELECT r.target FROM dq_gate.runs AS r WHERE r.target IS NOT NULL ORDER BY r.target LIMIT 1) UNION ALL"
			   " SELECT (SELECT r.target FROM dq_gate.runs AS r WHERE r.target > t.target ORDER BY r.target LIMIT 1) FROM t"
			   " WHERE t.target IS NOT NULL)"
			   " SELECT t.target::pg_catalog.oid FROM t WHERE t.target IS NOT NULL"
			   " UNION SELECT g.target::pg_catalog.oid FROM dq_gate.gates AS g"
			   " UNION SELECT q.target::pg_catalog.oid FROM dq_gate.quarantines AS q ORDER BY 1" :
			   "SELECT g.target::pg_catalog.oid FROM dq_gate.gates AS g ORDER BY 1",
			   0, NULL, NULL, NULL, false);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		isnull;

		targets = lappend_oid(targets, DatumGetObjectId(dq_result_datum(i, 1, &isnull)));
	}
	dq_free_result();
	dq_resume(&saved);
	return targets;
}

/*
 * Whether a table can be a quarantine, and be had without waiting; it is
 * locked then.
 */
bool
dq_try_quarantine(Oid relid, LOCKMODE mode)
{
	char		relkind;

	if (!ConditionalLockRelationOid(relid, mode))
		return false;
	relkind = get_rel_relkind(relid);
	return relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE;
}

/*
 * Runs behind a given one that have rows in quarantine, in the order of their
 * numbers; answers how many of them were looked at, up to the limit, moves on
 * to the last one, and gives those whose rows may go if they are old enough,
 * and the number of those that nobody has acknowledged.
 */
int
dq_old_quarantined(const Retention *retention, Oid quarantine, int64 *after, int limit,
				   Datum *runs, int64 *unread)
{
	char	   *name = dq_relation_sql(quarantine);
	int64	   *found = palloc(sizeof(int64) * limit);
	int			count;
	Oid			types[3] = {INT8OID, TIMESTAMPTZOID, BOOLOID};
	Datum		values[3] = {Int64GetDatum(*after)};
	bool		isnull;
	Identity	saved;

	/* one look at the index for each run */
	dq_assume(&saved, dq_relation_owner(quarantine), PHASE_AUDIT);
	count = (int) dq_execute(psprintf("WITH RECURSIVE t (run_id) AS ("
									  "(SELECT q.run_id FROM %1$s AS q WHERE q.run_id > $1 ORDER BY q.run_id LIMIT 1) UNION ALL"
									  " SELECT (SELECT q.run_id FROM %1$s AS q WHERE q.run_id > t.run_id ORDER BY q.run_id LIMIT 1) FROM t"
									  " WHERE t.run_id IS NOT NULL)"
									  " SELECT t.run_id::pg_catalog.int8 FROM t WHERE t.run_id IS NOT NULL LIMIT %2$d", name, limit),
							 1, types, values, NULL, false);
	for (int i = 0; i < count; i++)
		*after = found[i] = dq_result_int64(i, 1, 0);
	dq_free_result();
	dq_resume(&saved);

	types[0] = INT8ARRAYOID;
	values[0] = dq_int8_array(found, count);
	values[1] = TimestampTzGetDatum(retention->rows_before);
	values[2] = BoolGetDatum(retention->unacknowledged);
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	/* a run that is not in the log is nothing to acknowledge */
	dq_execute("WITH old AS MATERIALIZED (SELECT u.run_id, NOT $3 AND " UNREAD " IS TRUE AS unread"
			   " FROM pg_catalog.unnest($1) AS u (run_id) LEFT JOIN dq_gate.runs AS r ON r.run_id = u.run_id"
			   " WHERE r.run_id IS NULL OR r.started_at < $2)"
			   " SELECT ARRAY(SELECT o.run_id FROM old AS o WHERE NOT o.unread),"
			   " (SELECT pg_catalog.count(*) FROM old AS o WHERE o.unread)",
			   3, types, values, NULL, false);
	*runs = PointerGetDatum(DatumGetArrayTypePCopy(dq_result_datum(0, 1, &isnull)));
	*unread = dq_result_int64(0, 2, 0);
	dq_free_result();
	dq_resume(&saved);
	return count;
}

/*
 * Runs stay whose rows are in a quarantine table: the reasons would be lost.
 * Where it cannot be looked at, they may be there.
 */
static void
keep_quarantined(const Retention *retention, Oid quarantine, bool rows_gone, OldRun *runs, int count)
{
	int64	   *asked = palloc(sizeof(int64) * Max(1, count));
	int			n = 0;
	Oid			types[2] = {INT8ARRAYOID, TIMESTAMPTZOID};
	Datum		values[2];
	Identity	saved;

	if (!OidIsValid(quarantine))
		return;
	for (int i = 0; i < count; i++)
	{
		if (runs[i].quarantined && !runs[i].stays)
			asked[n++] = runs[i].run_id;
	}
	if (n == 0)
		return;
	if (!dq_try_quarantine(quarantine, AccessShareLock) ||
		get_atttype(quarantine, get_attnum(quarantine, "run_id")) != INT8OID)
	{
		for (int i = 0; i < count; i++)
			runs[i].stays = runs[i].stays || runs[i].quarantined;
		return;
	}

	values[0] = dq_int8_array(asked, n);
	values[1] = TimestampTzGetDatum(retention->rows_before);
	dq_assume(&saved, dq_relation_owner(quarantine), PHASE_AUDIT);
	n = (int) dq_execute(psprintf("SELECT u.run_id FROM pg_catalog.unnest($1) AS u (run_id)"
								  " WHERE EXISTS (SELECT FROM %s AS q WHERE q.run_id = u.run_id AND %s)",
								  dq_relation_sql(quarantine),
								  rows_gone ? "(q.quarantined_at < $2) IS NOT TRUE" : "true"),
						 2, types, values, NULL, false);
	for (int found = 0; found < n; found++)
	{
		for (int i = 0; i < count; i++)
		{
			if (runs[i].run_id == dq_result_int64(found, 1, 0))
				runs[i].stays = true;
		}
	}
	dq_free_result();
	dq_resume(&saved);
}

/*
 * The old runs of a gate behind a given one, in the order of time, at most so
 * many, and what of them may go.  rows_gone: as if the rows of the quarantine
 * that are old enough were not there any more.
 */
int
dq_old_runs(const Retention *retention, Oid quarantine, const OldRun *after, int limit,
			bool rows_gone, OldRun **runs)
{
	Oid			types[7] = {REGCLASSOID, TIMESTAMPTZOID, INT8OID, TIMESTAMPTZOID, INT4OID, INT8ARRAYOID, BOOLOID};
	Datum		values[7];
	int			count;
	bool		isnull;
	Identity	saved;

	values[0] = ObjectIdGetDatum(retention->target);
	values[1] = TimestampTzGetDatum(after->started_at);
	values[2] = Int64GetDatum(after->run_id);
	values[3] = TimestampTzGetDatum(retention->log_before);
	values[4] = Int32GetDatum(limit);
	values[5] = retention->needed;
	values[6] = BoolGetDatum(retention->unacknowledged);

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	count = (int) dq_execute(psprintf("SELECT r.run_id, r.started_at, r.run_id = ANY ($6) OR (NOT $7 AND " UNREAD "),"
									  " r.target IS NOT NULL AND r.published AND r.content_digest IS NOT NULL,"
									  " r.quarantined IS DISTINCT FROM 0, pg_catalog.to_regclass(r.quarantine)::pg_catalog.oid,"
									  " (SELECT pg_catalog.count(*) FROM dq_gate.results AS s WHERE s.run_id = r.run_id)"
									  " + (SELECT pg_catalog.count(*) FROM dq_gate.profiles AS p WHERE p.run_id = r.run_id)"
									  " FROM dq_gate.runs AS r WHERE %s AND (r.started_at, r.run_id) > ($2, $3) AND r.started_at < $4"
									  " ORDER BY r.started_at, r.run_id LIMIT $5", RUNS_OF(retention->target)),
							 7, types, values, NULL, false);
	*runs = palloc0(sizeof(OldRun) * Max(1, count));
	for (int i = 0; i < count; i++)
	{
		OldRun	   *run = &(*runs)[i];

		run->run_id = dq_result_int64(i, 1, 0);
		run->started_at = DatumGetTimestampTz(dq_result_datum(i, 2, &isnull));
		run->stays = DatumGetBool(dq_result_datum(i, 3, &isnull));
		run->published_once = DatumGetBool(dq_result_datum(i, 4, &isnull));
		run->quarantined = DatumGetBool(dq_result_datum(i, 5, &isnull));
		run->quarantine = DatumGetObjectId(dq_result_datum(i, 6, &isnull));
		if (isnull)
			run->quarantine = InvalidOid;
		run->details = dq_result_int64(i, 7, 0);
	}
	dq_free_result();
	dq_resume(&saved);

	/* the quarantine that the target has, and those that it had */
	keep_quarantined(retention, quarantine, rows_gone && retention->ends_rows, *runs, count);
	for (int i = 0; i < count; i++)
	{
		Oid			other = (*runs)[i].quarantine;

		if (OidIsValid(other) && other != quarantine && !(*runs)[i].stays)
			keep_quarantined(retention, other, false, &(*runs)[i], 1);
	}
	return count;
}

/*
 * How many runs are old enough to go and stay only because nobody has
 * acknowledged them; those with rows in quarantine are known from there.
 */
int64
dq_count_unread(const Retention *retention)
{
	Oid			types[4] = {REGCLASSOID, TIMESTAMPTZOID, INT8ARRAYOID, BOOLOID};
	Datum		values[4];
	int64		count;
	Identity	saved;

	if (retention->unacknowledged || !retention->ends_log)
		return 0;
	values[0] = ObjectIdGetDatum(retention->target);
	values[1] = TimestampTzGetDatum(retention->log_before);
	values[2] = retention->needed;
	values[3] = BoolGetDatum(retention->ends_rows);

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dq_execute(psprintf("SELECT pg_catalog.count(*) FROM dq_gate.runs AS r WHERE %s AND r.started_at < $2"
						" AND " UNREAD " AND r.run_id <> ALL ($3) AND NOT ($4 AND COALESCE(r.quarantined, 0) > 0)",
						RUNS_OF(retention->target)),
			   4, types, values, NULL, false);
	count = dq_result_int64(0, 1, 0);
	dq_free_result();
	dq_resume(&saved);
	return count;
}
