/*
 * params.h
 *		Parameters of a check, by name.
 */
#ifndef DQ_GATE_PARAMS_H
#define DQ_GATE_PARAMS_H

#include "nodes/pg_list.h"

extern List *dq_set_param(List *params, const char *name, const char *value);
extern char *dq_param(List *params, const char *name);
extern List *dq_param_names(List *params);
extern List *dq_param_values(List *params);

#endif							/* DQ_GATE_PARAMS_H */
