/*
 * spi_util.c
 *		Acting as somebody, trying things out, running SQL.
 *
 * Every statement of dq_gate runs in one of the phases, each with a role, a
 * security context and pinned settings.  Identity and settings are given back
 * by dq_resume, or by the abort of the (sub)transaction in which they were
 * taken.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "spi_util.h"

/* The role that a schema belongs to */
Oid
dq_schema_owner(Oid namespace)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(namespace));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for schema %u", namespace);
	owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * The role that writes dq_gate's own tables.
 */
Oid
dq_extension_owner(void)
{
	return dq_schema_owner(get_namespace_oid(DQ_SCHEMA, false));
}

/* Change a setting until the current GUC nest level ends */
void
dq_pin_setting(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/* No name of ours, and no operator, is looked for where somebody could have put another one */
void
dq_pin_search_path(void)
{
	dq_pin_setting("search_path", "pg_catalog, pg_temp");
}

/*
 * Act as a role for one phase of the run.
 *
 * Names in our own SQL are qualified; the pinned search_path makes that of
 * operators and casts safe too, and makes stored expressions mean today what
 * they meant when they were declared.  An audit cannot write anything: the
 * transaction is read-only for it, so that what was audited is what is
 * published even where a check calls a function with side effects.
 */
void
dq_assume(Identity *saved, Oid role, Phase phase)
{
	int			context = SECURITY_LOCAL_USERID_CHANGE;

	if (phase != PHASE_PUBLISH)
		context |= SECURITY_RESTRICTED_OPERATION;

	GetUserIdAndSecContext(&saved->userid, &saved->sec_context);
	saved->guc_level = NewGUCNestLevel();
	SetUserIdAndSecContext(role, saved->sec_context | context);

	dq_pin_search_path();
	/* an audit that does not see all rows is none */
	dq_pin_setting("row_security", "off");
	/* values become text and back on the way through a check */
	dq_pin_setting("DateStyle", "ISO");
	dq_pin_setting("IntervalStyle", "postgres");
	dq_pin_setting("extra_float_digits", "1");
	dq_pin_setting("bytea_output", "hex");
	dq_pin_setting("transform_null_equals", "off");
	dq_pin_setting("standard_conforming_strings", "on");
	/* compiling costs more than it gains on these statements */
	dq_pin_setting("jit", "off");

	/* no setting, since that one cannot be given back before the end */
	saved->read_only = XactReadOnly;
	if (phase == PHASE_AUDIT)
		XactReadOnly = true;
}

/* End what dq_assume began */
void
dq_resume(const Identity *saved)
{
	XactReadOnly = saved->read_only;
	AtEOXact_GUC(false, saved->guc_level);
	SetUserIdAndSecContext(saved->userid, saved->sec_context);
}

/*
 * Whether an error says something about the check or the batch, rather than
 * about the server or about the wishes of the caller.
 */
static bool
error_is_finding(int sqlstate)
{
	switch (ERRCODE_TO_CATEGORY(sqlstate))
	{
		case ERRCODE_TRANSACTION_ROLLBACK:	/* deadlock, serialization */
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION: /* cancel, shutdown */
		case ERRCODE_SYSTEM_ERROR:
			return false;
	}
	switch (sqlstate)
	{
		case ERRCODE_LOCK_NOT_AVAILABLE:
		case ERRCODE_DATA_CORRUPTED:
		case ERRCODE_INDEX_CORRUPTED:
			return false;
	}
	return true;
}

/*
 * Do a step in a subtransaction.  Returns false, with the error copied into
 * the caller's memory context, where it failed by a fault of what was tried;
 * other errors go on to the caller.
 */
bool
dq_attempt(DqStep step, void *arg, ErrorData **error)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner resowner = CurrentResourceOwner;
	volatile bool done = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		step(arg);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = resowner;
		done = true;
	}
	PG_CATCH();
	{
		ErrorData  *caught;

		MemoryContextSwitchTo(context);
		caught = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = resowner;
		if (!error_is_finding(caught->sqlerrcode))
			ReThrowError(caught);
		*error = caught;
	}
	PG_END_TRY();
	return done;
}

