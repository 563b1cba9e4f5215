/*
 * declare.h
 *		What every function that declares a check has in common.
 */
#ifndef DQ_GATE_DECLARE_H
#define DQ_GATE_DECLARE_H

#include "types.h"

#include "error_context.h"
#include "fmgr.h"
#include "read_arguments.h"

/* A check being declared */
typedef struct Declaration
{
	DqErrorContext context;
	Gate	   *gate;
	ColumnMap  *map;
	const CheckKind *kind;
	char	   *name;			/* NULL: made from the columns and the kind */
	List	   *columns;		/* of char * */
	DqAction	action;
	bool		nulls_fail;
	char	   *owner;
	char	   *description;
	char	   *severity;
	bool		reads_target;
	Oid			ref_table;
	char	   *filter;			/* as typed, and resolved */
	char	   *filter_sql;
	Limits		limits;
	bool		no_samples;
	List	   *tags;			/* of char * */
	List	   *params;			/* see params.h */
} Declaration;

extern Declaration *dq_begin_declaration(FunctionCallInfo fcinfo, int target_arg,
										 const CheckKind *kind);
extern void dq_declare_common(FunctionCallInfo fcinfo, int first, Declaration *decl);
extern char *dq_declare_meaning(Declaration *decl, const char *noun, Node *rule,
								List **columns);
extern char *dq_declare_expression(Declaration *decl, const char *what, const char *text,
								   List **columns);
extern void dq_declare_other(Declaration *decl, Oid relid, const char *filter_name,
							 const char *filter);
extern void dq_declare_bounds(Declaration *decl, const char *min, const char *max);
extern Column *dq_declare_columns(Declaration *decl, List *names);
extern void dq_require_equality(const Declaration *decl);
extern Datum dq_finish_declaration(FunctionCallInfo fcinfo, Declaration *decl);

#endif							/* DQ_GATE_DECLARE_H */
