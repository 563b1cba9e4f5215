/*
 * authorize.h
 *		Who may do what with a gate, and whether its role can.
 */
#ifndef DQ_GATE_AUTHORIZE_H
#define DQ_GATE_AUTHORIZE_H

#include "types.h"

extern void dq_require_role(const Gate *gate);
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
extern void dq_authorize_change(const Gate *gate);

#endif							/* DQ_GATE_AUTHORIZE_H */
