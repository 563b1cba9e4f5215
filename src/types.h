/*
 * types.h
 *		What travels from room to room: gate, columns, plan, results, run.
 */
#ifndef DQ_GATE_TYPES_H
#define DQ_GATE_TYPES_H

#include "postgres.h"

#include "access/attnum.h"
#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "utils/date.h"
#include "utils/jsonb.h"

/* The schema that keeps rejected rows, and that of everything else */
#define DQ_SCHEMA				"dq_gate"
#define DQ_QUARANTINE_SCHEMA	"dq_quarantine"

/* What publish_or_fail raises: class 23, integrity constraint violation */
#define ERRCODE_DQ_BATCH_REJECTED	MAKE_SQLSTATE('2', '3', 'D', 'Q', '1')
#define ERRCODE_DQ_PUBLISH_FAILED	MAKE_SQLSTATE('2', '3', 'D', 'Q', '2')

/* A batch_id that was used before, for something else */
#define ERRCODE_DQ_BATCH_REUSED	MAKE_SQLSTATE('2', '3', 'D', 'Q', '4')

/* Never raised to a caller: a check that exceeded its time */
#define ERRCODE_DQ_CHECK_TIMEOUT	MAKE_SQLSTATE('2', '3', 'D', 'Q', '3')

/* How many failing rows a result shows */
#define DQ_SAMPLE_ROWS	5

/* A count that was not taken */
#define DQ_UNKNOWN		INT64CONST(-1)

/* What a failing check does; a check kind allows a set of these */
typedef enum DqAction
{
	DQ_BLOCK = 1,
	DQ_QUARANTINE = 2,
	DQ_DROP = 4,
	DQ_WARN = 8,
	DQ_SKIP = 16,				/* the source is not ready: not this time */
	DQ_DECLARE = 32				/* for people to know, never evaluated */
} DqAction;

typedef enum DqStatus
{
	DQ_PASSED,
	DQ_FAILED,
	DQ_ERROR,
	DQ_NOT_JUDGED
} DqStatus;

typedef enum DqVerdict
{
	DQ_VERDICT_PUBLISHED,
	DQ_VERDICT_REJECTED,
	DQ_VERDICT_PUBLISH_FAILED,
	DQ_VERDICT_SKIPPED,
	DQ_VERDICT_AUDITED
} DqVerdict;

/* How a batch gets into the target; in the order of dq_mode_words */
typedef enum DqMode
{
	DQ_MERGE,					/* new rows are inserted, known ones updated */
	DQ_APPEND,					/* all rows are inserted */
	DQ_INSERT_ONLY,				/* new rows are inserted, known ones left */
	DQ_SYNC,					/* as merge; rows that the batch lacks go */
	DQ_REPLACE					/* slices of the target go, all rows are inserted */
} DqMode;

typedef enum DqNewColumn
{
	DQ_NEW_FAIL,
	DQ_NEW_IGNORE,
	DQ_NEW_RESCUE,				/* kept in a column of type jsonb */
	DQ_NEW_EVOLVE				/* added to the target */
} DqNewColumn;

typedef enum DqMissingColumn
{
	DQ_MISSING_DEFAULT,
	DQ_MISSING_FAIL
} DqMissingColumn;

typedef enum DqTypeChange
{
	DQ_TYPE_FAIL,
	DQ_TYPE_WIDEN
} DqTypeChange;

typedef enum DqRounding
{
	DQ_ROUNDING_FAIL,
	DQ_ROUNDING_ALLOW
} DqRounding;

/* What becomes of staging when the batch is published */
typedef enum DqAfterPublish
{
	DQ_AFTER_KEEP,
	DQ_AFTER_TRUNCATE,
	DQ_AFTER_DELETE
} DqAfterPublish;

/* Which runs are told to those who listen */
typedef enum DqAlert
{
	DQ_ALERT_FAILURE,			/* each that needs attention */
	DQ_ALERT_CHANGE,			/* each that went otherwise than the one before */
	DQ_ALERT_ALWAYS,
	DQ_ALERT_NEVER
} DqAlert;

