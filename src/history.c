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
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#include "history.h"
#include "spi_util.h"

/* How far back batches of the same kind of day are looked for, at most */
#define LOOK_BACK	"5000"

/* Which earlier batches a batch is compared with */
static const struct
{
	const char *name;
	const char *condition;		/* on r.batch_time; %1$s is the batch's own, %2$s the size */
}			groupings[] =
{
	{"batches", "true"},
	{"days", "r.batch_time >= %1$s - pg_catalog.make_interval(days => %2$s)"},
	{"weekday", "pg_catalog.date_part('isodow', r.batch_time) = pg_catalog.date_part('isodow', %1$s)"},
	{"hour", "pg_catalog.date_part('hour', r.batch_time) = pg_catalog.date_part('hour', %1$s)"},
	{"month_end", "(pg_catalog.date_part('day', r.batch_time + '1 day'::pg_catalog.interval) = 1)"
	" = (pg_catalog.date_part('day', %1$s + '1 day'::pg_catalog.interval) = 1)"},
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
						" WHERE %s AND (p.top_values IS NOT NULL OR p.quantiles IS NOT NULL) AND p.row_count > p.null_count"
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
