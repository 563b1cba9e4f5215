/*
 * unique_index.h
 *		What a unique index of the target compares.
 */
#ifndef DQ_GATE_UNIQUE_INDEX_H
#define DQ_GATE_UNIQUE_INDEX_H

#include "types.h"

/* One of the values that are unique together */
typedef struct UniquePart
{
	char	   *name;			/* of the column, or the text of the expression */
	char	   *words;			/* the same for people, quoted */
	Column	   *column;			/* NULL: an expression */
	char	   *batch_sql;		/* the value over alias "batch" ... */
	char	   *target_sql;		/* ... and over alias "target" */
	Oid			typid;
	Oid			equality;
	bool		own_equality;	/* that is not the one of its type */
	bool		as_column;		/* compared like the column itself */
	bool		nullable;		/* in the target */
} UniquePart;

typedef struct UniqueIndex
{
	char	   *name;			/* of its constraint, if it has one */
	char	   *origin;			/* the same in words */
	Oid			constraint;
	List	   *parts;			/* of UniquePart * */
	List	   *columns;		/* all that it is about, of char * */
	List	   *needs;			/* those that a batch must have, of char * */
	char	   *predicate;		/* which rows are in it, for people; NULL: all */
	char	   *batch_predicate;	/* the same over the aliases */
	char	   *target_predicate;
	bool		nulls_distinct;
	bool		deferrable;
	bool		plain;			/* columns compared like themselves, all rows */
	char	   *reason;			/* why no batch can be judged by it */
} UniqueIndex;

extern List *dq_unique_indexes(Oid target);
extern UniqueIndex *dq_read_unique_index(const ColumnMap *map, Oid indexoid);
extern UniquePart *dq_unique_column(Column *column);

#endif							/* DQ_GATE_UNIQUE_INDEX_H */
