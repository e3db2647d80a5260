/* SPDX-License-Identifier: Apache-2.0 */
/* The single things that goroutines wait for others to release: locks, channels, and
 * sync.WaitGroups; each once. */
#ifndef WAIT_TARGETS_INTERNAL_H
#define WAIT_TARGETS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

struct snapshot;

#define WAIT_NO_TARGET UINT32_MAX

struct wait_target {
	uint64_t addr;
	unsigned needs;  /* what ends the wait: RELEASE_UNLOCKS, ... */
	uint8_t kind;    /* enum wait_kind */
	uint32_t waiter; /* one of those who wait: its number in the snapshot */
};

struct wait_targets {
	struct wait_target *all;
	size_t count, cap;
	struct index index;
	uint32_t *of;   /* each goroutine's, or WAIT_NO_TARGET */
	bool has_locks; /* any but channels */
};

/* Of a snapshot whose waits tell what semaphores belong to. */
void wait_targets_find(const struct snapshot *snap, struct wait_targets *out);
void wait_targets_free(struct wait_targets *targets); /* what it points to */

#endif
