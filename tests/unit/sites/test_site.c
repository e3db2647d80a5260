// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/arch.h"
#include "machine/insn.h"
#include "program/functab.h"
#include "sites/site_internal.h"
#include "sites/site_finder_internal.h"
#include "elffile.h"
#include "program/program.h"
#include "unit.h"

enum { BASE = 0x401000 };

#define SPILL_AND_BACK(back)                                                                       \
	"\x48\x89\x44\x24\x08" /* mov [rsp+8], rax */                                              \
	"\xe8\x00\x10\x00\x00" /* call morestack */                                                \
	"\x48\x8b\x44\x24\x08" /* mov rax, [rsp+8] */                                              \
	"\xeb" back            /* jmp start */

struct entry_case {
	const char *what, *code;
	size_t len;
	bool want_args;
	int64_t at; /* -1: no site */
	enum site_kind kind;
	bool emulated, args_intact;
};

#define CODE(text) text, sizeof(text) - 1

static const struct entry_case entry_cases[] = {
	{"check, then push rbp (1.21 on)",
	 CODE("\x49\x3b\x66\x10"     /* cmp rsp, [r14+16] */
	      "\x76\x07"             /* jbe 0xd */
	      "\x55"                 /* 6: push rbp */
	      "\x90\x90\x90\x90\x5d" /* ... pop rbp */
	      "\xc3"                 /* ret */
	      SPILL_AND_BACK("\xe2") "\xcc\xcc"),
	 true, 6, SITE_AFTER_CHECK, true, true},
	{"check, then sub rsp (to 1.20)",
	 CODE("\x49\x3b\x66\x10"
	      "\x76\x09" /* 4: jbe 0xf */
	      "\x48\x83\xec\x18"
	      "\x48\x83\xc4\x18"
	      "\xc3" SPILL_AND_BACK("\xe0")),
	 true, 4, SITE_CHECK_BRANCH, true, true},
	{"huge frame: two branches to the block, the last one counts",
	 CODE("\x49\x89\xe4"           /* mov r12, rsp */
	      "\x49\x81\xec\0\x10\0\0" /* sub r12, 0x1000 */
	      "\x72\x0f"               /* 10: jb 0x1b */
	      "\x4d\x3b\x66\x10"       /* cmp r12, [r14+16] */
	      "\x76\x09"               /* 16: jbe 0x1b */
	      "\x48\x83\xec\x18"       /* sub rsp */
	      "\x48\x83\xc4\x18"
	      "\xc3" SPILL_AND_BACK("\xd4")),
	 true, 16, SITE_CHECK_BRANCH, true, true},
	{"a branch to a block that jumps elsewhere is no check",
	 CODE("\x49\x3b\x66\x10"
	      "\x76\x09"
	      "\x48\x83\xec\x18"
	      "\x48\x83\xc4\x18"
	      "\xc3" SPILL_AND_BACK("\xe4")), /* jmp to 4 */
	 false, 0, SITE_FIRST, false, true},
	{"no check: push in the entry block",
	 CODE("\x48\x89\xd9" /* mov rcx, rbx */
	      "\x55"         /* 3: push rbp */
	      "\x5d\xc3"),
	 false, 3, SITE_ENTRY_BLOCK, true, false},
	{"no check: the push comes after an argument register is written",
	 CODE("\x48\x89\xd9\x55\x5d\xc3"), true, 0, SITE_FIRST, false, true},
	{"no check: the push comes after a load that may fault", CODE("\x48\x8b\x10\x55\x5d\xc3"),
	 false, 0, SITE_FIRST, false, true},
	{"no check: the push is a jump's target",
	 CODE("\x48\x89\xd9" /* mov rcx, rbx */
	      "\x55"         /* 3: push rbp */
	      "\x74\xfd"     /* je 3 */
	      "\xc3"),
	 false, 0, SITE_FIRST, false, true},
	{"no check: the first instruction is a loop's", CODE("\x48\xff\xc8\x75\xfb\xc3"), false, -1,
	 0, false, false},
	{"the block's own jump", CODE("\x48\x85\xc0\x75\x01\xc3\xc3"), true, 3, SITE_ENTRY_BLOCK,
	 true, true},
	{"xchg rax, r8; call; ret: not the 49 90", CODE("\x49\x90\xe8\0\x10\0\0\xc3"), false, 2,
	 SITE_ENTRY_BLOCK, true, false},
	{"only a call's nop5 and ret", CODE("\x0f\x1f\x44\0\0\xc3"), false, 5, SITE_ENTRY_BLOCK,
	 false, false},
	{"another nop of five bytes, and ret", CODE("\x66\x0f\x1f\x40\0\xc3"), false, 5,
	 SITE_ENTRY_BLOCK, false, false},
	{"a nop of ten bytes, and ret", CODE("\x66\x2e\x0f\x1f\x84\0\0\0\0\0\xc3"), false, 10,
	 SITE_ENTRY_BLOCK, false, false},
	{"a jump to what follows", CODE("\xe9\0\0\0\0\x48\x89\xd8\xc3"), false, -1, 0, false,
	 false},
	{"a long nop and nothing else to probe", CODE("\x0f\x1f\x44\0\0\xcc"), false, -1, 0, false,
	 false},
	{"int3 only", CODE("\xcc\xcc\xcc\xcc"), false, -1, 0, false, false},
	{"data follows", CODE("\x90\xc3\x06\x06"), false, -1, 0, false, false},
	{"a jump into the middle of an instruction", CODE("\xeb\x01\x48\xb8\1\2\3\4\5\6\7\x08\xc3"),
	 false, -1, 0, false, false},
	{"empty", CODE(""), false, -1, 0, false, false},
};

