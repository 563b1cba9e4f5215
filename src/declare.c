/*
 * declare.c
 *		What every function that declares a check has in common.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "action.h"
#include "arguments.h"
#include "columns.h"
#include "compat.h"
#include "declare.h"
#include "error_context.h"
#include "expression.h"
#include "gate.h"
#include "params.h"
#include "row_limits.h"
#include "spi_util.h"

/* A library newer than the SQL objects must not read arguments that are not there */
void
dq_check_nargs(FunctionCallInfo fcinfo, int count)
{
	if (PG_NARGS() != count)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the SQL objects of dq_gate do not belong to its library"),
				 errhint("Run ALTER EXTENSION dq_gate UPDATE.")));
}

/* A text argument, NULL where it is NULL or empty */
char *
dq_optional_text(FunctionCallInfo fcinfo, int arg)
{
	char	   *value;

	if (PG_ARGISNULL(arg))
		return NULL;
	value = text_to_cstring(PG_GETARG_TEXT_PP(arg));
	return value[0] == '\0' ? NULL : value;
}

static void
refuse_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("argument \"%s\" must not be NULL or empty", name)));
}

char *
dq_required_text(FunctionCallInfo fcinfo, int arg, const char *name)
{
	char	   *value = dq_optional_text(fcinfo, arg);

	if (value == NULL)
		refuse_null(name);
	return value;
}

Oid
dq_required_oid(FunctionCallInfo fcinfo, int arg, const char *name)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be NULL", name)));
	return PG_GETARG_OID(arg);
}

/* A list of column names, none twice */
List *
dq_required_names(FunctionCallInfo fcinfo, int arg, const char *name)
{
	List	   *names;
	ListCell   *lc;

	if (PG_ARGISNULL(arg))
		refuse_null(name);
	names = dq_text_list(PG_GETARG_DATUM(arg));
	if (names == NIL)
		refuse_null(name);
	foreach(lc, names)
	{
		ListCell   *other;

		foreach(other, names)
		{
			if (other != lc && strcmp(lfirst(lc), lfirst(other)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column %s is named twice in \"%s\"",
								quote_identifier(lfirst(lc)), name)));
		}
	}
	return names;
}

/* A number as text, NULL if it is not given; NaN is between no bounds */
char *
dq_numeric_argument(FunctionCallInfo fcinfo, int arg, const char *name)
{
	if (PG_ARGISNULL(arg))
		return NULL;
	if (numeric_is_nan(PG_GETARG_NUMERIC(arg)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be NaN", name)));
	return DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(arg)));
}

/* The same for what cannot be negative */
char *
dq_positive_argument(FunctionCallInfo fcinfo, int arg, const char *name)
{
	char	   *text = dq_numeric_argument(fcinfo, arg, name);

	if (text != NULL && text[0] == '-')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be negative", name)));
	return text;
}

static Datum
numeric_from_text(const char *text)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/* Refuse bounds that nothing can be between */
void
dq_check_order(const char *low_name, const char *low, const char *high_name, const char *high)
{
	if (low != NULL && high != NULL &&
		DatumGetInt32(DirectFunctionCall2(numeric_cmp, numeric_from_text(low),
										  numeric_from_text(high))) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %s is above %s %s", low_name, low, high_name, high)));
}

/* An interval as text, read again in the same style; NULL if it is not given */
char *
dq_interval_argument(FunctionCallInfo fcinfo, int arg, const char *name)
{
	Interval	zero = {0};
	Identity	saved;
	char	   *text;

	if (PG_ARGISNULL(arg))
		return NULL;
	if (DatumGetInt32(DirectFunctionCall2(interval_cmp, PG_GETARG_DATUM(arg),
										  IntervalPGetDatum(&zero))) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be negative", name)));
	dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
	text = DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(arg)));
	dq_resume(&saved);
	return text;
}

