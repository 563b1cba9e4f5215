/*
 * history.h
 *		What earlier batches of the gate measured.
 */
#ifndef DQ_GATE_HISTORY_H
#define DQ_GATE_HISTORY_H

#include "types.h"

extern Timestamp dq_batch_time(const Run *run);
extern History *dq_read_history(const Run *run, const char *metric, const char *by, int size);
extern History *dq_read_profiles(const Run *run, const char *column_name, const char *by, int size);
extern Datum dq_needed_baselines(Oid target, TimestampTz before);
extern void dq_supersede_baseline(const Run *run);
extern bool dq_known_grouping(const char *by);
extern char *dq_grouping_condition(const char *by, const char *time, const char *size);

#endif							/* DQ_GATE_HISTORY_H */
