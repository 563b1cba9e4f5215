/*
 * audit.h
 *		Evaluate the plan's checks on the batch.
 */
#ifndef DQ_GATE_AUDIT_H
#define DQ_GATE_AUDIT_H

#include "types.h"

extern void dq_audit(Run *run);
extern void dq_audit_readiness(Run *run);
extern const char *dq_status_name(DqStatus status);

#endif							/* DQ_GATE_AUDIT_H */
