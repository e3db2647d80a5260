// SPDX-License-Identifier: Apache-2.0
/* Calls that a function makes, and the places behind them: of code that is made up, in main.a. */
#include <stdio.h>
#include <string.h>

#include "gofile_open.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "sites/site.h"
#include "sites/site_finder_internal.h"
#include "steps.h"
#include "unit.h"

/* B, C: the distance from what follows to that function */
static const struct row {
	const char *what, *code;
} rows[] = {
	{"none", "55 5d c3"},
	{"one", "55 e8B 5d c3"},
	{"behind a push of eight", "4883ec08 e8B 4883c408 c3"},
	{"of another", "55 e8C 5d c3"},
	{"by a register", "55 ffd0 5d c3"},
	{"of no function", "55 e800100000 5d c3"},
	{"two", "e8B 90 e8B c3"},
	{"the last instruction", "e8B"},
	{"nop behind", "e8B 90 c3"},
	{"long nop behind", "e8B 0f1f440000 c3"},
	{"test and branch", "e8B 4885c0 7401 90 c3"},
	{"load and branch", "e8B 488b00 7401 90 c3"},
	{"mov and push", "e8B 4889c3 55 5d c3"},
	{"test and mov", "e8B 4885c0 4889c3 c3"},
	{"jump and push", "e8B eb00 55 5d c3"},
	{"lock", "e8B f0ff00 55 5d c3"},
	{"test, lock", "e8B 4885c0 f0ff00 c3"},
	{"test, int3", "e8B 4885c0 cc c3"},
	{"b, then c", "e8B 90 e8C c3"},
	{"c, then b", "e8C 90 e8B c3"},
	{"b, c, b", "e8B e8C e8B c3"},
	{"c, b, c, b", "e8C e8B e8C e8B c3"},
	{"c, jump to b", "e8C eb02 5d c3 e8B c3"},
	{"two of c, one of b", "e8C eb05 e8C 90 90 e8B c3"},
	{"c, branch, b", "e8C 7401 c3 e8B c3"},
	{"c, a jump to itself", "e8C ebfe e8B c3"},
	{"c, a jump away", "e8C e900100000 e8B c3"},
	{"cut off", "e8B e8"},
};

static size_t bytes_of(const char *hex, const struct gofile *g, uint8_t *out)
{
	size_t len = 0;

	while (*hex) {
		unsigned byte;

		if (*hex == 'B' || *hex == 'C') {
			uint32_t distance =
				(uint32_t)(g->starts[*hex - 'A'] - (g->starts[0] + len + 4));

			memcpy(out + len, &distance, 4);
			len += 4;
			hex++;
		} else if (*hex != ' ' && sscanf(hex, "%2x", &byte) == 1) {
			out[len++] = (uint8_t)byte;
			hex += 2;
		} else {
			hex++;
		}
	}
	return len;
}

static void say_site(const char *what, int ret, const struct site *site, uint64_t start)
{
	if (ret)
		steps_are("%s -", what);
	else
		steps_are("%s %lx %s%s %+d", what, site->addr - start, site_kind_name(site->kind),
			  site->emulated ? " emulated" : "", site->sp_adjust);
}

