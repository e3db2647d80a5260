// SPDX-License-Identifier: Apache-2.0
#include "base/tally.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct group {
	char *name;
	uint64_t count; /* the sum of its texts' counts */
	size_t texts;   /* different ones */
	size_t order;
};

struct tally_entry {
	char *text;
	uint64_t count;
	size_t order;
	struct group *group;
};

struct tally {
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
	return strcmp(x->text, y->text);
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
		free(tally->entries[i]->text);
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

void tally_add(struct tally *tally, const char *text)
{
	tally_add_to(tally, "", text);
}

void tally_add_to(struct tally *tally, const char *name, const char *text)
{
	struct group *group = get_group(tally, name);
	struct tally_entry key = {.text = (char *)text, .group = group};
	struct tally_entry **found = tfind(&key, &tally->tree, by_text);

	group->count++;
	if (found) {
		(*found)->count++;
		return;
	}
	struct tally_entry *entry = mem_zalloc(1, sizeof(*entry));

	*entry = (struct tally_entry){mem_strdup(text), 1, tally->count, group};
	group->texts++;
	tsearch(entry, &tally->tree, by_text);
	tally->entries =
		mem_grow(tally->entries, tally->count, &tally->cap, sizeof(struct tally_entry *));
	tally->entries[tally->count++] = entry;
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

void tally_each(const struct tally *tally, void (*fn)(const char *text, uint64_t count, void *ctx),
		void *ctx)
{
	tally_each_group(tally, NULL, fn, ctx);
}

void tally_each_group(const struct tally *tally,
		      void (*group_fn)(const char *name, uint64_t count, size_t texts, void *ctx),
		      void (*fn)(const char *text, uint64_t count, void *ctx), void *ctx)
{
	if (!tally->count)
		return;
	struct tally_entry **sorted = mem_zalloc(tally->count, sizeof(struct tally_entry *));
	const struct group *last = NULL;

	memcpy(sorted, tally->entries, tally->count * sizeof(struct tally_entry *));
	qsort(sorted, tally->count, sizeof(struct tally_entry *), by_tally);
	for (size_t i = 0; i < tally->count; i++) {
		const struct group *group = sorted[i]->group;

		if (group != last && group_fn)
			group_fn(group->name, group->count, group->texts, ctx);
		last = group;
		fn(sorted[i]->text, sorted[i]->count, ctx);
	}
	free(sorted);
}
