// SPDX-License-Identifier: Apache-2.0
/* Which frames of a stack are shown, as Go's tracebacks have it. The program's functions are made
 * up: each has 0x100 bytes. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames/frames.h"
#include "printed.h"
#include "program/functab.h"
#include "program/gostack_symbols.h"

enum { BIAS = 0x400000, SIZE = 0x100, AT = 0x20, DEPTH = 8 };

enum func {
	MAIN = 1,
	WORK, /* with main.inner inlined */
	WRAPPER,
	GOPANIC,
	SIGPANIC,
	PANICWRAP,
	GOSCHED,
	EXPORTED_METHOD,
	PRIVATE_METHOD,
	METHOD_OF_PRIVATE,
	MALLOC,
	FINALIZERS,
	CLEANUPS,
	GOEXIT,
	NO_DOT,
	RUNTIMES,
	INLINED_RUNTIME, /* main.f with a function of the runtime's inlined */
	UNKNOWN,
	FUNCS
};

static const struct gostack_line lines[FUNCS][2] = {
	[MAIN] = {{.name = "main.main", .file = "/m.go", .line = 5, .start_line = 3}},
	[WORK] = {{.name = "main.inner", .file = "/a.go", .line = 7, .inlined = true},
		  {.name = "main.work", .file = "/a.go", .line = 20, .call = 0x210}},
	[WRAPPER] = {{.name = "main.(*T).M", .wrapper = true}},
	[GOPANIC] = {{.name = "runtime.gopanic"}},
	[SIGPANIC] = {{.name = "runtime.sigpanic"}},
	[PANICWRAP] = {{.name = "runtime.panicwrap"}},
	[GOSCHED] = {{.name = "runtime.Gosched"}},
	[EXPORTED_METHOD] = {{.name = "runtime.(*Cleanup).Stop"}},
	[PRIVATE_METHOD] = {{.name = "runtime.(*Cleanup).stop"}},
	[METHOD_OF_PRIVATE] = {{.name = "runtime.(*mheap).Alloc"}},
	[MALLOC] = {{.name = "runtime.mallocgc"}},
	[FINALIZERS] = {{.name = "runtime.runFinalizers"}},
	[CLEANUPS] = {{.name = "runtime.runCleanups"}},
	[GOEXIT] = {{.name = "runtime.goexit"}},
	[NO_DOT] = {{.name = "_cgo_thread"}},
	[RUNTIMES] = {{.name = "runtimes.run"}},
	[INLINED_RUNTIME] = {{.name = "runtime.nanotime", .inlined = true}, {.name = "main.f"}},
	[UNKNOWN] = {{.name = NULL}},
};

static bool returns_wanted[DEPTH];
static size_t looked;

/* --- in place of program/ --- */

struct gostack_place gostack_symbols_find(struct gostack_symbols *syms, uint64_t addr, bool returns)
{
	const struct gostack_line *found = lines[addr / SIZE];

	(void)syms;
	assert_true(addr / SIZE < FUNCS);
	if (looked < DEPTH)
		returns_wanted[looked++] = returns;
	return (struct gostack_place){
		.lines = found, .count = found[1].name ? 2 : 1, .off = addr % SIZE};
}

bool gostack_symbols_interrupt(const struct gostack_place *callee)
{
	return callee->lines[0].name && !strcmp(callee->lines[0].name, "runtime.sigpanic");
}

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *out)
{
	const struct gostack_line *found = lines[addr / SIZE];

	(void)tab;
	*out = (struct functab_func){.name = found[found[1].name ? 1 : 0].name,
				     .addr = addr / SIZE * SIZE};
	return out->name;
}

int functab_start_line(const struct functab *tab, const struct functab_func *fn)
{
	(void)tab;
	return (int)(fn->addr / SIZE);
}

/* --- */

static struct frames frames;
static uint64_t stack[DEPTH];
static size_t depth;

static void begin(int release)
{
	frames = (struct frames){.bias = BIAS, .release = release};
	depth = looked = 0;
}

static void add(enum func func)
{
	stack[depth++] = BIAS + (uint64_t)func * SIZE + AT;
}

static void print(void *ctx, const struct frame *frame)
{
	(void)ctx;
	printf("%s%s:%zu ", frame->func, frame->inlined ? "(inlined)" : "", frame->number);
}

static void expect(const char *want)
{
	printed_begin();
	frames_each(&frames, stack, depth, print, NULL);
	printed_expect(want);
}

static void test_shown(void **state)
{
	(void)state;
	begin(27);
	add(MALLOC);
	add(WORK);
	add(WRAPPER);
	add(RUNTIMES);
	add(MAIN);
	add(GOEXIT);
	expect("main.inner(inlined):1 main.work:1 runtimes.run:3 main.main:4 ");
	assert_int_equal(frames_shown(&frames, stack, depth), 4);
	printed_begin();
	frames_all(&frames, stack, depth, print, NULL);
	printed_expect("runtime.mallocgc:0 main.inner(inlined):1 main.work:1 main.(*T).M:2 "
		       "runtimes.run:3 main.main:4 runtime.goexit:5 ");
}

/* Where nothing would be left, all are shown. */
static void test_nothing_left(void **state)
{
	(void)state;
	begin(27);
	add(MALLOC);
	add(NO_DOT);
	add(UNKNOWN);
	add(GOEXIT);
	assert_int_equal(frames_shown(&frames, stack, depth), 0);
	expect("runtime.mallocgc:0 _cgo_thread:1 ?:2 runtime.goexit:3 ");
	depth = 0;
	expect("");
}

