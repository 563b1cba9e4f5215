/*
 * api.c
 *		The SQL-callable functions that run a gate, register one, or look at
 *		its checks.  Those that declare a check are with the kinds.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "action.h"
#include "authorize.h"
#include "columns.h"
#include "compat.h"
#include "declare.h"
#include "drift.h"
#include "gate.h"
#include "gate_settings.h"
#include "plan.h"
#include "policy.h"
#include "preview.h"
#include "quarantine.h"
#include "row_limits.h"
#include "row_values.h"
#include "run.h"
#include "spi_util.h"
#include "tick.h"
#include "verdict.h"

PG_FUNCTION_INFO_V1(dq_gate_publish);
PG_FUNCTION_INFO_V1(dq_gate_audit);
PG_FUNCTION_INFO_V1(dq_gate_publish_or_fail);
PG_FUNCTION_INFO_V1(dq_gate_preview);
PG_FUNCTION_INFO_V1(dq_gate_create_gate);
PG_FUNCTION_INFO_V1(dq_gate_alter_gate);
PG_FUNCTION_INFO_V1(dq_gate_drop_gate);
PG_FUNCTION_INFO_V1(dq_gate_checks_of);

/* A list of texts as one */
static char *
join(List *texts, const char *separator)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, texts)
		appendStringInfo(&buf, "%s%s", buf.len > 0 ? separator : "", (char *) lfirst(lc));
	return buf.data;
}

/* What became of the batch, in words */
static const char *
outcome(const Run *run)
{
	switch (run->verdict)
	{
		case DQ_VERDICT_PUBLISHED:
			if (!run->gate->enforce)
				return "published, checks not enforced";
			if (run->quarantined > 0 && run->dropped > 0)
				return psprintf("published without " INT64_FORMAT " quarantined and "
								INT64_FORMAT " dropped rows", run->quarantined, run->dropped);
			if (run->quarantined > 0 || run->dropped > 0)
				return psprintf("published without " INT64_FORMAT " %s row%s",
								run->quarantined + run->dropped,
								run->quarantined > 0 ? "quarantined" : "dropped",
								run->quarantined + run->dropped == 1 ? "" : "s");
			return "published";
		case DQ_VERDICT_REJECTED:
			return "rejected";
		case DQ_VERDICT_PUBLISH_FAILED:
			return "failed to publish";
		case DQ_VERDICT_SKIPPED:
			return "skipped";
		case DQ_VERDICT_AUDITED:
			return run->skipped ? "audited, would be skipped" :
				run->passed ? "audited, would be published" : "audited, would be rejected";
	}
	return "?";					/* keep the compiler quiet */
}

/* Say aloud what the row of the run says, unless all is well */
static void
announce(const Run *run)
{
	if (run->published && dq_drift_alters(run->map))
		ereport(NOTICE,
				(errmsg("gate %s: batch \"%s\" brought other columns (run " INT64_FORMAT "): %s",
						run->gate->name, run->batch_id, run->run_id,
						join(run->schema_changes, ", "))));
	if (run->failures == NIL)
		return;
	if (run->run_id == 0)
	{
		/* a preview is in no log */
		ereport(dq_needs_warning(run) ? WARNING : NOTICE,
				(errmsg("gate %s: batch \"%s\" %s: %s", run->gate->name, run->batch_id,
						outcome(run), join(run->failed, ", ")),
				 errdetail("%s", join(dq_told_failures(run), "\n"))));
		return;
	}
	ereport(dq_needs_warning(run) ? WARNING : NOTICE,
			(errmsg("gate %s: batch \"%s\" %s (run " INT64_FORMAT "): %s",
					run->gate->name, run->batch_id, outcome(run), run->run_id,
					join(run->failed, ", ")),
			 errdetail("%s", join(dq_told_failures(run), "\n")),
			 run->results == NIL && run->repeats == 0 ? 0 :
			 errhint("See SELECT * FROM dq_gate.results_of(" INT64_FORMAT ");",
					 run->repeats ? run->repeats : run->run_id)));
}

