// SPDX-License-Identifier: Apache-2.0
#include "machine/insn.h"
#include "sites/goruntime_internal.h"
#include "unit.h"

enum { BASE = 0x401000, PRINTINT = BASE + 0x1000 };

#define CODE(text) ((struct insn_code){(const uint8_t *)(text), sizeof(text) - 1, BASE})

static void test_systemstack_static(void **state)
{
	struct insn_code code = CODE("\x48\x8b\x7c\x24\x08"                 /* mov rdi, [rsp+8] */
				     "\x64\x48\x8b\x04\x25\xf8\xff\xff\xff" /* mov rax, fs:-8 */
				     "\x48\x8b\x58\x30"                     /* mov rbx, [rax+48] */
				     "\x48\x3b\x43\x50"                     /* cmp rax, [rbx+80] */
				     "\x74\x78"                             /* je */
				     "\x48\x8b\x13"                         /* mov rdx, [rbx] */
				     "\x48\x39\xd0"                         /* cmp rax, rdx */
				     "\x74\x70"                             /* je */
				     "\x48\x3b\x83\xc0\0\0\0");             /* cmp rax, [rbx+192] */
	struct goruntime rt = {0};

	(void)state;
	assert_true(goruntime_parse_systemstack(&code, &rt));
	assert_int_equal(rt.tls_g, -8);
	assert_int_equal(rt.g_m, 48);
	assert_int_equal(rt.m_g0, 0);
	assert_int_equal(rt.m_curg, 192);
}

static void test_systemstack_pie(void **state)
{
	struct insn_code code = CODE("\x55\x48\x89\xe5"             /* push rbp; mov rbp, rsp */
				     "\x48\x8b\x7c\x24\x10"         /* mov rdi, [rsp+16] */
				     "\x48\xc7\xc1\x68\xfe\xff\xff" /* mov rcx, -0x198 */
				     "\x64\x48\x8b\x01"             /* mov rax, fs:[rcx] */
				     "\x48\x8b\x58\x30"             /* mov rbx, [rax+48] */
				     "\x48\x3b\x43\x48"             /* cmp rax, [rbx+72] */
				     "\x74\x5d"
				     "\x48\x8b\x13" /* mov rdx, [rbx] */
				     "\x48\x39\xd0"
				     "\x74\x55"
				     "\x48\x3b\x83\xb8\0\0\0"); /* cmp rax, [rbx+184] */
	struct goruntime rt = {0};

	(void)state;
	assert_true(goruntime_parse_systemstack(&code, &rt));
	assert_int_equal(rt.tls_g, -0x198);
	assert_int_equal(rt.m_curg, 184);
}

/* in a shared library the offset comes from the GOT: the code tells where in that */
static void test_systemstack_shared(void **state)
{
	struct insn_code code = CODE("\x48\x8b\x7c\x24\x08"         /* mov rdi, [rsp+8] */
				     "\x48\x8b\x0d\x00\x10\x0b\x00" /* mov rcx, [rip+0xb1000] */
				     "\x64\x48\x8b\x01"             /* mov rax, fs:[rcx] */
				     "\x48\x8b\x58\x30"             /* mov rbx, [rax+48] */
				     "\x48\x8b\x13"                 /* mov rdx, [rbx] */
				     "\x48\x3b\x83\xb8\0\0\0");     /* cmp rax, [rbx+184] */
	struct goruntime rt = {0};

	(void)state;
	assert_true(goruntime_parse_systemstack(&code, &rt));
	assert_int_equal(rt.tls_g, 0);
	assert_int_equal(rt.tls_word, BASE + 12 + 0xb1000);
	assert_int_equal(rt.g_m, 48);
	assert_int_equal(rt.m_curg, 184);
}

/* a register that was set anew is no word of the GOT any more */
static void test_systemstack_overwritten(void **state)
{
	struct insn_code code = CODE("\x48\x8b\x0d\x00\x10\x0b\x00" /* mov rcx, [rip+0xb1000] */
				     "\x48\xc7\xc1\xf8\xff\xff\xff" /* mov rcx, -8 */
				     "\x64\x48\x8b\x01\x48\x8b\x58\x30\x48\x8b\x13"
				     "\x48\x3b\x83\xb8\0\0\0");
	struct goruntime rt = {0};

	(void)state;
	assert_true(goruntime_parse_systemstack(&code, &rt));
	assert_int_equal(rt.tls_g, -8);
	assert_int_equal(rt.tls_word, 0);
}

static bool is_print(uint64_t addr, void *ctx)
{
	(void)ctx;
	return addr == PRINTINT;
}

/* the field travels through a stack slot, as other calls come between */
static void test_header_register(void **state)
{
	struct insn_code code = CODE("\x48\x8b\x90\x98\0\0\0" /* mov rdx, [rax+152] */
				     "\x48\x89\x54\x24\x28"   /* mov [rsp+40], rdx */
				     "\xe8\0\0\0\0"           /* call printlock */
				     "\x48\x8b\x44\x24\x28"   /* mov rax, [rsp+40] */
				     "\xe8\xe5\x0f\0\0");     /* call printint */
	uint32_t goid = 0;

	(void)state;
	assert_true(goruntime_parse_header(&code, true, is_print, NULL, &goid));
	assert_int_equal(goid, 152);
}

