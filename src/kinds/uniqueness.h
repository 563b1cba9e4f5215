/*
 * uniqueness.h
 *		What the forms of uniqueness share: in the batch, and in the target.
 */
#ifndef DQ_GATE_UNIQUENESS_H
#define DQ_GATE_UNIQUENESS_H

#include "unique_index.h"

/* What a check wants to be unique, and among which rows */
typedef struct Uniqueness
{
	const Check *check;
	const ColumnMap *map;
	const UniqueIndex *index;	/* NULL: no index enforces it */
	List	   *parts;			/* of UniquePart * */
	bool		in_target;		/* also among the rows of the target */
	bool		own_equality;	/* of some part: GROUP BY has another one */
} Uniqueness;

/* unique.c */
extern char *dq_numbered(int count, const char *format);
extern char *dq_part_values_sql(List *parts);
extern List *dq_part_names(List *parts);
extern char *dq_counted_sql(const Uniqueness *unique);
extern char *dq_groups_sql(const char *source, const char *values, int count, const char *condition);
extern char *dq_groups_sample_sql(const char *groups, List *names);
extern char *dq_count_groups_sql(const Uniqueness *unique, const char *groups);

/* clash.c */
extern bool dq_unique_in_target(const Check *check, const ColumnMap *map, const UniqueIndex *index);
extern bool dq_all_written(const Uniqueness *unique);
extern void dq_compile_in_target(Check *check, const Uniqueness *unique);

#endif							/* DQ_GATE_UNIQUENESS_H */
