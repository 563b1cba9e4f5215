/*
 * calibrate.c
 *		Thresholds by what earlier batches measured.
 *
 * What a check measured in the baselines has a low and a high percentile; the
 * bounds that it was declared with are moved there.  A bound that was left
 * open stays open, and a check without a tolerance gets none: where there is
 * no threshold, somebody wanted none.  The check is declared anew as an import
 * does it, by its arguments.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "apply.h"
#include "authorize.h"
#include "declare.h"
#include "definition.h"
#include "error_context.h"
#include "exchange.h"
#include "gate.h"
#include "history.h"
#include "kinds/kinds.h"
#include "spi_util.h"

/* Fewer runs tell nothing */
#define MIN_RUNS	10

/* The checks that have a threshold; one whose other table is gone cannot be declared again */
#define CALIBRATED_SQL \
	"(c.check_type IN ('row_count', 'aggregate', 'distinct', 'volume') OR c.max_rate IS NOT NULL)" \
	" AND (c.ref_table IS NOT NULL OR NOT c.arguments OPERATOR(pg_catalog.?|) " DQ_TABLE_ARGUMENTS ")"


/* The thresholds of each kind; of NULL, any kind about rows */
typedef struct Threshold
{
	const CheckKind *kind;
	const char *argument;
	bool		is_high;
	const char *rounded;		/* outwards, lest it fail what it was made from */
} Threshold;

static const Threshold thresholds[] = {
	{&dq_kind_row_count, "min", false, "pg_catalog.floor(p.value)"},
	{&dq_kind_row_count, "max", true, "pg_catalog.ceil(p.value)"},
	{&dq_kind_distinct, "min", false, "pg_catalog.floor(p.value)"},
	{&dq_kind_distinct, "max", true, "pg_catalog.ceil(p.value)"},
	{&dq_kind_aggregate, "min", false, "pg_catalog.floor(p.value / u.unit) * u.unit"},
	{&dq_kind_aggregate, "max", true, "pg_catalog.ceil(p.value / u.unit) * u.unit"},
	{&dq_kind_volume, "min_ratio", false, "pg_catalog.floor(p.value * 100) / 100"},
	{&dq_kind_volume, "max_ratio", true, "pg_catalog.ceil(p.value * 100) / 100"},
	{NULL, "max_rate", true, "pg_catalog.ceil(p.value * 10000) / 10000"},
};

typedef struct Calibration
{
	Gate	   *gate;
	double		low;
	double		high;
	int			runs;
	List	   *proposals;		/* of Proposal * */
} Calibration;

typedef struct Proposal
{
	const CheckDefinition *check;
	const char *argument;
	char	   *current;
	char	   *proposed;
	char	   *evidence;
	char	   *statement;
} Proposal;

static bool
concerns(const Threshold *threshold, const CheckDefinition *check)
{
	const CheckKind *kind = dq_find_kind(check->kind);

	return threshold->kind ? kind == threshold->kind : kind->rows;
}

static const char *
text_of(const CheckDefinition *check, const char *name, const char *otherwise)
{
	const Setting *setting = dq_find_setting(check->settings, name);

	return setting && setting->json_type != jbvNull ? setting->text : otherwise;
}

/*
 * What the check measured in the last runs $1 that are baselines, at most $4
 * of them: a ratio for a volume, by the batches that it is compared with.
 */
static char *
measured_sql(const CheckDefinition *check)
{
	const char *size;

	if (strcmp(check->kind, dq_kind_volume.name) != 0)
		return "SELECT s.measured FROM b JOIN dq_gate.results AS s ON s.run_id = b.run_id"
			" WHERE s.check_name = $2 AND s.measured NOT IN ('NaN', 'Infinity', '-Infinity')";
	size = text_of(check, "history", "14");
	return psprintf("SELECT b.row_count / m.median FROM b,"
					" LATERAL (SELECT pg_catalog.count(*), pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY h.row_count)"
					" FROM (SELECT r.row_count FROM dq_gate.runs AS r WHERE r.target = $1 AND r.baseline"
					" AND r.batch_time < b.batch_time AND r.row_count IS NOT NULL AND %s"
					" ORDER BY r.batch_time DESC, r.run_id DESC LIMIT %s) AS h) AS m (size, median)"
					" WHERE m.size >= %s AND m.median > 0",
					dq_grouping_condition(text_of(check, "by", "batches"), "b.batch_time", size),
					size, text_of(check, "min_history", "5"));
}

