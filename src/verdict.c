/*
 * verdict.c
 *		Results and actions become a verdict.  There is no SQL in it.
 */
#include "postgres.h"

#include "action.h"
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
		case DQ_VERDICT_SKIPPED:
			return "skipped";
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
	switch (result->action)
	{
		case DQ_BLOCK:
			return true;
		case DQ_QUARANTINE:
		case DQ_DROP:
		case DQ_SKIP:
			return result->status == DQ_ERROR;
		case DQ_WARN:
		case DQ_DECLARE:
			return false;
	}
	return true;
}

/*
 * Whether a result says that the batch is not ready to be judged.  Then it is
 * left alone, whatever else is wrong with it.
 */
static bool
skips(const CheckResult *result)
{
	return result->action == DQ_SKIP && result->status == DQ_FAILED;
}

/* Whether it was to be ready by now: that is no reason to skip any more */
static bool
is_overdue(const CheckResult *result)
{
	return result->check->action == DQ_SKIP && result->action == DQ_BLOCK;
}

/* What a failed check has found, for those who may not see the rows */
static const char *
public_finding(const CheckResult *result)
{
	return result->discreet ? result->discreet : result->failure;
}

/* A line about a check that failed */
static char *
failure_text(const CheckResult *result, const char *finding)
{
	return psprintf("%s: %s%s", result->check->name, finding,
					result->action == DQ_BLOCK ? "" :
					psprintf(" (%s)", dq_action_name(result->action)));
}

/*
 * Decide from the results whether the audit passed, and list what failed.
 */
void
dq_judge_run(Run *run)
{
	bool		overdue = false;
	ListCell   *lc;

	run->passed = true;
	run->skipped = false;
	run->clean = true;
	run->checks_failed = 0;
	run->failed = NIL;
	run->failures = NIL;
	foreach(lc, run->results)
	{
		CheckResult *result = lfirst(lc);

		if (result->status != DQ_FAILED && result->status != DQ_ERROR)
			continue;
		run->checks_failed++;
		run->failed = lappend(run->failed, result->check->name);
		run->failures = lappend(run->failures, failure_text(result, result->failure));
		if (blocks(result) || skips(result))
			run->clean = false;
		/* a gate that is being calibrated keeps out only what cannot be published, or not twice */
		if (!run->gate->enforce && !result->check->essential)
			continue;
		run->skipped |= skips(result);
		overdue |= is_overdue(result);
		if (blocks(result) || skips(result))
			run->passed = false;
	}
	run->skipped &= !overdue;
	run->verdict = run->skipped ? DQ_VERDICT_SKIPPED :
		run->passed ? DQ_VERDICT_PUBLISHED : DQ_VERDICT_REJECTED;
	if (run->dry_run)
		run->verdict = DQ_VERDICT_AUDITED;
}

/*
 * The failures for those who may not see the rows: what failed and in how many
 * of them, and neither the text of an error nor what was computed from their
 * values.  In the order of the checks, or what kept the batch out before the
 * rest.
 */
static List *
public_failures(const Run *run, bool worst_first)
{
	List	   *of_checks = NIL;
	List	   *of_run;
	int			checks = 0;
	int			blocking = 0;
	ListCell   *lc;

	foreach(lc, run->results)
	{
		const CheckResult *result = lfirst(lc);
		char	   *text;

		if (result->status != DQ_FAILED && result->status != DQ_ERROR)
			continue;
		checks++;
		text = failure_text(result, public_finding(result));
		if (worst_first && blocks(result))
			of_checks = list_insert_nth(of_checks, blocking++, text);
		else
			of_checks = lappend(of_checks, text);
	}
	/* what no check has said but the run itself, in words of our own unless it is an error */
	of_run = run->verdict == DQ_VERDICT_PUBLISH_FAILED ?
		list_make1(psprintf("publish: SQLSTATE %s", run->error_sqlstate)) :
		list_copy_tail(run->failures, checks);
	return worst_first && !run->published ? list_concat(of_run, of_checks) :
		list_concat(of_checks, of_run);
}

/*
 * The failures as the caller is told them.
 */
List *
dq_told_failures(const Run *run)
{
	return run->veiled ? public_failures(run, false) : run->failures;
}

/*
 * The failures as everybody is told them who listens.
 */
List *
dq_public_failures(const Run *run)
{
	return public_failures(run, true);
}

/*
 * A batch that was published before is not looked at again.
 */
void
dq_skip_repeated(Run *run)
{
	run->verdict = DQ_VERDICT_SKIPPED;
	run->skipped = true;
	run->failed = list_make1("batch_id");
	run->failures = list_make1(psprintf("batch_id: run " INT64_FORMAT " has published this batch before (skip)",
										run->repeats));
}

/* Of a batch that nobody has looked at, no row is counted */
void
dq_leave_uncounted(Run *run)
{
	run->row_count = run->inserted = run->updated = run->unchanged = run->deleted = run->stale =
		run->quarantined = run->dropped = DQ_UNKNOWN;
}

/*
 * A call that a scheduler makes while another one does the work does nothing.
 */
void
dq_skip_tick(Run *run, const char *why)
{
	dq_leave_uncounted(run);
	run->verdict = DQ_VERDICT_SKIPPED;
	run->skipped = true;
	run->failed = list_make1("tick");
	run->failures = list_make1(psprintf("tick: %s (skip)", why));
}

/*
 * A batch whose rows are all in quarantine is empty after all.
 */
void
dq_reject_emptied(Run *run)
{
	ListCell   *lc;

	foreach(lc, run->results)
	{
		CheckResult *result = lfirst(lc);

		if (result->check->kind != &dq_kind_not_empty)
			continue;
		result->status = DQ_FAILED;
		result->actual = "0 rows";
		result->message = "all rows were quarantined or dropped, none is left to publish";
		result->failure = result->message;
	}
	dq_judge_run(run);
}

/* Whether rows that failed are to be moved out of the batch */
bool
dq_moves_rows(const Run *run)
{
	ListCell   *lc;

	if (!run->gate->enforce)
		return false;
	foreach(lc, run->results)
	{
		CheckResult *result = lfirst(lc);

		if (result->status == DQ_FAILED &&
			(result->action == DQ_QUARANTINE || result->action == DQ_DROP))
			return true;
	}
	return false;
}

/*
 * Whether somebody ought to look at the run: it did not publish, or something
 * failed, which is so as well where rows were moved out.  What was only a look,
 * or was not ready to be judged, is nothing to look at.
 */
bool
dq_needs_attention(const Run *run)
{
	return !run->dry_run && !run->skipped &&
		(run->verdict != DQ_VERDICT_PUBLISHED || run->failures != NIL);
}

/*
 * Whether the caller is to be warned: of a dry run as well, but not of what the
 * gate was told to let pass, or to put into quarantine.
 */
bool
dq_needs_warning(const Run *run)
{
	ListCell   *lc;

	if (run->skipped)
		return false;
	if (!run->passed || run->verdict == DQ_VERDICT_PUBLISH_FAILED || run->dropped > 0 ||
		run->undeleted > 0)
		return true;

	foreach(lc, run->results)
	{
		CheckResult *result = lfirst(lc);

		if ((result->status == DQ_FAILED || result->status == DQ_ERROR) &&
			result->action == DQ_WARN)
			return true;
	}
	return false;
}
