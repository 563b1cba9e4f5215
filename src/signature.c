/*
 * signature.c
 *		What the functions take that make a gate or declare a check.
 *
 * The catalogs know, so that a document takes a new kind or argument as soon
 * as there is one.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "signature.h"
#include "spi_util.h"

/* The functions whose arguments a document may name */
List *
dq_load_signatures(void)
{
	List	   *signatures = NIL;
	Identity	saved;
	uint64		count;

	dq_assume(&saved, GetUserId(), PHASE_AUDIT);
	count = dq_execute("SELECT proname::pg_catalog.text, proargnames, proargtypes::pg_catalog.oid[],"
					   " (pronargs - pronargdefaults)::pg_catalog.int8,"
					   " ARRAY(SELECT proargnames[i] FROM pg_catalog.generate_series(1, pronargs) AS i"
					   " WHERE NOT pg_catalog.starts_with(pg_catalog.pg_get_function_arg_default(oid, i), 'NULL'))"
					   " FROM pg_catalog.pg_proc"
					   " WHERE pronamespace = '" DQ_SCHEMA "'::pg_catalog.regnamespace"
					   " AND (proname = 'create_gate' OR pg_catalog.starts_with(proname::pg_catalog.text, 'expect_'))"
					   " ORDER BY proname",
					   0, NULL, NULL, NULL, true);
	for (uint64 row = 0; row < count; row++)
	{
		Signature  *signature = palloc(sizeof(Signature));
		bool		isnull;
		Datum	   *types;
		int			n;

		signature->function = dq_result_text(row, 1);
		signature->names = dq_text_list(dq_result_datum(row, 2, &isnull));
		deconstruct_array(DatumGetArrayTypeP(dq_result_datum(row, 3, &isnull)), OIDOID,
						  sizeof(Oid), true, TYPALIGN_INT, &types, NULL, &n);
		signature->types = palloc(sizeof(Oid) * Max(1, n));
		for (int i = 0; i < n; i++)
			signature->types[i] = DatumGetObjectId(types[i]);
		signature->defaulted = dq_text_list(dq_result_datum(row, 5, &isnull));
		signature->required = (int) dq_result_int64(row, 4, 0);
		signatures = lappend(signatures, signature);
	}
	dq_free_result();
	dq_resume(&saved);
	return signatures;
}

const Signature *
dq_find_signature(List *signatures, const char *function)
{
	ListCell   *lc;

	foreach(lc, signatures)
	{
		const Signature *signature = lfirst(lc);

		if (strcmp(signature->function, function) == 0)
			return signature;
	}
	return NULL;
}

/* The type of an argument, InvalidOid if there is none of that name */
Oid
dq_argument_type(const Signature *signature, const char *name)
{
	ListCell   *lc;

	foreach(lc, signature->names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return signature->types[foreach_current_index(lc)];
	}
	return InvalidOid;
}

/* Whether an argument has a default other than NULL */
bool
dq_has_default(const Signature *signature, const char *name)
{
	return dq_has_name(signature->defaulted, name);
}

/* Names for a hint, but for those that stand elsewhere in the document */
char *
dq_list_arguments(List *names, const char *const *without)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, names)
	{
		bool		skip = false;

		for (int i = 0; without[i]; i++)
			skip = skip || strcmp(lfirst(lc), without[i]) == 0;
		if (!skip)
			appendStringInfo(&buf, "%s\"%s\"", buf.len > 0 ? ", " : "", (char *) lfirst(lc));
	}
	return buf.data;
}

/* The function that declares a kind of check, of which the document has one */
const Signature *
dq_kind_signature(List *signatures, const char *kind, const char *of)
{
	const Signature *signature = dq_find_signature(signatures, psprintf("expect_%s", kind));
	StringInfoData known;
	ListCell   *lc;

	if (signature)
		return signature;
	initStringInfo(&known);
	foreach(lc, signatures)
	{
		const char *function = ((Signature *) lfirst(lc))->function;

		if (strncmp(function, "expect_", strlen("expect_")) == 0)
			appendStringInfo(&known, "%s\"%s\"", known.len > 0 ? ", " : "",
							 function + strlen("expect_"));
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("kind \"%s\" of %s is not known", kind, of),
			 errhint("There are %s.", known.data)));
}
