/*
 * outcome.h
 *		What becomes of each row, of the batch and of the target, to be
 *		selected from.
 */
#ifndef DQ_GATE_OUTCOME_H
#define DQ_GATE_OUTCOME_H

#include "types.h"

/* To be put behind FROM; a row of the target has the alias "target", one of the batch "batch" */
typedef struct Outcome
{
	char	   *rows;			/* each row of the batch, with that of the target
								 * that it matches, and outcome.change */
	char	   *updated;		/* of these only the updated ones; NULL: none */
	char	   *deleted;		/* rows of the target that go; NULL: none */
	bool		publishable;	/* false: a column cannot be converted at all */
	List	   *staged_key;		/* of char *: columns of "batch", the key as it is
								 * staged */
} Outcome;

extern List *dq_row_results(const Run *run);
extern char *dq_moved_sql(const Run *run, DqAction action);
extern Outcome *dq_outcome(const ColumnMap *map, const char *quarantined, const char *dropped);
extern List *dq_shown_columns(const ColumnMap *map);
extern List *dq_naming_columns(const ColumnMap *map);
extern List *dq_qualified(List *names, const char *alias);
extern char *dq_sample_sql(List *names, List *values, int samples, const char *condition);

#endif							/* DQ_GATE_OUTCOME_H */
