// SPDX-License-Identifier: Apache-2.0
/* Stacks of gccgo's programs, which are unwound from a copy: by which modules, pieces and registers
 * is written down. The tracer and the unwinding are the test's. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "bpf-src/shared/trace.h"
#include "elf/unwind.h"
#include "gotrace/traceplan.h"
#include "gotrace/traceprint_reader_internal.h"
#include "program/functab.h"
#include "program/gostack.h"
#include "program/program.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "steps.h"
#include "tracing/tracer.h"

enum { APP, OTHER, LIB, PROGRAMS, MAIN = 0x401234 };

static struct program programs[PROGRAMS] = {{.path = "app"}, {.path = "other"}, {.path = "lib"}};
static struct goruntime runtimes[PROGRAMS];
static struct selection_item item;
static struct selection selected = {.items = &item, .item_count = 1};
static struct trace_stack copied;
static struct trace_event head;
static struct traceplan_item planned;
static struct traceprint_event event;
static const struct program *executed;
static pid_t pid;
static bool is_whole;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

size_t tracer_program_count(const struct tracer *tracer)
{
	return PROGRAMS;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	assert_true(n < PROGRAMS);
	return &programs[n];
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	assert_true(n < PROGRAMS);
	return &runtimes[n];
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	return &selected;
}

pid_t tracer_pid(const struct tracer *tracer)
{
	return pid;
}

const struct program *tracer_executed(const struct tracer *tracer)
{
	return executed;
}

bool functab_named(const struct functab *tab, const char *name, struct functab_func *out)
{
	assert_string_equal(name, "main.main");
	out->addr = MAIN;
	return tab == (const struct functab *)&programs[APP];
}

struct gostack_symbols *gostack_symbols_new(const struct image *img, const struct functab *tab)
{
	steps_are("symbols %s", ((const struct program *)(const void *)img)->path);
	return (struct gostack_symbols *)img;
}

size_t unwind(const struct unwind *u, uint64_t *frames, size_t max, bool *complete)
{
	for (size_t i = 0; i < u->module_count; i++)
		steps_are("%s at %lx morestack %lx",
			  ((const struct program *)(const void *)u->modules[i].img)->path,
			  u->modules[i].bias, u->modules[i].morestack);
	for (size_t i = 0; i < u->piece_count; i++)
		steps_are("piece %lx+%lu at %d", u->pieces[i].addr, u->pieces[i].len,
			  (int)(u->pieces[i].bytes - (const uint8_t *)copied.bytes));
	for (unsigned i = 0; i < EHFRAME_REGS; i++)
		if (u->regs[i])
			steps_are("r%u %d", i, (int)u->regs[i]);
	assert_int_equal(max, TRACE_FRAMES);
	frames[0] = 5;
	*complete = is_whole;
	return 3;
}

/* NOLINTEND(misc-unused-parameters) */

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < PROGRAMS; i++) {
		programs[i].img = (struct image *)&programs[i];
		programs[i].tab = (struct functab *)&programs[i];
		runtimes[i] = (struct goruntime){.morestack = 0x100 * (i + 1)};
	}
	runtimes[LIB].is_library = true;
	runtimes[APP].tls_delta = runtimes[OTHER].tls_delta = 8;
	memset(&copied, 0, sizeof(copied));
	copied.library = 0x7000;
	item = (struct selection_item){.prog = &programs[APP]};
	head = (struct trace_event){
		.user_frames = 1, .bias = 0x20, .goid = 7, .created_by = 0x99, .parent_goid = 3};
	planned = (struct traceplan_item){.program = APP};
	event = (struct traceprint_event){
		.head = &head, .item = &planned, .func = "main.f", .user_stack = &copied};
	executed = NULL;
	pid = 0;
	is_whole = true;
	steps = (struct steps){0};
	return 0;
}

