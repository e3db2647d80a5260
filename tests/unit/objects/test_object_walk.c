// SPDX-License-Identifier: Apache-2.0
/* Which types the objects of a made-up heap get. main.T is {A int; B string; next *T}. */
#include "fakeheap.h"
#include "unit.h"

enum { B = 8, NEXT = 24 }; /* fields of main.T */

static struct fakeheap heap;

static uint64_t slot(uint64_t elem, unsigned number)
{
	return fakeheap_slot(&heap, elem, false, number);
}

static uint64_t plain(uint64_t elem, unsigned number) /* without pointers */
{
	return fakeheap_slot(&heap, elem, true, number);
}

static void begin(int release)
{
	fakeheap_make(&heap, release);
	fakeheap_open(&heap);
}

static const int releases[] = {15, 19, 23, 27};
enum { RELEASES = sizeof(releases) / sizeof(*releases) };

/* --- pointers --- */

static void test_pointers(void **state)
{
	(void)state;
	for (size_t i = 0; i < RELEASES; i++) {
		begin(releases[i]);
		for (unsigned n = 0; n < 3; n++)
			fakemem_put(slot(32, n) + NEXT, slot(32, n + 1));
		fakemem_put(slot(32, 3) + NEXT, slot(32, 0)); /* a circle */
		fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
		for (unsigned n = 0; n < 4; n++)
			fakeheap_expect(&heap, slot(32, n), "main.T");
		fakeheap_expect(&heap, slot(32, 4), "unknown");
		assert_false(heap.walk.gave_up);
		fakeheap_free(&heap);
	}
}

/* The runtime would have taken another slot for it, or none. */
static void test_unfit(void **state)
{
	(void)state;
	begin(27);
	const uint64_t unfit[] = {
		slot(64, 0),     slot(48, 0),     slot(24, 0),   plain(32, 0),
		slot(32, 9) + 8, slot(1024, 0),   slot(32, 255), 1,
		UINT64_MAX,      slot(32, 0) - 1, FAKEMEM_BASE,  FAKEHEAP_BASE - 8};
	enum { COUNT = sizeof(unfit) / sizeof(*unfit) };

	for (unsigned n = 0; n < COUNT; n++) {
		fakemem_put(slot(32, n) + NEXT, unfit[n]);
		fakeheap_root(&heap, RTTIFILE_T, slot(32, n));
		fakeheap_root(&heap, RTTIFILE_T, unfit[n]);
	}
	for (unsigned n = 0; n < COUNT; n++)
		fakeheap_expect(&heap, slot(32, n), "main.T");
	fakeheap_expect(&heap, slot(64, 0), "unknown");
	fakeheap_expect(&heap, slot(48, 0), "unknown");
	fakeheap_expect(&heap, slot(24, 0), "unknown");
	fakeheap_expect(&heap, slot(1024, 0), "unknown");
	fakeheap_expect(&heap, plain(32, 0), "unknown");
	fakeheap_expect(&heap, slot(32, 255), "unknown"); /* it is free */
	fakeheap_free(&heap);
}

/* A pointer into an object tells what is there, though not what the object is. */
static void test_interior(void **state)
{
	(void)state;
	begin(27);
	fakemem_put(slot(32, 0) + NEXT, slot(64, 0) + 16);
	fakemem_put(slot(64, 0) + 16 + NEXT, slot(32, 1));
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_expect(&heap, slot(64, 0), "unknown");
	fakeheap_expect(&heap, slot(32, 1), "main.T");
	/* what only looks like an interface value is not believed so much */
	fakemem_put(slot(64, 1) + 16 + NEXT, slot(32, 2));
	fakeheap_root(&heap, RTTIFILE_T, slot(64, 1) + 16);
	fakeheap_expect(&heap, slot(32, 2), "unknown");
	fakeheap_free(&heap);
}

static void test_variable(void **state)
{
	const uint64_t variable = ELFFILE_DATA + FAKEHEAP_BIAS;

	(void)state;
	begin(27);
	/* that cannot be read, as it is not there */
	fakemem_put(slot(32, 0) + NEXT, variable);
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	assert_int_equal(heap.walk.part_count, 1);
	fakemem_put(slot(32, 1) + NEXT, ELFFILE_DATA_END + FAKEHEAP_BIAS - 8);
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 1));
	assert_int_equal(heap.walk.part_count, 1);
	fakeheap_free(&heap);
}

/* --- strings --- */

