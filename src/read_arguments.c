/*
 * read_arguments.c
 *		Arguments of the SQL functions: read, and refused where they make no
 *		sense.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "read_arguments.h"
#include "spi_util.h"

/* A library newer than the SQL objects must not read arguments that are not there */
static void
check_count(int found, int count)
{
	if (found != count)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the SQL objects of dq_gate do not belong to its library"),
				 errhint("Run ALTER EXTENSION dq_gate UPDATE.")));
}

void
dq_check_nargs(FunctionCallInfo fcinfo, int count)
{
	check_count(PG_NARGS(), count);
}

/* Nor answer with columns that are not there */
void
dq_check_columns(TupleDesc desc, int count)
{
	check_count(desc->natts, count);
}

/* Whether a procedure was called where it cannot end the transaction */
bool
dq_is_atomic_call(FunctionCallInfo fcinfo)
{
	CallContext *call = (CallContext *) fcinfo->context;

	return call == NULL || !IsA(call, CallContext) || call->atomic;
}

/* A text argument, NULL where it is NULL or empty */
char *
dq_optional_text(FunctionCallInfo fcinfo, int arg)
{
	char	   *value;

	if (PG_ARGISNULL(arg))
		return NULL;
	value = text_to_cstring(PG_GETARG_TEXT_PP(arg));
	return value[0] == '\0' ? NULL : value;
}

static void
refuse_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("argument \"%s\" must not be NULL or empty", name)));
}

char *
dq_required_text(FunctionCallInfo fcinfo, int arg, const char *name)
{
	char	   *value = dq_optional_text(fcinfo, arg);

	if (value == NULL)
		refuse_null(name);
	return value;
}

/* A text that says something, which blanks alone do not */
char *
dq_required_words(FunctionCallInfo fcinfo, int arg, const char *name)
{
	char	   *value = dq_required_text(fcinfo, arg, name);

	if (value[strspn(value, " \t\n\r\f\v")] == '\0')
		refuse_null(name);
	return value;
}

Oid
dq_required_oid(FunctionCallInfo fcinfo, int arg, const char *name)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be NULL", name)));
	return PG_GETARG_OID(arg);
}

/* A list of column names, none twice */
List *
dq_required_names(FunctionCallInfo fcinfo, int arg, const char *name)
{
	List	   *names;
	ListCell   *lc;

	if (PG_ARGISNULL(arg))
		refuse_null(name);
	names = dq_text_list(PG_GETARG_DATUM(arg));
	if (names == NIL)
		refuse_null(name);
	foreach(lc, names)
	{
		ListCell   *other;

		foreach(other, names)
		{
			if (other != lc && strcmp(lfirst(lc), lfirst(other)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column %s is named twice in \"%s\"",
								quote_identifier(lfirst(lc)), name)));
		}
	}
	return names;
}

/* A number as text, NULL if it is not given; NaN is between no bounds */
char *
dq_numeric_argument(FunctionCallInfo fcinfo, int arg, const char *name)
{
	if (PG_ARGISNULL(arg))
		return NULL;
	if (numeric_is_nan(PG_GETARG_NUMERIC(arg)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be NaN", name)));
	return DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(arg)));
}

/* The same for what cannot be negative */
char *
dq_positive_argument(FunctionCallInfo fcinfo, int arg, const char *name)
{
	char	   *text = dq_numeric_argument(fcinfo, arg, name);

	if (text != NULL && text[0] == '-')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be negative", name)));
	return text;
}

static Datum
numeric_from_text(const char *text)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/* Refuse bounds that nothing can be between */
void
dq_check_order(const char *low_name, const char *low, const char *high_name, const char *high)
{
	if (low != NULL && high != NULL &&
		DatumGetInt32(DirectFunctionCall2(numeric_cmp, numeric_from_text(low),
										  numeric_from_text(high))) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %s is above %s %s", low_name, low, high_name, high)));
}

/* An interval as text, read again in the same style; NULL if it is not given */
char *
dq_interval_argument(FunctionCallInfo fcinfo, int arg, const char *name)
{
	Interval	zero = {0};
	Identity	saved;
	char	   *text;

	if (PG_ARGISNULL(arg))
		return NULL;
	if (DatumGetInt32(DirectFunctionCall2(interval_cmp, PG_GETARG_DATUM(arg),
										  IntervalPGetDatum(&zero))) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be negative", name)));
	dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
	text = DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(arg)));
	dq_resume(&saved);
	return text;
}
