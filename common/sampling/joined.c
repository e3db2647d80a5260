// SPDX-License-Identifier: Apache-2.0
#include "sampling/joined_internal.h"

#include <string.h>

#include "frames/unwinder.h"
#include "program/functab.h"
#include "sampling/vdso_internal.h"

enum { LOOKUPS = 1 << 16 }; /* of one sample: most addresses are remembered */
enum { FLAG_TOP_FRAME = 1 };
/* what runtime.nanotime1 takes below its frame before it calls the vDSO, and then to be aligned */
enum { ASIDE_BYTES = 16, ASIDE_ALIGN = 8 };

/* Marks: what is missing is said where it is missing. */
static const char no_caller[] = "[caller not known]";
static const char switching[] = "[switches stacks]";
static const char interrupted[] = "[interrupted by a signal]";
static const char more[] = "[more]";

static const char signals[] = "runtime.sigtramp"; /* what the kernel calls for a signal */

struct walk {
	const struct joined_program *program;
	const struct profile_sample *sample;
	const struct profile_part *part;
	const uint64_t *top;
	const struct profile_link *links;
	size_t link; /* the first that was not followed yet */
	uint64_t pc, sp;
	bool is_leaf;      /* pc is where it runs, not a return address */
	bool on_goroutine; /* the second part */
	struct joined *out;
};

static void put(struct walk *walk, uint64_t addr, const char *mark)
{
	struct joined *out = walk->out;

	if (out->count < JOINED_FRAMES)
		out->all[out->count++] = (struct joined_frame){addr, mark};
}

/* --- return addresses --- */

static uint64_t link_addr(const struct walk *walk, size_t i)
{
	return i ? walk->links[i - 1].caller : walk->part->bp;
}

/* The return address at `slot`. */
static bool read_return(struct walk *walk, uint64_t slot)
{
	uint64_t off = slot - walk->part->sp;

	if (off % 8 == 0 && off / 8 < walk->part->top) {
		walk->pc = walk->top[off / 8];
		return true;
	}
	for (size_t i = walk->link; i < walk->part->links; i++) {
		if (link_addr(walk, i) + 8 != slot)
			continue;
		walk->link = i + 1;
		walk->pc = walk->links[i].ret;
		return true;
	}
	return false;
}

static bool is_go(const struct walk *walk, uint64_t pc)
{
	struct functab_func fn;

	return functab_find(walk->program->frames->tab, pc - walk->program->frames->bias, &fn);
}

/* Goes on at the next frame that frame pointers lead to. `anywhere`: it may be on another stack. */
static bool follow_link(struct walk *walk, bool anywhere)
{
	for (size_t i = walk->link; i < walk->part->links; i++) {
		uint64_t at = link_addr(walk, i);

		if ((!anywhere && at < walk->sp) || !is_go(walk, walk->links[i].ret))
			continue;
		walk->link = i + 1;
		walk->pc = walk->links[i].ret;
		walk->sp = at + 16;
		walk->is_leaf = false;
		return true;
	}
	return false;
}

/* --- functions that stacks end at, or lead to others --- */

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* Up to Go 1.16 no flag says so (src/runtime/traceback.go, topofstack). */
static bool ends_stack(const struct functab_func *fn)
{
	static const char *const names[] = {"runtime.goexit",
					    "runtime.mstart",
					    "runtime.mcall",
					    "runtime.rt0_go",
					    "runtime.gogo",
					    signals,
					    NULL};

	return fn->flags & FLAG_TOP_FRAME || is_one_of(fn->name, names);
}

/* They go on with something on the system stack, and return to the goroutine's. */
static bool leaves_goroutine(const struct functab_func *fn)
{
	static const char *const names[] = {"runtime.systemstack", "runtime.morestack",
					    "runtime.asmcgocall", NULL};

	return is_one_of(fn->name, names);
}

static bool on_own_stack(const struct walk *walk)
{
	const struct profile_sample *sample = walk->sample;

	return sample->stack_lo < walk->sp && walk->sp <= sample->stack_hi;
}

static bool has_goroutine(const struct walk *walk)
{
	return !walk->on_goroutine && walk->sample->parts[PROFILE_GOROUTINE].pc;
}

/* --- steps --- */

enum step {
	STEP_ON,
	STEP_END,       /* nobody called this one */
	STEP_GOROUTINE, /* the system stack's end: the goroutine called */
	STEP_LOST,
};

