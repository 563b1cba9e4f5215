/*
 * definition.c
 *		A gate and its checks as a jsonb document, read and found to be one.
 *
 * What a gate or a check can be told is what the function that makes it takes:
 * the keys of the document are its arguments, of the types that these have.
 * Nothing is done with them here; whether the values make sense is for the
 * function to say.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

#include "definition.h"
#include "error_context.h"
#include "signature.h"
#include "spi_util.h"

/* A key of an object with its value */
typedef struct Member
{
	char	   *key;
	JsonbValue	value;
} Member;

static bool
is_object(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data);
}

static bool
is_array(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data);
}

/* The members of an object */
static List *
object_members(JsonbContainer *object)
{
	JsonbIterator *it = JsonbIteratorInit(object);
	JsonbIteratorToken token;
	JsonbValue	value;
	Member	   *member = NULL;
	List	   *members = NIL;

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			member = palloc0(sizeof(Member));
			member->key = pnstrdup(value.val.string.val, value.val.string.len);
			members = lappend(members, member);
		}
		else if (token == WJB_VALUE)
			member->value = value;
	}
	return members;
}

/* The elements of an array, of JsonbValue * */
static List *
array_elements(JsonbContainer *array)
{
	JsonbIterator *it = JsonbIteratorInit(array);
	JsonbIteratorToken token;
	JsonbValue	value;
	List	   *elements = NIL;

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_ELEM)
		{
			JsonbValue *element = palloc(sizeof(JsonbValue));

			*element = value;
			elements = lappend(elements, element);
		}
	}
	return elements;
}

static bool
is_array_of_strings(const JsonbValue *value)
{
	ListCell   *lc;

	if (!is_array(value))
		return false;
	foreach(lc, array_elements(value->val.binary.data))
	{
		if (((JsonbValue *) lfirst(lc))->type != jbvString)
			return false;
	}
	return true;
}

/* An array of any shape as PostgreSQL writes it */
static char *
array_text(JsonbValue *value)
{
	Oid			types[1] = {JSONBOID};
	Datum		values[1] = {JsonbPGetDatum(JsonbValueToJsonb(value))};
	char	   *text;

	dq_execute("SELECT r.v::pg_catalog.text"
			   " FROM pg_catalog.jsonb_to_record(pg_catalog.jsonb_build_object('v', $1))"
			   " AS r (v pg_catalog.text[])", 1, types, values, NULL, true);
	text = dq_result_text(0, 1);
	dq_free_result();
	return text;
}

static char *
value_text(JsonbValue *value)
{
	switch (value->type)
	{
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(value->val.numeric)));
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		default:
			return array_text(value);
	}
}

/*
 * What JSON has to give for an argument of a type, in words; NULL where the
 * value is that.
 */
static const char *
json_mismatch(Oid typid, const JsonbValue *value)
{
	bool		is_string = value->type == jbvString;

	switch (typid)
	{
		case TEXTARRAYOID:
			return is_array_of_strings(value) ? NULL : "an array of strings";
		case BOOLOID:
			return value->type == jbvBool ? NULL : "true or false";
		case ANYOID:
			return is_string || value->type == jbvNumeric || value->type == jbvBool ||
				is_array(value) ? NULL : "a string, a number, true, false or an array";
		case REGCLASSOID:
		case REGROLEOID:
			return is_string ? NULL : "a string";
	}
	/* JSON has no number for NaN */
	if (TypeCategory(typid) == TYPCATEGORY_NUMERIC)
		return is_string || value->type == jbvNumeric ? NULL : "a number";
	return is_string ? NULL : "a string";
}

static void
refuse_type(const char *what, const char *expected, JsonbValue *value)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("%s must be %s", what, expected),
			 errdetail("It is of the JSON type %s.", JsonbTypeName(value)),
			 value->type == jbvNull ? errhint("Leave it out where there is nothing to say.") : 0));
}

