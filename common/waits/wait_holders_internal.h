/* SPDX-License-Identifier: Apache-2.0 */
/* Who may end a wait: unlock a lock, send to a channel, be done with a sync.WaitGroup. Go does not
 * note it, but who will do it has a pointer to the lock in use, or to the struct that it is in: in
 * a frame, or in a deferred call. A guess, then, and to be told as one. */
#ifndef WAIT_HOLDERS_INTERNAL_H
#define WAIT_HOLDERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct goroutine;
struct lock_fields;
struct snapshot;
struct snapshot_source;
struct wait_targets;

struct wait_candidate { /* may end the waits for a target */
	uint32_t target, goroutine;
	/* it has the pointer; it goes on to what ends the wait, by its code; that is a deferred
	 * call of it */
	enum { CANDIDATE_POINTS, CANDIDATE_RELEASES, CANDIDATE_DEFERS } how;
};

struct wait_candidates {
	struct wait_candidate *all; /* by target, the likeliest first */
	size_t count, cap;
	size_t *first; /* of each target, and behind the last one */
};

struct wait_holders_source {
	const struct snapshot_source *from;
	const struct snapshot *snap;
	const struct frames *frames;
	struct lock_fields *fields; /* NULL: pointers to structs with locks in them do not count */
	const struct wait_targets *targets;
};

/* Looks at all goroutines that have a stack, but not for what they wait for themselves. */
void wait_holders_find(const struct wait_holders_source *source, struct wait_candidates *out);
void wait_candidates_free(struct wait_candidates *candidates); /* what it points to */
/* Does it only wait for time to pass? */
bool wait_holders_sleeps(const struct snapshot *snap, const struct goroutine *g);

#endif
