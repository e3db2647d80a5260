/* SPDX-License-Identifier: Apache-2.0 */
/* Counts texts: how often each was seen. */
#ifndef TALLY_H
#define TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally;

struct tally *tally_new(void);
void tally_free(struct tally *tally); /* NULL is all right */
void tally_add(struct tally *tally, const char *text);
/* Ascending by count; of equal counts in the order first seen. */
void tally_each(const struct tally *tally, void (*fn)(const char *text, uint64_t count, void *ctx),
		void *ctx);

/* The same in groups, each with a name: their texts stand together, the group that was seen least
 * first. group_fn is called before each group's texts: of how many, and how many different ones;
 * NULL: it is not. */
void tally_add_to(struct tally *tally, const char *name, const char *text);
void tally_each_group(const struct tally *tally,
		      void (*group_fn)(const char *group, uint64_t count, size_t texts, void *ctx),
		      void (*fn)(const char *text, uint64_t count, void *ctx), void *ctx);

#endif
