/*
 * read_arguments.h
 *		Arguments of the SQL functions.
 */
#ifndef DQ_GATE_READ_ARGUMENTS_H
#define DQ_GATE_READ_ARGUMENTS_H

#include "types.h"

#include "access/tupdesc.h"
#include "fmgr.h"

extern void dq_check_nargs(FunctionCallInfo fcinfo, int count);
extern void dq_check_columns(TupleDesc desc, int count);
extern bool dq_is_atomic_call(FunctionCallInfo fcinfo);
extern char *dq_optional_text(FunctionCallInfo fcinfo, int arg);
extern char *dq_required_text(FunctionCallInfo fcinfo, int arg, const char *name);
extern char *dq_required_words(FunctionCallInfo fcinfo, int arg, const char *name);
extern char *dq_numeric_argument(FunctionCallInfo fcinfo, int arg, const char *name);
extern char *dq_positive_argument(FunctionCallInfo fcinfo, int arg, const char *name);
extern void dq_check_order(const char *low_name, const char *low,
						   const char *high_name, const char *high);
extern char *dq_interval_argument(FunctionCallInfo fcinfo, int arg, const char *name);
extern Oid	dq_required_oid(FunctionCallInfo fcinfo, int arg, const char *name);
extern List *dq_required_names(FunctionCallInfo fcinfo, int arg, const char *name);

#endif							/* DQ_GATE_READ_ARGUMENTS_H */
