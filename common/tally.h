/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, and how often each was seen. */
#ifndef TALLY_H
#define TALLY_H

#include <stdint.h>

struct tally;

struct tally *tally_new(void);
void tally_free(struct tally *tally); /* NULL is all right */
void tally_add(struct tally *tally, const char *text);
/* Ascending by count; of equal counts in the order first seen. */
void tally_each(const struct tally *tally, void (*fn)(const char *text, uint64_t count, void *ctx),
		void *ctx);

#endif
