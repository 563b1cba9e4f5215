/*
 * dq_gate.c
 *		Module of the extension: what happens when it is loaded.
 *
 * dq_gate guards published tables: a batch lands in a staging table, is
 * audited there, and is published by one transaction or quarantined.
 */
#include "postgres.h"

#include "fmgr.h"

#include "current_batch.h"
#include "merge.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	dq_install_merge_hooks();
	dq_define_batch_settings();
}
