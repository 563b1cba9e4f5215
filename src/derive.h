/*
 * derive.h
 *		The target's own constraints become checks.
 */
#ifndef DQ_GATE_DERIVE_H
#define DQ_GATE_DERIVE_H

#include "types.h"

#include "access/htup.h"

extern List *dq_enforced_constraints(Oid target);
extern List *dq_constraint_columns(Oid target, HeapTuple tuple);
extern List *dq_derive_checks(const ColumnMap *map);

#endif							/* DQ_GATE_DERIVE_H */
