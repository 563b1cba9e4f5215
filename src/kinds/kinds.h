/*
 * kinds.h
 *		The kinds of check.
 *
 * A kind is a file in this folder and an entry in the table of kinds.c.
 */
#ifndef DQ_GATE_KINDS_H
#define DQ_GATE_KINDS_H

#include "nodes/parsenodes.h"

#include "types.h"

#define DQ_ANY_ACTION	(DQ_BLOCK | DQ_QUARANTINE | DQ_DROP | DQ_WARN | DQ_DECLARE)
#define DQ_BATCH_ACTION	(DQ_BLOCK | DQ_WARN | DQ_SKIP | DQ_DECLARE)

extern const CheckKind dq_kind_not_empty;
extern const CheckKind dq_kind_schema_contract;
extern const CheckKind dq_kind_not_null;
extern const CheckKind dq_kind_unique;
extern const CheckKind dq_kind_unique_in_target;
extern const CheckKind dq_kind_type_fit;
extern const CheckKind dq_kind_check_constraint;
extern const CheckKind dq_kind_referential;
extern const CheckKind dq_kind_range;
extern const CheckKind dq_kind_sql;
extern const CheckKind dq_kind_query;
extern const CheckKind dq_kind_accepted_values;
extern const CheckKind dq_kind_rejected_values;
extern const CheckKind dq_kind_pattern;
extern const CheckKind dq_kind_like;
extern const CheckKind dq_kind_length;
extern const CheckKind dq_kind_row_count;
extern const CheckKind dq_kind_freshness;
extern const CheckKind dq_kind_not_future;
extern const CheckKind dq_kind_compare;
extern const CheckKind dq_kind_aggregate;
extern const CheckKind dq_kind_constraint;
extern const CheckKind dq_kind_within;
extern const CheckKind dq_kind_null_rate;
extern const CheckKind dq_kind_distinct;
extern const CheckKind dq_kind_row_count_match;
extern const CheckKind dq_kind_schema;
extern const CheckKind dq_kind_control_totals;
extern const CheckKind dq_kind_reconciled;
extern const CheckKind dq_kind_series;
extern const CheckKind dq_kind_volume;
extern const CheckKind dq_kind_metric;
extern const CheckKind dq_kind_stable_distribution;
extern const CheckKind dq_kind_change_rate;
extern const CheckKind dq_kind_ready;

extern const CheckKind *dq_find_kind(const char *name);

extern Column *dq_usable_column(Check *check, const ColumnMap *map,
								const char *name);
extern bool dq_usable_columns(Check *check, const ColumnMap *map);
extern List *dq_default_volume(void);
extern List *dq_given_totals(const char *totals, const ColumnMap *map);
extern Oid	dq_query_type(const Query *query);
extern bool dq_can_read_all(Check *check, Oid relid);
extern char *dq_other_table(Check *check);
extern char *dq_bounds_words(const char *min, const char *max);
extern char *dq_null_sql(const Column *column);
extern char *dq_any_null_sql(const ColumnMap *map, List *names);
extern char *dq_picked_sql(const Check *check);
extern char *dq_value_rule_sql(const Check *check, const Column *column,
							   const char *failure);

#endif							/* DQ_GATE_KINDS_H */