/* The value of a key that has to be there, a string that is not empty */
static char *
required_string(List *members, const char *key, const char *of)
{
	ListCell   *lc;

	foreach(lc, members)
	{
		Member	   *member = lfirst(lc);

		if (strcmp(member->key, key) != 0)
			continue;
		if (member->value.type != jbvString)
			refuse_type(psprintf("key \"%s\" of %s", key, of), "a string", &member->value);
		if (member->value.val.string.len > 0)
			return value_text(&member->value);
	}
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s has no \"%s\"", of, key),
			 errhint("A definition is what dq_gate.export_gate returns: a \"target\", and \"checks\" with a \"name\" and a \"kind\" each.")));
}

/* A table by its name, never by an OID, which means nothing in another database */
static Oid
table_by_name(const char *name)
{
	List	   *names = textToQualifiedNameList(cstring_to_text(name));

	return RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, false);
}

/*
 * One argument of a function from the member of an object.  NULL is worth
 * saying where leaving it out says something else.
 */
static Setting *
read_setting(Member *member, Oid typid, bool may_be_null, const char *what)
{
	Setting    *setting = palloc0(sizeof(Setting));
	const char *expected = json_mismatch(typid, &member->value);
	DqErrorContext context;

	setting->name = member->key;
	setting->typid = typid;
	setting->json_type = member->value.type;
	if (member->value.type == jbvNull && may_be_null)
		return setting;
	if (expected)
		refuse_type(what, expected, &member->value);
	dq_push_context(&context, "%s", what);
	setting->text = value_text(&member->value);
	if (typid == REGCLASSOID)
	{
		setting->relid = table_by_name(setting->text);
		setting->text = dq_relation_sql(setting->relid);
	}
	dq_pop_context(&context);
	return setting;
}

/* The arguments of a check, all of them ones that its kind takes */
static List *
read_arguments(JsonbContainer *object, const Signature *signature, const char *kind,
			   const char *of)
{
	static const char *const elsewhere[] = {"target", "name", NULL};
	List	   *settings = NIL;
	ListCell   *lc;

	foreach(lc, object_members(object))
	{
		Member	   *member = lfirst(lc);
		Oid			typid = dq_argument_type(signature, member->key);

		if (strcmp(member->key, "target") == 0 || strcmp(member->key, "name") == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"%s\" is no argument of %s", member->key, of),
					 errhint("It stands beside the arguments, not among them.")));
		if (!OidIsValid(typid))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" of %s is not known", member->key, of),
					 errhint("A check of type \"%s\" takes %s.", kind,
							 dq_list_arguments(signature->names, elsewhere))));
		settings = lappend(settings, read_setting(member, typid,
												  dq_has_default(signature, member->key),
												  psprintf("argument \"%s\" of %s", member->key, of)));
	}
	return settings;
}

/* Without it the call would find no function, which says nothing to anybody */
static void
require_arguments(const CheckDefinition *check, const Signature *signature, const char *of)
{
	for (int i = 0; i < signature->required; i++)
	{
		const char *name = list_nth(signature->names, i);

		if (strcmp(name, "target") != 0 && strcmp(name, "name") != 0 &&
			dq_find_setting(check->settings, name) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s has no argument \"%s\"", of, name),
					 errhint("A check of type \"%s\" cannot do without it.", check->kind)));
	}
}

static CheckDefinition *
read_check(JsonbValue *value, int number, List *signatures, const char *gate)
{
	CheckDefinition *check = palloc0(sizeof(CheckDefinition));
	const Signature *signature;
	List	   *members;
	char	   *of = psprintf("check number %d of %s", number, gate);
	ListCell   *lc;

	if (!is_object(value))
		refuse_type(of, "an object", value);
	members = object_members(value->val.binary.data);
	check->name = required_string(members, "name", of);
	of = psprintf("check %s of %s", quote_identifier(check->name), gate);
	check->kind = required_string(members, "kind", of);
	signature = dq_kind_signature(signatures, check->kind, of);

	foreach(lc, members)
	{
		Member	   *member = lfirst(lc);

		if (strcmp(member->key, "arguments") == 0)
		{
			if (!is_object(&member->value))
				refuse_type(psprintf("key \"arguments\" of %s", of), "an object", &member->value);
			check->settings = read_arguments(member->value.val.binary.data, signature,
											 check->kind, of);
		}
		else if (strcmp(member->key, "name") != 0 && strcmp(member->key, "kind") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("key \"%s\" of %s is not known", member->key, of),
					 errhint("There are \"name\", \"kind\" and \"arguments\".")));
	}
	require_arguments(check, signature, of);
	return check;
}

