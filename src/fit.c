/*
 * fit.c
 *		Does a staged value fit the type of the target's column?
 *
 * An assignment may fail (abc to integer), or change the value in silence
 * (1.2345 to numeric(10,2), 'abc   ' to varchar(3)).  For each pair of types
 * this room writes three fragments of SQL: the staged value as one of the
 * target's type for the checks, the same for the publish, and a predicate
 * that is true for the rows whose value does not fit.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "fit.h"
#include "spi_util.h"

/* text, varchar and char(n): what a loader stages when it does not know */
static bool
is_string(Oid typid)
{
	return typid == TEXTOID || typid == VARCHAROID || typid == BPCHAROID;
}

/* Width of an integer type, 0 for another */
static int
integer_width(Oid typid)
{
	switch (typid)
	{
		case INT2OID:
			return 2;
		case INT4OID:
			return 4;
		case INT8OID:
			return 8;
		default:
			return 0;
	}
}

static bool
is_fractional(Oid typid)
{
	return typid == NUMERICOID || typid == FLOAT4OID || typid == FLOAT8OID;
}

static const char *
integer_bounds(int width)
{
	if (width == 2)
		return "-32768 AND 32767";
	if (width == 4)
		return "-2147483648 AND 2147483647";
	return "'-9223372036854775808'::pg_catalog.numeric AND '9223372036854775807'::pg_catalog.numeric";
}

/* The smallest float beyond an integer type; its negative is the least that fits */
static const char *
float_bound(int width)
{
	return width == 2 ? "32768" : width == 4 ? "2147483648" : "9223372036854775808";
}

static int
typmod_precision(int32 typmod)
{
	return ((typmod - VARHDRSZ) >> 16) & 0xffff;
}

