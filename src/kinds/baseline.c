/*
 * baseline.c
 *		What the kinds that learn have in common: how much history they want,
 *		and what they do without it.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "history.h"
#include "kinds/baseline.h"
#include "params.h"
#include "spi_util.h"

/* More is no history but an archive */
#define MAX_HISTORY		1000

/* Why there is not enough history to judge, NULL if there is */
char *
dq_lacking_history(const Check *check)
{
	int			wanted = pg_strtoint32(dq_param(check->params, "min_history"));

	if (check->history->size >= wanted)
		return NULL;
	return psprintf("not enough history (%d of %d)", check->history->size, wanted);
}

/* A query in place of the one that judges: what was found, and why that says nothing */
char *
dq_unjudged_sql(const char *actual, const char *reason)
{
	return psprintf("SELECT false, %s, NULL::pg_catalog.text, NULL::pg_catalog.jsonb, %s::pg_catalog.text",
					actual, dq_literal(reason));
}

/* The history as rows (value, time, no), the latest first */
char *
dq_history_sql(const Check *check, const char *alias)
{
	const History *history = check->history;

	return psprintf("ROWS FROM (pg_catalog.unnest(%s::pg_catalog.float8[]),"
					" pg_catalog.unnest(%s::pg_catalog.timestamp[])) WITH ORDINALITY AS %s (value, time, no)",
					dq_literal(history->values ? history->values : "{}"),
					dq_literal(history->times ? history->times : "{}"), alias);
}

/* Which batches it is compared with, in words */
const char *
dq_grouping_words(const Check *check)
{
	char	   *by = dq_param(check->params, "by");
	char	   *size = dq_param(check->params, "history");

	if (strcmp(by, "days") == 0)
		return psprintf("batches of %s days", size);
	if (strcmp(by, "weekday") == 0)
		return psprintf("last %s batches of the same weekday", size);
	if (strcmp(by, "hour") == 0)
		return psprintf("last %s batches of the same hour", size);
	if (strcmp(by, "month_end") == 0)
		return psprintf("last %s batches that end a month, or do not, as this one", size);
	return psprintf("last %s batches", size);
}

/* The parameters of history, for a check that nobody declared */
List *
dq_history_params(int history, int min_history, const char *by)
{
	List	   *params = dq_set_param(NIL, "history", psprintf("%d", history));

	params = dq_set_param(params, "min_history", psprintf("%d", min_history));
	return dq_set_param(params, "by", by);
}

/*
 * The arguments of history, from the first one on: history, min_history, by.
 */
void
dq_declare_history(FunctionCallInfo fcinfo, int first, Declaration *decl)
{
	int			history;
	int			min_history;
	char	   *by = dq_required_text(fcinfo, first + 2, "by");

	if (PG_ARGISNULL(first) || PG_ARGISNULL(first + 1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"history\" and \"min_history\" must not be NULL")));
	history = PG_GETARG_INT32(first);
	min_history = PG_GETARG_INT32(first + 1);
	if (history < 1 || history > MAX_HISTORY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("history cannot be %d", history),
				 errhint("It is a number of batches, or of days, from 1 to %d.", MAX_HISTORY)));
	/* a day may have many batches */
	if (min_history < 1 || min_history > (strcmp(by, "days") == 0 ? MAX_HISTORY : history))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("min_history cannot be %d", min_history),
				 errhint("It is a number of batches, from 1 to the history of %d.", history)));
	if (!dq_known_grouping(by))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("by \"%s\" is not known", by),
				 errhint("Batches are compared by \"batches\", \"days\", \"weekday\", \"hour\" or \"month_end\".")));
	decl->params = list_concat(decl->params, dq_history_params(history, min_history, by));
}