static void test_header_stack(void **state)
{
	struct insn_code code = CODE("\x48\x8b\x90\xa0\0\0\0" /* mov rdx, [rax+160] */
				     "\x48\x89\xd0"           /* mov rax, rdx */
				     "\x48\x89\x04\x24"       /* mov [rsp], rax */
				     "\xe8\xed\x0f\0\0");     /* call printint */
	uint32_t goid = 0;

	(void)state;
	assert_true(goruntime_parse_header(&code, false, is_print, NULL, &goid));
	assert_int_equal(goid, 160);
}

/* Several fields are kept in slots of the stack at a time: each slot is one of its own. */
static void test_header_slots(void **state)
{
	struct insn_code code = CODE("\x48\x8b\x90\x98\0\0\0" /* mov rdx, [rax+152] */
				     "\x48\x89\x54\x24\x28"   /* mov [rsp+40], rdx */
				     "\x48\x8b\x90\xb0\0\0\0" /* mov rdx, [rax+176] */
				     "\x48\x89\x54\x24\x30"   /* mov [rsp+48], rdx */
				     "\x48\x8b\x48\x38"       /* mov rcx, [rax+56] */
				     "\x48\x89\x0c\x24"       /* mov [rsp], rcx */
				     "\x48\x89\x4c\x24\x20"   /* mov [rsp+32], rcx */
				     "\xe8\0\0\0\0"           /* call printlock */
				     "\x48\x8b\x44\x24\x28"   /* mov rax, [rsp+40] */
				     "\xe8\xcc\x0f\0\0");     /* call printint */
	/* the same on the stack: what was stored last stands in the slot */
	struct insn_code last = CODE("\x48\x8b\x90\x98\0\0\0" /* mov rdx, [rax+152] */
				     "\x48\x8b\x48\x38"       /* mov rcx, [rax+56] */
				     "\x48\x89\x0c\x24"       /* mov [rsp], rcx */
				     "\x48\x89\x4c\x24\x08"   /* mov [rsp+8], rcx */
				     "\x48\x89\x14\x24"       /* mov [rsp], rdx */
				     "\x48\x89\x4c\x24\x10"   /* mov [rsp+16], rcx */
				     "\xe8\xde\x0f\0\0");     /* call printint */
	uint32_t goid = 0;

	(void)state;
	assert_true(goruntime_parse_header(&code, true, is_print, NULL, &goid));
	assert_int_equal(goid, 152);
	assert_true(goruntime_parse_header(&last, false, is_print, NULL, &goid));
	assert_int_equal(goid, 152);
}

static void test_header_unknown(void **state)
{
	/* what the callee left in rax is nobody's field */
	struct insn_code lost = CODE("\x48\x8b\x80\x98\0\0\0" /* mov rax, [rax+152] */
				     "\xe8\0\0\0\0"
				     "\xe8\xef\x0f\0\0");
	struct insn_code none = CODE("\x48\x8b\x80\x98\0\0\0\xc3");
	uint32_t goid = 0;

	(void)state;
	assert_false(goruntime_parse_header(&lost, true, is_print, NULL, &goid));
	assert_false(goruntime_parse_header(&none, true, is_print, NULL, &goid));
}

static void test_header_gccgo(void **state)
{
	struct insn_code code = CODE("\x48\x89\xfb"     /* mov rbx, rdi */
				     "\x4c\x8b\x7b\x38" /* mov r15, [rbx+56] */
				     "\xe8\0\0\0\0"     /* call printlock */
				     "\xe8\0\0\0\0"     /* call printstring */
				     "\x4c\x89\xff"     /* mov rdi, r15 */
				     "\xe8\0\0\0\0");   /* call printint */
	struct insn_code lost = CODE("\x48\x8b\x47\x38" /* mov rax, [rdi+56] */
				     "\xe8\0\0\0\0"     /* rax does not survive it */
				     "\x48\x89\xc7\xe8\0\0\0\0");
	uint32_t goid;

	(void)state;
	assert_true(goruntime_parse_gccgo(&code, &goid));
	assert_int_equal(goid, 56);
	assert_false(goruntime_parse_gccgo(&lost, &goid));
}

/* --- who created a goroutine --- */

#define STORE_RCX(off) "\x48\x89\x8a" off "\x01\0\0" /* mov [rdx+0x100+off], rcx */
#define LOAD_RCX(off) "\x48\x8b\x88" off "\0\0\0"    /* mov rcx, [rax+off] */

