/*
 * batch_identity.h
 *		Whether a batch was published before.
 */
#ifndef DQ_GATE_BATCH_IDENTITY_H
#define DQ_GATE_BATCH_IDENTITY_H

#include "types.h"

extern bool dq_is_repeated(Run *run);

#endif							/* DQ_GATE_BATCH_IDENTITY_H */
