/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a program that runs on while it is read. */
#ifndef GOROUTINES_MEMORY_H
#define GOROUTINES_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory {
	/* all of the bytes, or false: they are not mapped, or the program has ended */
	bool (*read)(void *ctx, uint64_t addr, void *out, size_t len);
	void *ctx;
};

/* of the descriptor that `ctx` points to: see process_memory() */
bool memory_read_fd(void *ctx, uint64_t addr, void *out, size_t len);
bool memory_u64(const struct memory *mem, uint64_t addr, uint64_t *out);

#endif
