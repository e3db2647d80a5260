// SPDX-License-Identifier: Apache-2.0
/* Looks at a program's profile, by goheap's options: rows by stack, what has changed since, what
 * is said beside it. The profile and its stacks are the test's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "frames/frames.h"
#include "golang/pattern.h"
#include "heap/heap_look.h"
#include "heap/heap_print_internal.h"
#include "heap/heap_stacks_internal.h"
#include "printed.h"
#include "profile/profile_show.h"
#include "program/program.h"

enum { MOST = 8, BIAS = 0x1000 };

static struct program app;
static const struct frames its_frames = {.bias = BIAS};
static struct heap_subject of;
static struct heap made;
static struct heap_bucket buckets[MOST];
static bool fails, is_used;
static const char *vars_fail;
static char watched[128];
static int opened; /* stacks that were not freed */

/* --- in place of the profile: what is sampled stands for twice as much --- */

void budget_watch_task(const char *whose, const char *task)
{
	snprintf(watched, sizeof(watched), "%s: %s", whose, task);
}

int heap_vars_find(const struct program *prog, struct heap_vars *out, struct errmsg *err)
{
	assert_ptr_equal(prog, &app);
	*out = (struct heap_vars){.used = is_used, .buckets = 77};
	return vars_fail ? errmsg_set(err, "%s", vars_fail) : 0;
}

int heap_read(const struct heap_source *from, struct heap *out, struct errmsg *err)
{
	assert_ptr_equal(from->mem, &made);
	assert_int_equal(from->vars->buckets, 77);
	assert_int_equal(from->bias, BIAS);
	assert_int_equal(from->release, 27);
	if (fails)
		return errmsg_set(err, "not readable");
	*out = made;
	return 0;
}

void heap_free(struct heap *heap)
{
	heap->all = NULL;
}

struct heap_count heap_scale(struct heap_count sampled, int64_t rate)
{
	(void)rate;
	return (struct heap_count){2 * sampled.objects, 2 * sampled.bytes};
}

struct heap_count heap_in_use(const struct heap_bucket *bucket)
{
	return (struct heap_count){bucket->allocated.objects - bucket->freed.objects,
				   bucket->allocated.bytes - bucket->freed.bytes};
}

/* --- in place of stacks: a bucket's has the number that its record is --- */

struct heap_stacks *heap_stacks_new(const struct frames *frames)
{
	assert_ptr_equal(frames, &its_frames);
	opened++;
	return (struct heap_stacks *)&made;
}

void heap_stacks_free(struct heap_stacks *stacks)
{
	assert_ptr_equal(stacks, &made);
	opened--;
}

size_t heap_stacks_number(struct heap_stacks *stacks, const struct heap *heap,
			  const struct heap_bucket *bucket)
{
	assert_ptr_equal(stacks, &made);
	assert_ptr_equal(heap->all, buckets);
	return bucket->record;
}

void heap_stacks_each(const struct heap_stacks *stacks, size_t number,
		      void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	static const char *const inner[] = {"main.a", "main.b", "main.c", "main.d"};

	assert_ptr_equal(stacks, &made);
	fn(ctx, &(struct frame){.func = inner[number], .file = "/a.go", .line = 7});
	fn(ctx, &(struct frame){.func = "main.main", .file = "/m.go", .line = 9});
}

void heap_stacks_profile(struct heap_stacks *stacks, const struct heap *heap,
			 const struct heap_bucket *bucket, struct profile *profile)
{
	(void)heap;
	assert_ptr_equal(stacks, &made);
	profile_label(profile, "stack", bucket->record ? "other" : "first");
}

/* --- looks --- */

static int begin(void **state)
{
	(void)state;
	app = (struct program){.release = 27, .release_told = true, .path = "/bin/app"};
	of = (struct heap_subject){.mem = (const struct memory *)&made,
				   .prog = &app,
				   .frames = &its_frames,
				   .pid = 12,
				   .name = "app"};
	made = (struct heap){.all = buckets, .rate = 512, .cycle = 8, .of = 7};
	fails = false;
	is_used = true;
	vars_fail = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(opened, 0);
	return 0;
}

/* Of stack n: so many objects of 8 bytes, of which some were freed */
static void add(uint64_t n, uint64_t objects, uint64_t freed)
{
	buckets[made.count++] = (struct heap_bucket){.size = 8,
						     .record = n,
						     .allocated = {objects, 8 * objects},
						     .freed = {freed, 8 * freed}};
}

