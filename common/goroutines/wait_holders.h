/* SPDX-License-Identifier: Apache-2.0 */
/* Who may hold a lock: Go does not note it, but who does often has its address on the stack, as for
 * the deferred call that will unlock it. A guess, then, and to be told as one. */
#ifndef WAIT_HOLDERS_H
#define WAIT_HOLDERS_H

#include <stddef.h>
#include <stdint.h>

struct index;
struct snapshot;
struct snapshot_source;
struct wait_lock;

/* Reads the stacks of all goroutines but those that wait for the lock itself. `index`: of the locks
 * by address. */
void wait_holders_find(const struct snapshot_source *from, const struct snapshot *snap,
		       struct wait_lock *locks, size_t count, const struct index *index);
/* Sets `next` of each goroutine that waits for a lock whose only holder waits, and so on round to
 * itself: to that holder's number in the snapshot. WAIT_NOBODY: it is in no such circle. */
#define WAIT_NOBODY UINT32_MAX
void wait_holders_circles(const struct snapshot *snap, const struct wait_lock *locks,
			  const struct index *index, uint32_t *next);

#endif
