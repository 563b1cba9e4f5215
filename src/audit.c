/*
 * audit.c
 *		Evaluate the plan's checks on the batch.
 *
 * All row rules share one scan of staging, as aggregates of one statement;
 * what cannot ride on it has a query of its own.  Everything is read with one
 * snapshot, as the gate's role, in a transaction that is read-only for the
 * while.  A check that cannot be evaluated becomes a finding of its own and
 * leaves the others alone: the scan is halved until the culprit is found.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "activity.h"
#include "audit.h"
#include "columns.h"
#include "current_batch.h"
#include "error_context.h"
#include "kinds/kinds.h"
#include "outcome.h"
#include "profile.h"
#include "row_limits.h"
#include "spi_util.h"
#include "time_limit.h"

/* A SELECT has no more than 1664 columns; each check takes up to four */
#define CHECKS_PER_SCAN		400

/*
 * The sum over a rule of 0 where it is true, 1 where it is false, and this
 * where it is NULL, counts both and evaluates the rule once.
 */
#define NULL_WEIGHT			"1099511627776"

/* What the room works on */
typedef struct Audit
{
	Run		   *run;
	char	   *source;
} Audit;

/* The results of some checks, to be measured by one scan */
typedef struct ScanStep
{
	const Audit *audit;
	List	   *results;		/* of CheckResult * */
} ScanStep;

/* One check to be measured by a query of its own */
typedef struct QueryStep
{
	const Audit *audit;
	CheckResult *result;
} QueryStep;

const char *
dq_status_name(DqStatus status)
{
	switch (status)
	{
		case DQ_PASSED:
			return "passed";
		case DQ_FAILED:
			return "failed";
		case DQ_ERROR:
			return "error";
		case DQ_NOT_JUDGED:
			return "not_judged";
	}
	return "?";					/* keep the compiler quiet */
}

static void
set_error(CheckResult *result, const char *error)
{
	result->status = DQ_ERROR;
	result->message = psprintf("could not be evaluated: %s", error);
	result->failure = result->message;
	result->discreet = "could not be evaluated";
}

/* A step that must not write */
typedef struct ReadingStep
{
	DqStep		step;
	void	   *arg;
} ReadingStep;

/*
 * A read-only transaction may still write temporary tables, of which staging
 * may be one.  The command counter tells, and the error takes the write back.
 */
static void
reading_step(void *arg)
{
	ReadingStep *reading = arg;
	CommandId	before = GetCurrentCommandId(false);

	reading->step(reading->arg);
	if (GetCurrentCommandId(false) != before)
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("a check must not write, not even into a temporary table")));
}

static bool
attempt_reading(const Audit *audit, DqStep step, void *arg, ErrorData **error)
{
	ReadingStep reading = {step, arg};

	return dq_attempt_within(reading_step, &reading, audit->run->gate->check_timeout_ms, error);
}

/* Name the check in whatever error is reported while it is evaluated */
static void
run_step(const Audit *audit, DqStep step, void *arg, const char *check, List *results)
{
	DqErrorContext context;
	ErrorData  *error;
	bool		done;

	dq_push_context(&context, "evaluating check %s", check);
	done = attempt_reading(audit, step, arg, &error);
	dq_pop_context(&context);
	if (!done)
	{
		char	   *text = dq_error_text(error);
		ListCell   *lc;

		foreach(lc, results)
		{
			CheckResult *result = lfirst(lc);

			/* the text of an error may hold a value */
			set_error(result, result->check->no_samples &&
					  error->sqlerrcode != ERRCODE_DQ_CHECK_TIMEOUT ?
					  psprintf("SQLSTATE %s", unpack_sql_state(error->sqlerrcode)) : text);
		}
		FreeErrorData(error);
	}
}

