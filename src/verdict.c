/*
 * verdict.c
 *		Results and actions become a verdict.  There is no SQL in it.
 */
#include "postgres.h"

#include "kinds/kinds.h"
#include "verdict.h"

const char *
dq_verdict_name(DqVerdict verdict)
{
	switch (verdict)
	{
		case DQ_VERDICT_PUBLISHED:
			return "published";
		case DQ_VERDICT_REJECTED:
			return "rejected";
		case DQ_VERDICT_PUBLISH_FAILED:
			return "failed";
		case DQ_VERDICT_AUDITED:
			return "audited";
	}
	return "?";					/* keep the compiler quiet */
}

/*
 * Whether a result keeps the batch out.  A broken check fails as its action
 * says, but which rows it would have moved nobody knows.
 */
static bool
blocks(const CheckResult *result)
{
	switch (result->check->action)
	{
		case DQ_BLOCK:
			return true;
		case DQ_QUARANTINE:
			return result->status == DQ_ERROR;
		case DQ_WARN:
			return false;
	}
	return true;
}

/*
 * Decide from the results whether the audit passed, and list what failed.
 */
void
dq_judge_run(Run *run)
{
	ListCell   *lc;

	run->passed = true;
	foreach(lc, run->results)
	{
		CheckResult *result = lfirst(lc);

		if (result->status != DQ_FAILED && result->status != DQ_ERROR)
			continue;
		run->checks_failed++;
		run->failures = lappend(run->failures,
								psprintf("%s: %s%s", result->check->name, result->failure,
										 result->check->action == DQ_BLOCK ? "" :
										 psprintf(" (%s)", dq_action_name(result->check->action))));
		if (blocks(result))
			run->passed = false;
	}
	run->verdict = run->passed ? DQ_VERDICT_PUBLISHED : DQ_VERDICT_REJECTED;
	if (run->dry_run)
		run->verdict = DQ_VERDICT_AUDITED;
}

/* Whether rows that failed are to be moved out of the batch */
bool
dq_moves_rows(const Run *run)
{
	ListCell   *lc;

	foreach(lc, run->results)
	{
		CheckResult *result = lfirst(lc);

		if (result->status == DQ_FAILED && result->check->action == DQ_QUARANTINE)
			return true;
	}
	return false;
}

/* Reject a batch for a reason that only showed after the audit */
void
dq_reject(Run *run, const char *failure)
{
	run->passed = false;
	run->verdict = DQ_VERDICT_REJECTED;
	run->checks_failed++;
	run->failures = lappend(run->failures, pstrdup(failure));
}
