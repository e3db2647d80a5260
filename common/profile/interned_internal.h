/* SPDX-License-Identifier: Apache-2.0 */
/* Things that are kept once each, however often they are met: texts, and sequences of words. Each
 * is known by a number, from 0 on in the order in which they were added. */
#ifndef INTERNED_INTERNAL_H
#define INTERNED_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

struct interned { /* all zero: empty */
	struct interned_item *items;
	size_t count, cap;
	struct index index;
};

void interned_free(struct interned *set); /* its memory; it is empty then */

size_t interned_text(struct interned *set, const char *text);
size_t interned_words(struct interned *set, const uint64_t *words, size_t count);
/* Valid until the set is freed. */
const char *interned_text_at(const struct interned *set, size_t number);
const uint64_t *interned_words_at(const struct interned *set, size_t number, size_t *count);

#endif
