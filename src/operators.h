/*
 * operators.h
 *		Roles that may run a gate without being members of its role.
 */
#ifndef DQ_GATE_OPERATORS_H
#define DQ_GATE_OPERATORS_H

#include "types.h"

extern bool dq_is_operator(Oid target, Oid caller);

#endif							/* DQ_GATE_OPERATORS_H */
