// SPDX-License-Identifier: Apache-2.0
/* A profile on its way from one process of the tool to another: all that is kept once each in the
 * order of its numbers, what others refer to before these. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "profile/profile_internal.h"

enum { SETS = 6 }; /* beside texts, or beside rows */

int profile_channel(const char *path, int *fd, struct errmsg *err)
{
	*fd = path ? memfd_create("profile", MFD_CLOEXEC) : 0;
	return *fd >= 0 ? 0 : errmsg_set(err, "--pprof: %s", strerror(errno));
}

/* --- out --- */

static void put(FILE *out, uint64_t word)
{
	fwrite(&word, sizeof(word), 1, out);
}

static void put_texts(FILE *out, const struct interned *texts)
{
	put(out, texts->count);
	for (size_t i = 0; i < texts->count; i++) {
		const char *text = interned_text_at(texts, i);

		put(out, strlen(text));
		fputs(text, out);
	}
}

static void put_words(FILE *out, const struct interned *set)
{
	put(out, set->count);
	for (size_t i = 0; i < set->count; i++) {
		size_t count;
		const uint64_t *words = interned_words_at(set, i, &count);

		put(out, count);
		fwrite(words, sizeof(*words), count, out);
	}
}

int profile_pass(const struct profile *profile, int fd, struct errmsg *err)
{
	const struct interned *sets[SETS] = {&profile->mappings,  &profile->funcs,
					     &profile->locations, &profile->stacks,
					     &profile->labels,    &profile->rows};
	FILE *out = fdopen(dup(fd), "w");

	if (!out || ftruncate(fd, 0))
		return errmsg_set(err, "--pprof: %s", strerror(errno));
	rewind(out);
	put(out, profile->period);
	put_texts(out, &profile->texts);
	for (size_t i = 0; i < SETS; i++)
		put_words(out, sets[i]);
	fwrite(profile->values, sizeof(*profile->values),
	       profile->rows.count * profile->spec->type_count, out);
	return fclose(out) ? errmsg_set(err, "--pprof: %s", strerror(errno)) : 0;
}

/* --- in --- */

struct numbers { /* of what has come, in the profile that takes it */
	uint64_t *all;
	size_t count;
};

struct taking {
	struct profile *to;
	FILE *in;
	struct numbers texts, mappings, funcs, locations, stacks, labels;
	uint64_t *words; /* of one sequence */
	size_t count;
	bool failed;
};

static uint64_t get(struct taking *t)
{
	uint64_t word = 0;

	t->failed |= fread(&word, sizeof(word), 1, t->in) != 1;
	return word;
}

static void renumber(struct taking *t, size_t at, const struct numbers *numbers)
{
	if (at < t->count && t->words[at] < numbers->count)
		t->words[at] = numbers->all[t->words[at]];
	else
		t->failed = true;
}

static struct numbers begin(struct taking *t)
{
	uint64_t count = get(t);

	if (t->failed || count > UINT32_MAX)
		t->failed = true;
	return (struct numbers){mem_zalloc(t->failed ? 1 : count + 1, sizeof(uint64_t)),
				t->failed ? 0 : count};
}

static void take_texts(struct taking *t)
{
	t->texts = begin(t);
	for (size_t i = 0; i < t->texts.count && !t->failed; i++) {
		uint64_t len = get(t);
		char *text = t->failed ? NULL : mem_zalloc(len + 1, 1);

		if (text && len)
			t->failed |= fread(text, len, 1, t->in) != 1;
		if (text)
			t->texts.all[i] = interned_text(&t->to->texts, text);
		free(text);
	}
}

static void next_words(struct taking *t)
{
	t->count = get(t);
	free(t->words);
	t->words = t->failed ? NULL : mem_alloc((t->count + 1) * sizeof(*t->words));
	if (t->words && t->count)
		t->failed |= fread(t->words, sizeof(*t->words), t->count, t->in) != t->count;
}

