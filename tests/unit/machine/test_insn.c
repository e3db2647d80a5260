// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "machine/arch.h"
#include "machine/insn.h"
#include "machine/insn_regs.h"
#include "unit.h"

enum { BASE = 0x401000 };

struct x86_case {
	const char *bytes; /* one instruction */
	unsigned size;
	enum insn_kind kind;
	enum insn_probe probe;
	uint64_t target;
};

static const struct x86_case x86_cases[] = {
	{"\xc3", 1, INSN_RET, INSN_STEPPED, 0},
	{"\xe8\x10\0\0\0", 5, INSN_CALL, INSN_EMULATED, BASE + 0x15},
	{"\xe9\xfb\xff\xff\xff", 5, INSN_JUMP, INSN_EMULATED, BASE},
	{"\xeb\xcc", 2, INSN_JUMP, INSN_EMULATED, BASE - 0x32},
	{"\x76\x0e", 2, INSN_JUMP_IF, INSN_EMULATED, BASE + 0x10},
	{"\x0f\x86\0\x01\0\0", 6, INSN_JUMP_IF, INSN_EMULATED, BASE + 0x106},
	{"\x66\x0f\x86\0\x01\0\0", 7, INSN_JUMP_IF, INSN_REFUSED, BASE + 0x107},
	{"\xe3\x02", 2, INSN_JUMP_IF, INSN_STEPPED, BASE + 4},
	{"\xff\xd0", 2, INSN_CALL, INSN_STEPPED, 0},
	{"\xff\x52\x18", 3, INSN_CALL, INSN_STEPPED, 0},
	{"\xff\xe1", 2, INSN_JUMP_REG, INSN_STEPPED, 0},
	{"\xff\x24\xc1", 3, INSN_JUMP_MEM, INSN_STEPPED, 0},
	{"\xcc", 1, INSN_TRAP, INSN_REFUSED, 0},
	{"\x0f\x0b", 2, INSN_TRAP, INSN_REFUSED, 0},
	{"\xf4", 1, INSN_TRAP, INSN_REFUSED, 0},
	{"\xcd\x80", 2, INSN_OTHER, INSN_REFUSED, 0},
	{"\x55", 1, INSN_OTHER, INSN_EMULATED, 0},
	{"\x41\x57", 2, INSN_OTHER, INSN_EMULATED, 0},
	{"\x48\x55", 2, INSN_OTHER, INSN_STEPPED, 0},
	{"\x5d", 1, INSN_OTHER, INSN_STEPPED, 0},
	{"\x90", 1, INSN_NOP, INSN_EMULATED, 0},
	{"\x66\x90", 2, INSN_NOP, INSN_EMULATED, 0},
	{"\x49\x90", 2, INSN_OTHER, INSN_REFUSED, 0}, /* xchg rax, r8 */
	{"\x0f\x1f\x40\0", 4, INSN_NOP, INSN_STEPPED, 0},
	{"\x0f\x1f\x44\0\0", 5, INSN_NOP, INSN_STEPPED, 0},
	{"\x49\x3b\x66\x10", 4, INSN_OTHER, INSN_STEPPED, 0},        /* cmp rsp, [r14+16] */
	{"\x48\x89\x44\x24\x08", 5, INSN_MOVE, INSN_STEPPED, 0},     /* mov [rsp+8], rax */
	{"\xf2\x0f\x11\x44\x24\x10", 6, INSN_MOVE, INSN_STEPPED, 0}, /* movsd */
	{"\x0f\xb6\x44\x24\x08", 5, INSN_MOVE, INSN_STEPPED, 0},
	{"\x48\xb8\1\2\3\4\5\6\7\x08", 10, INSN_MOVE, INSN_STEPPED, 0},
	{"\xf0\x48\x0f\xb1\x0f", 5, INSN_OTHER, INSN_REFUSED, 0}, /* lock cmpxchg */
	{"\x9c", 1, INSN_OTHER, INSN_REFUSED, 0},
	{"\xf3\x48\xa5", 3, INSN_OTHER, INSN_REFUSED, 0},
	{"\xc4\xe2\x7d\x5a\x06", 5, INSN_OTHER, INSN_STEPPED, 0}, /* vbroadcasti128 */
	{"\xc4\x42\x7d\x5a\x04\x24", 6, INSN_OTHER, INSN_STEPPED, 0},
	{"\xc5\xfe\x6f\x06", 4, INSN_MOVE, INSN_REFUSED, 0}, /* vmovdqu */
	{"\x62\xf2\x7d\x48\x8d\xc4", 6, INSN_OTHER, INSN_REFUSED, 0},
	{"\x62\xd1\xfe\x48\x7f\x46\x01", 7, INSN_MOVE, INSN_REFUSED, 0},
	{"\x48\xf7\xc1\1\0\0\0", 7, INSN_OTHER, INSN_STEPPED, 0}, /* test rcx, imm32 */
	{"\x48\xf7\xd9", 3, INSN_OTHER, INSN_STEPPED, 0},         /* neg rcx */
	{"\x64\x48\x8b\x0c\x25\xf8\xff\xff\xff", 9, INSN_MOVE, INSN_STEPPED, 0},
	{"\x48\x8d\x05\x04\0\0\0", 7, INSN_MOVE, INSN_STEPPED, BASE + 11}, /* lea rax, [rip+4] */
};

