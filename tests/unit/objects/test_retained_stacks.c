// SPDX-License-Identifier: Apache-2.0
/* Which words of goroutines' stacks count as pointers: by the maps of each frame, or all of them
 * where these are not to be trusted. A word's value is its address. */
#include <string.h>

#include "frames/frame_maps.h"
#include "frames/frames.h"
#include "frames/unwinder.h"
#include "goroutines/goroutine_frames.h"
#include "goroutines/snapshot.h"
#include "objects/object_walk_internal.h"
#include "objects/objects_still_internal.h"
#include "objects/retained_roots_internal.h"
#include "program/functab.h"
#include "steps.h"
#include "unit.h"

enum { BIAS = 0x100000, SP = 0xc000, HI = 0xc080 };
/* frames, by their address in memory: the function is the address without its last digit */
enum {
	PLAIN = BIAS + 0x1005,
	OBJECTS = BIAS + 0x2005,
	ASYNC = BIAS + 0x3005,
	FIRST = BIAS + 0x4005,
	ODD = BIAS + 0x5005,
	UNKNOWN = BIAS + 0x6005,
	INJECTED = BIAS + 0x7005,
	SWITCH = BIAS + 0x8005,
	NOWHERE = BIAS + 0x9005,
	EMPTY = BIAS + 0xa005
};

static int anything;
#define SOME ((void *)&anything)

static struct world {
	uint64_t pcs[6];
	size_t count;
	uint64_t ret_at, ret; /* a word that has another value */
	unsigned words;       /* that may be looked at */
} world;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

uint64_t object_walk_word(const struct object_walk *walk, uint64_t addr)
{
	if (addr == world.ret_at)
		return world.ret;
	return addr == SP + 0x40 ? 0 : addr;
}

bool object_walk_spend(struct object_walk *walk)
{
	return world.words && world.words--;
}

void frame_maps_at(const struct frames *frames, uint64_t addr, struct frame_maps *out)
{
	static const uint8_t locals[] = {0x05}, args[] = {0x02};

	steps_are("maps at %lx", addr);
	*out = (struct frame_maps){.locals = {locals, 3}, .args = {args, 2}};
	if (addr == OBJECTS - BIAS - 1)
		*out = (struct frame_maps){.objects = 1, .object_count = 4};
	if (addr == EMPTY - BIAS - 1)
		*out = (struct frame_maps){0};
}

bool frame_maps_bit(const struct frame_map *map, uint32_t word)
{
	return map->bits[0] >> word & 1;
}

bool frame_maps_object(const struct frames *frames, const struct frame_maps *maps, uint32_t number,
		       struct frame_object *out)
{
	static const struct frame_object objects[] = {{-16, 16}, {8, 8}, {-0x1000, 8}};

	if (number > 2)
		return false;
	*out = objects[number];
	return true;
}

struct unwinder *unwinder_new(const struct frames *frames)
{
	return SOME;
}

void unwinder_free(struct unwinder *uw)
{
}

void unwinder_begin(struct unwinder *uw, size_t lookups)
{
	steps_are("%zu lookups", lookups);
}

struct frame_rule unwinder_rule(void *ctx, uint64_t pc)
{
	struct frame_rule rule = {.sp_delta = 0x20, .kind = FRAME_PLAIN};

	steps_are("rule at %lx", pc);
	switch ((pc & ~UINT64_C(0xf)) - BIAS) {
	case 0x4000:
		rule.kind = FRAME_FIRST;
		break;
	case 0x5000:
		rule.sp_delta = 0x24;
		break;
	case 0x6000:
		rule.kind = FRAME_UNKNOWN;
		break;
	case 0x7000:
		rule.injected = true;
		break;
	case 0x8000:
		rule.kind = FRAME_SWITCH;
		rule.sp_delta = 0x78;
		break;
	case 0xa000:
		rule.sp_delta = 0;
		break;
	}
	return rule;
}

int32_t unwinder_return_at(const struct frame_rule *rule)
{
	return rule->sp_delta;
}

int32_t unwinder_caller(const struct frame_rule *rule)
{
	return rule->sp_delta + 8;
}

uint32_t unwinder_injected(const struct frame_rule *rule)
{
	return rule->injected ? 16 : 0;
}

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *out)
{
	static char names[16][24];
	unsigned n = addr >> 12;

	strcpy(names[n], n == 3 ? "runtime.asyncPreempt2" : "f0");
	if (n != 3)
		names[n][1] += (char)n;
	*out = (struct functab_func){.name = names[n], .addr = addr & ~UINT64_C(0xf)};
	return n != 9;
}

const uint64_t *snapshot_stack(const struct snapshot *snap, uint32_t stack, size_t *count)
{
	*count = world.count;
	return world.pcs;
}

