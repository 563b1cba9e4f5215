/*
 * publish.h
 *		Bring the batch into the target.
 */
#ifndef DQ_GATE_PUBLISH_H
#define DQ_GATE_PUBLISH_H

#include "types.h"

extern void dq_publish(Run *run, const char *without);
extern void dq_begin_immediate(const Run *run);
extern void dq_end_immediate(const Run *run);
extern void dq_install_merge_hooks(void);

#endif							/* DQ_GATE_PUBLISH_H */
