/*
 * arguments.c
 *		The call that declared a check, to be made again.
 *
 * A check is kept as what it means and as what was typed.  The second is what
 * rules as code are made of: the arguments by name, as jsonb, without the
 * target and the name of the check, which stand beside it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "arguments.h"
#include "spi_util.h"

/*
 * Whether a value is a number in JSON too: NaN is not, nor a table, whose type
 * counts as numeric, and whose name may look like a number.
 */
static bool
is_number(Oid typid, const char *text)
{
	return TypeCategory(typid) == TYPCATEGORY_NUMERIC && typid != REGCLASSOID &&
		strspn(text, "0123456789+-.eE") == strlen(text);
}

/* One argument as an expression over the texts that are given as $1 */
static void
append_argument(StringInfo buf, Oid typid, const char *name, const char *text, int no)
{
	appendStringInfo(buf, "%s%s, ", buf->len > 0 ? ", " : "", dq_literal(name));
	if (typid == TEXTARRAYOID)
		appendStringInfo(buf, "pg_catalog.to_jsonb($1[%d]::pg_catalog.text[])", no);
	else if (typid == BOOLOID)
		appendStringInfo(buf, "pg_catalog.to_jsonb($1[%d]::pg_catalog.bool)", no);
	else if (is_number(typid, text))
		appendStringInfo(buf, "pg_catalog.to_jsonb($1[%d]::pg_catalog.numeric)", no);
	else
		appendStringInfo(buf, "pg_catalog.to_jsonb($1[%d])", no);
}

/*
 * The arguments of the call that are not NULL, as jsonb.  The caller has
 * pinned the settings, so that names are qualified.
 */
Datum
dq_call_arguments(FunctionCallInfo fcinfo)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	StringInfoData sql;
	StringInfoData missing;
	List	   *texts = NIL;
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			count;
	Oid			argtypes[1] = {TEXTARRAYOID};
	Datum		values[1];
	bool		isnull;
	Datum		arguments;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	count = get_func_arg_info(tuple, &types, &names, &modes);
	ReleaseSysCache(tuple);

	initStringInfo(&sql);
	initStringInfo(&missing);
	for (int i = 0; i < count; i++)
	{
		Oid			typid = get_fn_expr_argtype(fcinfo->flinfo, i);
		Oid			function;
		bool		is_varlena;
		char	   *text;

		if (strcmp(names[i], "target") == 0 || strcmp(names[i], "name") == 0)
			continue;
		if (PG_ARGISNULL(i))
		{
			appendStringInfo(&missing, "%s%d", missing.len > 0 ? "," : "", i + 1);
			continue;
		}
		/* a default that says nothing */
		if (strcmp(names[i], "samples") == 0 && PG_GETARG_BOOL(i))
			continue;
		getTypeOutputInfo(typid, &function, &is_varlena);
		text = OidOutputFunctionCall(function, PG_GETARG_DATUM(i));
		texts = lappend(texts, text);
		append_argument(&sql, typid, names[i], text, list_length(texts));
	}

	values[0] = dq_text_array(texts);
	/* and those that are NULL where that is not the default */
	dq_execute(psprintf("SELECT pg_catalog.jsonb_build_object(%s) || COALESCE((SELECT"
						" pg_catalog.jsonb_object_agg(p.proargnames[n.no], NULL) FROM pg_catalog.pg_proc AS p,"
						" pg_catalog.unnest('{%s}'::pg_catalog.int4[]) AS n (no) WHERE p.oid = %u"
						" AND NOT pg_catalog.starts_with(pg_catalog.pg_get_function_arg_default(p.oid, n.no), 'NULL')), '{}')",
						sql.data, missing.data, fcinfo->flinfo->fn_oid),
			   1, argtypes, values, NULL, true);
	arguments = datumCopy(dq_result_datum(0, 1, &isnull), false, -1);
	dq_free_result();
	return arguments;
}
