/*
 * current_batch.h
 *		What rules may know of the batch that they are evaluated on.
 */
#ifndef DQ_GATE_CURRENT_BATCH_H
#define DQ_GATE_CURRENT_BATCH_H

#include "types.h"

#define DQ_BATCH_ID_SETTING	"dq_gate.batch_id"
#define DQ_AS_OF_SETTING	"dq_gate.as_of"
#define DQ_TOTALS_SETTING	"dq_gate.totals"

extern void dq_define_batch_settings(void);
extern void dq_pin_batch(const Run *run);

#endif							/* DQ_GATE_CURRENT_BATCH_H */
