// SPDX-License-Identifier: Apache-2.0
#include "fakeheap.h"
#include "objects/objects_sum_internal.h"
#include "unit.h"

static struct fakeheap heap;

static const struct objects_row *row(const struct objects_table *table, enum objects_what what,
				     uint64_t size, bool pointers)
{
	const struct objects_row *found = NULL;

	for (size_t i = 0; i < table->count; i++) {
		const struct objects_row *at = &table->rows[i];

		if (at->what != what ||
		    (what == OBJECTS_UNKNOWN && (at->size != size || at->pointers != pointers)))
			continue;
		assert_null(found); /* each once */
		found = at;
	}
	return found;
}

static void expect_row(const struct objects_table *table, enum objects_what what, uint64_t size,
		       bool pointers, uint64_t objects)
{
	const struct objects_row *found = row(table, what, size, pointers);

	assert_non_null(found);
	assert_int_equal(found->objects, objects);
	if (what == OBJECTS_UNKNOWN && size)
		assert_int_equal(found->bytes, objects * size);
}

static void set_kind(uint64_t elem, bool noscan, unsigned number, uint16_t kind)
{
	heap.walk.kind_of[fakeheap_span(&heap, elem, noscan)->first + number] = kind;
}

static void test_sums(void **state)
{
	struct objects_table table;

	(void)state;
	fakeheap_make(&heap, 27);
	fakeheap_open(&heap);
	fakeheap_root(&heap, RTTIFILE_T, fakeheap_slot(&heap, 32, false, 0));
	set_kind(128, true, 0, OBJECT_STRING);
	set_kind(16, true, 0, OBJECT_TINY);
	set_kind(16, true, 1, OBJECT_TINY);
	set_kind(64, false, 0, OBJECT_SEVERAL);
	/* another span of slots of a size that there is */
	struct span *other = fakeheap_span(&heap, 48, false);

	other->elem = 64;
	other->count = other->free_from = 100;
	objects_add_up(&table, &heap.walk);
	uint64_t objects = 0, bytes = 0, all = 0;

	for (size_t i = 0; i < FAKEHEAP_SPANS; i++)
		all += heap.all[i].free_from;
	for (size_t i = 0; i < table.count; i++) {
		assert_true(table.rows[i].objects > 0);
		objects += table.rows[i].objects;
		bytes += table.rows[i].bytes;
	}
	assert_int_equal(table.objects, all);
	assert_int_equal(objects, all);
	assert_int_equal(bytes, table.bytes);
	expect_row(&table, OBJECTS_TYPE, 0, false, 1);
	assert_string_equal(row(&table, OBJECTS_TYPE, 0, false)->name, "main.T");
	assert_int_equal(row(&table, OBJECTS_TYPE, 0, false)->bytes, 32);
	expect_row(&table, OBJECTS_STRING, 0, false, 1);
	expect_row(&table, OBJECTS_TINY, 0, false, 2);
	expect_row(&table, OBJECTS_SEVERAL, 0, false, 1);
	expect_row(&table, OBJECTS_UNKNOWN, 32, true, 254);
	expect_row(&table, OBJECTS_UNKNOWN, 32, false, 255);
	expect_row(&table, OBJECTS_UNKNOWN, 64, true, 126 + 100);
	expect_row(&table, OBJECTS_UNKNOWN, 0, true, 1);
	assert_int_equal(row(&table, OBJECTS_UNKNOWN, 0, true)->bytes, FAKEHEAP_LARGE);
	assert_int_equal(table.unswept, 0);
	objects_table_free(&table);
	fakeheap_free(&heap);
}

/* --- what is said on stderr --- */

static void expect_said(const char *want)
{
	struct objects_table table;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	objects_add_up(&table, &heap.walk);
	objects_say(out, &heap.walk, &table);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
	objects_table_free(&table);
}

static void test_said(void **state)
{
	(void)state;
	fakeheap_make(&heap, 27);
	fakeheap_open(&heap);
	expect_said("");
	fakeheap_span(&heap, 128, true)->unswept = true; /* 63 objects */
	fakeheap_span(&heap, 1024, false)->unswept = true;
	expect_said("goheap: 15232 of these bytes are not swept yet: garbage is among them\n");
	heap.walk.gave_up = true;
	heap.walk.kinds.full = true;
	fakeheap_span(&heap, 1024, false)->unswept = false;
	expect_said("goheap: 8064 of these bytes are not swept yet: garbage is among them\n"
		    "goheap: not all pointers were followed: there are too many\n"
		    "goheap: there are too many types: some are unknown\n");
	fakeheap_free(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