/* Whole numbers that bound a length or a count, as parameters min and max */
void
dq_declare_bounds(Declaration *decl, const char *min, const char *max)
{
	if (min == NULL && max == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"%s\" needs min, max or both", decl->kind->name)));
	if ((min && pg_strtoint64(min) < 0) || (max && pg_strtoint64(max) < 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the bounds of a check of type \"%s\" cannot be negative", decl->kind->name)));
	if (min && max && pg_strtoint64(min) > pg_strtoint64(max))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("min %s is above max %s", min, max)));
	decl->params = dq_set_param(decl->params, "min", min);
	decl->params = dq_set_param(decl->params, "max", max);
}

/*
 * Begin to declare a check on a target: find its gate, and see that the caller
 * may change or register it.  Leaves SPI connected.
 */
Declaration *
dq_begin_declaration(FunctionCallInfo fcinfo, int target_arg, const CheckKind *kind)
{
	MemoryContext context = CurrentMemoryContext;
	Declaration *decl = palloc0(sizeof(Declaration));
	Oid			target = dq_required_oid(fcinfo, target_arg, "target");

	SPI_connect();
	MemoryContextSwitchTo(context);

	dq_check_target(target);
	decl->kind = kind;
	dq_init_limits(&decl->limits);
	decl->gate = dq_open_gate(target);
	dq_require_role(decl->gate);
	dq_lock_table(target, AccessShareLock);
	decl->map = dq_match_columns(decl->gate, InvalidOid, false);
	/* until the declaration is finished; an error drops it */
	dq_push_context(&decl->context, "declaring a check of %s",
					psprintf("type \"%s\" for gate %s", kind->name, decl->gate->name));
	return decl;
}

/* Refuse columns that no staged row has; returns the first one */
static Column *
require_columns(const Declaration *decl, List *names)
{
	Column	   *first = NULL;
	ListCell   *lc;

	foreach(lc, names)
	{
		char	   *name = lfirst(lc);
		Column	   *column = dq_find_column(decl->map, name);

		if (column == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column %s of gate %s does not exist",
							quote_identifier(name), decl->gate->name)));
		if (column->generated != '\0')
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column %s of gate %s is generated by the target",
							quote_identifier(name), decl->gate->name),
					 errhint("Check the columns that it is computed from.")));
		if (first == NULL)
			first = column;
	}
	return first;
}

static void
declare_action(Declaration *decl, const char *action)
{
	if (action == NULL || !dq_action_by_name(action, &decl->action))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("action \"%s\" is not known", action ? action : ""),
				 errhint("A check of type \"%s\" takes %s.", decl->kind->name,
						 dq_action_list(decl->kind->actions))));
	if ((decl->kind->actions & decl->action) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"%s\" cannot take the action \"%s\"",
						decl->kind->name, action),
				 errhint("It takes %s.", dq_action_list(decl->kind->actions))));
}

static void
declare_nulls(Declaration *decl, const char *nulls)
{
	if (nulls == NULL)
		decl->nulls_fail = decl->kind->nulls_fail;
	else if (strcmp(nulls, "fail") == 0)
		decl->nulls_fail = true;
	else if (strcmp(nulls, "pass") == 0)
		decl->nulls_fail = false;
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("nulls \"%s\" is not known", nulls),
				 errhint("NULL can \"fail\" or \"pass\".")));
}

typedef enum LimitKind
{
	LIMIT_RATE,
	LIMIT_ROWS,
	LIMIT_LEVEL
} LimitKind;

