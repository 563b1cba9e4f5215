/*
 * baseline.h
 *		What the kinds that learn have in common.
 */
#ifndef DQ_GATE_BASELINE_H
#define DQ_GATE_BASELINE_H

#include "types.h"

#include "declare.h"

extern char *dq_lacking_history(const Check *check);
extern char *dq_history_sql(const Check *check, const char *alias);
extern char *dq_unjudged_sql(const char *actual, const char *reason);
extern const char *dq_grouping_words(const Check *check);
extern void dq_declare_history(FunctionCallInfo fcinfo, int first, Declaration *decl);
extern List *dq_history_params(int history, int min_history, const char *by);

#endif							/* DQ_GATE_BASELINE_H */
