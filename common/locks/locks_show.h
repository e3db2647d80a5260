/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the accounts of locks, as text or JSON. */
#ifndef LOCKS_SHOW_H
#define LOCKS_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lock;
struct lock_stacks;
struct locks;
struct profile;
struct profile_spec;

struct locks_show {
	struct lock_stacks *stacks;
	uint64_t now_ns;
	/* How many of each stack are shown, from Lock()'s caller on; SIZE_MAX: all. */
	size_t frames;
	size_t locks_max; /* in the text: those waited for longest */
	bool processes;   /* the text says whose locks they are */
	bool timestamp;   /* JSON */
	/* what the program calls it; NULL: not known. The caller's */
	const char *(*name)(void *ctx, const struct lock *lock);
	void *ctx;
};

void locks_print(const struct locks_show *show, struct locks *locks);
void locks_json(const struct locks_show *show, struct locks *locks);
/* For --pprof: waits and delay of who waits, and what holders held of that. */
extern const struct profile_spec locks_profile_spec;
void locks_profile(const struct locks_show *show, struct locks *locks, struct profile *profile);

#endif
