/*
 * policy.h
 *		Whether the settings of a gate make sense together.
 */
#ifndef DQ_GATE_POLICY_H
#define DQ_GATE_POLICY_H

#include "types.h"

extern bool dq_mode_updates(const Gate *gate);
extern bool dq_mode_deletes(const Gate *gate);
extern bool dq_mode_matches(const Gate *gate);
extern bool dq_mode_needs_key(const Gate *gate);
extern void dq_resolve_scope(Gate *gate);
extern void dq_check_policy(const ColumnMap *map);

#endif							/* DQ_GATE_POLICY_H */
