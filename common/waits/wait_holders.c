// SPDX-License-Identifier: Apache-2.0
#include "waits/wait_holders_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "elf/image.h"
#include "frames/frames.h"
#include "waits/live_words_internal.h"
#include "goroutines/memory.h"
#include "waits/release_code_internal.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_window.h"
#include "waits/wait_code_internal.h"
#include "waits/wait_targets_internal.h"

enum {
	STACK_MAX = 64 << 10,     /* bytes of a stack, the innermost */
	FRAMES_MAX = 64,          /* of a stack, in which such locks are sought */
	OFFSETS_MAX = 4,          /* structs that a lock is in */
	CANDIDATES_MAX = 1 << 20, /* of all targets */
	OF_ONE_MAX = 64,          /* targets of one goroutine */
	ALIASES_MAX = 1 << 21,    /* of all targets */
};

#define ALL_MAX (1ULL << 30) /* bytes of all stacks */

struct alias { /* a pointer that leads to a target */
	uint64_t value;
	uint32_t target;
};

struct search {
	const struct wait_holders_source *source;
	struct alias *aliases;
	size_t alias_count, alias_cap;
	struct index index; /* of these */
	struct live_words *words;
	struct release_code *code;
	struct wait_candidates *out;
	bool has_variables; /* are there locks that are variables of the program? */
	uint64_t left;      /* bytes that may be read */
	uint8_t *bytes;
};

/* --- pointers that lead to targets --- */

static void add_alias(struct search *search, uint64_t value, uint32_t target)
{
	if (search->alias_count == ALIASES_MAX)
		return;
	index_add(&search->index, index_hash(0, value));
	search->aliases = mem_grow(search->aliases, search->alias_count, &search->alias_cap,
				   sizeof(*search->aliases));
	search->aliases[search->alias_count++] = (struct alias){value, target};
}

static bool is_variable(const struct frames *frames, const struct wait_target *target)
{
	size_t count;
	const struct image_segment *segments = image_segments(frames->img, &count);
	uint64_t addr = target->addr - frames->bias;
	bool is = false;

	for (size_t i = 0; i < count; i++)
		is |= addr >= segments[i].addr && addr - segments[i].addr < segments[i].memsz;
	return is && target->needs == RELEASE_UNLOCKS;
}

/* To the target, and to the structs that it is in. */
static void add_aliases(struct search *search, uint32_t number)
{
	const struct wait_holders_source *source = search->source;
	const struct wait_target *target = &source->targets->all[number];
	const struct goroutine *waiter = &source->snap->all[target->waiter];
	uint64_t offsets[OFFSETS_MAX];
	size_t count, found;

	search->has_variables |= is_variable(source->frames, target);
	add_alias(search, target->addr, number);
	if (target->kind == WAIT_CHANNEL || !source->fields)
		return;
	const uint64_t *stack = snapshot_stack(source->snap, waiter->stack, &count);

	found = wait_code_offsets(source->frames, source->fields, stack, count, target->kind,
				  offsets, OFFSETS_MAX);
	for (size_t i = 0; i < found; i++)
		if (offsets[i] && offsets[i] < target->addr)
			add_alias(search, target->addr - offsets[i], number);
}

/* --- candidates --- */

static void note(struct search *search, size_t from, struct wait_candidate found)
{
	struct wait_candidates *out = search->out;

	for (size_t i = from; i < out->count; i++) {
		if (out->all[i].target != found.target)
			continue;
		if (out->all[i].how < found.how)
			out->all[i].how = found.how;
		return;
	}
	if (out->count == CANDIDATES_MAX || out->count - from == OF_ONE_MAX)
		return;
	out->all = mem_grow(out->all, out->count, &out->cap, sizeof(*out->all));
	out->all[out->count++] = found;
}

/* What the goroutine's code has no pointer to, since it is a variable of the program. */
static void note_variables(struct search *search, size_t from, size_t goroutine, uint64_t at)
{
	const struct wait_holders_source *source = search->source;
	const uint64_t *addrs;
	size_t count = release_code_variables(search->code, at, &addrs);

	for (size_t i = 0; i < count; i++) {
		uint64_t addr = addrs[i] + source->frames->bias;
		size_t n = index_first(&search->index, index_hash(0, addr));

		for (; n != INDEX_NONE; n = index_next(&search->index, n)) {
			struct wait_candidate found = {search->aliases[n].target, goroutine,
						       CANDIDATE_RELEASES};
			const struct wait_target *target = &source->targets->all[found.target];

			if (target->addr == addr && target->needs == RELEASE_UNLOCKS &&
			    found.target != source->targets->of[goroutine])
				note(search, from, found);
		}
	}
}

static void note_word(struct search *search, size_t from, size_t goroutine,
		      const struct live_word *word)
{
	const struct wait_holders_source *source = search->source;
	size_t n = index_first(&search->index, index_hash(0, word->value));

	for (; n != INDEX_NONE; n = index_next(&search->index, n)) {
		struct wait_candidate found = {.target = search->aliases[n].target,
					       .goroutine = goroutine};

		if (search->aliases[n].value != word->value ||
		    found.target == source->targets->of[goroutine])
			continue;
		if (release_code_from(search->code, word->at, word->deferred) &
		    source->targets->all[found.target].needs)
			found.how = word->deferred ? CANDIDATE_DEFERS : CANDIDATE_RELEASES;
		note(search, from, found);
	}
}

