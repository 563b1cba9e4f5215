/*
 * profile.c
 *		What the values of a column look like, as numbers.
 *
 * A profile is made from the distinct values of the column with their counts:
 * one hash aggregate a column, from which everything else follows exactly.  It
 * travels as jsonb, and is kept in dq_gate.profiles.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "columns.h"
#include "kinds/instant.h"
#include "kinds/kinds.h"
#include "kinds/totals.h"
#include "profile.h"
#include "spi_util.h"

/* Whether the values of a type lie on a line: numbers and points in time */
bool
dq_is_scalar(Oid typid)
{
	return dq_is_instant(typid) || (dq_is_number(typid) && getBaseType(typid) != MONEYOID);
}

/* Where on the line a value v lies */
static const char *
position_sql(Oid typid)
{
	return dq_is_instant(typid) ? "pg_catalog.date_part('epoch', g.v)" : "g.v::pg_catalog.float8";
}

/*
 * Those of the columns that have to be profiled: all, if the gate says so, or
 * those that a check wants to compare.
 */
List *
dq_columns_to_profile(const Run *run)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, run->map->columns)
	{
		Column	   *column = lfirst(lc);

		if (run->gate->profile && column->staged && column->fit != FIT_NEVER)
			names = lappend(names, column->name);
	}
	foreach(lc, run->plan->checks)
	{
		Check	   *check = lfirst(lc);

		if (check->profile_of && check->broken == NULL && check->unjudged == NULL &&
			!dq_has_name(names, check->profile_of))
			names = lappend(names, check->profile_of);
	}
	return names;
}

/* A value v as text, the same in every time zone */
static const char *
text_sql(Oid typid)
{
	if (getBaseType(typid) == TIMESTAMPTZOID)
		return "(pg_catalog.timezone('UTC', g.v)::pg_catalog.text || '+00')";
	return "g.v::pg_catalog.text";
}

/*
 * What tells a value v from others: equal values may be written in several
 * ways, and different ones begin alike.
 */
