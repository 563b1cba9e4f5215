/*
 * batch.c
 *		Kinds that look at the batch as a whole: is there anything, and does
 *		it have the columns that the target wants?
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "kinds/kinds.h"
#include "spi_util.h"

static void
not_empty_compile(Check *check, const ColumnMap *map)
{
	check->rule = "at least 1 row";
}

static void
not_empty_judge(CheckResult *result, const ColumnMap *map, int64 row_count)
{
	result->expected = result->check->rule;
	result->actual = psprintf(INT64_FORMAT " row%s", row_count, row_count == 1 ? "" : "s");
	result->threshold = "1 row";
	if (row_count > 0)
	{
		result->status = DQ_PASSED;
		return;
	}
	result->status = DQ_FAILED;
	result->message = "the batch has no rows";
	result->failure = result->message;
}

const CheckKind dq_kind_not_empty = {
	.name = "not_empty",
	.evaluation = EVAL_STATIC,
	.actions = DQ_BATCH_ACTION,
	.compile = not_empty_compile,
	.judge = not_empty_judge,
};

static void
schema_contract_compile(Check *check, const ColumnMap *map)
{
	const Gate *gate = map->gate;
	const char *extra = "staged columns exist in the target";

	switch ((DqNewColumn) gate->on_new_column)
	{
		case DQ_NEW_FAIL:
			break;
		case DQ_NEW_IGNORE:
			extra = "staged columns exist in the target or are ignored";
			break;
		case DQ_NEW_RESCUE:
			extra = psprintf("staged columns exist in the target or are kept in %s",
							 quote_identifier(gate->rescue_column));
			break;
		case DQ_NEW_EVOLVE:
			extra = "staged columns exist in the target or are added to it";
			break;
	}
	check->rule = psprintf("%s, with types that it takes%s; %s columns are staged", extra,
						   gate->on_type_change == DQ_TYPE_WIDEN ? " or is widened to" : "",
						   gate->on_missing_column == DQ_MISSING_FAIL ? "all" : "required");
}

/* Append to a list in words: "a, b" */
static void
append_item(StringInfo buf, const char *format, const char *name,
			const char *from, const char *to)
{
	if (buf->len > 0)
		appendStringInfoString(buf, ", ");
	appendStringInfo(buf, format, quote_identifier(name), from, to);
}

/* Append a sentence about a list, if there is anything in it */
static void
append_sentence(StringInfo buf, const char *words, const StringInfo list)
{
	if (list->len == 0)
		return;
	if (buf->len > 0)
		appendStringInfoString(buf, "; ");
	appendStringInfo(buf, "%s: %s", words, list->data);
}

/* What there is to say of the columns, each a list in words */
typedef struct Findings
{
	/* at fault */
	StringInfoData extra;
	StringInfoData refused;
	StringInfoData required;
	StringInfoData missing;
	StringInfoData impossible;
	int			faults;

	/* worth knowing */
	StringInfoData provided;
	StringInfoData widened;
	StringInfoData unwidened;
	StringInfoData generated;
	StringInfoData optional;
	StringInfoData identity;
} Findings;

/* Staged columns that the target lacks */
static void
find_new_columns(Findings *found, const ColumnMap *map)
{
	ListCell   *lc;

	foreach(lc, map->staged)
	{
		StagedColumn *staged = lfirst(lc);

		if (staged->in_target)
			continue;
		if (staged->refusal)
			append_item(&found->refused, "%s (%s)", staged->name, staged->refusal, NULL);
		else if (staged->provided)
			append_item(&found->provided, "%s", staged->name, NULL, NULL);
		else
			append_item(&found->extra, "%s", staged->name, NULL, NULL);
		found->faults += staged->refusal || !staged->provided;
	}
}

/* A column of the target that is not staged */
static void
find_missing_column(Findings *found, const ColumnMap *map, const Column *column)
{
	const Gate *gate = map->gate;

	if (column->notnull && !column->has_default && column->identity == '\0')
	{
		append_item(&found->required, "%s", column->name, NULL, NULL);
		found->faults++;
	}
	/* the target numbers its rows itself, and the gate fills its own column */
	else if (gate->on_missing_column == DQ_MISSING_FAIL && column->identity == '\0' &&
			 (gate->rescue_column == NULL || strcmp(gate->rescue_column, column->name) != 0))
	{
		append_item(&found->missing, "%s", column->name, NULL, NULL);
		found->faults++;
	}
	else
		append_item(&found->optional, "%s", column->name, NULL, NULL);
}

