// SPDX-License-Identifier: Apache-2.0
#include "heap/heap_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "frames/frames.h"
#include "golang/pattern.h"
#include "heap/heap_internal.h"
#include "heap/heap_print_internal.h"
#include "heap/heap_stacks_internal.h"
#include "profile/profile.h"
#include "program/program.h"

enum { VALUES = 4 };

static const struct profile_type types[VALUES] = {{"alloc_objects", "count"},
						  {"alloc_space", "bytes"},
						  {"inuse_objects", "count"},
						  {"inuse_space", "bytes"}};

/* As runtime/pprof says what is sampled: its profiles and these can be compared. */
const struct profile_spec heap_profile_spec = {.tool = "goheap",
					       .types = types,
					       .type_count = VALUES,
					       .shown = 3,
					       .sampled = {"space", "bytes"}};
const struct profile_spec heap_alloc_profile_spec = {.tool = "goheap",
						     .types = types,
						     .type_count = VALUES,
						     .shown = 1,
						     .sampled = {"space", "bytes"}};

struct heap_state {
	struct heap_vars vars;
	struct heap_stacks *stacks;
	struct heap_table now, before;
	size_t looks;
};

/* --- rows --- */

struct matching {
	const struct heap_look *look;
	bool matches;
};

static void match(void *ctx, const struct frame *frame)
{
	struct matching *matching = ctx;

	for (size_t i = 0; i < matching->look->pattern_count && !matching->matches; i++)
		matching->matches = pattern_match(matching->look->patterns[i], frame->func);
}

static bool is_picked(const struct heap_look *look, const struct heap_stacks *stacks, size_t number)
{
	struct matching matching = {.look = look};

	if (!look->pattern_count)
		return true;
	heap_stacks_each(stacks, number, match, &matching);
	return matching.matches;
}

static struct heap_row *row_of(const struct heap_look *look, size_t number)
{
	struct heap_table *now = &look->state->now;

	for (; now->count <= number; now->count++) {
		now->rows = mem_grow(now->rows, now->count, &now->cap, sizeof(*now->rows));
		now->rows[now->count] = (struct heap_row){
			.picked = is_picked(look, look->state->stacks, now->count)};
	}
	return &now->rows[number];
}

static void add(struct heap_count *to, struct heap_count count)
{
	to->objects += count.objects;
	to->bytes += count.bytes;
}

static void add_row(struct heap_row *to, const struct heap_row *row)
{
	add(&to->in_use, row->in_use);
	add(&to->allocated, row->allocated);
	add(&to->sampled_in_use, row->sampled_in_use);
	add(&to->sampled_allocated, row->sampled_allocated);
}

static struct heap_row scaled(const struct heap_bucket *bucket, int64_t rate)
{
	struct heap_count in_use = heap_in_use(bucket);

	return (struct heap_row){.in_use = heap_scale(in_use, rate),
				 .allocated = heap_scale(bucket->allocated, rate),
				 .sampled_in_use = in_use,
				 .sampled_allocated = bucket->allocated};
}

static void add_profile(const struct heap_look *look, const struct heap *heap,
			const struct heap_bucket *bucket, const struct heap_row *row)
{
	const uint64_t values[VALUES] = {row->allocated.objects, row->allocated.bytes,
					 row->in_use.objects, row->in_use.bytes};

	heap_stacks_profile(look->state->stacks, heap, bucket, look->profile);
	profile_number(look->profile, "bytes", bucket->size);
	profile_add(look->profile, values);
}

static void add_bucket(const struct heap_look *look, const struct heap *heap,
		       const struct heap_bucket *bucket)
{
	struct heap_row row = scaled(bucket, heap->rate);
	struct heap_row *to = row_of(look, heap_stacks_number(look->state->stacks, heap, bucket));

	add_row(to, &row);
	add_row(&look->state->now.total, &row);
	if (!to->picked)
		return;
	add_row(&look->state->now.picked, &row);
	if (look->profile)
		add_profile(look, heap, bucket, &row);
}

