/*
 * current_batch.c
 *		What rules may know of the batch that they are evaluated on.
 *
 * Kept in settings, since those reach parallel workers, and end with the
 * phase of the run that set them.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/guc.h"

#include "current_batch.h"
#include "spi_util.h"

static char *batch_id = NULL;
static char *as_of = NULL;
static char *totals = NULL;

static void
define_setting(const char *name, const char *words, char **value)
{
	DefineCustomStringVariable(name, words, "Set by dq_gate itself while a run evaluates its checks.",
							   value, "", PGC_USERSET,
							   GUC_NO_SHOW_ALL | GUC_NO_RESET_ALL | GUC_NOT_IN_SAMPLE |
							   GUC_DISALLOW_IN_FILE, NULL, NULL, NULL);
}

void
dq_define_batch_settings(void)
{
	define_setting(DQ_BATCH_ID_SETTING, "Name of the batch being audited.", &batch_id);
	define_setting(DQ_AS_OF_SETTING, "Business date of the batch being audited.", &as_of);
	define_setting(DQ_TOTALS_SETTING, "Control totals given with the batch being audited.", &totals);
	MarkGUCPrefixReserved("dq_gate");
}

/*
 * Let rules know the batch, until the phase of the run ends.
 */
void
dq_pin_batch(const Run *run)
{
	dq_pin_setting(DQ_BATCH_ID_SETTING, run->batch_id ? run->batch_id : "");
	dq_pin_setting(DQ_AS_OF_SETTING, run->has_as_of ?
				   DatumGetCString(DirectFunctionCall1(date_out, DateADTGetDatum(run->as_of))) : "");
	dq_pin_setting(DQ_TOTALS_SETTING, run->totals ? run->totals : "");
}

PG_FUNCTION_INFO_V1(dq_gate_batch_id);
PG_FUNCTION_INFO_V1(dq_gate_as_of);

/*
 * batch_id() is the batch_id of the run that evaluates it.
 */
Datum
dq_gate_batch_id(PG_FUNCTION_ARGS)
{
	if (batch_id == NULL || batch_id[0] == '\0')
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(batch_id));
}

/*
 * as_of() is the as_of of the run that evaluates it.
 */
Datum
dq_gate_as_of(PG_FUNCTION_ARGS)
{
	if (as_of == NULL || as_of[0] == '\0')
		PG_RETURN_NULL();
	return DirectFunctionCall1(date_in, CStringGetDatum(as_of));
}
