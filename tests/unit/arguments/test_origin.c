// SPDX-License-Identifier: Apache-2.0
/* Where the first argument of a call comes from, from bytes. */
#include <string.h>

#include "arguments/origin.h"
#include "machine/arch.h"
#include "machine/insn.h"
#include "program/functab.h"
#include "sites/site_internal.h"
#include "unit.h"

enum { BASE = 0x401000, CALLEE = 0x402000, RAX = 0, RCX = 2, RBX = 3 };

#define CODE(text) text, sizeof(text) - 1
#define CALL "\xe8\0\0\0\0" /* of the callee: the rows' runner fills it in */

#define UNKNOWN                                                                                    \
	false,                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}

struct row {
	const char *what, *code;
	size_t len, call; /* where the call is */
	bool is_known;
	struct origin origin;
};

static const struct row rows[] = {
	{"what it was given itself", CODE(CALL "\xc3"), 0, true, {true, RAX, {0}, 0}},
	{"a part of it",
	 CODE("\x48\x8d\x43\x14"       /* 0: lea rax, [rbx + 20] */
	      "\x48\x83\xc0\x04"       /* 4: add rax, 4 */
	      "\x48\x81\xc0\0\x10\0\0" /* 8: add rax, 4096 */
	      "\x48\x05\0\0\x01\0"     /* f: add rax, 65536 */
	      CALL "\xc3"),            /* 15 */
	 21,
	 true,
	 {true, RBX, {20 + 4 + 4096 + 65536}, 0}},
	{"what a part of it points to",
	 CODE("\x48\x8b\x48\x28" /* 0: mov rcx, [rax + 40] */
	      "\x48\x8b\x49\x10" /* 4: mov rcx, [rcx + 16] */
	      "\x48\x8d\x41\x08" /* 8: lea rax, [rcx + 8] */
	      CALL "\xc3"),      /* 12 */
	 12,
	 true,
	 {true, RAX, {40, 16, 8}, 2}},
	{"more loads than are followed",
	 CODE("\x48\x8b\x40\x08\x48\x8b\x40\x08\x48\x8b\x40\x08\x48\x8b\x40\x08\x48\x8b\x40"
	      "\x08" CALL "\xc3"),
	 20, UNKNOWN},
	{"saved where it was kept by the caller for it, over a call",
	 CODE("\x48\x89\x44\x24\x08" /* 0: mov [rsp + 8], rax */
	      "\xe8\0\x20\0\0"       /* 5: call elsewhere */
	      "\x48\x8b\x44\x24\x08" /* 10: mov rax, [rsp + 8] */
	      CALL "\xc3"),          /* 15 */
	 15,
	 true,
	 {true, RAX, {0}, 0}},
	{"a stack argument",
	 CODE("\x48\x8b\x44\x24\x10" CALL "\xc3"), /* mov rax, [rsp + 16] */
	 5,
	 true,
	 {false, 16, {0}, 0}},
	{"what nobody has stored",
	 CODE("\x48\x8b\x44\x24\xf0" CALL "\xc3"), /* mov rax, [rsp - 16] */
	 5, UNKNOWN},
	{"saved, and a part of it written to",
	 CODE("\x48\x89\x44\x24\x08" /* 0: mov [rsp + 8], rax */
	      "\x89\x4c\x24\x0c"     /* 5: mov [rsp + 12], ecx */
	      "\x48\x8b\x44\x24\x08" /* 9: mov rax, [rsp + 8] */
	      CALL "\xc3"),          /* 14 */
	 14, UNKNOWN},
	{"saved where others may write to",
	 CODE("\x48\x89\x44\x24\x08" /* 0: mov [rsp + 8], rax */
	      "\x48\x8d\x4c\x24\x08" /* 5: lea rcx, [rsp + 8] */
	      "\xe8\0\x20\0\0"       /* 10: call elsewhere */
	      "\x48\x8b\x44\x24\x08" /* 15: mov rax, [rsp + 8] */
	      CALL "\xc3"),          /* 20 */
	 20, UNKNOWN},
	{"or in an array there",
	 CODE("\x48\x89\x44\x24\x08" /* 0: mov [rsp + 8], rax */
	      "\x48\x8d\x4c\xcc\x08" /* 5: lea rcx, [rsp + rcx * 8 + 8] */
	      "\x48\x8b\x44\x24\x08" /* 10: mov rax, [rsp + 8] */
	      CALL "\xc3"),          /* 15 */
	 15, UNKNOWN},
	{"or through a copy of the stack pointer",
	 CODE("\x48\x89\x44\x24\x08" /* 0: mov [rsp + 8], rax */
	      "\x48\x89\xe1"         /* 5: mov rcx, rsp */
	      "\x48\x8b\x44\x24\x08" /* 8: mov rax, [rsp + 8] */
	      CALL "\xc3"),          /* 13 */
	 13, UNKNOWN},
	{"saved below, where that which is called may write to",
	 CODE("\x48\x89\x44\x24\xf0" /* 0: mov [rsp - 16], rax */
	      "\xe8\0\x20\0\0"       /* 5: call elsewhere */
	      "\x48\x8b\x44\x24\xf0" /* 10: mov rax, [rsp - 16] */
	      CALL "\xc3"),          /* 15 */
	 15, UNKNOWN},
	{"saved below",
	 CODE("\x48\x89\x44\x24\xf0" /* 0: mov [rsp - 16], rax */
	      "\x48\x8b\x44\x24\xf0" /* 5: mov rax, [rsp - 16] */
	      CALL "\xc3"),          /* 10 */
	 10,
	 true,
	 {true, RAX, {0}, 0}},
	{"the result of a call", CODE("\xe8\0\x20\0\0" CALL "\xc3"), 5, UNKNOWN},
	{"a constant", CODE("\x31\xc0" CALL "\xc3"), 2, UNKNOWN},
	{"half of it", CODE("\x89\xd8" CALL "\xc3"), 2, UNKNOWN},               /* mov eax, ebx */
	{"one or the other", CODE("\x48\x0f\x44\xc3" CALL "\xc3"), 4, UNKNOWN}, /* cmove rax, rbx */
	{"an element that is computed", CODE("\x48\x8d\x04\xc8" CALL "\xc3"), 4,
	 UNKNOWN},                                                            /* lea rax, [rax +
									rcx * 8] */
	{"a variable", CODE("\x48\x8b\x05\0\0\0\0" CALL "\xc3"), 7, UNKNOWN}, /* mov rax, [rip] */
	{"of a thread", CODE("\x64\x48\x8b\x03" CALL "\xc3"), 4, UNKNOWN}, /* mov rax, fs:[rbx] */
	{"the same on both ways",
	 CODE("\x48\x85\xc9" /* 0: test rcx, rcx */
	      "\x74\x05"     /* 3: je 10 */
	      "\x48\x89\xd8" /* 5: mov rax, rbx */
	      "\xeb\x03"     /* 8: jmp 13 */
	      "\x48\x89\xd8" /* 10: mov rax, rbx */
	      CALL "\xc3"),  /* 13 */
	 13,
	 true,
	 {true, RBX, {0}, 0}},
	{"another on the other way",
	 CODE("\x48\x85\xc9" /* 0: test rcx, rcx */
	      "\x74\x03"     /* 3: je 8 */
	      "\x48\x89\xd8" /* 5: mov rax, rbx */
	      CALL "\xc3"),  /* 8 */
	 8, UNKNOWN},
	{"the same in all rounds of a loop",
	 CODE("\x48\xff\xc9"     /* 0: dec rcx */
	      "\x75\xfb"         /* 3: jne 0 */
	      "\x48\x8d\x43\x08" /* 5: lea rax, [rbx + 8] */
	      CALL "\xc3"),      /* 9 */
	 9,
	 true,
	 {true, RBX, {8}, 0}},
	{"a list's next in each round",
	 CODE("\x48\x8b\x00" /* 0: mov rax, [rax] */
	      "\x48\xff\xc9" /* 3: dec rcx */
	      "\x75\xf8"     /* 6: jne 0 */
	      CALL "\xc3"),  /* 8 */
	 8, UNKNOWN},
};

