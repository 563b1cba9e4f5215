/*
 * row_values.c
 *		The values of a row that a function answers with.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "row_values.h"

/* A text, which may be none */
void
dq_set_text(Datum *value, bool *isnull, const char *text)
{
	*isnull = text == NULL;
	*value = text ? CStringGetTextDatum(text) : (Datum) 0;
}

/* A count, which may not have been taken */
void
dq_set_count(Datum *value, bool *isnull, int64 count)
{
	*isnull = count == DQ_UNKNOWN;
	*value = Int64GetDatum(count);
}