/* One scan of staging for the number of rows and what each check counts */
static void
scan_step(void *arg)
{
	ScanStep   *step = arg;
	StringInfoData sql;
	ListCell   *lc;
	int			column = 1;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT pg_catalog.count(*)");
	foreach(lc, step->results)
	{
		Check	   *check = ((CheckResult *) lfirst(lc))->check;

		if (check->rule_sql)
		{
			char	   *weights = psprintf("pg_catalog.sum(CASE (%s) WHEN true THEN 0 WHEN false THEN 1 ELSE " NULL_WEIGHT " END)",
										   check->rule_sql);

			/* one aggregate for the server, though it stands here twice */
			appendStringInfo(&sql, ", (%1$s %% " NULL_WEIGHT ")::pg_catalog.int8,"
							 " pg_catalog.div(%1$s, " NULL_WEIGHT ")::pg_catalog.int8", weights);
		}
		else if (check->kind->evaluation == EVAL_SCAN)
			appendStringInfo(&sql, ", pg_catalog.count(*) FILTER (WHERE %s)", check->fail_sql);
		else if (check->kind->evaluation == EVAL_AGGREGATE)
			appendStringInfo(&sql, ", (%s)::pg_catalog.int4::pg_catalog.int8", check->aggregate_sql);
		if (check->null_sql)
			appendStringInfo(&sql, ", pg_catalog.count(*) FILTER (WHERE %s)", check->null_sql);
		if (check->observed_sql)
			appendStringInfo(&sql, ", %s", check->observed_sql);
		if (check->filter_sql)
			appendStringInfo(&sql, ", pg_catalog.count(*) FILTER (WHERE %s)", check->filter_sql);
	}
	appendStringInfo(&sql, " FROM %s", step->audit->source);

	dq_execute(sql.data, 0, NULL, NULL, NULL, true);
	step->audit->run->row_count = dq_result_int64(0, column++, 0);
	foreach(lc, step->results)
	{
		CheckResult *result = lfirst(lc);
		Check	   *check = result->check;

		result->examined = step->audit->run->row_count;
		if (check->rule_sql)
		{
			result->failing = dq_result_int64(0, column++, 0);
			result->nulls = dq_result_int64(0, column++, 0);
			if (check->nulls_fail)
				result->failing += result->nulls;
		}
		else if (check->kind->evaluation == EVAL_SCAN ||
				 check->kind->evaluation == EVAL_AGGREGATE)
			result->failing = dq_result_int64(0, column++, 0);
		if (check->null_sql)
			result->nulls = dq_result_int64(0, column++, 0);
		if (check->observed_sql)
			result->actual = dq_result_text(0, column++);
		if (check->filter_sql)
			result->examined = dq_result_int64(0, column++, 0);
	}
	dq_free_result();
}

/* Measure checks by one scan; where that fails, by two of half the checks */
static void
scan(const Audit *audit, List *results)
{
	ScanStep	step = {audit, results};
	ErrorData  *error;
	List	   *half;
	int			count = list_length(results);

	CHECK_FOR_INTERRUPTS();
	if (count <= 1)
	{
		run_step(audit, scan_step, &step,
				 count == 1 ? ((CheckResult *) linitial(results))->check->name : "not_empty",
				 results);
		return;
	}
	if (attempt_reading(audit, scan_step, &step, &error))
		return;
	FreeErrorData(error);
	half = list_truncate(list_copy(results), count / 2);
	scan(audit, half);
	scan(audit, list_copy_tail(results, count / 2));
}

/* Does the rule still parse?  Cheap, and spares the scan its halving */
static void
parse_step(void *arg)
{
	QueryStep  *step = arg;

	dq_execute(psprintf("SELECT %s FROM %s LIMIT 0", step->result->check->fail_sql,
						step->audit->source),
			   0, NULL, NULL, NULL, true);
	dq_free_result();
}

/* One column to be profiled */
typedef struct ProfileStep
{
	const Audit *audit;
	Profile    *profile;
} ProfileStep;

static void
profile_step(void *arg)
{
	ProfileStep *step = arg;

	dq_execute(dq_profile_sql(step->audit->run->map, step->profile->column_name), 0, NULL, NULL, NULL, true);
	step->profile->json = dq_result_text(0, 1);
	dq_free_result();
}

/* A profile that cannot be made is the fault of the check that wants it */
static void
make_profiles(const Audit *audit)
{
	ListCell   *lc;

	foreach(lc, dq_columns_to_profile(audit->run))
	{
		Profile    *profile = palloc0(sizeof(Profile));
		ProfileStep step = {audit, profile};
		ErrorData  *error;

		CHECK_FOR_INTERRUPTS();
		profile->column_name = lfirst(lc);
		if (!attempt_reading(audit, profile_step, &step, &error))
		{
			profile->error = dq_error_text(error);
			FreeErrorData(error);
		}
		audit->run->profiles = lappend(audit->run->profiles, profile);
	}
}

