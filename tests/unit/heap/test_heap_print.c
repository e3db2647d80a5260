// SPDX-License-Identifier: Apache-2.0
/* goheap's output, of a profile and of stacks that are made up. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "frames/frames.h"
#include "heap/heap_print_internal.h"
#include "heap/heap_stacks_internal.h"
#include "printed.h"
#include "program/program.h"

enum { ROWS = 5, DEEP = 2, DEEP_FRAMES = 22 };

/* of heap/heap_stacks.c: stack n is called by main, and DEEP is deep. */
void heap_stacks_each(const struct heap_stacks *stacks, size_t number,
		      void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	static const char *const inner[] = {"main.a", "example.com/x/y.B;c", "main.deep", "main.d",
					    "main.e"};
	struct frame frame = {.func = inner[number], .file = "/a.go", .line = 7};

	(void)stacks;
	for (size_t i = 1; i < (number == DEEP ? DEEP_FRAMES : 2); i++)
		fn(ctx, &frame);
	frame = (struct frame){.func = "main.main", .file = "/m.go", .line = 9};
	fn(ctx, &frame);
}

static const struct program prog = {.release = 19};
static struct heap_row rows[ROWS], rows_before[ROWS];
static struct heap_table now, before;
static struct heap_look look;
static struct heap_subject of;
static struct heap_view view;

static struct heap_row row_of(uint64_t in_use, uint64_t freed)
{
	return (struct heap_row){
		.in_use = {in_use / 10, in_use},
		.allocated = {(in_use + freed) / 10, in_use + freed},
		.sampled_in_use = {in_use / 100, in_use / 10},
		.sampled_allocated = {(in_use + freed) / 100, (in_use + freed) / 10},
		.picked = true};
}

/* Row 0 is of what has been freed, row 4 is not picked. */
static int begin(void **state)
{
	(void)state;
	rows[0] = row_of(0, 1000);
	rows[1] = row_of(2000, 400);
	rows[2] = row_of(2000, 0);
	rows[3] = row_of(3000, 0);
	rows[4] = row_of(5000, 0);
	rows[4].picked = false;
	now = (struct heap_table){.rows = rows,
				  .count = ROWS,
				  .total = row_of(12000, 1400),
				  .picked = row_of(7000, 1400),
				  .heap = {.rate = 512, .cycle = 8, .of = 7}};
	look = (struct heap_look){0};
	of = (struct heap_subject){.prog = &prog, .pid = 12, .name = "app\x1b"};
	view = (struct heap_view){.look = &look, .of = &of, .now = &now};
	return 0;
}

static void expect(void (*print)(FILE *out, const struct heap_view *view), const char *want)
{
	printed_begin();
	print(stdout, &view);
	printed_expect(want);
}

#define FIRST "12 app\\x1b (go1.19): "
#define AS_OF "as of collection 7 of 8\n"

static void test_head(void **state)
{
	(void)state;
	expect(heap_print_head,
	       FIRST "12000 bytes in use, 1200 objects; a sample every 512 bytes\n" AS_OF);
	now.heap.rate = 1;
	look.alloc = true;
	expect(heap_print_head, FIRST "13400 bytes allocated, 1340 objects; every allocation is "
				      "sampled\n" AS_OF);
	now.heap.rate = 0;
	look.pattern_count = 1;
	expect(heap_print_head,
	       FIRST "13400 bytes allocated, 1340 objects; sampling is off now\n" AS_OF
		     "in stacks that match: 8400 bytes, 840 objects\n");
	now.heap.rate = 2;
	now.heap.early = true;
	look = (struct heap_look){0};
	expect(heap_print_head,
	       FIRST "12000 bytes in use, 1200 objects; a sample every 2 bytes\n"
		     "all that was allocated so far: no collection's numbers are published yet\n");
}

/* How long ago the collection was; nothing where that is not known, or to come. */
static void test_age(void **state)
{
	const uint64_t hour_ns = 3600 * UINT64_C(1000000000);
	double age = 0;
	char *text;

	(void)state;
	now.heap.marked_ns = (uint64_t)time(NULL) * UINT64_C(1000000000) - hour_ns;
	printed_begin();
	heap_print_head(stdout, &view);
	text = printed_end();
	assert_non_null(strstr(text, " of 8, 36"));
	assert_int_equal(sscanf(strstr(text, " of 8"), " of 8, %lf s ago\n", &age), 1);
	assert_true(age >= 3600 && age < 3660);
	free(text);
	now.heap.marked_ns += 2 * hour_ns;
	expect(heap_print_head,
	       FIRST "12000 bytes in use, 1200 objects; a sample every 512 bytes\n" AS_OF);
	now.heap.marked_ns = 1;
	of.ended = true; /* nobody knows when */
	expect(heap_print_head,
	       FIRST "12000 bytes in use, 1200 objects; a sample every 512 bytes\n" AS_OF);
}