static struct functab_func function(size_t len)
{
	return (struct functab_func){.name = "main.f", .addr = BASE, .end = BASE + len};
}

static struct site_finder *finder_of(const char *text, size_t len)
{
	struct insn_code code = {(const uint8_t *)text, len, BASE};

	return site_finder_new_code(ARCH_AMD64, &code);
}

static void check_entry(const struct entry_case *c, bool stack_args)
{
	struct site_finder *finder = finder_of(c->code, c->len);
	struct functab_func fn = function(c->len);
	const char *reason = NULL;
	struct site site = {0};

	finder->stack_args = stack_args;
	int ret = site_entry(finder, &fn, c->want_args, &site, &reason);

	if (c->at < 0) {
		if (!ret || !reason)
			fail_msg("%s: has a site at %lx", c->what, (long)site.addr);
	} else if (ret || site.addr != BASE + (uint64_t)c->at || site.kind != c->kind ||
		   site.emulated != c->emulated || site.args_intact != c->args_intact) {
		fail_msg("%s: %s at %ld, %s, emulated %d, args %d", c->what, ret ? reason : "site",
			 (long)(site.addr - BASE), site_kind_name(site.kind), site.emulated,
			 site.args_intact);
	}
	site_finder_free(finder);
}

static void test_entry(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(entry_cases) / sizeof(*entry_cases); i++)
		check_entry(&entry_cases[i], false);
}

/* Before Go 1.17 registers hold no argument, and what stands on the stack above the return address
 * does. */
static const struct entry_case stack_cases[] = {
	{"registers are written",
	 CODE("\x8b\x44\x24\x08" /* mov eax, [rsp+8] */
	      "\x85\xc0"
	      "\x73\x01" /* 6: jae */
	      "\xc3\xc3"),
	 true, 6, SITE_ENTRY_BLOCK, true, true},
	{"something below the arguments is written",
	 CODE("\x89\x44\x24\xf8" /* mov [rsp-8], eax */
	      "\x73\x01\xc3\xc3"),
	 true, 4, SITE_ENTRY_BLOCK, true, true},
	{"an argument is written", CODE("\x89\x44\x24\x08\x73\x01\xc3\xc3"), true, 0, SITE_FIRST,
	 false, true},
};

static void test_entry_stack_args(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(stack_cases) / sizeof(*stack_cases); i++)
		check_entry(&stack_cases[i], true);
	/* the same in a later release: the first of them has one in a register */
	struct entry_case later = stack_cases[0];

	later.at = 0;
	later.kind = SITE_FIRST;
	later.emulated = false;
	check_entry(&later, false);
}

/* gccgo's: the same loop is said to be one. */
static void test_entry_split(void **state)
{
	struct site_finder *finder = finder_of("\x48\xff\xc8\x75\xfb\xc3", 6);
	struct functab_func fn = function(6);
	const char *reason;
	struct site site;

	(void)state;
	finder->split_stacks = true;
	assert_int_equal(site_entry(finder, &fn, false, &site, &reason), -1);
	assert_string_equal(reason, "the first instruction is also part of a loop");
	site_finder_free(finder);
}

