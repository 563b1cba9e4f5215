/*
 * log.h
 *		The sole writer of runs and results.
 */
#ifndef DQ_GATE_LOG_H
#define DQ_GATE_LOG_H

#include "types.h"

extern int64 dq_next_run_id(void);
extern void dq_log_run(const Run *run);

#endif							/* DQ_GATE_LOG_H */
