// SPDX-License-Identifier: Apache-2.0
/* The ways on which objects were reached: what is one place in the tree, and what is another. */
#include "objects/object_kinds_internal.h"
#include "objects/retained_chains_internal.h"
#include "steps.h"
#include "unit.h"

enum { KNOWN = OBJECT_FIRST, OTHER, ANY = 0, NEAR = 16, SEEN_MAX = 64 };

static struct retained_chains chains;

static int setup(void **state)
{
	(void)state;
	retained_chains_begin(&chains);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	retained_chains_end(&chains);
	assert_int_equal(chains.count, 0);
	return 0;
}

static uint32_t root(unsigned how, uint64_t addr, uint64_t goid)
{
	return retained_chains_root(
		&chains, &(struct retained_root){.how = how, .addr = addr, .goid = goid});
}

static uint32_t next(uint32_t from, uint64_t step, uint16_t kind, uint64_t size)
{
	const struct retained_object object = {.kind = kind, .size = size};

	return retained_chains_next(&chains, from, step, &object, false);
}

static uint32_t sought(uint32_t from, uint64_t step, uint16_t kind)
{
	return retained_chains_next(&chains, from, step, &(struct retained_object){.kind = kind},
				    true);
}

static void is(uint32_t number)
{
	steps_are("%u", number);
}

static void say(void)
{
	for (size_t i = 1; i < chains.count; i++) {
		const struct retained_chain *chain = &chains.all[i];

		steps_are("%zu: of %u, depth %u, step %lu, kind %u, size %lu%s, root %u %lx%s%s%s",
			  i, chain->before, chain->depth, chain->step, chain->object.kind,
			  chain->object.size, chain->object.pointers ? " pointers" : "",
			  chain->root.how, chain->root.addr, chain->several ? " several" : "",
			  chain->repeated ? " repeated" : "", chain->cut ? " cut" : "");
	}
}

static void test_roots(void **state)
{
	(void)state;
	is(root(1, 0x10, 1));
	is(root(1, 0x10, 1));
	is(root(2, 0x10, 1));
	is(root(1, 0x20, 1));
	is(root(2, 0x10, 2));
	is(root(2, 0x10, 1));
	say();
	steps_expect("1; 1; 2; 3; 2; 2; 1: of 0, depth 0, step 0, kind 0, size 0, root 1 "
		     "10; 2: of 0, depth 0, step 0, kind 0, size 0, root 2 10 several; 3: "
		     "of 0, depth 0, step 0, kind 0, size 0, root 1 20; ");
}

/* By whom, by which field, and which type, or size where that is not known */
static void test_places(void **state)
{
	uint32_t first = root(1, 0x10, 1), second = root(1, 0x20, 1);
	const struct retained_object pointers = {.kind = ANY, .size = 8, .pointers = true};

	(void)state;
	is(next(first, 8, KNOWN, 0));
	is(next(first, 8, KNOWN, 0));
	is(next(first, 16, KNOWN, 0));
	is(next(first, 8, OTHER, 0));
	is(next(second, 8, KNOWN, 0));
	is(next(first, 8, ANY, 8));
	is(next(first, 8, ANY, 16));
	is(next(first, 8, ANY, 8));
	is(retained_chains_next(&chains, first, 8, &pointers, false));
	is(next(RETAINED_NONE, 8, KNOWN, 0));
	is(sought(RETAINED_NONE, 8, KNOWN));
	say();
	steps_expect("3; 3; 4; 5; 6; 7; 8; 7; 9; 0; 0; 1: of 0, depth 0, step 0, kind 0, "
		     "size 0, root 1 10; 2: of 0, depth 0, step 0, kind 0, size 0, root 1 "
		     "20; 3: of 1, depth 1, step 8, kind 4, size 0, root 0 0; 4: of 1, "
		     "depth 1, step 16, kind 4, size 0, root 0 0; 5: of 1, depth 1, step 8, "
		     "kind 5, size 0, root 0 0; 6: of 2, depth 1, step 8, kind 4, size 0, "
		     "root 0 0; 7: of 1, depth 1, step 8, kind 0, size 8, root 0 0; 8: of "
		     "1, depth 1, step 8, kind 0, size 16, root 0 0; 9: of 1, depth 1, step "
		     "8, kind 0, size 8 pointers, root 0 0; ");
}

