// SPDX-License-Identifier: Apache-2.0
#include "goroutines/memory_pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "files/process_pieces.h"
#include "goroutines/memory.h"

enum {
	PAGE = 1 << 12,
	SLOTS = 1 << 8,     /* a page gives way to another with its slot */
	LEN_MAX = 2 * PAGE, /* what is longer is read by itself */
	LINE = 1 << 6,      /* of a processor's cache: copying less is no faster */
};

struct slot {
	uint64_t page;             /* number */
	uint64_t epoch;            /* when it was read; 0: never */
	size_t from, to;           /* what was read of it, */
	size_t used_from, used_to; /* and what has been used; the same: nothing */
	bool is_there;
};

struct memory_pages {
	struct memory mem, cached;
	uint64_t epoch;
	/* those that were used since, in the order of their first use; more than SLOTS: not all are
	 * here */
	uint64_t used[SLOTS];
	size_t used_count;
	struct slot slots[SLOTS];
	uint8_t bytes[SLOTS][PAGE];
};

static void note(struct memory_pages *pages, struct slot *slot, size_t from, size_t to)
{
	if (slot->used_from == slot->used_to) {
		if (pages->used_count < SLOTS)
			pages->used[pages->used_count] = slot->page;
		pages->used_count++;
		slot->used_from = from;
		slot->used_to = to;
	}
	if (from < slot->used_from)
		slot->used_from = from;
	if (to > slot->used_to)
		slot->used_to = to;
}

/* `from` and `to` are in it. NULL: not all of it is there. */
static const uint8_t *page_at(struct memory_pages *pages, uint64_t page, size_t from, size_t to)
{
	size_t n = page % SLOTS;
	struct slot *slot = &pages->slots[n];

	if (slot->epoch != pages->epoch || slot->page != page)
		*slot = (struct slot){.page = page, .epoch = pages->epoch};
	if (from < slot->from || to > slot->to) {
		slot->from = 0;
		slot->to = PAGE;
		slot->is_there =
			pages->mem.read(pages->mem.ctx, page * PAGE, pages->bytes[n], PAGE);
	}
	if (slot->is_there)
		note(pages, slot, from, to);
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

		n = PAGE - at % PAGE < len - done ? PAGE - at % PAGE : len - done;
		const uint8_t *page = page_at(pages, at / PAGE, at % PAGE, at % PAGE + n);

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
	pages->used_count = 0;
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
	pages->used_count = 0;
}

/* --- all at once --- */

/* What was used of each page that is still in its slot. Returns how many. */
static size_t gather(struct memory_pages *pages, struct process_piece pieces[SLOTS])
{
	size_t count = 0;

	for (size_t i = 0; i < pages->used_count; i++) {
		uint64_t page = pages->used[i];
		size_t n = page % SLOTS;
		struct slot *slot = &pages->slots[n];
		size_t from = slot->used_from / LINE * LINE;
		size_t to = (slot->used_to + LINE - 1) / LINE * LINE;

		if (slot->epoch != pages->epoch || slot->page != page)
			continue;
		*slot = (struct slot){.page = page,
				      .epoch = pages->epoch + 1,
				      .from = from,
				      .to = to,
				      .is_there = true};
		pieces[count++] = (struct process_piece){page * PAGE + from, pages->bytes[n] + from,
							 to - from};
	}
	return count;
}

/* What the process has for its memory now is what is read here. If it is another program's, the
 * memory that it had is gone. */
static bool is_same(const struct memory_pages *pages, uint64_t addr)
{
	uint64_t word;

	return memory_u64(&pages->mem, addr, &word);
}

/* Of more pages than are remembered, none: most would give way before they are used. */
void memory_pages_again(struct memory_pages *pages, const struct process *proc)
{
	struct process_piece pieces[SLOTS];
	size_t count = 0, read = 0;

	if (proc && pages->used_count <= SLOTS)
		count = gather(pages, pieces);
	pages->epoch++;
	if (count)
		read = process_pieces(proc, pieces, count);
	if (read && !is_same(pages, pieces[0].addr))
		read = 0;
	for (size_t i = read; i < count; i++)
		pages->slots[pieces[i].addr / PAGE % SLOTS].epoch = 0;
	pages->used_count = 0;
}

const struct memory *memory_pages_memory(const struct memory_pages *pages)
{
	return &pages->cached;
}
