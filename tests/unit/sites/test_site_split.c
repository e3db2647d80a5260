// SPDX-License-Identifier: Apache-2.0
/* Sites in functions that GCC compiled with -fsplit-stack: where, or why not. */
#include <stdio.h>
#include <string.h>

#include "elffile.h"
#include "machine/insn.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "sites/site.h"
#include "sites/site_finder.h"
#include "steps.h"
#include "unit.h"

/* cmp rsp, fs:0x70; jae over mov r10d, 8; xor r11d, r11d; call __morestack; ret: the body is at 1a
 */
#define CHECK "64483b242570000000 730f 41ba08000000 4531db e800000100 c3 "
enum { TABLE = ELFFILE_RODATA + 0x40 };

static const struct row {
	const char *what, *code;
	int32_t targets[4]; /* of a switch, from its table; 0 ends them */
} rows[] = {
	{"push", CHECK "55 5d c3", {0}},
	{"push r12", CHECK "4154 415c c3", {0}},
	{"sub 8, push", CHECK "4883ec08 55 5d c3", {0}},
	{"sub 12, push", CHECK "4883ec0c 55 5d c3", {0}},
	{"add, as sub of less", CHECK "4883ec80 55 5d c3", {0}},
	{"sub 0x100, push", CHECK "4881ec00010000 55 5d c3", {0}},
	{"sub of another", CHECK "4881eb00010000 55 5d c3", {0}},
	{"sub that is too much", CHECK "4881ec00001000 55 5d c3", {0}},
	{"and of rsp", CHECK "4883e4f0 55 5d c3", {0}},
	{"mov rbp, rsp, push", CHECK "4889e5 55 5d c3", {0}},
	{"mov rsp, rbp", CHECK "4889ec 55 5d c3", {0}},
	{"nop", CHECK "4889f8 90 c3", {0}},
	{"long nop", CHECK "4889f8 0f1f440000 90 c3", {0}},
	{"load, push", CHECK "488b07 55 5d c3", {0}},
	{"store to the stack, push", CHECK "4889442408 55 5d c3", {0}},
	{"call, push", CHECK "e800010000 55 5d c3", {0}},
	{"r10 is written, push", CHECK "4989c2 55 5d c3", {0}},
	{"rax is written, push", CHECK "4889f8 55 5d c3", {0}},
	{"r9 is written, push", CHECK "4989c1 55 5d c3", {0}},
	{"twelve others, push",
	 CHECK
	 "4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 55 5d c3",
	 {0}},
	{"one more",
	 CHECK "4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 4889f8 "
	       "4889f8 55 5d c3",
	 {0}},
	{"a loop to the body", CHECK "48ffcf 75fb c3", {0}},
	{"a loop behind it", CHECK "4889f8 48ffcf 75fb 55 5d c3", {0}},
	{"a loop to a push", CHECK "4889f8 55 48ffcf 75fa 5d c3", {0}},
	{"a branch forward", CHECK "4885ff 7401 55 5d c3", {0}},
	{"lock", CHECK "f0ff442408 55 5d c3", {0}},
	{"int3", CHECK "cc 55 5d c3", {0}},
	{"two returns", CHECK "55 85ff 7402 5d c3 5d c3", {0}},
	{"a return that pops", CHECK "55 5d c20800", {0}},
	{"rep ret", CHECK "55 5d f3c3", {0}},
	{"jump to another function", CHECK "55 5d e900010000", {0}},
	{"conditional jump to another", CHECK "55 5d 0f84 00010000 c3", {0}},
	{"jump within", CHECK "55 eb00 5d c3", {0}},
	{"indirect jump", CHECK "4889f8 ffe0", {0}},
	{"indirect jump after a push", CHECK "55 5d ffe0", {0}},
	{"jump through memory", CHECK "55 5d ff20", {0}},
	{"absolute switch", CHECK "55 5d ff24c500204000 c3", {0}},
	{"absolute, scaled by 4", CHECK "55 5d ff248500204000 c3", {0}},
	{"relative switch",
	 CHECK "4889f8 488d15 IM 48630482 4801d0 ffe0 90 c3 90 c3",
	 {0x2d, 0x2f}},
	{"a table that begins elsewhere",
	 CHECK "4889f8 488d15 IM 48630482 4801d0 ffe0 90 c3 90 c3",
	 {0x400}},
	{"a switch into the body",
	 CHECK "4889f8 488d15 IM 48630482 4801d0 ffe0 90 c3 90 c3",
	 {0x2d, 0x1d, 0x1a}},
	{"a switch, and another address loaded",
	 CHECK "4889f8 488d15 IM 488d0d00010000 48630482 4801d0 ffe0 90 c3 90 c3",
	 {0x34, 0x36}},
	{"absolute, by r9", CHECK "55 5d 42ff24cd00204000 c3", {0}},
	{"eight from the load to the jump", CHECK "55 5d 48630482 90 90 90 90 90 90 ffe0 c3", {0}},
	{"nine", CHECK "55 5d 48630482 90 90 90 90 90 90 90 ffe0 c3", {0}},
	{"a call between", CHECK "55 5d 48630482 e800000000 ffe0 c3", {0}},
	{"no check", "55 5d c3", {0}},
	{"no check, nothing to do", "c3", {0}},
	{"cut off", CHECK "55 5d e8", {0}},
	{"cut off behind another", CHECK "4889f8 55 5d e8", {0}},
};