static void expect_text(uint64_t bytes, uint64_t len, uint64_t of, const char *want)
{
	begin(23);
	fakemem_put(slot(32, 0) + B, bytes);
	fakemem_put(slot(32, 0) + B + 8, len);
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_expect(&heap, of, want);
	fakeheap_free(&heap);
}

static void test_strings(void **state)
{
	(void)state;
	begin(23);
	uint64_t text = plain(128, 2), block = plain(16, 3), next = plain(128, 3),
		 pointers = slot(32, 5);

	fakeheap_free(&heap);
	expect_text(text, 128, text, "string");
	expect_text(text + 100, 28, text, "string");
	expect_text(text + 100, 29, text, "unknown");
	expect_text(text, UINT64_MAX, text, "unknown");
	expect_text(next, 0, next, "unknown"); /* one past another */
	expect_text(pointers, 32, pointers, "unknown");
	expect_text(block, 16, block, "string");
	expect_text(block + 11, 5, block, "tiny");
	expect_text(block + 11, 6, block, "unknown");
}

/* --- slices --- */

struct slice {
	uint64_t data, len, cap;
};

static void root_slice(uint64_t header, struct slice slice)
{
	fakemem_put(header, slice.data);
	fakemem_put(header + 8, slice.len);
	fakemem_put(header + 16, slice.cap);
	fakeheap_root(&heap, RTTIFILE_SLICE, header);
}

static void test_slices(void **state)
{
	(void)state;
	begin(23);
	fakemem_put(slot(64, 0) + 32 + NEXT, slot(32, 0)); /* between length and capacity */
	fakemem_put(slot(64, 1) + NEXT, slot(32, 1));
	root_slice(slot(24, 0), (struct slice){slot(64, 0), 1, 2});
	root_slice(slot(24, 1), (struct slice){slot(64, 1), 1, 1}); /* a part of one */
	root_slice(slot(24, 2), (struct slice){slot(96, 0), 0, 3});
	fakeheap_expect(&heap, slot(24, 0), "[]main.T (variable)");
	fakeheap_expect(&heap, slot(64, 0), "[]main.T");
	fakeheap_expect(&heap, slot(32, 0), "main.T");
	fakeheap_expect(&heap, slot(64, 1), "unknown");
	fakeheap_expect(&heap, slot(32, 1), "main.T");
	fakeheap_expect(&heap, slot(96, 0), "[]main.T");
	fakeheap_free(&heap);
}

static void test_slice_lies(void **state)
{
	(void)state;
	begin(23);
	const struct slice lies[] = {
		{slot(64, 0), 0, 0},          /* one past an object, of no capacity */
		{slot(64, 0), 1, 3},          /* more than the slot has */
		{slot(64, 0), 1, 1ull << 59}, /* bytes that overflow */
		{slot(64, 0), 1, UINT64_MAX}, {plain(32, 0), 1, 1}, {0, 2, 2},
		{UINT64_MAX - 7, 2, 2},
	};

	for (unsigned i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		fakemem_put(slot(64, 0) + NEXT, slot(32, 0));
		root_slice(slot(24, i), lies[i]);
		fakeheap_expect(&heap, slot(24, i), "[]main.T (variable)");
		fakeheap_expect(&heap, slot(64, 0), "unknown");
		fakeheap_expect(&heap, slot(32, 0), "unknown");
	}
	fakeheap_expect(&heap, plain(32, 0), "unknown");
	fakeheap_free(&heap);
}

/* --- interface values --- */

static void test_interfaces(void **state)
{
	(void)state;
	fakeheap_make(&heap, 27);
	fakeheap_field(&heap, 1, RTTIFILE_EMPTY, B);
	fakeheap_open(&heap);
	fakemem_put(slot(32, 0) + B, fakeheap_type(&heap, RTTIFILE_BOX));
	fakemem_put(slot(32, 0) + B + 8, plain(32, 0));
	fakemem_put(slot(32, 0) + NEXT, slot(32, 1));
	fakemem_put(slot(32, 1) + B, fakeheap_type(&heap, RTTIFILE_POINTER)); /* in the word */
	fakemem_put(slot(32, 1) + B + 8, slot(32, 2));
	fakemem_put(slot(32, 2) + B, fakeheap_type(&heap, RTTIFILE_T) + 1); /* none */
	fakemem_put(slot(32, 2) + B + 8, slot(32, 3));
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_expect(&heap, plain(32, 0), "struct { a [4]int }");
	fakeheap_expect(&heap, slot(32, 1), "main.T");
	fakeheap_expect(&heap, slot(32, 2), "main.T");
	fakeheap_expect(&heap, slot(32, 3), "unknown");
	fakeheap_free(&heap);
}

