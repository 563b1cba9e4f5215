/*
 * fit.h
 *		Does a staged value fit the type of the target's column?
 */
#ifndef DQ_GATE_FIT_H
#define DQ_GATE_FIT_H

#include "types.h"

extern void dq_choose_fit(Column *column, Oid staged_collid);

#endif							/* DQ_GATE_FIT_H */
