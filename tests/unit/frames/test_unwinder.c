// SPDX-License-Identifier: Apache-2.0
/* How many addresses are looked up in a program's tables, and that they are remembered. */
#include "gofile_open.h"
#include "frames/frames.h"
#include "frames/unwinder.h"
#include "machine/calls.h"

enum { LOOKUPS = 3 };

struct looking {
	struct opened o;
	struct frames frames;
	struct unwinder *uw;
};

static void begin(struct looking *l)
{
	gofile_make(&l->o.g, 20, EM_X86_64);
	open_it(&l->o);
	l->frames = (struct frames){.tab = l->o.tab, .img = l->o.img, .release = 20};
	l->uw = unwinder_new(&l->frames);
	unwinder_begin(l->uw, LOOKUPS);
}

static void end(struct looking *l)
{
	unwinder_free(l->uw);
	close_it(&l->o);
}

/* Of the n-th of some addresses in main.b. */
static bool is_known(const struct looking *l, unsigned n)
{
	return unwinder_rule(l->uw, l->o.g.starts[1] + 1 + n).kind == FRAME_PLAIN;
}

static void test_remembered(void **state)
{
	struct looking l;

	(void)state;
	begin(&l);
	for (unsigned i = 0; i < 10 * LOOKUPS; i++)
		assert_true(is_known(&l, i % LOOKUPS));
	assert_false(unwinder_gave_up(l.uw));
	end(&l);
}

/* What one look has no room for is not unknown for ever. */
static void test_limit(void **state)
{
	struct looking l;

	(void)state;
	begin(&l);
	for (unsigned i = 0; i < LOOKUPS; i++)
		assert_true(is_known(&l, i));
	assert_false(unwinder_gave_up(l.uw));
	assert_false(is_known(&l, LOOKUPS));
	assert_true(unwinder_gave_up(l.uw));
	assert_true(is_known(&l, 0));
	unwinder_begin(l.uw, 1);
	assert_false(unwinder_gave_up(l.uw));
	assert_true(is_known(&l, LOOKUPS));
	assert_false(is_known(&l, LOOKUPS + 1));
	unwinder_allow(l.uw, 1);
	assert_true(is_known(&l, LOOKUPS + 1));
	end(&l);
}

/* Main.b all along, down to where goroutines begin. */
static struct frame_rule end_at_one(void *ctx, uint64_t pc)
{
	(void)ctx;
	return (struct frame_rule){.kind = pc == 1 ? FRAME_FIRST : FRAME_PLAIN};
}

static enum unwound walk(size_t frames)
{
	static uint64_t words[2 * UNWINDER_FRAMES];
	static struct unwound_frames out;
	struct stack_bytes stack = {.bytes = (const uint8_t *)words, .len = sizeof(words)};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		words[i] = i + 1 < frames ? 2 : 1;
	enum unwound how = unwinder_walk(&stack, 2, end_at_one, NULL, &out);

	assert_int_equal(out.count, frames < UNWINDER_FRAMES ? frames : UNWINDER_FRAMES);
	return how;
}

/* A stack is cut only if it has more frames than are kept. */
static void test_cut(void **state)
{
	(void)state;
	assert_int_equal(walk(UNWINDER_FRAMES - 1), UNWOUND_WHOLE);
	assert_int_equal(walk(UNWINDER_FRAMES), UNWOUND_WHOLE);
	assert_int_equal(walk(UNWINDER_FRAMES + 1), UNWOUND_CUT);
}

/* --- return addresses in a register --- */

enum { LEAF = 0x10, PLAIN = 0x20, INJECTED = 0x30, GOEXIT = 0x40 };

/* As arm64's are: an address's row, and one that stands anywhere else in it */
static struct frame_rule linked(void *ctx, uint64_t pc)
{
	struct frame_rule rule = {.kind = FRAME_PLAIN, .args = 8, .calls = calls_of(ARCH_ARM64)};

	(void)ctx;
	if (pc == GOEXIT)
		rule.kind = FRAME_FIRST;
	rule.injected = pc == INJECTED;
	rule.sp_delta = pc == LEAF ? 0 : 32;
	return rule;
}

struct linked_case {
	uint64_t pc, link, words[12];
	enum unwound how;
	size_t count;
	uint64_t pcs[4];
	uint32_t args[4];
};

static const struct linked_case linked_cases[] = {
	/* its own stack pointer has the return address, and its arguments are beyond the callee's
	 */
	{PLAIN, 0, {PLAIN, 0, 0, 0, GOEXIT}, UNWOUND_WHOLE, 2, {PLAIN, PLAIN}, {40, 72}},
	/* a function without a frame, and one that has not run yet */
	{LEAF, PLAIN, {GOEXIT}, UNWOUND_WHOLE, 2, {LEAF, PLAIN}, {8, 40}},
	{LEAF, GOEXIT, {0}, UNWOUND_WHOLE, 1, {LEAF}, {8}},
	/* only the innermost can have none */
	{PLAIN, LEAF, {LEAF, 0, 0, 0, GOEXIT}, UNWOUND_NOT, 1, {PLAIN}, {40}},
	/* interrupted in a function without a frame: what the register held was pushed */
	{INJECTED,
	 0,
	 {LEAF, 0, 0, 0, PLAIN, 0, GOEXIT},
	 UNWOUND_WHOLE,
	 3,
	 {INJECTED, LEAF, PLAIN},
	 {40, 56, 88}},
	{INJECTED,
	 0,
	 {PLAIN, 0, 0, 0, 1, 0, GOEXIT},
	 UNWOUND_WHOLE,
	 2,
	 {INJECTED, PLAIN},
	 {40, 88}},
};

static void test_linked(void **state)
{
	static struct unwound_frames out;

	(void)state;
	for (size_t i = 0; i < sizeof(linked_cases) / sizeof(*linked_cases); i++) {
		const struct linked_case *c = &linked_cases[i];
		struct stack_bytes stack = {.bytes = (const uint8_t *)c->words,
					    .len = sizeof(c->words),
					    .link = c->link};

		assert_int_equal(unwinder_walk(&stack, c->pc, linked, NULL, &out), c->how);
		assert_int_equal(out.count, c->count);
		assert_memory_equal(out.pc, c->pcs, c->count * sizeof(*c->pcs));
		assert_memory_equal(out.args, c->args, c->count * sizeof(*c->args));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remembered),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_linked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
