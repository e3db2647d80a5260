/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room goroutines uses of snapshot_window. */
#ifndef SNAPSHOT_WINDOW_INTERNAL_H
#define SNAPSHOT_WINDOW_INTERNAL_H

#include "goroutines/snapshot_window.h"

/* Adds those at these addresses to the snapshot, SNAPSHOT_WINDOW at the most. Those that have run
 * meanwhile, or do not count, are read by themselves. */
void snapshot_window_read(struct snapshot_window *w, struct snapshot_reading *r,
			  const uint64_t *addrs, size_t count);

#endif