/* What a function call says of a batch, from its third argument on */
static Run *
batch_from_arguments(FunctionCallInfo fcinfo)
{
	Run		   *run = palloc0(sizeof(Run));

	run->batch_id = dq_optional_text(fcinfo, 2);
	run->has_as_of = !PG_ARGISNULL(3);
	if (run->has_as_of)
		run->as_of = PG_GETARG_DATEADT(3);
	if (!PG_ARGISNULL(4))
		run->totals = JsonbToCString(NULL, &PG_GETARG_JSONB_P(4)->root,
									 VARSIZE(PG_GETARG_JSONB_P(4)));
	return run;
}

/* The run of a gate that a function call asks for, a scheduler it may be */
static Run *
run_from_arguments(FunctionCallInfo fcinfo, bool dry_run, bool scheduled)
{
	Oid			staging = dq_required_oid(fcinfo, 0, "staging");
	Oid			target = dq_required_oid(fcinfo, 1, "target");
	Run		   *run;

	dq_check_nargs(fcinfo, scheduled ? 6 : 5);
	run = batch_from_arguments(fcinfo);
	run->dry_run = dry_run;
	run->tick = scheduled ? dq_tick_argument(fcinfo, 5) : 0;
	dq_run(run, staging, target);
	return run;
}

/* The run as a row of type run_summary, in the current memory context */
static Datum
run_summary(FunctionCallInfo fcinfo, const Run *run)
{
	TupleDesc	desc;
	Datum		values[16];
	bool		nulls[16] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	dq_check_columns(desc, lengthof(values));

	values[0] = Int64GetDatum(run->run_id);
	values[1] = CStringGetTextDatum(run->batch_id);
	values[2] = CStringGetTextDatum(dq_verdict_name(run->verdict));
	values[3] = BoolGetDatum(run->passed);
	values[4] = BoolGetDatum(run->published);
	dq_set_count(&values[5], &nulls[5], run->row_count);
	dq_set_count(&values[6], &nulls[6], run->inserted);
	dq_set_count(&values[7], &nulls[7], run->updated);
	dq_set_count(&values[8], &nulls[8], run->unchanged);
	dq_set_count(&values[9], &nulls[9], run->deleted);
	dq_set_count(&values[10], &nulls[10], run->stale);
	dq_set_count(&values[11], &nulls[11], run->quarantined);
	dq_set_count(&values[12], &nulls[12], run->dropped);
	values[13] = Int32GetDatum(run->checks_failed);
	values[14] = dq_text_array(dq_told_failures(run));
	values[15] = DirectFunctionCall2(timestamp_mi, TimestampTzGetDatum(run->finished_at),
									 TimestampTzGetDatum(run->started_at));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* Everything that a run allocates goes with its memory context */
static Datum
run_and_answer(FunctionCallInfo fcinfo, bool dry_run)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "dq_gate run", ALLOCSET_DEFAULT_SIZES);
	Run		   *run;
	Datum		answer;

	SPI_connect();
	MemoryContextSwitchTo(context);
	run = run_from_arguments(fcinfo, dry_run, false);
	SPI_finish();

	MemoryContextSwitchTo(context);
	announce(run);
	MemoryContextSwitchTo(caller);
	answer = run_summary(fcinfo, run);
	MemoryContextDelete(context);
	return answer;
}

/*
 * publish(staging, target, batch_id, as_of, totals) audits the batch and publishes or
 * quarantines it.  Answers with the verdict, and warns unless all is well.
 */
Datum
dq_gate_publish(PG_FUNCTION_ARGS)
{
	return run_and_answer(fcinfo, false);
}

/*
 * audit(staging, target, batch_id, as_of, totals) audits the batch, no more.
 */
Datum
dq_gate_audit(PG_FUNCTION_ARGS)
{
	return run_and_answer(fcinfo, true);
}

/*
 * publish_or_fail(staging, target, batch_id, as_of, totals, tick) is publish for
 * callers that look at errors, not at rows: the evidence of a batch that did
 * not get through is committed, and then an error raised.
 */
