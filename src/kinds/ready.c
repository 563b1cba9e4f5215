/*
 * ready.c
 *		The source is ready to be read: asked before anything of the batch is
 *		locked or looked at.
 *
 * What is not ready is skipped and no failure, until a deadline has passed.
 * A check asks one of three things: whether a condition of the user's is true,
 * whether the gate of another table has published, whether nobody is writing
 * staging.
 */
#include "postgres.h"

#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "declare.h"
#include "expression.h"
#include "gate.h"
#include "history.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/* The locks that a session has on a table that it writes, or will write */
#define WRITING_MODES	"'RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'"

/* Whether the gate of the other table has published for this batch; see learn */
#define PUBLISHED(history)	((history)->size > 0)

/*
 * What the log says, read as the extension's owner, since the role of the gate
 * need not see it: whether the other gate has published, the same as_of or, if
 * the batch has none, since this gate last did; and from when on a deadline
 * counts, as seconds since 1970: the midnight that begins as_of or, if the
 * batch has none, the first run that found the source not ready.
 */
static History *
ready_learn(const Check *check, const Run *run, const char *by, int size)
{
	Oid			types[5] = {REGCLASSOID, TEXTOID, REGCLASSOID, DATEOID, TIMESTAMPTZOID};
	Datum		values[5];
	char		nulls[6] = "     ";
	History    *history = palloc0(sizeof(History));
	Identity	saved;

	values[0] = ObjectIdGetDatum(run->gate->target);
	values[1] = CStringGetTextDatum(check->name);
	values[2] = ObjectIdGetDatum(check->ref_table);
	values[3] = DateADTGetDatum(run->as_of);
	nulls[3] = run->has_as_of ? ' ' : 'n';
	values[4] = TimestampTzGetDatum(run->started_at);

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dq_execute("SELECT CASE WHEN $4 IS NOT NULL THEN"
			   " EXISTS (SELECT FROM dq_gate.runs u WHERE u.target = $3 AND u.published AND u.as_of = $4)"
			   " ELSE EXISTS (SELECT FROM dq_gate.runs u WHERE u.target = $3 AND u.published"
			   "  AND u.started_at + u.duration > COALESCE((SELECT pg_catalog.max(r.started_at)"
			   "   FROM dq_gate.runs r WHERE r.target = $1 AND r.published), '-infinity')) END::pg_catalog.int4::pg_catalog.int8,"
			   " pg_catalog.date_part('epoch', COALESCE($4::pg_catalog.timestamptz, (SELECT pg_catalog.min(r.started_at)"
			   "  FROM dq_gate.runs r JOIN dq_gate.results s ON s.run_id = r.run_id"
			   "  WHERE r.target = $1 AND s.check_name = $2 AND r.verdict <> 'audited' AND s.status <> 'passed'"
			   "  AND r.run_id > COALESCE((SELECT o.run_id FROM dq_gate.runs o JOIN dq_gate.results p ON p.run_id = o.run_id"
			   "   WHERE o.target = $1 AND p.check_name = $2 AND p.status = 'passed' AND o.verdict <> 'audited'"
			   "   ORDER BY o.run_id DESC LIMIT 1), 0)), $5))::pg_catalog.text",
			   5, types, values, nulls, false);
	history->size = (int) dq_result_int64(0, 1, 0);
	history->time = dq_result_text(0, 2);
	dq_free_result();
	dq_resume(&saved);
	return history;
}

/* A condition or a query of the user's: true, or true in every row and in one at least */
static char *
condition_sql(const Check *check)
{
	return psprintf("(SELECT pg_catalog.bool_and(a.ready), CASE WHEN pg_catalog.count(*) = 0 THEN 'no row'"
					" ELSE COALESCE(pg_catalog.bool_and(a.ready)::pg_catalog.text, 'NULL') END"
					" FROM (SELECT COALESCE(q.ready, false) FROM (%s) AS q (ready)) AS a (ready))",
					dq_param(check->params, "resolved"));
}

/* The backends that are writing staging, or a part of it */
static char *
idle_sql(const ColumnMap *map)
{
	StringInfoData parts;
	ListCell   *lc;

	initStringInfo(&parts);
	foreach(lc, find_all_inheritors(map->staging, NoLock, NULL))
		appendStringInfo(&parts, "%s%u", parts.len > 0 ? ", " : "", lfirst_oid(lc));
	return psprintf("(SELECT pg_catalog.count(*) = 0, COALESCE('written by ' ||"
					" pg_catalog.string_agg(DISTINCT COALESCE('backend ' || l.pid, 'a prepared transaction'), ', '), 'idle')"
					" FROM pg_catalog.pg_locks AS l JOIN pg_catalog.pg_database AS d ON d.oid = l.database"
					" WHERE d.datname = pg_catalog.current_database() AND l.locktype = 'relation' AND l.granted"
					" AND l.relation IN (%s) AND l.mode IN (" WRITING_MODES ")"
					" AND l.pid IS DISTINCT FROM pg_catalog.pg_backend_pid())", parts.data);
}

