// SPDX-License-Identifier: Apache-2.0
/* What keeps the objects of a made-up heap alive. main.T is {A int; B string; next *T}. */
#include <stdlib.h>

#include "base/errmsg.h"
#include "fakeheap.h"
#include "golang/pattern.h"
#include "goroutines/memory.h"
#include "objects/objects_still_internal.h"
#include "objects/retained_internal.h"
#include "unit.h"

enum { NEXT = 24, VARIABLES = FAKEMEM_BASE + 0x3000, COUNT = 8 };

static struct fakeheap heap;
static struct objects_range variables = {VARIABLES, COUNT * 8};
static const struct objects_still still = {.roots = &variables, .root_count = 1, .variables = 1};
static struct retained retained;

static uint64_t slot(uint64_t elem, unsigned number)
{
	return fakeheap_slot(&heap, elem, false, number);
}

static void begin(void)
{
	fakeheap_make(&heap, 27);
	fakeheap_open(&heap);
}

static void end(void)
{
	retained_free(&retained);
	fakeheap_free(&heap);
}

static void variable(unsigned number, uint64_t value)
{
	fakemem_put(VARIABLES + number * 8, value);
}

static int find(const char *type, uint64_t addr)
{
	struct objects_look look = {.retained_addr = addr};
	struct errmsg err = {0};

	if (type)
		look.retained = pattern_new(type, false, NULL);
	int ret = retained_find(&look, &heap.walk, &still, NULL, &retained, &err);

	pattern_free(look.retained);
	return ret;
}

/* Of all that was found, in the order of the tree */
static const struct retained_chain *chain(unsigned number)
{
	for (size_t i = 0; i < retained.chains.count; i++)
		if (retained.chains.all[i].objects && !number--)
			return &retained.chains.all[i];
	return NULL;
}

static void expect(const struct retained_chain *at, unsigned depth, uint64_t objects, uint64_t kept)
{
	assert_non_null(at);
	assert_int_equal(at->depth, depth);
	assert_int_equal(at->objects, objects);
	assert_int_equal(at->kept, kept);
}

/* Two T lead to an object of another size, one of them to a second one as well. */
static void test_kept(void **state)
{
	(void)state;
	begin();
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 1));
	fakemem_put(slot(32, 0), slot(48, 0));
	fakemem_put(slot(32, 1), slot(48, 0) + 8); /* into it */
	fakemem_put(slot(48, 0), slot(96, 0));
	fakemem_put(slot(32, 1) + 8, slot(64, 0));
	variable(0, slot(32, 0));
	variable(1, slot(24, 0));
	fakemem_put(slot(24, 0), slot(32, 1));
	assert_int_equal(find("main.T", 0), 0);
	assert_true(retained.every_word);
	assert_int_equal(retained.unreached.objects, 0);
	expect(chain(0), 1, 1, 3); /* and what both of them keep */
	expect(chain(1), 2, 1, 2);
	assert_int_equal(chain(0)->kept_bytes, 32 + 48 + 96);
	assert_int_equal(chain(0)->example, slot(32, 0));
	assert_null(chain(2));
	retained_free(&retained);
	/* a variable leads there without them */
	variable(2, slot(96, 0));
	assert_int_equal(find("main.T", 0), 0);
	expect(chain(0), 1, 1, 2);
	end();
}

/* What only its own kind leads to is with that; so are circles, and what nothing leads to is not.
 */
static void test_circle(void **state)
{
	(void)state;
	begin();
	for (unsigned i = 0; i < 3; i++)
		fakemem_put(slot(32, i) + NEXT, slot(32, (i + 1) % 3));
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 5));
	assert_int_equal(find("main.T", 0), 0);
	assert_null(chain(0));
	assert_int_equal(retained.unreached.objects, 4);
	assert_int_equal(retained.unreached.bytes, 4 * 32);
	retained_free(&retained);
	variable(7, slot(32, 1));
	assert_int_equal(find("main.T", 0), 0);
	expect(chain(0), 1, 3, 3);
	assert_int_equal(retained.unreached.objects, 1);
	retained_free(&retained);
	/* one of them keeps the others, and is the end of the way */
	assert_int_equal(find(NULL, slot(32, 0) + 8), 0);
	expect(chain(0), 2, 1, 1);
	assert_true(retained.chains.all[chain(0)->before].repeated);
	end();
}

static void test_none(void **state)
{
	(void)state;
	begin();
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	assert_int_equal(find("main.U", 0), -1);
	assert_int_equal(find(NULL, slot(32, 255)), -1); /* it is free */
	assert_int_equal(find(NULL, FAKEHEAP_BASE - 1), -1);
	end();
}

