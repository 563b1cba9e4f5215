/*
 * gate_settings.h
 *		What can be said about a gate: the settings of create_gate.
 */
#ifndef DQ_GATE_GATE_SETTINGS_H
#define DQ_GATE_GATE_SETTINGS_H

#include "types.h"

#include "fmgr.h"

/* A setting: an argument of create_gate and alter_gate, and a column of gates */
typedef struct GateSetting
{
	const char *name;
	Oid			typid;
	size_t		offset;			/* of the field of Gate */
	const char *otherwise;		/* the default, as text; NULL: nothing */
	const char *const *words;	/* the texts that it can be, in the order of
								 * the enumeration that the field holds */
	bool		internal;		/* kept, but no argument */
} GateSetting;

extern const GateSetting dq_gate_settings[];
extern const int dq_gate_setting_count;

extern const char *const dq_mode_words[];
extern void dq_default_settings(Gate *gate);
extern void dq_forget_mode(Gate *gate);
extern void dq_set_gate(Gate *gate, const GateSetting *setting, const char *text);
extern char *dq_setting_text(const Gate *gate, const GateSetting *setting);
extern bool dq_same_setting(const Gate *a, const Gate *b, const GateSetting *setting);
extern void dq_set_from_arguments(FunctionCallInfo fcinfo, Gate *gate);
extern char *dq_setting_columns(void);
extern void dq_read_settings(Gate *gate, int first_column);
extern bool dq_is_retention(const Interval *interval);
extern const char *dq_setting_none(const GateSetting *setting);

#endif							/* DQ_GATE_GATE_SETTINGS_H */
