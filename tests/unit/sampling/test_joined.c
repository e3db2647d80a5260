// SPDX-License-Identifier: Apache-2.0
/* Samples put together by hand, of a program whose functions and frames are the table below. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "frames/frames.h"
#include "frames/unwinder.h"
#include "program/functab.h"
#include "sampling/joined_internal.h"
#include "sampling/vdso_internal.h"
#include "unit.h"

enum { SIZE = 0x100, STACK = 0x7000, OTHER = 0x9000, ROOM = 4096, TOP_FRAME = 1 };

enum {
	LEAF = 0x1000,
	CALLER = 0x1100,
	MAIN = 0x1200,
	GOEXIT = 0x1300,
	SYSTEMSTACK = 0x1400,
	SWITCH = 0x1500,
	MSTART = 0x1600,
	SIGTRAMP = 0x1700,
	ASSEMBLY = 0x1800,
	CLOCK = 0x1900,
	END = 0x1a00,
	LIBC = 0x5000,
	VDSO = 0x6000,
};

static const struct row {
	const char *name;
	struct frame_rule rule;
	uint8_t flags;
} rows[] = {
	{"main.leaf", {.sp_delta = 0, .kind = FRAME_PLAIN}, 0},
	{"main.caller", {.sp_delta = 16, .kind = FRAME_PLAIN}, 0},
	{"main.main", {.sp_delta = 8, .kind = FRAME_PLAIN}, 0},
	{"runtime.goexit", {.sp_delta = 0, .kind = FRAME_FIRST}, TOP_FRAME},
	{"runtime.systemstack", {.sp_delta = 8, .kind = FRAME_SWITCH}, 0},
	{"runtime.systemstack_switch", {.sp_delta = 0, .kind = FRAME_PLAIN}, 0},
	{"runtime.mstart", {.sp_delta = 0, .kind = FRAME_FIRST}, TOP_FRAME},
	{"runtime.sigtramp", {.sp_delta = 0, .kind = FRAME_PLAIN}, 0},
	{"main.assembly", {.sp_delta = 0, .kind = FRAME_UNKNOWN}, 0},
	{"runtime.nanotime1", {.sp_delta = 8, .kind = FRAME_SWITCH}, 0},
};

/* --- in place of the program's tables --- */

static const struct row *row_at(uint64_t addr)
{
	return addr >= LEAF && addr < END ? &rows[(addr - LEAF) / SIZE] : NULL;
}

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *out)
{
	const struct row *row = row_at(addr);

	(void)tab;
	if (row)
		*out = (struct functab_func){.name = row->name, .flags = row->flags};
	return row;
}

struct frame_rule unwinder_rule(void *ctx, uint64_t pc)
{
	const struct row *row = row_at(pc);

	(void)ctx;
	return row ? row->rule : (struct frame_rule){.kind = FRAME_UNKNOWN};
}

void unwinder_begin(struct unwinder *uw, size_t lookups)
{
	(void)uw;
	(void)lookups;
}

bool vdso_return(const struct vdso *vdso, const struct vdso_at *at, uint64_t *addr)
{
	(void)vdso;
	*addr = at->count ? at->top[0] : 0;
	return at->count;
}

static const char *place(void *ctx, uint64_t addr, uint64_t *from)
{
	(void)ctx;
	*from = addr & ~(uint64_t)0xfff;
	return *from == VDSO ? "[vdso]" : "[libc.so.6]";
}

/* --- a sample --- */

static struct profile_sample sample;
static uint64_t words[ROOM];
static char said[ROOM];
static struct joined out;

static int begin(void **state)
{
	(void)state;
	sample = (struct profile_sample){.runs = PROFILE_RUNS_GOROUTINE,
					 .stack_lo = STACK - 0x1000,
					 .stack_hi = STACK + 0x1000};
	memset(words, 0, sizeof(words));
	return 0;
}

static void at(unsigned part, uint64_t pc, uint64_t sp, uint64_t bp)
{
	sample.parts[part].pc = pc;
	sample.parts[part].sp = sp;
	sample.parts[part].bp = bp;
}

static void top(unsigned part, uint64_t word)
{
	sample.parts[part].top++;
	words[sample.count++] = word;
}

