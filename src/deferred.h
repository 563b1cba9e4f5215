/*
 * deferred.h
 *		When deferred constraints are checked.
 */
#ifndef DQ_GATE_DEFERRED_H
#define DQ_GATE_DEFERRED_H

#include "types.h"

extern void dq_check_deferred(Oid target);
extern void dq_begin_immediate(void);
extern void dq_end_immediate(void);

#endif							/* DQ_GATE_DEFERRED_H */
