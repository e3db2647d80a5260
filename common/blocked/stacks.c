// SPDX-License-Identifier: Apache-2.0
#include "blocked/stacks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/errmsg.h"
#include "base/json.h"
#include "base/mem.h"
#include "bpf-src/shared/stack.h"
#include "bpf-src/shared/trace.h"
#include "frames/frame_print.h"
#include "frames/frames.h"
#include "elf/image.h"
#include "golang/release.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "machine/calls.h"
#include "profile/profile.h"
#include "program/gostack.h"
#include "program/program.h"
#include "sites/goruntime.h"
#include "tracing/tracer.h"

struct stacks {
	const struct tracer *tracer;
	size_t program_count;
	struct gostack_symbols **syms; /* of each program, once it is asked for */
	int map;
};

/* Where the release is not known, it may be an old one. */
static int check_frames(const struct program *prog, struct errmsg *err)
{
	if (prog->release >= calls_of(image_arch(prog->img))->frames_from)
		return 0;
	return errmsg_set(err,
			  "\"%s\": stacks of arm64 programs from before Go 1.21 cannot be read: "
			  "their frame pointers are wrong once a stack has moved",
			  prog->path);
}

int stacks_define(struct tracer *tracer, const char *tool, struct errmsg *err)
{
	const struct goruntime *rt = tracer_runtime(tracer, 0);
	bool is_short = tracer_program(tracer, 0)->release >= RELEASE_SHORT_GOBUF;

	if (tracer_program_count(tracer) != 1) {
		errmsg_set(err, "%s traces one program at a time", tool);
		errmsg_hint(err, "start it once for each");
		return -1;
	}
	if (check_frames(tracer_program(tracer, 0), err))
		return -1;
	/* gobuf: sp, pc, g, ctxt, ret until it was dropped, lr, bp */
	tracer_define(tracer, "G_SCHED_BP", rt->g_sched_sp + (is_short ? 40 : 48));
	return 0;
}

int stacks_check(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	(void)ctx;
	for (size_t i = 0; i < tracer_program_count(tracer); i++) {
		const struct program *prog = tracer_program(tracer, i);

		if (check_frames(prog, err))
			return -1;
		if (!tracer_runtime(tracer, i)->split_stack)
			continue;
		errmsg_set(err, "\"%s\": what gccgo has compiled keeps no frame pointers",
			   prog->path);
		errmsg_hint(err, "'gotrace -U' prints the stack of each call");
		return -1;
	}
	return 0;
}

struct stacks *stacks_new(const struct tracer *tracer)
{
	struct stacks *stacks = mem_zalloc(1, sizeof(*stacks));

	stacks->tracer = tracer;
	stacks->program_count = tracer_program_count(tracer);
	stacks->syms = mem_zalloc(tracer_program_count(tracer), sizeof(struct gostack_symbols *));
	stacks->map = tracer_map(tracer, "stacks");
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->program_count; i++)
		gostack_symbols_free(stacks->syms[i]);
	free(stacks->syms);
	free(stacks);
}

struct addrs {
	uint64_t all[STACK_FRAMES_MAX]; /* innermost first */
	size_t count;
};

/* false: it was not kept */
static bool find(const struct stacks *stacks, uint64_t hash, struct addrs *addrs)
{
	struct { /* struct stack with as many frames as any program keeps */
		unsigned long long count, frames[STACK_FRAMES_MAX];
	} stack;

	if (!hash || bpfmap_lookup(stacks->map, &hash, &stack))
		return false;
	addrs->count = stack.count < STACK_FRAMES_MAX ? stack.count : STACK_FRAMES_MAX;
	for (size_t i = 0; i < addrs->count; i++)
		addrs->all[i] = stack.frames[i];
	return true;
}

static struct frames frames_of(const struct stacks *stacks, const struct program *prog,
			       uint64_t bias)
{
	size_t n = 0;

	while (tracer_program(stacks->tracer, n) != prog)
		n++;
	if (!stacks->syms[n])
		stacks->syms[n] = gostack_symbols_new(prog->img, prog->tab);
	return (struct frames){
		.syms = stacks->syms[n],
		.tab = prog->tab,
		.bias = bias,
		.img = prog->img,
		.release = prog->release,
	};
}

struct frames stacks_frames(const struct stacks *stacks, uint64_t bias)
{
	return frames_of(stacks, tracer_program(stacks->tracer, 0), bias);
}

void stacks_print(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	struct frames frames = stacks_frames(stacks, bias);
	struct addrs addrs;

	if (find(stacks, hash, &addrs))
		frames_each(&frames, addrs.all, addrs.count, frame_print_line, out);
	else
		fputs("    [lost]\n", out);
}

void stacks_print_folded(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	struct frames frames = stacks_frames(stacks, bias);
	struct addrs addrs;

	if (find(stacks, hash, &addrs))
		frame_print_folded(out, &frames, addrs.all, addrs.count);
	else
		fputs("[lost];", out);
}

void stacks_json(const struct stacks *stacks, uint64_t hash, uint64_t bias, struct json *json)
{
	struct frames frames = stacks_frames(stacks, bias);
	struct addrs addrs;

	json_array(json);
	if (find(stacks, hash, &addrs))
		frames_each(&frames, addrs.all, addrs.count, frame_json_item, json);
	json_array_end(json);
}

void stacks_profile(const struct stacks *stacks, uint64_t hash, uint64_t bias,
		    struct profile *profile)
{
	struct frames frames = stacks_frames(stacks, bias);
	struct profile_at at = {profile, &frames};

	if (!stacks_each(stacks, hash, bias, false, profile_frame, &at))
		profile_word(profile, "[lost]");
}

struct probed { /* a stack from a probed place on */
	struct profile_at at;
	const char *name; /* what is probed; NULL: it has come */
};

static void note_probed(void *ctx, const struct frame *frame)
{
	struct probed *probed = ctx;

	if (!frame->number && probed->name && !strcmp(frame->func, probed->name))
		probed->name = NULL;
}

/* An inlined copy's first instruction may be of another copy within it. */
static void add_probed(void *ctx, const struct frame *frame)
{
	struct probed *probed = ctx;

	if (probed->name && strcmp(frame->func, probed->name) != 0)
		return;
	probed->name = NULL;
	if (!strcmp(frame->func, "runtime.goexit"))
		return;
	profile_frame(&probed->at, frame);
}

void stacks_profile_at(const struct stacks *stacks, uint64_t hash, uint32_t place,
		       struct profile *profile)
{
	const struct tracer *tracer = stacks->tracer;
	const struct trace_place *at = tracer_place(tracer, place);
	const struct selection_item *item = &tracer_selection(tracer)->items[at->item];
	const char *name = tracer_selection(tracer)->rows[item->row].name;
	struct addrs addrs;

	if (!find(stacks, hash, &addrs)) {
		profile_word(profile, name);
		profile_word(profile, "[lost]");
		return;
	}
	/* the first address is the place's, and one byte more; a copy's may be before or after it
	 */
	struct frames frames = frames_of(stacks, item->prog, addrs.all[0] - 1 - at->addr);

	if (item->is_copy)
		addrs.all[0] = item->copy.addr + frames.bias + 1;
	struct probed seen = {.name = name}, probed = {{profile, &frames}, name};

	frames_all(&frames, addrs.all, 1, note_probed, &seen);
	if (seen.name) /* it is shown by another name */
		probed.name = NULL;
	frames_all(&frames, addrs.all, addrs.count, add_probed, &probed);
	if (addrs.count == STACK_FRAMES_MAX)
		profile_word(profile, "[more]");
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
	struct frames frames = stacks_frames(stacks, bias);
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
