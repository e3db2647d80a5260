// SPDX-License-Identifier: Apache-2.0
/* How stacks that the kernel side has kept are shown: the map, the tracer and the frames are the
 * test's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "blocked/stacks_internal.h"
#include "bpf-src/shared/stack.h"
#include "bpf-src/shared/trace.h"
#include "frames/frames.h"
#include "kernel/bpfmap.h"
#include "profile/profile.h"
#include "program/gostack.h"
#include "program/program.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "tracing/tracer.h"
#include "unit.h"

enum { MAP = 9, BIAS = 0x10000, PLACE = 3 };

static struct program programs[2];
static struct goruntime runtimes[2];
static size_t program_count = 2;
static uint64_t defined;

/* --- in place of tracing/ and kernel/ --- */

static struct selection_row rows[] = {{.name = "main.work"}};
static struct selection_item items[2];
static struct selection selection = {.rows = rows, .items = items};
static struct trace_place place;

size_t tracer_program_count(const struct tracer *tracer)
{
	(void)tracer;
	return program_count;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_true(n < 2);
	return &programs[n];
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	return &runtimes[n];
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &selection;
}

const struct trace_place *tracer_place(const struct tracer *tracer, uint32_t number)
{
	(void)tracer;
	assert_int_equal(number, PLACE);
	return &place;
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	(void)tracer;
	assert_string_equal(name, "stacks");
	return MAP;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	(void)tracer;
	assert_string_equal(name, "G_SCHED_BP");
	defined = value;
}

static struct {
	unsigned long long count, frames[STACK_FRAMES_MAX];
} kept;

int bpfmap_lookup(int fd, const void *key, void *value)
{
	assert_int_equal(fd, MAP);
	if (*(const uint64_t *)key != 7)
		return -1;
	memcpy(value, &kept, sizeof(kept));
	return 0;
}

struct gostack_symbols *gostack_symbols_new(const struct image *img, const struct functab *tab)
{
	(void)tab;
	return (struct gostack_symbols *)img;
}

void gostack_symbols_free(struct gostack_symbols *syms)
{
	(void)syms;
}

/* --- in place of frames/: names by address, all the same with a bias --- */

static const char *const names[] = {"?", "main.work", "main.run", "main.inner", "runtime.goexit"};

static const char *const *files; /* by the same number; NULL: as ever */

static void each(const struct frames *frames, const uint64_t *addrs, size_t count,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx, bool all)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t n = (addrs[i] - frames->bias) / 16;
		struct frame frame = {.func = n < 5 ? names[n] : "main.deep",
				      .file = files    ? files[n]
					      : n == 2 ? NULL
						       : "f.go",
				      .line = files ? 1 : (int)n,
				      .number = i};

		if (n == 3 && all) { /* with main.work inlined */
			fn(ctx, &(struct frame){.func = "main.work", .inlined = true, .number = i});
		}
		if (n != 4 || all)
			fn(ctx, &frame);
	}
}

void frames_each(const struct frames *frames, const uint64_t *addrs, size_t count,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	each(frames, addrs, count, fn, ctx, false);
}

void frames_all(const struct frames *frames, const uint64_t *addrs, size_t count,
		void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	each(frames, addrs, count, fn, ctx, true);
}

static char row[512];

void profile_frame(void *ctx, const struct frame *frame)
{
	(void)ctx;
	strcat(strcat(row, frame->func), ";");
}

void profile_word(struct profile *profile, const char *word)
{
	(void)profile;
	strcat(strcat(row, word), ";");
}

/* --- */

static int begin(void **state)
{
	(void)state;
	program_count = 2;
	for (int i = 0; i < 2; i++) {
		runtimes[i] = (struct goruntime){.g_sched_sp = 56};
		programs[i] = (struct program){
			.path = i ? "b" : "a", .img = (void *)&programs[i], .release = 20 + i};
		items[i] = (struct selection_item){.prog = &programs[i]};
	}
	memset(&kept, 0, sizeof(kept));
	kept.count = 3;
	kept.frames[0] = BIAS + 16;
	kept.frames[1] = BIAS + 32;
	kept.frames[2] = BIAS + 64;
	place = (struct trace_place){.addr = 15};
	row[0] = '\0';
	return 0;
}

