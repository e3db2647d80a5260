// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frames/frames.h"
#include "profile/profile_internal.h"

/* Beyond these, what is added is still in the sums, but as one row. */
enum { ROWS_MAX = 1 << 18, SETS = 7 };
static const char others[] = "[more stacks than there is room for]";

struct profile *profile_new(const struct profile_spec *spec)
{
	struct profile *profile = mem_zalloc(1, sizeof(*profile));

	profile->spec = spec;
	interned_text(&profile->texts, "");
	profile_begin(profile);
	return profile;
}

static void free_sets(struct profile *profile)
{
	struct interned *sets[SETS] = {&profile->texts,     &profile->mappings, &profile->funcs,
				       &profile->locations, &profile->stacks,   &profile->labels,
				       &profile->rows};

	for (size_t i = 0; i < SETS; i++)
		interned_free(sets[i]);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	free_sets(profile);
	index_free(&profile->mapped_index);
	free(profile->mapped);
	free(profile->values);
	free(profile->location.all);
	free(profile->stack.all);
	free(profile->label.all);
	free(profile);
}

void profile_begin(struct profile *profile)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	profile->began_ns = now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
	profile->began_clock_ns = clock_ns();
}

void profile_end(struct profile *profile)
{
	profile->lasted_ns = clock_ns() - profile->began_clock_ns;
}

void profile_period(struct profile *profile, uint64_t period)
{
	if (profile->period < period)
		profile->period = period;
}

static bool is_full(const struct profile *profile)
{
	return profile->rows.count >= ROWS_MAX;
}

void profile_words_add(struct profile_words *words, uint64_t word)
{
	words->all = mem_grow(words->all, words->count, &words->cap, sizeof(*words->all));
	words->all[words->count++] = word;
}

/* --- frames --- */

static void end_location(struct profile *profile)
{
	struct profile_words *location = &profile->location;

	if (!location->count)
		return;
	profile_words_add(&profile->stack,
			  interned_words(&profile->locations, location->all, location->count));
	location->count = 0;
}

static void begin_location(struct profile *profile, uint64_t mapping, uint64_t addr)
{
	end_location(profile);
	profile_words_add(&profile->location, mapping);
	profile_words_add(&profile->location, addr);
}

static void add_line(struct profile *profile, const char *func, const char *file, int start,
		     int line)
{
	uint64_t words[PROFILE_FUNC_WORDS] = {
		[PROFILE_FUNC_NAME] = interned_text(&profile->texts, func),
		[PROFILE_FUNC_FILE] = interned_text(&profile->texts, file ? file : ""),
		[PROFILE_FUNC_LINE] = start > 0 ? start : 0};

	profile_words_add(&profile->location,
			  interned_words(&profile->funcs, words, PROFILE_FUNC_WORDS));
	profile_words_add(&profile->location, line > 0 ? line : 0);
}

/* Frames of one address follow each other: calls that are inlined there. */
void profile_frame(void *ctx, const struct frame *frame)
{
	const struct profile_at *at = ctx;
	struct profile *profile = at->profile;

	if (is_full(profile))
		return;
	if (!profile->location.count || profile->number != frame->number)
		begin_location(profile, profile_mapping(profile, at->frames, frame->at),
			       frame->at + at->frames->bias);
	profile->number = frame->number;
	add_line(profile, frame->func, frame->file, frame->start_line, frame->line);
}

bool profile_is_mapping(uint64_t number)
{
	return number < PROFILE_OF_KERNEL;
}

void profile_kernel(struct profile *profile, const char *func, const char *module)
{
	begin_location(profile, PROFILE_OF_KERNEL, 0);
	add_line(profile, func, module, 0, 0);
	end_location(profile);
}

void profile_word(struct profile *profile, const char *word)
{
	begin_location(profile, PROFILE_NO_MAPPING, 0);
	add_line(profile, word, NULL, 0, 0);
	end_location(profile);
}

/* --- labels --- */

static void add_label(struct profile *profile, const char *key, const char *text, uint64_t number,
		      enum profile_label_of of)
{
	if (is_full(profile))
		return;
	profile_words_add(&profile->label, interned_text(&profile->texts, key));
	profile_words_add(&profile->label, interned_text(&profile->texts, text));
	profile_words_add(&profile->label, number);
	profile_words_add(&profile->label, of);
}

void profile_label(struct profile *profile, const char *key, const char *text)
{
	if (text && *text)
		add_label(profile, key, text, 0, PROFILE_LABEL_TOOL);
}

void profile_number(struct profile *profile, const char *key, uint64_t number)
{
	add_label(profile, key, "", number, PROFILE_LABEL_TOOL);
}

void profile_program_label(struct profile *profile, const char *key, const char *text)
{
	add_label(profile, key, text, 0, PROFILE_LABEL_PROGRAM);
}

void profile_program_labels_cut(struct profile *profile)
{
	add_label(profile, "labels_cut", "", 1, PROFILE_LABEL_CUT);
}

/* --- rows --- */

void profile_add_row(struct profile *profile, const uint64_t *words, const uint64_t *values)
{
	size_t types = profile->spec->type_count, known = profile->rows.count;
	size_t row = interned_words(&profile->rows, words, PROFILE_ROW_WORDS);
	bool is_new = profile->rows.count > known;

	for (size_t i = 0; i < types; i++) {
		size_t n = row * types + i;

		profile->values = mem_grow(profile->values, n, &profile->values_cap,
					   sizeof(*profile->values));
		profile->values[n] = values[i] + (is_new ? 0 : profile->values[n]);
	}
}

void profile_add(struct profile *profile, const uint64_t *values)
{
	uint64_t words[PROFILE_ROW_WORDS];

	end_location(profile);
	if (is_full(profile)) {
		profile->stack.count = 0;
		profile_word(profile, others);
	}
	words[PROFILE_ROW_STACK] =
		interned_words(&profile->stacks, profile->stack.all, profile->stack.count);
	words[PROFILE_ROW_LABELS] =
		interned_words(&profile->labels, profile->label.all, profile->label.count);
	profile->stack.count = profile->label.count = 0;
	profile_add_row(profile, words, values);
}

static int most_first(const void *a, const void *b, void *ctx)
{
	const struct profile *profile = ctx;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	size_t types = profile->spec->type_count, shown = profile->spec->shown;
	uint64_t of_x = profile->values[x * types + shown],
		 of_y = profile->values[y * types + shown];

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return x < y ? -1 : 1;
}

size_t *profile_sorted(const struct profile *profile)
{
	size_t *rows = mem_alloc((profile->rows.count + 1) * sizeof(*rows));

	for (size_t i = 0; i < profile->rows.count; i++)
		rows[i] = i;
	qsort_r(rows, profile->rows.count, sizeof(*rows), most_first, (void *)profile);
	return rows;
}