/* A limit given as an argument, negative where it is not */
static double
declare_limit(FunctionCallInfo fcinfo, int arg, LimitKind kind, const char *name)
{
	double		value;

	if (PG_ARGISNULL(arg))
		return -1;
	value = PG_GETARG_FLOAT8(arg);
	if (!(value >= 0 && value < 1e15) || (kind == LIMIT_RATE && value > 1) ||
		(value != rint(value) && (kind == LIMIT_ROWS || value > 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s cannot be %g", name, value),
				 kind == LIMIT_RATE ?
				 errhint("It is a rate from 0 to 1, such as 0.01 for one row in a hundred.") :
				 kind == LIMIT_ROWS ? errhint("It is a whole number of rows.") :
				 errhint("Below 1 it is a rate, such as 0.01 for one row in a hundred; from 1 on it is a whole number of rows.")));
	return value;
}

/* Whether one level is above another, as far as that can be known */
static bool
level_above(double a, double b)
{
	bool		rates = (a > 0 && a < 1) == (b > 0 && b < 1);

	return a >= 0 && b >= 0 && rates && a > b;
}

/* Limits that contradict each other, or the action, would not do what they say */
static void
check_limits(const Declaration *decl)
{
	const Limits *limits = &decl->limits;

	if (limits->warn_above >= 0 &&
		!(decl->action == DQ_WARN || (decl->action == DQ_BLOCK && limits->block_above >= 0)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"warn_above\" has no meaning with the action \"%s\"%s",
						dq_action_name(decl->action),
						decl->action == DQ_BLOCK ? " alone" : ""),
				 decl->action == DQ_BLOCK ?
				 errhint("Give \"block_above\" as well, or a tolerance with \"max_rows\" or \"max_rate\".") :
				 errhint("Give a tolerance with \"max_rows\" or \"max_rate\".")));
	if (level_above(limits->warn_above, limits->block_above) ||
		(limits->block_above >= 1 && limits->max_rows >= limits->block_above) ||
		(limits->block_above > 0 && limits->block_above < 1 &&
		 limits->max_rate >= limits->block_above))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"block_above\" must be above the other limits")));
}

/* Refuse an option that the kind has no use for */
static void
refuse_option(const Declaration *decl, bool given, const char *name)
{
	if (given)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a check of type \"%s\" does not take \"%s\"", decl->kind->name, name),
				 errdetail("It is about the batch as a whole, not about its rows.")));
}

/*
 * What a parsed rule, aggregate or query means for good, as text, and which
 * columns of the row it looks at, which is one of the given table.  The noun
 * is for messages: "a rule".
 */
static char *
declare_meaning(Declaration *decl, Oid relid, const char *noun, Node *rule, List **columns)
{
	RuleColumns needs;
	Identity	saved;
	char	   *resolved;

	dq_rule_columns(rule, relid, &needs);
	if (needs.whole_row || needs.system)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot use a %s", noun, needs.whole_row ? "whole row" : "system column"),
				 errhint("Name the columns that it is about.")));
	if (dq_rule_is_unnameable(rule))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot compare with an operator that its text does not name", noun),
				 errdetail("IS DISTINCT FROM, NULLIF, CASE ... WHEN, comparisons of rows and JOIN USING cannot say from which schema their operator is, and this one is not in pg_catalog."),
				 errhint("Write the comparison with the operator itself, such as a = b.")));
	*columns = needs.names;
	decl->reads_target = decl->reads_target || dq_rule_reads(rule, decl->gate->target);

	/* so that names are qualified for the search_path of an audit */
	dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
	resolved = dq_deparse_rule(rule, relid, true);
	dq_resume(&saved);
	return resolved;
}

char *
dq_declare_meaning(Declaration *decl, const char *noun, Node *rule, List **columns)
{
	return declare_meaning(decl, decl->gate->target, noun, rule, columns);
}

/*
 * The other table that a batch check is about, and which of its rows count,
 * as parameters filter_name and, resolved over the alias "batch", other_rows.
 */
