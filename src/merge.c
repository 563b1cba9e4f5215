/*
 * merge.c
 *		Run a statement that changes the target and learn what it did.
 *
 * The counts are those of the server: the executor's state of the statement
 * holds them when it finishes.  The hooks look at a statement only while
 * "current" says that it is ours; dq_execute_change sets it around its one call
 * of SPI.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"

#include "merge.h"
#include "spi_util.h"

typedef struct OurChange
{
	const char *sql;
	const char *search_path;
	ChangeCounts *counts;
} OurChange;

static OurChange *current = NULL;
static ExecutorStart_hook_type previous_start = NULL;
static ExecutorFinish_hook_type previous_finish = NULL;

static bool
is_our_change(const QueryDesc *query)
{
	return current != NULL && query->operation != CMD_UTILITY &&
		query->sourceText != NULL && strcmp(query->sourceText, current->sql) == 0;
}

/*
 * Rows that match and do not change are counted by nobody unless asked to.
 * And from here on, with every name of ours resolved, the search_path is the
 * caller's again: triggers find what they find with any other statement.
 */
static void
count_start(QueryDesc *query, int eflags)
{
	if (is_our_change(query))
	{
		query->instrument_options |= INSTRUMENT_ROWS;
		dq_pin_setting("search_path", current->search_path);
	}
	if (previous_start)
		previous_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

static void
count_finish(QueryDesc *query)
{
	if (previous_finish)
		previous_finish(query);
	else
		standard_ExecutorFinish(query);

	if (is_our_change(query) && IsA(query->planstate, ModifyTableState))
	{
		ModifyTableState *state = (ModifyTableState *) query->planstate;
		Instrumentation *instrument = outerPlanState(state)->instrument;
		ChangeCounts *counts = current->counts;

		if (instrument == NULL)
			return;
		counts->known = true;
		counts->processed = (int64) (instrument->ntuples + instrument->tuplecount);
		if (query->operation == CMD_MERGE)
		{
			counts->inserted = (int64) state->mt_merge_inserted;
			counts->updated = (int64) state->mt_merge_updated;
		}
		else if (query->operation == CMD_INSERT)
			counts->inserted = counts->processed;
	}
}

void
dq_install_merge_hooks(void)
{
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = count_start;
	previous_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = count_finish;
}

/*
 * Run the statement; its triggers see the given search_path, and nothing that
 * comes after it does.
 */
void
dq_execute_change(const char *sql, const char *search_path, ChangeCounts *counts)
{
	OurChange	ours = {sql, search_path, counts};
	OurChange   *outer = current;	/* a trigger may publish as well */

	current = &ours;
	PG_TRY();
	{
		counts->written = dq_execute(sql, 0, NULL, NULL, NULL, false);
		dq_pin_search_path();
	}
	PG_FINALLY();
	{
		current = outer;
	}
	PG_END_TRY();
}
