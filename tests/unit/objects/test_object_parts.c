// SPDX-License-Identifier: Apache-2.0
/* The parts of maps and channels of a made-up heap. Groups and buckets are of 32 bytes. */
#include "fakeheap.h"
#include "unit.h"

enum {
	BUCKETS = 16, /* of a map, up to Go 1.23 */
	OLD_BUCKETS = 24,
	DIRECTORY = 16, /* of a map, since Go 1.24 */
	DIRECTORY_LEN = 24,
	GROUPS = 16, /* of a table */
	NEXT = 24,   /* of main.T; also the last word of a bucket */
};

#define HEADER "map[string][]main.T"
#define GROUP "struct { a [4]int }"

static struct fakeheap heap;

static uint64_t slot(uint64_t elem, unsigned number)
{
	return fakeheap_slot(&heap, elem, false, number);
}

/* The groups of maps are BOXes. */
static void begin(int release)
{
	fakeheap_make(&heap, release);
	fakeheap_pointers(&heap, RTTIFILE_BOX, 32);
	fakeheap_open(&heap);
}

/* --- maps --- */

static void test_buckets(void **state)
{
	static const int releases[] = {15, 19, 23};

	(void)state;
	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++) {
		begin(releases[i]);
		uint64_t map = slot(48, 0);

		fakemem_put(map + BUCKETS, slot(64, 0)); /* two of them */
		fakemem_put(map + OLD_BUCKETS, slot(32, 5));
		fakemem_put(slot(64, 0) + 32 + NEXT, slot(32, 0)); /* overflow buckets */
		fakemem_put(slot(32, 0) + NEXT, slot(32, 1));
		fakemem_put(slot(32, 1) + NEXT, slot(32, 0)); /* a circle */
		fakeheap_root(&heap, RTTIFILE_MAP, map);
		fakeheap_expect(&heap, map, HEADER);
		fakeheap_expect(&heap, slot(64, 0), "[]" GROUP);
		fakeheap_expect(&heap, slot(32, 0), GROUP);
		fakeheap_expect(&heap, slot(32, 1), GROUP);
		fakeheap_expect(&heap, slot(32, 5), GROUP);
		fakeheap_expect(&heap, slot(32, 2), "unknown");
		assert_false(heap.walk.gave_up);
		fakeheap_free(&heap);
	}
}

static void test_group(void **state)
{
	(void)state;
	begin(27);
	fakemem_put(slot(48, 0) + DIRECTORY, slot(32, 0));
	fakemem_put(slot(32, 0) + NEXT, slot(32, 1)); /* of a bucket, it would be another */
	fakeheap_root(&heap, RTTIFILE_MAP, slot(48, 0));
	fakeheap_expect(&heap, slot(48, 0), HEADER);
	fakeheap_expect(&heap, slot(32, 0), GROUP);
	fakeheap_expect(&heap, slot(32, 1), "unknown");
	fakeheap_free(&heap);
}

static void put_large_map(uint64_t map, uint64_t directory, uint64_t len)
{
	fakemem_put(map + DIRECTORY, directory);
	fakemem_put(map + DIRECTORY_LEN, len);
}

static void test_tables(void **state)
{
	(void)state;
	begin(24);
	put_large_map(slot(48, 0), slot(24, 0), 3);
	fakemem_put(slot(24, 0), slot(32, 0));
	fakemem_put(slot(24, 0) + 8, slot(32, 0)); /* the same twice */
	fakemem_put(slot(24, 0) + 16, slot(32, 1));
	fakemem_put(slot(32, 0) + GROUPS, slot(64, 0));
	fakemem_put(slot(32, 1) + GROUPS, slot(96, 0));
	fakeheap_root(&heap, RTTIFILE_MAP, slot(48, 0));
	fakeheap_expect(&heap, slot(48, 0), HEADER);
	fakeheap_expect(&heap, slot(24, 0), HEADER " (directory)");
	fakeheap_expect(&heap, slot(32, 0), HEADER " (table)");
	fakeheap_expect(&heap, slot(32, 1), HEADER " (table)");
	fakeheap_expect(&heap, slot(64, 0), "[]" GROUP);
	fakeheap_expect(&heap, slot(96, 0), "[]" GROUP);
	fakeheap_free(&heap);
}

/* A directory of more than 512 bytes is allocated with the type of pointers. */
static void test_directory_with_header(void **state)
{
	(void)state;
	begin(27);
	fakemem_put(slot(1024, 0), fakeheap_type(&heap, RTTIFILE_POINTER));
	fakemem_put(slot(1024, 0) + 8, slot(32, 0));
	put_large_map(slot(48, 0), slot(1024, 0) + 8, 64);
	object_walk_headers(&heap.walk);
	fakeheap_expect(&heap, slot(1024, 0), "[]*main.T");
	fakeheap_root(&heap, RTTIFILE_MAP, slot(48, 0));
	fakeheap_expect(&heap, slot(1024, 0), HEADER " (directory)");
	fakeheap_free(&heap);
}

