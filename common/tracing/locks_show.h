/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the accounts of locks, as text or JSON. */
#ifndef LOCKS_SHOW_H
#define LOCKS_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct lock;
struct lock_stacks;
struct locks;

struct locks_show {
	struct lock_stacks *stacks;
	uint64_t now_ns;
	/* That are told of each stack, from who calls Lock() on; SIZE_MAX: all there are. */
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

#endif
