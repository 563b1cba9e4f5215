/*
 * pattern.c
 *		The text of a column matches a regular expression, or a LIKE pattern.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "columns.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

static void
pattern_compile(Check *check, const ColumnMap *map)
{
	const char *name = quote_identifier(linitial(check->columns));
	const char *operator = check->kind == &dq_kind_pattern ? "~" : "~~";
	char	   *text = dq_param(check->params, "pattern");
	char	   *pattern = dq_literal(text);
	Column	   *column;

	check->rule = psprintf(check->kind == &dq_kind_pattern ? "%s matches '%s'" :
						   "%s like '%s'", name, text);
	check->complaint = psprintf(check->kind == &dq_kind_pattern ? "%s does not match '%s'" :
								"%s not like '%s'", name, text);
	column = dq_usable_column(check, map, linitial(check->columns));
	if (column == NULL)
		return;
	/* a collation for which equal is not the same has no patterns */
	if (OidIsValid(column->collid) && !get_collation_isdeterministic(column->collid))
		pattern = psprintf("%s COLLATE pg_catalog.\"default\"", pattern);
	check->null_sql = dq_null_sql(column);
	check->fail_sql = dq_value_rule_sql(check, column,
										psprintf("NOT batch.%s::pg_catalog.text OPERATOR(pg_catalog.%s) %s",
												 name, operator, pattern));
}

const CheckKind dq_kind_pattern = {
	.name = "pattern",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = pattern_compile,
};

const CheckKind dq_kind_like = {
	.name = "like",
	.evaluation = EVAL_SCAN,
	.actions = DQ_ANY_ACTION,
	.rows = true,
	.compile = pattern_compile,
};

/* LIKE finds out about an escape at the end only when it gets there */
static bool
ends_in_escape(const char *pattern)
{
	int			escapes = 0;

	for (const char *p = pattern + strlen(pattern); p > pattern && p[-1] == '\\'; p--)
		escapes++;
	return escapes % 2 == 1;
}

/* Let the server itself say whether it takes the pattern */
static void
try_pattern(void *arg)
{
	dq_execute(arg, 0, NULL, NULL, NULL, true);
	dq_free_result();
}

static Datum
declare_pattern(FunctionCallInfo fcinfo, const CheckKind *kind)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, kind);
	char	   *pattern = dq_required_text(fcinfo, 2, "pattern");
	ErrorData  *error;

	dq_declare_columns(decl, list_make1(dq_required_text(fcinfo, 1, "column_name")));
	if (kind == &dq_kind_like && ends_in_escape(pattern))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_ESCAPE_SEQUENCE),
				 errmsg("LIKE pattern must not end with escape character")));
	if (!dq_attempt(try_pattern,
					psprintf("SELECT 'x'::pg_catalog.text OPERATOR(pg_catalog.%s) %s",
							 kind == &dq_kind_pattern ? "~" : "~~", dq_literal(pattern)),
					&error))
		ereport(ERROR,
				(errcode(error->sqlerrcode),
				 errmsg("pattern %s for column %s of gate %s is not valid",
						dq_literal(pattern), quote_identifier(linitial(decl->columns)),
						decl->gate->name),
				 errdetail("%s", dq_error_text(error))));
	decl->params = dq_set_param(decl->params, "pattern", pattern);
	dq_declare_common(fcinfo, 3, decl);
	return dq_finish_declaration(fcinfo, decl);
}

PG_FUNCTION_INFO_V1(dq_gate_expect_pattern);
PG_FUNCTION_INFO_V1(dq_gate_expect_like);

/*
 * expect_pattern(target, column_name, pattern, and the common arguments)
 * declares a POSIX regular expression.
 */
Datum
dq_gate_expect_pattern(PG_FUNCTION_ARGS)
{
	return declare_pattern(fcinfo, &dq_kind_pattern);
}

/*
 * expect_like(target, column_name, pattern, and the common arguments) declares
 * a LIKE pattern.
 */
Datum
dq_gate_expect_like(PG_FUNCTION_ARGS)
{
	return declare_pattern(fcinfo, &dq_kind_like);
}
