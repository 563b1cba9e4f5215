/*
 * definition.h
 *		A gate and its checks as a jsonb document.
 */
#ifndef DQ_GATE_DEFINITION_H
#define DQ_GATE_DEFINITION_H

#include "types.h"

/* One argument of the call that brings a gate or a check about */
typedef struct Setting
{
	char	   *name;
	Oid			typid;			/* of the argument */
	int			json_type;		/* enum jbvType of what was given for it */
	char	   *text;
	Oid			relid;			/* the table, where it names one */
} Setting;

typedef struct CheckDefinition
{
	char	   *name;
	char	   *kind;
	List	   *settings;		/* of Setting * */
} CheckDefinition;

typedef struct GateDefinition
{
	Oid			target;
	List	   *settings;		/* of Setting *, without the target */
	List	   *checks;			/* of CheckDefinition *, by name */
} GateDefinition;

extern GateDefinition *dq_read_definition(Jsonb *document);
extern const Setting *dq_find_setting(List *settings, const char *name);
extern char *dq_setting_sql(const Setting *setting);

#endif							/* DQ_GATE_DEFINITION_H */