static int
compare_checks(const ListCell *a, const ListCell *b)
{
	return strcmp(((CheckDefinition *) lfirst(a))->name, ((CheckDefinition *) lfirst(b))->name);
}

/* The checks by name, none twice */
static List *
read_checks(JsonbValue *value, List *signatures, const char *gate)
{
	List	   *checks = NIL;
	const char *previous = NULL;
	ListCell   *lc;

	if (!is_array(value))
		refuse_type(psprintf("key \"checks\" of %s", gate), "an array of objects", value);
	foreach(lc, array_elements(value->val.binary.data))
	{
		CHECK_FOR_INTERRUPTS();
		checks = lappend(checks, read_check(lfirst(lc), foreach_current_index(lc) + 1,
											signatures, gate));
	}

	list_sort(checks, compare_checks);
	foreach(lc, checks)
	{
		const char *name = ((CheckDefinition *) lfirst(lc))->name;

		if (previous && strcmp(name, previous) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("check %s of %s is defined twice", quote_identifier(name), gate),
					 errhint("Give each check a name of its own.")));
		previous = name;
	}
	return checks;
}

/*
 * Read a document that says what a gate and its checks are to be.  Whatever it
 * has that is not understood is an error.  SPI is connected.
 */
GateDefinition *
dq_read_definition(Jsonb *document)
{
	static const char *const none[] = {NULL};
	GateDefinition *definition = palloc0(sizeof(GateDefinition));
	List	   *signatures = dq_load_signatures();
	const Signature *signature = dq_find_signature(signatures, "create_gate");
	DqErrorContext context;
	JsonbValue	root;
	List	   *members;
	char	   *target;
	char	   *of;
	ListCell   *lc;

	if (!JB_ROOT_IS_OBJECT(document))
	{
		(void) JsonbExtractScalar(&document->root, &root);
		refuse_type("the definition of a gate", "an object", &root);
	}
	members = object_members(&document->root);
	target = required_string(members, "target", "the definition of a gate");
	of = psprintf("gate %s", target);

	foreach(lc, members)
	{
		Member	   *member = lfirst(lc);
		Oid			typid = dq_argument_type(signature, member->key);

		if (strcmp(member->key, "checks") == 0)
			definition->checks = read_checks(&member->value, signatures, of);
		else if (!OidIsValid(typid))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("key \"%s\" of %s is not known", member->key, of),
					 errhint("There are %s and \"checks\".", dq_list_arguments(signature->names, none))));
		else if (strcmp(member->key, "target") != 0)
			definition->settings = lappend(definition->settings,
										   read_setting(member, typid, false,
														psprintf("key \"%s\" of %s", member->key, of)));
	}

	dq_push_context(&context, "key \"target\" of %s", of);
	definition->target = table_by_name(target);
	dq_pop_context(&context);
	return definition;
}

/* The setting of that name, NULL if there is none */
const Setting *
dq_find_setting(List *settings, const char *name)
{
	ListCell   *lc;

	foreach(lc, settings)
	{
		const Setting *setting = lfirst(lc);

		if (strcmp(setting->name, name) == 0)
			return setting;
	}
	return NULL;
}

/*
 * A setting as an argument of the call.  The type of the argument reads the
 * text; where it takes any type, that is the one which JSON has.
 */
char *
dq_setting_sql(const Setting *setting)
{
	char	   *literal;

	if (setting->json_type == jbvNull)
		return "NULL";
	literal = dq_literal(setting->text);
	if (setting->typid != ANYOID)
		return literal;
	switch (setting->json_type)
	{
		case jbvNumeric:
			return psprintf("%s::pg_catalog.numeric", literal);
		case jbvBool:
			return psprintf("%s::pg_catalog.bool", literal);
		case jbvBinary:
			return psprintf("%s::pg_catalog.text[]", literal);
		default:
			return literal;
	}
}
