// SPDX-License-Identifier: Apache-2.0
#include "fakemem.h"

#include <string.h>

#include "unit.h"

struct fakemem fakemem;

static bool fake_read(void *ctx, uint64_t addr, void *out, size_t len)
{
	(void)ctx;
	fakemem.reads++;
	fakemem.addr = addr;
	if (fakemem.before_read)
		fakemem.before_read();
	if (fakemem.again && addr >= fakemem.again)
		addr -= fakemem.again;
	if (addr < FAKEMEM_BASE || len > fakemem.size || addr - FAKEMEM_BASE > fakemem.size - len)
		return false;
	memcpy(out, fakemem.bytes + (addr - FAKEMEM_BASE), len);
	return true;
}

const struct memory fakemem_memory = {fake_read, NULL};
const struct goruntime fakemem_layout = {.g_stack_hi = 8,
					 .g_m = 48,
					 .g_sched_sp = 56,
					 .g_goid = 152,
					 .g_gopc = 288,
					 .g_parent_goid = 280,
					 .g_status = 144,
					 .g_waitsince = 168,
					 .g_waitreason = 176,
					 .g_syscall_sp = 104};

void fakemem_begin(size_t size)
{
	assert_true(size <= FAKEMEM_MAX);
	memset(&fakemem, 0, sizeof(fakemem));
	fakemem.size = size;
}

void fakemem_put(uint64_t addr, uint64_t value)
{
	memcpy(fakemem.bytes + (addr - FAKEMEM_BASE), &value, sizeof(value));
}
