/*
 * totals.h
 *		Numbers that a batch is checked against: its rows, and sums of columns.
 */
#ifndef DQ_GATE_TOTALS_H
#define DQ_GATE_TOTALS_H

#include "types.h"

#include "declare.h"

/* The name under which the number of rows goes among the sums */
#define DQ_ROW_COUNT	"row_count"

extern char *dq_totals_sql(List *names, const char *picked);
extern char *dq_differences_sql(List *names, const char *wanted, const char *tolerance);
extern void dq_require_sums(const Declaration *decl, List *names);
extern bool dq_is_number(Oid typid);

#endif							/* DQ_GATE_TOTALS_H */