static int
typmod_scale(int32 typmod)
{
	return (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
}

/* True for a numeric that numeric(precision, scale) would round */
static char *
numeric_rounded(const char *value, int32 typmod)
{
	return psprintf("(%1$s <> 'NaN' AND pg_catalog.round(%1$s, %2$d) <> %1$s)",
					value, typmod_scale(typmod));
}

/* True for one that it would refuse, also once it is rounded if that is allowed */
static char *
numeric_overflow(const char *value, int32 typmod, bool rounding)
{
	int			scale = typmod_scale(typmod);

	return psprintf("(%s <> 'NaN' AND pg_catalog.abs(%s) >= '1e%d'::pg_catalog.numeric)", value,
					rounding ? psprintf("pg_catalog.round(%s, %d)", value, scale) : value,
					typmod_precision(typmod) - scale);
}

/*
 * Whether the type, or that of its elements, rounds what is too precise for
 * its modifier.  An interval of certain fields cuts.
 */
static bool
type_rounds(Oid typid, int32 typmod)
{
	Oid			element = get_element_type(typid);

	if (typmod < 0)
		return false;
	switch (OidIsValid(element) ? element : typid)
	{
		case NUMERICOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
		case TIMETZOID:
			return true;
		case INTERVALOID:
			return INTERVAL_RANGE(typmod) == INTERVAL_FULL_RANGE;
		default:
			return false;
	}
}

/* True for a string that is longer than the target allows */
static char *
string_misfit(const char *value, Oid typid, int32 typmod)
{
	/* blanks at the end mean nothing in char(n), and are data in varchar(n) */
	if (typid == BPCHAROID)
		return psprintf("pg_catalog.char_length(pg_catalog.rtrim(%s::pg_catalog.text)) > %d",
						value, typmod - VARHDRSZ);
	return psprintf("pg_catalog.char_length(%s::pg_catalog.text) > %d",
					value, typmod - VARHDRSZ);
}

/* Whether the modifier of one type allows all that another one allows */
static bool
typmod_widens(Oid typid, int32 from, int32 to)
{
	if (to < 0 || from == to)
		return true;
	if (from < 0)
		return false;
	switch (typid)
	{
		case VARCHAROID:
		case BPCHAROID:
		case VARBITOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
		case TIMETZOID:
			return from <= to;
		case NUMERICOID:
			return typmod_scale(from) <= typmod_scale(to) &&
				typmod_precision(from) - typmod_scale(from) <= typmod_precision(to) - typmod_scale(to);
		default:
			return false;
	}
}

/* How many digits an integer type has at most */
static int
integer_digits(int width)
{
	return width == 2 ? 5 : width == 4 ? 10 : 19;
}

/*
 * Whether a type takes all values of another one as they are, and more.  Not
 * whatever casts implicitly: bigint to float8 drops digits, char(n) to text
 * blanks.
 */
bool
dq_type_widens(Oid from, int32 from_typmod, Oid to, int32 to_typmod)
{
	if (from == to)
		return from_typmod != to_typmod && typmod_widens(from, from_typmod, to_typmod) &&
			(from != BPCHAROID || to_typmod >= 0);
	if (from == VARCHAROID && to == TEXTOID)
		return from_typmod >= 0;
	if (from == FLOAT4OID && to == FLOAT8OID)
		return true;
	if (integer_width(from) == 0)
		return false;
	if (to == NUMERICOID)
		return to_typmod < 0 ||
			(typmod_scale(to_typmod) >= 0 &&
			 typmod_precision(to_typmod) - typmod_scale(to_typmod) >= integer_digits(integer_width(from)));
	return integer_width(from) < integer_width(to);
}

/* Give the column a predicate for its misfits, and a value that is safe */
static void
fits_some(Column *column, const char *misfit, const char *value)
{
	column->fit = FIT_SOME;
	column->misfit_sql = psprintf("(%s) IS TRUE", misfit);
	column->value_sql = psprintf("CASE WHEN (%s) IS NOT TRUE THEN %s END",
								 misfit, value);
}

/*
 * The same where values may be rounded as well: that is a misfit, or allowed
 * and then counted.  What does not fit however it is rounded is none of it.
 */
static void
fits_rounded(Column *column, bool allowed, const char *rounded, const char *misfit,
			 const char *value)
{
	fits_some(column, allowed ? misfit : psprintf("%s OR %s", rounded, misfit), value);
	if (allowed)
		column->rounded_sql = psprintf("(%s) IS TRUE AND NOT %s", rounded, column->misfit_sql);
}

/* Let the type's own input function decide about each value */
static void
fits_as_input(Column *column, const char *staged, Oid base, int32 typmod, bool rounding)
{
	char	   *misfit;
	bool		rounds = rounding && type_rounds(base, typmod);
	int32		input_typmod = (base == NUMERICOID && !rounds) ? -1 : typmod;
	char	   *exact = psprintf("dq_gate.try_cast(%s::pg_catalog.text, NULL::%s, -1)",
								 staged, dq_type_sql(base, -1));

	column->fit = FIT_SOME;
	column->value_sql = psprintf("dq_gate.try_cast(%s::pg_catalog.text, NULL::%s, %d)",
								 staged, dq_type_sql(base, -1), input_typmod);
	misfit = psprintf("NOT dq_gate.fits(%s::pg_catalog.text, %u, %d)",
					  staged, base, input_typmod);

	/* some input functions round or cut without a word; a time is all that is left of a date with one */
	if (base == TIMEOID)
		misfit = psprintf("%s OR dq_gate.try_cast(%s::pg_catalog.text, NULL::pg_catalog.timestamp, -1)::pg_catalog.time = %s",
						  misfit, staged, exact);
	if (rounds)
		column->rounded_sql = psprintf("(%s <> %s) IS TRUE", column->value_sql, exact);
	else if (base == NUMERICOID && typmod >= 0)
		misfit = psprintf("%s OR %s OR %s", misfit,
						  numeric_rounded(column->value_sql, typmod),
						  numeric_overflow(column->value_sql, typmod, false));
	else if (base == DATEOID)
		misfit = psprintf("%s OR %s::pg_catalog.timestamp <> dq_gate.try_cast(%s::pg_catalog.text, NULL::pg_catalog.timestamp, -1)",
						  misfit, column->value_sql, staged);
	else if (base == NAMEOID)
		misfit = psprintf("%s OR pg_catalog.octet_length(%s::pg_catalog.text) >= %d",
						  misfit, staged, NAMEDATALEN);
	else if (typmod >= 0)
		misfit = psprintf("%s OR %s IS DISTINCT FROM %s", misfit, column->value_sql, exact);
	column->misfit_sql = psprintf("(%s) IS TRUE", misfit);
}

static bool
has_constraint(Oid domain)
{
	Relation	rel = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	bool		found;

	ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(domain));
	scan = systable_beginscan(rel, ConstraintTypidIndexId, true, NULL, 1, &key);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/*
 * Whether a type is a domain with rules of its own, or over one.  Unlike
 * DomainHasConstraints it does not plan them: that evaluates what is constant
 * in them, as whoever looks.
 */
bool
dq_domain_restricts(Oid typid)
{
	while (get_typtype(typid) == TYPTYPE_DOMAIN)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(typid));
		Form_pg_type type;
		bool		notnull;
		Oid			base;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", typid);
		type = (Form_pg_type) GETSTRUCT(tuple);
		notnull = type->typnotnull;
		base = type->typbasetype;
		ReleaseSysCache(tuple);
		if (notnull || has_constraint(typid))
			return true;
		typid = base;
	}
	return false;
}

