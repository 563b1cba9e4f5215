/*
 * notify.h
 *		Tell a run to those who listen.
 */
#ifndef DQ_GATE_NOTIFY_H
#define DQ_GATE_NOTIFY_H

#include "types.h"

extern void dq_alert(const Run *run);

#endif							/* DQ_GATE_NOTIFY_H */
