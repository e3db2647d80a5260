/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the things of an array again by what they are: a hash table of their numbers.
 *
 *	uint64_t hash = index_hash_text(0, name);
 *	size_t n = index_first(&index, hash);
 *
 *	while (n != INDEX_NONE && strcmp(things[n].name, name) != 0)
 *		n = index_next(&index, n);
 *	if (n == INDEX_NONE)
 *		n = index_add(&index, hash);  // and things[n] is the new one
 *
 * What is hashed comes from strangers, who might choose it so that all of it has the same hash. The
 * hashes are another process's others: they depend on a random number that nobody can ask for. */
#ifndef INDEX_H
#define INDEX_H

#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE SIZE_MAX

struct index {                    /* all zero: empty */
	struct index_link *links; /* of each number */
	uint32_t *heads;          /* by hash */
	size_t count, cap, head_count;
};

void index_free(struct index *index); /* its memory; it is empty then */

/* Of several things one after the other: index_hash(index_hash(0, a), b). */
uint64_t index_hash(uint64_t before, uint64_t word);
uint64_t index_hash_text(uint64_t before, const char *text);

/* The numbers that were added with this hash, in no order; INDEX_NONE: no more. */
size_t index_first(const struct index *index, uint64_t hash);
size_t index_next(const struct index *index, size_t number);
/* Adds the next number: 0, 1, 2... UINT32_MAX at most. */
size_t index_add(struct index *index, uint64_t hash);

#endif