static void put_itab(uint64_t at)
{
	fakemem_put(at, fakeheap_type(&heap, RTTIFILE_INTERFACE));
	fakemem_put(at + 8, fakeheap_type(&heap, RTTIFILE_T));
}

static void test_itabs(void **state)
{
	(void)state;
	fakeheap_make(&heap, 27);
	fakeheap_field(&heap, 1, RTTIFILE_INTERFACE, B);
	fakeheap_open(&heap);
	put_itab(FAKEHEAP_ITAB);
	fakemem_put(slot(32, 0) + B, FAKEHEAP_ITAB);
	fakemem_put(slot(32, 0) + B + 8, slot(32, 1));
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_expect(&heap, slot(32, 1), "main.T");
	/* found by what they look like */
	fakemem_put(FAKEHEAP_ROOT, FAKEHEAP_ITAB);
	fakemem_put(FAKEHEAP_ROOT + 8, slot(32, 2));
	object_walk_words(&heap.walk, FAKEHEAP_ROOT, 16);
	fakeheap_expect(&heap, slot(32, 2), "main.T");
	/* the runtime makes none in the heap */
	put_itab(slot(48, 0));
	fakemem_put(FAKEHEAP_ROOT, slot(48, 0));
	fakemem_put(FAKEHEAP_ROOT + 8, slot(32, 3));
	object_walk_words(&heap.walk, FAKEHEAP_ROOT, 16);
	fakeheap_expect(&heap, slot(32, 3), "unknown");
	fakeheap_free(&heap);
}

/* --- closures --- */

static void test_closures(void **state)
{
	(void)state;
	begin(27);
	uint64_t code = heap.r.g.starts[1] + FAKEHEAP_BIAS;

	fakemem_put(slot(32, 0), code);
	fakemem_put(slot(32, 0) + 8, fakeheap_type(&heap, RTTIFILE_T)); /* captured */
	fakemem_put(slot(32, 0) + 16, slot(32, 1));
	fakemem_put(slot(32, 2), code + 1);
	fakeheap_root(&heap, RTTIFILE_FUNC, slot(32, 0));
	fakeheap_root(&heap, RTTIFILE_FUNC, slot(32, 2));
	fakeheap_expect(&heap, slot(32, 0), "func main.b");
	fakeheap_expect(&heap, slot(32, 1), "unknown");
	fakeheap_expect(&heap, slot(32, 2), "unknown");
	object_walk_unknown(&heap.walk);
	fakeheap_expect(&heap, slot(32, 1), "main.T");
	fakeheap_free(&heap);
}

/* --- several pointers to one object --- */

/* main.T begins with a BOX, and has nothing else. */
static void begin_embedded(void)
{
	fakeheap_make(&heap, 27);
	fakeheap_field(&heap, 0, RTTIFILE_BOX, 0);
	fakeheap_own(&heap, RTTIFILE_T, 2, 1);
	fakeheap_pointers(&heap, RTTIFILE_BOX, 32);
	fakeheap_open(&heap);
}

static void test_embedded(void **state)
{
	(void)state;
	begin_embedded();
	fakeheap_root(&heap, RTTIFILE_BOX, slot(32, 0));
	fakeheap_expect(&heap, slot(32, 0), "struct { a [4]int }");
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_expect(&heap, slot(32, 0), "main.T");
	fakeheap_root(&heap, RTTIFILE_BOX, slot(32, 0));
	fakeheap_expect(&heap, slot(32, 0), "main.T");
	fakeheap_free(&heap);
}

static void test_several(void **state)
{
	(void)state;
	fakeheap_make(&heap, 27);
	fakeheap_pointers(&heap, RTTIFILE_BOX, 32);
	fakeheap_open(&heap);
	fakemem_put(slot(32, 0) + NEXT, slot(32, 1));
	fakeheap_root(&heap, RTTIFILE_BOX, slot(32, 0));
	fakeheap_expect(&heap, slot(32, 1), "unknown");
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_expect(&heap, slot(32, 0), "several");
	fakeheap_expect(&heap, slot(32, 1), "main.T");
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_expect(&heap, slot(32, 0), "several");
	fakeheap_free(&heap);
}

/* --- types before objects --- */