Datum
dq_gate_publish_or_fail(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	Run		   *run;

	if (dq_is_atomic_call(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				 errmsg("dq_gate.publish_or_fail must be called alone, outside a transaction block"),
				 errdetail("It commits the evidence of a batch that is not published before it raises an error, which it cannot do here. Nothing was done."),
				 errhint("Send CALL dq_gate.publish_or_fail(...) as a statement of its own, or call the function dq_gate.publish here and look at the verdict it returns.")));

	/* lives across the commit, unlike the context of the call */
	context = AllocSetContextCreate(PortalContext, "dq_gate run", ALLOCSET_DEFAULT_SIZES);
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	MemoryContextSwitchTo(context);
	run = run_from_arguments(fcinfo, false, true);
	if (run->verdict == DQ_VERDICT_REJECTED || run->verdict == DQ_VERDICT_PUBLISH_FAILED)
	{
		SPI_commit();
		MemoryContextSwitchTo(context);
		ereport(ERROR,
				(errcode(run->verdict == DQ_VERDICT_REJECTED ?
						 ERRCODE_DQ_BATCH_REJECTED : ERRCODE_DQ_PUBLISH_FAILED),
				 errmsg("gate %s: batch \"%s\" %s: %s", run->gate->name, run->batch_id,
						outcome(run), join(dq_told_failures(run), "; ")),
				 run->quarantined > 0 ?
				 errdetail("run_id " INT64_FORMAT ", the batch is kept in %s, " INT64_FORMAT " row%s",
						   run->run_id, run->quarantine, run->quarantined,
						   run->quarantined == 1 ? "" : "s") :
				 errdetail("run_id " INT64_FORMAT, run->run_id),
				 errhint("See SELECT * FROM dq_gate.results_of(" INT64_FORMAT ");", run->run_id)));
	}
	SPI_finish();
	announce(run);
	MemoryContextDelete(context);
	PG_RETURN_VOID();
}

/* Connect to SPI, staying in the caller's memory context */
static void
connect_here(void)
{
	MemoryContext context = CurrentMemoryContext;

	SPI_connect();
	MemoryContextSwitchTo(context);
}

/*
 * preview(staging, target, batch_id, as_of, totals, samples) returns what
 * publish would do, one row for what becomes of rows, and one for each column
 * in which values change.
 */
Datum
dq_gate_preview(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			staging = dq_required_oid(fcinfo, 0, "staging");
	Oid			target = dq_required_oid(fcinfo, 1, "target");
	int			samples;
	Run		   *run;
	List	   *rows;
	ListCell   *lc;

	dq_check_nargs(fcinfo, 6);
	samples = PG_ARGISNULL(5) ? -1 : PG_GETARG_INT32(5);
	if (samples < 0 || samples > DQ_MAX_PREVIEW_SAMPLES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"samples\" must be between 0 and %d", DQ_MAX_PREVIEW_SAMPLES)));
	InitMaterializedSRF(fcinfo, 0);
	connect_here();
	run = batch_from_arguments(fcinfo);
	rows = dq_preview(run, staging, target, samples);
	SPI_finish();

	announce(run);
	foreach(lc, rows)
	{
		PreviewRow *row = lfirst(lc);
		Datum		values[4];
		bool		nulls[4] = {false};

		values[0] = CStringGetTextDatum(row->change);
		dq_set_text(&values[1], &nulls[1], row->column_name);
		values[2] = Int64GetDatum(row->row_count);
		nulls[3] = row->sample == NULL;
		values[3] = JsonbPGetDatum(row->sample);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * What create_gate and alter_gate have in common: set what is given, see that
 * it makes sense, write it.
 */
static void
set_gate(FunctionCallInfo fcinfo, Gate *gate)
{
	Oid			run_as = gate->run_as;
	char	   *scope = gate->scope;
	ColumnMap  *map;

	dq_set_from_arguments(fcinfo, gate);
	if (OidIsValid(gate->staging) && !PG_ARGISNULL(1))
		dq_check_staging(gate->staging, gate->target);
	if (!OidIsValid(gate->run_as))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("\"run_as\" must be a role")));
	if (gate->run_as != run_as && !dq_can_act_as(GetUserId(), gate->run_as))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be able to SET ROLE \"%s\"",
						GetUserNameFromId(gate->run_as, false)),
				 errdetail("Gate %s is to run as that role.", gate->name)));

	dq_lock_table(gate->target, AccessShareLock);
	if (gate->scope != scope)
		dq_resolve_scope(gate);
	map = dq_match_columns(gate, InvalidOid, true);
	dq_check_policy(map);
	dq_save_gate(gate);
	dq_pass_quarantine_on(gate->target, gate->registered ? run_as : InvalidOid, gate->run_as);
}

