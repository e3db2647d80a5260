// SPDX-License-Identifier: Apache-2.0
#include "base/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/mem.h"

enum { HEADS_FIRST = 64 };

struct index_link {
	uint32_t hash;
	uint32_t next; /* number + 1 of the next one in the chain; 0: none */
};

void index_free(struct index *index)
{
	free(index->links);
	free(index->heads);
	*index = (struct index){0};
}

/* --- hashes --- */

/* 16 random bytes that the kernel gives to each program that it starts */
static const uint64_t *seeds(void)
{
	static uint64_t seeds[2];

	if (!seeds[1]) {
		const void *random = (const void *)getauxval(AT_RANDOM); /* NOLINT */

		if (random)
			memcpy(seeds, random, sizeof(seeds));
		seeds[1] |= 1;
	}
	return seeds;
}

/* Mixes both halves of the product: in the lower half alone, numbers that differ only in their
 * highest bit would still do so, whatever the factor. */
static uint64_t multiplied(uint64_t word, uint64_t factor)
{
	unsigned __int128 product = (unsigned __int128)word * factor;

	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Multiplies by two secret odd numbers: if there were only one, some choices of it would spread
 * numbers at equal distances badly. */
uint64_t index_hash(uint64_t before, uint64_t word)
{
	const uint64_t *seed = seeds();

	return multiplied(multiplied(before ^ word ^ seed[0], seed[1]) ^ seed[1], seed[0] | 1);
}

/* Eight bytes at a time: all names of a large program are hashed before anything else can begin. */
uint64_t index_hash_text(uint64_t before, const char *text)
{
	size_t len = strlen(text);
	uint64_t hash = index_hash(before, len), word;

	for (; len >= sizeof(word); len -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = index_hash(hash, word);
	}
	word = 0;
	memcpy(&word, text, len);
	return index_hash(hash, word);
}

/* --- numbers --- */

/* The first number with this hash in the chain that begins at `from`, which is a number + 1. */
static size_t search(const struct index *index, uint32_t from, uint32_t hash)
{
	while (from && index->links[from - 1].hash != hash)
		from = index->links[from - 1].next;
	return from ? from - 1 : INDEX_NONE;
}

size_t index_first(const struct index *index, uint64_t hash)
{
	if (!index->head_count)
		return INDEX_NONE;
	return search(index, index->heads[hash & (index->head_count - 1)], (uint32_t)hash);
}

size_t index_next(const struct index *index, size_t number)
{
	const struct index_link *link = &index->links[number];

	return search(index, link->next, link->hash);
}

static void put_number(struct index *index, size_t number)
{
	struct index_link *link = &index->links[number];
	uint32_t *head = &index->heads[link->hash & (index->head_count - 1)];

	link->next = *head;
	*head = number + 1;
}

static void grow(struct index *index)
{
	if (index->count < index->head_count)
		return;
	free(index->heads);
	index->head_count = index->head_count ? index->head_count * 2 : HEADS_FIRST;
	index->heads = mem_zalloc(index->head_count, sizeof(*index->heads));
	for (size_t i = 0; i < index->count; i++)
		put_number(index, i);
}

size_t index_add(struct index *index, uint64_t hash)
{
	grow(index);
	index->links = mem_grow(index->links, index->count, &index->cap, sizeof(*index->links));
	index->links[index->count].hash = (uint32_t)hash;
	put_number(index, index->count);
	return index->count++;
}