/* A list: the next of its type is the same place; but the end of a way is one of its own. */
static void test_repeated(void **state)
{
	uint32_t at = root(1, 0x10, 1), list = next(at, 0, KNOWN, 0);

	(void)state;
	is(list);
	is(next(list, 8, KNOWN, 0));
	is(sought(list, 8, KNOWN));
	uint32_t other = next(list, 8, OTHER, 0);

	is(other);
	is(next(other, 8, KNOWN, 0));
	is(next(other, 8, OTHER, 0));
	/* of unknown types the last alone is known to be the same */
	uint32_t any = next(other, 0, ANY, 8), wide = next(any, 0, ANY, 16);

	is(any);
	is(next(any, 0, ANY, 8));
	is(wide);
	is(next(wide, 0, ANY, 8));
	say();
	steps_expect("2; 2; 3; 4; 2; 4; 5; 5; 6; 7; 1: of 0, depth 0, step 0, kind 0, size "
		     "0, root 1 10; 2: of 1, depth 1, step 0, kind 4, size 0, root 0 0 "
		     "repeated; 3: of 2, depth 2, step 8, kind 4, size 0, root 0 0; 4: of "
		     "2, depth 2, step 8, kind 5, size 0, root 0 0 repeated; 5: of 4, depth "
		     "3, step 0, kind 0, size 8, root 0 0 repeated; 6: of 5, depth 4, step "
		     "0, kind 0, size 16, root 0 0; 7: of 6, depth 5, step 0, kind 0, size "
		     "8, root 0 0; ");
}

/* Unknown ones far away are taken to be the same after all; and a way ends somewhere. */
static void test_far(void **state)
{
	uint32_t at = root(1, 0x10, 1), before = 0, first_same = 0;

	(void)state;
	for (unsigned i = 0; i < 40 && !first_same; i++) {
		before = at;
		at = next(at, i, ANY, i % 2 ? 8 : 16);
		first_same = chains.all[at].depth <= chains.all[before].depth ? i : 0;
	}
	steps_are("%u at depth %u", first_same, chains.all[before].depth);
	steps_expect("17 at depth 17; ");
}

static void test_deep(void **state)
{
	uint32_t at = root(1, 0x10, 1), deepest;
	unsigned i = 0;

	(void)state;
	for (; i < 200 && !chains.all[at].cut; i++)
		at = next(at, 0, (uint16_t)(KNOWN + i), 0);
	deepest = at;
	steps_are("%u deep %u, cut %d; %u", i, chains.all[at].depth, chains.all[at].cut,
		  next(at, 1, KNOWN + 500, 0) == deepest);
	/* what is sought still has its place; a type seen long before is another one */
	is(chains.all[sought(at, 2, KNOWN + 501)].depth);
	is(chains.all[next(at, 3, (uint16_t)(KNOWN + i - 2 - SEEN_MAX + 1), 0)].depth);
	is(chains.all[next(at, 3, (uint16_t)(KNOWN + i - 2 - SEEN_MAX), 0)].depth);
	steps_expect("129 deep 128, cut 1; 1; 129; 65; 128; ");
}

static void test_full(void **state)
{
	uint32_t first = root(1, 0x10, 1);

	(void)state;
	for (uint64_t i = 0; chains.count < RETAINED_CHAINS_MAX; i++)
		next(first, i, KNOWN, 0);
	assert_false(chains.full);
	assert_int_equal(next(first, 0, KNOWN, 0), 2);
	assert_false(chains.all[first].cut);
	assert_int_equal(next(first, 1, OTHER, 0), first);
	assert_true(chains.full && chains.all[first].cut);
	assert_int_equal(sought(first, 1, OTHER), RETAINED_NONE);
	assert_int_equal(root(9, 0, 0), RETAINED_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_roots, setup, teardown),
		cmocka_unit_test_setup_teardown(test_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_repeated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_far, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