/* An array whose elements are of a domain with rules of its own */
static bool
elements_restricted(Oid typid)
{
	Oid			element = get_element_type(typid);

	return OidIsValid(element) && dq_domain_restricts(element);
}

/* A number with a fraction, staged for a column of integers */
static void
fit_fraction(Column *column, const char *staged, Oid from, int width, const char *cast, bool rounding)
{
	/* a float as it is: numeric would keep 15 digits of it */
	char	   *number = from == NUMERICOID ? pstrdup(staged) : psprintf("%s::pg_catalog.float8", staged);
	/* the cast rounds as this function does for its type */
	char	   *counted = rounding ? psprintf("pg_catalog.round(%s)", number) : number;

	fits_rounded(column, rounding, psprintf("%1$s <> pg_catalog.trunc(%1$s)", number),
				 from == NUMERICOID ?
				 psprintf("%s NOT BETWEEN %s", counted, integer_bounds(width)) :
				 psprintf("NOT (%1$s >= '-%2$s'::pg_catalog.float8 AND %1$s < '%2$s'::pg_catalog.float8)",
						  counted, float_bound(width)),
				 cast);
}

/*
 * Between base types that are no strings and not the same: numbers, dates,
 * and whatever has an assignment cast.
 */
static void
fit_by_cast(Column *column, const char *staged, Oid from, Oid to, int32 typmod, bool rounding)
{
	char	   *cast = psprintf("CAST(%s AS %s)", staged, dq_type_sql(to, typmod));
	CoercionPathType path;
	Oid			function;

	if (integer_width(to) > 0 && is_fractional(from))
	{
		fit_fraction(column, staged, from, integer_width(to), cast, rounding);
		return;
	}
	if (integer_width(to) > 0 && integer_width(from) > 0)
	{
		if (integer_width(from) > integer_width(to))
			fits_some(column, psprintf("%s NOT BETWEEN %s", staged,
									   integer_bounds(integer_width(to))), cast);
		return;
	}
	if (to == NUMERICOID && (integer_width(from) > 0 || is_fractional(from)))
	{
		char	   *number = psprintf("%s::pg_catalog.numeric", staged);

		if (typmod >= 0)
			fits_rounded(column, rounding, numeric_rounded(number, typmod),
						 numeric_overflow(number, typmod, rounding), cast);
		return;
	}
	if ((to == FLOAT4OID && (from == FLOAT8OID || from == NUMERICOID)) ||
		(to == FLOAT8OID && from == NUMERICOID))
	{
		/* beyond the largest, or closer to zero than the smallest */
		fits_some(column, psprintf("pg_catalog.abs(%1$s) < 'Infinity' AND"
								   " (pg_catalog.abs(%1$s) > %2$s OR (%1$s <> 0 AND pg_catalog.abs(%1$s) < %3$s))",
								   staged,
								   to == FLOAT4OID ? "3.4028235e38" : "1.7976931348623157e308",
								   to == FLOAT4OID ? "7.1e-46" : "2.5e-324"), cast);
		return;
	}
	if (to == DATEOID && (from == TIMESTAMPOID || from == TIMESTAMPTZOID))
	{
		fits_some(column, psprintf("%1$s::pg_catalog.date::%2$s <> %1$s", staged,
								   dq_type_sql(from, -1)), cast);
		return;
	}

	path = find_coercion_pathway(to, from, COERCION_ASSIGNMENT, &function);
	if (path == COERCION_PATH_NONE)
		column->fit = FIT_NEVER;
	else if (elements_restricted(to) ||
			 (path != COERCION_PATH_RELABELTYPE &&
			  find_coercion_pathway(to, from, COERCION_IMPLICIT, &function) == COERCION_PATH_NONE))
		fits_as_input(column, staged, to, typmod, rounding);
	else if (typmod >= 0)
	{
		/* the value is taken as it is, and then cut or rounded to the modifier */
		char	   *changed = psprintf("%s IS DISTINCT FROM CAST(%s AS %s)", cast, staged,
									   dq_type_sql(to, -1));

		if (type_rounds(to, typmod))
			fits_rounded(column, rounding, changed, "false", cast);
		else
			fits_some(column, changed, cast);
	}
}

