/* SPDX-License-Identifier: Apache-2.0 */
/* The channels and locks that the goroutines of a snapshot wait for, each with who else does, and
 * who may hold a lock. */
#ifndef WAIT_OBJECTS_H
#define WAIT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct goroutine;
struct lock_fields;
struct snapshot;
struct snapshot_source;
struct wait;

struct wait_channel {
	uint64_t addr;
	bool is_read; /* what follows is */
	bool closed;
	uint64_t len, cap;
	uint64_t type;             /* address of the element type's descriptor, in memory */
	size_t receivers, senders; /* that wait, cases of a select counted each */
	bool in_select;
};

enum { WAIT_HOLDERS_MAX = 8 };

struct wait_lock { /* or a sync.WaitGroup, ... */
	uint64_t addr;
	size_t waiters;
	/* goids of those who may hold it, the likeliest first, as many as there is room for: whose
	 * code goes on to unlock what it has locked; if there is nobody, who has a pointer to it in
	 * use and does not sleep */
	uint64_t holders[WAIT_HOLDERS_MAX];
	size_t holder_count; /* of all */
	/* if there is nobody whose code tells it: who sleeps with a pointer to it */
	uint64_t keepers[WAIT_HOLDERS_MAX];
	size_t keeper_count;
};

enum wait_direction { WAIT_UNKNOWN, WAIT_RECEIVES, WAIT_SENDS };

struct wait_objects;

/* Tells, in the snapshot's waits, what semaphores belong to, by the functions that wait for them.
 * `fields` NULL: locks have no names. All of these outlive it; the caller frees. */
struct wait_objects *wait_objects_new(const struct snapshot_source *from, struct snapshot *snap,
				      const struct frames *frames, struct lock_fields *fields);
void wait_objects_free(struct wait_objects *objects); /* NULL is all right */

/* of a WAIT_CHANNEL, and of one from WAIT_MUTEX on or a WAIT_SEMAPHORE; never NULL */
const struct wait_channel *wait_objects_channel(const struct wait_objects *objects,
						const struct wait *wait);
const struct wait_lock *wait_objects_lock(const struct wait_objects *objects,
					  const struct wait *wait);
/* "main.(*Store).mu": the variable or field that the lock is; NULL: not known. */
const char *wait_objects_name(const struct wait_objects *objects, const struct wait *wait);
enum wait_direction wait_objects_direction(const struct wait_objects *objects,
					   const struct goroutine *g, const struct wait *wait);
/* The next goroutine in its deadlock cycle; NULL: none. `perhaps`: another goroutine may release
 * what it waits for, or the next one is known only to have its address; may be NULL. */
const struct goroutine *wait_objects_next_in_circle(const struct wait_objects *objects,
						    const struct goroutine *g, bool *perhaps);

#endif
