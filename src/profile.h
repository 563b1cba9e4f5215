/*
 * profile.h
 *		What the values of a column look like, as numbers.
 */
#ifndef DQ_GATE_PROFILE_H
#define DQ_GATE_PROFILE_H

#include "types.h"

/* How many of the most common values a profile keeps: all with a share of 1% */
#define DQ_COMMON_VALUES	100

/* The profile of one column of a batch */
typedef struct Profile
{
	char	   *column_name;
	char	   *json;			/* NULL where it could not be made */
	char	   *error;
} Profile;

extern List *dq_columns_to_profile(const Run *run);
extern char *dq_profile_sql(const ColumnMap *map, const char *column_name);
extern bool dq_is_scalar(Oid typid);
extern void dq_log_profiles(const Run *run);

#endif							/* DQ_GATE_PROFILE_H */
