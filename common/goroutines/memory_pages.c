// SPDX-License-Identifier: Apache-2.0
#include "goroutines/memory_pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "goroutines/memory.h"

enum {
	PAGE = 1 << 12,
	SLOTS = 1 << 8,     /* a page gives way to another with its slot */
	LEN_MAX = 2 * PAGE, /* what is longer is read by itself */
};

struct slot {
	uint64_t page;  /* number */
	uint64_t epoch; /* when it was read; 0: never */
	bool is_there;
};

struct memory_pages {
	struct memory mem, cached;
	uint64_t epoch;
	struct slot slots[SLOTS];
	uint8_t bytes[SLOTS][PAGE];
};

/* NULL: not all of it is there. */
static const uint8_t *page_at(struct memory_pages *pages, uint64_t page)
{
	size_t n = page % SLOTS;
	struct slot *slot = &pages->slots[n];

	if (slot->epoch != pages->epoch || slot->page != page) {
		slot->is_there =
			pages->mem.read(pages->mem.ctx, page * PAGE, pages->bytes[n], PAGE);
		slot->page = page;
		slot->epoch = pages->epoch;
	}
	return slot->is_there ? pages->bytes[n] : NULL;
}

static bool read_cached(void *ctx, uint64_t addr, void *out, size_t len)
{
	struct memory_pages *pages = ctx;
	uint8_t *to = out;

	if (len > LEN_MAX || len > UINT64_MAX - addr)
		return pages->mem.read(pages->mem.ctx, addr, out, len);
	for (size_t done = 0, n; done < len; done += n) {
		uint64_t at = addr + done;
		const uint8_t *page = page_at(pages, at / PAGE);

		n = PAGE - at % PAGE < len - done ? PAGE - at % PAGE : len - done;
		/* of a core file, a part of a page may be there */
		if (!page)
			return pages->mem.read(pages->mem.ctx, addr, out, len);
		memcpy(to + done, page + at % PAGE, n);
	}
	return true;
}

struct memory_pages *memory_pages_new(const struct memory *mem)
{
	struct memory_pages *pages = mem_alloc(sizeof(*pages));

	pages->mem = *mem;
	pages->cached = (struct memory){read_cached, pages};
	pages->epoch = 1;
	memset(pages->slots, 0, sizeof(pages->slots));
	return pages;
}

void memory_pages_free(struct memory_pages *pages)
{
	free(pages);
}

void memory_pages_forget(struct memory_pages *pages)
{
	pages->epoch++;
}

const struct memory *memory_pages_memory(const struct memory_pages *pages)
{
	return &pages->cached;
}
