/*
 * constraint_ddl.c
 *		Declared checks as constraints, for people to type.
 *
 * A gate judges what comes through it.  A constraint stands behind that for
 * whatever else writes the table.  What is written here is a constraint that
 * the same rows violate that the check fails, or else the reason why there is
 * none.  Nothing is executed.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/primnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "authorize.h"
#include "columns.h"
#include "compat.h"
#include "declare.h"
#include "enforced.h"
#include "error_context.h"
#include "expression.h"
#include "gate.h"
#include "kinds/kinds.h"
#include "params.h"
#include "plan.h"
#include "row_limits.h"
#include "row_values.h"
#include "spi_util.h"

/* One row of the answer */
typedef struct Line
{
	const char *check;
	char	   *statement;		/* NULL: there is nothing to type, the note says why */
	char	   *note;
} Line;

/* What is being written */
typedef struct Script
{
	const ColumnMap *map;
	bool		partitioned;
	bool		inherited;		/* other tables inherit from the target */
	List	   *enforced;		/* of Enforced *, also by the statements so far */
	List	   *names;			/* of char *: taken by the statements so far */
	List	   *lines;			/* of Line * */
} Script;

static void
add_line(Script *script, const Check *check, char *statement, char *note)
{
	Line	   *line = palloc0(sizeof(Line));

	line->check = check->name;
	line->statement = statement;
	line->note = note;
	script->lines = lappend(script->lines, line);
}

static void
add_statement(Script *script, const Check *check, char *change, char *note)
{
	add_line(script, check, psprintf("ALTER TABLE %s %s;", script->map->target_sql, change), note);
}

static void
add_note(Script *script, const Check *check, char *note)
{
	add_line(script, check, NULL, note);
}

/* Two notes as one; each may be NULL */
static char *
both_notes(char *a, char *b)
{
	if (a == NULL || b == NULL)
		return a ? a : b;
	return psprintf("%s; %s", a, b);
}

/* Whether a new constraint of the target, or an index, cannot have the name */
static bool
name_is_taken(const Script *script, const char *name, bool is_index)
{
	Oid			target = script->map->target;
	ListCell   *lc;

	if (dq_has_name(script->names, name) ||
		(is_index && OidIsValid(get_relname_relid(name, get_rel_namespace(target)))))
		return true;
	foreach(lc, find_all_inheritors(target, NoLock, NULL))
	{
		if (ConstraintNameIsUsed(CONSTRAINT_RELATION, lfirst_oid(lc), name))
			return true;
	}
	return false;
}

/* A name for a constraint: the wanted one, if it is short enough and not taken */
static char *
choose_name(Script *script, const char *wanted, bool is_index)
{
	char	   *name;

	for (int i = 1;; i++)
	{
		char	   *suffix = i == 1 ? "" : psprintf("_%d", i);
		int			length = pg_mbcliplen(wanted, strlen(wanted),
										  NAMEDATALEN - 1 - strlen(suffix));

		name = psprintf("%.*s%s", length, wanted, suffix);
		if (!name_is_taken(script, name, is_index))
			break;
	}
	script->names = lappend(script->names, name);
	return name;
}

/* The next checks need not say again what the statements of this one do */
static void
note_enforced(Script *script, const Check *check, char type, char *rule)
{
	Enforced   *enforced = palloc0(sizeof(Enforced));

	enforced->type = type;
	enforced->rule = rule;
	enforced->valid = true;
	enforced->check = check->name;
	script->enforced = lappend(script->enforced, enforced);
}

/* Whether the rule is enforced already, which is then what there is to say */
static bool
is_enforced(Script *script, const Check *check, char type, const char *rule)
{
	const Enforced *found = dq_find_enforced(script->enforced, type, rule);

	if (found == NULL)
		return false;
	if (found->check)
		add_note(script, check, psprintf("the statements of check %s enforce it",
										 quote_identifier(found->check)));
	else if (found->valid)
		add_note(script, check, psprintf("already enforced by %s", found->words));
	else
		add_statement(script, check, psprintf("VALIDATE CONSTRAINT %s", quote_identifier(found->name)),
					  psprintf("%s is there, and not validated", found->words));
	return true;
}

/*
 * A constraint becomes a check of its own, which blocks.  That changes what a
 * batch with failing rows comes to, unless the declared check takes its place.
 */
