// SPDX-License-Identifier: Apache-2.0
/* Which variables arm64 code refers to; amd64's are in unit/runtime_refs. */
#include <string.h>

#include "machine/coderefs.h"
#include "machine/insn.h"
#include "unit.h"

enum { BASE = 0x400000, FOUND_MAX = 32 };

static struct coderef found[FOUND_MAX];
static size_t count;

static void note(const struct coderef *ref, void *ctx)
{
	(void)ctx;
	assert_true(count < FOUND_MAX);
	found[count++] = *ref;
}

static void read_code(const uint32_t *words, size_t words_count)
{
	const struct insn_code code = {(const uint8_t *)words, words_count * 4, BASE};

	count = 0;
	coderefs_each(ARCH_ARM64, &code, note, NULL);
}

static void check(const struct coderef *want, size_t want_count)
{
	for (size_t i = 0; i < want_count && i < count; i++)
		if (found[i].addr != want[i].addr || found[i].bytes != want[i].bytes ||
		    found[i].how != want[i].how)
			fail_msg("%zu: %lx, %d bytes, %d", i, (long)found[i].addr, found[i].bytes,
				 found[i].how);
	assert_int_equal(count, want_count);
}

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static void test_arm64(void **state)
{
	static const uint32_t words[] = {
		0xf000001b, 0xf9415b61, /* adrp x27, 403000; ldr x1, [x27, #688] */
		0xb0000020, 0x91010000, /* adrp x0, 405000; add x0, x0, #0x40 */
		0xc8dffc02,             /* ldar x2, [x0] */
		0xd000001b, 0x9100637b, /* adrp x27, 402000; add x27, x27, #0x18 */
		0xa9401363,             /* ldp x3, x4, [x27] */
		0xd000001b, 0x39400765, /* adrp x27, 402000; ldrb w5, [x27, #1] */
		0xd000001b, 0xb9000b65, /* adrp x27, 402000; str w5, [x27, #8] */
		0xa9011805,             /* stp x5, x6, [x0, #16] */
		0xb8e50006,             /* ldaddal w5, w6, [x0] */
		0xfd000400,             /* str d0, [x0, #8] */
		0xf9400400,             /* ldr x0, [x0, #8] */
		0xf9400007,             /* ldr x7, [x0]: nobody knows where that is */
	};
	static const struct coderef want[] = {
		{0x4032b0, 8, ACCESS_LOAD},  {0x405040, 0, ACCESS_ADDRESS},
		{0x405040, 8, ACCESS_LOAD},  {0x402018, 8, ACCESS_LOAD},
		{0x402020, 8, ACCESS_LOAD},  {0x402001, 1, ACCESS_LOAD},
		{0x402008, 4, ACCESS_STORE}, {0x405050, 8, ACCESS_STORE},
		{0x405058, 8, ACCESS_STORE}, {0x405040, 4, ACCESS_OTHER},
		{0x405048, 0, ACCESS_OTHER}, {0x405048, 8, ACCESS_LOAD},
	};

	(void)state;
	read_code(words, LENGTH(words));
	check(want, LENGTH(want));
}

/* Behind a call, and where other code joins, registers may hold anything. */
static void test_arm64_forgets(void **state)
{
	static const uint32_t words[] = {
		0xb0000008, /* 00: adrp x8, 401000 */
		0xb4000047, /* 04: cbz x7, 0c */
		0x79400909, /* 08: ldrh w9, [x8, #4] */
		0xb9400909, /* 0c: ldr w9, [x8, #8] */
		0x1000008a, /* 10: adr x10, 20 */
		0xb980054b, /* 14: ldrsw x11, [x10, #4] */
		0x94000002, /* 18: bl 20 */
		0xb9400949, /* 1c: ldr w9, [x10, #8] */
	};
	static const struct coderef want[] = {{0x401004, 2, ACCESS_LOAD},
					      {0x400024, 4, ACCESS_LOAD}};

	(void)state;
	read_code(words, LENGTH(words));
	check(want, LENGTH(want));
}

static int32_t offs[FOUND_MAX];
static size_t off_count;

static void note_off(int32_t off, void *ctx)
{
	(void)ctx;
	assert_true(off_count < FOUND_MAX);
	offs[off_count++] = off;
}

static void test_arm64_fields(void **state)
{
	static const uint32_t words[] = {
		0xf9408001, /* ldr x1, [x0, #256] */
		0x9105401b, /* add x27, x0, #0x150 */
		0x9140437b, /* add x27, x27, #0x10, lsl #12 */
		0xa9401764, /* ldp x4, x5, [x27] */
		0x9140407b, /* add x27, x3, #0x10, lsl #12 */
		0xf940af67, /* ldr x7, [x27, #344] */
		0xf9000401, /* str x1, [x0, #8] */
	};
	static const int32_t want[] = {256, 0x10150, 0x10158, 0x10158, 8};
	const struct insn_code code = {(const uint8_t *)words, sizeof(words), BASE};

	(void)state;
	off_count = 0;
	coderefs_fields(ARCH_ARM64, &code, note_off, NULL);
	assert_int_equal(off_count, LENGTH(want));
	assert_memory_equal(offs, want, sizeof(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_arm64_forgets),
		cmocka_unit_test(test_arm64_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
