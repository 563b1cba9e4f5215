/*
 * acknowledge.c
 *		Somebody has looked at a run that needed attention.
 *
 * Once: the first who says what came of it has looked.  Those may who could do
 * something about it, which reading the log does not make anybody.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "access.h"
#include "authorize.h"
#include "compat.h"
#include "gate.h"
#include "read_arguments.h"
#include "spi_util.h"

PG_FUNCTION_INFO_V1(dq_gate_acknowledge);

/* What the log has of the run */
typedef struct LoggedRun
{
	int64		run_id;
	Oid			target;			/* InvalidOid once it is dropped */
	char	   *gate;
	char	   *run_as;
	char	   *verdict;
	bool		attention;
	char	   *acknowledged;	/* by whom, when and why; NULL: not yet */
} LoggedRun;

/* False where there is no such run */
static bool
find_run(LoggedRun *run)
{
	Oid			types[1] = {INT8OID};
	Datum		values[1] = {Int64GetDatum(run->run_id)};
	Identity	saved;
	bool		found;
	bool		isnull;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	found = dq_execute("SELECT r.target::pg_catalog.oid, r.gate, r.run_as, r.verdict, r.attention,"
					   " 'By ' || pg_catalog.quote_ident(a.acknowledged_by) || ' at '"
					   " || pg_catalog.date_trunc('second', a.acknowledged_at) || ': ' || a.note"
					   " FROM dq_gate.runs r LEFT JOIN dq_gate.acknowledgements a ON a.run_id = r.run_id"
					   " WHERE r.run_id = $1",
					   1, types, values, NULL, false) > 0;
	if (found)
	{
		Datum		target = dq_result_datum(0, 1, &isnull);

		/* without its event trigger, a table that was dropped is still there by number */
		run->target = isnull || get_rel_relkind(DatumGetObjectId(target)) == '\0' ?
			InvalidOid : DatumGetObjectId(target);
		run->gate = dq_result_text(0, 2);
		run->run_as = dq_result_text(0, 3);
		run->verdict = dq_result_text(0, 4);
		run->attention = DatumGetBool(dq_result_datum(0, 5, &isnull));
		run->acknowledged = dq_result_text(0, 6);
	}
	dq_free_result();
	dq_resume(&saved);
	return found;
}

/* Of a target that is dropped, what remains is the role that the run acted as */
static bool
may_acknowledge(const LoggedRun *run, Oid caller)
{
	Oid			run_as;

	if (OidIsValid(run->target))
		return dq_may_answer_for(dq_resolve_gate(run->target), caller);
	run_as = get_role_oid(run->run_as, true);
	return superuser_arg(caller) || (OidIsValid(run_as) && dq_can_act_as(caller, run_as));
}

/* Refuse who may not, telling nothing to those who may not read the log of the run */
static void
authorize(const LoggedRun *run, bool found)
{
	Oid			caller = GetUserId();

	if (found && may_acknowledge(run, caller))
		return;
	if (found && OidIsValid(run->target) && dq_may_see_rows(run->target, caller))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for gate %s", run->gate),
				 errdetail("Its runs are acknowledged by those who may run it.")));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("run " INT64_FORMAT " does not exist", run->run_id),
			 errhint("The runs are in dq_gate.runs, unless they were purged; each is shown to those who may read all rows of its target.")));
}

static void
refuse_acknowledged(const LoggedRun *run)
{
	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_OBJECT),
			 errmsg("run " INT64_FORMAT " of gate %s is acknowledged already", run->run_id, run->gate),
			 errdetail("%s", run->acknowledged ? run->acknowledged : "By somebody else, just now.")));
}

static void
acknowledge(LoggedRun *run, const char *note)
{
	Oid			types[2] = {INT8OID, TEXTOID};
	Datum		values[2] = {Int64GetDatum(run->run_id)};
	Identity	saved;
	bool		done;

	authorize(run, find_run(run));
	if (!run->attention)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("run " INT64_FORMAT " of gate %s needs no attention", run->run_id, run->gate),
				 errdetail("Its verdict is \"%s\", and there is nothing to acknowledge.", run->verdict),
				 errhint("Those that need it are in dq_gate.unread.")));
	if (run->acknowledged)
		refuse_acknowledged(run);

	values[1] = CStringGetTextDatum(note);
	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	done = dq_execute("INSERT INTO dq_gate.acknowledgements (run_id, note)"
					  " VALUES ($1, $2) ON CONFLICT (run_id) DO NOTHING",
					  2, types, values, NULL, false) > 0;
	dq_resume(&saved);
	if (!done)
	{
		/* somebody was faster */
		(void) find_run(run);
		refuse_acknowledged(run);
	}
}

/*
 * acknowledge(run_id, note) keeps who has looked at the run, when, and what
 * came of it.  Answers with the run_id, so that many can be acknowledged in
 * one query.
 */
Datum
dq_gate_acknowledge(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	LoggedRun	run = {0};

	dq_check_nargs(fcinfo, 2);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"run_id\" must not be NULL")));
	PreventCommandIfReadOnly("an acknowledgement");
	run.run_id = PG_GETARG_INT64(0);

	/* one query may acknowledge many */
	context = AllocSetContextCreate(caller, "dq_gate acknowledge", ALLOCSET_SMALL_SIZES);
	SPI_connect();
	MemoryContextSwitchTo(context);
	acknowledge(&run, dq_required_words(fcinfo, 1, "note"));
	SPI_finish();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	PG_RETURN_INT64(run.run_id);
}