static char *
note_on_action(const Check *check)
{
	if (check->action != DQ_QUARANTINE && check->action != DQ_DROP)
		return NULL;
	return psprintf("the constraint becomes a check that blocks: a failing row then rejects its batch instead of being %s",
					check->action == DQ_QUARANTINE ? "quarantined" : "dropped");
}

/* Add a constraint without looking at the rows that are there, then look */
static void
add_constraint(Script *script, const Check *check, const char *wanted, const char *definition,
			   char *note)
{
	const char *name = quote_identifier(choose_name(script, wanted, false));

	add_statement(script, check, psprintf("ADD CONSTRAINT %s %s NOT VALID", name, definition), note);
	add_statement(script, check, psprintf("VALIDATE CONSTRAINT %s", name), NULL);
}

/* True for rows that pass: a constraint takes NULL for that as well */
static Node *
passing(Node *failing)
{
	Node	   *rule = negate_clause(failing);

	if (IsA(rule, BooleanTest) && ((BooleanTest *) rule)->booltesttype == IS_NOT_FALSE)
		return (Node *) ((BooleanTest *) rule)->arg;
	return rule;
}

/* The filter of a check, parsed; NULL if it has none */
static Node *
parsed_filter(const Script *script, const Check *check)
{
	return check->filter_sql ?
		dq_parse_rule(check->filter_sql, script->map->target, "filter") : NULL;
}

/* Why an expression cannot be part of a constraint, NULL if it can */
static char *
unfit(Node *rule)
{
	if (contain_subplans(rule))
		return "has a subquery, which a constraint cannot have";
	if (contain_mutable_functions_after_planning((Expr *) rule))
		return "goes by the time, a setting or other rows: it calls a function that is not IMMUTABLE, and a constraint has to say the same of a row for ever";
	return NULL;
}

/* A rule about the values of a row, as a CHECK constraint */
static void
write_check(Script *script, const Check *check, const char *failing)
{
	Oid			target = script->map->target;
	Node	   *rule = passing(dq_parse_rule(failing, target, "rule"));
	Node	   *filter = parsed_filter(script, check);
	char	   *reason;
	char	   *text;

	if (filter)
	{
		BooleanTest *others = makeNode(BooleanTest);

		/* first, since the rule need not make sense for the other rows */
		others->arg = (Expr *) filter;
		others->booltesttype = IS_NOT_TRUE;
		others->location = -1;
		rule = (Node *) make_orclause(list_make2(others, rule));
	}
	reason = unfit(rule);
	if (reason)
	{
		add_note(script, check, reason);
		return;
	}

	text = dq_check_rule(target, dq_deparse_rule(rule, target, false));
	if (is_enforced(script, check, CONSTRAINT_CHECK, text))
		return;
	add_constraint(script, check, check->name, psprintf("CHECK (%s)", text), note_on_action(check));
	note_enforced(script, check, CONSTRAINT_CHECK, text);
}

/* That a column has a value in every row */
static void
write_not_null(Script *script, const Check *check, char *column_name, const char *wanted, char *note)
{
	Oid			target = script->map->target;
	Column	   *column = dq_find_column(script->map, column_name);
	const char *quoted = quote_identifier(column_name);
	char	   *rule;

	if (is_enforced(script, check, CONSTRAINT_NOTNULL, column_name))
		return;
	if (column->notnull)
	{
		add_note(script, check, psprintf("already enforced by NOT NULL of column %s", quoted));
		return;
	}
	/* of a composite type too, whose row of NULLs is a value */
	rule = dq_check_rule(target, dq_deparse_rule(passing(dq_parse_rule(dq_null_sql(column), target, "rule")),
												 target, false));
	if (is_enforced(script, check, CONSTRAINT_CHECK, rule))
		return;

	if (DQ_NOT_VALID_NOT_NULL)
		add_constraint(script, check, wanted, psprintf("NOT NULL %s", quoted), note);
	else
	{
		/* with a valid CHECK, SET NOT NULL need not read the table under its lock */
		add_constraint(script, check, wanted, psprintf("CHECK (%s)", rule), note);
		add_statement(script, check, psprintf("ALTER COLUMN %s SET NOT NULL", quoted), NULL);
		add_statement(script, check,
					  psprintf("DROP CONSTRAINT %s", quote_identifier(llast(script->names))), NULL);
	}
	note_enforced(script, check, CONSTRAINT_NOTNULL, column_name);
}