/* `to`: where the call is said to go; `off` bytes behind it, it is said to return to. */
static bool ask(const struct row *row, uint64_t to, uint64_t off, struct origin *origin)
{
	uint8_t bytes[64];
	struct insn_code code = {bytes, row->len, BASE};
	struct functab_func fn = {.name = "main.f", .addr = BASE, .end = BASE + row->len};
	int32_t away = CALLEE - (BASE + (int32_t)row->call + 5);

	assert_true(row->len <= sizeof(bytes));
	memcpy(bytes, row->code, row->len);
	assert_int_equal(bytes[row->call], 0xe8);
	memcpy(bytes + row->call + 1, &away, sizeof(away));
	struct site_finder *finder = site_finder_new_code(ARCH_AMD64, &code);

	*origin = (struct origin){.in_register = true, .n = RAX};
	bool is_known = origin_of(finder, &fn, BASE + row->call + off, to, origin);

	site_finder_free(finder);
	return is_known;
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct origin *want = &rows[i].origin;
		struct origin got;

		if (ask(&rows[i], CALLEE, 5, &got) != rows[i].is_known)
			fail_msg("%s: is %sknown", rows[i].what, rows[i].is_known ? "not " : "");
		if (!rows[i].is_known)
			continue;
		if (got.in_register != want->in_register || got.n != want->n ||
		    got.loads != want->loads ||
		    memcmp(got.adds, want->adds, (want->loads + 1) * sizeof(*got.adds)) != 0)
			fail_msg("%s: %d %lld, %zu loads, %lld", rows[i].what, got.in_register,
				 (long long)got.n, got.loads, (long long)got.adds[0]);
		/* another function was called, which went on to this one; or this is no call */
		assert_false(ask(&rows[i], CALLEE + 16, 5, &got));
		assert_false(ask(&rows[i], CALLEE, 6, &got));
	}
}

/* What is given on the stack is where the callee looks for it. */
static void test_on_stack(void **state)
{
	static const uint8_t bytes[] = "\x48\x89\x5c\x24\x08"  /* 0: mov [rsp + 8], rbx */
				       "\xe8\xf6\x0f\0\0\xc3"; /* 5: call CALLEE; ret */
	struct insn_code code = {bytes, sizeof(bytes) - 1, BASE};
	struct functab_func fn = {.name = "main.f", .addr = BASE, .end = BASE + code.len};
	struct site_finder *finder = site_finder_new_code(ARCH_AMD64, &code);
	struct origin origin = {.n = 16, .adds = {-12}};

	(void)state;
	assert_true(origin_of(finder, &fn, BASE + 10, CALLEE, &origin));
	assert_true(origin.in_register);
	assert_int_equal(origin.n, RBX);
	assert_int_equal(origin.adds[0], -12);
	site_finder_free(finder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_on_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
