// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "goroutines/memory.h"
#include "goroutines/signal_frame_internal.h"
#include "fakemem.h"
#include "unit.h"

enum { BASE = FAKEMEM_BASE, SIZE = 0x3000 };
enum { CODE = BASE, STACK = BASE + 0x1000, STACK_END = STACK + 0x2000, FRAME = STACK + 0x1800 };

static int setup(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	return 0;
}

static void put_signal(uint64_t at, uint64_t pc)
{
	fakemem_put(at + 16, STACK);
	fakemem_put(at + 32, STACK_END - STACK);
	fakemem_put(at + 144, 35); /* rax */
	fakemem_put(at + 160, 0x5000);
	fakemem_put(at + 168, pc);
}

static bool find(uint64_t sp, struct signal_frame *out)
{
	return signal_frame_find(&fakemem_memory, sp, STACK, STACK_END, out);
}

static void test_found(void **state)
{
	struct signal_frame found;

	(void)state;
	assert_false(find(STACK + 0x100, &found));
	put_signal(FRAME, CODE);
	fakemem_put(CODE, 0x050f); /* syscall: it is called again */
	assert_true(find(STACK + 0x104, &found));
	assert_int_equal(found.pc, CODE);
	assert_int_equal(found.sp, 0x5000);
	assert_int_equal(found.call, 35);
	fakemem_put(CODE, 0x9090);
	assert_true(find(STACK + 0x100, &found));
	assert_int_equal(found.call, -1);
	/* a second one has interrupted the handler */
	put_signal(STACK + 0x800, CODE + 1);
	assert_true(find(STACK + 0x100, &found));
	assert_int_equal(found.pc, CODE);
}

static void test_none(void **state)
{
	struct signal_frame found;

	(void)state;
	put_signal(FRAME, CODE);
	assert_false(find(FRAME + 8, &found)); /* it has ended */
	assert_false(find(STACK - 8, &found));
	assert_false(find(STACK_END, &found));
	assert_false(find(STACK_END - 8, &found));
	assert_false(find(UINT64_MAX - 2, &found));
	assert_false(signal_frame_find(&fakemem_memory, STACK, STACK, UINT64_MAX, &found));
	assert_false(
		signal_frame_find(&fakemem_memory, STACK, STACK, BASE + SIZE + 0x1000, &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_found, setup),
		cmocka_unit_test_setup(test_none, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
