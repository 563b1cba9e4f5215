/*
 * schema.c
 *		The columns that staging has: exactly these, or at least these.
 *
 * Stricter than what the target itself asks of a batch, which may leave out
 * what is optional and have other types that can be converted.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"

#include "compat.h"
#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"
#include "spi_util.h"

/* One column of a contract */
typedef struct Expected
{
	char	   *name;
	bool		typed;
	Oid			typid;
	int32		typmod;
} Expected;

/* The contract: as declared, or what the target has now */
static List *
expected_columns(const Check *check, const ColumnMap *map)
{
	char	   *columns = dq_param(check->params, "columns");
	char	   *types = dq_param(check->params, "types");
	List	   *expected = NIL;
	List	   *type_names = types ? dq_text_list(dq_array_from_text(types)) : NIL;
	ListCell   *lc;

	if (columns == NULL)
	{
		foreach(lc, map->columns)
		{
			Column	   *column = lfirst(lc);
			Expected   *item = palloc0(sizeof(Expected));

			if (column->generated != '\0' || column->added)
				continue;
			item->name = column->name;
			item->typed = true;
			item->typid = OidIsValid(column->old_typid) ? column->old_typid : column->typid;
			item->typmod = OidIsValid(column->old_typid) ? column->old_typmod : column->typmod;
			expected = lappend(expected, item);
		}
		return expected;
	}
	foreach(lc, dq_text_list(dq_array_from_text(columns)))
	{
		Expected   *item = palloc0(sizeof(Expected));

		item->name = lfirst(lc);
		if (type_names)
		{
			item->typed = true;
			dq_parse_type_string(list_nth(type_names, foreach_current_index(lc)),
								 &item->typid, &item->typmod);
		}
		expected = lappend(expected, item);
	}
	return expected;
}

/* Where staging has a column, -1 if it has none */
static int
find_staged(const ColumnMap *map, const char *name)
{
	ListCell   *lc;

	foreach(lc, map->staged)
	{
		if (strcmp(((StagedColumn *) lfirst(lc))->name, name) == 0)
			return foreach_current_index(lc);
	}
	return -1;
}

static bool
is_expected(List *expected, const char *name)
{
	ListCell   *lc;

	foreach(lc, expected)
	{
		if (strcmp(((Expected *) lfirst(lc))->name, name) == 0)
			return true;
	}
	return false;
}

/* A contract to be tried out */
typedef struct Contract
{
	const Check *check;
	const ColumnMap *map;
} Contract;

static void
resolve_step(void *arg)
{
	Contract   *contract = arg;

	(void) expected_columns(contract->check, contract->map);
}

static void
schema_compile(Check *check, const ColumnMap *map)
{
	bool		exact = dq_param(check->params, "at_least") == NULL;
	char	   *columns = dq_param(check->params, "columns");
	Contract	contract = {check, map};
	ErrorData  *error;

	check->rule = psprintf("staged columns are %s%s%s%s", exact ? "exactly " : "at least ",
						   columns ? dq_tuple_names(dq_text_list(dq_array_from_text(columns))) :
						   "those of the target",
						   columns && !dq_param(check->params, "types") ? "" : ", with their types",
						   dq_param(check->params, "ordered") ? ", in their order" : "");
	/* a type may have been dropped since */
	if (!dq_attempt(resolve_step, &contract, &error))
	{
		check->broken = dq_error_text(error);
		FreeErrorData(error);
	}
}

/* Append to a sentence, which begins with what is wrong */
static void
append_fault(StringInfo buf, const char *words, const char *fault)
{
	if (buf->len == 0)
		appendStringInfo(buf, "%s: %s", words, fault);
	else
		appendStringInfo(buf, ", %s", fault);
}

static void
join_faults(StringInfo all, const StringInfo faults)
{
	if (faults->len > 0)
		appendStringInfo(all, "%s%s", all->len > 0 ? "; " : "", faults->data);
}

