/*
 * backlog.c
 *		What is bad already in the published table, by the rules about rows.
 *
 * The target is audited as if it were its own batch: matched with itself, all
 * columns fit.  There is no run: nothing is logged, published or quarantined.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/snapmgr.h"

#include "action.h"
#include "audit.h"
#include "authorize.h"
#include "columns.h"
#include "declare.h"
#include "error_context.h"
#include "gate.h"
#include "gate_settings.h"
#include "plan.h"
#include "row_values.h"
#include "spi_util.h"

/* The gate of the target, for a caller who may run it and be shown the whole table */
static Gate *
open_gate(Oid target, Oid caller)
{
	Gate	   *gate = dq_resolve_gate(target);

	dq_authorize_caller(gate, caller);
	dq_authorize_session(gate, caller);
	dq_authorize_reading(gate, target);
	dq_authorize_values(gate, caller);
	return gate;
}

/* The checks that say of each row whether it fails */
static CheckPlan *
row_checks(const CheckPlan *plan)
{
	CheckPlan  *rows = palloc0(sizeof(CheckPlan));
	ListCell   *lc;

	foreach(lc, plan->checks)
	{
		Check	   *check = lfirst(lc);

		if (!check->kind->rows)
			continue;
		if (check->needs_as_of && check->unjudged == NULL && check->broken == NULL)
			check->unjudged = "the table has no as_of, only a batch has one";
		rows->checks = lappend(rows->checks, check);
	}
	return rows;
}

/* Fill in the results of a run that nobody will hear of */
static void
audit_target(Run *run, Oid target)
{
	DqErrorContext context;

	run->dry_run = true;
	run->caller = GetUserId();
	dq_check_target(target);

	dq_push_context(&context, "gate %s", dq_relation_sql(target));
	/* nobody waits for what he may not do; what he may is known under the lock */
	(void) open_gate(target, run->caller);
	dq_lock_table(target, AccessShareLock);
	run->gate = open_gate(target, run->caller);
	dq_forget_mode(run->gate);
	run->map = dq_match_columns(run->gate, target, false);
	run->plan = row_checks(dq_make_plan(run->gate, run->map, NULL));

	PushActiveSnapshot(GetTransactionSnapshot());
	dq_audit(run);
	PopActiveSnapshot();
	dq_pop_context(&context);
}

PG_FUNCTION_INFO_V1(dq_gate_audit_table);

/*
 * audit_table(target) returns what each check about rows finds in the
 * published table itself.
 */
Datum
dq_gate_audit_table(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	MemoryContext caller = CurrentMemoryContext;
	Run		   *run = palloc0(sizeof(Run));
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	MemoryContextSwitchTo(caller);
	audit_target(run, target);
	SPI_finish();

	MemoryContextSwitchTo(caller);
	foreach(lc, run->results)
	{
		CheckResult *result = lfirst(lc);
		Datum		values[12];
		bool		nulls[12] = {false};

		dq_set_text(&values[0], &nulls[0], result->check->name);
		dq_set_text(&values[1], &nulls[1], result->check->kind->name);
		values[2] = dq_text_array(result->check->columns);
		dq_set_text(&values[3], &nulls[3], result->expected);
		dq_set_text(&values[4], &nulls[4], dq_action_name(result->action));
		dq_set_text(&values[5], &nulls[5], dq_status_name(result->status));
		dq_set_count(&values[6], &nulls[6], result->examined);
		dq_set_count(&values[7], &nulls[7], result->failing);
		dq_set_count(&values[8], &nulls[8], result->nulls);
		nulls[9] = result->sample == NULL;
		values[9] = nulls[9] ? (Datum) 0 :
			DirectFunctionCall1(jsonb_in, CStringGetDatum(result->sample));
		dq_set_text(&values[10], &nulls[10], result->message);
		dq_set_text(&values[11], &nulls[11], result->check->owner);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