static struct insn_code one(const char *bytes, size_t len)
{
	return (struct insn_code){(const uint8_t *)bytes, len, BASE};
}

static void test_x86(void **state)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct insn in;

	(void)state;
	for (size_t i = 0; i < sizeof(x86_cases) / sizeof(*x86_cases); i++) {
		const struct x86_case *c = &x86_cases[i];
		struct insn_code code = one(c->bytes, c->size);

		if (!insn_decode(dec, &code, BASE, &in) || in.size != c->size ||
		    in.kind != c->kind || in.probe != c->probe || in.target != c->target)
			fail_msg("case %zu: size %u kind %u probe %u target %lx", i, in.size,
				 in.kind, in.probe, (unsigned long)in.target);
	}
	insn_decoder_free(dec);
}

/* each instruction, cut short, is none */
static void test_x86_cut(void **state)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct insn in;

	(void)state;
	for (size_t i = 0; i < sizeof(x86_cases) / sizeof(*x86_cases); i++) {
		for (unsigned len = 0; len < x86_cases[i].size; len++) {
			char copy[16];

			memcpy(copy, x86_cases[i].bytes, len);

			struct insn_code code = one(copy, len);

			if (insn_decode(dec, &code, BASE, &in) && in.size > len)
				fail_msg("case %zu read past byte %u", i, len);
		}
	}
	insn_decoder_free(dec);
}

static void test_x86_invalid(void **state)
{
	static const char *const bad[] = {
		"\x06\0\0\0\0\0\0\0", /* push es */
		"\x60\0\0\0\0\0\0\0",
		"\xd6\0\0\0\0\0\0\0",
		"\x0f\x04\0\0\0\0\0\0",
		"\x48\xc5\xfe\x6f\x06\0\0\0", /* REX before VEX */
		"\xff\xff\xff\xff\xff\xff\xff\xff",
		"\x66\x66\x66\x66\x66\x66\x66\x66", /* prefixes alone */
	};
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct insn in;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct insn_code code = one(bad[i], 8);

		if (insn_decode(dec, &code, BASE, &in))
			fail_msg("case %zu was taken for an instruction", i);
	}
	insn_decoder_free(dec);
}

