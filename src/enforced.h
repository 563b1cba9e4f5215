/*
 * enforced.h
 *		What PostgreSQL itself enforces on a target.
 */
#ifndef DQ_GATE_ENFORCED_H
#define DQ_GATE_ENFORCED_H

#include "types.h"

/* A constraint or a unique index */
typedef struct Enforced
{
	char		type;			/* as in pg_constraint.contype, 'u' for any unique index */
	char	   *rule;			/* compares with others of its type */
	char	   *name;
	char	   *words;			/* "constraint x" or "index x" */
	bool		valid;			/* for the rows that are there already as well */
	const char *check;			/* NULL, or the check whose statements make it */
} Enforced;

extern List *dq_enforced(const ColumnMap *map);
extern const Enforced *dq_find_enforced(List *enforced, char type, const char *rule);
extern char *dq_check_rule(Oid target, const char *expression);
extern char *dq_reference_rule(Oid parent, List *names, List *parent_names,
							   bool match_full);
extern char *dq_unique_rule(const ColumnMap *map, List *names, bool nulls_distinct,
							const char *predicate);
extern bool dq_is_unique_key(Oid relid, List *names);

#endif							/* DQ_GATE_ENFORCED_H */