/* A text tried out as a value of a type; see dq_try_value */
typedef struct ValueTrial
{
	Oid			typid;
	char	   *text;
	Datum		value;
} ValueTrial;

static void
try_value(void *arg)
{
	ValueTrial *trial = arg;
	Oid			function;
	Oid			typioparam;
	bool		is_varlena;

	getTypeInputInfo(trial->typid, &function, &typioparam);
	trial->value = OidInputFunctionCall(function, trial->text, typioparam, -1);
	getTypeOutputInfo(trial->typid, &function, &is_varlena);
	trial->text = OidOutputFunctionCall(function, trial->value);
}

/*
 * Take a text for a value of a type.  The text becomes what the type writes
 * for the value; false, with the error, where the type does not take it.
 */
bool
dq_try_value(Oid typid, char **text, Datum *value, ErrorData **error)
{
	ValueTrial	trial = {typid, *text, (Datum) 0};

	if (!dq_attempt(try_value, &trial, error))
		return false;
	*text = trial.text;
	*value = trial.value;
	return true;
}

/* The message of a caught error with its detail, on one line */
char *
dq_error_text(const ErrorData *error)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, error->message ? error->message : "unknown error");
	if (error->detail)
		appendStringInfo(&buf, " (%s)", error->detail);
	for (char *p = buf.data; *p; p++)
	{
		if (*p == '\n')
			*p = ' ';
	}
	return buf.data;
}

/*
 * Run a statement through SPI; its result is in SPI_tuptable.  A read-only
 * statement uses the active snapshot, any other takes a new one.  SPI leaves
 * its own memory context behind, the caller's is put back.
 */
uint64
dq_execute(const char *sql, int nargs, Oid *types, Datum *values,
		   const char *nulls, bool read_only)
{
	MemoryContext context = CurrentMemoryContext;
	int			code = SPI_execute_with_args(sql, nargs, types, values, nulls,
											 read_only, 0);

	MemoryContextSwitchTo(context);
	if (code < 0)
		elog(ERROR, "SPI_execute_with_args failed: %s in: %s",
			 SPI_result_code_string(code), sql);
	return SPI_processed;
}

/* See that a statement is well formed, without running it */
void
dq_parse_statement(const char *sql)
{
	MemoryContext context = CurrentMemoryContext;
	SPIPlanPtr	plan = SPI_prepare(sql, 0, NULL);

	MemoryContextSwitchTo(context);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s in: %s",
			 SPI_result_code_string(SPI_result), sql);
	SPI_freeplan(plan);
}

/* Run a writing statement that reads what a given snapshot sees */
uint64
dq_execute_at(const char *sql, int nargs, Oid *types, Datum *values,
			  const char *nulls, Snapshot snapshot)
{
	MemoryContext context = CurrentMemoryContext;
	SPIPlanPtr	plan = SPI_prepare(sql, nargs, types);
	uint64		processed;
	int			code;

	MemoryContextSwitchTo(context);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s in: %s",
			 SPI_result_code_string(SPI_result), sql);
	code = SPI_execute_snapshot(plan, values, nulls, snapshot, InvalidSnapshot,
								false, true, 0);
	MemoryContextSwitchTo(context);
	if (code < 0)
		elog(ERROR, "SPI_execute_snapshot failed: %s in: %s",
			 SPI_result_code_string(code), sql);
	processed = SPI_processed;
	SPI_freeplan(plan);
	return processed;
}

/*
 * A value of the last result, copied out of SPI's memory into the current
 * context.
 */
char *
dq_result_text(uint64 row, int column)
{
	char	   *value = SPI_getvalue(SPI_tuptable->vals[row],
									 SPI_tuptable->tupdesc, column);

	return value;
}

int64
dq_result_int64(uint64 row, int column, int64 if_null)
{
	bool		isnull;
	Datum		value = dq_result_datum(row, column, &isnull);

	return isnull ? if_null : DatumGetInt64(value);
}

Datum
dq_result_datum(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
						 column, isnull);
}

/* Give the last result back: a run makes many */
void
dq_free_result(void)
{
	SPI_freetuptable(SPI_tuptable);
	SPI_tuptable = NULL;
}