/* The first place that a switch jumps to is one, whichever of its table's it is. */
static void test_entry_switch(void **state)
{
	enum { TABLE = ELFFILE_RODATA + 0x20, PUSH = 3, RET = 15 };
	static const char code[] = "\x48\x89\xd9"             /* mov rcx, rbx */
				   "\x55\x5d"                 /* 3: push rbp; pop rbp */
				   "\x48\x8d\x15\x14\x10\0\0" /* lea rdx, [rip + 0x1014]: TABLE */
				   "\xff\x24\xc2"             /* jmp [rdx + rax * 8] */
				   "\xc3";
	static const unsigned offsets[][2] = {{PUSH, RET}, {RET, PUSH}, {RET, RET}};
	struct functab_func fn = {.name = "main.f", .addr = BASE, .end = BASE + RET + 1};
	const char *reason = "";
	struct site site;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct elffile *f = elffile_new(EM_X86_64);

		elffile_bytes(f, BASE, code, sizeof(code));
		for (unsigned n = 0; n < 2; n++)
			elffile_u64(f, TABLE + n * 8, BASE + offsets[i][n]);
		struct image *img = elffile_open(f, NULL);
		struct site_finder *finder = site_finder_new(&(struct program){.img = img});

		if (site_entry(finder, &fn, false, &site, &reason))
			fail_msg("%u: %s", i, reason);
		assert_int_equal(site.addr, BASE + (i < 2 ? 0 : PUSH));
		site_finder_free(finder);
		image_close(img);
		elffile_free(f);
	}
}

static void test_entry_never(void **state)
{
	static const char *const names[] = {"go:textfipsstart", "runtime.abort",
					    "runtime.duffzero"};
	struct site_finder *finder = finder_of("\x55\x5d\xc3", 3);
	struct functab_func fn = function(3);
	const char *reason;
	struct site site;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		fn.name = names[i];
		assert_int_equal(site_entry(finder, &fn, false, &site, &reason), -1);
		assert_non_null(reason);
	}
	fn.name = "main.f";
	fn.end = BASE + 4; /* more than there is */
	assert_int_equal(site_entry(finder, &fn, false, &site, &reason), -1);
	site_finder_free(finder);
}

/* who refuses is said: the kernel, or we in its stead */
static void test_refusals(void **state)
{
	static const struct {
		const char *code;
		size_t len;
		const char *reason;
	} cases[] = {
		{CODE("\xf0\x0f\xc1\x03\xc3"), /* lock xadd [rbx], eax */
		 "the kernel cannot probe the start"},
		{CODE("\x49\x90\x0f\x0b"), /* xchg rax, r8; ud2 */
		 "a probe would make the kernel execute the instruction wrongly"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct site_finder *finder = finder_of(cases[i].code, cases[i].len);
		struct functab_func fn = function(cases[i].len);
		const char *reason = NULL;
		struct site site;
		int ret = site_entry(finder, &fn, false, &site, &reason);

		assert_int_equal(ret, -1);
		assert_string_equal(reason, cases[i].reason);
		site_finder_free(finder);
	}
}

/* what stands behind a check, where the branch itself cannot be probed either */
static void test_refusal_places(void **state)
{
	const struct insn kernel = {.probe = INSN_REFUSED}, ours = {.long_nop = true}, none = {0};

	(void)state;
	assert_string_equal(site_refusal(&kernel, SITE_BEHIND_CHECK),
			    "the kernel cannot probe the place after the stack check");
	assert_string_equal(site_refusal(&kernel, SITE_RUN_ENDS),
			    "the kernel cannot probe the place where a run ends");
	assert_string_equal(site_refusal(&ours, SITE_RUN_ENDS),
			    "newer kernels write to the stack when a long nop is probed");
	assert_null(site_refusal(&none, SITE_AT_START));
}

/* cmp sp, x16; b.ls; str x30, [sp, #-32]!; ...; ret; mov x3, x30; bl; b start */
static void test_entry_arm64(void **state)
{
	static const uint32_t words[] = {0xf9400b90, 0xeb3063ff, 0x54000089, 0xf81e0ffe,
					 0xd503201f, 0xd65f03c0, 0xaa1e03e3, 0x94000100,
					 0x17fffff8, 0x00000000};
	struct insn_code code = {(const uint8_t *)words, sizeof(words), BASE};
	struct site_finder *finder = site_finder_new_code(ARCH_ARM64, &code);
	struct functab_func fn = function(sizeof(words));
	struct site_list list = {0};
	const char *reason = "";
	struct site site;

	(void)state;
	assert_int_equal(site_entry(finder, &fn, true, &site, &reason), 0);
	assert_int_equal(site.addr, BASE + 12);
	assert_int_equal(site.kind, SITE_AFTER_CHECK);
	assert_int_equal(site_returns(finder, &fn, &list, &reason), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].addr, BASE + 20);
	free(list.items);
	site_finder_free(finder);
}

