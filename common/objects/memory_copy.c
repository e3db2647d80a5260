// SPDX-License-Identifier: Apache-2.0
#include "objects/memory_copy_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "goroutines/memory.h"

struct part {
	uint64_t addr;
	size_t len;
	uint8_t *bytes;
	bool owned; /* not of what was reserved */
};

enum { PAGE = 4096 };

struct memory_copy {
	uint8_t *reserved;
	size_t reserved_len, used;
	struct part *all;
	size_t count, cap;
	bool sorted;
};

struct memory_copy *memory_copy_new(void)
{
	return mem_zalloc(1, sizeof(struct memory_copy));
}

void memory_copy_free(struct memory_copy *copy)
{
	if (!copy)
		return;
	for (size_t i = 0; i < copy->count; i++)
		if (copy->all[i].owned)
			free(copy->all[i].bytes);
	free(copy->reserved);
	free(copy->all);
	free(copy);
}

void memory_copy_reserve(struct memory_copy *copy, size_t bytes)
{
	if (copy->reserved)
		return;
	copy->reserved = mem_alloc(bytes);
	copy->reserved_len = bytes;
	/* the kernel gives out pages as they are first written to, large ones with less work */
	size_t before = (PAGE - (uintptr_t)copy->reserved % PAGE) % PAGE;

	if (bytes > before)
		madvise(copy->reserved + before, bytes - before, MADV_HUGEPAGE);
	for (size_t i = 0; i < bytes; i += PAGE)
		((volatile uint8_t *)copy->reserved)[i] = 0;
}

static struct part new_part(struct memory_copy *copy, uint64_t addr, size_t len)
{
	if (len > copy->reserved_len - copy->used)
		return (struct part){addr, len, mem_alloc(len), true};
	return (struct part){addr, len, copy->reserved + copy->used, false};
}

bool memory_copy_add(struct memory_copy *copy, const struct memory *mem, uint64_t addr, size_t len)
{
	struct part part = new_part(copy, addr, len);

	if (!mem->read(mem->ctx, addr, part.bytes, len)) {
		if (part.owned)
			free(part.bytes);
		return false;
	}
	copy->used += part.owned ? 0 : len;
	copy->all = mem_grow(copy->all, copy->count, &copy->cap, sizeof(*copy->all));
	copy->all[copy->count++] = part;
	copy->sorted = false;
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

bool memory_copy_read(void *ctx, uint64_t addr, void *out, size_t len)
{
	struct memory_copy *copy = ctx;
	size_t low = 0, high = copy->count;

	if (!copy->sorted && copy->count)
		qsort(copy->all, copy->count, sizeof(*copy->all), by_addr);
	copy->sorted = true;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (copy->all[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	const struct part *part = &copy->all[low - 1];

	if (addr - part->addr > part->len || len > part->len - (addr - part->addr))
		return false;
	memcpy(out, part->bytes + (addr - part->addr), len);
	return true;
}
