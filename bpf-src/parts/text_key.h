/* SPDX-License-Identifier: Apache-2.0 */
/* A short text that generated code looks for in the program's memory, and words read from there. */
#ifndef TEXT_KEY_H
#define TEXT_KEY_H

#include "parts/fetch.h"
#include "shared/trace.h"

/* A constant in generated code: after inlining it takes no place on the stack. */
struct text_key {
	u64 len;
	u64 words[TRACE_KEY_TEXT / 8]; /* its bytes, then zeroes */
};

/* Word by word where it can be: a BPF program has 512 bytes of stack, and all words share eight.
 * `failed` becomes other than 0 if it cannot be read. */
static inline u64 read_word(s64 *failed, u32 size, u64 from)
{
	u64 word = 0;

	*failed |= fetch_some(&word, size, from);
	return word;
}

/* How the n-th word of the text at `at`, which is as long as the key, differs from `word`. */
static inline u64 differs_at(s64 *failed, u64 at, u64 len, const u32 n, u64 word)
{
	if (8 * n >= len)
		return 0;
	return word ^ read_word(failed, len - 8 * n < 8 ? len - 8 * n : 8, at + 8 * n);
}

/* Are the bytes at `at`, as many as the key has, those of the key? (No loop over words: they would
 * be in an array, on the stack.) */
static inline bool has_bytes(s64 *failed, u64 at, const struct text_key *key)
{
	return !(differs_at(failed, at, key->len, 0, key->words[0]) |
		 differs_at(failed, at, key->len, 1, key->words[1]) |
		 differs_at(failed, at, key->len, 2, key->words[2]) |
		 differs_at(failed, at, key->len, 3, key->words[3]) |
		 differs_at(failed, at, key->len, 4, key->words[4]) |
		 differs_at(failed, at, key->len, 5, key->words[5]) |
		 differs_at(failed, at, key->len, 6, key->words[6]) |
		 differs_at(failed, at, key->len, 7, key->words[7]));
}

#endif