/* By the links alone, where the tables do not help. */
static enum step step_link(struct walk *walk, bool anywhere)
{
	return follow_link(walk, anywhere) ? STEP_ON : STEP_LOST;
}

/* From the vDSO to who has called it, by its own tables: to its first instructions and its last
 * ones, frame pointers are no guide. */
static enum step step_vdso(struct walk *walk, uint64_t base)
{
	const struct vdso *vdso = walk->program->vdso;
	const struct vdso_at at = {.base = base,
				   .pc = walk->pc,
				   .sp = walk->sp,
				   .bp = walk->part->bp,
				   .top = walk->top,
				   .count = walk->part->top};
	uint64_t caller;

	if (!walk->is_leaf || !vdso || !vdso_return(vdso, &at, &caller) || !is_go(walk, caller))
		return step_link(walk, true);
	/* the frame that leads there, if there is one, has been followed */
	for (size_t i = 0; i < walk->part->links; i++)
		if (walk->links[i].ret == caller) {
			walk->link = i + 1;
			break;
		}
	walk->pc = caller;
	walk->is_leaf = false;
	return STEP_ON;
}

/* The code is none of Go's: C's, or the kernel's in the vDSO. */
static enum step step_foreign(struct walk *walk)
{
	uint64_t from = 0;
	const char *place = walk->program->place(walk->program->ctx, walk->pc, &from);

	put(walk, 0, place);
	if (!strcmp(place, "[vdso]"))
		return step_vdso(walk, from);
	/* C has no frame pointers that one could rely on */
	if (has_goroutine(walk))
		return STEP_GOROUTINE;
	return step_link(walk, true);
}

static enum step step_plain(struct walk *walk, int32_t sp_delta)
{
	uint64_t slot = walk->sp + (uint64_t)(uint32_t)sp_delta;

	walk->is_leaf = false;
	if (sp_delta >= 0 && sp_delta % 8 == 0 && read_return(walk, slot)) {
		walk->sp = slot + 8;
		return walk->pc ? STEP_ON : STEP_END;
	}
	if (walk->part->links == PROFILE_LINKS)
		return STEP_LOST;
	put(walk, 0, no_caller);
	return step_link(walk, false);
}

/* It switches from the goroutine's stack to the system's, or is back: which of them the stack
 * pointer leads to, what is there tells. */
static enum step step_leaving(struct walk *walk, int32_t sp_delta)
{
	uint64_t off = (uint64_t)(uint32_t)sp_delta / 8;
	bool plain = walk->is_leaf && on_own_stack(walk) && off < walk->part->top &&
		     is_go(walk, walk->top[off]);

	if (plain || walk->on_goroutine)
		return step_plain(walk, sp_delta);
	if (has_goroutine(walk))
		return STEP_GOROUTINE;
	/* the goroutine has been given up meanwhile, and this is the scheduler */
	return walk->sample->runs == PROFILE_RUNS_SYSTEM ? STEP_END : STEP_LOST;
}

/* Stacks begin with it, or it leaves one for good. */
static enum step step_ending(struct walk *walk, const struct functab_func *fn, int32_t sp_delta)
{
	if (!strcmp(fn->name, signals)) {
		put(walk, 0, interrupted);
		return STEP_END;
	}
	if (!walk->is_leaf || !strcmp(fn->name, "runtime.gogo"))
		return STEP_END;
	if (walk->sample->runs == PROFILE_RUNS_GOROUTINE && on_own_stack(walk))
		return step_plain(walk, sp_delta);
	put(walk, 0, switching);
	return STEP_END;
}

/* Up to Go 1.16 no flag says so: they call the vDSO on the system stack. */
static bool goes_aside(const struct functab_func *fn)
{
	static const char *const names[] = {"runtime.nanotime1", "runtime.walltime1", "time.now",
					    "runtime.walltime", NULL};

	return is_one_of(fn->name, names);
}

/* Does the stack pointer tell where its frame is? While it calls, that is on another stack, or
 * lowered and aligned. Its frame pointer is its caller's before it has a frame, and after. */
