// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "fakemem.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_labels_internal.h"
#include "unit.h"

enum {
	G = FAKEMEM_BASE + 0x1000,
	G_SIZE = 0x200,
	G_LABELS = 352, /* in a g */
	SETS = FAKEMEM_BASE + 0x8000,
	SET_SIZE = 0x2000,
	LIST = 0x100,  /* in a set */
	TEXT = 0x1800, /* its key and values */
	MANY = 8,
};

static struct goroutine all[MANY];
static struct snapshot snap;
static const struct snapshot_source from = {
	.mem = &fakemem_memory, .rt = &fakemem_layout, .g_labels = G_LABELS};
static size_t last_read;

static uint64_t set_at(size_t i)
{
	return SETS + i * SET_SIZE;
}

static void label(size_t i, uint64_t set)
{
	all[i].labels = set;
	fakemem_put(all[i].addr + G_LABELS, set);
}

static int begin(void **state)
{
	(void)state;
	fakemem_begin(0x40000);
	snap = (struct snapshot){.all = all, .count = MANY};
	for (size_t i = 0; i < MANY; i++) {
		all[i] = (struct goroutine){.goid = i + 1, .addr = G + i * G_SIZE};
		fakemem_put(all[i].addr + fakemem_layout.g_goid, i + 1);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(snap.labels.bytes);
	return 0;
}

/* A set of so many labels, with "key" and a value of so many bytes each */
static void put_set(size_t i, size_t count, size_t value_len)
{
	uint64_t list = set_at(i) + LIST, text = set_at(i) + TEXT;

	fakemem_put(set_at(i), list);
	fakemem_put(set_at(i) + 8, count);
	memcpy(fakemem.bytes + (text - FAKEMEM_BASE), "key", 3);
	for (size_t n = 0; n < count; n++) {
		fakemem_put(list + n * 32, text);
		fakemem_put(list + n * 32 + 8, 3);
		fakemem_put(list + n * 32 + 16, text + 3);
		fakemem_put(list + n * 32 + 24, value_len);
	}
}

static void assert_labels(size_t i, size_t expected, size_t value_len, bool expected_cut)
{
	uint64_t at = all[i].labels;
	struct snapshot_label got;
	size_t count = 0;
	bool cut;

	for (; snapshot_labels_next(&snap.labels, &at, &got, &cut); count++) {
		assert_int_equal(got.key_len, 3);
		assert_memory_equal(got.key, "key", 3);
		assert_int_equal(got.value_len, value_len);
	}
	assert_int_equal(count, expected);
	assert_int_equal(cut, expected_cut);
}

static void test_limits(void **state)
{
	static const struct {
		size_t count, len, read;
		bool cut;
	} cases[] = {{1, 2, 1, false},    {64, 0, 64, false}, {65, 1, 64, true},
		     {3, 1024, 3, false}, {3, 1025, 0, true}, {0, 0, 0, false}};
	enum { CASES = sizeof(cases) / sizeof(*cases) };

	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		put_set(i, cases[i].count, cases[i].len);
		label(i, set_at(i));
	}
	label(CASES, 8); /* no memory; the last one has none */
	snapshot_labels_read(&from, &snap);
	for (size_t i = 0; i < CASES; i++)
		assert_labels(i, cases[i].read, cases[i].len, cases[i].cut);
	assert_labels(CASES, 0, 0, true);
	assert_labels(CASES + 1, 0, 0, false);
}

/* It gets other labels after its own were read, before it is asked whether it still has them. */
static void relabel(void)
{
	if (fakemem.reads >= last_read)
		fakemem_put(all[0].addr + G_LABELS, set_at(1));
}

static void test_changing(void **state)
{
	(void)state;
	put_set(0, 1, 0);
	put_set(1, 3, 5);
	label(0, set_at(0));
	snapshot_labels_read(&from, &snap);
	assert_labels(0, 1, 0, false);
	last_read = fakemem.reads;
	free(snap.labels.bytes);
	snap.labels = (struct snapshot_labels){0};
	fakemem.reads = 0;
	all[0].labels = set_at(0);
	fakemem.before_read = relabel;
	snapshot_labels_read(&from, &snap);
	fakemem.before_read = NULL;
	assert_labels(0, 3, 5, false);
}

/* Another goroutine has its g by now. */
static void test_ended(void **state)
{
	(void)state;
	put_set(0, 1, 0);
	label(0, set_at(0));
	all[0].goid = 99;
	snapshot_labels_read(&from, &snap);
	assert_labels(0, 0, 0, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_limits, begin, end),
		cmocka_unit_test_setup_teardown(test_changing, begin, end),
		cmocka_unit_test_setup_teardown(test_ended, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