/* A column of the target that is */
static void
find_staged_column(Findings *found, const Column *column)
{
	char	   *from = format_type_with_typemod(column->staged_typid, column->staged_typmod);
	char	   *to = format_type_with_typemod(column->typid, column->typmod);

	if (column->fit == FIT_NEVER)
	{
		append_item(&found->impossible, "%s (%s to %s)", column->name, from, to);
		found->faults++;
		return;
	}
	if (OidIsValid(column->old_typid))
		append_item(&found->widened, "%s (%s to %s)", column->name,
					format_type_with_typemod(column->old_typid, column->old_typmod), to);
	if (column->unwidened)
		append_item(&found->unwidened, "%s (%s: %s)", column->name, to, column->unwidened);
	if (column->identity != '\0')
		append_item(&found->identity, "%s", column->name, NULL, NULL);
}

static void
find_columns(Findings *found, const ColumnMap *map)
{
	ListCell   *lc;
	ListCell   *sc;

	foreach(lc, map->columns)
	{
		Column	   *column = lfirst(lc);

		if (column->generated != '\0')
		{
			foreach(sc, map->staged)
			{
				if (strcmp(((StagedColumn *) lfirst(sc))->name, column->name) == 0)
					append_item(&found->generated, "%s", column->name, NULL, NULL);
			}
		}
		else if (!column->staged)
			find_missing_column(found, map, column);
		else if (!column->added)
			find_staged_column(found, column);
	}
}

/* What becomes of the columns that the target lacks, in words */
static char *
provision(const Gate *gate, bool refused)
{
	switch ((DqNewColumn) gate->on_new_column)
	{
		case DQ_NEW_RESCUE:
			return psprintf(refused ? "staged columns that cannot be kept in %s" :
							"staged columns that the target lacks, kept in %s",
							quote_identifier(gate->rescue_column));
		case DQ_NEW_EVOLVE:
			return refused ? "staged columns that cannot be added to the target" :
				"staged columns that the target lacks, to be added";
		default:
			return "staged columns that the target lacks, ignored";
	}
}

/*
 * What breaks the contract fails the batch; what is only worth knowing, such
 * as an optional column that is not staged, is in the message all the same.
 */
static void
schema_contract_judge(CheckResult *result, const ColumnMap *map, int64 row_count)
{
	Findings	found = {0};
	StringInfo	lists[] = {&found.extra, &found.refused, &found.required, &found.missing,
	&found.impossible, &found.provided, &found.widened, &found.unwidened, &found.generated,
	&found.optional, &found.identity};
	StringInfoData text;

	for (int i = 0; i < (int) lengthof(lists); i++)
		initStringInfo(lists[i]);
	initStringInfo(&text);
	find_new_columns(&found, map);
	find_columns(&found, map);

	append_sentence(&text, "staged columns that the target lacks", &found.extra);
	append_sentence(&text, provision(map->gate, true), &found.refused);
	append_sentence(&text, "required columns that are not staged", &found.required);
	append_sentence(&text, "columns that are not staged", &found.missing);
	append_sentence(&text, "types that cannot be converted", &found.impossible);

	result->expected = result->check->rule;
	result->threshold = "0 columns";
	result->actual = psprintf("%d column%s at fault", found.faults, found.faults == 1 ? "" : "s");
	result->status = found.faults > 0 ? DQ_FAILED : DQ_PASSED;
	if (found.faults > 0)
		result->failure = pstrdup(text.data);

	append_sentence(&text, provision(map->gate, false), &found.provided);
	append_sentence(&text, "staged with a wider type, which the target takes", &found.widened);
	append_sentence(&text, "staged with a wider type, which the target cannot take", &found.unwidened);
	append_sentence(&text, "generated by the target, staged values ignored", &found.generated);
	append_sentence(&text, "not staged, so left as they are and defaulted in new rows", &found.optional);
	append_sentence(&text, "identity values taken from staging, the sequence is not advanced", &found.identity);
	result->message = text.len > 0 ? text.data : NULL;
}

const CheckKind dq_kind_schema_contract = {
	.name = "schema_contract",
	.evaluation = EVAL_STATIC,
	.actions = DQ_BATCH_ACTION,
	.compile = schema_contract_compile,
	.judge = schema_contract_judge,
};
