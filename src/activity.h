/*
 * activity.h
 *		What other sessions see of a run under way.
 */
#ifndef DQ_GATE_ACTIVITY_H
#define DQ_GATE_ACTIVITY_H

#include "types.h"

/* What a run is doing; the view dq_gate.activity has the words */
typedef enum RunPhase
{
	RUN_LOCKING = 1,
	RUN_PLANNING,
	RUN_AUDITING,
	RUN_QUARANTINING,
	RUN_PUBLISHING,
	RUN_LOGGING,
	RUN_DONE
} RunPhase;

extern void dq_activity_begin(Run *run);
extern void dq_activity_phase(const Run *run, RunPhase phase);
extern void dq_activity_run_id(const Run *run);
extern void dq_activity_row_count(const Run *run);
extern void dq_activity_end(const Run *run);

#endif							/* DQ_GATE_ACTIVITY_H */
