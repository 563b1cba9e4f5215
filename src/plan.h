/*
 * plan.h
 *		Derived and declared checks become the effective plan.
 */
#ifndef DQ_GATE_PLAN_H
#define DQ_GATE_PLAN_H

#include "types.h"

extern CheckPlan *dq_plan_readiness(const Gate *gate, const ColumnMap *map, const Run *run);
extern CheckPlan *dq_make_plan(const Gate *gate, const ColumnMap *map, const Run *run);

#endif							/* DQ_GATE_PLAN_H */
