/* SPDX-License-Identifier: Apache-2.0 */
/* What a goroutine will do, by the code that it goes on with: does it unlock a lock that it must
 * have got before, does it send, or receive? Its functions are followed from where they stand, on
 * every way, calls not into what they call. */
#ifndef RELEASE_CODE_INTERNAL_H
#define RELEASE_CODE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct release_code;

enum {
	RELEASE_UNLOCKS = 1, /* what was locked before */
	RELEASE_SENDS = 2,   /* or closes */
	RELEASE_RECEIVES = 4,
	RELEASE_DONE = 8, /* to a sync.WaitGroup */
};

struct release_code *release_code_new(const struct frames *frames); /* which outlive it */
void release_code_free(struct release_code *code);                  /* NULL is all right */
/* From the end of the call that `at` is in, or with `whole` from the beginning of the function.
 * With load bias 0. 0: nothing of this, or it is not known (amd64). */
unsigned release_code_from(struct release_code *code, uint64_t at, bool whole);

/* The variables among the locks that it unlocks there and must have got before, which code has
 * without a pointer to them. Returns how many; valid until the next call. */
size_t release_code_variables(struct release_code *code, uint64_t at, const uint64_t **addrs);

#endif