/*
 * create_gate(target, and the settings of gate_settings.c) registers a gate.
 */
Datum
dq_gate_create_gate(PG_FUNCTION_ARGS)
{
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	Gate	   *gate;

	connect_here();
	dq_check_target(target);
	gate = dq_open_gate(target);
	if (gate->registered)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("gate %s already exists", gate->name),
				 errhint("Change it with dq_gate.alter_gate, which takes the same arguments.")));
	set_gate(fcinfo, gate);
	SPI_finish();
	PG_RETURN_OID(target);
}

/*
 * alter_gate(target, and the settings of gate_settings.c) changes a gate: NULL
 * leaves a setting, empty takes it back.
 */
Datum
dq_gate_alter_gate(PG_FUNCTION_ARGS)
{
	Oid			target = dq_required_oid(fcinfo, 0, "target");

	connect_here();
	set_gate(fcinfo, dq_open_registered_gate(target));
	SPI_finish();
	PG_RETURN_OID(target);
}

/*
 * drop_gate(target) forgets a gate and its checks.
 */
Datum
dq_gate_drop_gate(PG_FUNCTION_ARGS)
{
	connect_here();
	dq_forget_gate(dq_open_registered_gate(PG_GETARG_OID(0)));
	SPI_finish();
	PG_RETURN_VOID();
}

/*
 * checks_of(target, staging) returns the effective checks, one row each.
 * Staging matters for what is derived from the match of columns; without one
 * that of the gate is taken, or the target is looked at alone.
 */
Datum
dq_gate_checks_of(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	Oid			staging = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	MemoryContext caller = CurrentMemoryContext;
	Gate	   *gate;
	CheckPlan	   *plan;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	connect_here();
	dq_check_target(target);
	gate = dq_resolve_gate(target);
	dq_authorize_look(gate);
	if (!OidIsValid(staging))
		staging = gate->staging;
	if (OidIsValid(staging) && get_rel_relkind(staging) == '\0')
		staging = InvalidOid;
	if (OidIsValid(staging))
	{
		dq_check_staging(staging, target);
		dq_authorize_staging(gate, staging);
		dq_lock_table(staging, AccessShareLock);
	}
	dq_lock_table(target, AccessShareLock);
	plan = dq_make_plan(gate, dq_match_columns(gate, staging, false), NULL);
	SPI_finish();

	MemoryContextSwitchTo(caller);
	foreach(lc, plan->checks)
	{
		Check	   *check = lfirst(lc);
		Datum		values[13];
		bool		nulls[13] = {false};

		values[0] = CStringGetTextDatum(check->name);
		values[1] = CStringGetTextDatum(check->kind->name);
		values[2] = dq_text_array(check->columns);
		values[3] = CStringGetTextDatum(check->rule);
		values[4] = CStringGetTextDatum(dq_action_name(check->action));
		values[5] = CStringGetTextDatum(check->nulls_fail ? "fail" : "pass");
		nulls[5] = !check->kind->rows;
		dq_set_text(&values[6], &nulls[6], check->owner);
		values[7] = CStringGetTextDatum(check->origin);
		dq_set_text(&values[8], &nulls[8], check->description);
		dq_set_text(&values[9], &nulls[9], check->filter);
		dq_set_text(&values[10], &nulls[10],
					dq_has_limits(&check->limits) ? dq_describe_limits(check) : NULL);
		nulls[11] = check->tags == NIL;
		values[11] = dq_text_array(check->tags);
		dq_set_text(&values[12], &nulls[12], check->severity);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