/*
 * Propose another value for a threshold, NULL where there is too little to go
 * by or nothing to change.
 */
static Proposal *
propose(const Calibration *calibration, const CheckDefinition *check, const Threshold *threshold,
		const char *current)
{
	Oid			types[5] = {REGCLASSOID, TEXTOID, FLOAT8OID, INT4OID, TEXTOID};
	Datum		values[5];
	double		fraction = threshold->is_high ? calibration->high : calibration->low;
	Proposal   *proposal = NULL;
	Identity	saved;

	values[0] = ObjectIdGetDatum(calibration->gate->target);
	values[1] = CStringGetTextDatum(check->name);
	values[2] = Float8GetDatum(fraction);
	values[3] = Int32GetDatum(calibration->runs);
	values[4] = CStringGetTextDatum(current);

	dq_assume(&saved, dq_extension_owner(), PHASE_LOG);
	if (dq_execute(psprintf("WITH b AS (SELECT r.run_id, r.batch_time, r.row_count FROM dq_gate.runs AS r"
							" WHERE r.target = $1 AND r.baseline ORDER BY r.batch_time DESC, r.run_id DESC LIMIT $4),"
							" v (value) AS (%s),"
							" p AS (SELECT pg_catalog.count(*) AS runs, pg_catalog.min(v.value) AS low, pg_catalog.max(v.value) AS high,"
							" (pg_catalog.percentile_cont($3) WITHIN GROUP (ORDER BY v.value))::pg_catalog.numeric AS value FROM v),"
							/* that many digits */
							" u AS (SELECT COALESCE(('1e' || pg_catalog.floor(pg_catalog.log(pg_catalog.abs(NULLIF(p.value, 0)))) - 5)::pg_catalog.numeric, 1) AS unit FROM p),"
							" t AS (SELECT pg_catalog.trim_scale(%s) AS threshold FROM p, u)"
							" SELECT t.threshold::pg_catalog.text,"
							" pg_catalog.format('the %%s of %%s runs, which measured %%s', CASE $3 WHEN 0 THEN 'smallest' WHEN 1 THEN 'largest'"
							" ELSE pg_catalog.trim_scale(($3 * 100)::pg_catalog.numeric) || '%% percentile' END, p.runs,"
							" pg_catalog.concat_ws(' to ', p.low, NULLIF(p.high, p.low)))"
							" FROM p, t WHERE p.runs >= %d AND t.threshold <> $5::pg_catalog.numeric",
							measured_sql(check), threshold->rounded, MIN_RUNS),
				   lengthof(types), types, values, NULL, false) > 0)
	{
		proposal = palloc0(sizeof(Proposal));
		proposal->check = check;
		proposal->argument = threshold->argument;
		proposal->current = pstrdup(current);
		proposal->proposed = dq_result_text(0, 1);
		proposal->evidence = dq_result_text(0, 2);
	}
	dq_free_result();
	dq_resume(&saved);
	return proposal;
}

/* Whether a check can tolerate that much: a level that blocks has to be above */
static bool
is_possible(const CheckDefinition *check, const Proposal *proposal)
{
	double		level = strtod(text_of(check, "block_above", "0"), NULL);

	return strcmp(proposal->argument, "max_rate") != 0 || level <= 0 || level >= 1 ||
		strtod(proposal->proposed, NULL) < level;
}

/* The check with another value for an argument */
static void
set_argument(CheckDefinition *check, const char *name, char *text)
{
	Setting    *setting = unconstify(Setting *, dq_find_setting(check->settings, name));

	setting->json_type = jbvNumeric;
	setting->text = text;
}