/* Whether PostgreSQL lets a table of one persistence refer to one of another */
static bool
may_refer(Oid child, Oid parent)
{
	char		from = get_rel_persistence(child);
	char		to = get_rel_persistence(parent);

	return from == to || (from == RELPERSISTENCE_UNLOGGED && to == RELPERSISTENCE_PERMANENT);
}

/* Why a declared reference cannot be a foreign key, NULL if it can */
static char *
no_foreign_key(const Script *script, const Check *check, List *parent_names)
{
	Oid			parent = check->ref_table;
	char		relkind = get_rel_relkind(parent);
	char	   *parent_sql = dq_relation_sql(parent);

	if (check->filter_sql)
		return "a foreign key is about all rows, and the check has a filter";
	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		return psprintf("%s is no table, and a foreign key refers to one", parent_sql);
	if (relkind == RELKIND_RELATION && has_subclass(parent))
		return psprintf("a foreign key does not see the rows of tables that inherit from %s", parent_sql);
	if (!dq_is_unique_key(parent, parent_names))
		return psprintf("needs a unique constraint or index on %s of %s, of just these columns",
						dq_tuple_names(parent_names), parent_sql);
	if (!may_refer(script->map->target, parent))
		return psprintf("a foreign key cannot refer to %s, which is unlogged or temporary unlike the table",
						parent_sql);
	return NULL;
}

/* Values that stand in the columns of another table, as a foreign key */
static void
write_foreign_key(Script *script, const Check *check)
{
	List	   *parent_names = dq_text_list(dq_array_from_text(dq_param(check->params, "ref_columns")));
	char	   *reason = no_foreign_key(script, check, parent_names);
	bool		match_full = dq_param(check->params, "match") != NULL && !check->nulls_fail &&
		list_length(check->columns) > 1;
	char	   *rule;
	ListCell   *lc;

	if (reason)
	{
		add_note(script, check, reason);
		return;
	}
	/* one that minds every NULL does what one does that minds none, and more */
	rule = dq_reference_rule(check->ref_table, check->columns, parent_names, true);
	if (!match_full && dq_find_enforced(script->enforced, CONSTRAINT_FOREIGN, rule) == NULL)
		rule = dq_reference_rule(check->ref_table, check->columns, parent_names, false);
	if (!is_enforced(script, check, CONSTRAINT_FOREIGN, rule))
	{
		char	   *parent_sql = dq_relation_sql(check->ref_table);
		char	   *definition = psprintf("FOREIGN KEY (%s) REFERENCES %s (%s)%s",
										  dq_list_names(check->columns), parent_sql,
										  dq_list_names(parent_names),
										  match_full ? " MATCH FULL" : "");
		char	   *note = psprintf("rows of %s that are referred to cannot be deleted any more", parent_sql);

		if (script->inherited)
			note = both_notes(note, "does not see the rows of tables that inherit from this one");
		note = both_notes(note, note_on_action(check));
		if (script->partitioned && !DQ_NOT_VALID_PARTITIONED)
			add_statement(script, check,
						  psprintf("ADD CONSTRAINT %s %s",
								   quote_identifier(choose_name(script, check->name, false)), definition),
						  both_notes("reads all rows at once and locks out writers: a foreign key of a partitioned table cannot be NOT VALID", note));
		else
			add_constraint(script, check, check->name, definition, note);
		note_enforced(script, check, CONSTRAINT_FOREIGN, rule);
	}

	/* a foreign key takes a NULL in any column for a pass */
	if (!check->nulls_fail)
		return;
	foreach(lc, check->columns)
		write_not_null(script, check, lfirst(lc),
					   psprintf("%s_%s_not_null", check->name, (char *) lfirst(lc)),
					   note_on_action(check));
}

/*
 * Why the columns cannot be unique across partitions, NULL if they can: the
 * rows that share a value have to be in one partition.
 */
