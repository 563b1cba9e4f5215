/*
 * batch_identity.c
 *		Whether a batch was published before.
 *
 * A batch that its caller names is published once.  Its content is known by a
 * digest that depends on no order of rows or columns and on no setting of the
 * session: a sum over the rows of a hash of each, twice.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "batch_identity.h"
#include "spi_util.h"

/* The run that has published a batch of that name */
typedef struct Earlier
{
	int64		run_id;
	int64		row_count;
	char	   *digest;
	char	   *started_at;
} Earlier;

static int
by_name(const ListCell *a, const ListCell *b)
{
	return strcmp(((StagedColumn *) lfirst(a))->name, ((StagedColumn *) lfirst(b))->name);
}

/* The number of rows in staging, and their digest */
static void
digest_batch(Run *run)
{
	StringInfoData names,
				row;
	List	   *columns = list_copy(run->map->staged);
	Identity	saved;
	ListCell   *lc;

	list_sort(columns, by_name);
	initStringInfo(&names);
	initStringInfo(&row);
	foreach(lc, columns)
	{
		const char *name = quote_identifier(((StagedColumn *) lfirst(lc))->name);

		appendStringInfo(&names, "%s,", name);
		appendStringInfo(&row, "%sstaged.%s", row.len > 0 ? ", " : "", name);
	}

	dq_assume(&saved, run->gate->run_as, PHASE_AUDIT);
	dq_pin_setting("TimeZone", "UTC");
	dq_execute(psprintf("SELECT pg_catalog.count(*), pg_catalog.md5(pg_catalog.concat_ws(' ', %s::pg_catalog.text,"
						" pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashtextextended(row, 0)),"
						" pg_catalog.sum(pg_catalog.hashtextextended(row, 1))))"
						" FROM (SELECT ROW(%s)::pg_catalog.text AS row FROM %s AS staged) AS batch",
						dq_literal(names.data), row.data, run->map->staging_sql),
			   0, NULL, NULL, NULL, true);
	run->row_count = dq_result_int64(0, 1, 0);
	run->content_digest = dq_result_text(0, 2);
	dq_free_result();
	dq_resume(&saved);
}

/* The published batch of that name, NULL if there is none */
static Earlier *
find_earlier(const Run *run)
{
	Oid			types[2] = {REGCLASSOID, TEXTOID};
	Datum		values[2] = {ObjectIdGetDatum(run->map->target), CStringGetTextDatum(run->batch_id)};
	Earlier    *earlier = NULL;
	Identity	saved;

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	if (dq_execute("SELECT run_id, row_count, content_digest, started_at::pg_catalog.text"
				   " FROM dq_gate.runs WHERE target = $1 AND batch_id = $2 AND published"
				   " AND content_digest IS NOT NULL ORDER BY run_id DESC LIMIT 1",
				   2, types, values, NULL, true) > 0)
	{
		earlier = palloc(sizeof(Earlier));
		earlier->run_id = dq_result_int64(0, 1, 0);
		earlier->row_count = dq_result_int64(0, 2, 0);
		earlier->digest = dq_result_text(0, 3);
		earlier->started_at = dq_result_text(0, 4);
	}
	dq_free_result();
	dq_resume(&saved);
	return earlier;
}

/*
 * Whether the batch of a run was published before, under the same name and
 * with the same content.  Staging that was emptied since is no other content.
 * The caller holds the lock of the gate, so that of two who come at once the
 * second one finds what the first one did.
 */
bool
dq_is_repeated(Run *run)
{
	Earlier    *earlier;

	digest_batch(run);
	earlier = find_earlier(run);
	if (earlier == NULL)
		return false;
	if (run->row_count > 0 && strcmp(run->content_digest, earlier->digest) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DQ_BATCH_REUSED),
				 errmsg("gate %s: batch \"%s\" was published before with other content",
						run->gate->name, run->batch_id),
				 errdetail("Run " INT64_FORMAT " published it at %s with " INT64_FORMAT " rows; staging has " INT64_FORMAT " rows now, or others.",
						   earlier->run_id, earlier->started_at, earlier->row_count, run->row_count),
				 errhint("Publish another batch, or a correction of this one, under a batch_id of its own.")));
	run->repeats = earlier->run_id;
	return true;
}