void
dq_declare_other(Declaration *decl, Oid relid, const char *filter_name, const char *filter)
{
	char		relkind = get_rel_relkind(relid);

	if (relkind == '\0' || !RELKIND_HAS_ROWS(relkind))
		ereport(ERROR,
				(errcode(relkind == '\0' ? ERRCODE_UNDEFINED_TABLE : ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s has no rows to compare with",
						relkind == '\0' ? "the other table" : dq_relation_sql(relid)),
				 errhint("Name a table, a foreign table, a view or a materialized view.")));
	decl->ref_table = relid;
	decl->reads_target = decl->reads_target || dq_relation_reads(relid, decl->gate->target);
	if (filter != NULL)
	{
		DqErrorContext context;
		List	   *columns;

		dq_push_context(&context, "%s of a check", filter_name);
		decl->params = dq_set_param(decl->params, filter_name, filter);
		decl->params = dq_set_param(decl->params, "other_rows",
									declare_meaning(decl, relid, psprintf("\"%s\"", filter_name),
													dq_parse_rule(filter, relid, filter_name),
													&columns));
		dq_pop_context(&context);
	}
}

/*
 * A rule or a filter over a row of the batch: what it means for good, and
 * which columns it looks at.
 */
char *
dq_declare_expression(Declaration *decl, const char *what, const char *text,
					  List **columns)
{
	bool		rule_is_filter = strcmp(what, "filter") == 0;
	DqErrorContext context;
	Node	   *rule;
	char	   *resolved;

	dq_push_context(&context, "%s",
					decl->name ?
					psprintf("%s of check %s of gate %s", what, quote_identifier(decl->name),
							 decl->gate->name) :
					psprintf("%s of a check of gate %s", what, decl->gate->name));
	rule = dq_parse_rule(text, decl->gate->target, what);
	resolved = dq_declare_meaning(decl, psprintf("a %s", what), rule, columns);
	if ((decl->action == DQ_QUARANTINE || decl->action == DQ_DROP || rule_is_filter) &&
		contain_volatile_functions(rule))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 rule_is_filter ? errmsg("a filter cannot call a volatile function") :
				 errmsg("a rule that calls a volatile function cannot take the action \"%s\"",
						dq_action_name(decl->action)),
				 errdetail("It could say one thing of a row when it is counted, and another when it is moved."),
				 rule_is_filter ? errhint("Use a function marked STABLE or IMMUTABLE.") :
				 errhint("Use a function marked STABLE or IMMUTABLE, or the action \"block\" or \"warn\".")));
	dq_pop_context(&context);
	return resolved;
}

/*
 * The arguments that all declarations have in common, from the first one on:
 * action, owner, name (unless it is known already), description, nulls, filter,
 * max_rate, max_rows, warn_above, block_above, tags, samples, severity.
 */
void
dq_declare_common(FunctionCallInfo fcinfo, int first, Declaration *decl)
{
	int			arg = first;

	dq_check_nargs(fcinfo, first + (decl->name ? 12 : 13));
	declare_action(decl, dq_optional_text(fcinfo, arg++));
	decl->owner = dq_optional_text(fcinfo, arg++);
	if (decl->name == NULL)
		decl->name = dq_optional_text(fcinfo, arg++);
	decl->description = dq_optional_text(fcinfo, arg++);

	if (!decl->kind->rows)
	{
		static const char *const names[] = {
			"nulls", "filter", "max_rate", "max_rows", "warn_above", "block_above"
		};

		for (int i = 0; i < (int) lengthof(names); i++)
		{
			if (!(i == 1 && decl->kind->filters) && !(i >= 2 && decl->kind->counts))
				refuse_option(decl, !PG_ARGISNULL(arg + i), names[i]);
		}
	}
	declare_nulls(decl, dq_optional_text(fcinfo, arg++));
	decl->filter = dq_optional_text(fcinfo, arg++);
	decl->limits.max_rate = declare_limit(fcinfo, arg++, LIMIT_RATE, "max_rate");
	decl->limits.max_rows = declare_limit(fcinfo, arg++, LIMIT_ROWS, "max_rows");
	decl->limits.warn_above = declare_limit(fcinfo, arg++, LIMIT_LEVEL, "warn_above");
	decl->limits.block_above = declare_limit(fcinfo, arg++, LIMIT_LEVEL, "block_above");
	check_limits(decl);
	if (!PG_ARGISNULL(arg))
		decl->tags = dq_text_list(PG_GETARG_DATUM(arg));
	arg++;
	decl->no_samples = !PG_ARGISNULL(arg) && !PG_GETARG_BOOL(arg);
	arg++;
	decl->severity = dq_optional_text(fcinfo, arg++);

	if (decl->filter)
	{
		List	   *columns;

		decl->filter_sql = dq_declare_expression(decl, "filter", decl->filter, &columns);
		require_columns(decl, columns);
	}
}

