/*
 * instant.h
 *		Values that are points in time.
 */
#ifndef DQ_GATE_INSTANT_H
#define DQ_GATE_INSTANT_H

#include "declare.h"

extern bool dq_is_instant(Oid typid);
extern char *dq_instant_sql(Check *check, const Column *column);
extern void dq_require_instant(const Declaration *decl, const Column *column);

#endif							/* DQ_GATE_INSTANT_H */
