/*
 * time_limit.c
 *		Trying something, but not for longer than so much.
 *
 * The limit of a check is told apart from statement_timeout and from a cancel
 * by the user, which are not the check's fault and go on to the caller.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timeout.h"

#include "time_limit.h"
#include "types.h"

static volatile sig_atomic_t limit_reached = false;

/* Cancel what is running, unless somebody else already does */
static void
reach_limit(void)
{
	if (QueryCancelPending)
		return;
	limit_reached = true;
	InterruptPending = true;
	QueryCancelPending = true;
}

typedef struct LimitedStep
{
	DqStep		step;
	void	   *arg;
	int			limit_ms;
	TimeoutId	timeout;
} LimitedStep;

/* Stop the clock; what it asked for just now is not to hit the next one */
static void
stop_clock(const LimitedStep *limited)
{
	disable_timeout(limited->timeout, false);
	if (limit_reached)
		QueryCancelPending = false;
}

static void
limited_step(void *arg)
{
	LimitedStep *limited = arg;
	MemoryContext context = CurrentMemoryContext;

	limit_reached = false;
	enable_timeout_after(limited->timeout, limited->limit_ms);
	PG_TRY();
	{
		limited->step(limited->arg);
		stop_clock(limited);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		stop_clock(limited);
		if (!limit_reached)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (error->sqlerrcode != ERRCODE_QUERY_CANCELED || error->message_id == NULL ||
			strcmp(error->message_id, "canceling statement due to user request") != 0)
			PG_RE_THROW();
		FlushErrorState();
		ereport(ERROR,
				(errcode(ERRCODE_DQ_CHECK_TIMEOUT),
				 errmsg("took longer than the check_timeout of the gate, %g s",
						limited->limit_ms / 1000.0)));
	}
	PG_END_TRY();
}

/*
 * As dq_attempt; a step that takes longer than the limit fails by its own
 * fault.  No limit is 0.
 */
bool
dq_attempt_within(DqStep step, void *arg, int limit_ms, ErrorData **error)
{
	static TimeoutId timeout = MAX_TIMEOUTS;
	LimitedStep limited = {step, arg, limit_ms, timeout};

	if (limit_ms == 0)
		return dq_attempt(step, arg, error);
	/* the server has few of them: one for the life of the session */
	if (timeout == MAX_TIMEOUTS)
		timeout = RegisterTimeout(USER_TIMEOUT, reach_limit);
	limited.timeout = timeout;
	return dq_attempt(limited_step, &limited, error);
}