static void expect(struct heap_look *look, uint64_t want_count, const char *want)
{
	struct errmsg err = {0};
	uint64_t count = 99;

	printed_begin();
	assert_int_equal(heap_look(look, &of, &count, &err), 0);
	printed_expect(want);
	assert_int_equal(count, want_count);
}

#define FIRST(in_use) "12 app (go1.27): " in_use "; a sample every 512 bytes\n"
#define AS_OF "as of collection 7 of 8\n"
#define HEAD "       BYTES     OBJECTS  SHARE\n"
#define STACK(letter) "        main." letter " a.go:7\n        main.main m.go:9\n"

/* Buckets of a stack are one row; of those that never were in it, nothing is told. */
static void test_rows(void **state)
{
	struct heap_look look = {0};

	(void)state;
	add(1, 10, 4);
	add(0, 2, 0);
	add(1, 20, 5);
	add(2, 0, 0);
	expect(&look, 2,
	       FIRST("368 bytes in use, 46 objects") AS_OF HEAD
	       "         336          42  91.3%\n" STACK(
		       "b") "          32           4   8.7%\n" STACK("a"));
	assert_string_equal(watched, "process 12: a snapshot of its profile");
	assert_int_equal(opened, 1);
	expect(&look, 2,
	       "\n" FIRST("368 bytes in use, 46 objects") AS_OF HEAD
	       "         336          42  91.3%\n" STACK(
		       "b") "          32           4   8.7%\n" STACK("a"));
	heap_look_end(&look);
	heap_look_end(&look);
	of.ended = true;
	look = (struct heap_look){.alloc = true};
	expect(&look, 2,
	       FIRST("512 bytes allocated, 64 objects") AS_OF HEAD
	       "         480          60  93.8%\n" STACK(
		       "b") "          32           4   6.2%\n" STACK("a"));
	assert_string_equal(watched, "the core file: a snapshot of its profile");
	heap_look_end(&look);
}

static void test_picked(void **state)
{
	struct pattern *patterns[] = {pattern_new("main.x", false, NULL),
				      pattern_new("*.b", false, NULL)};
	struct heap_look look = {.patterns = patterns, .pattern_count = 2};

	(void)state;
	add(1, 10, 4);
	add(0, 2, 0);
	expect(&look, 1,
	       FIRST("128 bytes in use, 16 objects") AS_OF
	       "in stacks that match: 96 bytes, 12 objects\n" HEAD
	       "          96          12  75.0%\n" STACK("b"));
	heap_look_end(&look);
	look.pattern_count = 1;
	look.has_printed = false;
	expect(&look, 0,
	       FIRST("128 bytes in use, 16 objects") AS_OF
	       "in stacks that match: 0 bytes, 0 objects\n");
	heap_look_end(&look);
	pattern_free(patterns[0]);
	pattern_free(patterns[1]);
}

static void test_folded(void **state)
{
	struct heap_look look = {.folded = true};

	(void)state;
	add(1, 10, 4);
	add(0, 2, 0);
	expect(&look, 2, "main.main;main.b 96\nmain.main;main.a 32\n");
	heap_look_end(&look);
}

static void test_json(void **state)
{
	struct heap_look look = {.json = true};

	(void)state;
	add(1, 10, 4);
	printed_begin();
	uint64_t count;
	struct errmsg err;

	assert_int_equal(heap_look(&look, &of, &count, &err), 0);
	char *text = printed_end();

	assert_non_null(strstr(text, "\"func\":\"main.b\""));
	free(text);
	heap_look_end(&look);
}

static void test_profile(void **state)
{
	struct profile_spec spec = heap_profile_spec;
	struct heap_look look = {.folded = true};
	struct pattern *pattern = pattern_new("*.b", false, NULL);
	const struct profile_style style = {.type = "row", .json = true};

	(void)state;
	look.profile = profile_new(&spec);
	look.patterns = &pattern;
	look.pattern_count = 1;
	add(1, 10, 4);
	add(0, 2, 0);
	expect(&look, 1, "main.main;main.b 96\n");
	printed_begin();
	profile_show(stdout, look.profile, &style);
	printed_expect("{\"type\":\"row\",\"stack\":\"other\",\"bytes\":8,\"alloc_objects\":20,"
		       "\"alloc_space\":160,\"inuse_objects\":12,\"inuse_space\":96,"
		       "\"stack\":[]}\n");
	profile_free(look.profile);
	heap_look_end(&look);
	pattern_free(pattern);
	assert_int_equal(heap_profile_spec.shown, 3);
	assert_int_equal(heap_alloc_profile_spec.shown, 1);
	assert_int_equal(heap_alloc_profile_spec.type_count, 4);
}

