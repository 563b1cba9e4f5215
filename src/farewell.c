/*
 * farewell.c
 *		What DROP EXTENSION takes and what it leaves, said before it happens.
 *
 * An event trigger is the only place where that can be said: afterwards there
 * is nothing left of dq_gate that could.
 */
#include "postgres.h"

#include "commands/event_trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"

#include "spi_util.h"

/* How many tables are named */
#define SHOWN_TABLES	"10"

PG_FUNCTION_INFO_V1(dq_gate_say_what_stays);

/* Whether a command is a DROP EXTENSION that names dq_gate */
static bool
drops_dq_gate(Node *command)
{
	DropStmt   *drop = (DropStmt *) command;
	ListCell   *lc;

	if (!IsA(command, DropStmt) || drop->removeType != OBJECT_EXTENSION)
		return false;
	foreach(lc, drop->objects)
	{
		if (strcmp(strVal(lfirst(lc)), "dq_gate") == 0)
			return true;
	}
	return false;
}

/* The tables that keep rejected rows, as text; NULL if there are none */
static char *
quarantine_tables(void)
{
	char	   *tables;
	Identity	saved;

	dq_assume(&saved, GetUserId(), PHASE_AUDIT);
	dq_execute("SELECT CASE WHEN pg_catalog.count(*) > " SHOWN_TABLES
			   " THEN pg_catalog.format('%s tables, such as ', pg_catalog.count(*)) ELSE '' END"
			   " || pg_catalog.string_agg(k.name, ', ' ORDER BY k.no) FILTER (WHERE k.no <= " SHOWN_TABLES ")"
			   " FROM (SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name,"
			   " pg_catalog.row_number() OVER (ORDER BY c.relname) AS no"
			   " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
			   " WHERE n.nspname = '" DQ_QUARANTINE_SCHEMA "' AND c.relkind IN ('r', 'p')) AS k",
			   0, NULL, NULL, NULL, true);
	tables = dq_result_text(0, 1);
	dq_free_result();
	dq_resume(&saved);
	return tables;
}

/*
 * say_what_stays() is the event trigger on DROP EXTENSION.
 */
Datum
dq_gate_say_what_stays(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	char	   *tables;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("not called by event trigger manager")));
	if (!drops_dq_gate(((EventTriggerData *) fcinfo->context)->parsetree))
		PG_RETURN_NULL();

	SPI_connect();
	MemoryContextSwitchTo(caller);
	tables = quarantine_tables();
	ereport(NOTICE,
			(errmsg("gates, checks and the log go with dq_gate; targets, staging tables and rejected rows stay"),
			 tables ? errdetail("Rejected rows are in %s.", tables) : 0,
			 tables ? errhint("When they are of no use any more, DROP SCHEMA " DQ_QUARANTINE_SCHEMA " CASCADE.") : 0));
	SPI_finish();
	MemoryContextSwitchTo(caller);
	PG_RETURN_NULL();
}
