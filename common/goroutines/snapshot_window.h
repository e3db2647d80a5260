/* SPDX-License-Identifier: Apache-2.0 */
/* Goroutines that are read together, since most stand side by side in memory, and so do their
 * stacks: first the fields of all of them, then all stacks, and so on. Between two looks at one of
 * them more time passes than if it is read by itself, so that it may run and wait again in between.
 * Whether it has is told by a number that it counts up whenever it leaves off running. */
#ifndef SNAPSHOT_WINDOW_H
#define SNAPSHOT_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct goroutine;
struct snapshot;
struct snapshot_reading;
struct snapshot_source;
struct snapshot_window;

enum { SNAPSHOT_WINDOW = 64 }; /* goroutines */

/* Both outlive it; of the snapshot, it needs the texts of what is waited for. */
struct snapshot_window *snapshot_window_new(const struct snapshot_source *from,
					    const struct snapshot *snap);
void snapshot_window_free(struct snapshot_window *w); /* NULL is all right */
/* Reads the stacks of goroutines of a snapshot again, of those that are where they were. NULL: that
 * one must be read by itself, to know. */
struct snapshot_window_stack {
	const struct goroutine *g;
	const uint8_t *bytes; /* valid until the next call */
	size_t len;
};
void snapshot_window_stacks(struct snapshot_window *w, struct snapshot_window_stack *stacks,
			    size_t count);

#endif