#define B                                                                                          \
	"        example.com/x/y.B;c a.go:7\n"                                                     \
	"        main.main m.go:9\n"
#define D                                                                                          \
	"        main.d a.go:7\n"                                                                  \
	"        main.main m.go:9\n"
#define FIVE(text) text text text text text
#define DEEP_LINE "        main.deep a.go:7\n"

static void test_table(void **state)
{
	(void)state;
	/* most bytes first; of equal ones that which came first; of a deep stack 20 frames */
	expect(heap_print_table,
	       "       BYTES     OBJECTS  SHARE\n"
	       "        3000         300  25.0%\n" D "        2000         200  16.7%\n" B
	       "        2000         200  16.7%\n" FIVE(DEEP_LINE) FIVE(DEEP_LINE) FIVE(DEEP_LINE)
		       FIVE(DEEP_LINE) "        ... 2 more\n");
	assert_int_equal(heap_print_count(&view), 3);
	look.alloc = true; /* that of what has been freed is shown, too */
	assert_int_equal(heap_print_count(&view), 4);
	now.count = 2;
	expect(heap_print_table,
	       "       BYTES     OBJECTS  SHARE\n"
	       "        2400         240  17.9%\n" B "        1000         100   7.5%\n"
	       "        main.a a.go:7\n"
	       "        main.main m.go:9\n");
	now.count = 0;
	expect(heap_print_table, "");
}

/* The largest growth first; stacks that are new grew from 0, those that shrank are last. */
static void test_changes(void **state)
{
	(void)state;
	memcpy(rows_before, rows, sizeof(rows));
	rows_before[0] = row_of(50, 1000);
	rows_before[1] = row_of(1500, 400);
	rows_before[4] = row_of(1, 1);
	before = (struct heap_table){.rows = rows_before, .count = 3, .heap = now.heap};
	view.before = &before;
	expect(heap_print_changes,
	       "        GREW       BYTES     OBJECTS\n"
	       "       +3000        3000         300\n" D "        +500        2000         200\n" B
	       "         -50           0           0\n"
	       "        main.a a.go:7\n"
	       "        main.main m.go:9\n");
	before.count = ROWS;
	memcpy(rows_before, rows, sizeof(rows));
	expect(heap_print_changes, "no other collection since\n");
	before.heap.of = 6;
	expect(heap_print_changes, "the same as before\n");
	before.heap.of = 7;
	now.heap.early = true;
	expect(heap_print_changes, "the same as before\n");
}

static void test_folded(void **state)
{
	(void)state;
	now.count = 2;
	expect(heap_print_folded, "main.main;example.com/x/y.B,c 2000\n");
	look.alloc = true;
	expect(heap_print_folded, "main.main;example.com/x/y.B,c 2400\n"
				  "main.main;main.a 1000\n");
}

static void add_time(struct json *json)
{
	json_member_string(json, "time", "now");
}

#define FRAMES                                                                                     \
	"\"frames\":[{\"func\":\"main.a\",\"file\":\"/a.go\",\"line\":7},"                         \
	"{\"func\":\"main.main\",\"file\":\"/m.go\",\"line\":9}]}\n"

/* Stacks of which anything was sampled, all that is known of each */
static void test_json(void **state)
{
	(void)state;
	look.json = true;
	assert_int_equal(heap_print_count(&view), 4);
	now.count = 1;
	expect(heap_print_json,
	       "{\"type\":\"heap\",\"pid\":12,\"inuse_objects\":0,\"inuse_bytes\":0,"
	       "\"alloc_objects\":100,\"alloc_bytes\":1000,\"sampled\":{\"inuse_objects\":0,"
	       "\"inuse_bytes\":0,\"alloc_objects\":10,\"alloc_bytes\":100},\"rate\":512,"
	       "\"collection\":7,\"collected_ns\":null," FRAMES);
	rows[0] = row_of(600, 400);
	look.json_time = add_time;
	now.heap.marked_ns = 99;
	now.heap.early = true;
	expect(heap_print_json,
	       "{\"type\":\"heap\",\"time\":\"now\",\"pid\":12,\"inuse_objects\":60,"
	       "\"inuse_bytes\":600,\"alloc_objects\":100,\"alloc_bytes\":1000,"
	       "\"sampled\":{\"inuse_objects\":6,\"inuse_bytes\":60,\"alloc_objects\":10,"
	       "\"alloc_bytes\":100},\"rate\":512,\"collection\":null,\"collected_ns\":99," FRAMES);
	rows[0].sampled_in_use.objects = rows[0].sampled_allocated.objects = 0;
	expect(heap_print_json, "");
	rows[0].sampled_in_use.objects = 1;
	assert_int_equal(heap_print_count(&view), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_head, begin),
		cmocka_unit_test_setup(test_age, begin),
		cmocka_unit_test_setup(test_table, begin),
		cmocka_unit_test_setup(test_changes, begin),
		cmocka_unit_test_setup(test_folded, begin),
		cmocka_unit_test_setup(test_json, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
