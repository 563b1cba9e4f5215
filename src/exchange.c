/*
 * exchange.c
 *		Rules as code: a gate and its checks as a document, and back.
 *
 * An import makes the calls that somebody would make by hand, as the caller
 * and under the caller's settings, so that the same is allowed and the same
 * means the same.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/resowner.h"

#include "apply.h"
#include "authorize.h"
#include "declare.h"
#include "definition.h"
#include "error_context.h"
#include "exchange.h"
#include "gate.h"
#include "gate_settings.h"
#include "kinds/kinds.h"
#include "spi_util.h"

PG_FUNCTION_INFO_V1(dq_gate_export_gate);
PG_FUNCTION_INFO_V1(dq_gate_import_gate);

/* The name of a table in any session: qualified, and pg_temp for one's own temporary one */
#define TABLE_NAME_SQL(relid) \
	"(SELECT pg_catalog.quote_ident(CASE WHEN n.oid = pg_catalog.pg_my_temp_schema()" \
	" THEN 'pg_temp' ELSE n.nspname END) || '.' || pg_catalog.quote_ident(r.relname)" \
	" FROM pg_catalog.pg_class r JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace" \
	" WHERE r.oid = " relid ")"

/* The call that declared a check; a table may have been renamed since */
#define ARGUMENTS_SQL \
	"CASE WHEN c.ref_table IS NULL THEN c.arguments ELSE c.arguments ||" \
	" pg_catalog.jsonb_build_object((SELECT k FROM pg_catalog.unnest(" DQ_TABLE_ARGUMENTS "::pg_catalog.text[]) AS k" \
	" WHERE c.arguments OPERATOR(pg_catalog.?) k), " TABLE_NAME_SQL("c.ref_table") ") END"

/* What became of the gate or of a check */
typedef struct Change
{
	const char *object;
	const char *name;
	const char *change;
} Change;

/* A check that the gate has before the import */
typedef struct DeclaredCheck
{
	char	   *name;
	Datum		row;
} DeclaredCheck;

typedef struct Import
{
	GateDefinition *definition;
	Gate	   *gate;
	List	   *changes;		/* of Change * */
	bool		stays;
} Import;

/* A check declared once more, to see whether it differs */
typedef struct Redeclaration
{
	Oid			target;
	const CheckDefinition *wanted;
	const DeclaredCheck *declared;
	bool		differs;
} Redeclaration;

/* The settings of a gate as arguments of jsonb_build_object; a default is NULL */
static void
append_settings(StringInfo sql)
{
	for (int i = 0; i < dq_gate_setting_count; i++)
	{
		const GateSetting *setting = &dq_gate_settings[i];

		/* the role belongs to the database, not to the rules */
		if (setting->internal || setting->typid == REGROLEOID)
			continue;
		appendStringInfo(sql, ", '%s', ", setting->name);
		if (setting->otherwise)
			appendStringInfo(sql, "NULLIF(g.%s, '%s')", setting->name, setting->otherwise);
		else if (setting->typid == TEXTARRAYOID)
			appendStringInfo(sql, "pg_catalog.to_jsonb(g.%s)", setting->name);
		else if (setting->typid == INTERVALOID)
			appendStringInfo(sql, "g.%s::pg_catalog.text", setting->name);
		else if (setting->typid == REGCLASSOID)
			appendStringInfo(sql, TABLE_NAME_SQL("g.%s"), setting->name);
		else
			appendStringInfo(sql, "g.%s", setting->name);
	}
}

/*
 * A registered gate and its declared checks as a document; or no more of the
 * gate than its target, and the checks that a condition on c picks.  SPI is
 * connected.
 */
