/*
 * sample_rows.c
 *		An aggregate that keeps some rows as jsonb, and looks at no other.
 *
 * Many samples can be taken of one pass over the rows: what is not kept is
 * not converted either.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

/* How much of a long value is shown, in characters */
#define SHOWN_CHARACTERS	100

/* A value as jsonb: numbers and booleans are what they are, others text */
static void
set_value(JsonbValue *item, Datum value, Oid typid)
{
	Oid			base = getBaseType(typid);
	Oid			function;
	bool		is_varlena;
	char	   *text;
	size_t		length;

	if (base == BOOLOID)
	{
		item->type = jbvBool;
		item->val.boolean = DatumGetBool(value);
		return;
	}
	getTypeOutputInfo(typid, &function, &is_varlena);
	text = OidOutputFunctionCall(function, value);
	length = strlen(text);

	/* jsonb has no NaN and no infinity */
	if ((base == INT2OID || base == INT4OID || base == INT8OID || base == NUMERICOID ||
		 base == FLOAT4OID || base == FLOAT8OID) &&
		strspn(text, "0123456789+-.e") == length)
	{
		item->type = jbvNumeric;
		item->val.numeric =
			DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text),
												ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
		return;
	}
	item->type = jbvString;
	item->val.string.val = text;
	item->val.string.len = pg_mbcharcliplen(text, (int) length, SHOWN_CHARACTERS);
}

/* The names and values of the arguments, which follow the number of rows to keep */
static Jsonb *
row_as_jsonb(FunctionCallInfo fcinfo)
{
	JsonbParseState *state = NULL;
	JsonbValue *result;

	(void) pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	(void) pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (int arg = 2; arg + 1 < PG_NARGS(); arg += 2)
	{
		JsonbValue	name;
		JsonbValue	item;

		name.type = jbvString;
		name.val.string.val = text_to_cstring(PG_GETARG_TEXT_PP(arg));
		name.val.string.len = strlen(name.val.string.val);
		(void) pushJsonbValue(&state, WJB_KEY, &name);
		item.type = jbvNull;
		if (!PG_ARGISNULL(arg + 1))
			set_value(&item, PG_GETARG_DATUM(arg + 1), get_fn_expr_argtype(fcinfo->flinfo, arg + 1));
		(void) pushJsonbValue(&state, WJB_VALUE, &item);
	}
	(void) pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	result = pushJsonbValue(&state, WJB_END_ARRAY, NULL);
	return JsonbValueToJsonb(result);
}

PG_FUNCTION_INFO_V1(dq_gate_sample_rows_step);

/*
 * sample_rows(count, name, value, ...) keeps the names and values of as many
 * rows as count says, as an array of objects; NULL where there are none.
 */
Datum
dq_gate_sample_rows_step(PG_FUNCTION_ARGS)
{
	bool		begun = !PG_ARGISNULL(0);
	int			kept = begun ? (int) JB_ROOT_COUNT(PG_GETARG_JSONB_P(0)) : 0;
	Jsonb	   *row;

	if (PG_ARGISNULL(1) || kept >= PG_GETARG_INT32(1))
	{
		if (begun)
			PG_RETURN_DATUM(PG_GETARG_DATUM(0));
		PG_RETURN_NULL();
	}
	/* by nobody but us, who write the names and values one by one */
	if (get_fn_expr_variadic(fcinfo->flinfo))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("names and values have to be single arguments")));
	for (int arg = 2; arg < PG_NARGS(); arg += 2)
	{
		if (PG_ARGISNULL(arg) || get_fn_expr_argtype(fcinfo->flinfo, arg) != TEXTOID)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the name of a value must be a text")));
	}
	row = row_as_jsonb(fcinfo);
	if (!begun)
		PG_RETURN_JSONB_P(row);
	return DirectFunctionCall2(jsonb_concat, PG_GETARG_DATUM(0), JsonbPGetDatum(row));
}
