// SPDX-License-Identifier: Apache-2.0
/* Stacks of a heap profile: which frames of them are shown, and which stacks are the same then. */
#include <string.h>

#include "frames/frames.h"
#include "heap/heap_internal.h"
#include "heap/heap_stacks_internal.h"
#include "profile/profile.h"
#include "program/functab.h"
#include "program/gostack_symbols.h"
#include "unit.h"

enum { BIAS = 0x100000, SIZE = 0x100 };
enum func { MALLOC = 1, INTERNAL, MAIN, WORK, INLINED, GOEXIT, RUNTIMES, FUNCS };

static const struct gostack_line lines[FUNCS] = {
	[MALLOC] = {.name = "runtime.mallocgc", .file = "m.go", .line = 3},
	[INTERNAL] = {.name = "internal/runtime/maps.New", .file = "i.go", .line = 4},
	[MAIN] = {.name = "main.main", .file = "a.go", .line = 5, .start_line = 2},
	[WORK] = {.name = "main.work", .file = "a.go", .line = 20},
	[INLINED] = {.name = "main.inner", .file = "a.go", .line = 30, .inlined = true},
	[GOEXIT] = {.name = "runtime.goexit", .file = "asm.s", .line = 9},
	[RUNTIMES] = {.name = NULL},
};

/* --- in place of program/ --- */

struct gostack_place gostack_symbols_find(struct gostack_symbols *syms, uint64_t addr, bool returns)
{
	(void)syms;
	assert_true(returns && addr / SIZE < FUNCS);
	return (struct gostack_place){.lines = &lines[addr / SIZE], .count = 1};
}

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *fn)
{
	(void)tab;
	/* the code of main.inner stands in main.work */
	*fn = (struct functab_func){.addr = addr / SIZE == INLINED ? WORK * SIZE
								   : addr / SIZE * SIZE};
	return true;
}

static struct {
	char func[32];
	size_t number;
	uint64_t at;
} noted[8];
static size_t note_count;

void profile_frame(void *ctx, const struct frame *frame)
{
	(void)ctx;
	strcpy(noted[note_count].func, frame->func);
	noted[note_count].number = frame->number;
	noted[note_count++].at = frame->at;
}

/* --- */

static const struct frames frames = {.bias = BIAS};
static uint64_t words[64];
static struct heap heap = {.words = words};

static struct heap_bucket bucket(const enum func *funcs, unsigned depth, unsigned off)
{
	for (unsigned i = 0; i < depth; i++)
		words[off + i] = BIAS + funcs[i] * SIZE + 0x10 + off;
	return (struct heap_bucket){.words = off, .depth = depth};
}

#define BUCKET(off, ...)                                                                           \
	bucket((const enum func[]){__VA_ARGS__},                                                   \
	       sizeof((const enum func[]){__VA_ARGS__}) / sizeof(enum func), off)

static void join(void *ctx, const struct frame *frame)
{
	strcat(strcat(ctx, frame->func), ";");
}

static void expect(struct heap_stacks *stacks, size_t number, const char *wanted)
{
	char text[256] = "";

	heap_stacks_each(stacks, number, join, text);
	assert_string_equal(text, wanted);
}

static void test_shown(void **state)
{
	struct heap_stacks *stacks = heap_stacks_new(&frames);
	struct heap_bucket b;

	(void)state;
	b = BUCKET(0, MALLOC, INTERNAL, WORK, MAIN, GOEXIT);
	assert_int_equal(heap_stacks_number(stacks, &heap, &b), 0);
	expect(stacks, 0, "main.work;main.main;");
	/* the same, as it is shown, at other addresses */
	b = BUCKET(8, MALLOC, WORK, MAIN);
	assert_int_equal(heap_stacks_number(stacks, &heap, &b), 0);
	b = BUCKET(16, WORK, WORK, MAIN, GOEXIT, GOEXIT);
	assert_int_equal(heap_stacks_number(stacks, &heap, &b), 1);
	expect(stacks, 1, "main.work;main.work;main.main;");
	/* the runtime's own are left where there are no others */
	b = BUCKET(24, MALLOC, INTERNAL, GOEXIT);
	assert_int_equal(heap_stacks_number(stacks, &heap, &b), 2);
	expect(stacks, 2, "runtime.mallocgc;internal/runtime/maps.New;");
	/* in between they are shown */
	b = BUCKET(32, WORK, MALLOC, MAIN);
	assert_int_equal(heap_stacks_number(stacks, &heap, &b), 3);
	expect(stacks, 3, "main.work;runtime.mallocgc;main.main;");
	b = BUCKET(40, GOEXIT);
	assert_int_equal(heap_stacks_number(stacks, &heap, &b), 4);
	expect(stacks, 4, "");
	b = BUCKET(48, RUNTIMES, MAIN);
	expect(stacks, heap_stacks_number(stacks, &heap, &b), "?;main.main;");
	b = BUCKET(0, MALLOC, INTERNAL, WORK, MAIN, GOEXIT);
	assert_int_equal(heap_stacks_number(stacks, &heap, &b), 0);
	b = BUCKET(56, MAIN, WORK);
	assert_int_equal(heap_stacks_number(stacks, &heap, &b), 6);
	heap_stacks_free(stacks);
	heap_stacks_free(NULL);
}

/* A call that is inlined and what it is inlined into are of one place. */
static void test_profile(void **state)
{
	struct heap_stacks *stacks = heap_stacks_new(&frames);
	struct heap_bucket b = BUCKET(0, MALLOC, INLINED, WORK, WORK, INLINED, MAIN, GOEXIT);
	static const struct {
		const char *func;
		size_t number;
		enum func at;
	} wanted[] = {{"main.inner", 1, INLINED},
		      {"main.work", 1, WORK},
		      {"main.work", 3, WORK},
		      {"main.inner", 4, INLINED},
		      {"main.main", 5, MAIN}};

	(void)state;
	note_count = 0;
	heap_stacks_profile(stacks, &heap, &b, NULL);
	assert_int_equal(note_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(noted[i].func, wanted[i].func);
		assert_int_equal(noted[i].number, wanted[i].number);
		assert_int_equal(noted[i].at, wanted[i].at * SIZE + 0xf);
	}
	heap_stacks_free(stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