static void test_define(void **state)
{
	struct errmsg err = {0};

	(void)state;
	program_count = 1;
	assert_int_equal(stacks_define(NULL, "gotool", &err), 0);
	assert_int_equal(defined, 56 + 48);
	programs[0].release = 25;
	assert_int_equal(stacks_define(NULL, "gotool", &err), 0);
	assert_int_equal(defined, 56 + 40);
	programs[0].release = 24;
	assert_int_equal(stacks_define(NULL, "gotool", &err), 0);
	assert_int_equal(defined, 56 + 48);
	program_count = 2;
	assert_int_equal(stacks_define(NULL, "gotool", &err), -1);
	assert_string_equal(err.text, "gotool traces one program at a time");
	assert_string_equal(err.hint, "start it once for each");
}

static void test_check(void **state)
{
	struct errmsg err = {0};

	(void)state;
	assert_int_equal(stacks_check(NULL, NULL, &err), 0);
	runtimes[1].split_stack = true;
	assert_int_equal(stacks_check(NULL, NULL, &err), -1);
	assert_string_equal(err.text, "\"b\": what gccgo has compiled keeps no frame pointers");
	assert_string_equal(err.hint, "'gotrace -U' prints the stack of each call");
}

static char *printed(const struct stacks *stacks, uint64_t hash,
		     void (*print)(const struct stacks *stacks, uint64_t hash, uint64_t bias,
				   FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print(stacks, hash, BIAS, out);
	fclose(out);
	return text;
}

static void expect(char *text, const char *wanted)
{
	assert_string_equal(text, wanted);
	free(text);
}

static void print_json(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	struct json json;

	json_init(&json, out);
	stacks_json(stacks, hash, bias, &json);
}

static void test_printed(void **state)
{
	struct stacks *stacks = stacks_new(NULL);

	(void)state;
	expect(printed(stacks, 7, stacks_print), "    main.work f.go:1\n    main.run\n");
	expect(printed(stacks, 8, stacks_print), "    [lost]\n");
	expect(printed(stacks, 0, stacks_print), "    [lost]\n");
	expect(printed(stacks, 7, stacks_print_folded), "main.run;main.work;");
	expect(printed(stacks, 8, stacks_print_folded), "[lost];");
	expect(printed(stacks, 7, print_json),
	       "[{\"func\":\"main.work\",\"file\":\"f.go\",\"line\":1},"
	       "{\"func\":\"main.run\",\"file\":null,\"line\":null}]\n");
	expect(printed(stacks, 8, print_json), "[]\n");
	stacks_free(stacks);
	stacks_free(NULL);
}

static void test_frames(void **state)
{
	struct stacks *stacks = stacks_new(NULL);
	struct frames frames = stacks_frames(stacks, BIAS);

	(void)state;
	assert_int_equal(frames.bias, BIAS);
	assert_ptr_equal(frames.img, programs[0].img);
	assert_int_equal(frames.release, 20);
	assert_ptr_equal(frames.syms, (void *)programs[0].img);
	stacks_free(stacks);
}

static void test_addresses(void **state)
{
	struct stacks *stacks = stacks_new(NULL);
	uint64_t out[4] = {0};

	(void)state;
	assert_int_equal(stacks_addresses(stacks, 7, out, 4), 3);
	assert_int_equal(out[2], BIAS + 64);
	out[1] = 0;
	assert_int_equal(stacks_addresses(stacks, 7, out, 1), 1);
	assert_int_equal(out[1], 0);
	assert_int_equal(stacks_addresses(stacks, 8, out, 4), 0);
	assert_string_equal(stacks_outermost(stacks, 7, BIAS), "main.run");
	assert_null(stacks_outermost(stacks, 8, BIAS));
	stacks_free(stacks);
}

/* Stacks that are shown alike are the same, whatever addresses they have. */
static void test_shown(void **state)
{
	struct stacks *stacks = stacks_new(NULL);
	uint64_t first = stacks_shown(stacks, 7, BIAS);

	(void)state;
	kept.frames[0] += 3;
	assert_int_equal(stacks_shown(stacks, 7, BIAS), first);
	kept.frames[0] += 32;
	assert_int_not_equal(stacks_shown(stacks, 7, BIAS), first);
	kept.frames[0] -= 32;
	kept.frames[1] += 16;
	assert_int_not_equal(stacks_shown(stacks, 7, BIAS), first);
	assert_int_equal(stacks_shown(stacks, 8, BIAS), 0);
	stacks_free(stacks);
}

/* in a file that several have, a line is of one function, and a function's of one file */
static void test_shown_apart(void **state)
{
	static const char *const same[] = {"f.go", "f.go", "f.go", "f.go", "f.go"},
				 *const others[] = {"f.go", "g.go", "f.go", "f.go", "f.go"};
	struct stacks *stacks = stacks_new(NULL);

	(void)state;
	files = same;
	uint64_t work = stacks_shown(stacks, 7, BIAS);

	kept.frames[0] += 16; /* main.run */
	assert_int_not_equal(stacks_shown(stacks, 7, BIAS), work);
	kept.frames[0] -= 16;
	files = others;
	assert_int_not_equal(stacks_shown(stacks, 7, BIAS), work);
	files = NULL;
	stacks_free(stacks);
}

static void test_profile(void **state)
{
	struct stacks *stacks = stacks_new(NULL);

	(void)state;
	stacks_profile(stacks, 7, BIAS, NULL);
	assert_string_equal(row, "main.work;main.run;");
	row[0] = '\0';
	stacks_profile(stacks, 8, BIAS, NULL);
	assert_string_equal(row, "[lost];");
	stacks_free(stacks);
}

static void expect_profile_at(struct stacks *stacks, uint64_t hash, const char *wanted)
{
	row[0] = '\0';
	stacks_profile_at(stacks, hash, PLACE, NULL);
	assert_string_equal(row, wanted);
}

/* From a probed place on: the load bias is what its first address tells. */
static void test_profile_at(void **state)
{
	struct stacks *stacks = stacks_new(NULL);

	(void)state;
	expect_profile_at(stacks, 7, "main.work;main.run;");
	expect_profile_at(stacks, 8, "main.work;[lost];");
	/* what is inlined at the probe is none of it; nor is all left out where its name is another
	 */
	kept.frames[0] = BIAS + 48;
	place.addr = 47;
	rows[0].name = "main.inner";
	expect_profile_at(stacks, 7, "main.inner;main.run;");
	rows[0].name = "main.work";
	expect_profile_at(stacks, 7, "main.work;main.inner;main.run;");
	rows[0].name = "main.other";
	expect_profile_at(stacks, 7, "main.work;main.inner;main.run;");
	rows[0].name = "main.run"; /* which comes, but not at the probe */
	expect_profile_at(stacks, 7, "main.work;main.inner;main.run;");
	/* a copy's first instruction may be elsewhere */
	rows[0].name = "main.work";
	items[0].is_copy = true;
	items[0].copy.addr = 16;
	expect_profile_at(stacks, 7, "main.work;main.run;");
	/* of the second program, and with as many frames as are kept */
	place.item = 1;
	kept.count = STACK_FRAMES_MAX + 1;
	for (unsigned i = 1; i < STACK_FRAMES_MAX; i++)
		kept.frames[i] = BIAS + 64;
	kept.frames[0] = BIAS + 16;
	place.addr = 15;
	expect_profile_at(stacks, 7, "main.work;[more];");
	kept.count = STACK_FRAMES_MAX - 1;
	expect_profile_at(stacks, 7, "main.work;");
	stacks_free(stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_define, begin),
		cmocka_unit_test_setup(test_check, begin),
		cmocka_unit_test_setup(test_printed, begin),
		cmocka_unit_test_setup(test_frames, begin),
		cmocka_unit_test_setup(test_addresses, begin),
		cmocka_unit_test_setup(test_shown, begin),
		cmocka_unit_test_setup(test_shown_apart, begin),
		cmocka_unit_test_setup(test_profile, begin),
		cmocka_unit_test_setup(test_profile_at, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