static void test_x86_writes(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		uint32_t writes;
	} cases[] = {
		{"\x48\x89\xd8", 3, 1},          /* mov rax, rbx */
		{"\x31\xdb", 2, 2},              /* xor ebx, ebx */
		{"\x88\xc1", 2, 4},              /* mov cl, al */
		{"\x48\x85\xc0", 3, 0},          /* test rax, rax */
		{"\x55", 1, 0},                  /* push rbp */
		{"\x4d\x89\xc1", 3, 64},         /* mov r9, r8 */
		{"\x48\x89\x44\x24\x08", 5, 0},  /* a store */
		{"\xe8\0\0\0\0", 5, 0xffffffff}, /* whatever the callee does */
	};
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct insn in;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn_code code = one(cases[i].bytes, cases[i].len);

		assert_true(insn_decode_writes(dec, &code, BASE, &in));
		if (in.writes != cases[i].writes)
			fail_msg("case %zu: %x", i, in.writes);
	}
	insn_decoder_free(dec);
}

static void test_regs(void **state)
{
	static const struct {
		enum arch arch;
		const char *bytes;
		size_t len;
		struct insn_regs want;
	} cases[] = {
		/* add rax, rbx; mov rax, [rsp+16]; mov [rsp+8], rax; lea rcx, [rsp+40] */
		{ARCH_AMD64, "\x48\x01\xd8", 3, {.reads = 3, .writes = 1}},
		{ARCH_AMD64,
		 "\x48\x8b\x44\x24\x10",
		 5,
		 {.writes = 1, .stack_read = true, .stack_off = 16}},
		{ARCH_AMD64,
		 "\x48\x89\x44\x24\x08",
		 5,
		 {.reads = 1, .stack_written = true, .stack_off = 8}},
		{ARCH_AMD64,
		 "\x48\x8d\x4c\x24\x28",
		 5,
		 {.writes = 4, .stack_read = true, .stack_off = 40}},
		/* xor eax, eax; nop [rax]; pxor xmm0, xmm0: read nothing */
		{ARCH_AMD64, "\x31\xc0", 2, {.writes = 1}},
		{ARCH_AMD64, "\x0f\x1f\x00", 3, {0}},
		{ARCH_AMD64, "\x66\x0f\xef\xc0", 4, {.float_writes = 1}},
		/* addsd xmm0, xmm1; cvtsi2sd xmm0, rcx; movups xmm2, [rcx] */
		{ARCH_AMD64, "\xf2\x0f\x58\xc1", 4, {.float_reads = 3, .float_writes = 1}},
		{ARCH_AMD64, "\xf2\x48\x0f\x2a\xc1", 5, {.reads = 4, .float_writes = 1}},
		/* sqrtsd xmm2, [rcx]; sqrtsd xmm2, xmm1; sqrtsd xmm2, xmm2: of the last alone the
		 * result depends on what was in xmm2 */
		{ARCH_AMD64, "\xf2\x0f\x51\x11", 4, {.reads = 4, .float_writes = 4}},
		{ARCH_AMD64, "\xf2\x0f\x51\xd1", 4, {.float_reads = 2, .float_writes = 4}},
		{ARCH_AMD64, "\xf2\x0f\x51\xd2", 4, {.float_reads = 4, .float_writes = 4}},
		{ARCH_AMD64, "\x0f\x10\x11", 3, {.reads = 4, .float_writes = 4}},
		/* add x0, x1, x2; ldr x3, [sp, #16]; fadd d0, d1, d2 */
		{ARCH_ARM64, "\x20\x00\x02\x8b", 4, {.reads = 6, .writes = 1}},
		{ARCH_ARM64,
		 "\xe3\x0b\x40\xf9",
		 4,
		 {.writes = 8, .stack_read = true, .stack_off = 16}},
		{ARCH_ARM64, "\x20\x28\x62\x1e", 4, {.float_reads = 6, .float_writes = 1}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn_decoder *dec = insn_decoder_new(cases[i].arch);
		struct insn_code code = one(cases[i].bytes, cases[i].len);
		const struct insn_regs *want = &cases[i].want;
		struct insn_regs got;
		struct insn in;

		assert_true(insn_decode_regs(dec, &code, BASE, &in, &got));
		insn_decoder_free(dec);
		if (got.reads != want->reads || got.writes != want->writes ||
		    got.float_reads != want->float_reads ||
		    got.float_writes != want->float_writes || got.stack_read != want->stack_read ||
		    got.stack_written != want->stack_written || got.stack_off != want->stack_off)
			fail_msg("case %zu: %x %x %x %x %d %d %d", i, got.reads, got.writes,
				 got.float_reads, got.float_writes, got.stack_read,
				 got.stack_written, got.stack_off);
	}
}

static void test_x86_marks(void **state)
{
	static const char text[] = "\xcc"                 /* int3: padding */
				   "\0\0"                 /* zeros: padding */
				   "\x0f\x1f\x44\0\0"     /* the 5-byte nop */
				   "\x48\x8b\x00"         /* mov rax, [rax] */
				   "\x48\x8b\x44\x24\x08" /* mov rax, [rsp+8] */
				   "\x48\x8d\x00";        /* lea rax, [rax] */
	static const struct {
		unsigned at;
		bool padding, long_nop, may_fault;
	} want[] = {{0, true, false, false}, {1, true, false, true},    {3, false, true, false},
		    {8, false, false, true}, {11, false, false, false}, {16, false, false, false}};
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct insn_code code = one(text, sizeof(text) - 1);
	struct insn in;

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_true(insn_decode(dec, &code, BASE + want[i].at, &in));
		assert_int_equal(in.padding, want[i].padding);
		assert_int_equal(in.long_nop, want[i].long_nop);
		assert_int_equal(in.may_fault, want[i].may_fault);
	}
	assert_false(insn_decode(dec, &code, BASE - 1, &in));
	assert_false(insn_decode(dec, &code, BASE + sizeof(text), &in));
	insn_decoder_free(dec);
}

