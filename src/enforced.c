/*
 * enforced.c
 *		What PostgreSQL itself enforces on a target.
 *
 * Two constraints are the same if their rules are, in a form that does not
 * depend on the order of columns, on names, or on how often an expression was
 * written down and read again.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "columns.h"
#include "compat.h"
#include "derive.h"
#include "enforced.h"
#include "expression.h"
#include "spi_util.h"

/* An expression to be read again; see dq_check_rule */
typedef struct Settling
{
	Oid			target;
	const char *text;
} Settling;

static void
settle(void *arg)
{
	Settling   *settling = arg;

	for (int i = 0; i < 3; i++)
	{
		Node	   *rule = dq_parse_rule(settling->text, settling->target, "constraint");
		char	   *again = dq_deparse_rule(rule, settling->target, false);

		if (strcmp(again, settling->text) == 0)
			break;
		settling->text = again;
	}
}

/*
 * A boolean expression as PostgreSQL shows it once it is a constraint.  Its
 * text may read as another one of the same meaning, a constant as a cast for
 * example, until it settles.  What cannot be read, because it calls a function
 * in somebody else's schema, stays as it is.
 */
char *
dq_check_rule(Oid target, const char *expression)
{
	Settling	settling = {target, expression};
	ErrorData  *error;

	if (!dq_attempt(settle, &settling, &error))
		FreeErrorData(error);
	return pstrdup(settling.text);
}

static int
by_text(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* Texts in an order of their own */
static char *
sorted(List *texts)
{
	StringInfoData buf;
	ListCell   *lc;

	list_sort(texts, by_text);
	initStringInfo(&buf);
	foreach(lc, texts)
		appendStringInfo(&buf, "%s%s", buf.len > 0 ? ", " : "", (char *) lfirst(lc));
	return buf.data;
}

/* That columns refer to those of another table, all of them or none if in full */
char *
dq_reference_rule(Oid parent, List *names, List *parent_names, bool match_full)
{
	List	   *pairs = NIL;
	ListCell   *nc;
	ListCell   *pc;

	forboth(nc, names, pc, parent_names)
		pairs = lappend(pairs, psprintf("%s = %s", quote_identifier(lfirst(nc)),
										quote_identifier(lfirst(pc))));
	return psprintf("%u: %s%s", parent, sorted(pairs),
					match_full && list_length(names) > 1 ? " MATCH FULL" : "");
}

/* That columns are unique, among the rows of the predicate if there is one */
char *
dq_unique_rule(const ColumnMap *map, List *names, bool nulls_distinct, const char *predicate)
{
	List	   *quoted = NIL;
	bool		nullable = false;
	ListCell   *lc;

	foreach(lc, names)
	{
		Column	   *column = dq_find_column(map, lfirst(lc));

		nullable |= column == NULL || !column->notnull;
		quoted = lappend(quoted, unconstify(char *, quote_identifier(lfirst(lc))));
	}
	return psprintf("(%s)%s%s%s", sorted(quoted),
					nullable && !nulls_distinct ? " NULLS NOT DISTINCT" : "",
					predicate ? " WHERE " : "", predicate ? predicate : "");
}

static Enforced *
enforced(char type, char *rule, const char *noun, const char *name, bool valid)
{
	Enforced   *result = palloc0(sizeof(Enforced));

	result->type = type;
	result->rule = rule;
	result->name = pstrdup(name);
	result->words = psprintf("%s %s", noun, quote_identifier(name));
	result->valid = valid;
	return result;
}

static char *
rule_of_check(Oid target, HeapTuple tuple)
{
	bool		isnull;
	Datum		binary = SysCacheGetAttr(CONSTROID, tuple, Anum_pg_constraint_conbin, &isnull);

	if (isnull)
		return NULL;
	return dq_check_rule(target, dq_deparse_rule(stringToNode(TextDatumGetCString(binary)),
												 target, false));
}

static char *
rule_of_reference(Oid target, HeapTuple tuple)
{
	Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);
	Oid			parent = form->confrelid;
	List	   *names = NIL;
	List	   *parent_names = NIL;
	int			nkeys;
	AttrNumber	conkey[INDEX_MAX_KEYS];
	AttrNumber	confkey[INDEX_MAX_KEYS];

	DeconstructFkConstraintRow(tuple, &nkeys, conkey, confkey, NULL, NULL, NULL, NULL, NULL);
	for (int i = 0; i < nkeys; i++)
	{
		names = lappend(names, get_attname(target, conkey[i], false));
		parent_names = lappend(parent_names, get_attname(parent, confkey[i], false));
	}
	return dq_reference_rule(parent, names, parent_names,
							 form->confmatchtype == FKCONSTR_MATCH_FULL);
}

