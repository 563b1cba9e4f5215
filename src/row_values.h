/*
 * row_values.h
 *		The values of a row that a function answers with.
 */
#ifndef DQ_GATE_ROW_VALUES_H
#define DQ_GATE_ROW_VALUES_H

#include "types.h"

extern void dq_set_text(Datum *value, bool *isnull, const char *text);
extern void dq_set_count(Datum *value, bool *isnull, int64 count);

#endif							/* DQ_GATE_ROW_VALUES_H */
