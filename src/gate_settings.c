/*
 * gate_settings.c
 *		What can be said about a gate: the settings of create_gate.
 *
 * One table says what they are; how they are read from a call, kept, written
 * to a document and compared follows from their type.  As text, each of them
 * has one form, whatever it is read from.
 */
#include "postgres.h"

#include <limits.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "gate_settings.h"
#include "read_arguments.h"
#include "spi_util.h"

const char *const dq_mode_words[] = {"merge", "append", "insert_only", "sync", "replace", NULL};
static const char *const rounding_words[] = {"fail", "allow", NULL};
static const char *const new_column_words[] = {"fail", "ignore", "rescue", "evolve", NULL};
static const char *const missing_column_words[] = {"default", "fail", NULL};
static const char *const type_change_words[] = {"fail", "widen", NULL};
static const char *const after_publish_words[] = {"keep", "truncate", "delete", NULL};
static const char *const alert_words[] = {"failure", "change", "always", "never", NULL};

/* Settings are named like the field of Gate that holds them */
#define SETTING(name, typid, otherwise, words) \
	{#name, typid, offsetof(Gate, name), otherwise, words, false}
#define INTERNAL(name, typid) \
	{#name, typid, offsetof(Gate, name), NULL, NULL, true}

/* In the order of the arguments of create_gate, which begin after the target */
const GateSetting dq_gate_settings[] = {
	SETTING(staging, REGCLASSOID, NULL, NULL),
	SETTING(key, TEXTARRAYOID, NULL, NULL),
	SETTING(layer, TEXTOID, NULL, NULL),
	SETTING(owner, TEXTOID, NULL, NULL),
	SETTING(description, TEXTOID, NULL, NULL),
	SETTING(run_as, REGROLEOID, NULL, NULL),
	SETTING(enforce, BOOLOID, "true", NULL),
	SETTING(samples, BOOLOID, "true", NULL),
	SETTING(check_timeout, INTERVALOID, NULL, NULL),
	SETTING(profile, BOOLOID, "false", NULL),
	SETTING(expected_every, INTERVALOID, NULL, NULL),
	SETTING(mode, TEXTOID, "merge", dq_mode_words),
	SETTING(scope, TEXTOID, NULL, NULL),
	INTERNAL(scope_of_batch, TEXTOID),
	INTERNAL(scope_of_target, TEXTOID),
	SETTING(replace_by, TEXTARRAYOID, NULL, NULL),
	SETTING(max_delete_rate, FLOAT8OID, "1", NULL),
	SETTING(update_columns, TEXTARRAYOID, NULL, NULL),
	SETTING(exclude_columns, TEXTARRAYOID, NULL, NULL),
	SETTING(compare_columns, TEXTARRAYOID, NULL, NULL),
	SETTING(only_if_newer, TEXTOID, NULL, NULL),
	SETTING(keep_latest_by, TEXTOID, NULL, NULL),
	SETTING(on_rounding, TEXTOID, "fail", rounding_words),
	SETTING(on_new_column, TEXTOID, "fail", new_column_words),
	SETTING(rescue_column, TEXTOID, NULL, NULL),
	SETTING(on_missing_column, TEXTOID, "default", missing_column_words),
	SETTING(on_type_change, TEXTOID, "fail", type_change_words),
	SETTING(after_publish, TEXTOID, "keep", after_publish_words),
	SETTING(quarantine_retention, INTERVALOID, NULL, NULL),
	SETTING(log_retention, INTERVALOID, NULL, NULL),
	SETTING(alert, TEXTOID, "failure", alert_words),
};

const int	dq_gate_setting_count = lengthof(dq_gate_settings);

/* How many arguments create_gate and alter_gate have, the target included */
static int
count_arguments(void)
{
	int			count = 1;

	for (int i = 0; i < dq_gate_setting_count; i++)
		count += !dq_gate_settings[i].internal;
	return count;
}

/* The value by which alter_gate takes a setting back, NULL where there is none */
const char *
dq_setting_none(const GateSetting *setting)
{
	if (setting->otherwise)
		return setting->otherwise;
	switch (setting->typid)
	{
		case TEXTOID:
			return "";
		case TEXTARRAYOID:
			return "{}";
		case INTERVALOID:
			return "0";
		default:
			return NULL;
	}
}

static int
word_index(const GateSetting *setting, const char *text)
{
	StringInfoData known;

	initStringInfo(&known);
	for (int i = 0; setting->words[i]; i++)
	{
		if (strcmp(setting->words[i], text) == 0)
			return i;
		appendStringInfo(&known, "%s%s", i == 0 ? "" : setting->words[i + 1] ? ", " : " and ",
						 setting->words[i]);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s \"%s\" is not known", setting->name, text),
			 errhint("It is one of %s.", known.data)));
}

