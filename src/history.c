/*
 * history.c
 *		What earlier batches of the gate measured.
 *
 * A batch has its place in the history by its as_of, or by the time of its run
 * if it has none, and is compared with what stands before it: a backfill of an
 * old date with the dates before that, not with later ones.  Only runs that
 * are a baseline count.  How many there are in all does not matter: the index
 * on them yields the latest ones first.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#include "history.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/* How far back batches of the same kind of day are looked for, at most */
#define LOOK_BACK	"5000"

/* Which earlier batches a batch is compared with */
static const struct
{
	const char *name;
	const char *condition;		/* on r.batch_time; %1$s is the batch's own, %2$s the size */
	const char *season;			/* what of v.batch_time is alike in those that are compared */
}			groupings[] =
{
	{"batches", "true", "0"},
	{"days", "r.batch_time >= %1$s - pg_catalog.make_interval(days => %2$s)", "0"},
	{"weekday", "pg_catalog.date_part('isodow', r.batch_time) = pg_catalog.date_part('isodow', %1$s)",
	"pg_catalog.date_part('isodow', v.batch_time)"},
	{"hour", "pg_catalog.date_part('hour', r.batch_time) = pg_catalog.date_part('hour', %1$s)",
	"pg_catalog.date_part('hour', v.batch_time)"},
	{"month_end", "(pg_catalog.date_part('day', r.batch_time + '1 day'::pg_catalog.interval) = 1)"
		" = (pg_catalog.date_part('day', %1$s + '1 day'::pg_catalog.interval) = 1)",
	"(pg_catalog.date_part('day', v.batch_time + '1 day'::pg_catalog.interval) = 1)::pg_catalog.int4"},
};

bool
dq_known_grouping(const char *by)
{
	for (int i = 0; i < (int) lengthof(groupings); i++)
	{
		if (strcmp(groupings[i].name, by) == 0)
			return true;
	}
	return false;
}

/*
 * The condition by which an earlier run, r, is one to compare with, given
 * expressions for the time of the batch and for how many of them are wanted.
 */
char *
dq_grouping_condition(const char *by, const char *time, const char *size)
{
	for (int i = 0; i < (int) lengthof(groupings); i++)
	{
		if (strcmp(groupings[i].name, by) == 0)
			return psprintf(groupings[i].condition, time, size);
	}
	return "false";
}

/* The profiles p that say how the values of a column are spread */
#define TELLING_PROFILE \
	"(p.top_values IS NOT NULL OR p.quantiles IS NOT NULL) AND p.row_count > p.null_count"

/* A number of days is none of batches */
static const char *
batches_limit(const char *by)
{
	return strcmp(by, "days") == 0 ? LOOK_BACK : "$3";
}

/* Where the batch of a run stands in the history of its gate, in UTC */
Timestamp
dq_batch_time(const Run *run)
{
	if (run->has_as_of)
		return DatumGetTimestamp(DirectFunctionCall1(date_timestamp, DateADTGetDatum(run->as_of)));
	return DatumGetTimestamp(DirectFunctionCall2(timestamptz_zone, CStringGetTextDatum("UTC"),
												 TimestampTzGetDatum(run->started_at)));
}

/*
 * Up to so many earlier values: of the number of rows, or of what the check of
 * a name measured.  Read as the extension's owner, since the role of the gate
 * need not see the log.
 */
