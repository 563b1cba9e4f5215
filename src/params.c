/*
 * params.c
 *		Parameters of a check, by name.
 *
 * Each kind of check has its own, which nobody else needs to know: they are
 * kept as one jsonb, and travel as a list of names and texts.
 */
#include "postgres.h"

#include "params.h"

typedef struct Param
{
	char	   *name;
	char	   *value;
} Param;

/* Add a parameter; NULL is none */
List *
dq_set_param(List *params, const char *name, const char *value)
{
	Param	   *param;

	if (value == NULL)
		return params;
	param = palloc(sizeof(Param));
	param->name = pstrdup(name);
	param->value = pstrdup(value);
	return lappend(params, param);
}

/* The value of a parameter, NULL if it is not set */
char *
dq_param(List *params, const char *name)
{
	ListCell   *lc;

	foreach(lc, params)
	{
		Param	   *param = lfirst(lc);

		if (strcmp(param->name, name) == 0)
			return param->value;
	}
	return NULL;
}

List *
dq_param_names(List *params)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, params)
		names = lappend(names, ((Param *) lfirst(lc))->name);
	return names;
}

List *
dq_param_values(List *params)
{
	List	   *values = NIL;
	ListCell   *lc;

	foreach(lc, params)
		values = lappend(values, ((Param *) lfirst(lc))->value);
	return values;
}
