// SPDX-License-Identifier: Apache-2.0
/* What the kernel side reads of a call of runtime.casgstatus: its arguments are on the stack, as
 * before Go 1.17, in a program's memory that is made up. (In registers: test_runqlat_program.c.) */
#include "bpf-src/shared/cookie.h"
#include "kernelside.h"
#include "unit.h"

/* --- in place of bpf-src/parts/probe.h --- */

#define PROBE_H
enum { REGISTER_AX, REGISTER_BX, REGISTER_CX, REGISTER_DI, REGISTER_SI };
struct pt_regs {
	u64 sp;
};

static u64 probe_sp(struct pt_regs *ctx)
{
	return ctx->sp;
}

/* goarg() does not look at registers here */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "bpf-src/parts/casgstatus.h"

enum { SIZE = 0x100, SP = FAKEMEM_BASE + 0x40, PUSHED = 16 };

static const struct casgstatus none;

/* At a place where the function has pushed two words */
static long read_at(u64 sp, struct casgstatus *change)
{
	struct pt_regs regs = {sp};

	*change = (struct casgstatus){1, 1, 1};
	return casgstatus_read(&regs, cookie_make(0, COOKIE_CALL, PUSHED, 0), change);
}

static void test_on_stack(void **state)
{
	struct casgstatus change;

	(void)state;
	fakemem_begin(SIZE);
	fakemem_put(SP + PUSHED, 0xbad); /* the return address */
	fakemem_put(SP + PUSHED + 8, 0xc000001234);
	fakemem_put(SP + PUSHED + 16, (u64)WAITING << 32 | RUNNING);
	fakemem_put(SP + PUSHED + 24, ~0ULL);
	assert_int_equal(read_at(SP, &change), 0);
	assert_int_equal(change.g, 0xc000001234);
	assert_int_equal(change.from, RUNNING);
	assert_int_equal(change.to, WAITING);
}

/* Each of the three may be where nothing can be read. */
static void test_unreadable(void **state)
{
	struct casgstatus change;

	(void)state;
	fakemem_begin(SIZE);
	for (unsigned i = 0; i <= 4; i++) {
		u64 end = FAKEMEM_BASE + SIZE; /* at which i words of 4 bytes can be read */
		long error = read_at(end - PUSHED - 8 - 4 * i, &change);

		assert_int_equal(error == 0, i == 4);
	}
	assert_memory_equal(&change, &none, sizeof(change));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_stack),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
