// SPDX-License-Identifier: Apache-2.0
#include "goroutines/signal_frame_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "goroutines/memory.h"

enum { /* byte offsets in struct ucontext */
       UC_STACK = 16,
       UC_STACK_SIZE = 32,
       UC_AX = 144,
       UC_SP = 160,
       UC_IP = 168,
       UC_SIZE = 176,
};

enum { STACK_MAX = 256 << 10, CALL_MAX = 1 << 12 };

static uint64_t word_at(const uint8_t *bytes, size_t at)
{
	uint64_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

/* The kernel makes the thread call again, by the instruction before, what it had to leave. */
static int call_of(const struct memory *mem, uint64_t pc, uint64_t ax)
{
	static const uint8_t syscall[2] = {0x0f, 0x05};
	uint8_t code[2];

	if (ax >= CALL_MAX || !mem->read(mem->ctx, pc, code, sizeof(code)) ||
	    memcmp(code, syscall, sizeof(code)) != 0)
		return -1;
	return (int)ax;
}

/* It notes the signal stack, which tells it from all else. The outermost is the highest. */
bool signal_frame_find(const struct memory *mem, uint64_t sp, uint64_t lo, uint64_t hi,
		       struct signal_frame *out)
{
	uint64_t from = (sp + 7) & ~7ull;

	if (sp < lo || from < sp || from >= hi || hi - from > STACK_MAX || hi - from < UC_SIZE)
		return false;
	size_t len = hi - from;
	uint8_t *bytes = mem_alloc(len);
	bool found = mem->read(mem->ctx, from, bytes, len);
	size_t at = len - UC_SIZE - (len - UC_SIZE) % 8;

	while (found && at &&
	       (word_at(bytes, at + UC_STACK) != lo ||
		word_at(bytes, at + UC_STACK_SIZE) != hi - lo))
		at -= 8;
	found = found && at;
	if (found) {
		*out = (struct signal_frame){.pc = word_at(bytes, at + UC_IP),
					     .sp = word_at(bytes, at + UC_SP)};
		out->call = call_of(mem, out->pc, word_at(bytes, at + UC_AX));
	}
	free(bytes);
	return found;
}