bool goroutine_is_system(const struct goroutine *g, const struct frames *frames,
			 const uint64_t *addrs, size_t count)
{
	steps_are("goroutine %lu of %zu frames", g->goid, count);
	return g->goid == 2;
}

/* NOLINTEND(misc-unused-parameters) */

static void found(void *ctx, const struct retained_root *root, uint64_t to)
{
	(void)ctx;
	steps_are("%s %lx: %lx", root->name ? root->name : "?", root->addr, to);
	if (root->how != RETAINED_STACK || root->goid != 1)
		steps_are("of %lu as %d", root->goid, root->how);
}

static void walk(struct goroutine *all, size_t count, bool system)
{
	const struct frames frames = {.bias = BIAS};
	const struct objects_still still = {.snap = {.all = all, .count = count}};
	const struct retained_roots roots = {
		.walk = SOME, .still = &still, .frames = &frames, .found = found};

	retained_roots_stacks(&roots, system);
}

static void begin(const uint64_t *pcs, size_t count)
{
	memset(&steps, 0, sizeof(steps));
	world = (struct world){.count = count, .words = 1000};
	memcpy(world.pcs, pcs, count * sizeof(*pcs));
}

static void one(const uint64_t *pcs, size_t count, uint8_t state, bool interrupted)
{
	struct goroutine g = {.goid = 1,
			      .sp = SP,
			      .stack_hi = HI,
			      .stack_state = state,
			      .interrupted = interrupted};

	begin(pcs, count);
	if (count > 1) { /* the first frame's return address */
		world.ret_at = SP + 0x20 - (pcs[0] == EMPTY ? 0x20 : 0);
		world.ret = pcs[1];
	}
	walk(&g, 1, false);
}

#define ONE(state, interrupted, ...)                                                               \
	do {                                                                                       \
		static const uint64_t pcs_[] = {__VA_ARGS__};                                      \
                                                                                                   \
		one(pcs_, sizeof(pcs_) / sizeof(*pcs_), state, interrupted);                       \
	} while (0)

static void test_frames(void **state)
{
	(void)state;
	ONE(STACK_READ, false, PLAIN);
	steps_expect("4194304 lookups; goroutine 1 of 1 frames; rule at 101005; maps at 1004; f1 "
		     "1000: c000; f1 1000: c010; f1 1000: c030; ");
	ONE(STACK_READ, false, PLAIN, OBJECTS);
	steps_expect("4194304 lookups; goroutine 1 of 2 frames; rule at 101005; maps at 1004; f1 "
		     "1000: c000; f1 1000: c010; f1 1000: c030; rule at 102005; maps at 2004; f2 "
		     "2000: c030; f2 2000: c038; f2 2000: c058; ");
	ONE(STACK_CUT, false, PLAIN);
	steps_expect("4194304 lookups; goroutine 1 of 1 frames; rule at 101005; maps at 1004; f1 "
		     "1000: c000; f1 1000: c010; f1 1000: c030; ? 0: c028; ? 0: c030; ? 0: c038; ? "
		     "0: c048; ? 0: c050; ? 0: c058; ? 0: c060; ? 0: c068; ? 0: c070; ? 0: c078; ");
	ONE(STACK_READ, false, EMPTY, PLAIN);
	steps_expect("4194304 lookups; goroutine 1 of 2 frames; rule at 10a005; maps at a004; rule "
		     "at 101005; maps at 1004; f1 1000: c008; f1 1000: c018; f1 1000: c038; ");
}

/* Registers that are saved may be of anything. */
static void test_interrupted(void **state)
{
	(void)state;
	ONE(STACK_READ, true, PLAIN);
	steps_expect("4194304 lookups; goroutine 1 of 1 frames; rule at 101004; f1 1000: c000; f1 "
		     "1000: c008; f1 1000: c010; f1 1000: c018; ");
	ONE(STACK_READ, false, ASYNC, PLAIN);
	steps_expect("4194304 lookups; goroutine 1 of 2 frames; rule at 103005; "
		     "runtime.asyncPreempt2 3000: c000; runtime.asyncPreempt2 3000: c008; "
		     "runtime.asyncPreempt2 3000: c010; runtime.asyncPreempt2 3000: c018; rule at "
		     "101005; f1 1000: c028; f1 1000: c030; f1 1000: c038; ");
	ONE(STACK_READ, false, INJECTED, PLAIN);
	steps_expect("4194304 lookups; goroutine 1 of 2 frames; rule at 107005; maps at 7004; f7 "
		     "7000: c000; f7 7000: c010; f7 7000: c030; rule at 101005; maps at 1004; f1 "
		     "1000: c038; f1 1000: c048; f1 1000: c068; ");
}

