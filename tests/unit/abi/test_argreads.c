// SPDX-License-Identifier: Apache-2.0
/* Which of its parameters' places a function reads: on main.b of gofile.h with other code. */
#include "gofile_open.h"

#include <string.h>

#include "abi/argreads_internal.h"
#include "machine/insn.h"

#define CODE(text) text, sizeof(text) - 1

enum { AX = 1, BX = 2, CX = 4, DI = 8, SI = 16, R8 = 32, R11 = 256, ALL = 512 };
enum { NO_STACK = -1, BARRIER = 0x30, CALL_SIZE = 5 };

struct read_case {
	const char *what, *code;
	size_t len;
	unsigned ints, floats;
	int stack; /* the first byte of 8 that are read */
};

#define CALL "\xe8\0\0\0\0" /* of main.a, or what it is named */

static const struct read_case cases[] = {
	{"mov %rax, %rcx", CODE("\x48\x89\xc1\xc3"), AX, 0, NO_STACK},
	{"written before it is read", CODE("\x48\x89\xd8\x48\x89\xc1\xc3"), BX, 0, NO_STACK},
	{"read, then written", CODE("\x48\x01\xd8\x48\x01\xc1\xc3"), AX | BX | CX, 0, NO_STACK},
	/* test %rcx, %rcx; je past mov %rbx, %rax; add %rdi, %rax */
	{"on one of two ways", CODE("\x48\x85\xc9\x74\x03\x48\x89\xd8\x48\x01\xf8\xc3"),
	 AX | BX | CX | DI, 0, NO_STACK},
	/* jmp past add %rbx, %rax; mov %rsi, %rdx */
	{"what is jumped over", CODE("\xeb\x03\x48\x01\xd8\x48\x89\xf2\xc3"), SI, 0, NO_STACK},
	/* ret; add %rbx, %rax */
	{"behind a return", CODE("\xc3\x48\x01\xd8\xc3"), 0, 0, NO_STACK},
	/* mov %rbx, %rdx; dec %rcx; mov %r8, %rbx; jne to the beginning */
	{"in a loop, on its first round", CODE("\x48\x89\xda\x48\xff\xc9\x4c\x89\xc3\x75\xf5\xc3"),
	 BX | CX | R8, 0, NO_STACK},
	{"after a call", CODE(CALL "\x48\x89\xc1\xc3"), 0, 0, NO_STACK},
	{"before a call", CODE("\x48\x89\xd9" CALL "\xc3"), BX, 0, NO_STACK},
	{"mov %r11, %rax", CODE("\x4c\x89\xd8\xc3"), R11, 0, NO_STACK},
	/* addsd %xmm1, %xmm0; movaps %xmm14, %xmm2 */
	{"floats", CODE("\xf2\x0f\x58\xc1\x41\x0f\x28\xd6\xc3"), 0, 1 << 0 | 1 << 1 | 1 << 14,
	 NO_STACK},
	/* movups %xmm15, (%rax): that is zero */
	{"the register that is zero", CODE("\x44\x0f\x11\x38\xc3"), AX, 0, NO_STACK},
	/* mov 8(%rsp), %rdx; the function has no frame there */
	{"the first stack argument", CODE("\x48\x8b\x54\x24\x08\xc3"), 0, 0, 0},
	{"the return address", CODE("\x48\x8b\x14\x24\xc3"), 0, 0, NO_STACK},
	/* with a frame of 24 bytes, from 4 bytes on */
	{"above a frame", CODE("\x0f\x1f\x40\0\x48\x8b\x54\x24\x38\xc3"), 0, 0, 24},
	/* mov %rax, 8(%rsp); mov 8(%rsp), %rdx */
	{"where it keeps a register's value", CODE("\x48\x89\x44\x24\x08\x48\x8b\x54\x24\x20\xc3"),
	 AX, 0, NO_STACK},
	/* mov 0x100(%rsp), %rdx, 0x108(%rsp): the last that is looked at, and beyond */
	{"the last one", CODE("\x48\x8b\x94\x24\x00\x01\0\0\xc3"), 0, 0, 248},
	{"beyond", CODE("\x48\x8b\x94\x24\x08\x01\0\0\xc3"), 0, 0, NO_STACK},
};

static void put_code(struct gofile *g, const struct read_case *c)
{
	uint64_t start = g->starts[1];

	memset(elffile_at(g->f, start), 0x90, 0x40);
	elffile_bytes(g->f, start, c->code, c->len);
	for (size_t i = 0; i + CALL_SIZE <= c->len; i++)
		if (!memcmp(c->code + i, CALL, CALL_SIZE))
			elffile_u32(g->f, start + i + 1, g->starts[0] - start - i - CALL_SIZE);
}

static bool read_code(const struct read_case *c, const char *called, struct argreads *out)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct functab_func fn;
	struct opened o = {0};

	gofile_make(&o.g, 23, EM_X86_64);
	put_code(&o.g, c);
	elffile_bytes(o.g.f, GOFILE_TAB + GOFILE_NAMES + BARRIER, called, strlen(called) + 1);
	elffile_u32(o.g.f, gofile_record(&o.g, 0) + 4, BARRIER);
	open_it(&o);
	get(&o, 1, &fn);
	bool found = argreads_find(o.img, o.tab, dec, &fn, out);

	close_it(&o);
	insn_decoder_free(dec);
	return found;
}

static void test_code(void **state)
{
	struct argreads reads;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct read_case *c = &cases[i];

		assert_true(read_code(c, "main.other", &reads));
		if ((reads.ints & (ALL - 1)) != c->ints || reads.floats != c->floats)
			fail_msg("%s: %x, %x", c->what, reads.ints, reads.floats);
		for (int at = 0; at < ARGREADS_STACK; at++)
			if (reads.stack[at] != (c->stack >= 0 && at == c->stack))
				fail_msg("%s: at %d: %d", c->what, at, reads.stack[at]);
	}
}

/* The runtime's write barriers keep all registers. */
static void test_barriers(void **state)
{
	static const struct read_case after = {"", CODE(CALL "\x48\x89\xc1\xc3"), AX, 0, NO_STACK};
	struct argreads reads;

	(void)state;
	assert_true(read_code(&after, "runtime.gcWriteBarrier", &reads));
	assert_int_equal(reads.ints, AX);
	assert_true(read_code(&after, "runtime.gcWriteBarrier2", &reads));
	assert_int_equal(reads.ints, AX);
	assert_true(read_code(&after, "runtime.gcWriteBarr", &reads));
	assert_int_equal(reads.ints, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_barriers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