/* Qualified, quoted name of a relation */
char *
dq_relation_sql(Oid relid)
{
	char	   *relname = get_rel_name(relid);
	char	   *nspname = get_namespace_name(get_rel_namespace(relid));

	if (relname == NULL || nspname == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return quote_qualified_identifier(nspname, relname);
}

/* Qualified name of a type with its modifier, fit for a CAST */
char *
dq_type_sql(Oid typid, int32 typmod)
{
	return format_type_extended(typid, typmod,
								FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

char *
dq_collation_sql(Oid collid)
{
	HeapTuple	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collid));
	Form_pg_collation form;
	char	   *sql;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collid);
	form = (Form_pg_collation) GETSTRUCT(tuple);
	sql = quote_qualified_identifier(get_namespace_name(form->collnamespace),
									 NameStr(form->collname));
	ReleaseSysCache(tuple);
	return sql;
}

/* An operator as OPERATOR(schema.name): found by no search_path */
char *
dq_operator_sql(Oid operator_oid)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator_oid));
	Form_pg_operator form;
	char	   *sql;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator_oid);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	sql = psprintf("OPERATOR(%s.%s)",
				   quote_identifier(get_namespace_name(form->oprnamespace)),
				   NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return sql;
}

/* The equality that a type means: that of its default operator class */
Oid
dq_equality_operator(Oid typid)
{
	return lookup_type_cache(getBaseType(typid), TYPECACHE_EQ_OPR)->eq_opr;
}

char *
dq_literal(const char *text)
{
	return quote_literal_cstr(text);
}

/* Append quoted column names, each behind a prefix such as "batch." */
void
dq_append_names(StringInfo buf, List *names, const char *prefix)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (lc != list_head(names))
			appendStringInfoString(buf, ", ");
		appendStringInfo(buf, "%s%s", prefix, quote_identifier(lfirst(lc)));
	}
}

bool
dq_has_name(List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	return false;
}

/* Add the names that are not there yet, to the list itself */
List *
dq_add_names(List *names, List *more)
{
	ListCell   *lc;

	foreach(lc, more)
	{
		if (!dq_has_name(names, lfirst(lc)))
			names = lappend(names, lfirst(lc));
	}
	return names;
}

/* A name like this one that is not taken */
char *
dq_free_name(const char *name, List *taken)
{
	char	   *free = pstrdup(name);

	while (dq_has_name(taken, free))
		free = psprintf("%s_", free);
	return free;
}

/* Column names for people: quoted only where they need it */
char *
dq_list_names(List *names)
{
	StringInfoData buf;

	initStringInfo(&buf);
	dq_append_names(&buf, names, "");
	return buf.data;
}

/* The same for columns that are taken together */
char *
dq_tuple_names(List *names)
{
	return psprintf(list_length(names) == 1 ? "%s" : "(%s)", dq_list_names(names));
}

/* A list of C strings as a text[] */
Datum
dq_text_array(List *strings)
{
	Datum	   *elements = palloc(sizeof(Datum) * Max(1, list_length(strings)));
	int			n = 0;
	ListCell   *lc;

	foreach(lc, strings)
		elements[n++] = CStringGetTextDatum(lfirst(lc));
	return PointerGetDatum(construct_array(elements, n, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

/* And back; NULL elements are refused */
List *
dq_text_list(Datum array)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	List	   *strings = NIL;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false,
					  TYPALIGN_INT, &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a list must not contain NULL")));
		strings = lappend(strings, TextDatumGetCString(elements[i]));
	}
	return strings;
}

/* A text[] as text, as a parameter keeps it */
char *
dq_array_as_text(Datum array)
{
	Oid			function;
	bool		is_varlena;

	getTypeOutputInfo(TEXTARRAYOID, &function, &is_varlena);
	return OidOutputFunctionCall(function, array);
}

Datum
dq_array_from_text(const char *text)
{
	Oid			function;
	Oid			typioparam;

	getTypeInputInfo(TEXTARRAYOID, &function, &typioparam);
	return OidInputFunctionCall(function, unconstify(char *, text), typioparam, -1);
}

/* Texts as literals, for people */
char *
dq_join_literals(List *texts)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, texts)
		appendStringInfo(&buf, "%s%s", buf.len > 0 ? ", " : "", dq_literal(lfirst(lc)));
	return buf.data;
}