static Interval *
interval_from_text(const char *text)
{
	return DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(text),
												 ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
}

/* Whether that long ago is a point in time */
bool
dq_is_retention(const Interval *interval)
{
	Interval	longest = {.month = 12000};

	return DatumGetInt32(DirectFunctionCall2(interval_cmp, IntervalPGetDatum(interval),
											 IntervalPGetDatum(&longest))) <= 0;
}

/* An interval as a setting keeps it; no time at all takes it back */
static char *
kept_interval(const GateSetting *setting, const char *text)
{
	Interval	zero = {0};
	Interval   *interval = interval_from_text(text);
	int			order = DatumGetInt32(DirectFunctionCall2(interval_cmp, IntervalPGetDatum(interval),
														  IntervalPGetDatum(&zero)));

	if (order < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must not be negative", setting->name),
				 errhint("An interval of 0 takes it back.")));
	if ((setting->offset == offsetof(Gate, quarantine_retention) ||
		 setting->offset == offsetof(Gate, log_retention)) && !dq_is_retention(interval))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must not be longer than 1000 years", setting->name),
				 errhint("An interval of 0 takes it back, and all is kept.")));
	return order == 0 ? NULL :
		DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(interval)));
}

/* How long a statement of the audit may take, for the timer */
static int
timeout_in_ms(const char *text)
{
	double		ms;

	if (text == NULL)
		return 0;
	ms = DatumGetFloat8(DirectFunctionCall2(interval_part, CStringGetTextDatum("epoch"),
											IntervalPGetDatum(interval_from_text(text)))) * 1000;
	if (!(ms >= 1 && ms <= INT_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"check_timeout\" must be between 1 millisecond and 24 days"),
				 errhint("An interval of 0 takes the limit back.")));
	return (int) ms;
}

static double
rate_from_text(const GateSetting *setting, const char *text)
{
	double		rate = DatumGetFloat8(DirectFunctionCall1(float8in, CStringGetDatum(text)));

	if (!(rate >= 0 && rate <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be between 0 and 1", setting->name),
				 errhint("It is a share of rows; 1 takes it back.")));
	return rate;
}

/*
 * Give a gate a setting, as text; NULL is the default.
 */
void
dq_set_gate(Gate *gate, const GateSetting *setting, const char *text)
{
	void	   *field = (char *) gate + setting->offset;

	if (text == NULL)
		text = dq_setting_none(setting);
	switch (setting->typid)
	{
		case TEXTOID:
			if (setting->words)
				*(int *) field = word_index(setting, text[0] == '\0' ? setting->otherwise : text);
			else
				*(char **) field = text[0] == '\0' ? NULL : pstrdup(text);
			break;
		case TEXTARRAYOID:
			*(List **) field = dq_text_list(dq_array_from_text(text));
			break;
		case BOOLOID:
			*(bool *) field = text[0] == 't';
			break;
		case INTERVALOID:
			*(char **) field = kept_interval(setting, text);
			break;
		case FLOAT8OID:
			*(double *) field = rate_from_text(setting, text);
			break;
		case REGCLASSOID:
		case REGROLEOID:
			*(Oid *) field = text ? atooid(text) : InvalidOid;
			break;
	}
	if (strcmp(setting->name, "check_timeout") == 0)
		gate->check_timeout_ms = timeout_in_ms(gate->check_timeout);
}