/* --- again --- */

static void test_again(void **state)
{
	struct heap_look look = {.again = true};

	(void)state;
	add(1, 10, 4);
	add(0, 2, 0);
	expect(&look, 2,
	       FIRST("128 bytes in use, 16 objects") AS_OF HEAD
	       "          96          12  75.0%\n" STACK(
		       "b") "          32           4  25.0%\n" STACK("a"));
	made.count = 0;
	made.of = 8;
	add(1, 10, 9);
	add(0, 2, 0);
	add(3, 5, 0);
	expect(&look, 3,
	       FIRST("128 bytes in use, 16 objects") "as of collection 8 of 8\n"
						     "        GREW       BYTES     OBJECTS\n"
						     "         +80          80          10\n" STACK(
							     "d") "         -80          16        "
								  "   2\n" STACK("b"));
	heap_look_end(&look);
}

/* --- what is said, and what fails --- */

static void expect_failure(const char *why, const char *hint)
{
	struct heap_look look = {0};
	struct errmsg err = {0};
	uint64_t count;

	printed_begin();
	assert_int_equal(heap_look(&look, &of, &count, &err), -1);
	printed_expect("");
	assert_string_equal(err.text, why);
	assert_string_equal(err.hint, hint);
	heap_look_end(&look);
}

static void test_failures(void **state)
{
	(void)state;
	fails = true;
	expect_failure("not readable", "");
	fails = false;
	vars_fail = "no such code";
	expect_failure("no such code", "");
	vars_fail = NULL;
	app.release_told = false;
	expect_failure("/bin/app: does not say which release of Go built it: how its profile is "
		       "laid out is not known",
		       "");
	app.release_told = true;
	made.rate = 0;
	expect_failure("it samples no allocations: its runtime.MemProfileRate is 0",
		       "it is set by the program, or by GODEBUG=memprofilerate=N");
	made.rate = -5;
	expect_failure("it samples no allocations: its runtime.MemProfileRate is -5",
		       "it is set by the program, or by GODEBUG=memprofilerate=N");
	add(1, 10, 4);
	is_used = false;
	expect_failure("it samples no allocations: as nothing in the program uses "
		       "runtime.MemProfile, its linker has turned that off",
		       "link runtime/pprof or net/http/pprof and use it, or see what is allocated "
		       "now, and where: goallocs -p PID");
}

/* What was sampled before it was turned off is shown; a program that never did may have a rate. */
static void test_rates(void **state)
{
	struct heap_look look = {.folded = true};

	(void)state;
	made.rate = 0;
	add(1, 10, 4);
	expect(&look, 1, "main.main;main.b 96\n");
	heap_look_end(&look);
	made.rate = 1;
	is_used = false;
	expect(&look, 1, "main.main;main.b 96\n");
	heap_look_end(&look);
}

static void test_left_out(void **state)
{
	struct heap_look look = {.folded = true};
	char *text = NULL;
	size_t len;
	FILE *was = stderr;

	(void)state;
	made.left_out = 3;
	made.unsteady = true;
	stderr = open_memstream(&text, &len);
	expect(&look, 0, "");
	fclose(stderr);
	stderr = was;
	assert_string_equal(text, "goheap: 3 more stacks are not shown\n"
				  "goheap: the profile changed each time that it was read: some of "
				  "it may be counted twice, or not at all\n");
	free(text);
	heap_look_end(&look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, begin, end),
		cmocka_unit_test_setup_teardown(test_picked, begin, end),
		cmocka_unit_test_setup_teardown(test_folded, begin, end),
		cmocka_unit_test_setup_teardown(test_json, begin, end),
		cmocka_unit_test_setup_teardown(test_profile, begin, end),
		cmocka_unit_test_setup_teardown(test_again, begin, end),
		cmocka_unit_test_setup_teardown(test_failures, begin, end),
		cmocka_unit_test_setup_teardown(test_rates, begin, end),
		cmocka_unit_test_setup_teardown(test_left_out, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
