/*
 * signature.h
 *		What the functions take that make a gate or declare a check.
 */
#ifndef DQ_GATE_SIGNATURE_H
#define DQ_GATE_SIGNATURE_H

#include "types.h"

/* A function that makes a gate or a check */
typedef struct Signature
{
	char	   *function;
	List	   *names;			/* of char *: its arguments */
	Oid		   *types;
	List	   *defaulted;		/* of char *: those with a default other than NULL */
	int			required;		/* how many of them have no default */
} Signature;

extern List *dq_load_signatures(void);
extern const Signature *dq_find_signature(List *signatures, const char *function);
extern const Signature *dq_kind_signature(List *signatures, const char *kind,
										  const char *of);
extern bool dq_has_default(const Signature *signature, const char *name);
extern Oid	dq_argument_type(const Signature *signature, const char *name);
extern char *dq_list_arguments(List *names, const char *const *without);

#endif							/* DQ_GATE_SIGNATURE_H */
