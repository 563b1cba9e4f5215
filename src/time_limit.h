/*
 * time_limit.h
 *		Trying something, but not for longer than so much.
 */
#ifndef DQ_GATE_TIME_LIMIT_H
#define DQ_GATE_TIME_LIMIT_H

#include "spi_util.h"

extern bool dq_attempt_within(DqStep step, void *arg, int limit_ms, ErrorData **error);

#endif							/* DQ_GATE_TIME_LIMIT_H */
