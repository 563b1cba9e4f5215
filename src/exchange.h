/*
 * exchange.h
 *		A gate and its checks as a document.
 */
#ifndef DQ_GATE_EXCHANGE_H
#define DQ_GATE_EXCHANGE_H

#include "types.h"

extern Jsonb *dq_gate_document(const Gate *gate, const char *condition);

#endif							/* DQ_GATE_EXCHANGE_H */
