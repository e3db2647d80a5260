/* SPDX-License-Identifier: Apache-2.0 */
/* Are goroutines still waiting? In a healthy program, those that seem to wait for each other have
 * gone on by the next snapshot. */
#ifndef WAIT_STILL_H
#define WAIT_STILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snapshot;
struct snapshot_source;

/* Looks at goroutines of the snapshot, by their numbers, again and again for a while, and sets for
 * each whether it has waited for the same thing all the time. Of a process that stands still, all
 * have. */
void wait_still_look(const struct snapshot_source *from, const struct snapshot *snap,
		     const uint32_t *goroutines, size_t count, bool *still);

#endif