static List *
enforced_constraints(const ColumnMap *map)
{
	bool		has_children = has_subclass(map->target);
	List	   *found = NIL;
	ListCell   *lc;

	foreach(lc, dq_enforced_constraints(map->target))
	{
		HeapTuple	tuple = lfirst(lc);
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);
		char	   *rule = NULL;

		if (form->contype == CONSTRAINT_FOREIGN)
			rule = rule_of_reference(map->target, tuple);
		else if (form->connoinherit && has_children)
			continue;			/* not for all rows */
		else if (form->contype == CONSTRAINT_CHECK)
			rule = rule_of_check(map->target, tuple);
		else if (form->contype == CONSTRAINT_NOTNULL)
			rule = linitial(dq_constraint_columns(map->target, tuple));
		if (rule != NULL)
			found = lappend(found, enforced(form->contype, rule, "constraint",
											NameStr(form->conname), form->convalidated));
	}
	return found;
}

/* The columns of an index, NIL if one of them is compared by another collation */
static List *
index_names(Oid relid, HeapTuple tuple, Form_pg_index index)
{
	bool		isnull;
	Datum		datum = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indcollation, &isnull);
	oidvector  *collations = (oidvector *) DatumGetPointer(datum);
	List	   *names = NIL;

	for (int i = 0; i < index->indnkeyatts; i++)
	{
		Oid			typid;
		int32		typmod;
		Oid			collation;

		get_atttypetypmodcoll(relid, index->indkey.values[i], &typid, &typmod, &collation);
		if (collations->values[i] != collation)
			return NIL;
		names = lappend(names, get_attname(relid, index->indkey.values[i], false));
	}
	return names;
}

static Enforced *
enforced_index(const ColumnMap *map, Oid indexoid)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(indexoid));
	Form_pg_index index;
	Enforced   *result = NULL;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", indexoid);
	index = (Form_pg_index) GETSTRUCT(tuple);
	if (index->indisunique && index->indisvalid && !dq_index_temporal(index) &&
		heap_attisnull(tuple, Anum_pg_index_indexprs, NULL))
	{
		List	   *names = index_names(map->target, tuple, index);
		Oid			constraint = get_index_constraint(indexoid);
		bool		whole;
		Datum		binary = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indpred, &whole);
		char	   *predicate = NULL;

		if (!whole)
			predicate = dq_check_rule(map->target,
									  dq_deparse_rule(stringToNode(TextDatumGetCString(binary)),
													  map->target, false));
		if (names != NIL)
			result = enforced(CONSTRAINT_UNIQUE,
							  dq_unique_rule(map, names, !index->indnullsnotdistinct, predicate),
							  OidIsValid(constraint) ? "constraint" : "index",
							  OidIsValid(constraint) ? get_constraint_name(constraint) :
							  get_rel_name(indexoid), true);
	}
	ReleaseSysCache(tuple);
	return result;
}

/*
 * The CHECK, NOT NULL and FOREIGN KEY constraints of the target, and its unique
 * indexes, as a list of Enforced.
 */
List *
dq_enforced(const ColumnMap *map)
{
	List	   *found = enforced_constraints(map);
	Relation	rel = table_open(map->target, NoLock);
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Enforced   *index = enforced_index(map, lfirst_oid(lc));

		if (index != NULL)
			found = lappend(found, index);
	}
	table_close(rel, NoLock);
	return found;
}

/* One that enforces the rule, best one that is valid; NULL if there is none */
const Enforced *
dq_find_enforced(List *enforced, char type, const char *rule)
{
	const Enforced *found = NULL;
	ListCell   *lc;

	foreach(lc, enforced)
	{
		const Enforced *one = lfirst(lc);

		if (one->type == type && strcmp(one->rule, rule) == 0 &&
			(found == NULL || (one->valid && !found->valid)))
			found = one;
	}
	return found;
}

/*
 * Whether a foreign key could refer to these columns: an index makes just
 * them unique, at once and in all rows.
 */
bool
dq_is_unique_key(Oid relid, List *names)
{
	Relation	rel = table_open(relid, AccessShareLock);
	bool		found = false;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_index index;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for index %u", lfirst_oid(lc));
		index = (Form_pg_index) GETSTRUCT(tuple);
		if (dq_index_is_plain_unique(index, tuple) && index->indimmediate &&
			index->indnkeyatts == list_length(names))
		{
			found = true;
			for (int i = 0; i < index->indnkeyatts; i++)
				found = found && dq_has_name(names, get_attname(relid, index->indkey.values[i], false));
		}
		ReleaseSysCache(tuple);
		if (found)
			break;
	}
	table_close(rel, AccessShareLock);
	return found;
}