/* The statements that declare the check anew, for people to read */
static char *
statement(const Gate *gate, const CheckDefinition *check)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT dq_gate.drop_check(%s, %s); SELECT %s(%s, name => %s",
					 dq_literal(gate->name), dq_literal(check->name),
					 quote_qualified_identifier(DQ_SCHEMA, psprintf("expect_%s", check->kind)),
					 dq_literal(gate->name), dq_literal(check->name));
	foreach(lc, check->settings)
	{
		const Setting *setting = lfirst(lc);
		bool		is_bare = setting->json_type == jbvNumeric || setting->json_type == jbvBool;

		appendStringInfo(&buf, ", %s => %s", quote_identifier(setting->name),
						 is_bare ? setting->text : dq_setting_sql(setting));
	}
	appendStringInfoString(&buf, ");");
	return buf.data;
}

/* Move the thresholds of a check; whether that changes any */
static bool
calibrate_check(Calibration *calibration, CheckDefinition *check)
{
	int			first = list_length(calibration->proposals);
	char	   *text;

	for (int i = 0; i < (int) lengthof(thresholds); i++)
	{
		const char *current = concerns(&thresholds[i], check) ?
			text_of(check, thresholds[i].argument, NULL) : NULL;
		Proposal   *proposal;

		if (current == NULL)
			continue;
		proposal = propose(calibration, check, &thresholds[i], current);
		if (proposal == NULL || !is_possible(check, proposal))
			continue;
		set_argument(check, proposal->argument, proposal->proposed);
		calibration->proposals = lappend(calibration->proposals, proposal);
	}
	if (list_length(calibration->proposals) == first)
		return false;

	text = statement(calibration->gate, check);
	for (int i = first; i < list_length(calibration->proposals); i++)
		((Proposal *) list_nth(calibration->proposals, i))->statement = text;
	return true;
}

static void
calibrate_gate(Calibration *calibration, Oid target, bool apply)
{
	GateDefinition *definition;
	DqErrorContext context;
	ListCell   *lc;

	dq_check_target(target);
	calibration->gate = apply ? dq_open_gate(target) : dq_resolve_gate(target);
	dq_authorize_look(calibration->gate);
	/* what it proposes is what was measured */
	dq_authorize_values(calibration->gate, GetUserId());
	dq_push_context(&context, "calibrating gate %s", calibration->gate->name);
	definition = dq_read_definition(dq_gate_document(calibration->gate, CALIBRATED_SQL));
	foreach(lc, definition->checks)
	{
		CheckDefinition *check = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (calibrate_check(calibration, check) && apply)
			dq_redeclare_check(target, check);
	}
	dq_pop_context(&context);
}

PG_FUNCTION_INFO_V1(dq_gate_calibrate);

/*
 * calibrate(target, apply, low, high, runs) proposes thresholds for the
 * declared checks, or declares the checks anew with them.
 */
Datum
dq_gate_calibrate(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"target", "apply", "low", "high", "runs"};
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext caller = CurrentMemoryContext;
	Calibration calibration = {0};
	ListCell   *lc;

	dq_check_nargs(fcinfo, lengthof(names));
	for (int i = 0; i < (int) lengthof(names); i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not be NULL", names[i])));
	}
	calibration.low = PG_GETARG_FLOAT8(2);
	calibration.high = PG_GETARG_FLOAT8(3);
	calibration.runs = PG_GETARG_INT32(4);
	if (!(calibration.low >= 0 && calibration.low < calibration.high && calibration.high <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"low\" and \"high\" must be from 0 to 1, and \"low\" below \"high\"")));
	if (calibration.runs < MIN_RUNS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"runs\" must be at least %d", MIN_RUNS)));

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	MemoryContextSwitchTo(caller);
	calibrate_gate(&calibration, PG_GETARG_OID(0), PG_GETARG_BOOL(1));
	SPI_finish();

	MemoryContextSwitchTo(caller);
	foreach(lc, calibration.proposals)
	{
		Proposal   *proposal = lfirst(lc);
		Datum		values[6];
		bool		nulls[6] = {false};

		values[0] = CStringGetTextDatum(proposal->check->name);
		values[1] = CStringGetTextDatum(proposal->argument);
		values[2] = CStringGetTextDatum(proposal->current);
		values[3] = CStringGetTextDatum(proposal->proposed);
		values[4] = CStringGetTextDatum(proposal->evidence);
		values[5] = CStringGetTextDatum(proposal->statement);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