static void search_stack(struct search *search, const struct goroutine *g, const uint8_t *bytes,
			 size_t len)
{
	size_t count, from = search->out->count;
	const struct snapshot *snap = search->source->snap;
	const struct live_word *words = live_words_find(search->words, g, bytes, len, &count);

	for (size_t i = 0; words && i < count; i++)
		note_word(search, from, g - snap->all, &words[i]);
	if (!words || !search->has_variables)
		return;
	const uint64_t *stack = snapshot_stack(snap, g->stack, &count);

	for (size_t i = g->interrupted; i < count && i < FRAMES_MAX; i++)
		note_variables(search, from, g - snap->all,
			       stack[i] - 1 - search->source->frames->bias);
}

static size_t searched_len(const struct goroutine *g)
{
	uint64_t len = g->stack_hi - g->sp;

	return len > STACK_MAX ? STACK_MAX : len;
}

static void search_alone(struct search *search, const struct goroutine *g)
{
	const struct snapshot_source *from = search->source->from;
	size_t len = searched_len(g);

	if (from->mem->read(from->mem->ctx, g->sp, search->bytes, len) &&
	    snapshot_is_still(from, from->mem, g))
		search_stack(search, g, search->bytes, len);
}

/* Of goroutines that have one: the next of them, and what may be read of them. */
static size_t next_stacks(struct search *search, size_t *i, struct snapshot_window_stack *stacks)
{
	const struct snapshot *snap = search->source->snap;
	size_t count = 0;

	for (; *i < snap->count && count < SNAPSHOT_WINDOW; ++*i) {
		const struct goroutine *g = &snap->all[*i];

		if ((g->stack_state != STACK_READ && g->stack_state != STACK_CUT) ||
		    searched_len(g) > search->left)
			continue;
		search->left -= searched_len(g);
		stacks[count++].g = g;
	}
	return count;
}

static void search_all(struct search *search)
{
	const struct wait_holders_source *source = search->source;
	struct snapshot_window_stack stacks[SNAPSHOT_WINDOW];
	struct snapshot_window *window = snapshot_window_new(source->from, source->snap);
	size_t i = 0, n;

	while ((n = next_stacks(search, &i, stacks)) != 0) {
		snapshot_window_stacks(window, stacks, n);
		for (size_t k = 0; k < n; k++)
			if (stacks[k].bytes)
				search_stack(search, stacks[k].g, stacks[k].bytes, stacks[k].len);
			else
				search_alone(search, stacks[k].g);
	}
	snapshot_window_free(window);
}

/* --- in order --- */

bool wait_holders_sleeps(const struct snapshot *snap, const struct goroutine *g)
{
	return g->wait_count && snap->waits.all[g->waits].kind == WAIT_TIMER;
}

/* Who waits for somebody else comes before who does not, and that before who only sleeps. */
static int idleness(const struct wait_holders_source *source, uint32_t goroutine)
{
	if (source->targets->of[goroutine] != WAIT_NO_TARGET)
		return 0;
	return wait_holders_sleeps(source->snap, &source->snap->all[goroutine]) ? 2 : 1;
}

static int likeliest_first(const void *a, const void *b, void *ctx)
{
	const struct wait_candidate *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	if (x->how != y->how)
		return x->how > y->how ? -1 : 1;
	int idle = idleness(ctx, x->goroutine) - idleness(ctx, y->goroutine);

	return idle ? idle : (x->goroutine > y->goroutine) - (x->goroutine < y->goroutine);
}

static void sort(const struct wait_holders_source *source, struct wait_candidates *out)
{
	size_t at = 0;

	if (out->count)
		qsort_r(out->all, out->count, sizeof(*out->all), likeliest_first, (void *)source);
	out->first = mem_alloc((source->targets->count + 1) * sizeof(*out->first));
	for (size_t i = 0; i <= source->targets->count; i++) {
		while (at < out->count && out->all[at].target < i)
			at++;
		out->first[i] = at;
	}
}

void wait_holders_find(const struct wait_holders_source *source, struct wait_candidates *out)
{
	struct search search = {.source = source, .out = out, .left = ALL_MAX};

	*out = (struct wait_candidates){0};
	if (source->targets->count) {
		search.words = live_words_new(source->from, source->snap, source->frames);
		search.code = release_code_new(source->frames);
		search.bytes = mem_alloc(STACK_MAX);
		for (size_t i = 0; i < source->targets->count; i++)
			add_aliases(&search, i);
		search_all(&search);
		live_words_free(search.words);
		release_code_free(search.code);
		index_free(&search.index);
		free(search.aliases);
		free(search.bytes);
	}
	sort(source, out);
}

void wait_candidates_free(struct wait_candidates *candidates)
{
	free(candidates->all);
	free(candidates->first);
}