static void test_of_the_runtime(void **state)
{
	(void)state;
	begin(27);
	add(GOSCHED);
	add(EXPORTED_METHOD);
	add(PRIVATE_METHOD);
	add(METHOD_OF_PRIVATE);
	add(FINALIZERS);
	add(CLEANUPS);
	expect("runtime.Gosched:0 runtime.(*Cleanup).Stop:1 runtime.runFinalizers:4 "
	       "runtime.runCleanups:5 ");
}

/* A panic is shown where something above it is; what the compiler made, where it panics. */
static void test_panics(void **state)
{
	static const enum func panics[] = {GOPANIC, SIGPANIC, PANICWRAP};

	(void)state;
	begin(27);
	add(GOPANIC);
	add(MAIN);
	expect("main.main:1 ");
	begin(27);
	add(WORK);
	add(GOPANIC);
	add(MAIN);
	expect("main.inner(inlined):0 main.work:0 runtime.gopanic:1 main.main:2 ");
	for (size_t i = 0; i < 3; i++) {
		begin(27);
		add(panics[i]);
		add(WRAPPER);
		add(MAIN);
		expect("main.(*T).M:1 main.main:2 ");
	}
}

/* Before Go 1.16 inlined calls are left out by the name of the function that they are in. */
static void test_inlined_runtime(void **state)
{
	(void)state;
	begin(15);
	add(INLINED_RUNTIME);
	expect("runtime.nanotime(inlined):0 main.f:0 ");
	begin(16);
	add(INLINED_RUNTIME);
	expect("main.f:0 ");
	begin(-1); /* not told */
	add(INLINED_RUNTIME);
	expect("main.f:0 ");
}

static void note(void *ctx, const struct frame *frame)
{
	struct frame *out = ctx;

	if (!out->func || !strcmp(frame->func, "main.work"))
		*out = *frame;
}

static struct frame work_in(int release)
{
	struct frame frame = {0};

	begin(release);
	add(WORK);
	frames_each(&frames, stack, depth, note, &frame);
	return frame;
}

/* What is told of a frame */
static void test_details(void **state)
{
	struct frame frame = work_in(27);

	(void)state;
	assert_string_equal(frame.file, "/a.go");
	assert_int_equal(frame.line, 20);
	assert_int_equal(frame.off, AT);
	assert_int_equal(frame.at, WORK * SIZE + AT - 1); /* in the call */
	assert_int_equal(frame.told, frame.at);
	assert_int_equal(work_in(21).told, frame.at);
	assert_int_equal(work_in(20).told, 0x210); /* where it calls what is inlined */
	assert_int_equal(work_in(0).told, 0x210);
	assert_int_equal(work_in(-1).told, frame.at);
	begin(27);
	add(MAIN);
	frame = (struct frame){0};
	frames_each(&frames, stack, depth, note, &frame);
	assert_int_equal(frame.start_line, 3);
	assert_int_equal(frame.told, frame.at);
}

/* Addresses are those after calls, but for what a signal interrupted, and a function's beginning.
 */
static void test_returns(void **state)
{
	struct frame frame = {0};

	(void)state;
	begin(27);
	add(WORK);
	add(SIGPANIC);
	add(MAIN);
	add(GOEXIT);
	frames_shown(&frames, stack, depth);
	assert_true(returns_wanted[0] && returns_wanted[1] && !returns_wanted[2]);
	assert_true(returns_wanted[3]);
	begin(27);
	add(MAIN);
	add(GOEXIT);
	stack[0] -= AT;
	frames_each(&frames, stack, depth, note, &frame);
	assert_false(returns_wanted[0]);
	assert_int_equal(frame.at, MAIN * SIZE);
	assert_true(returns_wanted[1]);
}

static void test_go_statement(void **state)
{
	struct frame frame;

	(void)state;
	begin(27);
	assert_true(frames_go_statement(&frames, BIAS + MAIN * SIZE + AT, &frame));
	assert_string_equal(frame.func, "main.main");
	assert_string_equal(frame.file, "/m.go");
	assert_int_equal(frame.line, 5);
	assert_int_equal(frame.start_line, MAIN);
	assert_int_equal(frame.at, MAIN * SIZE + AT - 1);
	assert_int_equal(frame.off, AT);
	assert_true(returns_wanted[0]);
	assert_true(frames_go_statement(&frames, BIAS + MAIN * SIZE, &frame));
	assert_int_equal(frame.at, MAIN * SIZE);
	assert_false(returns_wanted[1]);
	assert_true(frames_go_statement(&frames, BIAS + WORK * SIZE + AT, &frame));
	assert_string_equal(frame.func, "main.work");
	assert_string_equal(frame.file, "/a.go");
	assert_int_equal(frame.line, 7);
	assert_false(frames_go_statement(&frames, BIAS + MALLOC * SIZE + AT, &frame));
	assert_false(frames_go_statement(&frames, BIAS + UNKNOWN * SIZE + AT, &frame));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shown),           cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_of_the_runtime),  cmocka_unit_test(test_panics),
		cmocka_unit_test(test_inlined_runtime), cmocka_unit_test(test_details),
		cmocka_unit_test(test_returns),         cmocka_unit_test(test_go_statement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