/* A list of objects of unknown types and sizes in turn is a tree of few places. */
static void test_long(void **state)
{
	uint64_t before = 0;

	(void)state;
	begin();
	for (unsigned i = 0; i < 80; i++)
		for (unsigned k = 0; k < 2; k++) {
			uint64_t at = slot(k ? 48 : 64, i);

			if (before)
				fakemem_put(before, at);
			else
				variable(0, at);
			before = at;
		}
	fakemem_put(before, slot(96, 3));
	assert_int_equal(find(NULL, slot(96, 3)), 0);
	expect(chain(0), chain(0)->depth, 1, 1);
	assert_in_range(chain(0)->depth, 4, 24);
	assert_in_range(retained.chains.count, 4, 30);
	end();
}

/* One whose type is certain has pointers only where that has some. */
static void test_certain(void **state)
{
	uint64_t large;

	(void)state;
	begin();
	large = slot(1024, 0);
	fakemem_put(large, fakeheap_type(&heap, RTTIFILE_T));
	fakemem_put(large + 8 + 3 * 32, slot(48, 0));        /* A */
	fakemem_put(large + 8 + 3 * 32 + 16, slot(48, 1));   /* the length of B */
	fakemem_put(large + 8 + 3 * 32 + NEXT, slot(48, 2)); /* next */
	object_walk_headers(&heap.walk);
	variable(0, large + 100);
	assert_int_equal(find(NULL, slot(48, 0)), 0);
	assert_int_equal(retained.unreached.objects, 1);
	retained_free(&retained);
	assert_int_equal(find(NULL, slot(48, 1)), 0);
	assert_int_equal(retained.unreached.objects, 1);
	retained_free(&retained);
	assert_int_equal(find(NULL, slot(48, 2)), 0);
	expect(chain(0), 2, 1, 1);
	assert_int_equal(chain(0)->step, NEXT);
	end();
}

/* A finalizer keeps its object, and what else it needs; a cleanup the latter alone. They come last.
 */
static void test_specials(void **state)
{
	struct special specials[] = {
		{.how = SPECIAL_CLEANUP, .words = {7, 0}},
		{.how = SPECIAL_FINALIZER},
	};
	struct spans spans;

	(void)state;
	begin();
	specials[0].words[2] = slot(32, 1);
	specials[1].object = slot(48, 0) + 8; /* into it */
	specials[1].words[0] = slot(32, 2);
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	for (unsigned i = 0; i < 4; i++)
		fakeheap_root(&heap, RTTIFILE_T, slot(32, i));
	fakemem_put(slot(48, 0), slot(32, 0));
	spans = *heap.walk.spans;
	spans.specials.all = specials;
	spans.specials.count = 2;
	heap.walk.spans = &spans;
	assert_int_equal(find("main.T", 0), 0);
	expect(chain(0), 1, 1, 1);
	assert_int_equal(retained.chains.all[chain(0)->before].root.how, RETAINED_CLEANUP);
	expect(chain(1), 1, 1, 1);
	assert_int_equal(retained.chains.all[chain(1)->before].root.how, RETAINED_FINALIZER);
	expect(chain(2), 2, 1, 1);
	assert_int_equal(retained.unreached.objects, 1);
	assert_false(retained.specials_left_out);
	retained_free(&retained);
	variable(0, slot(48, 0));
	spans.specials.left_out = true;
	assert_int_equal(find("main.T", 0), 0);
	assert_int_equal(retained.chains.all[retained.chains.all[chain(0)->before].before].root.how,
			 RETAINED_VARIABLE);
	assert_true(retained.specials_left_out);
	end();
}

static void test_gives_up(void **state)
{
	(void)state;
	begin();
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	variable(0, slot(FAKEHEAP_LARGE, 0));
	fakemem_put(slot(FAKEHEAP_LARGE, 0) + FAKEHEAP_LARGE - 8, slot(32, 0));
	heap.walk.words_left = COUNT + 2;
	assert_int_equal(find("main.T", 0), 0);
	assert_true(heap.walk.gave_up);
	assert_int_equal(retained.unreached.objects, 1);
	retained_free(&retained);
	heap.walk.words_left = 1 << 20;
	assert_int_equal(find("main.T", 0), 0);
	assert_int_equal(retained.unreached.objects, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),     cmocka_unit_test(test_circle),
		cmocka_unit_test(test_none),     cmocka_unit_test(test_long),
		cmocka_unit_test(test_certain),  cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_specials),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