/* From where a frame's end is not known, all words count. */
static void test_unknown(void **state)
{
	(void)state;
	ONE(STACK_READ, false, PLAIN, FIRST);
	steps_expect("4194304 lookups; goroutine 1 of 2 frames; rule at 101005; maps at 1004; f1 "
		     "1000: c000; f1 1000: c010; f1 1000: c030; rule at 104005; ? 0: c028; ? 0: "
		     "c030; ? 0: c038; ? 0: c048; ? 0: c050; ? 0: c058; ? 0: c060; ? 0: c068; ? 0: "
		     "c070; ? 0: c078; ");
	ONE(STACK_READ, false, ODD);
	steps_expect("4194304 lookups; goroutine 1 of 1 frames; rule at 105005; ? 0: c000; ? 0: "
		     "c008; ? 0: c010; ? 0: c018; ? 0: c020; ? 0: c028; ? 0: c030; ? 0: c038; ? 0: "
		     "c048; ? 0: c050; ? 0: c058; ? 0: c060; ? 0: c068; ? 0: c070; ? 0: c078; ");
	ONE(STACK_READ, false, UNKNOWN);
	steps_expect("4194304 lookups; goroutine 1 of 1 frames; rule at 106005; ? 0: c000; ? 0: "
		     "c008; ? 0: c010; ? 0: c018; ? 0: c020; ? 0: c028; ? 0: c030; ? 0: c038; ? 0: "
		     "c048; ? 0: c050; ? 0: c058; ? 0: c060; ? 0: c068; ? 0: c070; ? 0: c078; ");
	ONE(STACK_READ, false, NOWHERE);
	steps_expect("4194304 lookups; goroutine 1 of 1 frames; rule at 109005; ? 0: c000; ? 0: "
		     "c008; ? 0: c010; ? 0: c018; ? 0: c020; ? 0: c028; ? 0: c030; ? 0: c038; ? 0: "
		     "c048; ? 0: c050; ? 0: c058; ? 0: c060; ? 0: c068; ? 0: c070; ? 0: c078; ");
	ONE(STACK_READ, false, SWITCH);
	steps_expect("4194304 lookups; goroutine 1 of 1 frames; rule at 108005; maps at 8004; f8 "
		     "8000: c058; f8 8000: c068; ");
	ONE(STACK_RUNNING, false, PLAIN);
	steps_expect("4194304 lookups; goroutine 1 of 0 frames; ? 0: c000; ? 0: c008; ? 0: c010; ? "
		     "0: c018; ? 0: c020; ? 0: c028; ? 0: c030; ? 0: c038; ? 0: c048; ? 0: c050; ? "
		     "0: c058; ? 0: c060; ? 0: c068; ? 0: c070; ? 0: c078; ");
}

static void test_goroutines(void **state)
{
	static const uint64_t pcs[] = {PLAIN, OBJECTS};
	struct goroutine all[] = {
		{.goid = 1, .sp = HI - 0x10, .stack_hi = HI, .stack_state = STACK_CHANGED},
		{.goid = 2, .sp = HI - 0x20 + 4, .stack_hi = HI, .stack_state = STACK_UNKNOWN},
		{.goid = 1, .sp = HI, .stack_hi = HI, .stack_state = STACK_READ},
		{.goid = 1, .sp = 0, .stack_hi = HI, .stack_state = STACK_READ}};

	(void)state;
	begin(pcs, 2);
	walk(all, 4, false);
	steps_expect("4194304 lookups; goroutine 1 of 0 frames; ? 0: c070; ? 0: c078; goroutine 2 "
		     "of 0 frames; goroutine 1 of 2 frames; goroutine 1 of 2 frames; ");
	begin(pcs, 2);
	walk(all, 4, true);
	steps_expect("4194304 lookups; goroutine 1 of 0 frames; goroutine 2 of 0 frames; ? 0: "
		     "c060; of 2 as 1; ? 0: c068; of 2 as 1; ? 0: c070; of 2 as 1; ? 0: c078; of 2 "
		     "as 1; goroutine 1 of 2 frames; goroutine 1 of 2 frames; ");
	/* another stack by now */
	all[0].sp = SP;
	all[0].stack_state = STACK_READ;
	begin(pcs, 2);
	world.ret_at = SP + 0x20;
	world.ret = PLAIN;
	world.words = 10;
	walk(all, 1, false);
	steps_expect("4194304 lookups; goroutine 1 of 2 frames; rule at 101005; maps at 1004; f1 "
		     "1000: c000; f1 1000: c010; f1 1000: c030; ? 0: c000; ? 0: c008; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_goroutines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
