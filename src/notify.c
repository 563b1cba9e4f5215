/*
 * notify.c
 *		Tell a run to those who listen, when it is committed.
 *
 * Whoever listens hears it, whatever he may read: it names the gate and what
 * failed, and shows no value of a row.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/async.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "notify.h"
#include "spi_util.h"
#include "verdict.h"

#define CHANNEL			"dq_gate"

/* What a notification can carry, as async.c has it, less the end of the string */
#define MAX_PAYLOAD		(BLCKSZ - NAMEDATALEN - 128 - 1)

/* What its parts may take of that, so that room for failures is left */
#define ROOM_FOR_GATE	400
#define ROOM_FOR_NAME	200
#define ROOM_FOR_BATCH	300
#define ROOM_FOR_LABEL	100
#define ROOM_FOR_OWNERS	600
#define ROOM_FOR_LABELS	200
#define ROOM_FOR_FAILURE	500

/* What comes behind the failures */
#define ROOM_FOR_END	80

/* A notification in the making */
typedef struct Message
{
	StringInfoData json;
	bool		truncated;
} Message;

static void
begin_field(Message *message, const char *name)
{
	appendStringInfo(&message->json, "%s\"%s\": ", message->json.len == 0 ? "{" : ", ", name);
}

/* A text as JSON, cut where that takes more than so many bytes */
static char *
json_text(Message *message, const char *text, int room)
{
	int			len = strlen(text);
	StringInfoData json;

	initStringInfo(&json);
	escape_json(&json, text);
	/* what is escaped grows, by how much only doing it tells */
	for (int size = room; json.len > room; size = size * 3 / 4)
	{
		char	   *cut = pnstrdup(text, pg_mbcliplen(text, len, size));

		resetStringInfo(&json);
		escape_json(&json, psprintf("%s...", cut));
		pfree(cut);
		message->truncated = true;
	}
	return json.data;
}

static void
add_text(Message *message, const char *name, const char *text, int room)
{
	begin_field(message, name);
	appendStringInfoString(&message->json, text ? json_text(message, text, room) : "null");
}

static void
add_number(Message *message, const char *name, int64 number)
{
	begin_field(message, name);
	if (number == DQ_UNKNOWN)
		appendStringInfoString(&message->json, "null");
	else
		appendStringInfo(&message->json, INT64_FORMAT, number);
}

/*
 * As many texts as there is room for before the message has so many bytes.
 * Returns how many were left out.
 */
static int
add_texts(Message *message, const char *name, List *texts, int room, int end)
{
	int			shown = 0;
	ListCell   *lc;

	begin_field(message, name);
	appendStringInfoChar(&message->json, '[');
	foreach(lc, texts)
	{
		char	   *json = json_text(message, lfirst(lc), room);

		if (message->json.len + (int) strlen(json) + 3 > end)
			break;
		appendStringInfo(&message->json, "%s%s", shown++ > 0 ? ", " : "", json);
		pfree(json);
	}
	appendStringInfoChar(&message->json, ']');
	if (shown < list_length(texts))
		message->truncated = true;
	return list_length(texts) - shown;
}

static List *
add_distinct(List *texts, char *text)
{
	return text == NULL || dq_has_name(texts, text) ? texts : lappend(texts, text);
}

/* How a run went, in a word */
static const char *
status_word(bool published, bool attention)
{
	return !published ? "failed" : attention ? "warned" : "good";
}