/*
 * Say which columns the check is about.  Returns the first one.
 */
Column *
dq_declare_columns(Declaration *decl, List *names)
{
	decl->columns = names;
	return require_columns(decl, names);
}

/* Refuse columns whose values cannot be told apart */
void
dq_require_equality(const Declaration *decl)
{
	ListCell   *lc;

	foreach(lc, decl->columns)
	{
		Column	   *column = dq_find_column(decl->map, lfirst(lc));

		if (!OidIsValid(dq_equality_operator(column->typid)))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("column %s of gate %s has type %s, which has no equality operator",
							quote_identifier(column->name), decl->gate->name,
							format_type_be(column->typid))));
	}
}

/* Whether the gate has a check of that name */
static bool
check_exists(const Declaration *decl, const char *name)
{
	Oid			types[2] = {REGCLASSOID, TEXTOID};
	Datum		values[2] = {ObjectIdGetDatum(decl->gate->target), CStringGetTextDatum(name)};

	return dq_execute("SELECT 1 FROM dq_gate.checks WHERE target = $1 AND name = $2",
					  2, types, values, NULL, false) > 0;
}

/* A name nobody gave: column_kind, with a number behind it from the second on */
static char *
default_name(const Declaration *decl)
{
	char	   *base = pstrdup(decl->kind->name);
	char	   *name;
	ListCell   *lc;

	foreach(lc, decl->columns)
		base = psprintf("%s%s%s", foreach_current_index(lc) > 0 ? base : "",
						foreach_current_index(lc) > 0 ? "_" : "", (char *) lfirst(lc));
	if (decl->columns != NIL)
		base = psprintf("%s_%s", base, decl->kind->name);
	name = base;

	for (int i = 2; check_exists(decl, name); i++)
		name = psprintf("%s_%d", base, i);
	return name;
}

/* A target gets its gate with its first check, on defaults */
static void
register_gate(const Gate *gate)
{
	if (gate->registered)
		return;
	dq_save_gate(gate);
	ereport(NOTICE,
			(errmsg("registered gate %s, which runs as role %s", gate->name,
					quote_identifier(GetUserNameFromId(gate->run_as, false)))));
}

/*
 * Keep the declared check and return its name, which is what the SQL function
 * returns.
 */
