/*
 * log.c
 *		The sole writer of runs and results.
 *
 * It writes as the extension's owner and evaluates nothing but parameters.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "action.h"
#include "audit.h"
#include "history.h"
#include "log.h"
#include "profile.h"
#include "row_limits.h"
#include "spi_util.h"
#include "verdict.h"

/* The parameters of a statement, put together one by one */
typedef struct Row
{
	int			count;
	Oid			types[40];
	Datum		values[40];
	char		nulls[41];
} Row;

static void
add(Row *row, Oid type, Datum value, bool isnull)
{
	Assert(row->count < lengthof(row->types));
	row->types[row->count] = type;
	row->values[row->count] = value;
	row->nulls[row->count] = isnull ? 'n' : ' ';
	row->count++;
}

static void
add_text(Row *row, const char *text)
{
	add(row, TEXTOID, text ? CStringGetTextDatum(text) : (Datum) 0, text == NULL);
}

static void
add_count(Row *row, int64 count)
{
	add(row, INT8OID, Int64GetDatum(count), count == DQ_UNKNOWN);
}

static void
add_time(Row *row, TimestampTz from, TimestampTz to)
{
	bool		unknown = from == 0 || to == 0;

	add(row, INTERVALOID,
		unknown ? (Datum) 0 : DirectFunctionCall2(timestamp_mi, TimestampTzGetDatum(to),
												  TimestampTzGetDatum(from)),
		unknown);
}

/*
 * A number for a run.  Taken early, since quarantined rows carry it.
 */
int64
dq_next_run_id(void)
{
	Identity	saved;
	int64		run_id;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dq_execute("SELECT pg_catalog.nextval('dq_gate.run_id_seq')", 0, NULL, NULL, NULL, false);
	run_id = dq_result_int64(0, 1, 0);
	dq_free_result();
	dq_resume(&saved);
	return run_id;
}

/* A text of each check, empty where it has none, as text[] */
static void
add_texts(Row *row, List *texts)
{
	add(row, TEXTARRAYOID, dq_text_array(texts), false);
}

/*
 * Keep the rules of the run, unless they are known, and return their hash.
 * They are put in the order of their names, so that the same rules have the
 * same hash.
 */
static char *
log_rules(const Run *run)
{
	Row			row = {0};
	List	   *texts[8] = {NIL};
	char	   *hash;
	ListCell   *lc;

	foreach(lc, run->plan->checks)
	{
		const Check *check = lfirst(lc);
		bool		rows = check->kind->rows;

		texts[0] = lappend(texts[0], check->name);
		texts[1] = lappend(texts[1], unconstify(char *, check->kind->name));
		texts[2] = lappend(texts[2], check->rule);
		texts[3] = lappend(texts[3], unconstify(char *, dq_action_name(check->action)));
		texts[4] = lappend(texts[4], rows ? (check->nulls_fail ? "fail" : "pass") : "");
		texts[5] = lappend(texts[5], check->filter ? check->filter : "");
		texts[6] = lappend(texts[6], dq_has_limits(&check->limits) ? dq_describe_limits(check) : "");
		texts[7] = lappend(texts[7], check->origin);
	}
	for (int i = 0; i < (int) lengthof(texts); i++)
		add_texts(&row, texts[i]);
	dq_execute("WITH rule AS ("
			   " SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object("
			   " 'check_name', n, 'check_type', t, 'rule', r, 'action', a, 'nulls', NULLIF(u, ''),"
			   " 'filter', NULLIF(f, ''), 'tolerance', NULLIF(l, ''), 'origin', o))"
			   " ORDER BY n COLLATE \"C\") AS rules"
			   " FROM unnest($1, $2, $3, $4, $5, $6, $7, $8) AS e (n, t, r, a, u, f, l, o)),"
			   " hashed AS (SELECT pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to("
			   " rules::pg_catalog.text, 'UTF8')), 'hex') AS hash, rules FROM rule),"
			   " kept AS (INSERT INTO dq_gate.rule_sets (rules_hash, rules)"
			   " SELECT hash, rules FROM hashed ON CONFLICT DO NOTHING)"
			   " SELECT hash FROM hashed",
			   row.count, row.types, row.values, row.nulls, false);
	hash = dq_result_text(0, 1);
	dq_free_result();
	return hash;
}

