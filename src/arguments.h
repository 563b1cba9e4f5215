/*
 * arguments.h
 *		The call that declared a check, to be made again.
 */
#ifndef DQ_GATE_ARGUMENTS_H
#define DQ_GATE_ARGUMENTS_H

#include "postgres.h"

#include "fmgr.h"

extern Datum dq_call_arguments(FunctionCallInfo fcinfo);

#endif							/* DQ_GATE_ARGUMENTS_H */