static void say(void)
{
	struct gostack_symbols *symbols[PROGRAMS] = {NULL};
	struct traceprint_reader reader = {.symbols = symbols, .symbol_count = PROGRAMS};

	for (int i = 0; i < 2; i++) { /* the second time symbols are there */
		struct gostack stack = traceprint_stack(&reader, &event);

		steps_are("%zu frames%s, bias %lx, at %lx, probed %s, by %lx of %lu", stack.count,
			  stack.cut ? ", cut" : "", stack.bias, stack.at, stack.probed,
			  stack.created_by, stack.parent_goid);
		for (size_t n = 0; n < stack.other_count; n++)
			steps_are(
				"other %s at %lx",
				((const struct program *)(const void *)stack.others[n].syms)->path,
				stack.others[n].bias);
	}
}

static void expect(const char *want)
{
	say();
	steps_expect(want);
	setup(NULL);
}

static void test_modules(void **state)
{
	(void)state;
	expect("app at 20 morestack 100; lib at 7000 morestack 300; symbols lib; 3 "
	       "frames, bias 20, at 0, probed main.f, by 99 of 3; other lib at 7000; "
	       "app at 20 morestack 100; lib at 7000 morestack 300; 3 frames, bias "
	       "20, at 0, probed main.f, by 99 of 3; other lib at 7000; ");
	runtimes[APP].tls_delta = 0; /* linked statically */
	expect("app at 20 morestack 100; 3 frames, bias 20, at 0, probed main.f, by "
	       "99 of 3; app at 20 morestack 100; 3 frames, bias 20, at 0, probed "
	       "main.f, by 99 of 3; ");
	runtimes[LIB].is_library = false; /* not opened */
	expect("app at 20 morestack 100; 3 frames, bias 20, at 0, probed main.f, by "
	       "99 of 3; app at 20 morestack 100; 3 frames, bias 20, at 0, probed "
	       "main.f, by 99 of 3; ");
}

/* The probe is in the library. */
static void in_library(void)
{
	planned.program = LIB;
	pid = 181;
	executed = &programs[APP];
	copied.main = MAIN + 0x5000;
}

static void test_library(void **state)
{
	(void)state;
	in_library();
	expect("lib at 20 morestack 300; app at 5000 morestack 100; symbols app; 3 "
	       "frames, bias 20, at 0, probed main.f, by 99 of 3; other app at 5000; "
	       "lib at 20 morestack 300; app at 5000 morestack 100; 3 frames, bias "
	       "20, at 0, probed main.f, by 99 of 3; other app at 5000; ");
	in_library();
	pid = 0;
	expect("lib at 20 morestack 300; 3 frames, bias 20, at 0, probed main.f, by "
	       "99 of 3; lib at 20 morestack 300; 3 frames, bias 20, at 0, probed "
	       "main.f, by 99 of 3; ");
	in_library();
	copied.main = 0;
	expect("lib at 20 morestack 300; 3 frames, bias 20, at 0, probed main.f, by "
	       "99 of 3; lib at 20 morestack 300; 3 frames, bias 20, at 0, probed "
	       "main.f, by 99 of 3; ");
	in_library();
	copied.main++; /* not as a page is mapped */
	expect("lib at 20 morestack 300; 3 frames, bias 20, at 0, probed main.f, by "
	       "99 of 3; lib at 20 morestack 300; 3 frames, bias 20, at 0, probed "
	       "main.f, by 99 of 3; ");
	in_library();
	executed = &programs[OTHER]; /* it has no main.main */
	expect("lib at 20 morestack 300; 3 frames, bias 20, at 0, probed main.f, by "
	       "99 of 3; lib at 20 morestack 300; 3 frames, bias 20, at 0, probed "
	       "main.f, by 99 of 3; ");
}

static void put_piece(unsigned n, uint64_t addr, uint64_t len)
{
	copied.pieces[n].addr = addr;
	copied.pieces[n].len = len;
	head.user_frames = n + 2;
}

