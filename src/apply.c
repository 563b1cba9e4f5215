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
#include "utils/timestamp.h"

#include "apply.h"
#include "definition.h"
#include "gate.h"
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

static const char *
setting_text(List *settings, const char *name)
{
	const Setting *setting = dq_find_setting(settings, name);

	return setting ? setting->text : "";
}

/* An optional text of a gate: NULL and empty are the same */
static bool
same_text(const char *present, List *settings, const char *name)
{
	return strcmp(present ? present : "", setting_text(settings, name)) == 0;
}

/* A switch of a gate, which has a default where the document is silent */
static bool
same_flag(bool present, List *settings, const char *name, bool otherwise)
{
	const Setting *setting = dq_find_setting(settings, name);

	return present == (setting ? strcmp(setting->text, "true") == 0 : otherwise);
}

static bool
same_key(List *present, List *settings)
{
	const Setting *setting = dq_find_setting(settings, "key");
	List	   *wanted = setting ? dq_text_list(dq_array_from_text(setting->text)) : NIL;
	ListCell   *a;
	ListCell   *b;

	if (list_length(present) != list_length(wanted))
		return false;
	forboth(a, present, b, wanted)
	{
		if (strcmp(lfirst(a), lfirst(b)) != 0)
			return false;
	}
	return true;
}

/* A setting as an interval, NULL where there is none */
static Interval *
setting_interval(List *settings, const char *name)
{
	const Setting *setting = dq_find_setting(settings, name);

	if (setting == NULL)
		return NULL;
	return DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(setting->text),
												 ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
}

static bool
same_timeout(int present_ms, List *settings)
{
	Interval   *timeout = setting_interval(settings, "check_timeout");
	Gate		wanted = {0};

	if (timeout)
		dq_set_check_timeout(&wanted, timeout);
	return wanted.check_timeout_ms == present_ms;
}

/* As text, since 30 days are no month to those that wait for a batch */
static bool
same_expected_every(const Gate *gate, List *settings)
{
	Interval   *every = setting_interval(settings, "expected_every");
	Gate		present = {0};
	Gate		wanted = {0};

	if (gate->expected_every)
		dq_set_expected_every(&present, DatumGetIntervalP(DirectFunctionCall3(interval_in,
																			  CStringGetDatum(gate->expected_every),
																			  ObjectIdGetDatum(InvalidOid),
																			  Int32GetDatum(-1))));
	if (every)
		dq_set_expected_every(&wanted, every);
	return strcmp(present.expected_every ? present.expected_every : "",
				  wanted.expected_every ? wanted.expected_every : "") == 0;
}

/* Whether the gate is as the document wants it */
static bool
same_gate(const Gate *gate, List *settings)
{
	const Setting *staging = dq_find_setting(settings, "staging");
	const Setting *run_as = dq_find_setting(settings, "run_as");

	return gate->staging == (staging ? staging->relid : InvalidOid) &&
		same_key(gate->key, settings) &&
		same_text(gate->layer, settings, "layer") &&
		same_text(gate->owner, settings, "owner") &&
		same_text(gate->description, settings, "description") &&
		same_flag(gate->enforce, settings, "enforce", true) &&
		same_flag(gate->samples, settings, "samples", true) &&
		same_flag(gate->profile, settings, "profile", false) &&
		same_timeout(gate->check_timeout_ms, settings) &&
		same_expected_every(gate, settings) &&
		(run_as == NULL ||
		 gate->run_as == DatumGetObjectId(DirectFunctionCall1(regrolein,
															  CStringGetDatum(run_as->text))));
}

/*
 * Register the gate, or give it the properties that the document has, and
 * the defaults for those that it lacks.  The role is not among these: it
 * belongs to the database, not to the rules.  Returns what that was.
 */
const char *
dq_apply_properties(const Gate *gate, List *settings)
{
	static const struct
	{
		const char *name;
		const char *none;
	}			properties[] = {
		{"key", "'{}'"}, {"layer", "''"}, {"owner", "''"}, {"description", "''"},
		{"enforce", "true"}, {"samples", "true"}, {"check_timeout", "'0'"},
		{"profile", "false"}, {"expected_every", "'0'"}
	};
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
	for (int i = 0; i < (int) lengthof(properties); i++)
	{
		if (dq_find_setting(settings, properties[i].name) == NULL)
			appendStringInfo(&rest, ", %s => %s", properties[i].name, properties[i].none);
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
