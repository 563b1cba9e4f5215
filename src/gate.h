/*
 * gate.h
 *		Resolve, authorize, lock and register a gate.
 */
#ifndef DQ_GATE_GATE_H
#define DQ_GATE_GATE_H

#include "types.h"

#include "storage/lockdefs.h"

extern Oid	dq_table(const char *name);
extern Gate *dq_resolve_gate(Oid target);
extern void dq_require_role(const Gate *gate);
extern void dq_check_target(Oid target);
extern Oid	dq_foreign_part(Oid relid);
extern void dq_check_staging(Oid staging, Oid target);
extern bool dq_may_run(const Gate *gate, Oid caller);
extern bool dq_may_name_staging(const Gate *gate, Oid staging, Oid caller);
extern void dq_authorize_caller(const Gate *gate, Oid caller);
extern void dq_authorize_session(const Gate *gate, Oid caller);
extern void dq_authorize_reading(const Gate *gate, Oid relid);
extern void dq_authorize_run(const Gate *gate, Oid staging, Oid caller,
							 bool dry_run);
extern void dq_authorize_requeue(const Gate *gate, Oid staging, Oid quarantine);
extern bool dq_may_purge(const Gate *gate);
extern void dq_authorize_purge(const Gate *gate);
extern bool dq_may_look(const Gate *gate);
extern void dq_authorize_look(const Gate *gate);
extern bool dq_may_answer_for(const Gate *gate, Oid role);
extern void dq_authorize_values(const Gate *gate, Oid caller);
extern void dq_authorize_staging(const Gate *gate, Oid staging);
extern Gate *dq_open_gate(Oid target);
extern Gate *dq_open_registered_gate(Oid target);
extern void dq_require_read_committed(const char *act);
extern void dq_lock_gate(Oid target);
extern void dq_lock_table(Oid relid, LOCKMODE mode);
extern void dq_save_gate(const Gate *gate);
extern void dq_forget_gate(const Gate *gate);

#endif							/* DQ_GATE_GATE_H */
