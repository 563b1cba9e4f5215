/*
 * spi_util.h
 *		Acting as somebody, trying things out, running SQL.
 */
#ifndef DQ_GATE_SPI_UTIL_H
#define DQ_GATE_SPI_UTIL_H

#include "types.h"

#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/snapshot.h"

/* What the statements of a phase may do; see dq_assume */
typedef enum Phase
{
	PHASE_AUDIT,				/* reads only, restricted */
	PHASE_EVIDENCE,				/* writes quarantine, restricted */
	PHASE_PUBLISH,				/* writes the target, as the caller */
	PHASE_PUBLISH_LENT,			/* the same for another caller, restricted */
	PHASE_LOG					/* dq_gate's own tables, restricted */
} Phase;

typedef struct Identity
{
	Oid			userid;
	int			sec_context;
	int			guc_level;
	bool		read_only;
} Identity;

extern Oid	dq_schema_owner(Oid namespace);
extern Oid	dq_extension_owner(void);
extern void dq_pin_setting(const char *name, const char *value);
extern void dq_pin_search_path(void);
extern void dq_assume(Identity *saved, Oid role, Phase phase);
extern void dq_resume(const Identity *saved);

typedef void (*DqStep) (void *arg);
extern bool dq_attempt(DqStep step, void *arg, ErrorData **error);
extern bool dq_try_value(Oid typid, char **text, Datum *value, ErrorData **error);
extern char *dq_error_text(const ErrorData *error);

extern uint64 dq_execute(const char *sql, int nargs, Oid *types, Datum *values,
						 const char *nulls, bool read_only);
extern void dq_parse_statement(const char *sql);
extern uint64 dq_execute_at(const char *sql, int nargs, Oid *types,
							Datum *values, const char *nulls,
							Snapshot snapshot);
extern char *dq_result_text(uint64 row, int column);
extern int64 dq_result_int64(uint64 row, int column, int64 if_null);
extern Datum dq_result_datum(uint64 row, int column, bool *isnull);
extern void dq_free_result(void);

extern char *dq_relation_sql(Oid relid);
extern char *dq_type_sql(Oid typid, int32 typmod);
extern char *dq_collation_sql(Oid collid);
extern char *dq_operator_sql(Oid operator_oid);
extern Oid	dq_equality_operator(Oid typid);
extern char *dq_literal(const char *text);
extern void dq_append_names(StringInfo buf, List *names, const char *prefix);
extern bool dq_has_name(List *names, const char *name);
extern List *dq_add_names(List *names, List *more);
extern char *dq_free_name(const char *name, List *taken);
extern char *dq_list_names(List *names);
extern char *dq_tuple_names(List *names);
extern Datum dq_text_array(List *strings);
extern List *dq_text_list(Datum array);
extern char *dq_array_as_text(Datum array);
extern Datum dq_array_from_text(const char *text);
extern char *dq_join_literals(List *texts);

#endif							/* DQ_GATE_SPI_UTIL_H */