#define CODE(text) text, sizeof(text) - 1

/* What Linux 6.18 to 7.3 were seen to make a call of, each with some of its kernels */
static void test_long_nops(void **state)
{
	static const struct {
		const char *name, *bytes;
		size_t len;
		bool is;
	} cases[] = {
		{"nop", CODE("\x90"), false},
		{"four bytes", CODE("\x0f\x1f\x40\0"), false},
		{"five", CODE("\x0f\x1f\x44\0\0"), true},
		{"with another operand", CODE("\x0f\x1f\x44\x08\0"), true},
		{"of four bytes, with a prefix", CODE("\x66\x0f\x1f\x40\0"), true},
		{"of three, with two", CODE("\x66\x66\x0f\x1f\0"), true},
		{"with REX", CODE("\x48\x0f\x1f\x40\0"), true},
		{"of one byte, with four prefixes", CODE("\x66\x66\x66\x66\x90"), true},
		{"xchg rax, r8, no nop", CODE("\x66\x66\x66\x49\x90"), false},
		{"six", CODE("\x66\x0f\x1f\x44\0\0"), false},
		{"nine", CODE("\x66\x0f\x1f\x84\0\0\0\0\0"), false},
		{"ten", CODE("\x66\x2e\x0f\x1f\x84\0\0\0\0\0"), true},
		{"ten, after a probe was there", CODE("\x66\x2e\x0f\x1f\x84\xe8\x11\x22\x33\x44"),
		 true},
		{"eleven", CODE("\x66\x66\x2e\x0f\x1f\x84\0\0\0\0\0"), false},
		{"jmp to what follows", CODE("\xe9\0\0\0\0"), true},
		{"jmp to behind it", CODE("\xe9\1\0\0\0"), false},
		{"call to what follows", CODE("\xe8\0\0\0\0"), false},
		{"short jmp to what follows", CODE("\xeb\0"), false},
		{"lea rsp, [rsp+0]", CODE("\x48\x8d\x64\x24\0"), true},
		{"lea r12, [r12+0]", CODE("\x4d\x8d\x64\x24\0"), true},
		{"lea rax, [rsp+0]", CODE("\x48\x8d\x44\x24\0"), false},
		{"lea rsp, [rsp+8]", CODE("\x48\x8d\x64\x24\x08"), false},
		{"lea rsp, [rsp+rax]", CODE("\x48\x8d\x64\x04\0"), false},
		{"mov rax, rax", CODE("\x66\x66\x48\x89\xc0"), true},
		{"mov rcx, rax", CODE("\x66\x66\x48\x89\xc1"), false},
		{"mov r8, rax", CODE("\x66\x66\x49\x89\xc0"), false},
		{"mov [rax], rax", CODE("\x66\x66\x48\x89\0"), false},
		{"mov eax, eax", CODE("\x65\x65\x65\x89\xc0"), false},
		{"endbr64", CODE("\x66\xf3\x0f\x1e\xfa"), false},
	};
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn_code code = one(cases[i].bytes, cases[i].len);
		struct insn in;

		if (!insn_decode(dec, &code, BASE, &in) || in.size != cases[i].len ||
		    in.long_nop != cases[i].is)
			fail_msg("%s", cases[i].name);
	}
	insn_decoder_free(dec);
}

