/*
 * expression.h
 *		Boolean rules over a row of the batch: from text and back.
 */
#ifndef DQ_GATE_EXPRESSION_H
#define DQ_GATE_EXPRESSION_H

#include "types.h"

#include "nodes/nodes.h"

/* The alias under which a rule sees the row, as in dq_source_sql */
#define DQ_BATCH_ALIAS	"batch"

/* What an expression needs of the row that it is about */
typedef struct RuleColumns
{
	List	   *names;			/* of char * */
	bool		whole_row;
	bool		system;
} RuleColumns;

extern Node *dq_parse_rule(const char *text, Oid target, const char *what);
extern Node *dq_parse_aggregate(const char *text, const char *filter, Oid target);
extern Node *dq_parse_query(const char *text);
extern Node *dq_parse_scalar(const char *text);
extern char *dq_deparse_over(Node *expression, Oid target, const char *alias);
extern char *dq_deparse_rule(Node *rule, Oid target, bool with_alias);
extern char *dq_rule_meaning(Node *rule, Oid relid, const char *alias, const char *noun,
							 List **columns);
extern bool dq_rule_reads(Node *rule, Oid target);
extern bool dq_relation_reads(Oid relid, Oid target);
extern bool dq_rule_is_unnameable(Node *rule);
extern void dq_rule_columns(Node *rule, Oid target, RuleColumns *found);

#endif							/* DQ_GATE_EXPRESSION_H */
