/*
 * preview.c
 *		What a publish would do, said and not done.
 *
 * The batch is audited, since its checks say which rows are moved out of it,
 * and then joined with the target, once.  Rows are counted where they are read
 * and not kept; all statements see one snapshot.  Nothing is logged.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/jsonb.h"
#include "utils/snapmgr.h"

#include "access.h"
#include "activity.h"
#include "audit.h"
#include "authorize.h"
#include "changes.h"
#include "columns.h"
#include "current_batch.h"
#include "error_context.h"
#include "gate.h"
#include "outcome.h"
#include "preview.h"
#include "run.h"
#include "spi_util.h"
#include "verdict.h"

/* In the order in which they are shown; deleted rows are none of the batch */
static const char *const changes[] = {
	"inserted", "updated", "unchanged", "deleted", "stale", "quarantined", "dropped", "unfit"
};

#define DELETED		3
#define STALE		4

/*
 * The columns that are counted in one pass: an aggregate reads no more than
 * 1664, and each of them is there twice, as it is and as it would be.
 */
#define COLUMNS_PER_PASS	400

/* What one pass adds up, and the rows that it is for */
typedef struct Pass
{
	StringInfoData sql;
	List	   *rows;
} Pass;

static Pass *
new_pass(void)
{
	Pass	   *pass = palloc0(sizeof(Pass));

	initStringInfo(&pass->sql);
	return pass;
}

/* Count the rows for which the condition holds, and take a sample of them with these values */
static void
add_count(Pass *pass, PreviewRow *row, const char *condition, List *names, List *values,
		  int samples)
{
	appendStringInfo(&pass->sql, "%spg_catalog.count(*) FILTER (WHERE %s), %s",
					 pass->rows == NIL ? "" : ", ", condition,
					 dq_sample_sql(names, values, samples, condition));
	pass->rows = lappend(pass->rows, row);
}

static void
run_pass(const Pass *pass, const char *from)
{
	int			column = 1;
	ListCell   *lc;

	CHECK_FOR_INTERRUPTS();
	dq_execute(psprintf("SELECT %s FROM %s", pass->sql.data, from), 0, NULL, NULL, NULL, true);
	foreach(lc, pass->rows)
	{
		PreviewRow *row = lfirst(lc);
		bool		isnull;
		Datum		sample;

		row->row_count = dq_result_int64(0, column++, 0);
		sample = dq_result_datum(0, column++, &isnull);
		row->sample = isnull ? NULL : DatumGetJsonbPCopy(sample);
	}
	dq_free_result();
}

static PreviewRow *
new_row(const char *change, char *column_name)
{
	PreviewRow *row = palloc0(sizeof(PreviewRow));

	row->change = change;
	row->column_name = column_name;
	return row;
}

/* A sample of a column shows the key, and the value as it is and as it comes */
static void
add_column(Pass *pass, PreviewRow *row, const ColumnMap *map, char *name, const char *condition,
		   int samples)
{
	List	   *names = dq_column_names(dq_naming_columns(map));
	List	   *values = dq_qualified(names, "target");
	List	   *column = list_make1(name);

	names = lappend(names, dq_free_name("old", names));
	names = lappend(names, dq_free_name("new", names));
	values = list_concat(values, dq_qualified(column, "target"));
	values = list_concat(values, dq_qualified(column, "batch"));
	add_count(pass, row, condition, names, values, samples);
}

/* Rows of the batch that share what becomes of them */
static void
add_rows(Pass *pass, PreviewRow *row, const ColumnMap *map, const Outcome *outcome, int samples)
{
	const char *change = row->change;
	char	   *condition = psprintf("outcome.change = %s", dq_literal(change));
	List	   *names = dq_column_names(dq_naming_columns(map));
	List	   *values = dq_qualified(names, "batch");

	if (strcmp(change, "stale") == 0 && map->gate->only_if_newer)
	{
		add_column(pass, row, map, map->gate->only_if_newer, condition, samples);
		return;
	}
	if (strcmp(change, "unchanged") == 0 || strcmp(change, "stale") == 0)
		samples = 0;
	else if (strcmp(change, "inserted") == 0)
	{
		names = dq_column_names(dq_shown_columns(map));
		values = dq_qualified(names, "batch");
	}
	else if (strcmp(change, "updated") != 0 && map->key != NIL)
		values = dq_qualified(outcome->staged_key, "batch");
	add_count(pass, row, condition, names, values, samples);
}