Jsonb *
dq_gate_document(const Gate *gate, const char *condition)
{
	Oid			types[1] = {REGCLASSOID};
	Datum		values[1] = {ObjectIdGetDatum(gate->target)};
	StringInfoData sql;
	Identity	saved;
	bool		isnull;
	Datum		document;

	if (!gate->registered)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("no gate is registered for %s", gate->name),
				 errdetail("What follows from the target itself is not declared."),
				 errhint("Register one with SELECT dq_gate.create_gate(%s).",
						 quote_literal_cstr(gate->name))));

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	/* what is NULL is left out, but for an argument that is NULL on purpose */
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object("
						   " 'target', " TABLE_NAME_SQL("g.target"));
	if (condition == NULL)
		append_settings(&sql);
	appendStringInfoString(&sql, "))"
						   " || pg_catalog.jsonb_build_object('checks', COALESCE((SELECT"
						   " pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('name', c.name,"
						   " 'kind', c.check_type, 'arguments', " ARGUMENTS_SQL ")"
						   " ORDER BY c.name COLLATE pg_catalog.\"C\")"
						   " FROM dq_gate.checks c WHERE c.target = g.target AND ");
	appendStringInfoString(&sql, condition ? condition : "true");
	appendStringInfoString(&sql, "), '[]')) FROM dq_gate.gates g WHERE g.target = $1");
	dq_execute(sql.data, 1, types, values, NULL, false);
	document = datumCopy(dq_result_datum(0, 1, &isnull), false, -1);
	dq_free_result();
	dq_resume(&saved);
	return DatumGetJsonbP(document);
}

/*
 * export_gate(target) returns the gate and its declared checks as a document
 * that import_gate takes.
 */
Datum
dq_gate_export_gate(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	Gate	   *gate;
	Jsonb	   *document;

	SPI_connect();
	MemoryContextSwitchTo(context);
	dq_check_target(target);
	gate = dq_resolve_gate(target);
	dq_authorize_look(gate);
	document = dq_gate_document(gate, NULL);
	SPI_finish();
	PG_RETURN_JSONB_P(document);
}

/*
 * Do a step in a subtransaction, of which nothing stays unless the step says
 * so.  Errors go on to the caller.
 */
static void
do_provisionally(DqStep step, void *arg, const bool *stays)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner resowner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		step(arg);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = resowner;
		ReThrowError(error);
	}
	PG_END_TRY();

	if (*stays)
		ReleaseCurrentSubTransaction();
	else
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = resowner;
}

/* The checks of a gate by name, or the one of a name, with all that they are */
static List *
declared_checks(Oid target, const char *name)
{
	Oid			types[2] = {REGCLASSOID, TEXTOID};
	Datum		values[2] = {ObjectIdGetDatum(target), name ? CStringGetTextDatum(name) : (Datum) 0};
	const char	nulls[] = {' ', name ? ' ' : 'n', '\0'};
	List	   *checks = NIL;
	Identity	saved;
	uint64		count;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	count = dq_execute("SELECT c.name, (pg_catalog.to_jsonb(c) - '{created_by,created_at}'::pg_catalog.text[])"
					   " || pg_catalog.jsonb_build_object('arguments', " ARGUMENTS_SQL ")"
					   " FROM dq_gate.checks c WHERE c.target = $1 AND ($2 IS NULL OR c.name = $2)"
					   " ORDER BY c.name COLLATE pg_catalog.\"C\"",
					   2, types, values, nulls, false);
	for (uint64 i = 0; i < count; i++)
	{
		DeclaredCheck *check = palloc(sizeof(DeclaredCheck));
		bool		isnull;

		check->name = dq_result_text(i, 1);
		check->row = datumCopy(dq_result_datum(i, 2, &isnull), false, -1);
		checks = lappend(checks, check);
	}
	dq_free_result();
	dq_resume(&saved);
	return checks;
}

static void
redeclare_check(void *arg)
{
	Redeclaration *redeclaration = arg;
	const CheckDefinition *wanted = redeclaration->wanted;
	DeclaredCheck *check;

	dq_redeclare_check(redeclaration->target, wanted);
	check = linitial(declared_checks(redeclaration->target, wanted->name));
	redeclaration->differs = !DatumGetBool(DirectFunctionCall2(jsonb_eq, check->row,
															   redeclaration->declared->row));
}

/*
 * Bring one check about as it is wanted: NULL is not at all.  A check that is
 * there is declared anew, since only that tells what it would be; if it turns
 * out the same, the old one stays.
 */
