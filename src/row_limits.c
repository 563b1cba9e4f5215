/*
 * row_limits.c
 *		How many failing rows a check tolerates, and what more of them do.
 *
 * max_rows and max_rate are a tolerance: up to there the check passes.
 * warn_above and block_above are two levels of one rule: above the second the
 * batch is blocked, whatever the action; between them a check that blocks only
 * warns.  A level below 1 is a rate of the rows examined, else a number of
 * rows.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "row_limits.h"

void
dq_init_limits(Limits *limits)
{
	limits->max_rate = limits->max_rows = -1;
	limits->warn_above = limits->block_above = -1;
}

bool
dq_has_limits(const Limits *limits)
{
	return limits->max_rate >= 0 || limits->max_rows >= 0 ||
		limits->warn_above >= 0 || limits->block_above >= 0;
}

/*
 * The share of rows that failed.  Divided rather than the limit multiplied:
 * 29 of 100 is 0.29 then, to the last bit.
 */
static double
rate(const CheckResult *result)
{
	return result->examined > 0 ?
		(double) result->failing / (double) result->examined : 0;
}

/* Whether more rows failed than a level says; a level not set is exceeded by any */
static bool
exceeds(const CheckResult *result, double level)
{
	if (level < 0)
		return result->failing > 0;
	if (level > 0 && level < 1)
		return rate(result) > level;
	return (double) result->failing > level;
}

/*
 * Whether the failing rows of a result are still a pass.  If not, its action
 * becomes what the levels make of it.
 */
bool
dq_within_limits(CheckResult *result)
{
	const Limits *limits = &result->check->limits;
	DqAction	action = result->check->action;

	result->action = action;
	if (result->failing <= 0)
		return true;

	if ((limits->max_rows >= 0 || limits->max_rate >= 0) &&
		!(limits->max_rows >= 0 && result->failing > limits->max_rows) &&
		!(limits->max_rate >= 0 && rate(result) > limits->max_rate))
		return true;

	if (limits->block_above >= 0)
	{
		if (exceeds(result, limits->block_above))
		{
			result->action = DQ_BLOCK;
			return false;
		}
		if (action == DQ_BLOCK)
			result->action = DQ_WARN;
	}
	if (result->action == DQ_WARN || limits->block_above < 0)
		return !exceeds(result, limits->warn_above);
	return false;
}

static void
append_level(StringInfo buf, const char *words, double level, bool is_rate)
{
	if (level < 0)
		return;
	if (buf->len > 0)
		appendStringInfoString(buf, ", ");
	if (is_rate || (level > 0 && level < 1))
		appendStringInfo(buf, "%s %g%%", words, level * 100);
	else
		appendStringInfo(buf, "%s %.0f row%s", words, level, level == 1 ? "" : "s");
}

/* The limits in words */
char *
dq_describe_limits(const Check *check)
{
	const Limits *limits = &check->limits;
	StringInfoData buf;

	if (!dq_has_limits(limits))
		return "0 rows";
	initStringInfo(&buf);
	append_level(&buf, "at most", limits->max_rows, false);
	append_level(&buf, "at most", limits->max_rate, true);
	append_level(&buf, "warn above", limits->warn_above, false);
	append_level(&buf, "block above", limits->block_above, false);
	return buf.data;
}
