/*
 * apply.h
 *		Make the calls that bring a gate about as a document has it.
 */
#ifndef DQ_GATE_APPLY_H
#define DQ_GATE_APPLY_H

#include "definition.h"
#include "types.h"

extern void dq_call_function(const char *function, Oid target, const char *name,
							 List *settings, const char *rest);
extern void dq_declare_check(Oid target, const CheckDefinition *check);
extern void dq_redeclare_check(Oid target, const CheckDefinition *check);
extern const char *dq_apply_properties(const Gate *gate, List *settings);

#endif							/* DQ_GATE_APPLY_H */
