/*
 * fit.h
 *		Does a staged value fit the type of the target's column?
 */
#ifndef DQ_GATE_FIT_H
#define DQ_GATE_FIT_H

#include "types.h"

extern bool dq_domain_restricts(Oid typid);
extern void dq_choose_fit(Column *column, bool rounding);
extern bool dq_type_widens(Oid from, int32 from_typmod, Oid to, int32 to_typmod);

#endif							/* DQ_GATE_FIT_H */