/* Give a check the profile that it is about */
static void
take_profile(const Audit *audit, CheckResult *result)
{
	ListCell   *lc;

	foreach(lc, audit->run->profiles)
	{
		Profile    *profile = lfirst(lc);

		if (strcmp(profile->column_name, result->check->profile_of) != 0)
			continue;
		result->actual = profile->json;
		if (profile->error)
			set_error(result, result->check->no_samples ? "the column could not be profiled" : profile->error);
	}
}

/* A query that counts, and another one for the details if it found any */
static void
query_step(void *arg)
{
	QueryStep  *step = arg;
	CheckResult *result = step->result;
	Check	   *check = result->check;

	dq_execute(check->probe_sql, 0, NULL, NULL, NULL, true);
	result->failing = dq_result_int64(0, 1, 0);
	dq_free_result();
	if (result->failing > 0 && check->detail_sql)
	{
		dq_execute(check->detail_sql, 0, NULL, NULL, NULL, true);
		result->failing = dq_result_int64(0, 1, 0);
		result->actual = dq_result_text(0, 2);
		dq_free_result();
	}
}

/*
 * A query that judges the batch as a whole.  It is given the number of rows
 * examined and what the shared scan observed, and answers: whether the check
 * fails, the actual value, the finding in words, and a sample; further, if it
 * has more to say, why it cannot be judged after all, words that name values
 * of rows, and whether it blocks, whatever its action.
 */
static void
judge_step(void *arg)
{
	QueryStep  *step = arg;
	CheckResult *result = step->result;
	Oid			types[2] = {INT8OID, TEXTOID};
	Datum		values[2];
	char		nulls[3] = "  ";
	bool		isnull;

	values[0] = Int64GetDatum(result->examined);
	values[1] = result->actual ? CStringGetTextDatum(result->actual) : (Datum) 0;
	nulls[1] = result->actual ? ' ' : 'n';
	dq_execute(result->check->judge_sql, 2, types, values, nulls, true);
	/* neither true nor false is no pass */
	result->failing = !DatumGetBool(dq_result_datum(0, 1, &isnull)) && !isnull ? 0 : 1;
	result->actual = dq_result_text(0, 2);
	result->message = dq_result_text(0, 3);
	result->sample = dq_result_text(0, 4);
	if (SPI_tuptable->tupdesc->natts > 4)
		result->unjudged = dq_result_text(0, 5);
	if (SPI_tuptable->tupdesc->natts > 5)
		result->values = dq_result_text(0, 6);
	if (SPI_tuptable->tupdesc->natts > 6 && DatumGetBool(dq_result_datum(0, 7, &isnull)) && !isnull)
		result->action = DQ_BLOCK;
	dq_free_result();
}

/*
 * Some failing rows, as the key and the columns of the check, values as they
 * are staged and cut where they are long.
 */
