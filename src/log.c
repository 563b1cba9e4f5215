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
#include "notify.h"
#include "profile.h"
#include "row_limits.h"
#include "spi_util.h"
#include "verdict.h"

/* The columns of a row to be inserted, put together one by one */
typedef struct Row
{
	int			count;
	const char *names[48];
	Oid			types[48];
	Datum		values[48];
	char		nulls[49];
} Row;

static void
add(Row *row, const char *name, Oid type, Datum value, bool isnull)
{
	Assert(row->count < lengthof(row->types));
	row->names[row->count] = name;
	row->types[row->count] = type;
	row->values[row->count] = value;
	row->nulls[row->count] = isnull ? 'n' : ' ';
	row->count++;
}

static void
add_text(Row *row, const char *name, const char *text)
{
	add(row, name, TEXTOID, text ? CStringGetTextDatum(text) : (Datum) 0, text == NULL);
}

static void
add_count(Row *row, const char *name, int64 count)
{
	add(row, name, INT8OID, Int64GetDatum(count), count == DQ_UNKNOWN);
}

static void
add_time(Row *row, const char *name, TimestampTz from, TimestampTz to)
{
	bool		unknown = from == 0 || to == 0;

	add(row, name, INTERVALOID,
		unknown ? (Datum) 0 : DirectFunctionCall2(timestamp_mi, TimestampTzGetDatum(to),
												  TimestampTzGetDatum(from)),
		unknown);
}

static void
insert(Row *row, const char *table)
{
	StringInfoData names;
	StringInfoData places;

	initStringInfo(&names);
	initStringInfo(&places);
	for (int i = 0; i < row->count; i++)
	{
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", row->names[i]);
		appendStringInfo(&places, "%s$%d%s", i > 0 ? ", " : "", i + 1,
						 strcmp(row->names[i], "sample") == 0 ? "::pg_catalog.jsonb" : "");
	}
	dq_execute(psprintf("INSERT INTO dq_gate.%s (%s) VALUES (%s)", table, names.data, places.data),
			   row->count, row->types, row->values,
			   row->nulls, false);
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

/* A text of each check, empty where it has none, as text[]: a parameter, no column */
static void
add_texts(Row *row, List *texts)
{
	add(row, NULL, TEXTARRAYOID, dq_text_array(texts), false);
}

/* Put rules into their table, unless they are there; returns their hash */
static char *
keep_rules(Row *row)
{
	char	   *hash;

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
			   row->count, row->types, row->values, row->nulls, false);
	hash = dq_result_text(0, 1);
	dq_free_result();
	return hash;
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
	for (;;)
	{
		Oid			types[1] = {TEXTOID};
		Datum		values[1];

		hash = keep_rules(&row);
		/* they may have been purged since, as long as they are not locked: see rules_step */
		values[0] = CStringGetTextDatum(hash);
		if (dq_execute("SELECT FROM dq_gate.rule_sets WHERE rules_hash = $1 FOR KEY SHARE",
					   1, types, values, NULL, false) > 0)
			break;
		CHECK_FOR_INTERRUPTS();
	}
	dq_free_result();
	return hash;
}

static void
log_result(const Run *run, const CheckResult *result, int check_no)
{
	Row			row = {0};

	add(&row, "run_id", INT8OID, Int64GetDatum(run->run_id), false);
	add(&row, "check_no", INT4OID, Int32GetDatum(check_no), false);
	add_text(&row, "check_name", result->check->name);
	add_text(&row, "check_type", result->check->kind->name);
	add(&row, "columns", TEXTARRAYOID, dq_text_array(result->check->columns), false);
	add_text(&row, "action", dq_action_name(result->action));
	add_text(&row, "severity", result->check->severity);
	add_text(&row, "owner", result->check->owner);
	add_text(&row, "origin", result->check->origin);
	add_text(&row, "status", dq_status_name(result->status));
	add(&row, "passed", BOOLOID, BoolGetDatum(result->status == DQ_PASSED),
		result->status == DQ_NOT_JUDGED);
	add_text(&row, "expected_value", result->expected);
	add_text(&row, "actual_value", result->actual);
	add_text(&row, "threshold", result->threshold);
	add_count(&row, "examined_rows", result->examined);
	add_count(&row, "failing_rows", result->failing);
	add_count(&row, "null_rows", result->nulls);
	add(&row, "measured", FLOAT8OID, Float8GetDatum(result->measured), isnan(result->measured));
	add_text(&row, "sample", result->sample);
	add_text(&row, "message", result->message);
	insert(&row, "results");
}

