/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the locks that goroutines wait for, by what those who wait for them, or may hold
 * them, have as arguments. */
#ifndef WAIT_NAMES_INTERNAL_H
#define WAIT_NAMES_INTERNAL_H

#include <stddef.h>

#include "goroutines/wait.h"

struct frames;
struct lock_fields;
struct snapshot;
struct snapshot_source;
struct wait_lock;
struct wait_names;

/* All of these outlive it. Locks are known by their numbers. */
struct wait_names *wait_names_new(const struct snapshot_source *from, const struct snapshot *snap,
				  const struct frames *frames, struct lock_fields *fields,
				  const struct wait_lock *locks, size_t count);
void wait_names_free(struct wait_names *names); /* NULL is all right */
/* A goroutine, by its number in the snapshot, waits for the lock. To be told of all of them. */
void wait_names_waits(struct wait_names *names, size_t lock, size_t goroutine);
/* Looks at the stacks of some of them, and of those who may hold locks, while most are where they
 * were. */
void wait_names_look(struct wait_names *names);
/* "main.mu", "main.(*Store).mu"; NULL: it is not known. It is sought at the first call, since debug
 * information takes long to open. */
const char *wait_names_find(struct wait_names *names, size_t lock, enum wait_kind kind);

#endif