Datum
dq_finish_declaration(FunctionCallInfo fcinfo, Declaration *decl)
{
	Oid			types[] = {REGCLASSOID, TEXTOID, TEXTOID, TEXTARRAYOID, TEXTOID,
		TEXTOID, TEXTARRAYOID, TEXTARRAYOID, BOOLOID, BOOLOID, TEXTARRAYOID,
		FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID,
		REGCLASSOID, TEXTOID, JSONBOID};
	Datum		values[lengthof(types)];
	char		nulls[lengthof(types) + 1];
	char	   *texts[4];
	double		limits[4];
	Identity	saved;

	register_gate(decl->gate);
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	if (decl->name == NULL)
		decl->name = default_name(decl);
	else if (check_exists(decl, decl->name))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("check %s of gate %s already exists",
						quote_identifier(decl->name), decl->gate->name),
				 errhint("Drop it first with SELECT dq_gate.drop_check(%s, %s), or give another name.",
						 quote_literal_cstr(decl->gate->name), quote_literal_cstr(decl->name))));

	values[0] = ObjectIdGetDatum(decl->gate->target);
	values[1] = CStringGetTextDatum(decl->name);
	values[2] = CStringGetTextDatum(decl->kind->name);
	values[3] = dq_text_array(decl->columns);
	values[4] = CStringGetTextDatum(dq_action_name(decl->action));
	values[5] = CStringGetTextDatum(decl->nulls_fail ? "fail" : "pass");
	values[6] = dq_text_array(dq_param_names(decl->params));
	values[7] = dq_text_array(dq_param_values(decl->params));
	values[8] = BoolGetDatum(decl->reads_target);
	values[9] = BoolGetDatum(!decl->no_samples);
	values[10] = dq_text_array(decl->tags);
	memset(nulls, ' ', lengthof(types));
	nulls[lengthof(types)] = '\0';
	limits[0] = decl->limits.max_rate;
	limits[1] = decl->limits.max_rows;
	limits[2] = decl->limits.warn_above;
	limits[3] = decl->limits.block_above;
	for (int i = 0; i < (int) lengthof(limits); i++)
	{
		nulls[11 + i] = limits[i] >= 0 ? ' ' : 'n';
		values[11 + i] = Float8GetDatum(limits[i]);
	}
	texts[0] = decl->owner;
	texts[1] = decl->description;
	texts[2] = decl->filter;
	texts[3] = decl->filter_sql;
	for (int i = 0; i < (int) lengthof(texts); i++)
	{
		nulls[15 + i] = texts[i] ? ' ' : 'n';
		values[15 + i] = texts[i] ? CStringGetTextDatum(texts[i]) : (Datum) 0;
	}
	values[19] = ObjectIdGetDatum(decl->ref_table);
	nulls[19] = OidIsValid(decl->ref_table) ? ' ' : 'n';
	values[20] = decl->severity ? CStringGetTextDatum(decl->severity) : (Datum) 0;
	nulls[20] = decl->severity ? ' ' : 'n';
	values[21] = dq_call_arguments(fcinfo);
	dq_execute("INSERT INTO dq_gate.checks (target, name, check_type, columns, action,"
			   " nulls, parameters, reads_target, samples, tags, max_rate, max_rows, warn_above,"
			   " block_above, owner, description, filter, filter_resolved, ref_table, severity,"
			   " arguments)"
			   " VALUES ($1, $2, $3, $4, $5, $6, pg_catalog.jsonb_object($7, $8), $9, $10, $11,"
			   " $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)",
			   lengthof(types), types, values, nulls, false);
	dq_resume(&saved);
	dq_pop_context(&decl->context);
	SPI_finish();

	return CStringGetTextDatum(decl->name);
}

PG_FUNCTION_INFO_V1(dq_gate_drop_check);

/*
 * drop_check(target, name) forgets a declared check.
 */
Datum
dq_gate_drop_check(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			target = PG_GETARG_OID(0);
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Oid			types[2] = {REGCLASSOID, TEXTOID};
	Datum		values[2] = {ObjectIdGetDatum(target), CStringGetTextDatum(name)};
	Gate	   *gate;
	Identity	saved;
	uint64		dropped;

	SPI_connect();
	MemoryContextSwitchTo(context);
	gate = dq_open_gate(target);

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	dropped = dq_execute("DELETE FROM dq_gate.checks WHERE target = $1 AND name = $2",
						 2, types, values, NULL, false);
	dq_resume(&saved);
	if (dropped == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("gate %s has no declared check %s", gate->name, quote_identifier(name)),
				 errhint("See SELECT * FROM dq_gate.checks_of(%s); derived checks go with what they are derived from.",
						 quote_literal_cstr(gate->name))));
	SPI_finish();
	PG_RETURN_VOID();
}
