/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that differ by numbers alone, as "key 17 not found" and "key 4 not found", are one to
 * who counts them: "key N not found". Numbers are decimal, with dots (1.5, 10.0.0.1), where no
 * letter stands before them (not in "sha256"); and words of 8 hexadecimal digits and dashes or
 * more, with a decimal digit among them (hashes, UUIDs, dates). Only a text's first line is folded.
 */
#ifndef NUMBERFOLD_INTERNAL_H
#define NUMBERFOLD_INTERNAL_H

#include <stdint.h>

/* The text without its numbers, the same for those that differ by these alone. Caller frees. */
char *numberfold_key(const char *text);
/* Of two texts with the same key: which numbers differ, a bit for each. The last bit stands for all
 * that come after. */
uint64_t numberfold_differing(const char *text, const char *other);
/* The text with "N" in place of these numbers. Caller frees. */
char *numberfold_text(const char *text, uint64_t differing);

#endif
