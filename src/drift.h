/*
 * drift.h
 *		Staging has other columns than the target: what the gate makes of it.
 */
#ifndef DQ_GATE_DRIFT_H
#define DQ_GATE_DRIFT_H

#include "types.h"

extern void dq_apply_drift(ColumnMap *map);
extern void dq_authorize_drift(const ColumnMap *map);
extern bool dq_drift_alters(const ColumnMap *map);
extern void dq_alter_target(const ColumnMap *map, const char *search_path);
extern List *dq_schema_changes(const Run *run);

#endif							/* DQ_GATE_DRIFT_H */
