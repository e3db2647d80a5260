// SPDX-License-Identifier: Apache-2.0
#include <linux/bpf.h>
#include <stdlib.h>

#include "kernel/bpfprog.h"
#include "kernel/late_internal.h"
#include "unit.h"

static const struct bpfprog_define defs[] = {
	{"UNIT", 7},         {"GOID_OFF", 0x123456789a}, {"TLS_G", -8},       {"ROWS", 3},
	{"PLACES", 1 << 22}, {"KEYS", 2 * 1009},         {"TLS_WORDS", 65576}};
enum { UNIT, GOID_OFF, TLS_G, ROWS, PLACES, KEYS, TLS_WORDS, DEFS };

static void expect_option(int n, const char *text)
{
	char *option = late_option(&defs[n]);

	assert_string_equal(option, text);
	free(option);
}

static void test_options(void **state)
{
	(void)state;
	expect_option(UNIT, "-DUNIT=7ULL");
	expect_option(GOID_OFF, "-DGOID_OFF=LATE(0x676f6c6174650003)");
	expect_option(TLS_G, "-DTLS_G=LATE(0x676f6c6174650002)");
	expect_option(ROWS, "-DROWS=1009ULL");
	/* what might be a multiple of another's mark */
	expect_option(KEYS, "-DKEYS=1031ULL");
	expect_option(TLS_WORDS, "-DTLS_WORDS=1033ULL");
	assert_false(late_is("UNIT"));
	assert_true(late_is("GOID_OFF"));
	assert_true(late_is("ROWS"));
}

#define LOAD(number)                                                                               \
	{.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .imm = (int32_t)(number)},               \
	{                                                                                          \
		.imm = (int32_t)((number) >> 32)                                                   \
	}

/* Marks alone are replaced: no other number, and no map whose number is as a part of one. */
static void test_numbers(void **state)
{
	struct bpf_insn insns[] = {
		LOAD(0x676f6c6174650003ULL),
		LOAD(0x676f6c6174650002ULL),
		LOAD(0x676f6c6174650001ULL), /* THREADS_TGID: not defined here */
		LOAD(0x676f6c6174640003ULL),
		LOAD(0x676f6c6174650013ULL), /* one beyond the last */
		LOAD(0x676f6c6174650003ULL),
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 0x74650003},
		{.imm = 0x676f6c61},
		{.code = BPF_JMP | BPF_EXIT},
	};
	static const uint32_t expected[][2] = {{0x3456789a, 0x12},       {0xfffffff8, 0xffffffff},
					       {0x74650001, 0x676f6c61}, {0x74640003, 0x676f6c61},
					       {0x74650013, 0x676f6c61}, {0x74650003, 0x676f6c61},
					       {0x74650003, 0x676f6c61}};

	(void)state;
	insns[10].src_reg = BPF_PSEUDO_MAP_FD;
	late_put(insns, sizeof(insns) / sizeof(*insns), defs, DEFS);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_int_equal((uint32_t)insns[2 * i].imm, expected[i][0]);
		assert_int_equal((uint32_t)insns[2 * i + 1].imm, expected[i][1]);
	}
}

/* Half of a number at a function's end, as no compiler writes it, is left. */
static void test_cut(void **state)
{
	struct bpf_insn insns[] = {LOAD(0x676f6c6174650003ULL)};

	(void)state;
	late_put(insns, 1, defs, DEFS);
	assert_int_equal((uint32_t)insns[0].imm, 0x74650003);
	late_put(insns, 0, defs, DEFS);
	late_put(insns, 2, defs, DEFS);
	assert_int_equal((uint32_t)insns[0].imm, 0x3456789a);
}

static void test_rooms(void **state)
{
	(void)state;
	assert_int_equal(late_entries(1009, defs, DEFS), 3);
	assert_int_equal(late_entries(2018, defs, DEFS), 6);
	assert_int_equal(late_entries(1019, defs, DEFS), 1 << 22);
	assert_int_equal(late_entries(1031, defs, DEFS), 2018);
	assert_int_equal(late_entries(1033, defs, DEFS), 65576);
	assert_int_equal(late_entries(1013, defs, DEFS), 1013);
	assert_int_equal(late_entries(1024, defs, DEFS), 1024);
	assert_int_equal(late_entries(0, defs, DEFS), 0);
	assert_int_equal(late_entries(7, defs, DEFS), 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_rooms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
