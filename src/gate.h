/*
 * gate.h
 *		Resolve, lock and register a gate.
 */
#ifndef DQ_GATE_GATE_H
#define DQ_GATE_GATE_H

#include "types.h"

#include "storage/lockdefs.h"

extern Oid	dq_table(const char *name);
extern Gate *dq_resolve_gate(Oid target);
extern void dq_check_target(Oid target);
extern Oid	dq_foreign_part(Oid relid);
extern void dq_check_staging(Oid staging, Oid target);
extern Gate *dq_open_gate(Oid target);
extern void dq_require_registered(const Gate *gate);
extern Gate *dq_open_registered_gate(Oid target);
extern void dq_require_read_committed(const char *act);
extern void dq_lock_gate(Oid target);
extern void dq_lock_table(Oid relid, LOCKMODE mode);
extern void dq_save_gate(const Gate *gate);
extern void dq_forget_gate(const Gate *gate);

#endif							/* DQ_GATE_GATE_H */
