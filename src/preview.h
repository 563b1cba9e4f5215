/*
 * preview.h
 *		What a publish would do, said and not done.
 */
#ifndef DQ_GATE_PREVIEW_H
#define DQ_GATE_PREVIEW_H

#include "types.h"

/* How many rows a preview shows of a kind, at most */
#define DQ_MAX_PREVIEW_SAMPLES		1000

/* What would become of some rows, or of the values of a column */
typedef struct PreviewRow
{
	const char *change;
	char	   *column_name;	/* NULL: about whole rows */
	int64		row_count;
	Jsonb	   *sample;			/* NULL: none */
} PreviewRow;

extern List *dq_preview(Run *run, Oid staging, Oid target, int samples);

#endif							/* DQ_GATE_PREVIEW_H */