static void test_newproc(void **state)
{
	struct insn_code code = CODE(STORE_RCX("\x08")          /* something before */
				     LOAD_RCX("\x98")           /* callergp.goid */
				     "\x48\x8b\x54\x24\x28"     /* mov rdx, [rsp+40] */
				     STORE_RCX("\x18")          /* parentGoid */
				     "\x48\x8b\x4c\x24\x68"     /* mov rcx, [rsp+104] */
				     STORE_RCX("\x20")          /* gopc */
				     "\xe8\0\0\0\0"             /* call saveAncestors */
				     "\x48\x8b\x91\x28\x01\0\0" /* mov rdx, [rcx+0x128] */
				     STORE_RCX("\x28") STORE_RCX("\x30"));
	struct goruntime rt = {.g_goid = 152};

	(void)state;
	assert_true(goruntime_parse_newproc(&code, &rt));
	assert_int_equal(rt.g_parent_goid, 0x118);
	assert_int_equal(rt.g_gopc, 0x120);
}

static void test_newproc_old(void **state)
{
	struct insn_code code = CODE(STORE_RCX("\x28") "\xe8\0\0\0\0" STORE_RCX("\x30")
					     STORE_RCX("\x38") STORE_RCX("\x40"));
	struct goruntime rt = {.g_goid = 152, .g_parent_goid = 7};

	(void)state;
	assert_true(goruntime_parse_newproc(&code, &rt));
	assert_int_equal(rt.g_parent_goid, 0);
	assert_int_equal(rt.g_gopc, 0x128);
}

static void test_newproc_unknown(void **state)
{
	struct insn_code code = CODE(STORE_RCX("\x08") STORE_RCX("\x18") STORE_RCX("\x20"));
	struct goruntime rt = {.g_goid = 152, .g_gopc = 5, .g_parent_goid = 7};

	(void)state;
	assert_false(goruntime_parse_newproc(&code, &rt));
	assert_int_equal(rt.g_gopc, 5);
	assert_int_equal(rt.g_parent_goid, 7);
}

/* The runtime's code of Go 1.15 and 1.27; both functions, as far as they are looked at. */
static void test_arm64(void **state)
{
	static const uint32_t systemstack[] = {0xf94017e3,  /* ldr x3, [sp, #40] */
					       0xaa0303fa,  /* mov x26, x3 */
					       0xf9401b84,  /* ldr x4, [x28, #48] */
					       0xf9402885,  /* ldr x5, [x4, #80] */
					       0xeb1c00bf,  /* cmp x5, x28 */
					       0xf9400085,  /* ldr x5, [x4] */
					       0xf9405c86}; /* ldr x6, [x4, #184] */
	static const uint32_t in_register[] = {0xf9404c00,  /* ldr x0, [x0, #152] */
					       0xf9003be0,  /* str x0, [sp, #112] */
					       0x97ff7813,  /* bl */
					       0xb0000540,  /* adrp x0 */
					       0xf9403be0,  /* ldr x0, [sp, #112] */
					       0x940003fb}; /* bl printuint */
	static const uint32_t on_stack[] = {0xf9405001,     /* ldr x1, [x0, #160] */
					    0xf9001fe1,     /* str x1, [sp, #56] */
					    0xf90007e0,     /* str x0, [sp, #8] */
					    0x97ff77b7,     /* bl */
					    0xf9401fe2,     /* ldr x2, [sp, #56] */
					    0xaa0203e3,     /* mov x3, x2 */
					    0xf90007e3,     /* str x3, [sp, #8] */
					    0x940003f9};    /* bl printint */
	struct insn_code stack = {(const uint8_t *)systemstack, sizeof(systemstack), BASE},
			 header = {(const uint8_t *)in_register, sizeof(in_register), BASE},
			 old = {(const uint8_t *)on_stack, sizeof(on_stack), BASE};
	struct goruntime rt = {0};
	uint32_t goid = 0;

	(void)state;
	assert_true(goruntime_parse_systemstack_arm64(&stack, &rt));
	assert_int_equal(rt.g_m, 48);
	assert_int_equal(rt.m_g0, 0);
	assert_int_equal(rt.m_curg, 184);
	stack.len -= 4;
	assert_false(goruntime_parse_systemstack_arm64(&stack, &rt));
	assert_true(goruntime_parse_header_arm64(&header, true, is_print, NULL, &goid));
	assert_int_equal(goid, 152);
	assert_true(goruntime_parse_header_arm64(&old, false, is_print, NULL, &goid));
	assert_int_equal(goid, 160);
	old.len -= 4;
	assert_false(goruntime_parse_header_arm64(&old, false, is_print, NULL, &goid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_systemstack_static),
		cmocka_unit_test(test_systemstack_pie),
		cmocka_unit_test(test_systemstack_shared),
		cmocka_unit_test(test_systemstack_overwritten),
		cmocka_unit_test(test_header_register),
		cmocka_unit_test(test_header_stack),
		cmocka_unit_test(test_header_slots),
		cmocka_unit_test(test_header_unknown),
		cmocka_unit_test(test_header_gccgo),
		cmocka_unit_test(test_newproc),
		cmocka_unit_test(test_newproc_old),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_newproc_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
