/*
 * publish.h
 *		Bring the batch into the target.
 */
#ifndef DQ_GATE_PUBLISH_H
#define DQ_GATE_PUBLISH_H

#include "types.h"

extern void dq_publish(Run *run, const char *without);
extern void dq_begin_publish(const Run *run);
extern void dq_end_publish(const Run *run);

#endif							/* DQ_GATE_PUBLISH_H */