static void make_table(const struct heap_look *look, struct heap *heap)
{
	struct heap_table *now = &look->state->now;

	*now = (struct heap_table){0};
	if (look->profile && heap->rate > 0)
		profile_period(look->profile, (uint64_t)heap->rate);
	for (size_t i = 0; i < heap->count; i++)
		if (heap->all[i].allocated.objects)
			add_bucket(look, heap, &heap->all[i]);
	now->heap = *heap;
	now->heap.all = NULL;
	now->heap.words = NULL;
}

/* --- what is said beside it --- */

/* A profile without anything in it may have a reason that has a remedy. */
static int check_rate(const struct heap_state *state, const struct heap *heap, struct errmsg *err)
{
	if (heap->rate > 0)
		return 0;
	if (!state->vars.used) { /* what there is was sampled before the rate was set */
		errmsg_set(err, "it samples no allocations: as nothing in the program uses "
				"runtime.MemProfile, its linker has turned that off");
		errmsg_hint(err, "link runtime/pprof or net/http/pprof and use it, or see what is "
				 "allocated now, and where: goallocs -p PID");
		return -1;
	}
	if (heap->count)
		return 0;
	errmsg_set(err, "it samples no allocations: its runtime.MemProfileRate is %lld",
		   (long long)heap->rate);
	errmsg_hint(err, "it is set by the program, or by GODEBUG=memprofilerate=N");
	return -1;
}

static void say_left_out(const struct heap *heap)
{
	if (heap->left_out)
		fprintf(stderr, "goheap: %zu more stacks are not shown\n", heap->left_out);
	if (heap->unsteady)
		fputs("goheap: the profile changed each time that it was read: some of it may be "
		      "counted twice, or not at all\n",
		      stderr);
}

static void print_text(struct heap_look *look, const struct heap_view *view)
{
	if (look->has_printed && !look->again)
		putchar('\n');
	look->has_printed = true;
	heap_print_head(stdout, view);
	if (view->before)
		heap_print_changes(stdout, view);
	else
		heap_print_table(stdout, view);
}

static void print(struct heap_look *look, const struct heap_view *view)
{
	if (look->json)
		heap_print_json(stdout, view);
	else if (look->folded)
		heap_print_folded(stdout, view);
	else
		print_text(look, view);
}

static int begin(struct heap_look *look, const struct heap_subject *of, struct errmsg *err)
{
	char whose[64];

	snprintf(whose, sizeof(whose), of->ended ? "the core file" : "process %d", of->pid);
	budget_watch_task(whose, "a snapshot of its profile");
	if (look->state)
		return 0;
	look->state = mem_zalloc(1, sizeof(*look->state));
	look->state->stacks = heap_stacks_new(of->frames);
	if (!heap_vars_find(of->prog, &look->state->vars, err))
		return 0;
	heap_look_end(look);
	return -1;
}

static int read_heap(struct heap_look *look, const struct heap_subject *of, struct heap *heap,
		     struct errmsg *err)
{
	const struct heap_source from = {.mem = of->mem,
					 .vars = &look->state->vars,
					 .bias = of->frames->bias,
					 .release = of->prog->release};

	if (!of->prog->release_told)
		return errmsg_set(err,
				  "%s: does not say which release of Go built it: how its "
				  "profile is laid out is not known",
				  of->prog->path);
	if (heap_read(&from, heap, err))
		return -1;
	if (!check_rate(look->state, heap, err))
		return 0;
	heap_free(heap);
	return -1;
}

int heap_look(struct heap_look *look, const struct heap_subject *of, uint64_t *count,
	      struct errmsg *err)
{
	struct heap heap;

	if (begin(look, of, err) || read_heap(look, of, &heap, err))
		return -1;
	struct heap_state *state = look->state;

	free(state->before.rows);
	state->before = state->now;
	make_table(look, &heap);
	const struct heap_view view = {.look = look,
				       .of = of,
				       .stacks = state->stacks,
				       .now = &state->now,
				       .before = state->looks++ && look->again ? &state->before
									       : NULL};

	*count = heap_print_count(&view);
	print(look, &view);
	say_left_out(&heap);
	heap_free(&heap);
	return 0;
}

void heap_look_end(struct heap_look *look)
{
	if (!look->state)
		return;
	heap_stacks_free(look->state->stacks);
	free(look->state->now.rows);
	free(look->state->before.rows);
	free(look->state);
	look->state = NULL;
}
