/*
 * run.h
 *		One attempt to audit and publish a batch.
 */
#ifndef DQ_GATE_RUN_H
#define DQ_GATE_RUN_H

#include "types.h"

extern void dq_prepare_run(Run *run, Oid staging, Oid target);
extern void dq_run(Run *run, Oid staging, Oid target);

#endif							/* DQ_GATE_RUN_H */