/* Count the rows of the batch, and the values that change */
static List *
count_batch(const ColumnMap *map, const Outcome *outcome, int samples, List **columns)
{
	List	   *rows = NIL;
	Pass	   *pass = new_pass();
	ListCell   *lc;

	for (int i = 0; i < (int) lengthof(changes); i++)
	{
		if (i == DELETED)
			continue;
		rows = lappend(rows, new_row(changes[i], NULL));
		add_rows(pass, llast(rows), map, outcome, samples);
	}
	*columns = NIL;
	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (!outcome->updated || !dq_is_updated(map, column))
			continue;
		if (list_length(pass->rows) >= COLUMNS_PER_PASS)
		{
			run_pass(pass, outcome->rows);
			pass = new_pass();
		}
		*columns = lappend(*columns, new_row("updated", column->name));
		add_column(pass, llast(*columns), map, column->name,
				   psprintf("outcome.change = 'updated' AND %s", dq_column_changed_sql(column)), samples);
	}
	run_pass(pass, outcome->rows);
	return rows;
}

/* Count the rows of the target that go */
static PreviewRow *
count_deleted(const ColumnMap *map, const Outcome *outcome, int samples)
{
	PreviewRow *row = new_row(changes[DELETED], NULL);
	List	   *shown = dq_column_names(dq_shown_columns(map));
	Pass	   *pass = new_pass();

	if (outcome->deleted == NULL)
		return row;
	add_count(pass, row, "true", shown, dq_qualified(shown, "target"), samples);
	run_pass(pass, outcome->deleted);
	return row;
}

/* What foresee works on */
typedef struct Foresight
{
	Run		   *run;
	int			samples;
	List	   *rows;			/* of PreviewRow * */
} Foresight;

/* What the audited run would do, as rows to be shown */
static void
foresee(void *arg)
{
	Foresight  *foresight = arg;
	Run		   *run = foresight->run;
	int			samples = foresight->samples;
	const ColumnMap *map = run->map;
	Outcome    *outcome = dq_outcome(map, dq_moved_sql(run, DQ_QUARANTINE), dq_moved_sql(run, DQ_DROP));
	List	   *rows;
	List	   *columns;
	ListCell   *lc;
	Identity	saved;

	/* a value is shown to nobody where the gate keeps none */
	if (!run->gate->samples || run->veiled)
		samples = 0;
	dq_assume(&saved, run->gate->run_as, PHASE_AUDIT);
	dq_pin_batch(run);
	rows = count_batch(map, outcome, samples, &columns);
	rows = list_insert_nth(rows, DELETED, count_deleted(map, outcome, samples));
	dq_resume(&saved);

	/* those that the batch has a later row of are stale as well */
	((PreviewRow *) list_nth(rows, STALE))->row_count += run->stale;
	foreach(lc, columns)
	{
		if (((PreviewRow *) lfirst(lc))->row_count > 0)
			rows = lappend(rows, lfirst(lc));
	}
	foresight->rows = rows;
}

/* Whether no row is left to be published, which rejects the batch */
static bool
is_emptied(const Run *run, List *rows)
{
	int64		left = run->row_count - run->stale;
	ListCell   *lc;

	foreach(lc, rows)
	{
		PreviewRow *row = lfirst(lc);

		if (strcmp(row->change, "quarantined") == 0 || strcmp(row->change, "dropped") == 0)
			left -= row->row_count;
	}
	return run->row_count > 0 && left == 0;
}

/*
 * Say what a publish of the batch would do now.  The caller has set what it
 * knows of the batch, and is connected to SPI.  Returns a list of PreviewRow;
 * the run knows what its checks have found.
 */
List *
dq_preview(Run *run, Oid staging, Oid target, int samples)
{
	Foresight	foresight = {run, samples, NIL};
	DqErrorContext context;

	run->dry_run = true;
	dq_check_target(target);
	dq_push_context(&context, "gate %s", dq_relation_sql(target));
	dq_prepare_run(run, staging, target);
	/* unlike an audit, it always reads the target */
	dq_authorize_reading(run->gate, target);

	dq_activity_phase(run, RUN_AUDITING);
	PushActiveSnapshot(GetTransactionSnapshot());
	dq_audit(run);
	dq_judge_run(run);
	dq_run_veiled(run->veiled, foresee, &foresight, run->gate, run->caller);
	PopActiveSnapshot();
	dq_activity_end(run);
	if (dq_moves_rows(run) && is_emptied(run, foresight.rows))
		dq_reject_emptied(run);
	dq_pop_context(&context);
	return foresight.rows;
}
