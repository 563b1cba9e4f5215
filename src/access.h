/*
 * access.h
 *		Who may see what of a table, and so of what is known about it.
 */
#ifndef DQ_GATE_ACCESS_H
#define DQ_GATE_ACCESS_H

#include "spi_util.h"
#include "types.h"

extern bool dq_may_read(Oid relid, Oid role);
extern bool dq_may_see_rows(Oid relid, Oid role);
extern bool dq_shows_rows(const Gate *gate, Oid relid, Oid caller);
extern bool dq_is_veiled(const Gate *gate, Oid staging, Oid caller);

extern void dq_run_veiled(bool veiled, DqStep step, void *arg, const Gate *gate,
						  Oid caller);

#endif							/* DQ_GATE_ACCESS_H */
