// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "goroutines/memory.h"
#include "goroutines/signal_frame.h"

enum { BASE = 0x10000, SIZE = 0x3000 };
enum { CODE = BASE, STACK = BASE + 0x1000, STACK_END = STACK + 0x2000, FRAME = STACK + 0x1800 };

static uint8_t bytes[SIZE];

static bool fake_read(void *ctx, uint64_t addr, void *out, size_t len)
{
	(void)ctx;
	if (addr < BASE || len > SIZE || addr - BASE > SIZE - len)
		return false;
	memcpy(out, bytes + (addr - BASE), len);
	return true;
}

static void put(uint64_t addr, uint64_t value)
{
	memcpy(bytes + (addr - BASE), &value, sizeof(value));
}

static void put_signal(uint64_t at, uint64_t pc)
{
	put(at + 16, STACK);
	put(at + 32, STACK_END - STACK);
	put(at + 144, 35); /* rax */
	put(at + 160, 0x5000);
	put(at + 168, pc);
}

static bool find(uint64_t sp, struct signal_frame *out)
{
	const struct memory mem = {fake_read, NULL};

	return signal_frame_find(&mem, sp, STACK, STACK_END, out);
}

static void test_found(void **state)
{
	struct signal_frame found;

	(void)state;
	assert_false(find(STACK + 0x100, &found));
	put_signal(FRAME, CODE);
	put(CODE, 0x050f); /* syscall: it is called again */
	assert_true(find(STACK + 0x104, &found));
	assert_int_equal(found.pc, CODE);
	assert_int_equal(found.sp, 0x5000);
	assert_int_equal(found.call, 35);
	put(CODE, 0x9090);
	assert_true(find(STACK + 0x100, &found));
	assert_int_equal(found.call, -1);
	/* a second one has interrupted the handler */
	put_signal(STACK + 0x800, CODE + 1);
	assert_true(find(STACK + 0x100, &found));
	assert_int_equal(found.pc, CODE);
}

static void test_none(void **state)
{
	const struct memory mem = {fake_read, NULL};
	struct signal_frame found;

	(void)state;
	put_signal(FRAME, CODE);
	assert_false(find(FRAME + 8, &found)); /* it has ended */
	assert_false(find(STACK - 8, &found));
	assert_false(find(STACK_END, &found));
	assert_false(find(STACK_END - 8, &found));
	assert_false(find(UINT64_MAX - 2, &found));
	assert_false(signal_frame_find(&mem, STACK, STACK, UINT64_MAX, &found));
	assert_false(signal_frame_find(&mem, STACK, STACK, BASE + SIZE + 0x1000, &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