History *
dq_read_history(const Run *run, const char *metric, const char *by, int size)
{
	Oid			types[4] = {REGCLASSOID, TIMESTAMPOID, INT4OID, TEXTOID};
	Datum		values[4];
	char		nulls[5] = "    ";
	History    *history = palloc0(sizeof(History));
	Identity	saved;

	values[0] = ObjectIdGetDatum(run->gate->target);
	values[1] = TimestampGetDatum(dq_batch_time(run));
	values[2] = Int32GetDatum(size);
	values[3] = metric ? CStringGetTextDatum(metric) : (Datum) 0;
	nulls[3] = metric ? ' ' : 'n';

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dq_execute(psprintf("SELECT pg_catalog.count(*), pg_catalog.array_agg(h.value ORDER BY h.batch_time DESC, h.run_id DESC)::pg_catalog.text,"
						" pg_catalog.array_agg(h.batch_time ORDER BY h.batch_time DESC, h.run_id DESC)::pg_catalog.text"
						" FROM (SELECT r.batch_time, r.run_id, m.value FROM (SELECT * FROM dq_gate.runs AS r"
						" WHERE r.target = $1 AND r.baseline AND r.batch_time < $2"
						" ORDER BY r.batch_time DESC, r.run_id DESC LIMIT " LOOK_BACK ") AS r,"
						" LATERAL (%s) AS m (value) WHERE %s AND m.value IS NOT NULL"
						" ORDER BY r.batch_time DESC, r.run_id DESC LIMIT %s) AS h",
						metric ? "SELECT s.measured FROM dq_gate.results AS s WHERE s.run_id = r.run_id AND s.check_name = $4" :
						"SELECT r.row_count::pg_catalog.float8 WHERE $4 IS NULL",
						dq_grouping_condition(by, "$2", "$3"), batches_limit(by)),
			   4, types, values, nulls, false);
	history->time = DatumGetCString(DirectFunctionCall1(timestamp_out, values[1]));
	history->size = (int) dq_result_int64(0, 1, 0);
	history->values = dq_result_text(0, 2);
	history->times = dq_result_text(0, 3);
	dq_free_result();
	dq_resume(&saved);
	return history;
}

/*
 * Up to so many earlier profiles of a column, as a jsonb array.
 */
History *
dq_read_profiles(const Run *run, const char *column_name, const char *by, int size)
{
	Oid			types[4] = {REGCLASSOID, TIMESTAMPOID, INT4OID, TEXTOID};
	Datum		values[4];
	History    *history = palloc0(sizeof(History));
	Identity	saved;

	values[0] = ObjectIdGetDatum(run->gate->target);
	values[1] = TimestampGetDatum(dq_batch_time(run));
	values[2] = Int32GetDatum(size);
	values[3] = CStringGetTextDatum(column_name);

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dq_execute(psprintf("SELECT pg_catalog.count(*), COALESCE(pg_catalog.jsonb_agg(h.profile), '[]')::pg_catalog.text"
						" FROM (SELECT pg_catalog.jsonb_build_object('rows', p.row_count, 'nulls', p.null_count,"
						" 'distinct', p.distinct_count, 'quantiles', p.quantiles, 'top', p.top_values)"
						" FROM (SELECT * FROM dq_gate.runs AS r WHERE r.target = $1 AND r.baseline AND r.batch_time < $2"
						" ORDER BY r.batch_time DESC, r.run_id DESC LIMIT " LOOK_BACK ") AS r"
						" JOIN dq_gate.profiles AS p ON p.run_id = r.run_id AND p.column_name = $4"
						" WHERE %s AND " TELLING_PROFILE
						" ORDER BY r.batch_time DESC, r.run_id DESC LIMIT %s) AS h (profile)",
						dq_grouping_condition(by, "$2", "$3"), batches_limit(by)),
			   4, types, values, NULL, false);
	history->size = (int) dq_result_int64(0, 1, 0);
	history->values = dq_result_text(0, 2);
	history->no_values = !run->gate->samples;
	dq_free_result();
	dq_resume(&saved);
	return history;
}

/* The season of the grouping that c.grouping names, as a number */
static char *
season_sql(void)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "CASE c.grouping");
	for (int i = 0; i < (int) lengthof(groupings); i++)
		appendStringInfo(&sql, " WHEN '%s' THEN %s", groupings[i].name, groupings[i].season);
	appendStringInfoString(&sql, " END");
	return sql.data;
}

/*
 * The runs before a point in time that batches of the gate can still be
 * compared with, as int8[]: batches that stand at that time or later, or,
 * where the gate has none as late as that, not before the last one.  What is
 * asked for are the checks that are declared, and the volume that is derived.
 * The subqueries with an OFFSET are to look at one run after the other by its
 * index, and never at all of a long log.
 */
