/*
 * exchange.h
 *		A gate and its checks as a document.
 */
#ifndef DQ_GATE_EXCHANGE_H
#define DQ_GATE_EXCHANGE_H

#include "types.h"

/* What the other table that a check is about is called where it is declared */
#define DQ_TABLE_ARGUMENTS	"'{ref_table,source_table,upstream}'"

extern Jsonb *dq_gate_document(const Gate *gate, const char *condition);

#endif							/* DQ_GATE_EXCHANGE_H */
