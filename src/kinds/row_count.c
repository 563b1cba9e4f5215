/*
 * row_count.c
 *		How many rows a batch has.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "declare.h"
#include "kinds/kinds.h"
#include "params.h"

static void
row_count_compile(Check *check, const ColumnMap *map)
{
	check->rule = psprintf("number of rows %s",
						   dq_bounds_words(dq_param(check->params, "min"),
										   dq_param(check->params, "max")));
}

static void
row_count_judge(CheckResult *result, const ColumnMap *map, int64 row_count)
{
	char	   *min = dq_param(result->check->params, "min");
	char	   *max = dq_param(result->check->params, "max");

	result->threshold = dq_bounds_words(min, max);
	result->measured = (double) row_count;
	result->actual = psprintf(INT64_FORMAT " row%s", row_count, row_count == 1 ? "" : "s");
	if ((min == NULL || row_count >= pg_strtoint64(min)) &&
		(max == NULL || row_count <= pg_strtoint64(max)))
	{
		result->status = DQ_PASSED;
		return;
	}
	result->status = DQ_FAILED;
	result->message = psprintf("%s, not %s", result->actual, result->threshold);
	result->failure = result->message;
}

const CheckKind dq_kind_row_count = {
	.name = "row_count",
	.evaluation = EVAL_STATIC,
	.actions = DQ_BATCH_ACTION,
	.filters = true,
	.observes_counts = true,
	.observes_number = true,
	.compile = row_count_compile,
	.judge = row_count_judge,
};

PG_FUNCTION_INFO_V1(dq_gate_expect_row_count);

/*
 * expect_row_count(target, min, max, and the common arguments) declares how
 * many rows a batch has.
 */
Datum
dq_gate_expect_row_count(PG_FUNCTION_ARGS)
{
	Declaration *decl = dq_begin_declaration(fcinfo, 0, &dq_kind_row_count);

	dq_declare_bounds(decl,
					  PG_ARGISNULL(1) ? NULL : psprintf(INT64_FORMAT, PG_GETARG_INT64(1)),
					  PG_ARGISNULL(2) ? NULL : psprintf(INT64_FORMAT, PG_GETARG_INT64(2)));
	dq_declare_common(fcinfo, 3, decl);
	return dq_finish_declaration(fcinfo, decl);
}
