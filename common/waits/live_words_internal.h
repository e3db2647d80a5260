/* SPDX-License-Identifier: Apache-2.0 */
/* The pointers that a goroutine at rest will go on to use: what is in use in its frames, in
 * variables on its stack that these point to, in the closures that it runs, and in its deferred
 * calls. What is left on the stack of calls that have returned is none of them. */
#ifndef LIVE_WORDS_INTERNAL_H
#define LIVE_WORDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct goroutine;
struct live_words;
struct snapshot;
struct snapshot_source;

struct live_word {
	uint64_t value;
	/* in the call that its frame stands at; deferred: where the function begins that is to be
	 * called. With load bias 0. */
	uint64_t at;
	bool deferred;
};

/* All of these outlive it. */
struct live_words *live_words_new(const struct snapshot_source *from, const struct snapshot *snap,
				  const struct frames *frames);
void live_words_free(struct live_words *words); /* NULL is all right */
/* Of a goroutine whose stack, from the stack pointer on, has these bytes. Valid until the next
 * call; NULL: the stack is not that of the snapshot. */
const struct live_word *live_words_find(struct live_words *words, const struct goroutine *g,
					const uint8_t *bytes, size_t len, size_t *count);

#endif
