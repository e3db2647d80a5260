/* SPDX-License-Identifier: Apache-2.0 */
/* What a program calls its locks: the variable, "main.mu", or the field, "main.(*Store).mu". A
 * lock's place is compared with what those who wait for it have as their receiver or first
 * parameter. */
#ifndef LOCK_NAMES_H
#define LOCK_NAMES_H

#include "locks/lock_stacks.h"

struct lock_names;
struct program;

/* The program and stacks outlive it. */
struct lock_names *lock_names_new(const struct program *prog, struct lock_stacks *stacks);
void lock_names_free(struct lock_names *names); /* NULL is all right */
/* An event of LOCK_PARKS, for this lock. */
void lock_names_note(struct lock_names *names, const struct lock *lock,
		     const struct lock_event *event);
/* NULL: it is not known. Valid until the end. `ctx` is the names: see struct locks_show. */
const char *lock_names_find(void *ctx, const struct lock *lock);

#endif
