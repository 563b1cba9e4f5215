/*
 * error_context.c
 *		Say in every error which gate and which check it is about.
 */
#include "postgres.h"

#include "error_context.h"

static void
append_context(void *arg)
{
	DqErrorContext *context = arg;

	errcontext(context->format, context->name);
}

/* The format has one %s, for the name */
void
dq_push_context(DqErrorContext *context, const char *format, const char *name)
{
	context->format = format;
	context->name = name;
	context->callback.callback = append_context;
	context->callback.arg = context;
	context->callback.previous = error_context_stack;
	error_context_stack = &context->callback;
}

void
dq_pop_context(DqErrorContext *context)
{
	error_context_stack = context->callback.previous;
}