static void take_set(struct taking *t, struct numbers *numbers, struct interned *to,
		     void (*change)(struct taking *t))
{
	*numbers = begin(t);
	for (size_t i = 0; i < numbers->count && !t->failed; i++) {
		next_words(t);
		if (!t->failed)
			change(t);
		if (!t->failed)
			numbers->all[i] = interned_words(to, t->words, t->count);
	}
}

static void change_mapping(struct taking *t)
{
	renumber(t, PROFILE_MAPPING_FILE, &t->texts);
	renumber(t, PROFILE_MAPPING_BUILD_ID, &t->texts);
}

static void change_func(struct taking *t)
{
	renumber(t, PROFILE_FUNC_NAME, &t->texts);
	renumber(t, PROFILE_FUNC_FILE, &t->texts);
}

static void change_location(struct taking *t)
{
	if (profile_is_mapping(t->words[PROFILE_LOCATION_MAPPING]))
		renumber(t, PROFILE_LOCATION_MAPPING, &t->mappings);
	for (size_t i = PROFILE_LOCATION_WORDS; i < t->count; i += 2)
		renumber(t, i, &t->funcs);
}

static void change_stack(struct taking *t)
{
	for (size_t i = 0; i < t->count; i++)
		renumber(t, i, &t->locations);
}

static void change_labels(struct taking *t)
{
	for (size_t i = 0; i < t->count; i += PROFILE_LABEL_WORDS) {
		renumber(t, i + PROFILE_LABEL_KEY, &t->texts);
		renumber(t, i + PROFILE_LABEL_TEXT, &t->texts);
	}
}

static void change_row(struct taking *t)
{
	renumber(t, PROFILE_ROW_STACK, &t->stacks);
	renumber(t, PROFILE_ROW_LABELS, &t->labels);
}

/* The rows come before their values. */
static void take_rows(struct taking *t)
{
	struct numbers rows = begin(t);
	uint64_t *pairs = mem_zalloc(rows.count + 1, PROFILE_ROW_WORDS * sizeof(*pairs));
	size_t types = t->to->spec->type_count;
	uint64_t *values = mem_zalloc(types, sizeof(*values));

	for (size_t i = 0; i < rows.count && !t->failed; i++) {
		next_words(t);
		if (!t->failed)
			change_row(t);
		if (!t->failed)
			memcpy(pairs + i * PROFILE_ROW_WORDS, t->words,
			       PROFILE_ROW_WORDS * sizeof(*pairs));
	}
	for (size_t i = 0; i < rows.count && !t->failed; i++) {
		for (size_t k = 0; k < types; k++)
			values[k] = get(t);
		if (!t->failed)
			profile_add_row(t->to, pairs + i * PROFILE_ROW_WORDS, values);
	}
	free(values);
	free(pairs);
	free(rows.all);
}

int profile_take(struct profile *profile, int fd, struct errmsg *err)
{
	struct taking t = {.to = profile, .in = fdopen(dup(fd), "r")};
	struct numbers *numbers[SETS] = {&t.texts,     &t.mappings, &t.funcs,
					 &t.locations, &t.stacks,   &t.labels};

	if (!t.in)
		return errmsg_set(err, "--pprof: %s", strerror(errno));
	rewind(t.in);
	profile_period(profile, get(&t));
	take_texts(&t);
	take_set(&t, &t.mappings, &profile->mappings, change_mapping);
	take_set(&t, &t.funcs, &profile->funcs, change_func);
	take_set(&t, &t.locations, &profile->locations, change_location);
	take_set(&t, &t.stacks, &profile->stacks, change_stack);
	take_set(&t, &t.labels, &profile->labels, change_labels);
	take_rows(&t);
	fclose(t.in);
	free(t.words);
	for (size_t i = 0; i < SETS; i++)
		free(numbers[i]->all);
	return t.failed ? errmsg_set(err, "--pprof: the profile of a process is not whole") : 0;
}