static char *
payload(const Run *run, const char *status, const char *previous)
{
	Message		message = {0};
	List	   *owners = add_distinct(NIL, run->gate->owner);
	List	   *severities = NIL;
	int			left_out;
	ListCell   *lc;

	foreach(lc, run->results)
	{
		const CheckResult *result = lfirst(lc);

		if (result->status != DQ_FAILED && result->status != DQ_ERROR)
			continue;
		owners = add_distinct(owners, result->check->owner);
		severities = add_distinct(severities, result->check->severity);
	}

	initStringInfo(&message.json);
	add_text(&message, "event", "run", ROOM_FOR_NAME);
	add_text(&message, "gate", run->gate->name, ROOM_FOR_GATE);
	add_text(&message, "schema", get_namespace_name(get_rel_namespace(run->gate->target)), ROOM_FOR_NAME);
	add_text(&message, "table", get_rel_name(run->gate->target), ROOM_FOR_NAME);
	add_text(&message, "layer", run->gate->layer, ROOM_FOR_LABEL);
	add_number(&message, "run_id", run->run_id);
	add_text(&message, "batch_id", run->batch_id, ROOM_FOR_BATCH);
	add_text(&message, "as_of", run->has_as_of ?
			 DatumGetCString(DirectFunctionCall1(date_out, DateADTGetDatum(run->as_of))) : NULL,
			 ROOM_FOR_NAME);
	add_text(&message, "verdict", dq_verdict_name(run->verdict), ROOM_FOR_NAME);
	add_text(&message, "status", status, ROOM_FOR_NAME);
	add_text(&message, "previous_status", previous, ROOM_FOR_NAME);
	add_number(&message, "row_count", run->row_count);
	add_number(&message, "quarantined", run->quarantined);
	add_number(&message, "dropped", run->dropped);
	add_number(&message, "checks_failed", run->checks_failed);
	(void) add_texts(&message, "owners", owners, ROOM_FOR_NAME, message.json.len + ROOM_FOR_OWNERS);
	(void) add_texts(&message, "severities", severities, ROOM_FOR_LABEL, message.json.len + ROOM_FOR_LABELS);
	left_out = add_texts(&message, "failures", dq_public_failures(run), ROOM_FOR_FAILURE,
						 MAX_PAYLOAD - ROOM_FOR_END);
	add_number(&message, "failures_left_out", left_out);
	begin_field(&message, "truncated");
	appendStringInfo(&message.json, "%s}", message.truncated ? "true" : "false");
	return message.json.data;
}

/*
 * How the run before went: the last that was judged, and told if there was
 * something to tell.  What happened while the gate was muted is unheard of, so
 * that it is told afterwards, if it has not passed by then.
 */
static const char *
previous_status(const Run *run)
{
	Oid			types[2] = {REGCLASSOID, INT8OID};
	Datum		values[2] = {ObjectIdGetDatum(run->gate->target), Int64GetDatum(run->run_id)};
	const char *status = NULL;
	bool		isnull;

	if (dq_execute("SELECT r.published, r.attention FROM dq_gate.runs r"
				   " WHERE r.target = $1 AND r.run_id < $2 AND r.verdict NOT IN ('skipped', 'audited')"
				   " AND NOT EXISTS (SELECT FROM dq_gate.mutes m WHERE m.target = r.target"
				   " AND r.started_at + r.duration >= m.muted_at"
				   " AND r.started_at + r.duration < m.muted_until)"
				   " ORDER BY r.run_id DESC LIMIT 1",
				   2, types, values, NULL, false) > 0)
		status = status_word(DatumGetBool(dq_result_datum(0, 1, &isnull)),
							 DatumGetBool(dq_result_datum(0, 2, &isnull)));
	dq_free_result();
	return status;
}

static bool
is_muted(const Run *run)
{
	Oid			types[2] = {REGCLASSOID, TIMESTAMPTZOID};
	Datum		values[2] = {ObjectIdGetDatum(run->gate->target), TimestampTzGetDatum(run->finished_at)};
	bool		muted;

	muted = dq_execute("SELECT FROM dq_gate.mutes WHERE target = $1"
					   " AND $2 >= muted_at AND $2 < muted_until",
					   2, types, values, NULL, false) > 0;
	dq_free_result();
	return muted;
}

/*
 * Tell the run, if the gate wants that, on the channel dq_gate.  The run is
 * being logged: SPI is connected, and acts as the extension's owner.
 */
void
dq_alert(const Run *run)
{
	bool		attention = dq_needs_attention(run);
	const char *status;
	const char *previous;

	/* what was only a look, or not ready, says nothing about the gate */
	if (run->dry_run || run->skipped || run->gate->alert == DQ_ALERT_NEVER)
		return;
	if (run->gate->alert == DQ_ALERT_FAILURE && !attention)
		return;
	status = status_word(run->published, attention);
	previous = previous_status(run);
	if (run->gate->alert == DQ_ALERT_CHANGE && strcmp(status, previous ? previous : "good") == 0)
		return;
	if (is_muted(run))
		return;
	Async_Notify(CHANNEL, payload(run, status, previous));
}
