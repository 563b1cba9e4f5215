/*
 * range.c
 *		A column between bounds, both included.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/* NaN sorts above every number, but is none between two bounds */
static bool
has_nan(Oid base)
{
	return base == NUMERICOID || base == FLOAT4OID || base == FLOAT8OID;
}

/* Types whose smallest and largest value are worth showing */
static bool
has_min_max(Oid base)
{
	switch (base)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
			return true;
		default:
			return has_nan(base);
	}
}

/* A bound as a constant of the column's type */
static char *
bound_sql(const char *bound, Oid base)
{
	return psprintf("%s::%s", dq_literal(bound), dq_type_sql(base, -1));
}

static void
range_compile(Check *check, const ColumnMap *map)
{
	const char *name = quote_identifier(linitial(check->columns));
	Column	   *column;
	TypeCacheEntry *type;
	Oid			base;
	char	   *value;
	StringInfoData failure;
	char	   *min = dq_param(check->params, "min");
	char	   *max = dq_param(check->params, "max");

	if (min == NULL)
	{
		check->rule = psprintf("%s <= %s", name, max);
		check->complaint = psprintf("%s above %s", name, max);
	}
	else if (max == NULL)
	{
		check->rule = psprintf("%s >= %s", name, min);
		check->complaint = psprintf("%s below %s", name, min);
	}
	else
	{
		check->rule = psprintf("%s between %s and %s", name, min, max);
		check->complaint = psprintf("%s not between %s and %s", name, min, max);
	}

	column = dq_usable_column(check, map, linitial(check->columns));
	if (column == NULL)
		return;
	base = getBaseType(column->typid);
	type = lookup_type_cache(base, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	if (!OidIsValid(type->lt_opr) || !OidIsValid(type->gt_opr))
	{
		check->broken = psprintf("type %s of column %s has no order",
								 format_type_be(column->typid), name);
		return;
	}

	if (max == NULL && has_nan(base))
		check->complaint = psprintf("%s or NaN", check->complaint);
	value = psprintf("batch.%s", name);
	initStringInfo(&failure);
	if (min)
		appendStringInfo(&failure, "%s %s %s", value, dq_operator_sql(type->lt_opr),
						 bound_sql(min, base));
	if (max)
		appendStringInfo(&failure, "%s%s %s %s", min ? " OR " : "", value,
						 dq_operator_sql(type->gt_opr), bound_sql(max, base));
	else if (has_nan(base))
		appendStringInfo(&failure, " OR %s = 'NaN'", value);

	check->null_sql = dq_null_sql(column);
	check->fail_sql = dq_value_rule_sql(check, column, failure.data);
	if (has_nan(base))
		value = psprintf("NULLIF(%s, 'NaN')", value);
	if (check->filter_sql)
		value = psprintf("CASE WHEN (%s) THEN %s END", check->filter_sql, value);
	if (has_min_max(base))
		check->observed_sql = psprintf("pg_catalog.min(%1$s)::pg_catalog.text || ' .. ' || pg_catalog.max(%1$s)::pg_catalog.text",
									   value);
}

const CheckKind dq_kind_range = {
	.name = "range",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = range_compile,
};

/*
 * An argument of any type as a bound of the column: its text, and its value
 * as the column's type has it.
 */
static char *
declared_bound(FunctionCallInfo fcinfo, int arg, const char *which,
			   const Declaration *decl, const Column *column, Datum *value)
{
	Oid			argtype = get_fn_expr_argtype(fcinfo->flinfo, arg);
	char	   *text;
	ErrorData  *error;

	if (PG_ARGISNULL(arg))
		return NULL;
	if (argtype == UNKNOWNOID)
		text = pstrdup(PG_GETARG_CSTRING(arg));
	else
	{
		Oid			function;
		bool		is_varlena;

		getTypeOutputInfo(argtype, &function, &is_varlena);
		text = OidOutputFunctionCall(function, PG_GETARG_DATUM(arg));
	}

	if (!dq_try_value(getBaseType(column->typid), &text, value, &error))
		ereport(ERROR,
				(errcode(error->sqlerrcode),
				 errmsg("%s of a range on column %s of gate %s is no value of type %s",
						which, quote_identifier(column->name), decl->gate->name,
						format_type_be(column->typid)),
				 errdetail("%s", dq_error_text(error)),
				 errhint("Give the bound as a value that the column could hold.")));
	return text;
}

PG_FUNCTION_INFO_V1(dq_gate_expect_range);

/*
 * expect_range(target, column_name, min, max, and the common arguments)
 * declares the bounds of a column.
 */
Datum
dq_gate_expect_range(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_range);
	Column	   *column;
	TypeCacheEntry *type;
	Datum		min = (Datum) 0;
	Datum		max = (Datum) 0;
	char	   *min_text;
	char	   *max_text;
	Identity	saved;

	column = dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));
	dq_declare_common(fcinfo, 4, decl);

	type = lookup_type_cache(getBaseType(column->typid), TYPECACHE_LT_OPR |
							 TYPECACHE_GT_OPR | TYPECACHE_CMP_PROC_FINFO);
	if (!OidIsValid(type->lt_opr) || !OidIsValid(type->gt_opr) ||
		!OidIsValid(type->cmp_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column %s of gate %s has type %s, which has no order",
						quote_identifier(column->name), decl->gate->name,
						format_type_be(column->typid)),
				 errhint("Use dq_gate.expect_sql with an expression over the column.")));

	/* bounds are kept as text, so they are read in fixed styles; as the gate's role, since a type may hold a domain */
	dq_assume(&saved, decl->gate->run_as, PHASE_AUDIT);
	min_text = declared_bound(fcinfo, 2, "min", decl, column, &min);
	max_text = declared_bound(fcinfo, 3, "max", decl, column, &max);
	dq_resume(&saved);

	if (min_text == NULL && max_text == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a range on column %s of gate %s needs min, max or both",
						quote_identifier(column->name), decl->gate->name)));
	if (min_text != NULL && max_text != NULL &&
		DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo, column->collid, min, max)) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("min %s is above max %s in the range on column %s of gate %s",
						min_text, max_text, quote_identifier(column->name),
						decl->gate->name)));

	decl->params = dq_set_param(decl->params, "min", min_text);
	decl->params = dq_set_param(decl->params, "max", max_text);
	return dq_finish_declaration(fcinfo, decl);
}
