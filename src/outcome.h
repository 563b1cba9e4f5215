/*
 * outcome.h
 *		What becomes of each row, of the batch and of the target, to be
 *		selected from.
 */
#ifndef DQ_GATE_OUTCOME_H
#define DQ_GATE_OUTCOME_H

#include "types.h"

typedef struct Outcome
{
	char	   *rows;			/* FROM: each row of the batch as "batch", with
								 * the row of the target that it matches as
								 * "target", and outcome.change */
	char	   *deleted;		/* FROM and WHERE: rows of the target that go, as
								 * "target"; NULL where none does */
	bool		updates;		/* rows of the target may change */
	bool		publishable;	/* false: a column cannot be converted at all */
	List	   *staged_key;		/* of char *: the key in rows, as it is staged */
} Outcome;

extern List *dq_row_results(const Run *run);
extern char *dq_moved_sql(const Run *run, DqAction action);
extern Outcome *dq_outcome(const ColumnMap *map, const char *quarantined, const char *dropped);
extern List *dq_shown_columns(const ColumnMap *map);
extern List *dq_naming_columns(const ColumnMap *map);
extern char *dq_sample_sql(List *names, List *values, const char *alias, int samples);

#endif							/* DQ_GATE_OUTCOME_H */