struct return_case {
	const char *what, *code;
	size_t len;
	bool is_asm;
	int count; /* -1: no sites */
	uint64_t at[3];
	enum site_kind kind[3];
};

static const struct return_case return_cases[] = {
	{"two returns", CODE("\x74\x01\xc3\x5d\xc3\xcc"), false, 2, {2, 4}, {SITE_RET, SITE_RET}},
	{"a tail jump",
	 CODE("\x48\x8b\x00\xe9\0\x10\0\0\xcc\xcc"),
	 false,
	 1,
	 {3},
	 {SITE_TAIL_JUMP}},
	{"a tail jump through a register",
	 CODE("\x48\x8b\x08\xff\xe1"),
	 false,
	 1,
	 {3},
	 {SITE_TAIL_JUMP}},
	{"the same in assembly", CODE("\x48\x8b\x08\xff\xe1"), true, -1, {0}, {0}},
	{"a switch table", CODE("\xff\x24\xc1\xc3"), false, 1, {3}, {SITE_RET}},
	{"int3 as the last byte of a jump",
	 CODE("\xc3\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
	      "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
	      "\x90\x90\x90\x90\x90\x90\x90\x90\x90\xeb\xcc\xcc"),
	 false,
	 1,
	 {0},
	 {SITE_RET}},
	{"a conditional jump out", CODE("\x0f\x84\0\x10\0\0\xc3"), false, -1, {0}, {0}},
	{"never returns", CODE("\xe8\0\x10\0\0\x90\xcc\xcc"), false, -1, {0}, {0}},
	{"data", CODE("\xc3\x06\x90"), false, -1, {0}, {0}},
};

static void check_returns(const struct return_case *c)
{
	struct site_finder *finder = finder_of(c->code, c->len);
	struct functab_func fn = function(c->len);
	struct site_list list = {0};
	const char *reason = NULL;
	int ret;

	fn.is_asm = c->is_asm;
	ret = site_returns(finder, &fn, &list, &reason);
	if (ret != (c->count < 0 ? -1 : 0) || (ret && (!reason || list.count)))
		fail_msg("%s: %d, %zu sites, %s", c->what, ret, list.count, reason ? reason : "");
	if (!ret && list.count != (size_t)c->count)
		fail_msg("%s: %zu sites", c->what, list.count);
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].addr != BASE + c->at[i] || list.items[i].kind != c->kind[i])
			fail_msg("%s: %s at %lx", c->what, site_kind_name(list.items[i].kind),
				 (long)list.items[i].addr);
	free(list.items);
	site_finder_free(finder);
}

/* Their callers go on by other means: the RET that each of them has is never come to. */
static void test_left_otherwise(void **state)
{
	static const struct {
		const char *name;
		bool returns;
	} cases[] = {{"runtime.morestack", false}, {"runtime.morestack_noctxt", false},
		     {"runtime.mcall", false},     {"runtime.goexit1", false},
		     {"runtime.mcallback", true},  {"runtime.goexit", true},
		     {"runtime.systemstack", true}};
	struct site_finder *finder = finder_of("\x55\x5d\xc3", 3);
	struct functab_func fn = function(3);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct site_list list = {0};
		const char *reason = "";

		fn.name = cases[i].name;
		int ret = site_returns(finder, &fn, &list, &reason);

		if (ret != (cases[i].returns ? 0 : -1) || list.count != cases[i].returns)
			fail_msg("%s: %d, %zu sites, %s", fn.name, ret, list.count, reason);
		if (ret)
			assert_string_equal(reason, "calls never return");
		free(list.items);
	}
	site_finder_free(finder);
}

static void test_returns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(return_cases) / sizeof(*return_cases); i++)
		check_returns(&return_cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry),          cmocka_unit_test(test_entry_stack_args),
		cmocka_unit_test(test_entry_never),    cmocka_unit_test(test_entry_split),
		cmocka_unit_test(test_entry_switch),   cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_refusal_places), cmocka_unit_test(test_entry_arm64),
		cmocka_unit_test(test_returns),        cmocka_unit_test(test_left_otherwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