static const char *
key_sql(Oid typid)
{
	if (OidIsValid(lookup_type_cache(typid, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc))
		return "pg_catalog.hash_record_extended(ROW(g.v), 0)::pg_catalog.text";
	return "pg_catalog.md5(g.v::pg_catalog.text)";
}

/* The parts that only numbers and points in time have: %1$s where v lies */
static const char *const scalar_parts =
	" || (WITH x AS (SELECT %1$s AS x, g.n FROM g WHERE g.v IS NOT NULL),"
	" c AS (SELECT x.x, x.n, pg_catalog.sum(x.n) OVER (ORDER BY x.x) AS upto, pg_catalog.sum(x.n) OVER () AS total FROM x),"
	" q AS (SELECT pg_catalog.array_agg(c.x ORDER BY k) AS quantiles FROM c, pg_catalog.generate_series("
	"  CASE WHEN c.upto = c.n THEN 0 ELSE pg_catalog.floor((c.upto - c.n) * 100 / c.total)::pg_catalog.int4 + 1 END,"
	"  pg_catalog.floor(c.upto * 100 / c.total)::pg_catalog.int4) AS k),"
	" f AS (SELECT x.x, x.n FROM x WHERE x.x NOT IN ('NaN', 'Infinity', '-Infinity')),"
	" m AS (SELECT pg_catalog.sum(f.x * f.n) / NULLIF(pg_catalog.sum(f.n), 0) AS mean, pg_catalog.sum(f.n) AS n FROM f)"
	" SELECT pg_catalog.jsonb_build_object('quantiles', (SELECT pg_catalog.to_jsonb(q.quantiles) FROM q), 'mean', m.mean,"
	" 'stddev', (SELECT CASE WHEN m.n > 1 THEN pg_catalog.sqrt(pg_catalog.sum((f.x - m.mean) ^ 2 * f.n) / (m.n - 1)::pg_catalog.float8) END FROM f))"
	" FROM m)";

static const char *const string_parts =
	" || (SELECT pg_catalog.jsonb_build_object('min_length', pg_catalog.min(pg_catalog.char_length(g.v::pg_catalog.text)),"
	" 'max_length', pg_catalog.max(pg_catalog.char_length(g.v::pg_catalog.text))) FROM g)";

/* Of types with an order: %1$s v as text, %2$s where there is a value */
static const char *const order_parts =
	" || pg_catalog.jsonb_build_object("
	"'min', (SELECT pg_catalog.left(%1$s, 100) FROM g WHERE %2$s ORDER BY g.v LIMIT 1),"
	" 'max', (SELECT pg_catalog.left(%1$s, 100) FROM g WHERE %2$s ORDER BY g.v DESC LIMIT 1))";

/*
 * A query for the profile of a column, one jsonb: rows, nulls, and as far as
 * the type lets know distinct, top, min, max, mean, stddev, quantiles (from
 * the 0th to the 100th percentile), min_length and max_length.
 */
char *
dq_profile_sql(const ColumnMap *map, const char *column_name)
{
	Column	   *column = dq_find_column(map, column_name);
	char	   *source = dq_source_sql(map, "batch");
	Oid			base = getBaseType(column->typid);
	TypeCacheEntry *type = lookup_type_cache(base, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	/* a row of NULLs is a value */
	const char *valued = type_is_rowtype(base) ? "(g.v IS DISTINCT FROM NULL)" : "(g.v IS NOT NULL)";
	StringInfoData sql;

	initStringInfo(&sql);
	if (!OidIsValid(type->eq_opr))
	{
		appendStringInfo(&sql, "SELECT pg_catalog.jsonb_build_object('rows', pg_catalog.count(*),"
						 " 'nulls', pg_catalog.count(*) FILTER (WHERE %s)) FROM %s",
						 dq_null_sql(column), source);
		return sql.data;
	}
	appendStringInfo(&sql, "WITH g (v, n) AS MATERIALIZED (SELECT batch.%1$s, pg_catalog.count(*) FROM %2$s GROUP BY batch.%1$s)"
					 " SELECT (SELECT pg_catalog.jsonb_build_object('rows', COALESCE(pg_catalog.sum(g.n), 0),"
					 " 'nulls', COALESCE(pg_catalog.sum(g.n) FILTER (WHERE NOT %4$s), 0),"
					 " 'distinct', pg_catalog.count(*) FILTER (WHERE %4$s)) FROM g)"
					 " || pg_catalog.jsonb_build_object('top', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object("
					 "'value', pg_catalog.left(t.value, 100), 'rows', t.n, 'share', t.n::pg_catalog.float8 / t.total, 'key', t.key) ORDER BY t.n DESC, t.value COLLATE pg_catalog.\"C\")"
					 " FROM (SELECT %5$s AS value, %6$s AS key, g.n, pg_catalog.sum(g.n) OVER () AS total FROM g WHERE %4$s ORDER BY g.n DESC, %5$s COLLATE pg_catalog.\"C\" LIMIT %3$d) AS t))",
					 quote_identifier(column_name), source, DQ_COMMON_VALUES, valued, text_sql(base), key_sql(base));
	if (OidIsValid(type->lt_opr))
		appendStringInfo(&sql, order_parts, text_sql(base), valued);
	if (dq_is_scalar(base))
		appendStringInfo(&sql, scalar_parts, position_sql(base));
	if (TypeCategory(base) == TYPCATEGORY_STRING)
		appendStringInfoString(&sql, string_parts);
	return sql.data;
}

/*
 * Keep the profiles of a run.  Called as the extension's owner.  Without
 * samples no value of a row is kept.
 */
void
dq_log_profiles(const Run *run)
{
	ListCell   *lc;

	foreach(lc, run->profiles)
	{
		Profile    *profile = lfirst(lc);
		Oid			types[4] = {INT8OID, TEXTOID, TEXTOID, BOOLOID};
		Datum		values[4];

		if (profile->json == NULL)
			continue;
		values[0] = Int64GetDatum(run->run_id);
		values[1] = CStringGetTextDatum(profile->column_name);
		values[2] = CStringGetTextDatum(profile->json);
		values[3] = BoolGetDatum(run->gate->samples);
		dq_execute("INSERT INTO dq_gate.profiles (run_id, column_name, row_count, null_count, distinct_count,"
				   " min_value, max_value, mean, stddev, quantiles, top_values, min_length, max_length)"
				   " SELECT $1, $2, p.rows, p.nulls, p.\"distinct\", CASE WHEN $4 THEN p.min END, CASE WHEN $4 THEN p.max END,"
				   " p.mean, p.stddev, CASE WHEN $4 THEN p.quantiles ELSE p.quantiles[2:100] END, CASE WHEN $4 THEN p.top END, p.min_length, p.max_length"
				   " FROM pg_catalog.jsonb_to_record($3::pg_catalog.jsonb) AS p (rows pg_catalog.int8, nulls pg_catalog.int8,"
				   " \"distinct\" pg_catalog.int8, min pg_catalog.text, max pg_catalog.text, mean pg_catalog.float8,"
				   " stddev pg_catalog.float8, quantiles pg_catalog.float8[], top pg_catalog.jsonb,"
				   " min_length pg_catalog.int4, max_length pg_catalog.int4)",
				   4, types, values, NULL, false);
	}
}
