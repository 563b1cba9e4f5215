/*
 * merge.h
 *		Run a statement that changes the target and learn what it did.
 */
#ifndef DQ_GATE_MERGE_H
#define DQ_GATE_MERGE_H

#include "types.h"

typedef struct ChangeCounts
{
	bool		known;			/* false where the plan had no node of ours */
	int64		processed;		/* rows that it was to do something with, or not */
	int64		written;		/* rows inserted, updated or deleted */
	int64		inserted;		/* also those that a trigger suppressed */
	int64		updated;
} ChangeCounts;

extern void dq_execute_change(const char *sql, const char *search_path,
							 ChangeCounts *counts);
extern void dq_install_merge_hooks(void);

#endif							/* DQ_GATE_MERGE_H */