/*
 * One guarded target, registered or on derived defaults.  Most fields are
 * settings: see gate_settings.c.
 */
typedef struct Gate
{
	Oid			target;
	char	   *name;			/* qualified and quoted name of the target */
	bool		registered;
	Oid			staging;		/* InvalidOid where the gate names none */
	List	   *key;			/* of char *; NIL: derive it */
	char	   *layer;
	char	   *owner;
	char	   *description;
	Oid			run_as;			/* the role that a run acts as */
	bool		enforce;		/* false: checks are evaluated, no more */
	bool		samples;		/* false: no values in the log */
	bool		profile;		/* keep profiles of all columns */
	char	   *check_timeout;	/* interval as text; NULL: none */
	int			check_timeout_ms;	/* the same; 0: none */
	char	   *expected_every; /* interval as text; NULL: not said */
	int			mode;			/* DqMode */
	char	   *scope;			/* the part of the target that is synced or replaced */
	char	   *scope_of_batch; /* the same over the alias "batch" ... */
	char	   *scope_of_target;	/* ... and over "target" */
	List	   *replace_by;		/* of char *: columns whose values name slices */
	double		max_delete_rate;	/* 1: no limit */
	List	   *update_columns; /* of char *; NIL: all that are staged */
	List	   *exclude_columns;	/* of char *: never updated */
	List	   *compare_columns;	/* of char *; NIL: all that are updated */
	char	   *only_if_newer;	/* column by which an older row is known */
	char	   *keep_latest_by; /* column by which the last of a key is known */
	int			on_rounding;	/* DqRounding */
	int			on_new_column;	/* DqNewColumn */
	char	   *rescue_column;
	int			on_missing_column;	/* DqMissingColumn */
	int			on_type_change; /* DqTypeChange */
	int			after_publish;	/* DqAfterPublish */
	char	   *quarantine_retention;	/* interval as text; NULL: for ever */
	char	   *log_retention;	/* the same */
	int			alert;			/* DqAlert */
} Gate;

/* Whether a staged value can become a value of the target's column */
typedef enum Fit
{
	FIT_ALWAYS,
	FIT_SOME,					/* misfit_sql says which rows do not */
	FIT_NEVER
} Fit;

/* One column of the target and its counterpart in staging */
typedef struct Column
{
	char	   *name;
	AttrNumber	attnum;
	Oid			typid;
	int32		typmod;
	Oid			collid;
	bool		notnull;		/* by the column or by its domain */
	bool		has_default;
	char		identity;
	char		generated;
	bool		is_key;

	/* what drift makes of it; see drift.c */
	bool		added;			/* not there yet */
	Oid			old_typid;		/* InvalidOid: its type stays */
	int32		old_typmod;
	char	   *unwidened;		/* why it stays, though staging has a wider one */

	/* the counterpart, where there is one */
	bool		staged;
	Oid			staged_typid;
	int32		staged_typmod;
	Oid			staged_collid;
	char	   *staged_sql;		/* the value as it is staged */
	Fit			fit;
	char	   *value_sql;		/* target's type; NULL where it does not fit */
	char	   *publish_sql;	/* target's type; errors where it does not fit */
	char	   *misfit_sql;		/* true where it does not fit, never NULL */
	char	   *rounded_sql;	/* true where it fits once it is rounded, never
								 * NULL; NULL where it is never rounded */
} Column;

/* A column of staging as quarantine keeps it */
typedef struct StagedColumn
{
	char	   *name;
	Oid			typid;
	int32		typmod;
	char		identity;
	char		generated;
	Oid			collid;
	bool		in_target;
	bool		provided;		/* it is not, and the gate says what becomes of it */
	char	   *refusal;		/* why that cannot be done */
} StagedColumn;

