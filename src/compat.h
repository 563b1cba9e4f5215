/*
 * compat.h
 *		The only place that knows differences between PostgreSQL versions.
 */
#ifndef DQ_GATE_COMPAT_H
#define DQ_GATE_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "dq_gate needs PostgreSQL 15 or newer: MERGE appeared there"
#endif

#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#define dq_owns_relation(relid, role) \
	object_ownercheck(RelationRelationId, (relid), (role))
#define dq_can_act_as(member, role) \
	member_can_set_role((member), (role))
#define dq_schema_usage(nspid, role) \
	(object_aclcheck(NamespaceRelationId, (nspid), (role), ACL_USAGE) == ACLCHECK_OK)
#define dq_type_usage(typid, role) \
	(object_aclcheck(TypeRelationId, (typid), (role), ACL_USAGE) == ACLCHECK_OK)
#define DQ_SOFT_INPUT 1
#else
#define dq_owns_relation(relid, role) \
	pg_class_ownercheck((relid), (role))
#define dq_can_act_as(member, role) \
	is_member_of_role((member), (role))
#define dq_schema_usage(nspid, role) \
	(pg_namespace_aclcheck((nspid), (role), ACL_USAGE) == ACLCHECK_OK)
#define dq_type_usage(typid, role) \
	(pg_type_aclcheck((typid), (role), ACL_USAGE) == ACLCHECK_OK)
#endif

#if PG_VERSION_NUM >= 170000
#include "storage/procnumber.h"
#define dq_lock_holder(vxid)	ProcNumberGetProc((vxid).procNumber)
#else
#include "storage/sinvaladt.h"
#define dq_lock_holder(vxid)	BackendIdGetProc((vxid).backendId)
#endif

#if PG_VERSION_NUM >= 160000
#define dq_parse_type_string(text, typid, typmod) \
	(void) parseTypeString((text), (typid), (typmod), NULL)
#else
#define dq_parse_type_string(text, typid, typmod) \
	parseTypeString((text), (typid), (typmod), false)
#endif

/* a lock that is had at once or not at all, without an error */
#if PG_VERSION_NUM >= 180000
#define dq_try_lock(tag, mode) \
	(LockAcquireExtended((tag), (mode), false, true, false, NULL, false) != LOCKACQUIRE_NOT_AVAIL)
#else
#define dq_try_lock(tag, mode) \
	(LockAcquireExtended((tag), (mode), false, true, false, NULL) != LOCKACQUIRE_NOT_AVAIL)
#endif

#if PG_VERSION_NUM >= 170000
#define dq_holds_lock(tag, mode)	LockHeldByMe((tag), (mode), false)
#else
#define dq_holds_lock(tag, mode)	LockHeldByMe((tag), (mode))
#endif

/* what a query can read */
#define RELKIND_HAS_ROWS(relkind) \
	((relkind) == RELKIND_RELATION || (relkind) == RELKIND_PARTITIONED_TABLE || \
	 (relkind) == RELKIND_VIEW || (relkind) == RELKIND_MATVIEW || \
	 (relkind) == RELKIND_FOREIGN_TABLE)

/* 18 has constraints that are declared but not enforced, and temporal ones */
#if PG_VERSION_NUM >= 180000
#define dq_constraint_enforced(con)	((con)->conenforced)
#define dq_constraint_temporal(con)	((con)->conperiod)
#define dq_index_temporal(idx)		((idx)->indisexclusion)
#else
#define dq_constraint_enforced(con)	true
#define dq_constraint_temporal(con)	false
#define dq_index_temporal(idx)		false
#endif

/* 18 adds NOT NULL, and a foreign key of a partitioned table, before it has looked at the rows */
#if PG_VERSION_NUM >= 180000
#define DQ_NOT_VALID_NOT_NULL		true
#define DQ_NOT_VALID_PARTITIONED	true
#else
#define DQ_NOT_VALID_NOT_NULL		false
#define DQ_NOT_VALID_PARTITIONED	false
#endif

/* a constraint of a table from 18 on, and of a domain before */
#ifndef CONSTRAINT_NOTNULL
#define CONSTRAINT_NOTNULL	'n'
#endif

#endif							/* DQ_GATE_COMPAT_H */
