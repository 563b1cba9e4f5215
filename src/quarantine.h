/*
 * quarantine.h
 *		Keep rejected rows, with the reasons.
 */
#ifndef DQ_GATE_QUARANTINE_H
#define DQ_GATE_QUARANTINE_H

#include "types.h"

#include "utils/snapshot.h"

/* Where the rejected rows of a batch go */
typedef struct Quarantine
{
	Oid			relid;
	char	   *sql;			/* qualified name */
	List	   *columns;		/* of QuarantineColumn *, one a staged column */
} Quarantine;

extern Quarantine *dq_open_quarantine(const Run *run);
extern int64 dq_quarantine_failing(Run *run, const Quarantine *quarantine,
								   Snapshot snapshot);
extern int64 dq_forget_dropped(const Run *run, const Quarantine *quarantine);
extern void dq_keep_dropped(const Run *run, const Quarantine *quarantine);
extern int64 dq_quarantine_batch(Run *run, const Quarantine *quarantine,
								 Snapshot snapshot);
extern char *dq_in_quarantine_sql(const Run *run, const Quarantine *quarantine);
extern void dq_pass_quarantine_on(Oid target, Oid role);

#endif							/* DQ_GATE_QUARANTINE_H */
