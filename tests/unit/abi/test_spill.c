// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "abi/spill.h"
#include "machine/arch.h"
#include "golang/signature.h"
#include "unit.h"

enum { START = 0x401000 };

/* func(a int32, b float64, c string, d bool, e int16): Go 1.27's code around its check, without the
 * body */
static const uint8_t AMD64[] = {
	0x49, 0x3b, 0x66, 0x10,             /* cmp rsp, [r14+16] */
	0x76, 0x06,                         /* jbe 12 */
	0x55,                               /* push rbp */
	0x5d,                               /* pop rbp */
	0xc3,                               /* ret */
	0x90, 0x90, 0x90,                   /* nop */
	0x89, 0x44, 0x24, 0x08,             /* mov [rsp+8], eax */
	0xf2, 0x0f, 0x11, 0x44, 0x24, 0x10, /* movsd [rsp+16], xmm0 */
	0x48, 0x89, 0x5c, 0x24, 0x18,       /* mov [rsp+24], rbx */
	0x48, 0x89, 0x4c, 0x24, 0x20,       /* mov [rsp+32], rcx */
	0x40, 0x88, 0x7c, 0x24, 0x28,       /* mov [rsp+40], dil */
	0x66, 0x89, 0x74, 0x24, 0x2a,       /* mov [rsp+42], si */
	0x66, 0x90,                         /* nop */
	0xe8, 0x00, 0x10, 0x00, 0x00,       /* call */
	0xeb, 0xcd,                         /* jmp START */
};

static const uint32_t ARM64[] = {
	0xf9400b90, /* ldr x16, [x28, #16] */
	0xeb3063ff, /* cmp sp, x16 */
	0x54000049, /* b.ls +8 */
	0xd65f03c0, /* ret */
	0xb9000be0, /* str w0, [sp, #8] */
	0xfd000be0, /* str d0, [sp, #16] */
	0xa9018be1, /* stp x1, x2, [sp, #24] */
	0x3900a3e3, /* strb w3, [sp, #40] */
	0x790057e4, /* strh w4, [sp, #42] */
	0xaa1e03e3, /* mov x3, x30 */
	0x94000400, /* bl */
	0x17fffff5, /* b START */
};

static bool read_code(const void *bytes, size_t len, enum arch arch, struct spills *out)
{
	struct insn_decoder *dec = insn_decoder_new(arch);
	struct insn_code code = {bytes, len, START};
	bool known = spills_read(dec, &code, arch, out);

	insn_decoder_free(dec);
	return known;
}

static void check_spills(const void *bytes, size_t len, enum arch arch)
{
	static const struct spill expected[] = {
		{ABI_INT, 0, 0, 4},  {ABI_FLOAT, 0, 8, 8}, {ABI_INT, 1, 16, 8},
		{ABI_INT, 2, 24, 8}, {ABI_INT, 3, 32, 1},  {ABI_INT, 4, 34, 2},
	};
	struct spills spills;

	assert_true(read_code(bytes, len, arch, &spills));
	assert_int_equal(spills.count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < spills.count; i++) {
		assert_int_equal(spills.items[i].where, expected[i].where);
		assert_int_equal(spills.items[i].n, expected[i].n);
		assert_int_equal(spills.items[i].slot, expected[i].slot);
		assert_int_equal(spills.items[i].size, expected[i].size);
	}
}

static void test_amd64(void **state)
{
	struct spills spills;

	(void)state;
	check_spills(AMD64, sizeof(AMD64), ARCH_AMD64);
	assert_true(read_code(AMD64, sizeof(AMD64), ARCH_AMD64, &spills));
	assert_memory_equal(AMD64 + (spills.restart - START) - 5, "\xe8\x00\x10", 3);
}

static void test_arm64(void **state)
{
	(void)state;
	check_spills(ARM64, sizeof(ARM64), ARCH_ARM64);
}

static void test_what_is_not_understood(void **state)
{
	uint8_t code[sizeof(AMD64)];
	struct spills spills;

	(void)state;
	memcpy(code, AMD64, sizeof(code));
	code[15] = 0xf8; /* below the arguments */
	assert_false(read_code(code, sizeof(code), ARCH_AMD64, &spills));
	memcpy(code, AMD64, sizeof(code));
	code[13] = 0x54; /* rdx carries no argument */
	assert_false(read_code(code, sizeof(code), ARCH_AMD64, &spills));
	memcpy(code, AMD64, sizeof(code));
	code[12] = 0x8b; /* mov eax, [rsp+8] */
	assert_false(read_code(code, sizeof(code), ARCH_AMD64, &spills));
	code[4] = 0x90; /* no check */
	assert_false(read_code(code, sizeof(code), ARCH_AMD64, &spills));
	for (size_t len = 0; len < sizeof(AMD64); len++)
		assert_false(read_code(AMD64, len, ARCH_AMD64, &spills));
}

static bool fits(const char *signature, int dictionary)
{
	struct gotypes *types = gotypes_new();
	struct abi_layout layout;
	struct spills spills;
	struct gofunc fn;

	assert_true(read_code(AMD64, sizeof(AMD64), ARCH_AMD64, &spills));
	assert_false(signature_parse(types, NULL, signature, &fn, NULL, NULL));
	fn.dictionary = dictionary;
	abi_layout(&fn, ARCH_AMD64, ABI_REGISTERS, &layout);
	bool same = spills_fit(&spills, &layout, dictionary >= 0);

	abi_layout_free(&layout);
	gotypes_free(types);
	return same;
}

static void test_signatures(void **state)
{
	(void)state;
	assert_true(fits("(a int32, b float64, c string, d bool, e int16)", -1));
	assert_true(fits("(a int32, b float64, c error, d byte, e uint16)", -1));
	assert_true(fits("(a int32, b float64, c string, d bool, e int16, f [0]int)", -1));
	/* which moves the slots of the others */
	assert_false(fits("(a int32, b float64, c string, d bool, e int16, f [2]int8)", -1));
	assert_false(fits("(a int32, b float64, c string, d bool)", -1));
	assert_false(fits("(a int32, b int, c string, d bool, e int16)", -1));
	assert_false(fits("(a int64, b float64, c string, d bool, e int16)", -1));
	assert_false(fits("(a int32, b float64, c string, d bool, e int16, f int)", -1));
	assert_false(fits("(a int32, b float64, c string, d bool, e int16)", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amd64),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_what_is_not_understood),
		cmocka_unit_test(test_signatures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
