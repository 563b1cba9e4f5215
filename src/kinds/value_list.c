/*
 * value_list.c
 *		A column with one of some values, or with none of them.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "columns.h"
#include "declare.h"
#include "expression.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/*
 * The values as an array of the column's type, NULL if none is of that type:
 * a label that an enum does not have is a value that no row has.
 */
static char *
list_sql(List *values, Oid typid)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	foreach(lc, values)
	{
		char	   *text = lfirst(lc);
		Datum		value;
		ErrorData  *error;

		if (!dq_try_value(typid, &text, &value, &error))
		{
			FreeErrorData(error);
			continue;
		}
		appendStringInfo(&sql, "%s%s::%s", sql.len > 0 ? ", " : "", dq_literal(lfirst(lc)),
						 dq_type_sql(typid, -1));
	}
	return sql.len > 0 ? psprintf("ARRAY[%s]", sql.data) : NULL;
}

static void
value_list_compile(Check *check, const ColumnMap *map)
{
	const char *name = quote_identifier(linitial(check->columns));
	bool		accepted = check->kind == &dq_kind_accepted_values;
	char	   *query = dq_param(check->params, "query");
	List	   *values = NIL;
	char	   *words;
	Column	   *column;
	Oid			base;
	char	   *list;
	char	   *value;

	if (query == NULL)
		values = dq_text_list(dq_array_from_text(dq_param(check->params, "values")));
	words = query ? query : dq_join_literals(values);
	check->rule = psprintf("%s %s (%s)", name, accepted ? "in" : "not in", words);
	check->complaint = psprintf("%s %s (%s)", name, accepted ? "not in" : "in", words);
	column = dq_usable_column(check, map, linitial(check->columns));
	if (column == NULL)
		return;
	check->null_sql = dq_null_sql(column);
	if (query)
	{
		/* NULL among the values makes none of them accepted or rejected */
		check->fail_sql = dq_value_rule_sql(check, column,
											psprintf("(%s) IS %sTRUE", dq_param(check->params, "resolved"),
													 accepted ? "NOT " : ""));
		return;
	}
	base = getBaseType(column->typid);
	if (!OidIsValid(dq_equality_operator(base)))
	{
		check->broken = psprintf("type %s of column %s has no equality operator",
								 format_type_be(column->typid), name);
		return;
	}

	/* a domain over an enum is no enum to its operators */
	value = column->typid == base ? psprintf("batch.%s", name) :
		psprintf("batch.%s::%s", name, dq_type_sql(base, -1));
	list = list_sql(values, base);
	check->fail_sql = dq_value_rule_sql(check, column,
										list == NULL ? (accepted ? "true" : "false") :
										psprintf("%s %s %s ANY (%s)", accepted ? "NOT" : "", value,
												 dq_operator_sql(dq_equality_operator(base)), list));
}

const CheckKind dq_kind_accepted_values = {
	.name = "accepted_values",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = value_list_compile,
};

const CheckKind dq_kind_rejected_values = {
	.name = "rejected_values",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = value_list_compile,
};

/*
 * A value that the column cannot hold is a mistake; but not the label of an
 * enum, which may have had it, or get it yet.
 */
static void
check_values(const Declaration *decl, const Column *column, List *values)
{
	Oid			base = getBaseType(column->typid);
	Identity	saved;
	ListCell   *lc;

	if (get_typtype(base) == TYPTYPE_ENUM)
		return;
	/* a type may hold a domain, whose rule is anybody's function */
	dq_assume(&saved, decl->gate->run_as, PHASE_AUDIT);
	foreach(lc, values)
	{
		char	   *text = lfirst(lc);
		Datum		value;
		ErrorData  *error;

		if (!dq_try_value(base, &text, &value, &error))
			ereport(ERROR,
					(errcode(error->sqlerrcode),
					 errmsg("%s is no value of column %s of gate %s, of type %s",
							dq_literal(text), quote_identifier(column->name),
							decl->gate->name, format_type_be(column->typid))));
	}
	dq_resume(&saved);
}

/*
 * Values from a query, such as of a reference table.  They are compared as
 * whoever declares the check would do it.
 */
static void
declare_query(Declaration *decl, const char *query)
{
	const char *name = quote_identifier(linitial(decl->columns));
	List	   *columns;
	char	   *values = dq_declare_meaning(decl, "a query", dq_parse_query(query), &columns);

	decl->params = dq_set_param(decl->params, "query", query);
	decl->params = dq_set_param(decl->params, "resolved",
								dq_declare_expression(decl, "rule",
													  psprintf("%s = ANY (%s)", name, values),
													  &columns));
}

static Datum
declare_list(FunctionCallInfo fcinfo, const CheckKind *kind, const char *argument)
{
	char	   *query = dq_optional_text(fcinfo, 3);
	Declaration *decl = dq_begin_declaration(fcinfo, 0, kind);
	Column	   *column = dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));

	if (PG_ARGISNULL(2) == (query == NULL))
		ereport(ERROR,
				(errcode(query ? ERRCODE_INVALID_PARAMETER_VALUE : ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("give \"%s\" or \"query\", one of them", argument)));
	if (query)
	{
		dq_declare_common(fcinfo, 4, decl);
		declare_query(decl, query);
		return dq_finish_declaration(fcinfo, decl);
	}
	if (dq_text_list(PG_GETARG_DATUM(2)) == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must hold at least one value", argument)));
	check_values(decl, column, dq_text_list(PG_GETARG_DATUM(2)));
	if (!OidIsValid(dq_equality_operator(column->typid)) ||
		OidIsValid(get_element_type(getBaseType(column->typid))))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column %s of gate %s has type %s, of which no list can be made",
						quote_identifier(column->name), decl->gate->name,
						format_type_be(column->typid)),
				 errhint("Use dq_gate.expect_sql with an expression over the column.")));
	decl->params = dq_set_param(decl->params, "values",
								dq_array_as_text(PG_GETARG_DATUM(2)));
	dq_declare_common(fcinfo, 4, decl);
	return dq_finish_declaration(fcinfo, decl);
}

PG_FUNCTION_INFO_V1(dq_gate_expect_accepted_values);
PG_FUNCTION_INFO_V1(dq_gate_expect_rejected_values);

/*
 * expect_accepted_values(target, column_name, accepted, query, and the common
 * arguments) declares the values that a column may have.
 */
Datum
dq_gate_expect_accepted_values(PG_FUNCTION_ARGS)
{
	return declare_list(fcinfo, &dq_kind_accepted_values, "accepted");
}

/*
 * expect_rejected_values(target, column_name, rejected, query, and the common
 * arguments) declares the values that a column may not have.
 */
Datum
dq_gate_expect_rejected_values(PG_FUNCTION_ARGS)
{
	return declare_list(fcinfo, &dq_kind_rejected_values, "rejected");
}