/*
 * Decide how the column's staged values become values of the target, and
 * whether they may be rounded on the way.
 */
void
dq_choose_fit(Column *column, bool rounding)
{
	char	   *staged = column->staged_sql;
	int32		from_typmod = column->staged_typmod;
	int32		to_typmod = column->typmod;
	Oid			from = getBaseTypeAndTypmod(column->staged_typid, &from_typmod);
	Oid			to = getBaseTypeAndTypmod(column->typid, &to_typmod);
	bool		same_type = column->staged_typid == column->typid;

	column->fit = FIT_ALWAYS;
	column->misfit_sql = column->rounded_sql = NULL;
	if (same_type && column->staged_typmod == column->typmod)
		column->value_sql = staged;
	else
	{
		column->value_sql = psprintf("CAST(%s AS %s)", staged, dq_type_sql(to, to_typmod));
		if (from == to)
		{
			if (typmod_widens(to, from_typmod, to_typmod))
				 /* nothing can happen to the value */ ;
			else if (is_string(to))
				fits_some(column, string_misfit(staged, to, to_typmod), column->value_sql);
			else if (to == NUMERICOID)
				fits_rounded(column, rounding, numeric_rounded(staged, to_typmod),
							 numeric_overflow(staged, to_typmod, rounding), column->value_sql);
			else if (OidIsValid(get_element_type(to)))
				fits_as_input(column, staged, to, to_typmod, rounding);
			else if (type_rounds(to, to_typmod))
				fits_rounded(column, rounding, psprintf("%s <> %s", column->value_sql, staged),
							 "false", column->value_sql);
			else
				/* as text: the equality of a type need not be found by its name */
				fits_some(column, psprintf("%s::pg_catalog.text <> %s::pg_catalog.text", column->value_sql, staged),
						  column->value_sql);
		}
		else if (is_string(to))
		{
			if (to_typmod >= 0)
				fits_some(column, string_misfit(staged, to, to_typmod), column->value_sql);
		}
		else if (is_string(from))
			fits_as_input(column, staged, to, to_typmod, rounding);
		else
			fit_by_cast(column, staged, from, to, to_typmod, rounding);
	}
	if (column->fit == FIT_NEVER)
		return;

	/* a domain has rules of its own, which may look at NULL as well */
	if (!same_type && dq_domain_restricts(column->typid))
	{
		/* that NULL is not allowed is said by the check for NULL */
		char	   *broken = psprintf("%sNOT dq_gate.fits((%s)::pg_catalog.text, %u, -1)",
									  column->notnull ? psprintf("%s IS NOT NULL AND ", staged) : "",
									  column->value_sql, column->typid);

		column->misfit_sql = column->fit == FIT_SOME ?
			psprintf("((%s) OR (%s) IS TRUE)", column->misfit_sql, broken) :
			psprintf("(%s) IS TRUE", broken);
		column->fit = FIT_SOME;
		if (column->rounded_sql)
			column->rounded_sql = psprintf("%s AND NOT %s", column->rounded_sql, column->misfit_sql);
	}

	column->publish_sql = same_type && column->staged_typmod == column->typmod ?
		staged : psprintf("CAST(%s AS %s)", staged, dq_type_sql(column->typid, column->typmod));

	if (OidIsValid(column->collid) && column->staged_collid != column->collid)
	{
		char	   *collate = dq_collation_sql(column->collid);

		column->value_sql = psprintf("(%s) COLLATE %s", column->value_sql, collate);
		column->publish_sql = psprintf("(%s) COLLATE %s", column->publish_sql, collate);
	}
}