static void test_arm64(void **state)
{
	static const struct {
		uint32_t word;
		enum insn_kind kind;
		enum insn_probe probe;
		uint64_t target;
	} cases[] = {
		{0xd65f03c0, INSN_RET, INSN_EMULATED, 0},
		{0xd65f0360, INSN_JUMP_REG, INSN_EMULATED, 0}, /* ret x27 */
		{0x94000004, INSN_CALL, INSN_EMULATED, BASE + 16},
		{0xd63f0020, INSN_CALL, INSN_EMULATED, 0},
		{0x17ffffff, INSN_JUMP, INSN_EMULATED, BASE - 4},
		{0x54000069, INSN_JUMP_IF, INSN_EMULATED, BASE + 12}, /* b.ls */
		{0xb4000040, INSN_JUMP_IF, INSN_EMULATED, BASE + 8},  /* cbz */
		{0x36000040, INSN_JUMP_IF, INSN_EMULATED, BASE + 8},  /* tbz */
		{0xd4200000, INSN_TRAP, INSN_REFUSED, 0},             /* brk */
		{0x00000000, INSN_TRAP, INSN_REFUSED, 0},
		{0xf81e0ffe, INSN_MOVE, INSN_STEPPED, 0},  /* str x30, [sp, #-32]! */
		{0xaa1e03e3, INSN_MOVE, INSN_STEPPED, 0},  /* mov x3, x30 */
		{0xf9400b90, INSN_MOVE, INSN_STEPPED, 0},  /* ldr x16, [x28, #16] */
		{0xc85ffc01, INSN_OTHER, INSN_REFUSED, 0}, /* ldaxr */
		{0xd503201f, INSN_NOP, INSN_STEPPED, 0},
		{0xd0000adb, INSN_OTHER, INSN_EMULATED, 0}, /* adrp x27 */
		{0x58000041, INSN_MOVE, INSN_REFUSED, 0},   /* ldr x1, +8 */
		{0xeb1003ff, INSN_OTHER, INSN_STEPPED, 0},  /* cmp sp, x16 */
	};
	struct insn_decoder *dec = insn_decoder_new(ARCH_ARM64);
	struct insn in;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn_code code = one((const char *)&cases[i].word, 4);

		assert_true(insn_decode(dec, &code, BASE, &in));
		if (in.kind != cases[i].kind || in.probe != cases[i].probe ||
		    in.target != cases[i].target)
			fail_msg("case %zu: kind %u probe %u target %lx", i, in.kind, in.probe,
				 (unsigned long)in.target);
	}
	insn_decoder_free(dec);
}