static void say(const struct row *row)
{
	static const struct site_callee after = {.callee = "main.b", .after = "main.c"},
					not_before = {.callee = "main.b", .not_before = "main.c"};
	struct opened o;
	uint8_t code[0x40];
	struct program prog = {.toolchain = &toolchain_gc, .release = 27};
	struct functab_func fn;
	struct site site;

	gofile_make(&o.g, 27, EM_X86_64);
	memset(code, 0xcc, sizeof(code));
	bytes_of(row->code, &o.g, code);
	elffile_bytes(o.g.f, o.g.starts[0], code, sizeof(code));
	open_it(&o);
	prog.img = o.img;
	prog.tab = o.tab;
	assert_true(functab_func(o.tab, 0, &fn));
	struct site_finder *finder = site_finder_new(&prog);

	steps_are("%s", row->what);
	say_site("call", site_call(finder, &fn, "main.b", &site), &site, fn.addr);
	say_site("behind", site_behind_call(finder, &fn, "main.b", &site), &site, fn.addr);
	say_site("after c", site_one_call(finder, &fn, &after, &site), &site, fn.addr);
	say_site("not before c", site_one_call(finder, &fn, &not_before, &site), &site, fn.addr);
	site_finder_free(finder);
	close_it(&o);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say(&rows[i]);
	steps_expect("none; call -; behind -; after c -; not before c -; one; call 1 call "
		     "emulated +0; behind 6 behind-call +24; after c -; not before c 1 call "
		     "emulated +0; behind a push of eight; call 4 call emulated +24; behind "
		     "9 behind-call +24; after c -; not before c 4 call emulated +24; of "
		     "another; call -; behind -; after c -; not before c -; by a register; "
		     "call -; behind -; after c -; not before c -; of no function; call -; "
		     "behind -; after c -; not before c -; two; call 0 call emulated +0; "
		     "behind 6 behind-call emulated +24; after c -; not before c -; the "
		     "last instruction; call 0 call emulated +0; behind -; after c -; not "
		     "before c 0 call emulated +0; nop behind; call 0 call emulated +0; "
		     "behind 5 behind-call emulated +24; after c -; not before c 0 call "
		     "emulated +0; long nop behind; call 0 call emulated +0; behind -; "
		     "after c -; not before c 0 call emulated +0; test and branch; call 0 "
		     "call emulated +0; behind 8 behind-call emulated +24; after c -; not "
		     "before c 0 call emulated +0; load and branch; call 0 call emulated "
		     "+0; behind 5 behind-call +24; after c -; not before c 0 call emulated "
		     "+0; mov and push; call 0 call emulated +0; behind 5 behind-call +24; "
		     "after c -; not before c 0 call emulated +0; test and mov; call 0 call "
		     "emulated +0; behind 5 behind-call +24; after c -; not before c 0 call "
		     "emulated +0; jump and push; call 0 call emulated +0; behind 5 "
		     "behind-call emulated +24; after c -; not before c 0 call emulated +0; "
		     "lock; call 0 call emulated +0; behind -; after c -; not before c 0 "
		     "call emulated +0; test, lock; call 0 call emulated +0; behind 5 "
		     "behind-call +24; after c -; not before c 0 call emulated +0; test, "
		     "int3; call 0 call emulated +0; behind 5 behind-call +24; after c -; "
		     "not before c 0 call emulated +0; b, then c; call 0 call emulated +0; "
		     "behind 6 behind-call emulated +24; after c -; not before c -; c, then "
		     "b; call 6 call emulated +24; behind b behind-call +24; after c 6 call "
		     "emulated +24; not before c 6 call emulated +24; b, c, b; call 0 call "
		     "emulated +0; behind 5 behind-call emulated +24; after c a call "
		     "emulated +24; not before c a call emulated +24; c, b, c, b; call 5 "
		     "call emulated +24; behind a behind-call emulated +24; after c -; not "
		     "before c f call emulated +24; c, jump to b; call 9 call emulated +24; "
		     "behind e behind-call +24; after c 9 call emulated +24; not before c 9 "
		     "call emulated +24; two of c, one of b; call e call emulated +24; "
		     "behind 13 behind-call +24; after c e call emulated +24; not before c "
		     "e call emulated +24; c, branch, b; call 8 call emulated +24; behind d "
		     "behind-call +24; after c -; not before c 8 call emulated +24; c, a "
		     "jump to itself; call 7 call emulated +24; behind c behind-call +24; "
		     "after c -; not before c 7 call emulated +24; c, a jump away; call a "
		     "call emulated +24; behind f behind-call +24; after c -; not before c "
		     "a call emulated +24; cut off; call 0 call emulated +0; behind 5 "
		     "behind-call emulated +24; after c -; not before c 0 call emulated +0; ");
}

/* up to Go 1.16 arguments are on the stack; of a program whose release is not told, anywhere */
static void test_stack_args(void **state)
{
	(void)state;
	for (int release = 15; release <= 18; release++)
		for (unsigned told = 0; told < 2; told++) {
			struct opened o;

			gofile_make(&o.g, 27, EM_X86_64);
			open_it(&o);
			struct site_finder *finder = site_finder_new(&(struct program){
				.img = o.img,
				.tab = o.tab,
				.release = release,
				.release_told = told,
			});

			steps_are("%d%d", finder->stack_args, finder->split_stacks);
			site_finder_free(finder);
			close_it(&o);
		}
	steps_expect("00; 10; 00; 10; 00; 00; 00; 00; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
					   cmocka_unit_test(test_stack_args)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
