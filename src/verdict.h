/*
 * verdict.h
 *		Results and actions become a verdict.
 */
#ifndef DQ_GATE_VERDICT_H
#define DQ_GATE_VERDICT_H

#include "types.h"

extern List *dq_told_failures(const Run *run);
extern void dq_judge_run(Run *run);
extern bool dq_moves_rows(const Run *run);
extern void dq_leave_uncounted(Run *run);
extern void dq_skip_repeated(Run *run);
extern void dq_skip_tick(Run *run, const char *why);
extern void dq_reject_emptied(Run *run);
extern List *dq_public_failures(const Run *run);
extern bool dq_needs_attention(const Run *run);
extern bool dq_needs_warning(const Run *run);
extern const char *dq_verdict_name(DqVerdict verdict);

#endif							/* DQ_GATE_VERDICT_H */