static void test_pieces(void **state)
{
	(void)state;
	put_piece(0, 0x1000, 13);
	put_piece(1, 0x2000, 16);
	put_piece(2, 0x3000, TRACE_STACK_BYTES - 32);
	put_piece(3, 0x4000, 0); /* at the end */
	put_piece(4, 0x5000, 1); /* beyond it */
	for (unsigned i = 0; i < TRACE_REGISTERS; i++)
		copied.regs[i] = 100 + i;
	expect("app at 20 morestack 100; lib at 7000 morestack 300; piece 1000+13 at "
	       "0; piece 2000+16 at 16; piece 3000+32736 at 32; piece 4000+0 at "
	       "32768; r3 103; r6 102; r7 101; r12 104; r13 105; r14 106; r15 107; "
	       "r16 100; symbols lib; 3 frames, bias 20, at 0, probed main.f, by 99 "
	       "of 3; other lib at 7000; app at 20 morestack 100; lib at 7000 "
	       "morestack 300; piece 1000+13 at 0; piece 2000+16 at 16; piece "
	       "3000+32736 at 32; piece 4000+0 at 32768; r3 103; r6 102; r7 101; r12 "
	       "104; r13 105; r14 106; r15 107; r16 100; 3 frames, bias 20, at 0, "
	       "probed main.f, by 99 of 3; other lib at 7000; ");
	put_piece(0, 0x1000, TRACE_STACK_BYTES);
	put_piece(1, 0x2000, 0);
	expect("app at 20 morestack 100; lib at 7000 morestack 300; piece 1000+32768 "
	       "at 0; piece 2000+0 at 32768; symbols lib; 3 frames, bias 20, at 0, "
	       "probed main.f, by 99 of 3; other lib at 7000; app at 20 morestack "
	       "100; lib at 7000 morestack 300; piece 1000+32768 at 0; piece 2000+0 "
	       "at 32768; 3 frames, bias 20, at 0, probed main.f, by 99 of 3; other "
	       "lib at 7000; ");
	put_piece(0, 0x1000, TRACE_STACK_BYTES + 1);
	expect("app at 20 morestack 100; lib at 7000 morestack 300; symbols lib; 3 "
	       "frames, bias 20, at 0, probed main.f, by 99 of 3; other lib at 7000; "
	       "app at 20 morestack 100; lib at 7000 morestack 300; 3 frames, bias "
	       "20, at 0, probed main.f, by 99 of 3; other lib at 7000; ");
}

static void test_others(void **state)
{
	(void)state;
	is_whole = false;
	item.is_copy = true;
	item.copy.addr = 0x44;
	head.goid = 1;
	expect("app at 20 morestack 100; lib at 7000 morestack 300; symbols lib; 3 "
	       "frames, cut, bias 20, at 64, probed main.f, by 0 of 3; other lib at "
	       "7000; app at 20 morestack 100; lib at 7000 morestack 300; 3 frames, "
	       "cut, bias 20, at 64, probed main.f, by 0 of 3; other lib at 7000; ");
	event.user_stack = NULL; /* it has frames */
	head.user_frames = TRACE_FRAMES;
	expect("128 frames, cut, bias 20, at 0, probed main.f, by 99 of 3; 128 "
	       "frames, cut, bias 20, at 0, probed main.f, by 99 of 3; ");
	event.user_stack = NULL;
	head.user_frames = TRACE_FRAMES - 1;
	expect("127 frames, bias 20, at 0, probed main.f, by 99 of 3; 127 frames, "
	       "bias 20, at 0, probed main.f, by 99 of 3; ");
	head.user_frames = 0; /* it has no stack */
	expect("0 frames, bias 20, at 0, probed main.f, by 99 of 3; 0 frames, bias "
	       "20, at 0, probed main.f, by 99 of 3; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_modules, setup),
		cmocka_unit_test_setup(test_library, setup),
		cmocka_unit_test_setup(test_pieces, setup),
		cmocka_unit_test_setup(test_others, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