static bool is_beside(const struct walk *walk, int32_t sp_delta)
{
	uint64_t up = (uint64_t)(uint32_t)sp_delta, off = walk->part->bp + 8 - (walk->sp + up);

	if (!walk->is_leaf || !on_own_stack(walk))
		return true;
	if (off == ASIDE_BYTES + ASIDE_ALIGN && up / 8 < walk->part->top)
		return !is_go(walk, walk->top[up / 8]);
	return sp_delta && off <= ASIDE_BYTES + ASIDE_ALIGN;
}

static enum step step(struct walk *walk)
{
	const struct frames *frames = walk->program->frames;
	struct frame_rule rule = unwinder_rule(walk->program->unwinder, walk->pc);
	struct functab_func fn;

	if (!functab_find(frames->tab, walk->pc - frames->bias, &fn))
		return step_foreign(walk);
	put(walk, walk->pc + walk->is_leaf, NULL);
	if (ends_stack(&fn))
		return step_ending(walk, &fn, rule.sp_delta);
	if (leaves_goroutine(&fn))
		return step_leaving(walk, rule.sp_delta);
	if (rule.kind == FRAME_UNKNOWN)
		return step_link(walk, false);
	if ((rule.kind == FRAME_SWITCH || goes_aside(&fn)) && !walk->on_goroutine &&
	    is_beside(walk, rule.sp_delta))
		return step_link(walk, true);
	return step_plain(walk, rule.sp_delta);
}

static enum step walk_part(struct walk *walk)
{
	enum step next = STEP_ON;

	while (next == STEP_ON && walk->out->count < JOINED_FRAMES)
		next = step(walk);
	return next;
}

/* --- the two parts --- */

static struct walk begin(const struct joined_program *program, const struct profile_sample *sample,
			 const uint64_t *words, size_t number, struct joined *out)
{
	const struct profile_part *part = &sample->parts[number];

	return (struct walk){.program = program,
			     .sample = sample,
			     .part = part,
			     .top = words,
			     .links = (const struct profile_link *)(words + part->top),
			     .pc = part->pc,
			     .sp = part->sp,
			     .is_leaf = number == PROFILE_HERE,
			     .on_goroutine = number == PROFILE_GOROUTINE,
			     .out = out};
}

/* What runtime.systemstack has noted is not where it is: up to Go 1.20 the stack pointer leads to
 * where it returns to; from then on it has a frame, and both lead to that. */
static bool enter_goroutine(struct walk *walk)
{
	const struct frames *frames = walk->program->frames;
	struct functab_func fn;
	uint64_t slot = walk->sp + (walk->part->bp == walk->sp ? 8 : 0);

	if (!functab_find(frames->tab, walk->pc - frames->bias, &fn) ||
	    strcmp(fn.name, "runtime.systemstack_switch") != 0)
		return true;
	if (!read_return(walk, slot))
		return false;
	walk->sp = slot + 8;
	return true;
}

static bool is_sound(const struct profile_sample *sample)
{
	uint64_t words = (uint64_t)sample->kernel + sample->label_words;

	if (sample->kernel > PROFILE_KERNEL || sample->label_words > sample->count)
		return false;
	for (size_t i = 0; i < PROFILE_PARTS; i++) {
		const struct profile_part *part = &sample->parts[i];

		if (part->top > PROFILE_TOP || part->links > PROFILE_LINKS)
			return false;
		words += part->top + 2 * part->links;
	}
	return words == sample->count;
}

static void put_end(struct walk *walk, enum step last)
{
	if (last == STEP_END)
		return;
	if (walk->part->links == PROFILE_LINKS)
		put(walk, 0, more);
	else if (!walk->out->count || walk->out->all[walk->out->count - 1].mark != no_caller)
		put(walk, 0, no_caller);
}

void joined_read(const struct joined_program *program, const struct profile_sample *sample,
		 const uint64_t *words, struct joined *out)
{
	const struct profile_part *here = &sample->parts[PROFILE_HERE];

	out->count = 0;
	if (!is_sound(sample))
		return;
	unwinder_begin(program->unwinder, LOOKUPS);
	words += sample->kernel + sample->label_words;
	struct walk walk = begin(program, sample, words, PROFILE_HERE, out);
	enum step last = walk_part(&walk);

	if (last == STEP_GOROUTINE) {
		words += here->top + 2 * here->links;
		walk = begin(program, sample, words, PROFILE_GOROUTINE, out);
		last = enter_goroutine(&walk) ? walk_part(&walk) : STEP_LOST;
	}
	put_end(&walk, last);
}