/* the same of amd64: what the register allocator puts anywhere, and what stays in its place */
static const struct {
	const char *code;
	size_t len;
	bool floats, stays;
} amd64_places[] = {
	{CODE("\x90"), true, false},                      /* nop */
	{CODE("\x48\x89\xd8"), true, false},              /* mov rax, rbx */
	{CODE("\x48\x8b\xc3"), true, false},              /* the same */
	{CODE("\x0f\x28\xc1"), true, false},              /* movaps xmm0, xmm1 */
	{CODE("\x0f\x10\xc1"), true, false},              /* movups xmm0, xmm1 */
	{CODE("\x0f\xb6\xc3"), false, false},             /* movzx eax, bl */
	{CODE("\x48\x0f\xbe\xc3"), false, false},         /* movsx rax, bl */
	{CODE("\x48\x63\xc3"), false, false},             /* movsxd rax, ebx */
	{CODE("\x66\x48\x0f\x6e\xc0"), false, false},     /* movq xmm0, rax */
	{CODE("\x88\xd8"), false, false},                 /* mov al, bl */
	{CODE("\x48\x8b\x44\x24\x08"), true, false},      /* mov rax, [rsp+8] */
	{CODE("\x48\x89\x44\x24\x08"), true, false},      /* mov [rsp+8], rax */
	{CODE("\x48\x8d\x05\0\1\0\0"), true, false},      /* lea rax, [rip] */
	{CODE("\x48\x8b\x05\0\1\0\0"), false, false},     /* mov rax, [rip] */
	{CODE("\x48\x89\x05\0\1\0\0"), false, true},      /* mov [rip], rax */
	{CODE("\xb8\1\0\0\0"), true, false},              /* mov eax, 1 */
	{CODE("\x48\xc7\xc0\1\0\0\0"), true, false},      /* mov rax, 1 */
	{CODE("\x48\xc7\x00\1\0\0\0"), false, true},      /* mov [rax], 1 */
	{CODE("\x31\xc0"), true, false},                  /* xor eax, eax */
	{CODE("\x33\xc0"), true, false},                  /* the same */
	{CODE("\x31\xd8"), false, false},                 /* xor eax, ebx */
	{CODE("\x0f\x57\xc0"), true, false},              /* xorps xmm0, xmm0 */
	{CODE("\x0f\x57\xc1"), false, false},             /* xorps xmm0, xmm1 */
	{CODE("\x48\x01\xd8"), false, false},             /* add rax, rbx */
	{CODE("\x48\x8b\x03"), false, false},             /* mov rax, [rbx] */
	{CODE("\x48\x89\x03"), false, true},              /* mov [rbx], rax */
	{CODE("\x84\x03"), false, true},                  /* test [rbx], al: nil check */
	{CODE("\x48\x01\x03"), false, true},              /* add [rbx], rax */
	{CODE("\x48\x31\x03"), false, true},              /* xor [rbx], rax */
	{CODE("\x48\x39\x03"), false, false},             /* cmp [rbx], rax */
	{CODE("\x48\x83\x3b\x05"), false, false},         /* cmp [rbx], 5 */
	{CODE("\x48\x83\x03\x05"), false, true},          /* add [rbx], 5 */
	{CODE("\x48\x83\x44\x24\x08\x05"), false, false}, /* add [rsp+8], 5 */
	{CODE("\x48\xf7\x13"), false, true},              /* not [rbx] */
	{CODE("\x48\xf7\x1b"), false, true},              /* neg [rbx] */
	{CODE("\x48\xf7\x23"), false, false},             /* mul [rbx] */
	{CODE("\xf6\x03\x05"), false, false},             /* test [rbx], 5 */
	{CODE("\x48\xff\x03"), false, true},              /* inc [rbx] */
	{CODE("\x48\xff\x0b"), false, true},              /* dec [rbx] */
	{CODE("\xff\x33"), false, false},                 /* push [rbx] */
	{CODE("\x48\x87\x03"), false, true},              /* xchg [rbx], rax */
	{CODE("\xf0\x48\x0f\xb1\x0b"), false, true},      /* lock cmpxchg [rbx] */
	{CODE("\xf0\x48\x0f\xc1\x03"), false, true},      /* lock xadd [rbx] */
	{CODE("\x0f\x11\x03"), false, true},              /* movups [rbx], xmm0 */
	{CODE("\x0f\x10\x03"), false, false},             /* movups xmm0, [rbx] */
	{CODE("\xe8\0\1\0\0"), false, true},              /* call */
	{CODE("\x76\x10"), false, true},                  /* jbe */
};

