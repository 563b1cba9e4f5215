/*
 * action.h
 *		What a failing check does, by name.
 */
#ifndef DQ_GATE_ACTION_H
#define DQ_GATE_ACTION_H

#include "types.h"

extern const char *dq_action_name(DqAction action);
extern bool dq_action_by_name(const char *name, DqAction *action);
extern char *dq_action_list(int actions);

#endif							/* DQ_GATE_ACTION_H */
