/*
 * declare.h
 *		What every function that declares a check has in common.
 */
#ifndef DQ_GATE_DECLARE_H
#define DQ_GATE_DECLARE_H

#include "types.h"

#include "fmgr.h"

/* A check being declared */
typedef struct Declaration
{
	Gate	   *gate;
	ColumnMap  *map;
	const CheckKind *kind;
	char	   *name;			/* NULL: made from the columns and the kind */
	List	   *columns;		/* of char * */
	DqAction	action;
	bool		nulls_fail;
	char	   *owner;
	char	   *description;
	bool		reads_target;
	List	   *params;			/* see params.h */
} Declaration;

extern char *dq_optional_text(FunctionCallInfo fcinfo, int arg);
extern char *dq_required_text(FunctionCallInfo fcinfo, int arg, const char *name);
extern Oid	dq_required_oid(FunctionCallInfo fcinfo, int arg, const char *name);

extern Declaration *dq_begin_declaration(FunctionCallInfo fcinfo, int target_arg,
										 const CheckKind *kind);
extern void dq_declare_action(Declaration *decl, const char *action);
extern void dq_declare_nulls(Declaration *decl, const char *nulls);
extern Column *dq_declare_columns(Declaration *decl, List *names);
extern Datum dq_finish_declaration(FunctionCallInfo fcinfo, Declaration *decl);

#endif							/* DQ_GATE_DECLARE_H */