static void
ready_compile(Check *check, const ColumnMap *map)
{
	char	   *condition = dq_param(check->params, "condition");
	char	   *deadline = dq_param(check->params, "deadline");
	char	   *asked = NULL;
	char	   *late = "NULL::pg_catalog.timestamptz";

	/* what is not there cannot be published, whatever else the gate enforces */
	check->essential = true;
	if (condition)
	{
		check->rule = condition;
		asked = condition_sql(check);
	}
	else if (dq_param(check->params, "idle"))
	{
		check->rule = "nobody is writing staging";
		if (OidIsValid(map->staging))
			asked = idle_sql(map);
	}
	else if (!OidIsValid(check->ref_table))
	{
		check->rule = "another gate has published";
		check->broken = "the table of the other gate is gone";
	}
	else
	{
		check->rule = psprintf("gate %s has published", dq_relation_sql(check->ref_table));
		if (check->history)
			asked = PUBLISHED(check->history) ? "(SELECT true, 'published')" : "(SELECT false, 'not published')";
	}
	if (deadline)
		check->threshold = psprintf("within %s", deadline);
	check->complaint = psprintf("not ready: %s", check->rule);
	if (asked == NULL)
		return;

	if (deadline && check->history)
		late = psprintf("pg_catalog.to_timestamp(%s) + %s::pg_catalog.interval",
						dq_literal(check->history->time), dq_literal(deadline));
	check->judge_sql = psprintf("SELECT asked.ready IS NOT TRUE, asked.answer,"
								" %s || CASE WHEN asked.answer IN ('true', 'false', 'not published') THEN '' ELSE ', ' || asked.answer END"
								" || CASE WHEN due.late THEN ', past the deadline of ' || due.deadline ELSE '' END,"
								" NULL::pg_catalog.jsonb, NULL::pg_catalog.text, NULL::pg_catalog.text,"
								" asked.ready IS NOT TRUE AND due.late"
								" FROM %s AS asked (ready, answer), (SELECT d.deadline, d.deadline < pg_catalog.clock_timestamp()"
								" FROM (SELECT %s) AS d (deadline)) AS due (deadline, late)",
								dq_literal(check->complaint), asked, late);
}

const CheckKind dq_kind_ready = {
	.name = "ready",
	.evaluation = EVAL_QUERY,
	.actions = DQ_SKIP | DQ_DECLARE,
	.judges_empty = true,
	.observes_counts = true,
	.learn = ready_learn,
	.compile = ready_compile,
};

/* What parse_statement works on */
typedef struct Parse
{
	const char *text;
	bool		is_query;
} Parse;

static void
parse_statement(void *arg)
{
	Parse	   *parse = arg;
	List	   *statements = raw_parser(parse->text, RAW_PARSE_DEFAULT);

	parse->is_query = statements != NIL;
}

/* A condition as a query: one of its own, or an expression that becomes one */
static Query *
parse_condition(const char *text)
{
	Parse		parse = {text, false};
	ErrorData  *error;

	/* no statement is an expression too, but for the VALUES and SELECT in brackets */
	if (!dq_attempt(parse_statement, &parse, &error))
		FreeErrorData(error);
	return (Query *) (parse.is_query ? dq_parse_query(text) : dq_parse_scalar(text));
}

static void
declare_condition(Declaration *decl, const char *text)
{
	DqErrorContext context;
	List	   *columns;
	Query	   *query;

	dq_push_context(&context, "%s", psprintf("condition of a check of gate %s", decl->gate->name));
	query = parse_condition(text);
	if (dq_query_type(query) != BOOLOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the condition must be boolean, or a query that returns one column of type boolean"),
				 errhint("For example EXISTS (SELECT FROM loads WHERE day = dq_gate.as_of()).")));
	decl->params = dq_set_param(decl->params, "condition", text);
	decl->params = dq_set_param(decl->params, "resolved",
								dq_declare_meaning(decl, "a condition", (Node *) query, &columns));
	dq_pop_context(&context);
}

/* Another gate, of whose runs whoever declares the check may know */
static void
declare_upstream(Declaration *decl, Oid upstream)
{
	dq_check_target(upstream);
	if (upstream == decl->gate->target)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gate %s cannot wait for itself", decl->gate->name)));
	if (pg_class_aclcheck(upstream, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s", dq_relation_sql(upstream)),
				 errdetail("Whether its gate has published is for those who may read it.")));
	decl->ref_table = upstream;
}

PG_FUNCTION_INFO_V1(dq_gate_expect_ready);

/*
 * expect_ready(target, condition, upstream, idle, deadline, and the common
 * arguments) declares when the source is ready to be read.
 */
Datum
dq_gate_expect_ready(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_ready);
	char	   *condition = dq_optional_text(fcinfo, 1);
	bool		idle = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);

	if ((condition != NULL) + !PG_ARGISNULL(2) + idle != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"ready\" needs one of \"condition\", \"upstream\" and \"idle\""),
				 errhint("Declare a check for each thing that has to be ready.")));
	if (condition)
		declare_condition(decl, condition);
	else if (!idle)
		declare_upstream(decl, PG_GETARG_OID(2));
	else
		decl->params = dq_set_param(decl->params, "idle", "true");
	if (!PG_ARGISNULL(4))
		decl->params = dq_set_param(decl->params, "deadline", dq_interval_argument(fcinfo, 4, "deadline"));
	dq_declare_common(fcinfo, 5, decl);
	return dq_finish_declaration(fcinfo, decl);
}
