/* SPDX-License-Identifier: Apache-2.0 */
/* A record that is filled word by word. Who includes this has defined before: struct record, with
 * sample.count and words; and RECORD_WORDS, a power of two, which count stays below. */
#ifndef FREE_WORDS_H
#define FREE_WORDS_H

/* The words that are free yet. How many there are stands in memory, so that the verifier does not
 * follow what comes after once for each number; it must see the bound, which the compiler would
 * take for known and leave out. */
static inline u64 *free_words(struct record *rec)
{
	u32 n = rec->sample.count;

	asm volatile("" : "+r"(n));
	return &rec->words[n & (RECORD_WORDS - 1)];
}

#endif
