/*
 * retention.h
 *		What dq_gate keeps of a gate that is old enough to go.
 */
#ifndef DQ_GATE_RETENTION_H
#define DQ_GATE_RETENTION_H

#include "types.h"

#include "storage/lockdefs.h"

/* How long a gate keeps what it does, as points in time */
typedef struct Retention
{
	Oid			target;			/* InvalidOid: all targets that were dropped */
	char	   *name;			/* for people */
	bool		unacknowledged; /* also what nobody has acknowledged */
	bool		ends_rows;		/* of quarantined rows, those ... */
	TimestampTz rows_before;
	bool		ends_log;		/* of runs, those ... */
	TimestampTz log_before;
	Datum		needed;			/* int8[]: runs that stay whatever their age */
} Retention;

/* An old run, and what of it may go */
typedef struct OldRun
{
	int64		run_id;
	TimestampTz started_at;
	int64		details;		/* results and profiles */
	bool		stays;
	bool		published_once; /* it stays for its batch_id; its details may go */
	bool		quarantined;	/* rows, which may still be there */
	Oid			quarantine;		/* where it says they went; InvalidOid: nowhere that is */
} OldRun;

extern void dq_open_retention(Retention *retention, const Gate *gate,
							  const char *rows_interval, const char *log_interval,
							  TimestampTz now);
extern List *dq_retention_targets(bool unregistered);
extern bool dq_try_quarantine(Oid relid, LOCKMODE mode);
extern int	dq_old_quarantined(const Retention *retention, Oid quarantine,
							   int64 *after, int limit, Datum *runs, int64 *unread);
extern int	dq_old_runs(const Retention *retention, Oid quarantine, const OldRun *after,
						int limit, bool rows_gone, OldRun **runs);
extern int64 dq_count_unread(const Retention *retention);
extern Datum dq_int8_array(const int64 *numbers, int count);

#endif							/* DQ_GATE_RETENTION_H */