static void link(unsigned part, uint64_t caller, uint64_t ret)
{
	sample.parts[part].links++;
	words[sample.count++] = caller;
	words[sample.count++] = ret;
}

static void read_sample(void)
{
	static const struct frames frames;
	const struct joined_program program = {
		.frames = &frames, .vdso = (const struct vdso *)&frames, .place = place};

	joined_read(&program, &sample, words, &out);
}

/* The names, the innermost first, each with a space behind it. */
static void expect(const char *want)
{
	read_sample();
	said[0] = '\0';
	for (size_t i = 0, len = 0; i < out.count && len < sizeof(said) - 64; i++) {
		const struct row *row = row_at(out.all[i].addr - 1);
		const char *name = row ? row->name : "?";

		len += snprintf(said + len, sizeof(said) - len, "%s ",
				out.all[i].mark ? out.all[i].mark : name);
	}
	assert_string_equal(said, want);
}

/* --- by the tables --- */

static void test_without_frame(void **state)
{
	(void)state;
	at(PROFILE_HERE, LEAF, STACK, 0);
	top(PROFILE_HERE, CALLER + 5);
	top(PROFILE_HERE, 1);
	top(PROFILE_HERE, 2);
	top(PROFILE_HERE, MAIN + 5);
	top(PROFILE_HERE, 3);
	top(PROFILE_HERE, GOEXIT + 1);
	expect("main.leaf main.caller main.main runtime.goexit ");
}

/* The first instruction of a function is no return address: it is not the function before. */
static void test_first_instruction(void **state)
{
	(void)state;
	at(PROFILE_HERE, CALLER, STACK, 0);
	expect("main.caller [caller not known] ");
}

/* Where what was copied ends, frame pointers lead on, by what stands at the very place. */
static void test_links(void **state)
{
	(void)state;
	at(PROFILE_HERE, CALLER + 9, STACK, STACK + 8);
	link(PROFILE_HERE, STACK + 24, MAIN + 5);
	link(PROFILE_HERE, 0, GOEXIT + 1);
	expect("main.caller main.main runtime.goexit ");
	sample.parts[PROFILE_HERE].bp = STACK + 16; /* what stands elsewhere is not it */
	expect("main.caller [caller not known] main.main [caller not known] ");
}

static void test_frames_unknown(void **state)
{
	(void)state;
	at(PROFILE_HERE, ASSEMBLY + 9, STACK, STACK + 8);
	link(PROFILE_HERE, STACK + 0x20, LIBC); /* no code of Go's: passed over */
	link(PROFILE_HERE, STACK + 0x40, MAIN + 5);
	expect("main.assembly main.main [caller not known] ");
}

static void test_too_deep(void **state)
{
	(void)state;
	at(PROFILE_HERE, LEAF, STACK, STACK + 8);
	top(PROFILE_HERE, ASSEMBLY + 5);
	for (unsigned i = 0; i < PROFILE_LINKS; i++)
		link(PROFILE_HERE, STACK + 8 + 16 * (i + 1), ASSEMBLY + 5);
	read_sample();
	assert_int_equal(out.count, 2 + PROFILE_LINKS + 1);
	assert_string_equal(out.all[out.count - 1].mark, "[more]");
}

/* --- other stacks --- */

static void test_goroutine_goes_on(void **state)
{
	(void)state;
	sample.runs = PROFILE_RUNS_SYSTEM;
	at(PROFILE_HERE, LEAF, STACK, 0);
	top(PROFILE_HERE, SYSTEMSTACK + 5);
	at(PROFILE_GOROUTINE, SWITCH, OTHER, 0);
	top(PROFILE_GOROUTINE, MAIN + 5);
	top(PROFILE_GOROUTINE, 1);
	top(PROFILE_GOROUTINE, GOEXIT + 1);
	expect("main.leaf runtime.systemstack main.main runtime.goexit ");
	/* from Go 1.21 on systemstack_switch has a frame: its first word is the frame pointer */
	at(PROFILE_GOROUTINE, SWITCH, OTHER - 8, OTHER - 8);
	sample.parts[PROFILE_GOROUTINE].top = 0;
	sample.count = 1;
	top(PROFILE_GOROUTINE, 0);
	top(PROFILE_GOROUTINE, MAIN + 5);
	top(PROFILE_GOROUTINE, 1);
	top(PROFILE_GOROUTINE, GOEXIT + 1);
	expect("main.leaf runtime.systemstack main.main runtime.goexit ");
}