/* Columns of target and staging, matched by name */
typedef struct ColumnMap
{
	const Gate *gate;
	Oid			target;
	Oid			staging;		/* InvalidOid: looking at the target alone */
	char	   *target_sql;		/* qualified names, quoted */
	char	   *staging_sql;
	char	   *staged_from;	/* the rows that count, to be put before an alias */
	List	   *columns;		/* of Column *, all live columns of target */
	List	   *staged;			/* of StagedColumn * */
	List	   *key;			/* of Column * */
	char	   *key_source;		/* what the key was taken from; NULL: there is none */
	bool		key_is_unique;	/* an index of the target guarantees it */
} ColumnMap;

struct Check;
struct CheckResult;
struct Run;
struct History;
struct Activity;

typedef enum Evaluation
{
	EVAL_STATIC,				/* known from the columns and the row count */
	EVAL_SCAN,					/* row rule, part of the shared scan */
	EVAL_AGGREGATE,				/* rule over all rows, part of it as well */
	EVAL_QUERY					/* a query of its own */
} Evaluation;

/* One kind of check: a row of the table in kinds/kinds.c */
typedef struct CheckKind
{
	const char *name;
	Evaluation	evaluation;
	int			actions;		/* set of DqAction that it can take */
	bool		rows;			/* it says of each row whether it fails */
	bool		counts;			/* it finds a number of rows at fault */
	bool		filters;		/* about all rows, or those that a filter picks */
	bool		judges_empty;	/* it says something of a batch without rows */
	bool		judged_last;	/* it asks which rows the others move out */
	bool		observes_counts;	/* what it observes shows no values */
	bool		observes_number;	/* what it observes is a number */
	bool		nulls_fail;		/* what NULL does unless the check says */

	/* where it compares with earlier batches: read what they measured */
	struct History *(*learn) (const struct Check *check, const struct Run *run,
							  const char *by, int size);

	/* turn parameters into SQL and words */
	void		(*compile) (struct Check *check, const ColumnMap *map);

	/* EVAL_STATIC only: find out */
	void		(*judge) (struct CheckResult *result, const ColumnMap *map,
						  int64 row_count);
} CheckKind;

/* How many rows may fail, each a count or a rate; negative: not set */
typedef struct Limits
{
	double		max_rate;
	double		max_rows;
	double		warn_above;
	double		block_above;
} Limits;

/* One rule of a gate */
typedef struct Check
{
	const CheckKind *kind;
	char	   *name;
	List	   *columns;		/* of char * */
	DqAction	action;
	bool		nulls_fail;
	char	   *owner;
	char	   *description;
	char	   *severity;
	List	   *tags;			/* of char * */
	bool		declared;
	bool		essential;		/* holds also where checks are not enforced */
	char	   *origin;			/* "declared", or what it was derived from */

	/* which rows it is about, and how many of them may fail; see row_limits.h */
	char	   *filter;			/* for people; NULL: all rows */
	char	   *filter_sql;		/* over alias "batch" */
	Limits		limits;
	bool		no_samples;

	/* what the kind needs to know: parameters of a declared check ... */
	List	   *params;			/* see params.h */

	/* ... or where a derived one comes from */
	Oid			constraint_oid;
	Oid			index_oid;		/* the unique index that enforces it */
	bool		plain;			/* uniqueness: just of the columns, in all rows */
	Oid			ref_table;		/* the other table that it is about */
	bool		nulls_distinct; /* uniqueness: NULLs differ from each other */

	/* made by kind->compile */
	char	   *rule;			/* what is expected, in words */
	char	   *complaint;		/* what is wrong with a failing row, in words */
	char	   *fail_sql;		/* row rule: true on failure, never NULL */
	char	   *row_sql;		/* the same before the filter was applied */
	char	   *null_sql;		/* row rule: true where the value is NULL */
	char	   *rule_sql;		/* boolean whose false and NULL are counted at
								 * once, in place of fail_sql and null_sql */
	char	   *aggregate_sql;	/* EVAL_AGGREGATE: true on failure */
	char	   *observed_sql;	/* aggregate shown as actual value */
	char	   *probe_sql;		/* EVAL_QUERY: a count, 0 where it passes */
	char	   *detail_sql;		/* EVAL_QUERY: failing rows and actual value */
	char	   *judge_sql;		/* EVAL_QUERY about the batch: see judge_step */
	char	   *sample_sql;		/* failing rows as jsonb, if not the usual */
	char	   *threshold;		/* about the batch: what is compared with */
	bool		reads_target;
	bool		looks_at_others;	/* it is measured after the others, by then with ... */
	char	   *moved_sql;		/* ... true for a row that they move out */
	bool		needs_as_of;
	char	   *profile_of;		/* the column whose profile this one is about */
	char	   *metric_of;		/* the check whose number this one is about */
	struct History *history;	/* kinds that learn: NULL without a run */
	char	   *broken;			/* why it cannot be evaluated: an error */
	char	   *unjudged;		/* why it need not be evaluated */
} Check;