static size_t bytes_of(const char *hex, uint8_t *out)
{
	size_t len = 0;

	while (*hex) {
		unsigned byte;

		if (*hex == ' ') {
			hex++;
		} else if (*hex == 'I') { /* the distance from what follows to the table */
			uint32_t distance = TABLE - (ELFFILE_TEXT + (uint32_t)len + 4);

			memcpy(out + len, &distance, 4);
			len += 4;
			hex += 2;
		} else if (sscanf(hex, "%2x", &byte) == 1) {
			out[len++] = (uint8_t)byte;
			hex += 2;
		}
	}
	return len;
}

static void say_site(struct site_finder *finder, const struct functab_func *fn, bool want_args)
{
	const char *reason = NULL;
	struct site site;

	if (site_entry(finder, fn, want_args, &site, &reason) == 0)
		steps_are("%s %lx %s%s %+d", want_args ? "args" : "any", site.addr - fn->addr,
			  site_kind_name(site.kind),
			  site.emulated ? (site.args_intact ? " emulated intact" : " emulated")
					: (site.args_intact ? " intact" : ""),
			  site.sp_adjust);
	else
		steps_are("%s", reason);
}

static void say_returns(struct site_finder *finder, const struct functab_func *fn)
{
	struct site_list list = {0};
	const char *reason = NULL;

	if (site_returns(finder, fn, &list, &reason))
		steps_are("%s", reason);
	for (size_t i = 0; i < list.count; i++)
		steps_are("%s %lx%s", site_kind_name(list.items[i].kind),
			  list.items[i].addr - fn->addr, list.items[i].emulated ? " emulated" : "");
	free(list.items);
}

static void say(const struct row *row)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct program prog = {.toolchain = &toolchain_gccgo, .release = 18};
	uint8_t code[256];
	size_t len = bytes_of(row->code, code);
	struct functab_func fn = {
		.name = "main.f", .addr = ELFFILE_TEXT, .end = ELFFILE_TEXT + len};
	struct errmsg err = {0};

	elffile_bytes(f, ELFFILE_TEXT, code, len);
	for (int i = 0; i < 4 && row->targets[i]; i++)
		elffile_u32(f, TABLE + (uint64_t)i * 4,
			    ELFFILE_TEXT + (uint32_t)row->targets[i] - TABLE);
	prog.img = elffile_open(f, &err);
	assert_non_null(prog.img);

	struct site_finder *finder = site_finder_new(&prog);

	finder->split_stacks = true;
	steps_are("%s", row->what);
	say_site(finder, &fn, true);
	say_site(finder, &fn, false);
	say_returns(finder, &fn);
	site_finder_free(finder);
	image_close(prog.img);
	elffile_free(f);
}

