// SPDX-License-Identifier: Apache-2.0
#include "base/tally.h"

#include <search.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numberfold_internal.h"

struct group {
	char *name;
	uint64_t count; /* the sum of its texts' counts */
	size_t texts;   /* different ones */
	size_t order;
};

struct tally_entry {
	char *key;  /* by which it is found: the text, or what it has in common with others */
	char *text; /* the first of them; NULL: the key */
	uint64_t differing;
	uint64_t count;
	size_t order;
	struct group *group;
	struct tally *notes; /* NULL: none */
};

struct tally {
	bool fold;  /* texts that differ by numbers are one */
	void *tree; /* of tsearch(3), by group and text */
	struct tally_entry **entries;
	size_t count, cap;
	void *group_tree; /* by name */
	struct group **groups;
	size_t group_count, group_cap;
};

struct tally *tally_new(void)
{
	return mem_zalloc(1, sizeof(struct tally));
}

static int by_text(const void *a, const void *b)
{
	const struct tally_entry *x = a, *y = b;

	if (x->group != y->group)
		return x->group->order < y->group->order ? -1 : 1;
	return strcmp(x->key, y->key);
}

static int by_tally_name(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	for (size_t i = 0; i < tally->count; i++) {
		tdelete(tally->entries[i], &tally->tree, by_text);
		tally_free(tally->entries[i]->notes);
		free(tally->entries[i]->text);
		free(tally->entries[i]->key);
		free(tally->entries[i]);
	}
	for (size_t i = 0; i < tally->group_count; i++) {
		tdelete(tally->groups[i], &tally->group_tree, by_tally_name);
		free(tally->groups[i]->name);
		free(tally->groups[i]);
	}
	free(tally->entries);
	free(tally->groups);
	free(tally);
}

static struct group *get_group(struct tally *tally, const char *name)
{
	struct group key = {.name = (char *)name};
	struct group **found = tfind(&key, &tally->group_tree, by_tally_name);

	if (found)
		return *found;
	struct group *group = mem_zalloc(1, sizeof(*group));

	*group = (struct group){.name = mem_strdup(name), .order = tally->group_count};
	tsearch(group, &tally->group_tree, by_tally_name);
	tally->groups = mem_grow(tally->groups, tally->group_count, &tally->group_cap,
				 sizeof(struct group *));
	tally->groups[tally->group_count++] = group;
	return group;
}

void tally_fold_numbers(struct tally *tally)
{
	tally->fold = true;
}

void tally_add(struct tally *tally, const char *text)
{
	tally_add_to(tally, "", text);
}

size_t tally_add_to(struct tally *tally, const char *name, const char *text)
{
	struct group *group = get_group(tally, name);
	char *folded = tally->fold ? numberfold_key(text) : NULL;
	struct tally_entry key = {.key = folded ? folded : (char *)text, .group = group};
	struct tally_entry **found = tfind(&key, &tally->tree, by_text);

	group->count++;
	if (found) {
		struct tally_entry *entry = *found;

		if (folded)
			entry->differing |= numberfold_differing(entry->text, text);
		free(folded);
		entry->count++;
		return entry->order;
	}
	struct tally_entry *entry = mem_zalloc(1, sizeof(*entry));

	*entry = (struct tally_entry){.key = folded ? folded : mem_strdup(text),
				      .text = folded ? mem_strdup(text) : NULL,
				      .count = 1,
				      .order = tally->count,
				      .group = group};
	group->texts++;
	tsearch(entry, &tally->tree, by_text);
	tally->entries =
		mem_grow(tally->entries, tally->count, &tally->cap, sizeof(struct tally_entry *));
	tally->entries[tally->count++] = entry;
	return entry->order;
}

void tally_note(struct tally *tally, size_t number, const char *note)
{
	struct tally_entry *entry = tally->entries[number];

	if (!entry->notes)
		entry->notes = tally_new();
	tally_add(entry->notes, note);
}

static int by_tally(const void *a, const void *b)
{
	const struct tally_entry *x = *(struct tally_entry *const *)a,
				 *y = *(struct tally_entry *const *)b;

	if (x->group->count != y->group->count)
		return x->group->count < y->group->count ? -1 : 1;
	if (x->group != y->group)
		return x->group->order < y->group->order ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int by_frequency(const void *a, const void *b)
{
	const struct tally_entry *x = *(struct tally_entry *const *)a,
				 *y = *(struct tally_entry *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

void tally_each(const struct tally *tally, void (*fn)(const char *text, uint64_t count, void *ctx),
		void *ctx)
{
	const struct tally_show show = {.text = fn, .ctx = ctx};

	tally_show(tally, 0, &show);
}

static void show_entry(const struct tally_entry *entry, const struct tally_show *show)
{
	const struct tally *notes = entry->notes;
	char *folded = entry->text ? numberfold_text(entry->text, entry->differing) : NULL;

	show->text(folded ? folded : entry->key, entry->count, show->ctx);
	free(folded);
	for (size_t i = 0; notes && show->note && i < notes->count; i++)
		show->note(notes->entries[i]->key, notes->entries[i]->count, entry->count,
			   show->ctx);
}

void tally_show(const struct tally *tally, size_t top, const struct tally_show *show)
{
	size_t count = top && top < tally->count ? top : tally->count;
	const struct group *last = NULL;

	if (!count)
		return;
	struct tally_entry **sorted = mem_zalloc(tally->count, sizeof(struct tally_entry *));

	memcpy(sorted, tally->entries, tally->count * sizeof(struct tally_entry *));
	if (count < tally->count)
		qsort(sorted, tally->count, sizeof(struct tally_entry *), by_frequency);
	qsort(sorted, count, sizeof(struct tally_entry *), by_tally);
	for (size_t i = 0; i < count; i++) {
		const struct group *group = sorted[i]->group;

		if (group != last && show->group)
			show->group(group->name, group->count, group->texts, show->ctx);
		last = group;
		show_entry(sorted[i], show);
	}
	free(sorted);
}

size_t tally_texts(const struct tally *tally, uint64_t *total)
{
	*total = 0;
	for (size_t i = 0; i < tally->group_count; i++)
		*total += tally->groups[i]->count;
	return tally->count;
}