/* What the two SQL functions remember between the rows of a statement */
typedef struct InputState
{
	Oid			typid;
	Oid			typioparam;
	FmgrInfo	input;
} InputState;

static InputState *
input_state(FunctionCallInfo fcinfo, Oid typid)
{
	InputState *state = fcinfo->flinfo->fn_extra;

	if (state == NULL || state->typid != typid)
	{
		Oid			function;

		state = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(InputState));
		getTypeInputInfo(typid, &function, &state->typioparam);
		fmgr_info_cxt(function, &state->input, fcinfo->flinfo->fn_mcxt);
		state->typid = typid;
		fcinfo->flinfo->fn_extra = state;
	}
	return state;
}

#ifndef DQ_SOFT_INPUT
/* A conversion tried out; see dq_attempt */
typedef struct InputTrial
{
	InputState *state;
	char	   *text;
	int32		typmod;
	Datum		value;
} InputTrial;

static void
try_input(void *arg)
{
	InputTrial *trial = arg;

	trial->value = InputFunctionCall(&trial->state->input, trial->text,
									 trial->state->typioparam, trial->typmod);
}
#endif

/* Convert; false where the type does not take the text */
static bool
convert(InputState *state, char *text, int32 typmod, Datum *value)
{
#ifdef DQ_SOFT_INPUT
	ErrorSaveContext soft = {0};

	soft.type = T_ErrorSaveContext;
	return InputFunctionCallSafe(&state->input, text, state->typioparam, typmod,
								 (Node *) &soft, value);
#else
	InputTrial	trial = {state, text, typmod, (Datum) 0};
	ErrorData  *error;

	if (!dq_attempt(try_input, &trial, &error))
	{
		FreeErrorData(error);
		return false;
	}
	*value = trial.value;
	return true;
#endif
}

PG_FUNCTION_INFO_V1(dq_gate_fits);
PG_FUNCTION_INFO_V1(dq_gate_try_cast);

/*
 * fits(value text, type oid, typmod int) returns whether the type takes the
 * text; NULL fits unless the type is a domain that forbids it.
 */
Datum
dq_gate_fits(PG_FUNCTION_ARGS)
{
	char	   *input = PG_ARGISNULL(0) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(0));
	Datum		value;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(convert(input_state(fcinfo, PG_GETARG_OID(1)), input,
						   PG_GETARG_INT32(2), &value));
}

/*
 * try_cast(value text, type anyelement, typmod int) returns the text as a
 * value of the type of its second argument, NULL where it does not fit.
 */
Datum
dq_gate_try_cast(PG_FUNCTION_ARGS)
{
	Oid			typid = get_fn_expr_argtype(fcinfo->flinfo, 1);
	Datum		value;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	if (!OidIsValid(typid))
		elog(ERROR, "could not determine the type to cast to");
	if (!convert(input_state(fcinfo, typid), text_to_cstring(PG_GETARG_TEXT_PP(0)),
				 PG_GETARG_INT32(2), &value))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(value);
}