static const char rows_said[] =
	"push; args 1a after-check emulated intact +0; any 1a after-check "
	"emulated intact +0; ret 1c; push r12; args 1a after-check emulated "
	"intact +0; any 1a after-check emulated intact +0; ret 1e; sub 8, "
	"push; args 1e entry-block emulated intact +8; any 1e entry-block "
	"emulated +8; ret 20; sub 12, push; args 1a after-check intact +0; any "
	"1a after-check intact +0; ret 20; add, as sub of less; args 1a "
	"after-check intact +0; any 1a after-check intact +0; ret 20; sub "
	"0x100, push; args 21 entry-block emulated intact +256; any 21 "
	"entry-block emulated +256; ret 23; sub of another; args 21 "
	"entry-block emulated intact +0; any 21 entry-block emulated +0; ret "
	"23; sub that is too much; args 21 entry-block emulated intact "
	"+1048576; any 21 entry-block emulated +1048576; ret 23; and of rsp; "
	"args 1a after-check intact +0; any 1a after-check intact +0; ret 20; "
	"mov rbp, rsp, push; args 1d entry-block emulated intact +0; any 1d "
	"entry-block emulated +0; ret 1f; mov rsp, rbp; args 1a after-check "
	"intact +0; any 1a after-check intact +0; ret 1f; nop; args 1d "
	"entry-block emulated intact +0; any 1d entry-block emulated +0; ret "
	"1e; long nop; args 22 entry-block emulated intact +0; any 22 "
	"entry-block emulated +0; ret 23; load, push; args 1a after-check "
	"intact +0; any 1a after-check intact +0; ret 1f; store to the stack, "
	"push; args 1a after-check intact +0; any 1f entry-block emulated +0; "
	"ret 21; call, push; args 1a after-check emulated intact +0; any 1a "
	"after-check emulated intact +0; ret 21; r10 is written, push; args 1a "
	"after-check intact +0; any 1d entry-block emulated +0; ret 1f; rax is "
	"written, push; args 1d entry-block emulated intact +0; any 1d "
	"entry-block emulated +0; ret 1f; r9 is written, push; args 1a "
	"after-check intact +0; any 1d entry-block emulated +0; ret 1f; twelve "
	"others, push; args 3b entry-block emulated intact +0; any 3b "
	"entry-block emulated +0; ret 3d; one more; args 1a after-check intact "
	"+0; any 1a after-check intact +0; ret 40; a loop to the body; the "
	"first instruction may also be part of a loop; the first instruction "
	"may also be part of a loop; ret 1f; a loop behind it; args 1a "
	"after-check intact +0; any 1a after-check intact +0; ret 24; a loop "
	"to a push; args 1a after-check intact +0; any 1a after-check intact "
	"+0; ret 24; a branch forward; args 1d entry-block emulated intact +0; "
	"any 1d entry-block emulated +0; ret 21; lock; the kernel cannot probe "
	"the place after the stack check; any 1f entry-block emulated +0; ret "
	"21; int3; the kernel cannot probe the place after the stack check; "
	"the kernel cannot probe the place after the stack check; ret 1d; two "
	"returns; args 1a after-check emulated intact +0; any 1a after-check "
	"emulated intact +0; ret 20; ret 22; a return that pops; args 1a "
	"after-check emulated intact +0; any 1a after-check emulated intact "
	"+0; ret 1c; rep ret; args 1a after-check emulated intact +0; any 1a "
	"after-check emulated intact +0; ret 1c; jump to another function; "
	"args 1a after-check emulated intact +0; any 1a after-check emulated "
	"intact +0; the call ends with a jump to another function; conditional "
	"jump to another; args 1a after-check emulated intact +0; any 1a "
	"after-check emulated intact +0; the call ends with a jump to another "
	"function; jump within; args 1a after-check emulated intact +0; any 1a "
	"after-check emulated intact +0; ret 1e; indirect jump; the first "
	"instruction may also be part of a loop; the first instruction may "
	"also be part of a loop; the call ends with an indirect jump; indirect "
	"jump after a push; args 1a after-check emulated intact +0; any 1a "
	"after-check emulated intact +0; the call ends with an indirect jump; "
	"jump through memory; args 1a after-check emulated intact +0; any 1a "
	"after-check emulated intact +0; the call ends with an indirect jump; "
	"absolute switch; args 1a after-check emulated intact +0; any 1a "
	"after-check emulated intact +0; ret 23; absolute, scaled by 4; args "
	"1a after-check emulated intact +0; any 1a after-check emulated intact "
	"+0; the call ends with an indirect jump; relative switch; args 1a "
	"after-check intact +0; any 1a after-check intact +0; ret 2e; ret 30; "
	"a table that begins elsewhere; the first instruction may also be part "
	"of a loop; the first instruction may also be part of a loop; ret 2e; "
	"ret 30; a switch into the body; the first instruction may also be "
	"part of a loop; the first instruction may also be part of a loop; ret "
	"2e; ret 30; a switch, and another address loaded; args 1a after-check "
	"intact +0; any 1a after-check intact +0; ret 35; ret 37; absolute, by "
	"r9; args 1a after-check emulated intact +0; any 1a after-check "
	"emulated intact +0; ret 24; eight from the load to the jump; args 1a "
	"after-check emulated intact +0; any 1a after-check emulated intact "
	"+0; ret 28; nine; args 1a after-check emulated intact +0; any 1a "
	"after-check emulated intact +0; ret 29; a call between; args 1a "
	"after-check emulated intact +0; any 1a after-check emulated intact "
	"+0; the call ends with an indirect jump; no check; args 0 first "
	"emulated intact +0; any 0 first emulated intact +0; ret 2; no check, "
	"nothing to do; args 0 first intact +0; any 0 first intact +0; ret 0; "
	"cut off; args 1a after-check emulated intact +0; any 1a after-check "
	"emulated intact +0; the code cannot be decoded completely; cut off "
	"behind another; the code cannot be decoded completely; the code "
	"cannot be decoded completely; the code cannot be decoded completely; ";

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say(&rows[i]);
	steps_expect(rows_said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
