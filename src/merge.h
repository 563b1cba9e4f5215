/*
 * merge.h
 *		Run a MERGE of ours and learn what it did.
 */
#ifndef DQ_GATE_MERGE_H
#define DQ_GATE_MERGE_H

#include "types.h"

typedef struct MergeCounts
{
	bool		known;			/* false where the plan had no MERGE node */
	int64		processed;		/* source rows that it has seen */
	int64		written;		/* rows inserted, updated or deleted */
	int64		inserted;		/* also those that a trigger suppressed */
	int64		updated;
	int64		deleted;
} MergeCounts;

extern void dq_execute_merge(const char *sql, const char *search_path,
							 MergeCounts *counts);
extern void dq_install_merge_hooks(void);

#endif							/* DQ_GATE_MERGE_H */
