/*
 * quarantine.h
 *		Keep rejected rows, with the reasons.
 */
#ifndef DQ_GATE_QUARANTINE_H
#define DQ_GATE_QUARANTINE_H

#include "types.h"

#include "utils/snapshot.h"

/* A staged column and where it goes */
typedef struct QuarantineColumn
{
	const StagedColumn *staged;
	char	   *name;
	Oid			typid;			/* of the column in quarantine */
} QuarantineColumn;

/* Where the rejected rows of a batch go */
typedef struct Quarantine
{
	Oid			relid;
	char	   *sql;			/* qualified name */
	List	   *columns;		/* of QuarantineColumn *, one a staged column */
} Quarantine;

/* Rows "q" of run $1 that were not put back into staging yet */
#define DQ_NOT_REQUEUED	"q.run_id = $1 AND q.requeued_at IS NULL"

extern Oid	dq_relation_owner(Oid relid);
extern Quarantine *dq_open_quarantine(const Run *run);
extern int64 dq_quarantine_failing(Run *run, const Quarantine *quarantine,
								   Snapshot snapshot);
extern int64 dq_forget_dropped(const Run *run, const Quarantine *quarantine);
extern int64 dq_quarantine_superseded(Run *run, const Quarantine *quarantine,
									  Snapshot snapshot);
extern void dq_keep_dropped(const Run *run, const Quarantine *quarantine);
extern int64 dq_quarantine_batch(Run *run, const Quarantine *quarantine,
								 Snapshot snapshot);
extern char *dq_in_quarantine_sql(const Run *run, const Quarantine *quarantine);
extern void dq_pass_quarantine_on(Oid target, Oid old_role, Oid role);
extern Oid	dq_quarantine_of(Oid target);
extern Quarantine *dq_read_quarantine(Oid relid, const ColumnMap *map);
extern List *dq_stray_columns(const Quarantine *quarantine);
extern int64 dq_mark_requeued(const Quarantine *quarantine, int64 run_id,
							  Oid caller);

#endif							/* DQ_GATE_QUARANTINE_H */