static void
schema_judge(CheckResult *result, const ColumnMap *map, int64 row_count)
{
	Check	   *check = result->check;
	List	   *expected = expected_columns(check, map);
	StringInfoData missing,
				types,
				extra,
				order,
				all;
	int			position = -1;
	int			count = 0;
	ListCell   *lc;

	initStringInfo(&missing);
	initStringInfo(&types);
	initStringInfo(&extra);
	initStringInfo(&order);
	initStringInfo(&all);
	foreach(lc, expected)
	{
		Expected   *item = lfirst(lc);
		const char *name = quote_identifier(item->name);
		int			place = find_staged(map, item->name);
		StagedColumn *staged;

		if (place < 0)
		{
			append_fault(&missing, "missing", name);
			count++;
			continue;
		}
		staged = list_nth(map->staged, place);
		if (item->typed && (staged->typid != item->typid || staged->typmod != item->typmod))
		{
			append_fault(&types, "of another type",
						 psprintf("%s (%s, not %s)", name,
								  format_type_with_typemod(staged->typid, staged->typmod),
								  format_type_with_typemod(item->typid, item->typmod)));
			count++;
		}
		if (place < position && dq_param(check->params, "ordered"))
		{
			append_fault(&order, "out of order", name);
			count++;
		}
		position = Max(position, place);
	}
	foreach(lc, map->staged)
	{
		StagedColumn *staged = lfirst(lc);

		if (dq_param(check->params, "at_least") || is_expected(expected, staged->name))
			continue;
		append_fault(&extra, "not in the contract", quote_identifier(staged->name));
		count++;
	}
	join_faults(&all, &missing);
	join_faults(&all, &types);
	join_faults(&all, &order);
	join_faults(&all, &extra);

	result->threshold = "0 columns";
	result->actual = psprintf("%d column%s at fault", count, count == 1 ? "" : "s");
	result->status = count > 0 ? DQ_FAILED : DQ_PASSED;
	if (count > 0)
		result->message = result->failure = all.data;
}

const CheckKind dq_kind_schema = {
	.name = "schema",
	.evaluation = EVAL_STATIC,
	.actions = DQ_BATCH_ACTION,
	.compile = schema_compile,
	.judge = schema_judge,
};

/* Types as they are written under every search_path */
static List *
declared_types(FunctionCallInfo fcinfo, int arg)
{
	List	   *names = dq_text_list(PG_GETARG_DATUM(arg));
	List	   *types = NIL;
	Identity	saved;
	ListCell   *lc;

	foreach(lc, names)
	{
		Oid			typid;
		int32		typmod;

		dq_parse_type_string(lfirst(lc), &typid, &typmod);
		dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
		types = lappend(types, format_type_with_typemod(typid, typmod));
		dq_resume(&saved);
	}
	return types;
}

PG_FUNCTION_INFO_V1(dq_gate_expect_schema);

/*
 * expect_schema(target, columns, types, match, check_order, and the common
 * arguments) declares which columns staging has.
 */
Datum
dq_gate_expect_schema(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_schema);
	char	   *match = dq_required_text(fcinfo, 3, "match");

	if (!PG_ARGISNULL(1))
	{
		List	   *columns = dq_required_names(fcinfo, 1, "columns");

		decl->params = dq_set_param(decl->params, "columns", dq_array_as_text(dq_text_array(columns)));
		if (!PG_ARGISNULL(2))
		{
			List	   *types = declared_types(fcinfo, 2);

			if (list_length(types) != list_length(columns))
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("\"types\" must have one type for each of \"columns\""),
						 errdetail("There are %d types for %d columns.", list_length(types),
								   list_length(columns))));
			decl->params = dq_set_param(decl->params, "types", dq_array_as_text(dq_text_array(types)));
		}
	}
	else if (!PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"types\" without \"columns\" has no meaning"),
				 errhint("Without both, the columns and types of the target are expected.")));
	if (strcmp(match, "at_least") == 0)
		decl->params = dq_set_param(decl->params, "at_least", "true");
	else if (strcmp(match, "exact") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("match \"%s\" is not known", match),
				 errhint("It is \"exact\" or \"at_least\".")));
	if (!PG_ARGISNULL(4) && PG_GETARG_BOOL(4))
		decl->params = dq_set_param(decl->params, "ordered", "true");
	dq_declare_common(fcinfo, 5, decl);
	return dq_finish_declaration(fcinfo, decl);
}
