// SPDX-License-Identifier: Apache-2.0
#include "goroutines/memory.h"

#include <unistd.h>

bool memory_read_fd(void *ctx, uint64_t addr, void *out, size_t len)
{
	const int *fd = ctx;

	/* addresses of the kernel's half are negative offsets, which pread refuses */
	return pread(*fd, out, len, (off_t)addr) == (ssize_t)len;
}

bool memory_u64(const struct memory *mem, uint64_t addr, uint64_t *out)
{
	return mem->read(mem->ctx, addr, out, sizeof(*out));
}