Datum
dq_needed_baselines(Oid target, TimestampTz before)
{
	Oid			types[6] = {REGCLASSOID, TIMESTAMPTZOID, TEXTOID, INT4OID, TEXTOID, TEXTOID};
	Datum		values[6];
	List	   *volume = dq_default_volume();
	Datum		runs;
	bool		isnull;
	Identity	saved;

	values[0] = ObjectIdGetDatum(target);
	values[1] = TimestampTzGetDatum(before);
	values[2] = CStringGetTextDatum(dq_param(volume, "by"));
	values[3] = Int32GetDatum(pg_strtoint32(dq_param(volume, "history")));
	values[4] = CStringGetTextDatum(dq_kind_metric.name);
	values[5] = CStringGetTextDatum(dq_kind_stable_distribution.name);

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dq_execute(psprintf("WITH t (time) AS MATERIALIZED (SELECT LEAST(pg_catalog.timezone('UTC', $2), (SELECT r.batch_time FROM dq_gate.runs AS r"
						"  WHERE r.target = $1 AND r.baseline ORDER BY r.batch_time DESC LIMIT 1))),"
						" c AS MATERIALIZED (SELECT pg_catalog.row_number() OVER () AS no, u.* FROM ("
						"  SELECT NULL::pg_catalog.text, NULL::pg_catalog.text, $3, $4 UNION"
						"  SELECT CASE d.check_type WHEN $5 THEN COALESCE(d.parameters ->> 'metric_of', d.name) END,"
						"  CASE d.check_type WHEN $6 THEN d.columns[1] END, d.parameters ->> 'by', (d.parameters ->> 'history')::pg_catalog.int4"
						"  FROM dq_gate.checks AS d WHERE d.target = $1 AND d.parameters ->> 'history' IS NOT NULL)"
						"  AS u (metric, profile, grouping, size)),"
						" b AS MATERIALIZED (SELECT r.run_id, r.batch_time, r.row_count FROM t, dq_gate.runs AS r"
						"  WHERE r.target = $1 AND r.baseline AND r.batch_time < t.time"
						"  ORDER BY r.batch_time DESC, r.run_id DESC LIMIT " LOOK_BACK "),"
						" v (metric, profile, run_id, batch_time) AS ("
						"  SELECT NULL::pg_catalog.text, NULL::pg_catalog.text, b.run_id, b.batch_time FROM b WHERE b.row_count IS NOT NULL UNION ALL"
						"  SELECT m.name, NULL, b.run_id, b.batch_time FROM b, LATERAL (SELECT s.check_name FROM dq_gate.results AS s"
						"  WHERE s.run_id = b.run_id AND s.measured IS NOT NULL AND s.check_name IN (SELECT c.metric FROM c) OFFSET 0) AS m (name)"
						"  WHERE EXISTS (SELECT FROM c WHERE c.metric IS NOT NULL) UNION ALL"
						"  SELECT NULL, m.name, b.run_id, b.batch_time FROM b, LATERAL (SELECT p.column_name FROM dq_gate.profiles AS p"
						"  WHERE p.run_id = b.run_id AND " TELLING_PROFILE " AND p.column_name IN (SELECT c.profile FROM c) OFFSET 0) AS m (name)"
						"  WHERE EXISTS (SELECT FROM c WHERE c.profile IS NOT NULL))"
						" SELECT ARRAY(SELECT w.run_id FROM (SELECT v.run_id, CASE c.grouping"
						"  WHEN 'days' THEN v.batch_time >= t.time - pg_catalog.make_interval(days => c.size)"
						"  ELSE pg_catalog.row_number() OVER (PARTITION BY c.no, %s ORDER BY v.batch_time DESC, v.run_id DESC) <= c.size END"
						"  FROM t, c JOIN v ON v.metric IS NOT DISTINCT FROM c.metric AND v.profile IS NOT DISTINCT FROM c.profile)"
						"  AS w (run_id, wanted) WHERE w.wanted"
						"  UNION SELECT r.run_id FROM t, dq_gate.runs AS r WHERE r.target = $1 AND r.baseline"
						"  AND r.batch_time >= t.time AND r.started_at < $2)", season_sql()),
			   6, types, values, NULL, false);
	runs = PointerGetDatum(DatumGetArrayTypePCopy(dq_result_datum(0, 1, &isnull)));
	dq_free_result();
	dq_resume(&saved);
	return runs;
}

/*
 * A run that becomes a baseline takes the place of an earlier one of the same
 * date.  To be called as the extension's owner.
 */
void
dq_supersede_baseline(const Run *run)
{
	Oid			types[3] = {REGCLASSOID, TIMESTAMPOID, INT8OID};
	Datum		values[3] = {ObjectIdGetDatum(run->gate->target),
	TimestampGetDatum(dq_batch_time(run)), Int64GetDatum(run->run_id)};

	if (!run->has_as_of)
		return;
	dq_execute("UPDATE dq_gate.runs SET baseline = false"
			   " WHERE target = $1 AND batch_time = $2 AND baseline AND as_of IS NOT NULL AND run_id <> $3",
			   3, types, values, NULL, false);
}
