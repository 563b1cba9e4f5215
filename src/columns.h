/*
 * columns.h
 *		Match the columns of staging with those of the target.
 */
#ifndef DQ_GATE_COLUMNS_H
#define DQ_GATE_COLUMNS_H

#include "types.h"

#include "access/htup.h"
#include "catalog/pg_index.h"

extern ColumnMap *dq_unmatched_columns(const Gate *gate, Oid staging);
extern ColumnMap *dq_match_columns(const Gate *gate, Oid staging,
									bool need_key);
extern bool dq_index_is_plain_unique(Form_pg_index index, HeapTuple tuple);
extern bool dq_domain_is_not_null(Oid typid);
extern Column *dq_find_column(const ColumnMap *map, const char *name);
extern List *dq_column_names(List *columns);
extern char *dq_match_sql(const ColumnMap *map);
extern char *dq_source_sql(const ColumnMap *map, const char *alias);
extern char *dq_whole_batch_sql(const ColumnMap *map, const char *alias);

#endif							/* DQ_GATE_COLUMNS_H */
