/*
 * tick.h
 *		Calls that a scheduler makes by the clock.
 */
#ifndef DQ_GATE_TICK_H
#define DQ_GATE_TICK_H

#include "types.h"

extern int64 dq_tick_argument(FunctionCallInfo fcinfo, int arg);
extern bool dq_claim_tick(const Run *run);
extern int64 dq_missed_by(const Run *run);

#endif							/* DQ_GATE_TICK_H */
