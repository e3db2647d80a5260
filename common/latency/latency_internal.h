/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room latency uses of latency. */
#ifndef LATENCY_INTERNAL_H
#define LATENCY_INTERNAL_H

#include "latency/latency.h"

/* Calls that are in no report, by enum latency_loss of bpf-src/shared/latency.h: in the same time,
 * or since the beginning. */
uint64_t latency_lost(const struct latency *lat, unsigned loss);
uint64_t latency_lost_in_all(const struct latency *lat, unsigned loss);
/* Calls of one row that returned, in that time. */
uint64_t latency_row_calls(const struct latency *lat, size_t row);

#endif