/* A setting as text, NULL where nothing is set */
char *
dq_setting_text(const Gate *gate, const GateSetting *setting)
{
	const void *field = (const char *) gate + setting->offset;

	switch (setting->typid)
	{
		case TEXTOID:
			if (setting->words)
				return pstrdup(setting->words[*(const int *) field]);
			return *(char *const *) field;
		case INTERVALOID:
			return *(char *const *) field;
		case TEXTARRAYOID:
			return *(List *const *) field == NIL ? NULL :
				dq_array_as_text(dq_text_array(*(List *const *) field));
		case BOOLOID:
			return *(const bool *) field ? "true" : "false";
		case FLOAT8OID:
			return float8out_internal(*(const double *) field);
		default:
			return OidIsValid(*(const Oid *) field) ? psprintf("%u", *(const Oid *) field) : NULL;
	}
}

/* Whether two gates agree in a setting; 30 days are no month */
bool
dq_same_setting(const Gate *a, const Gate *b, const GateSetting *setting)
{
	char	   *one = dq_setting_text(a, setting);
	char	   *other = dq_setting_text(b, setting);

	if (one == NULL || other == NULL)
		return one == other;
	if (setting->typid == INTERVALOID)
		return memcmp(interval_from_text(one), interval_from_text(other), sizeof(Interval)) == 0;
	return strcmp(one, other) == 0;
}

/* What a gate is that nobody has said anything about */
void
dq_default_settings(Gate *gate)
{
	for (int i = 0; i < dq_gate_setting_count; i++)
		dq_set_gate(gate, &dq_gate_settings[i], NULL);
}

/*
 * Forget how batches get into the target: for those who look at the table
 * itself.
 */
void
dq_forget_mode(Gate *gate)
{
	bool		reached = false;

	for (int i = 0; i < dq_gate_setting_count; i++)
	{
		reached = reached || strcmp(dq_gate_settings[i].name, "mode") == 0;
		if (reached)
			dq_set_gate(gate, &dq_gate_settings[i], NULL);
	}
}

/*
 * Take the settings of a call; those that are NULL stay as they are.
 */
void
dq_set_from_arguments(FunctionCallInfo fcinfo, Gate *gate)
{
	int			arg = 0;

	dq_check_nargs(fcinfo, count_arguments());
	for (int i = 0; i < dq_gate_setting_count; i++)
	{
		const GateSetting *setting = &dq_gate_settings[i];
		Oid			output;
		bool		varlena;
		char	   *text;
		Identity	saved;

		if (setting->internal || PG_ARGISNULL(++arg))
			continue;
		/* in one style, that in which they are read */
		dq_assume(&saved, GetUserId(), PHASE_EVIDENCE);
		getTypeOutputInfo(setting->typid == REGCLASSOID || setting->typid == REGROLEOID ?
						  OIDOID : setting->typid, &output, &varlena);
		text = OidOutputFunctionCall(output, PG_GETARG_DATUM(arg));
		dq_set_gate(gate, setting, text);
		dq_resume(&saved);
	}
}

/* The columns of the settings, all as text, in their order */
char *
dq_setting_columns(void)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < dq_gate_setting_count; i++)
	{
		const GateSetting *setting = &dq_gate_settings[i];
		bool		oid = setting->typid == REGCLASSOID || setting->typid == REGROLEOID;

		appendStringInfo(&sql, "%s%s%s::pg_catalog.text", i > 0 ? ", " : "", setting->name,
						 oid ? "::pg_catalog.oid" : "");
	}
	return sql.data;
}

/* Read them from the last result of SPI */
void
dq_read_settings(Gate *gate, int first_column)
{
	for (int i = 0; i < dq_gate_setting_count; i++)
		dq_set_gate(gate, &dq_gate_settings[i], dq_result_text(0, first_column + i));
}
