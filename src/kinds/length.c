/*
 * length.c
 *		How long a value is: characters of a text, bytes of a bytea, elements
 *		of an array.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"

/* The length of a value as SQL, NULL where the type has none */
static char *
length_sql(Oid typid, const char *value)
{
	Oid			base = getBaseType(typid);

	/* of char(n) without its padding, and of citext and its like as well */
	if (TypeCategory(base) == TYPCATEGORY_STRING)
		return psprintf("pg_catalog.char_length(%s::pg_catalog.text)", value);
	if (base == BYTEAOID)
		return psprintf("pg_catalog.octet_length(%s)", value);
	if (OidIsValid(get_element_type(base)))
		return psprintf("pg_catalog.cardinality(%s)", value);
	return NULL;
}

static void
length_compile(Check *check, const ColumnMap *map)
{
	const char *name = quote_identifier(linitial(check->columns));
	char	   *min = dq_param(check->params, "min");
	char	   *max = dq_param(check->params, "max");
	char	   *bounds = dq_bounds_words(min, max);
	Column	   *column;
	char	   *length;
	StringInfoData failure;

	check->rule = psprintf("length of %s %s", name, bounds);
	check->complaint = psprintf("length of %s not %s", name, bounds);
	column = dq_usable_column(check, map, linitial(check->columns));
	if (column == NULL)
		return;
	length = length_sql(column->typid, psprintf("batch.%s", name));
	if (length == NULL)
	{
		check->broken = psprintf("type %s of column %s has no length",
								 format_type_be(column->typid), name);
		return;
	}

	initStringInfo(&failure);
	if (min)
		appendStringInfo(&failure, "%s < %s", length, min);
	if (max)
		appendStringInfo(&failure, "%s%s > %s", min ? " OR " : "", length, max);
	check->null_sql = dq_null_sql(column);
	check->fail_sql = dq_value_rule_sql(check, column, failure.data);
	if (check->filter_sql)
		length = psprintf("CASE WHEN (%s) THEN %s END", check->filter_sql, length);
	check->observed_sql = psprintf("pg_catalog.min(%1$s)::pg_catalog.text || ' .. ' || pg_catalog.max(%1$s)::pg_catalog.text",
								   length);
}

const CheckKind dq_kind_length = {
	.name = "length",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = length_compile,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_length);

/*
 * expect_length(target, column_name, min, max, and the common arguments)
 * declares how long the values of a column are.
 */
Datum
dq_gate_expect_length(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_length);
	Column	   *column = dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));

	if (length_sql(column->typid, "") == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("column %s of gate %s has type %s, which has no length",
						quote_identifier(column->name), decl->gate->name,
						format_type_be(column->typid)),
				 errhint("Text, bytea and arrays have one.")));
	dq_declare_bounds(decl, PG_ARGISNULL(2) ? NULL : psprintf("%d", PG_GETARG_INT32(2)),
					  PG_ARGISNULL(3) ? NULL : psprintf("%d", PG_GETARG_INT32(3)));
	dq_declare_common(fcinfo, 4, decl);
	return dq_finish_declaration(fcinfo, decl);
}
