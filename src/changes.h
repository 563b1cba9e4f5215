/*
 * changes.h
 *		What a publish does to which row of the target, as SQL.
 */
#ifndef DQ_GATE_CHANGES_H
#define DQ_GATE_CHANGES_H

#include "types.h"

extern bool dq_keeps_value(const ColumnMap *map, const Column *column);
extern bool dq_is_updated(const ColumnMap *map, const Column *column);
extern char *dq_column_changed_sql(const Column *column);
extern char *dq_stale_sql(const ColumnMap *map);
extern char *dq_update_sql(const ColumnMap *map);
extern char *dq_deleted_sql(const ColumnMap *map, const char *source);
extern char *dq_remaining_sql(const ColumnMap *map, const char *moved, const char *alias);

#endif							/* DQ_GATE_CHANGES_H */