/*
 * Write the run and what its checks found, and tell it to those who listen.
 */
void
dq_log_run(const Run *run)
{
	Row			row = {0};
	int			check_no = 0;
	ListCell   *lc;
	Identity	saved;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	add(&row, "run_id", INT8OID, Int64GetDatum(run->run_id), false);
	add(&row, "target", REGCLASSOID, ObjectIdGetDatum(run->map->target), false);
	add_text(&row, "gate", run->map->target_sql);
	add_text(&row, "staging", run->map->staging_sql);
	add_text(&row, "batch_id", run->batch_id);
	add(&row, "as_of", DATEOID, DateADTGetDatum(run->as_of), !run->has_as_of);
	add(&row, "batch_time", TIMESTAMPOID, TimestampGetDatum(dq_batch_time(run)), false);
	add_text(&row, "verdict", dq_verdict_name(run->verdict));
	add(&row, "passed", BOOLOID, BoolGetDatum(run->passed), false);
	add(&row, "published", BOOLOID, BoolGetDatum(run->published), false);
	add(&row, "enforced", BOOLOID, BoolGetDatum(run->gate->enforce), false);
	add(&row, "baseline", BOOLOID, BoolGetDatum(run->published && run->clean), false);
	add(&row, "attention", BOOLOID, BoolGetDatum(dq_needs_attention(run)), false);
	add_count(&row, "row_count", run->row_count);
	add_count(&row, "inserted", run->inserted);
	add_count(&row, "updated", run->updated);
	add_count(&row, "unchanged", run->unchanged);
	add_count(&row, "deleted", run->deleted);
	add_count(&row, "stale", run->stale);
	add_count(&row, "quarantined", run->quarantined);
	add_count(&row, "dropped", run->dropped);
	/* of a batch that was not looked at, no rule was asked */
	add_text(&row, "rules_hash", run->row_count == DQ_UNKNOWN ? NULL : log_rules(run));
	add(&row, "checks_run", INT4OID, Int32GetDatum(list_length(run->results)), false);
	add(&row, "checks_failed", INT4OID, Int32GetDatum(run->checks_failed), false);
	add(&row, "failures", TEXTARRAYOID, dq_text_array(run->failures), false);
	add(&row, "schema_changes", TEXTARRAYOID, dq_text_array(run->schema_changes), false);
	add_text(&row, "error", run->error);
	add_text(&row, "error_sqlstate", run->error_sqlstate);
	add_text(&row, "quarantine", run->quarantine);
	add_text(&row, "layer", run->gate->layer);
	add_text(&row, "owner", run->gate->owner);
	add_text(&row, "called_by", GetUserNameFromId(run->caller, false));
	add_text(&row, "run_as", GetUserNameFromId(run->gate->run_as, false));
	add_text(&row, "application_name", application_name);
	add(&row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at), false);
	add_time(&row, "audit_time", run->started_at, run->audited_at);
	add_time(&row, "publish_time", run->audited_at, run->published_at);
	add_time(&row, "duration", run->started_at, run->finished_at);
	add_text(&row, "content_digest", run->content_digest);

	insert(&row, "runs");
	if (run->published && run->clean)
		dq_supersede_baseline(run);
	foreach(lc, run->results)
		log_result(run, lfirst(lc), ++check_no);
	dq_log_profiles(run);
	dq_alert(run);
	dq_resume(&saved);
}
