// SPDX-License-Identifier: Apache-2.0
#include "tally.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

struct tally_entry {
	char *text;
	uint64_t count;
	size_t order;
};

struct tally {
	void *tree; /* of tsearch(3), by text */
	struct tally_entry **entries;
	size_t count, cap;
};

struct tally *tally_new(void)
{
	return mem_zalloc(1, sizeof(struct tally));
}

static int by_text(const void *a, const void *b)
{
	const struct tally_entry *x = a, *y = b;

	return strcmp(x->text, y->text);
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	for (size_t i = 0; i < tally->count; i++) {
		tdelete(tally->entries[i], &tally->tree, by_text);
		free(tally->entries[i]->text);
		free(tally->entries[i]);
	}
	free(tally->entries);
	free(tally);
}

void tally_add(struct tally *tally, const char *text)
{
	struct tally_entry key = {.text = (char *)text};
	struct tally_entry **found = tfind(&key, &tally->tree, by_text);

	if (found) {
		(*found)->count++;
		return;
	}
	struct tally_entry *entry = mem_zalloc(1, sizeof(*entry));

	*entry = (struct tally_entry){mem_strdup(text), 1, tally->count};
	tsearch(entry, &tally->tree, by_text);
	tally->entries =
		mem_grow(tally->entries, tally->count, &tally->cap, sizeof(struct tally_entry *));
	tally->entries[tally->count++] = entry;
}

static int by_count(const void *a, const void *b)
{
	const struct tally_entry *x = *(struct tally_entry *const *)a,
				 *y = *(struct tally_entry *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void tally_each(const struct tally *tally, void (*fn)(const char *text, uint64_t count, void *ctx),
		void *ctx)
{
	if (!tally->count)
		return;
	struct tally_entry **sorted = mem_zalloc(tally->count, sizeof(struct tally_entry *));

	memcpy(sorted, tally->entries, tally->count * sizeof(struct tally_entry *));
	qsort(sorted, tally->count, sizeof(struct tally_entry *), by_count);
	for (size_t i = 0; i < tally->count; i++)
		fn(sorted[i]->text, sorted[i]->count, ctx);
	free(sorted);
}
