// SPDX-License-Identifier: Apache-2.0
/* Which variables main.a of gofile.h refers to, with other code. */
#include "gofile_open.h"

#include <string.h>

#include "goroutines/runtime_refs.h"
#include "program/program.h"

static struct opened o;
static struct runtime_refs refs;

static void open_code(const void *code, size_t len, unsigned machine)
{
	o = (struct opened){0};
	gofile_make(&o.g, 23, machine);
	memset(elffile_at(o.g.f, o.g.starts[0]), 0x90, 0x40);
	elffile_bytes(o.g.f, o.g.starts[0], code, len);
	open_it(&o);
}

static bool add(const char *func)
{
	return runtime_refs_add(&(struct program){.img = o.img, .tab = o.tab}, func, &refs);
}

static void read_code(const void *code, size_t len)
{
	refs.count = 0;
	open_code(code, len, EM_X86_64);
	assert_true(add("main.a"));
	close_it(&o);
}

struct ref_case {
	const char *code;
	size_t len;
	int how;
	unsigned bytes;
	uint64_t off; /* from the end of the instruction */
};

#define CODE(text) text, sizeof(text) - 1

static const struct ref_case cases[] = {
	{CODE("\x48\x8b\x05\x10\0\0\0"), ACCESS_LOAD, 8, 0x10},      /* mov rax, [rip+16] */
	{CODE("\x8b\x05\x10\0\0\0"), ACCESS_LOAD, 4, 0x10},          /* mov eax */
	{CODE("\x66\x8b\x05\x10\0\0\0"), ACCESS_LOAD, 2, 0x10},      /* mov ax */
	{CODE("\x8a\x05\xf0\xff\xff\xff"), ACCESS_LOAD, 1, -0x10},   /* mov al, [rip-16] */
	{CODE("\x0f\xb6\x05\x10\0\0\0"), ACCESS_LOAD, 1, 0x10},      /* movzx eax, byte */
	{CODE("\x0f\xb7\x05\x10\0\0\0"), ACCESS_LOAD, 2, 0x10},      /* movzx eax, word */
	{CODE("\x0f\xaf\x05\x10\0\0\0"), ACCESS_OTHER, 0, 0x10},     /* imul eax */
	{CODE("\x88\x05\x10\0\0\0"), ACCESS_STORE, 1, 0x10},         /* mov [rip+16], al */
	{CODE("\x48\x89\x05\x10\0\0\0"), ACCESS_STORE, 8, 0x10},     /* mov [rip+16], rax */
	{CODE("\xc6\x05\x10\0\0\0\x01"), ACCESS_STORE, 1, 0x10},     /* mov byte [rip+16], 1 */
	{CODE("\xc7\x05\x10\0\0\0\1\0\0\0"), ACCESS_STORE, 4, 0x10}, /* mov dword [rip+16], 1 */
	{CODE("\x48\x8d\x05\x10\0\0\0"), ACCESS_ADDRESS, 0, 0x10},   /* lea rax */
	{CODE("\x48\x83\x3d\x10\0\0\0\x05"), ACCESS_OTHER, 8, 0x10}, /* cmp qword [rip+16], 5 */
	{CODE("\x80\x3d\x10\0\0\0\x05"), ACCESS_OTHER, 1, 0x10},     /* cmp byte [rip+16], 5 */
	{CODE("\xc5\xfa\x6f\x05\x10\0\0\0"), ACCESS_OTHER, 0, 0x10}, /* vmovdqu xmm0 */
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct ref_case *c = &cases[i];

		read_code(c->code, c->len);
		if (refs.count != 1 || (int)refs.all[0].how != c->how ||
		    refs.all[0].bytes != c->bytes ||
		    refs.all[0].addr != o.g.starts[0] + c->len + c->off)
			fail_msg("case %zu: %zu, %d, %d bytes, %lx", i, refs.count, refs.all[0].how,
				 refs.all[0].bytes, (long)refs.all[0].addr);
	}
}

/* In their order, and only where there is such an operand */
static void test_order(void **state)
{
	uint64_t addr = 0;

	(void)state;
	read_code(CODE("\x48\x8b\x05\x10\0\0\0"    /* mov rax, [rip+16]: 23 */
		       "\x48\x8b\x03"              /* 7: mov rax, [rbx] */
		       "\x48\x89\x05\x06\0\0\0"    /* 10: mov [rip+6], rax: 23 again */
		       "\x48\x8b\x0d\x20\0\0\0")); /* 17: mov rcx, [rip+32]: 56 */
	assert_int_equal(refs.count, 3);
	assert_int_equal(refs.all[1].addr, o.g.starts[0] + 23);
	assert_int_equal(refs.all[1].how, ACCESS_STORE);
	assert_int_equal(refs.all[2].addr, o.g.starts[0] + 56);
	assert_true(runtime_refs_has(&refs, o.g.starts[0] + 56));
	assert_false(runtime_refs_has(&refs, o.g.starts[0] + 55));
	assert_true(runtime_refs_only(&refs, ACCESS_STORE, 8, &addr));
	assert_int_equal(addr, o.g.starts[0] + 23);
	assert_false(runtime_refs_only(&refs, ACCESS_LOAD, 8, &addr)); /* two */
	assert_false(runtime_refs_only(&refs, ACCESS_LOAD, 4, &addr)); /* none */
	refs.all[2].addr = refs.all[0].addr;
	assert_true(runtime_refs_only(&refs, ACCESS_LOAD, 8, &addr)); /* twice the same */
	assert_int_equal(addr, o.g.starts[0] + 23);
}

/* What cannot be read ends it; what stands before that is kept. */
static void test_unknown(void **state)
{
	(void)state;
	read_code(CODE("\x48\x8b\x05\x10\0\0\0\x06\x48\x8b\x05\x10\0\0\0"));
	assert_int_equal(refs.count, 1);
}

static void test_limit(void **state)
{
	enum { SIZE = 7, EACH = 9 };
	uint8_t code[EACH * SIZE];

	(void)state;
	for (size_t i = 0; i < EACH; i++)
		memcpy(code + i * SIZE, "\x48\x8b\x05\0\0\0\0", SIZE);
	refs.count = 0;
	open_code(code, sizeof(code), EM_X86_64);
	for (size_t i = 0; i < RUNTIME_REFS / EACH + 2; i++)
		assert_true(add("main.a"));
	assert_int_equal(refs.count, RUNTIME_REFS);
	assert_int_equal(refs.all[RUNTIME_REFS - 1].addr,
			 o.g.starts[0] + SIZE * ((RUNTIME_REFS - 1) % EACH + 1));
	close_it(&o);
}

static void test_none(void **state)
{
	(void)state;
	refs.count = 0;
	open_code("\x90", 1, EM_X86_64);
	assert_false(add("main.z"));
	close_it(&o);
	open_code("\x1f\x20\x03\xd5", 4, EM_AARCH64); /* nop */
	assert_true(add("main.a"));
	assert_int_equal(refs.count, 0);
	close_it(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),   cmocka_unit_test(test_order),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
