// SPDX-License-Identifier: Apache-2.0
#include "profile/interned_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct interned_item {
	void *bytes;
	size_t len;
};

void interned_free(struct interned *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->items[i].bytes);
	free(set->items);
	index_free(&set->index);
	*set = (struct interned){0};
}

static size_t add(struct interned *set, uint64_t hash, const void *bytes, size_t len)
{
	size_t n = index_first(&set->index, hash);

	while (n != INDEX_NONE &&
	       (set->items[n].len != len || memcmp(set->items[n].bytes, bytes, len) != 0))
		n = index_next(&set->index, n);
	if (n != INDEX_NONE)
		return n;
	set->items = mem_grow(set->items, set->count, &set->cap, sizeof(*set->items));
	struct interned_item *item = &set->items[set->count++];

	*item = (struct interned_item){mem_alloc(len + 1), len};
	memcpy(item->bytes, bytes, len);
	return index_add(&set->index, hash);
}

size_t interned_text(struct interned *set, const char *text)
{
	return add(set, index_hash_text(0, text), text, strlen(text) + 1);
}

size_t interned_words(struct interned *set, const uint64_t *words, size_t count)
{
	static const uint64_t none;
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++)
		hash = index_hash(hash, words[i]);
	return add(set, hash, count ? words : &none, count * sizeof(*words));
}

const char *interned_text_at(const struct interned *set, size_t number)
{
	return set->items[number].bytes;
}

const uint64_t *interned_words_at(const struct interned *set, size_t number, size_t *count)
{
	*count = set->items[number].len / sizeof(uint64_t);
	return set->items[number].bytes;
}
