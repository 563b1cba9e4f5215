/*
 * after_publish.h
 *		What becomes of staging when the batch is published.
 */
#ifndef DQ_GATE_AFTER_PUBLISH_H
#define DQ_GATE_AFTER_PUBLISH_H

#include "types.h"

#include "nodes/parsenodes.h"
#include "storage/lockdefs.h"

extern LOCKMODE dq_staging_lock(const Gate *gate);
extern AclMode dq_staging_rights(const Gate *gate);
extern void dq_empty_staging(const Run *run, const char *search_path);

#endif							/* DQ_GATE_AFTER_PUBLISH_H */
