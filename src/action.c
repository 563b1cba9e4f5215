/*
 * action.c
 *		What a failing check does, by name.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "action.h"

static const struct
{
	DqAction	action;
	const char *name;
}			actions_known[] =
{
	{DQ_BLOCK, "block"},
	{DQ_QUARANTINE, "quarantine"},
	{DQ_DROP, "drop"},
	{DQ_WARN, "warn"},
	{DQ_SKIP, "skip"},
	{DQ_DECLARE, "declare"},
};

const char *
dq_action_name(DqAction action)
{
	for (int i = 0; i < (int) lengthof(actions_known); i++)
	{
		if (actions_known[i].action == action)
			return actions_known[i].name;
	}
	return "?";					/* keep the compiler quiet */
}

/* The action of that name; false if there is none */
bool
dq_action_by_name(const char *name, DqAction *action)
{
	for (int i = 0; i < (int) lengthof(actions_known); i++)
	{
		if (strcmp(actions_known[i].name, name) == 0)
		{
			*action = actions_known[i].action;
			return true;
		}
	}
	return false;
}

/* A set of actions for a hint */
char *
dq_action_list(int actions)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < (int) lengthof(actions_known); i++)
	{
		if (actions & actions_known[i].action)
			appendStringInfo(&buf, "%s\"%s\"", buf.len > 0 ? ", " : "",
							 actions_known[i].name);
	}
	return buf.data;
}