static char *
no_unique_partitions(const Script *script, const Check *check)
{
	ListCell   *lc;

	foreach(lc, find_all_inheritors(script->map->target, NoLock, NULL))
	{
		Oid			relid = lfirst_oid(lc);
		Relation	rel;
		PartitionKey key;
		char	   *reason = NULL;

		if (get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE)
			return psprintf("partition %s is a foreign table, which has no unique indexes",
							dq_relation_sql(relid));
		if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
			continue;
		rel = table_open(relid, NoLock);
		key = RelationGetPartitionKey(rel);
		for (int i = 0; i < key->partnatts && reason == NULL; i++)
		{
			if (key->partattrs[i] == 0)
				reason = psprintf("%s is partitioned by an expression, and a unique constraint has to contain the partition key",
								  dq_relation_sql(relid));
			else if (!dq_has_name(check->columns, get_attname(relid, key->partattrs[i], false)))
				reason = psprintf("%s is partitioned by %s, which a unique constraint has to contain",
								  dq_relation_sql(relid),
								  quote_identifier(get_attname(relid, key->partattrs[i], false)));
		}
		table_close(rel, NoLock);
		if (reason)
			return reason;
	}
	return NULL;
}

/* Why the columns cannot have a unique index, NULL if they can */
static char *
no_unique_index(const Script *script, const Check *check)
{
	ListCell   *lc;

	if (list_length(check->columns) > INDEX_MAX_KEYS)
		return psprintf("an index has no more than %d columns", INDEX_MAX_KEYS);
	foreach(lc, check->columns)
	{
		Column	   *column = dq_find_column(script->map, lfirst(lc));

		if (!OidIsValid(GetDefaultOpClass(column->typid, BTREE_AM_OID)))
			return psprintf("type %s of column %s has no order, which a unique index needs",
							format_type_be(column->typid), quote_identifier(column->name));
	}
	return script->partitioned ? no_unique_partitions(script, check) : NULL;
}

/* Columns that are unique, as a unique index and, without a filter, a constraint */
static void
write_unique(Script *script, const Check *check)
{
	Oid			target = script->map->target;
	Node	   *filter = parsed_filter(script, check);
	char	   *reason = filter ? unfit(filter) : NULL;
	char	   *predicate = NULL;
	char	   *rule;
	char	   *note = dq_param(check->params, "in_target") ? NULL :
		"the check compares the rows of a batch, this all rows of the table";
	const char *name;

	if (reason == NULL)
		reason = no_unique_index(script, check);
	if (reason)
	{
		add_note(script, check, reason);
		return;
	}
	if (filter)
		predicate = dq_check_rule(target, dq_deparse_rule(filter, target, false));
	/* one for which NULLs are equal does what one does for which they differ, and more */
	rule = dq_unique_rule(script->map, check->columns, false, predicate);
	if (check->nulls_distinct && dq_find_enforced(script->enforced, CONSTRAINT_UNIQUE, rule) == NULL)
		rule = dq_unique_rule(script->map, check->columns, true, predicate);
	if (is_enforced(script, check, CONSTRAINT_UNIQUE, rule))
		return;

	if (script->inherited)
		note = both_notes(note, "it does not see the rows of tables that inherit from this one");
	name = quote_identifier(choose_name(script, check->name, true));
	if (script->partitioned)
		note = both_notes(note, "the index is built under a lock that keeps writers out");
	if (script->partitioned && predicate == NULL)
		add_statement(script, check,
					  psprintf("ADD CONSTRAINT %s UNIQUE%s (%s)", name,
							   check->nulls_distinct ? "" : " NULLS NOT DISTINCT",
							   dq_list_names(check->columns)), note);
	else
		add_line(script, check,
				 psprintf("CREATE UNIQUE INDEX%s %s ON %s (%s)%s%s%s;",
						  script->partitioned ? "" : " CONCURRENTLY", name,
						  script->map->target_sql, dq_list_names(check->columns),
						  check->nulls_distinct ? "" : " NULLS NOT DISTINCT",
						  predicate ? " WHERE " : "", predicate ? predicate : ""), note);
	if (!script->partitioned && predicate == NULL)
		add_statement(script, check, psprintf("ADD CONSTRAINT %s UNIQUE USING INDEX %s", name, name), NULL);
	note_enforced(script, check, CONSTRAINT_UNIQUE, rule);
}

/* Why a check cannot be a constraint, whatever its rule; NULL if it can */
static char *
no_constraint(const Check *check)
{
	if (!check->kind->rows)
		return "about a batch as a whole, not about rows";
	if (check->action == DQ_WARN)
		return "only warns";
	if (check->action == DQ_DECLARE)
		return "declared only, not evaluated";
	if (dq_has_limits(&check->limits))
		return psprintf("tolerates some failing rows: %s", dq_describe_limits(check));
	if (check->broken || check->unjudged)
		return psprintf("could not be evaluated: %s", check->broken ? check->broken : check->unjudged);
	return NULL;
}