static void test_headers(void **state)
{
	(void)state;
	begin(23);
	uint64_t last = slot(1024, 0) + 8 + 30 * 32, large = slot(FAKEHEAP_LARGE, 0);

	fakemem_put(slot(1024, 0), fakeheap_type(&heap, RTTIFILE_T));
	fakemem_put(last + NEXT, slot(32, 0));
	fakemem_put(slot(1024, 1), fakeheap_type(&heap, RTTIFILE_FLOAT)); /* has no pointers */
	fakeheap_span(&heap, FAKEHEAP_LARGE, false)->type = fakeheap_type(&heap, RTTIFILE_T);
	fakemem_put(large + FAKEHEAP_LARGE - 32 + NEXT, slot(32, 1));
	object_walk_headers(&heap.walk);
	fakeheap_expect(&heap, slot(1024, 0), "[]main.T");
	fakeheap_expect(&heap, slot(1024, 1), "unknown");
	fakeheap_expect(&heap, large, "[]main.T");
	fakeheap_expect(&heap, slot(32, 0), "main.T");
	fakeheap_expect(&heap, slot(32, 1), "main.T");
	/* nothing changes what they are */
	fakeheap_root(&heap, RTTIFILE_POINTER, slot(1024, 0) + 8);
	fakeheap_expect(&heap, slot(1024, 0), "[]main.T");
	fakeheap_free(&heap);
}

/* --- bounds --- */

/* The elements of a large slice wait in line, not all that they point to. */
static void test_line(void **state)
{
	(void)state;
	begin(19);
	uint64_t large = slot(FAKEHEAP_LARGE, 0);

	for (unsigned i = 0; i < FAKEHEAP_LARGE / 32; i++)
		fakemem_put(large + i * 32 + NEXT, large + i / 2 * 32 + 8);
	root_slice(slot(24, 0), (struct slice){large, 0, FAKEHEAP_LARGE / 32});
	fakeheap_expect(&heap, large, "[]main.T");
	assert_true(heap.walk.part_count > 1000);
	assert_true(heap.walk.todo_cap <= 512);
	fakeheap_free(&heap);
}

static void test_gives_up(void **state)
{
	(void)state;
	begin(19);
	uint64_t large = slot(FAKEHEAP_LARGE, 0);

	/* that ends between two elements */
	heap.walk.words_left = 1 + 1 + 1 + 10 * 5;
	root_slice(slot(24, 0), (struct slice){large, 0, FAKEHEAP_LARGE / 32});
	assert_int_equal(heap.walk.words_left, 0);
	assert_true(heap.walk.gave_up);
	fakeheap_free(&heap);
	begin(19);
	heap.walk.words_left = 2;
	object_walk_words(&heap.walk, FAKEHEAP_BASE, 3 * 4096);
	assert_true(heap.walk.gave_up);
	fakeheap_free(&heap);
}

/* [1<<40]struct{} is of no size, and takes no time. */
static void test_no_size(void **state)
{
	(void)state;
	fakeheap_make(&heap, 27);
	elffile_u64(heap.r.g.f, heap.r.addr[RTTIFILE_BOX], 0);
	fakeheap_own(&heap, RTTIFILE_BOX, 2, 0);
	elffile_u64(heap.r.g.f, heap.r.addr[RTTIFILE_ARRAY], 0);
	fakeheap_own(&heap, RTTIFILE_ARRAY, 0, heap.r.addr[RTTIFILE_BOX]);
	fakeheap_own(&heap, RTTIFILE_ARRAY, 2, 1ull << 40);
	fakeheap_field(&heap, 0, RTTIFILE_ARRAY, 0);
	fakeheap_open(&heap);
	fakemem_put(slot(32, 0) + NEXT, slot(32, 1));
	fakeheap_root(&heap, RTTIFILE_T, slot(32, 0));
	fakeheap_expect(&heap, slot(32, 1), "main.T");
	assert_true(heap.walk.words_left > (1 << 20) - 100);
	fakeheap_root(&heap, RTTIFILE_ARRAY, slot(32, 2));
	fakeheap_expect(&heap, slot(32, 2), "unknown");
	fakeheap_free(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pointers),   cmocka_unit_test(test_unfit),
		cmocka_unit_test(test_interior),   cmocka_unit_test(test_variable),
		cmocka_unit_test(test_strings),    cmocka_unit_test(test_slices),
		cmocka_unit_test(test_slice_lies), cmocka_unit_test(test_interfaces),
		cmocka_unit_test(test_itabs),      cmocka_unit_test(test_closures),
		cmocka_unit_test(test_embedded),   cmocka_unit_test(test_several),
		cmocka_unit_test(test_headers),    cmocka_unit_test(test_line),
		cmocka_unit_test(test_gives_up),   cmocka_unit_test(test_no_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