static const char *
import_check(Oid target, const CheckDefinition *wanted, const DeclaredCheck *declared)
{
	Redeclaration redeclaration = {target, wanted, declared, false};

	if (wanted == NULL)
	{
		dq_call_function("drop_check", target, declared->name, NIL, "");
		return "removed";
	}
	if (declared == NULL)
	{
		dq_declare_check(target, wanted);
		return "added";
	}
	do_provisionally(redeclare_check, &redeclaration, &redeclaration.differs);
	return redeclaration.differs ? "changed" : "unchanged";
}

static void
note_change(Import *import, const char *object, const char *name, const char *what)
{
	Change	   *change = palloc(sizeof(Change));

	change->object = object;
	change->name = name;
	change->change = what;
	import->changes = lappend(import->changes, change);
}

/*
 * The checks that are wanted or there, by name: those that stand for
 * themselves, or those that are about what others measure.
 */
static void
import_checks(Import *import, bool about_others)
{
	List	   *wanted = import->definition->checks;
	List	   *declared = declared_checks(import->gate->target, NULL);
	int			w = 0;
	int			d = 0;

	while (w < list_length(wanted) || d < list_length(declared))
	{
		CheckDefinition *want = w < list_length(wanted) ? list_nth(wanted, w) : NULL;
		DeclaredCheck *have = d < list_length(declared) ? list_nth(declared, d) : NULL;
		int			order = want == NULL ? 1 : have == NULL ? -1 : strcmp(want->name, have->name);
		const char *name = order <= 0 ? want->name : have->name;
		bool		is_about_others = order <= 0 && strcmp(want->kind, dq_kind_metric.name) == 0;
		DqErrorContext context;

		CHECK_FOR_INTERRUPTS();
		if (is_about_others == about_others)
		{
			dq_push_context(&context, "importing check %s",
							psprintf("%s of gate %s", quote_identifier(name), import->gate->name));
			note_change(import, "check", name,
						import_check(import->gate->target, order <= 0 ? want : NULL,
									 order >= 0 ? have : NULL));
			dq_pop_context(&context);
		}
		w += order <= 0;
		d += order >= 0;
	}
}

/* The gate first, then its checks by name */
static int
compare_changes(const ListCell *a, const ListCell *b)
{
	const Change *one = lfirst(a);
	const Change *other = lfirst(b);
	int			order = strcmp(other->object, one->object);

	return order != 0 ? order : strcmp(one->name, other->name);
}

static void
import_gate(void *arg)
{
	Import	   *import = arg;
	DqErrorContext context;

	dq_check_target(import->definition->target);
	import->gate = dq_open_gate(import->definition->target);
	dq_push_context(&context, "importing gate %s", import->gate->name);
	note_change(import, "gate", import->gate->name,
				dq_apply_properties(import->gate, import->definition->settings));
	dq_pop_context(&context);
	import_checks(import, false);
	import_checks(import, true);
	list_sort(import->changes, compare_changes);
}

/*
 * import_gate(definition, dry_run) makes a gate and its checks what the
 * document says, and returns what that changes, one row for the gate and one
 * for each check.
 */
Datum
dq_gate_import_gate(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext caller = CurrentMemoryContext;
	Import		import = {0};
	ListCell   *lc;

	dq_check_nargs(fcinfo, 2);
	for (int i = 0; i < 2; i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not be NULL", i == 0 ? "definition" : "dry_run")));
	}

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	MemoryContextSwitchTo(caller);
	import.definition = dq_read_definition(PG_GETARG_JSONB_P(0));
	import.stays = !PG_GETARG_BOOL(1);
	if (import.stays)
		import_gate(&import);
	else
		do_provisionally(import_gate, &import, &import.stays);
	SPI_finish();

	MemoryContextSwitchTo(caller);
	foreach(lc, import.changes)
	{
		Change	   *change = lfirst(lc);
		Datum		values[3];
		bool		nulls[3] = {false};

		values[0] = CStringGetTextDatum(change->object);
		values[1] = CStringGetTextDatum(change->name);
		values[2] = CStringGetTextDatum(change->change);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