/* The scheduler works for no goroutine. */
static void test_no_goroutine(void **state)
{
	(void)state;
	sample.runs = PROFILE_RUNS_SYSTEM;
	at(PROFILE_HERE, LEAF, STACK, 0);
	top(PROFILE_HERE, SYSTEMSTACK + 5);
	expect("main.leaf runtime.systemstack ");
	sample.runs = PROFILE_RUNS_UNKNOWN;
	expect("main.leaf runtime.systemstack [caller not known] ");
	words[0] = MSTART + 5;
	expect("main.leaf runtime.mstart ");
	words[0] = SIGTRAMP + 5;
	expect("main.leaf runtime.sigtramp [interrupted by a signal] ");
}

static void test_other_code(void **state)
{
	(void)state;
	at(PROFILE_HERE, LIBC, STACK, 0);
	expect("[libc.so.6] [caller not known] ");
	at(PROFILE_GOROUTINE, MAIN + 5, OTHER, 0);
	top(PROFILE_GOROUTINE, 1);
	top(PROFILE_GOROUTINE, GOEXIT + 1);
	expect("[libc.so.6] main.main runtime.goexit ");
}

/* Its tables tell the caller; of that the frame pointer tells the frame. */
static void test_vdso(void **state)
{
	(void)state;
	at(PROFILE_HERE, VDSO + 5, STACK, STACK + 16);
	top(PROFILE_HERE, CLOCK + 5);
	link(PROFILE_HERE, 0, MAIN + 5);
	expect("[vdso] runtime.nanotime1 main.main [caller not known] ");
}

/* --- what nobody should believe --- */

static void test_unsound(void **state)
{
	(void)state;
	at(PROFILE_HERE, LEAF, STACK, 0);
	top(PROFILE_HERE, MAIN + 5);
	expect("main.leaf main.main [caller not known] ");
	sample.count++;
	expect("");
	sample.count--;
	sample.parts[PROFILE_GOROUTINE].links = PROFILE_LINKS + 1;
	expect("");
	sample.parts[PROFILE_GOROUTINE].links = 0;
	sample.parts[PROFILE_GOROUTINE].top = PROFILE_TOP + 1;
	expect("");
}

/* A stack that leads to itself ends. */
static void test_circle(void **state)
{
	(void)state;
	at(PROFILE_HERE, LEAF, STACK, STACK);
	for (unsigned i = 0; i < PROFILE_TOP; i++)
		top(PROFILE_HERE, LEAF + 5);
	for (unsigned i = 0; i < PROFILE_LINKS; i++)
		link(PROFILE_HERE, STACK, LEAF + 5);
	sample.stack_hi = UINT64_MAX;
	read_sample();
	assert_true(out.count > PROFILE_TOP && out.count <= JOINED_FRAMES);
	assert_string_equal(out.all[out.count - 1].mark, "[more]");
}

/* What comes before the stacks is passed over, if it is not more than there can be. */
static void test_what_comes_before(void **state)
{
	(void)state;
	sample.kernel = 2;
	sample.label_words = 3;
	sample.count = 5;
	at(PROFILE_HERE, LEAF, STACK, 0);
	top(PROFILE_HERE, GOEXIT + 1);
	expect("main.leaf runtime.goexit ");
	sample.label_words = sample.count;
	expect("");
	sample.label_words = 3;
	sample.kernel = PROFILE_KERNEL + 1;
	sample.count += PROFILE_KERNEL - 1;
	expect("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_without_frame, begin),
		cmocka_unit_test_setup(test_first_instruction, begin),
		cmocka_unit_test_setup(test_links, begin),
		cmocka_unit_test_setup(test_frames_unknown, begin),
		cmocka_unit_test_setup(test_too_deep, begin),
		cmocka_unit_test_setup(test_goroutine_goes_on, begin),
		cmocka_unit_test_setup(test_no_goroutine, begin),
		cmocka_unit_test_setup(test_other_code, begin),
		cmocka_unit_test_setup(test_vdso, begin),
		cmocka_unit_test_setup(test_unsound, begin),
		cmocka_unit_test_setup(test_circle, begin),
		cmocka_unit_test_setup(test_what_comes_before, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
