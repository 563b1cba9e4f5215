/*
 * triggers.h
 *		The triggers of a table.
 */
#ifndef DQ_GATE_TRIGGERS_H
#define DQ_GATE_TRIGGERS_H

#include "types.h"

/* What others want to know of a trigger */
typedef struct TargetTrigger
{
	int16		type;
	Oid			function;
	Oid			constraint;
	bool		deferrable;
	bool		deferred;		/* begins deferred */
} TargetTrigger;

extern List *dq_target_triggers(Oid target);
extern Oid	dq_cascading_constraint(Oid target);

#endif							/* DQ_GATE_TRIGGERS_H */
