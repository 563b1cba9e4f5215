/*
 * totals.c
 *		Numbers that a batch is checked against: its rows, and sums of columns.
 *
 * They travel as one jsonb of texts, whose names are those of the columns;
 * they are compared as numerics.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "columns.h"
#include "kinds/totals.h"
#include "spi_util.h"

/*
 * The totals of the rows that a condition picks of what goes by the alias
 * "batch", as text.
 */
char *
dq_totals_sql(List *names, const char *picked)
{
	StringInfoData keys;
	StringInfoData values;
	ListCell   *lc;

	initStringInfo(&keys);
	initStringInfo(&values);
	appendStringInfoString(&keys, dq_literal(DQ_ROW_COUNT));
	appendStringInfo(&values, "pg_catalog.count(*) FILTER (WHERE %s)::pg_catalog.text", picked);
	foreach(lc, names)
	{
		appendStringInfo(&keys, ", %s", dq_literal(lfirst(lc)));
		appendStringInfo(&values, ", COALESCE(pg_catalog.sum(batch.%s) FILTER (WHERE %s)::pg_catalog.numeric, 0)::pg_catalog.text",
						 quote_identifier(lfirst(lc)), picked);
	}
	return psprintf("pg_catalog.jsonb_object(ARRAY[%s], ARRAY[%s])::pg_catalog.text",
					keys.data, values.data);
}

/*
 * A subquery that compares the totals given as $2 with others, a jsonb: one
 * row (differs, actual, finding), the last NULL where nothing differs.  A total
 * that is wanted but missing differs.
 */
char *
dq_differences_sql(List *names, const char *wanted, const char *tolerance)
{
	return psprintf("(SELECT pg_catalog.count(*) FILTER (WHERE c.differs) > 0,"
					" pg_catalog.string_agg(pg_catalog.format('%%s %%s', c.name, c.got), ', ' ORDER BY c.no),"
					" pg_catalog.string_agg(pg_catalog.format('%%s %%s, not %%s', c.name, c.got, COALESCE(c.wanted::pg_catalog.text, 'known')), '; ' ORDER BY c.no)"
					" FILTER (WHERE c.differs) FROM (SELECT n.no, n.name, v.got, v.wanted,"
					" (pg_catalog.abs(v.got - v.wanted) <= CASE WHEN n.name = %1$s THEN 0 ELSE %2$s::pg_catalog.numeric END) IS NOT TRUE AS differs"
					" FROM pg_catalog.unnest(%3$s::pg_catalog.text[]) WITH ORDINALITY AS n (name, no),"
					" LATERAL (SELECT pg_catalog.trim_scale(($2::pg_catalog.jsonb ->> n.name)::pg_catalog.numeric),"
					" pg_catalog.trim_scale((%4$s ->> n.name)::pg_catalog.numeric)) AS v (got, wanted)) AS c)",
					dq_literal(DQ_ROW_COUNT), dq_literal(tolerance),
					dq_literal(dq_array_as_text(dq_text_array(names))), wanted);
}

/* Whether values of a type are numbers, which can be added up and compared */
bool
dq_is_number(Oid typid)
{
	switch (getBaseType(typid))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case MONEYOID:
			return true;
		default:
			return false;
	}
}

void
dq_require_sums(const Declaration *decl, List *names)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		Column	   *column = dq_find_column(decl->map, lfirst(lc));

		if (!dq_is_number(column->typid))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column %s of gate %s has type %s, which cannot be added up",
							quote_identifier(column->name), decl->gate->name,
							format_type_be(column->typid))));
	}
}
