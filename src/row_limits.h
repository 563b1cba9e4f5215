/*
 * row_limits.h
 *		How many failing rows a check tolerates, and what more of them do.
 */
#ifndef DQ_GATE_ROW_LIMITS_H
#define DQ_GATE_ROW_LIMITS_H

#include "types.h"

extern void dq_init_limits(Limits *limits);
extern bool dq_has_limits(const Limits *limits);
extern bool dq_within_limits(CheckResult *result);
extern char *dq_describe_limits(const Check *check);

#endif							/* DQ_GATE_ROW_LIMITS_H */
