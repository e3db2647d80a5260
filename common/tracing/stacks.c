// SPDX-License-Identifier: Apache-2.0
#include "tracing/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/errmsg.h"
#include "base/json.h"
#include "base/mem.h"
#include "bpf-src/shared/stack.h"
#include "goroutines/frame_print.h"
#include "goroutines/frames.h"
#include "golang/release.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "program/gostack.h"
#include "program/program.h"
#include "sites/goruntime.h"
#include "tracing/tracer.h"

struct stacks {
	const struct program *prog;
	struct gostack_symbols *syms;
	int map;
};

int stacks_define(struct tracer *tracer, const char *tool, struct errmsg *err)
{
	const struct goruntime *rt = &tracer->runtimes[0];
	bool is_short = tracer->programs[0]->release >= RELEASE_SHORT_GOBUF;

	if (tracer->program_count != 1) {
		errmsg_set(err, "%s traces one program at a time", tool);
		errmsg_hint(err, "start it once for each");
		return -1;
	}
	/* gobuf: sp, pc, g, ctxt, ret until it was dropped, lr, bp */
	tracer_define(tracer, "G_SCHED_BP", rt->g_sched_sp + (is_short ? 40 : 48));
	return 0;
}

struct stacks *stacks_new(const struct tracer *tracer)
{
	struct stacks *stacks = mem_zalloc(1, sizeof(*stacks));

	stacks->prog = tracer->programs[0];
	stacks->syms = gostack_symbols_new(stacks->prog->img, stacks->prog->tab);
	stacks->map = bpfprog_map(tracer->bpf, "stacks");
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (stacks)
		gostack_symbols_free(stacks->syms);
	free(stacks);
}

struct addrs {
	uint64_t all[STACK_FRAMES]; /* innermost first */
	size_t count;
};

/* false: it was not kept */
static bool find(const struct stacks *stacks, uint64_t hash, struct addrs *addrs)
{
	struct stack stack;

	if (!hash || bpfmap_lookup(stacks->map, &hash, &stack))
		return false;
	addrs->count = stack.count < STACK_FRAMES ? stack.count : STACK_FRAMES;
	for (size_t i = 0; i < addrs->count; i++)
		addrs->all[i] = stack.frames[i];
	return true;
}

static struct frames frames_of(const struct stacks *stacks, uint64_t bias)
{
	return (struct frames){
		.syms = stacks->syms,
		.tab = stacks->prog->tab,
		.bias = bias,
		.img = stacks->prog->img,
		.release = stacks->prog->release,
	};
}

static void print_frame(void *ctx, const struct frame *frame)
{
	FILE *out = ctx;

	fputs("    ", out);
	frame_print(out, frame);
	fputc('\n', out);
}

void stacks_print(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	struct frames frames = frames_of(stacks, bias);
	struct addrs addrs;

	if (find(stacks, hash, &addrs))
		frames_each(&frames, addrs.all, addrs.count, print_frame, out);
	else
		fputs("    [lost]\n", out);
}

void stacks_print_folded(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	struct frames frames = frames_of(stacks, bias);
	struct addrs addrs;

	if (find(stacks, hash, &addrs))
		frame_print_folded(out, &frames, addrs.all, addrs.count);
	else
		fputs("[lost];", out);
}

static void add_frame(void *ctx, const struct frame *frame)
{
	struct json *json = ctx;

	json_object(json);
	frame_json(json, frame);
	if (frame->inlined) {
		json_key(json, "inlined");
		json_bool(json, true);
	}
	json_object_end(json);
}

void stacks_json(const struct stacks *stacks, uint64_t hash, uint64_t bias, struct json *json)
{
	struct frames frames = frames_of(stacks, bias);
	struct addrs addrs;

	json_array(json);
	if (find(stacks, hash, &addrs))
		frames_each(&frames, addrs.all, addrs.count, add_frame, json);
	json_array_end(json);
}

size_t stacks_addresses(const struct stacks *stacks, uint64_t hash, uint64_t *out, size_t max)
{
	struct addrs addrs;
	size_t count;

	if (!find(stacks, hash, &addrs))
		return 0;
	count = addrs.count < max ? addrs.count : max;
	memcpy(out, addrs.all, count * sizeof(*out));
	return count;
}

bool stacks_each(const struct stacks *stacks, uint64_t hash, uint64_t bias, bool all,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	struct frames frames = frames_of(stacks, bias);
	struct addrs addrs;

	if (!find(stacks, hash, &addrs))
		return false;
	(all ? frames_all : frames_each)(&frames, addrs.all, addrs.count, fn, ctx);
	return true;
}

static void note_name(void *ctx, const struct frame *frame)
{
	const char **name = ctx;

	/* what goroutines return to, shown with the runtime's own only */
	if (strcmp(frame->func, "runtime.goexit") != 0)
		*name = frame->func;
}

const char *stacks_outermost(const struct stacks *stacks, uint64_t hash, uint64_t bias)
{
	const char *name = NULL;

	stacks_each(stacks, hash, bias, false, note_name, &name);
	return name;
}

static void hash_frame(void *ctx, const struct frame *frame)
{
	uint64_t *shown = ctx;

	*shown = index_hash_text(*shown, frame->func);
	*shown = index_hash_text(*shown, frame->file ? frame->file : "");
	*shown = index_hash(*shown, (uint64_t)frame->line << 1 | frame->inlined);
}

uint64_t stacks_shown(const struct stacks *stacks, uint64_t hash, uint64_t bias)
{
	uint64_t shown = 0;

	stacks_each(stacks, hash, bias, false, hash_frame, &shown);
	return shown;
}