typedef struct CheckResult
{
	Check	   *check;
	DqStatus	status;
	DqAction	action;			/* that of the check, or what its limits made it */
	int64		examined;
	int64		failing;
	int64		nulls;
	char	   *unjudged;		/* why it could not be judged after all */
	char	   *values;			/* for the message alone: it names values */
	double		measured;		/* NaN: no number */
	char	   *expected;
	char	   *actual;
	char	   *threshold;
	char	   *sample;			/* jsonb as text */
	char	   *message;
	char	   *failure;		/* for the list of failures: no row values */
	char	   *discreet;		/* the same without what it may have made of
								 * them, NULL where that is the same */
} CheckResult;

/* What earlier batches of the gate measured, the latest first */
typedef struct History
{
	char	   *time;			/* of the batch itself, a timestamp as text */
	bool		no_values;		/* the gate keeps none, only numbers about them */
	int			size;
	char	   *values;			/* float8[], or jsonb of profiles, as text */
	char	   *times;			/* timestamp[], as text */
} History;

/* The effective checks of a run */
typedef struct CheckPlan
{
	List	   *checks;			/* of Check * */
	bool		reads_target;
} CheckPlan;

/* One attempt to audit and publish a batch */
typedef struct Run
{
	int64		run_id;
	bool		dry_run;
	char	   *batch_id;
	bool		named;			/* by the caller, not by the clock */
	char	   *content_digest; /* of a batch that is named */
	int64		repeats;		/* the run that has published it before */
	bool		has_as_of;
	DateADT		as_of;
	char	   *totals;			/* control totals given with the call, as jsonb */
	int64		tick;			/* how often a scheduler calls, in microseconds; 0: nobody does */
	Gate	   *gate;
	ColumnMap  *map;
	CheckPlan	   *plan;
	List	   *results;		/* of CheckResult * */
	List	   *profiles;		/* of Profile *, see profile.h */
	DqVerdict	verdict;
	bool		skipped;		/* so would say a check, dry run or not */
	bool		passed;
	bool		published;
	bool		clean;			/* passed, had its checks been enforced */
	int64		row_count;
	int64		inserted;
	int64		updated;
	int64		unchanged;
	int64		deleted;
	int64		stale;			/* older than another row of their key */
	int64		quarantined;
	int64		dropped;
	int64		undeleted;		/* kept by a trigger, against the mode */
	int			checks_failed;
	List	   *failed;			/* of char *: what failed, by name */
	List	   *failures;		/* of char *: the same with the findings */
	List	   *schema_changes;	/* of char *: see drift.h */
	char	   *error;
	char	   *error_sqlstate;
	char	   *quarantine;		/* qualified name, where rows went there */
	Oid			caller;
	bool		veiled;			/* who may not see the rows that it works on */
	struct Activity *activity;	/* what others see of it, see activity.h */
	TimestampTz started_at;
	TimestampTz audited_at;
	TimestampTz published_at;
	TimestampTz finished_at;
} Run;

#endif							/* DQ_GATE_TYPES_H */