static void test_map_lies(void **state)
{
	(void)state;
	begin(27);
	put_large_map(slot(48, 0), slot(24, 0), 4); /* more than there is room for */
	put_large_map(slot(48, 1), slot(24, 0), UINT64_MAX);
	put_large_map(slot(48, 2), slot(24, 1), 3);
	fakemem_put(slot(24, 0), slot(32, 0));
	fakemem_put(slot(24, 1), slot(64, 0)); /* no table has this size */
	fakemem_put(slot(64, 0) + GROUPS, slot(32, 1));
	fakemem_put(slot(64, 1) + DIRECTORY, slot(32, 2)); /* no map */
	for (unsigned n = 0; n < 3; n++) {
		fakeheap_root(&heap, RTTIFILE_MAP, slot(48, n));
		fakeheap_expect(&heap, slot(48, n), HEADER);
	}
	fakeheap_root(&heap, RTTIFILE_MAP, slot(64, 1));
	fakeheap_root(&heap, RTTIFILE_MAP, slot(48, 3) + 8);
	fakeheap_expect(&heap, slot(24, 0), "unknown");
	fakeheap_expect(&heap, slot(24, 1), HEADER " (directory)");
	fakeheap_expect(&heap, slot(64, 0), "unknown");
	fakeheap_expect(&heap, slot(64, 1), "unknown");
	fakeheap_expect(&heap, slot(48, 3), "unknown");
	for (unsigned n = 0; n < 3; n++)
		fakeheap_expect(&heap, slot(32, n), "unknown");
	fakeheap_free(&heap);
}

/* Where many point to one large map, its tables are looked at once. */
static void test_map_once(void **state)
{
	(void)state;
	begin(19);
	fakemem_put(slot(48, 0) + BUCKETS, slot(64, 0));
	fakeheap_root(&heap, RTTIFILE_MAP, slot(48, 0));
	fakemem_put(slot(48, 0) + BUCKETS, slot(64, 1)); /* by which it is seen */
	fakeheap_root(&heap, RTTIFILE_MAP, slot(48, 0));
	fakeheap_expect(&heap, slot(64, 0), "[]" GROUP);
	fakeheap_expect(&heap, slot(64, 1), "unknown");
	fakeheap_free(&heap);
}

/* Elements without pointers lead nowhere, and many of them take no time. */
static void test_plain_groups(void **state)
{
	(void)state;
	fakeheap_make(&heap, 27);
	fakeheap_open(&heap);
	uint64_t groups = fakeheap_slot(&heap, 128, true, 0), left;

	fakemem_put(slot(48, 0) + DIRECTORY, groups);
	left = heap.walk.words_left;
	fakeheap_root(&heap, RTTIFILE_MAP, slot(48, 0));
	fakeheap_expect(&heap, groups, "[]" GROUP);
	assert_true(left - heap.walk.words_left <= 2);
	fakeheap_free(&heap);
}

/* --- channels --- */

static void test_chan(void **state)
{
	(void)state;
	fakeheap_make(&heap, 27);
	fakeheap_own(&heap, RTTIFILE_CHAN, 0, heap.r.addr[RTTIFILE_T]);
	fakeheap_open(&heap);
	fakemem_put(slot(96, 0), 1); /* one is in it */
	fakemem_put(slot(96, 0) + 8, 2);
	fakemem_put(slot(96, 0) + 16, slot(64, 0));
	fakemem_put(slot(64, 0) + 32 + NEXT, slot(32, 0));
	fakeheap_root(&heap, RTTIFILE_CHAN, slot(96, 0));
	fakeheap_root(&heap, RTTIFILE_CHAN, slot(64, 1)); /* too small for one */
	fakeheap_expect(&heap, slot(96, 0), "chan main.T");
	fakeheap_expect(&heap, slot(64, 0), "chan main.T (buffer)");
	fakeheap_expect(&heap, slot(32, 0), "main.T");
	fakeheap_expect(&heap, slot(64, 1), "unknown");
	fakeheap_free(&heap);
}

/* Without pointers in it, its buffer is a part of it. */
static void test_plain_chan(void **state)
{
	(void)state;
	fakeheap_make(&heap, 27);
	fakeheap_open(&heap);
	uint64_t chan = fakeheap_slot(&heap, 128, true, 0);

	fakemem_put(chan + 8, 3);
	fakemem_put(chan + 16, chan + 104);
	fakeheap_root(&heap, RTTIFILE_CHAN, chan);
	fakeheap_expect(&heap, chan, "chan int");
	fakeheap_free(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),      cmocka_unit_test(test_group),
		cmocka_unit_test(test_tables),       cmocka_unit_test(test_directory_with_header),
		cmocka_unit_test(test_map_lies),     cmocka_unit_test(test_map_once),
		cmocka_unit_test(test_plain_groups), cmocka_unit_test(test_chan),
		cmocka_unit_test(test_plain_chan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