static void
log_result(const Run *run, const CheckResult *result, int check_no)
{
	Row			row = {0};

	add(&row, INT8OID, Int64GetDatum(run->run_id), false);
	add(&row, INT4OID, Int32GetDatum(check_no), false);
	add_text(&row, result->check->name);
	add_text(&row, result->check->kind->name);
	add(&row, TEXTARRAYOID, dq_text_array(result->check->columns), false);
	add_text(&row, dq_action_name(result->action));
	add_text(&row, result->check->severity);
	add_text(&row, result->check->owner);
	add_text(&row, result->check->origin);
	add_text(&row, dq_status_name(result->status));
	add(&row, BOOLOID, BoolGetDatum(result->status == DQ_PASSED),
		result->status == DQ_NOT_JUDGED);
	add_text(&row, result->expected);
	add_text(&row, result->actual);
	add_text(&row, result->threshold);
	add_count(&row, result->examined);
	add_count(&row, result->failing);
	add_count(&row, result->nulls);
	add(&row, FLOAT8OID, Float8GetDatum(result->measured), isnan(result->measured));
	add_text(&row, result->sample);
	add_text(&row, result->message);
	dq_execute("INSERT INTO dq_gate.results (run_id, check_no, check_name, check_type, columns,"
			   " action, severity, owner, origin, status, passed, expected_value, actual_value, threshold,"
			   " examined_rows, failing_rows, null_rows, measured, sample, message)"
			   " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,"
			   " $17, $18, $19::pg_catalog.jsonb, $20)",
			   row.count, row.types, row.values, row.nulls, false);
}

/*
 * Write the run and what its checks found.
 */
void
dq_log_run(const Run *run)
{
	Row			row = {0};
	int			check_no = 0;
	char	   *hash;
	ListCell   *lc;
	Identity	saved;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	hash = log_rules(run);

	add(&row, INT8OID, Int64GetDatum(run->run_id), false);
	add(&row, REGCLASSOID, ObjectIdGetDatum(run->map->target), false);
	add_text(&row, run->map->target_sql);
	add_text(&row, run->map->staging_sql);
	add_text(&row, run->batch_id);
	add(&row, DATEOID, DateADTGetDatum(run->as_of), !run->has_as_of);
	add(&row, TIMESTAMPOID, TimestampGetDatum(dq_batch_time(run)), false);
	add_text(&row, dq_verdict_name(run->verdict));
	add(&row, BOOLOID, BoolGetDatum(run->passed), false);
	add(&row, BOOLOID, BoolGetDatum(run->published), false);
	add(&row, BOOLOID, BoolGetDatum(run->gate->enforce), false);
	add(&row, BOOLOID, BoolGetDatum(run->published && run->clean), false);
	add_count(&row, run->row_count);
	add_count(&row, run->inserted);
	add_count(&row, run->updated);
	add_count(&row, run->unchanged);
	add_count(&row, run->deleted);
	add_count(&row, run->stale);
	add_count(&row, run->quarantined);
	add_count(&row, run->dropped);
	add_text(&row, hash);
	add(&row, INT4OID, Int32GetDatum(list_length(run->results)), false);
	add(&row, INT4OID, Int32GetDatum(run->checks_failed), false);
	add(&row, TEXTARRAYOID, dq_text_array(run->failures), false);
	add(&row, TEXTARRAYOID, dq_text_array(run->schema_changes), false);
	add_text(&row, run->error);
	add_text(&row, run->error_sqlstate);
	add_text(&row, run->quarantine);
	add_text(&row, run->gate->layer);
	add_text(&row, run->gate->owner);
	add_text(&row, GetUserNameFromId(run->caller, false));
	add_text(&row, GetUserNameFromId(run->gate->run_as, false));
	add_text(&row, application_name);
	add(&row, TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at), false);
	add_time(&row, run->started_at, run->audited_at);
	add_time(&row, run->audited_at, run->published_at);
	add_time(&row, run->started_at, run->finished_at);
	add_text(&row, run->content_digest);

	dq_execute("INSERT INTO dq_gate.runs (run_id, target, gate, staging, batch_id, as_of, batch_time, verdict,"
			   " passed, published, enforced, baseline, row_count, inserted, updated, unchanged, deleted, stale, quarantined,"
			   " dropped, rules_hash, checks_run, checks_failed, failures, schema_changes, error, error_sqlstate, quarantine,"
			   " layer, owner, called_by, run_as, application_name, started_at, audit_time,"
			   " publish_time, duration, content_digest)"
			   " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,"
			   " $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37)",
			   row.count, row.types, row.values, row.nulls, false);
	if (run->published && run->clean)
		dq_supersede_baseline(run);
	foreach(lc, run->results)
		log_result(run, lfirst(lc), ++check_no);
	dq_log_profiles(run);
	dq_resume(&saved);
}