static char *
sample_sql(const Audit *audit, const Check *check)
{
	StringInfoData sql;
	List	   *names = dq_add_names(dq_column_names(audit->run->map->key), check->columns);
	int			shown = 0;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT pg_catalog.jsonb_build_object(");
	foreach(lc, names)
	{
		Column	   *column = dq_find_column(audit->run->map, lfirst(lc));

		/* a function call takes 100 arguments */
		if (column == NULL || !column->staged || shown >= 50)
			continue;
		appendStringInfo(&sql, "%s%s, ", shown++ > 0 ? ", " : "", dq_literal(lfirst(lc)));
		switch (TypeCategory(getBaseType(column->staged_typid)))
		{
			case TYPCATEGORY_NUMERIC:
			case TYPCATEGORY_BOOLEAN:
				appendStringInfoString(&sql, column->staged_sql);
				break;
			default:
				appendStringInfo(&sql, "pg_catalog.left((%s)::pg_catalog.text, 100)", column->staged_sql);
				break;
		}
	}
	appendStringInfo(&sql, ") AS dq_sample FROM %s WHERE %s", audit->source, check->fail_sql);
	return sql.data;
}

static void
sample_step(void *arg)
{
	QueryStep  *step = arg;
	Check	   *check = step->result->check;
	char	   *sql = check->sample_sql ? check->sample_sql : sample_sql(step->audit, check);

	dq_execute(psprintf("SELECT pg_catalog.jsonb_agg(dq_sample),"
						" (pg_catalog.jsonb_agg(dq_sample) -> 0)::pg_catalog.text"
						" FROM (%s LIMIT %d) AS failing", sql, DQ_SAMPLE_ROWS),
			   0, NULL, NULL, NULL, true);
	step->result->sample = dq_result_text(0, 1);
	if (step->result->sample)
		step->result->message = psprintf("%s, for example %s", step->result->message,
										 dq_result_text(0, 2));
	dq_free_result();
}

/* A measured row rule becomes passed or failed, in words */
static void
judge_rows(const Audit *audit, CheckResult *result)
{
	Check	   *check = result->check;

	/* the smallest and the largest value are values */
	if (check->no_samples && check->observed_sql && !check->kind->observes_counts)
		result->actual = NULL;
	result->threshold = dq_describe_limits(check);
	if (check->kind->rows)
		result->measured = (double) result->failing / (double) result->examined;
	else
		result->measured = (double) result->failing;
	result->status = dq_within_limits(result) ? DQ_PASSED : DQ_FAILED;
	if (result->failing > 0)
	{
		QueryStep	step = {audit, result};
		ErrorData  *error;
		StringInfoData message;

		initStringInfo(&message);
		if (!check->kind->rows)
			appendStringInfo(&message, INT64_FORMAT " row%s: %s", result->failing,
							 result->failing == 1 ? "" : "s", check->complaint);
		else if (check->detail_sql && result->actual)
			appendStringInfo(&message, "%s: %s", check->complaint, result->actual);
		else
			appendStringInfo(&message, INT64_FORMAT " of " INT64_FORMAT " row%s: %s",
							 result->failing, result->examined,
							 result->examined == 1 ? "" : "s", check->complaint);
		result->failure = pstrdup(message.data);
		result->message = message.data;
		/* a sample that cannot be shown is not worth a failure */
		if (!check->no_samples && !attempt_reading(audit, sample_step, &step, &error))
			FreeErrorData(error);
	}
	if (result->actual == NULL)
		result->actual = psprintf(INT64_FORMAT " row%s", result->failing,
								  result->failing == 1 ? "" : "s");
}

/* So does a rule over all rows, measured in the scan or by a query */
static void
judge_batch(CheckResult *result)
{
	Check	   *check = result->check;
	bool		failed = result->failing != 0;
	char	   *finding = result->message;

	/* it is about no row in particular */
	result->failing = DQ_UNKNOWN;
	if (check->kind->observes_number && result->actual &&
		(!check->no_samples || check->kind->learn || check->kind->observes_counts))
		result->measured = strtod(result->actual, NULL);
	result->threshold = check->threshold;
	if (result->unjudged)
	{
		result->status = DQ_NOT_JUDGED;
		result->message = result->unjudged;
		if (check->no_samples && !check->kind->observes_counts)
			result->actual = NULL;
		return;
	}
	result->status = failed ? DQ_FAILED : DQ_PASSED;
	result->message = NULL;
	if (failed)
		result->message = finding ? finding :
			psprintf("%s: %s", check->complaint, result->actual ? result->actual : "no value");
	if (check->no_samples)
	{
		result->sample = NULL;
		if (!check->kind->observes_counts)
		{
			result->actual = NULL;
			result->message = failed ? check->complaint : NULL;
		}
	}
	result->failure = result->message;
	/* of one row the sum is its value */
	if (!check->kind->observes_counts)
		result->discreet = check->complaint;
	if (failed && result->values && !check->no_samples)
		result->message = psprintf("%s, %s", result->message, result->values);
}

static CheckResult *
new_result(Check *check)
{
	CheckResult *result = palloc0(sizeof(CheckResult));

	result->check = check;
	result->action = check->action;
	result->status = DQ_NOT_JUDGED;
	result->examined = DQ_UNKNOWN;
	result->failing = DQ_UNKNOWN;
	result->nulls = DQ_UNKNOWN;
	result->measured = get_float8_nan();
	result->expected = check->filter ?
		psprintf("%s, where %s", check->rule, check->filter) : check->rule;
	if (check->broken)
		set_error(result, check->broken);
	else if (check->unjudged)
		result->message = check->unjudged;
	return result;
}

static List *
new_results(const CheckPlan *plan)
{
	List	   *results = NIL;
	ListCell   *lc;

	foreach(lc, plan->checks)
		results = lappend(results, new_result(lfirst(lc)));
	return results;
}

/* Whether the check is about what the other checks have found */
static bool
comes_later(const Check *check)
{
	return check->metric_of || check->kind->judged_last;
}

/* Whether the check is still to be measured */
static bool
is_open(const CheckResult *result)
{
	return result->status == DQ_NOT_JUDGED && !result->check->unjudged &&
		(result->check->kind->evaluation != EVAL_STATIC || result->check->filter_sql);
}

/* The declared rules that do not parse any more are set aside first */
static void
parse_declared(const Audit *audit)
{
	ListCell   *lc;

	foreach(lc, audit->run->results)
	{
		CheckResult *result = lfirst(lc);
		QueryStep	step = {audit, result};

		if (is_open(result) && result->check->declared && result->check->fail_sql)
			run_step(audit, parse_step, &step, result->check->name, list_make1(result));
	}
}

/* Measure what has a query of its own, or is about a profile */
static void
measure_alone(const Audit *audit, CheckResult *result)
{
	Check	   *check = result->check;
	QueryStep	step = {audit, result};

	if (check->profile_of && is_open(result))
		take_profile(audit, result);
	if (!comes_later(check) && (audit->run->row_count > 0 || check->kind->judges_empty) && is_open(result) &&
		check->kind->evaluation == EVAL_QUERY)
		run_step(audit, check->judge_sql ? judge_step : query_step, &step, check->name, list_make1(result));
	/* not the profile itself */
	if (check->profile_of && result->status == DQ_ERROR)
		result->actual = NULL;
	CHECK_FOR_INTERRUPTS();
}

static void
measure(const Audit *audit)
{
	Run		   *run = audit->run;
	List	   *open = NIL;
	ListCell   *lc;

	foreach(lc, run->results)
	{
		if (is_open(lfirst(lc)))
			open = lappend(open, lfirst(lc));
	}
	run->row_count = DQ_UNKNOWN;
	for (int from = 0; from == 0 || from < list_length(open); from += CHECKS_PER_SCAN)
		scan(audit, list_truncate(list_copy_tail(open, from), CHECKS_PER_SCAN));

	/* each check may have broken the scan: count the rows all the same */
	if (run->row_count == DQ_UNKNOWN)
	{
		ScanStep	step = {audit, NIL};

		scan_step(&step);
	}
	dq_activity_row_count(run);

	if (run->row_count > 0)
		make_profiles(audit);
	foreach(lc, open)
	{
		if (!((CheckResult *) lfirst(lc))->check->looks_at_others)
			measure_alone(audit, lfirst(lc));
	}
}

/* Nothing to say of no rows, whatever came of it, a division by zero for one */
static void
judge_empty(CheckResult *result)
{
	result->status = DQ_NOT_JUDGED;
	result->examined = 0;
	if (result->check->kind->evaluation == EVAL_AGGREGATE)
		result->failing = result->nulls = DQ_UNKNOWN;
	result->actual = NULL;
	result->message = result->check->filter ? "no rows that the filter picks" : "no rows";
	result->failure = NULL;
}

static void
judge(const Audit *audit, CheckResult *result)
{
	Run		   *run = audit->run;
	const CheckKind *kind = result->check->kind;

	if (result->check->unjudged || result->check->broken || comes_later(result->check))
		return;
	if (kind->evaluation == EVAL_STATIC)
	{
		if (result->status == DQ_NOT_JUDGED)
			kind->judge(result, run->map,
						result->check->filter_sql ? result->examined : run->row_count);
	}
	else if (!kind->judges_empty && (run->row_count == 0 || result->examined == 0) &&
			 (kind->evaluation == EVAL_AGGREGATE || is_open(result)))
		judge_empty(result);
	else if (is_open(result))
	{
		if (kind->evaluation == EVAL_AGGREGATE || result->check->judge_sql)
			judge_batch(result);
		else
			judge_rows(audit, result);
	}
}

/* True for a row that the checks judged so far move out of the batch; NULL: for none */
static char *
moved_sql(const Run *run)
{
	char	   *kept = dq_moved_sql(run, DQ_QUARANTINE);
	char	   *dropped = dq_moved_sql(run, DQ_DROP);

	if (kept == NULL && dropped == NULL)
		return NULL;
	return psprintf("(%s%s%s)", kept ? kept : "", kept && dropped ? " OR " : "", dropped ? dropped : "");
}

/*
 * First the checks that stand for themselves; then those that move rows
 * themselves and look at what the others leave, but not at each other: each
 * would repeat what all before it say, and in no order that settles all of
 * them.
 */
static void
judge_in_turn(const Audit *audit)
{
	char	   *moved;
	ListCell   *lc;

	foreach(lc, audit->run->results)
	{
		CheckResult *result = lfirst(lc);

		if (!result->check->looks_at_others)
			judge(audit, result);
	}
	moved = moved_sql(audit->run);
	foreach(lc, audit->run->results)
	{
		CheckResult *result = lfirst(lc);
		Check	   *check = result->check;

		if (!check->looks_at_others)
			continue;
		check->moved_sql = moved;
		if (moved && is_open(result))
			check->kind->compile(check, audit->run->map);
		if (is_open(result))
			measure_alone(audit, result);
		judge(audit, result);
	}
}

/* The checks that depend on which rows all the others move out, which is known now */
static void
judge_last(const Audit *audit)
{
	char	   *moved = moved_sql(audit->run);
	ListCell   *lc;

	foreach(lc, audit->run->results)
	{
		CheckResult *result = lfirst(lc);
		QueryStep	step = {audit, result};

		if (!result->check->kind->judged_last || !is_open(result))
			continue;
		result->check->moved_sql = moved ? moved : "false";
		result->check->kind->compile(result->check, audit->run->map);
		run_step(audit, judge_step, &step, result->check->name, list_make1(result));
		if (is_open(result))
			judge_batch(result);
	}
}

/* The checks about what others have measured, now that these have */
static void
judge_measured(const Audit *audit)
{
	ListCell   *lc;

	foreach(lc, audit->run->results)
	{
		CheckResult *result = lfirst(lc);
		QueryStep	step = {audit, result};
		bool		found = false;
		ListCell   *other;

		if (!result->check->metric_of || !is_open(result))
			continue;
		foreach(other, audit->run->results)
		{
			CheckResult *measured = lfirst(other);

			if (strcmp(measured->check->name, result->check->metric_of) != 0)
				continue;
			found = true;
			if (!isnan(measured->measured))
				result->actual = psprintf("%.17g", measured->measured);
		}
		if (!found)
			set_error(result, psprintf("there is no check %s any more",
									   quote_identifier(result->check->metric_of)));
		else if (result->actual == NULL)
			result->message = psprintf("check %s has measured nothing",
									   quote_identifier(result->check->metric_of));
		else
		{
			run_step(audit, judge_step, &step, result->check->name, list_make1(result));
			if (is_open(result))
				judge_batch(result);
		}
	}
}

/* The checks have seen the latest rows; the others are staged as well */
static void
count_stale(Run *run)
{
	int64		latest = run->row_count;

	if (run->map->staged_from == run->map->staging_sql)
		return;
	dq_execute(psprintf("SELECT pg_catalog.count(*) FROM %s", run->map->staging_sql),
			   0, NULL, NULL, NULL, true);
	run->row_count = dq_result_int64(0, 1, 0);
	run->stale = run->row_count - latest;
	dq_free_result();
}

/*
 * Audit the batch: fills in the results of the run and its number of rows.
 * The caller has locked what must not change meanwhile.
 */
void
dq_audit(Run *run)
{
	Audit		audit = {run, dq_source_sql(run->map, "batch")};
	Identity	saved;

	run->results = new_results(run->plan);
	dq_assume(&saved, run->gate->run_as, PHASE_AUDIT);
	dq_pin_batch(run);
	parse_declared(&audit);
	measure(&audit);
	judge_in_turn(&audit);
	judge_last(&audit);
	judge_measured(&audit);
	count_stale(run);
	dq_resume(&saved);
}

/*
 * Ask the checks that say whether the source is ready.  Of the batch itself
 * nothing is known, and nothing locked.
 */
void
dq_audit_readiness(Run *run)
{
	Audit		audit = {run, NULL};
	Identity	saved;
	ListCell   *lc;

	run->results = new_results(run->plan);
	run->row_count = DQ_UNKNOWN;
	dq_assume(&saved, run->gate->run_as, PHASE_AUDIT);
	dq_pin_batch(run);
	foreach(lc, run->results)
	{
		measure_alone(&audit, lfirst(lc));
		if (is_open(lfirst(lc)))
			judge_batch(lfirst(lc));
	}
	dq_resume(&saved);
}
