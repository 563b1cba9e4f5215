/*
 * instant.c
 *		Values that are points in time.
 *
 * A timestamp without time zone, and the end of the day that a date is, are
 * read as UTC, never in the time zone of the session.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "kinds/instant.h"

/* Whether values of a type are points in time */
bool
dq_is_instant(Oid typid)
{
	Oid			base = getBaseType(typid);

	return base == TIMESTAMPTZOID || base == TIMESTAMPOID || base == DATEOID;
}

/*
 * The value of a column as a point in time.  If it is none, the check is told
 * that it is broken.
 */
char *
dq_instant_sql(Check *check, const Column *column)
{
	const char *name = quote_identifier(column->name);

	switch (getBaseType(column->typid))
	{
		case TIMESTAMPTZOID:
			return psprintf("batch.%s", name);
		case TIMESTAMPOID:
			return psprintf("pg_catalog.timezone('UTC', batch.%s)", name);
		case DATEOID:
			return psprintf("pg_catalog.timezone('UTC', (batch.%s + 1)::pg_catalog.timestamp)", name);
		default:
			check->broken = psprintf("type %s of column %s is no point in time",
									 format_type_be(column->typid), name);
			return NULL;
	}
}

/* Refuse to declare a check of time on a column of another kind */
void
dq_require_instant(const Declaration *decl, const Column *column)
{
	if (!dq_is_instant(column->typid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("column %s of gate %s has type %s, which is no point in time",
						quote_identifier(column->name), decl->gate->name,
						format_type_be(column->typid)),
				 errhint("A date, a timestamp or a timestamp with time zone is.")));
}