/* What write_step works on */
typedef struct WriteStep
{
	Script	   *script;
	const Check *check;
} WriteStep;

/* Whether all that a check says of the table itself is that there are values */
static bool
wants_values(const Check *check)
{
	return check->kind == &dq_kind_not_null ||
		(check->kind == &dq_kind_type_fit && check->nulls_fail);
}

static void
write_step(void *arg)
{
	WriteStep  *step = arg;
	const Check *check = step->check;

	if (wants_values(check) && check->filter_sql == NULL)
		write_not_null(step->script, check, linitial(check->columns), check->name,
					   check->kind == &dq_kind_not_null ? NULL : note_on_action(check));
	else if (wants_values(check))
		write_check(step->script, check,
					dq_null_sql(dq_find_column(step->script->map, linitial(check->columns))));
	else if (check->kind == &dq_kind_type_fit)
		add_note(step->script, check, psprintf("already enforced by the type of column %s",
											   quote_identifier(linitial(check->columns))));
	else if (check->kind == &dq_kind_unique)
		write_unique(step->script, check);
	else if (check->kind == &dq_kind_referential)
		write_foreign_key(step->script, check);
	else if (check->kind->evaluation == EVAL_SCAN && check->row_sql)
		write_check(step->script, check, check->row_sql);
	else
		add_note(step->script, check, "no constraint says what it says");
}

/* The lines of one check; one that cannot be read leaves the others alone */
static void
write_lines(Script *script, const Check *check)
{
	WriteStep	step = {script, check};
	char	   *reason = no_constraint(check);
	int			enforced = list_length(script->enforced);
	int			names = list_length(script->names);
	int			lines = list_length(script->lines);
	ErrorData  *error;

	if (reason)
	{
		add_note(script, check, reason);
		return;
	}
	if (!dq_attempt(write_step, &step, &error))
	{
		script->enforced = list_truncate(script->enforced, enforced);
		script->names = list_truncate(script->names, names);
		script->lines = list_truncate(script->lines, lines);
		add_note(script, check, psprintf("could not be evaluated: %s", dq_error_text(error)));
		FreeErrorData(error);
	}
}

/* The lines of all declared checks, with names qualified as an audit reads them */
static List *
write_script(const Gate *gate)
{
	Script		script = {0};
	CheckPlan  *plan;
	Identity	saved;
	ListCell   *lc;

	/* matched with itself, so that each value is just its column */
	script.map = dq_match_columns(gate, gate->target, false);
	script.partitioned = get_rel_relkind(gate->target) == RELKIND_PARTITIONED_TABLE;
	script.inherited = !script.partitioned && has_subclass(gate->target);
	plan = dq_make_plan(gate, script.map, NULL);

	dq_assume(&saved, gate->run_as, PHASE_AUDIT);
	script.enforced = dq_enforced(script.map);
	foreach(lc, plan->checks)
	{
		const Check *check = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (check->declared)
			write_lines(&script, check);
	}
	dq_resume(&saved);
	return script.lines;
}

PG_FUNCTION_INFO_V1(dq_gate_constraint_ddl);

/*
 * constraint_ddl(target) returns the statements that make PostgreSQL itself
 * enforce the declared checks, or why it cannot.
 */
Datum
dq_gate_constraint_ddl(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			target = dq_required_oid(fcinfo, 0, "target");
	MemoryContext caller = CurrentMemoryContext;
	DqErrorContext context;
	Gate	   *gate;
	List	   *lines;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	MemoryContextSwitchTo(caller);
	dq_check_target(target);
	dq_push_context(&context, "gate %s", dq_relation_sql(target));
	gate = dq_resolve_gate(target);
	dq_authorize_look(gate);
	dq_lock_table(target, AccessShareLock);
	lines = write_script(gate);
	dq_pop_context(&context);
	SPI_finish();

	MemoryContextSwitchTo(caller);
	foreach(lc, lines)
	{
		const Line *line = lfirst(lc);
		Datum		values[3];
		bool		nulls[3] = {false};

		values[0] = CStringGetTextDatum(line->check);
		dq_set_text(&values[1], &nulls[1], line->statement);
		dq_set_text(&values[2], &nulls[2], line->note);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
