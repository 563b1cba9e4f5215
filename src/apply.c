/*
 * apply.c
 *		Make the calls that bring a gate about as a document has it.
 *
 * They are made as the caller and under the caller's settings.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "apply.h"
#include "definition.h"
#include "gate.h"
#include "gate_settings.h"
#include "spi_util.h"

/*
 * Call a function of dq_gate as somebody would by hand: on a target, with the
 * name of a check if it takes one, the settings and the rest of the arguments.
 */
void
dq_call_function(const char *function, Oid target, const char *name, List *settings, const char *rest)
{
	Oid			types[2] = {REGCLASSOID, TEXTOID};
	Datum		values[2] = {ObjectIdGetDatum(target), (Datum) 0};
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT %s(target => $1",
					 quote_qualified_identifier(DQ_SCHEMA, function));
	if (name)
	{
		values[1] = CStringGetTextDatum(name);
		appendStringInfoString(&sql, ", name => $2");
	}
	foreach(lc, settings)
	{
		const Setting *setting = lfirst(lc);

		appendStringInfo(&sql, ", %s => %s", quote_identifier(setting->name),
						 dq_setting_sql(setting));
	}
	appendStringInfo(&sql, "%s)", rest);
	dq_execute(sql.data, name ? 2 : 1, types, values, NULL, false);
	dq_free_result();
	pfree(sql.data);
}

/* Declare a check as a document has it */
void
dq_declare_check(Oid target, const CheckDefinition *check)
{
	dq_call_function(psprintf("expect_%s", check->kind), target, check->name, check->settings, "");
}

/* The same in place of the one that has its name */
void
dq_redeclare_check(Oid target, const CheckDefinition *check)
{
	dq_call_function("drop_check", target, check->name, NIL, "");
	dq_declare_check(target, check);
}

/* Whether the gate is as the document wants it */
static bool
same_gate(const Gate *gate, List *settings)
{
	Gate		wanted = *gate;
	bool		same = true;

	dq_default_settings(&wanted);
	wanted.run_as = gate->run_as;
	for (int i = 0; i < dq_gate_setting_count; i++)
	{
		const GateSetting *setting = &dq_gate_settings[i];
		const Setting *given = dq_find_setting(settings, setting->name);

		if (setting->internal)
			continue;
		if (given)
			dq_set_gate(&wanted, setting,
						setting->typid == REGCLASSOID ? psprintf("%u", given->relid) :
						setting->typid == REGROLEOID ?
						psprintf("%u", DatumGetObjectId(DirectFunctionCall1(regrolein, CStringGetDatum(given->text)))) :
						given->text);
		same = same && dq_same_setting(gate, &wanted, setting);
	}
	return same;
}

/*
 * Register the gate, or give it the properties that the document has, and
 * the defaults for those that it lacks.  The role is not among these: it
 * belongs to the database, not to the rules.  Returns what that was.
 */
const char *
dq_apply_properties(const Gate *gate, List *settings)
{
	StringInfoData rest;

	if (!gate->registered)
	{
		dq_call_function("create_gate", gate->target, NULL, settings, "");
		return "added";
	}
	/* a gate that is as it should be need not be one that can be made now */
	if (same_gate(gate, settings))
		return "unchanged";

	initStringInfo(&rest);
	for (int i = 0; i < dq_gate_setting_count; i++)
	{
		const GateSetting *setting = &dq_gate_settings[i];
		const char *none = dq_setting_none(setting);

		if (!setting->internal && none && dq_find_setting(settings, setting->name) == NULL)
			appendStringInfo(&rest, ", %s => %s", setting->name, dq_literal(none));
	}
	dq_call_function("alter_gate", gate->target, NULL, settings, rest.data);
	if (OidIsValid(gate->staging) && dq_find_setting(settings, "staging") == NULL)
	{
		/* there is no value by which alter_gate takes it back */
		Gate	   *altered = dq_open_gate(gate->target);

		altered->staging = InvalidOid;
		dq_save_gate(altered);
	}
	return "changed";
}
