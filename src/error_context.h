/*
 * error_context.h
 *		Say in every error which gate and which check it is about.
 */
#ifndef DQ_GATE_ERROR_CONTEXT_H
#define DQ_GATE_ERROR_CONTEXT_H

#include "postgres.h"

typedef struct DqErrorContext
{
	ErrorContextCallback callback;
	const char *format;
	const char *name;
} DqErrorContext;

extern void dq_push_context(DqErrorContext *context, const char *format,
							const char *name);
extern void dq_pop_context(DqErrorContext *context);

#endif							/* DQ_GATE_ERROR_CONTEXT_H */