static void test_amd64_places(void **state)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct insn in;

	(void)state;
	for (size_t i = 0; i < sizeof(amd64_places) / sizeof(*amd64_places); i++) {
		struct insn_code code = one(amd64_places[i].code, amd64_places[i].len);

		assert_true(insn_decode(dec, &code, BASE, &in));
		assert_int_equal(in.size, amd64_places[i].len);
		if (in.floats != amd64_places[i].floats || in.stays != amd64_places[i].stays)
			fail_msg("case %zu: floats %d stays %d", i, in.floats, in.stays);
	}
	insn_decoder_free(dec);
}

/* what says where an inlined copy's code is, and what does not */
static void test_arm64_places(void **state)
{
	static const struct {
		uint32_t word;
		bool floats, stays;
	} cases[] = {
		{0xf9401fe1, true, false},  /* ldr x1, [sp, #56] */
		{0xf90013e0, true, false},  /* str x0, [sp, #32] */
		{0xa97ffbfd, true, false},  /* ldp x29, x30, [sp, #-8] */
		{0xaa0103e0, true, false},  /* mov x0, x1 */
		{0xd2800161, true, false},  /* mov x1, #11 */
		{0xf288e802, true, false},  /* movk x2, #0x4740 */
		{0xb24007e1, true, false},  /* mov x1, #3 */
		{0xd503201f, true, false},  /* nop */
		{0x910043e0, true, false},  /* add x0, sp, #16 */
		{0xf00007e3, true, false},  /* adrp x3 */
		{0xf00007fb, false, false}, /* adrp x27: of the next instruction */
		{0x1e604020, true, false},  /* fmov d0, d1 */
		{0x1e6e1000, true, false},  /* fmov d0, #1.0 */
		{0x9e6703e0, true, false},  /* fmov d0, xzr */
		{0x5c000040, true, false},  /* ldr d0, +8 */
		{0x8b020062, false, false}, /* add x2, x3, x2 */
		{0x1e622820, false, false}, /* fadd d0, d1, d2 */
		{0xf9404c01, false, false}, /* ldr x1, [x0, #152] */
		{0xa9400c22, false, false}, /* ldp x2, x3, [x1] */
		{0xfd400020, false, false}, /* ldr d0, [x1] */
		{0x3dc00020, false, false}, /* ldr q0, [x1] */
		{0xf9000020, false, true},  /* str x0, [x1] */
		{0xfd000020, false, true},  /* str d0, [x1] */
		{0x3d800020, false, true},  /* str q0, [x1] */
		{0xa9000c22, false, true},  /* stp x2, x3, [x1] */
		{0x3980009b, false, true},  /* ldrsb x27, [x4]: a nil check */
		{0xf8e30044, false, true},  /* ldaddal x3, x4, [x2] */
		{0xc81bfc44, false, true},  /* stlxr w27, x4, [x2] */
		{0xc85ffc44, false, false}, /* ldaxr x4, [x2] */
		{0xc8a07c41, false, true},  /* cas x0, x1, [x2] */
		{0x54000069, false, true},  /* b.ls */
	};
	struct insn_decoder *dec = insn_decoder_new(ARCH_ARM64);
	struct insn in;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn_code code = one((const char *)&cases[i].word, 4);

		assert_true(insn_decode(dec, &code, BASE, &in));
		if (in.floats != cases[i].floats || in.stays != cases[i].stays)
			fail_msg("case %zu: floats %d stays %d", i, in.floats, in.stays);
	}
	insn_decoder_free(dec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),          cmocka_unit_test(test_x86_cut),
		cmocka_unit_test(test_x86_invalid),  cmocka_unit_test(test_x86_writes),
		cmocka_unit_test(test_regs),         cmocka_unit_test(test_x86_marks),
		cmocka_unit_test(test_long_nops),    cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_amd64_places), cmocka_unit_test(test_arm64_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
