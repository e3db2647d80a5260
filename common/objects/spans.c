// SPDX-License-Identifier: Apache-2.0
#include "objects/spans_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget_watch.h"
#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/image.h"
#include "golang/release.h"
#include "golang/sizeclass.h"
#include "goroutines/memory.h"
#include "goroutines/memory_pages.h"
#include "goroutines/runtime_refs.h"
#include "machine/coderefs.h"
#include "machine/insn.h"
#include "program/functab.h"
#include "program/program.h"

enum {
	SPANS_MAX = 1 << 22,
	SLOTS_MAX = 8192, /* of a span */
	IN_USE = 1,       /* mSpanInUse */
	SPAN_NS = 20000,  /* for each, in a slow machine */
	SPAN_BYTES = 256,
	CHECK_EACH = 1024,
	OLD_SWEEPGEN = 16, /* bytes from mheap_.sweepgen to allspans in Go 1.15 */
	SWEEPGEN = 8,
};
#define ADDR_MAX (UINT64_C(1) << 47)
#define ALL_SLOTS_MAX (UINT64_C(1) << 31)

/* --- where struct mspan has its fields: src/runtime/mheap.go --- */

struct layout {
	uint32_t free_from, count, bits, sweepgen, spanclass, state, elem, type;
	bool narrow; /* freeindex and nelems are 2 bytes */
};
enum { START = 24, PAGES = 32, MSPAN = 160, SPECIALS = 24 }; /* the last one, from elem on */

static const struct layout plain = {48, 56, 72, 88, 98, 99, 104, 0, false};
static const struct layout pinned = {48, 56, 72, 96, 106, 107, 112, 0, false};
static const struct layout narrow = {48, 50, 64, 88, 98, 99, 104, 152, true};

static const struct layout *layout_of(int release)
{
	if (release >= RELEASE_MALLOC_HEADERS)
		return &narrow;
	return release >= RELEASE_PINNER_BITS ? &pinned : &plain;
}

/* --- finding it --- */

static bool has_disp(const uint32_t *disps, size_t count, uint32_t disp)
{
	for (size_t i = 0; i < count; i++)
		if (disps[i] == disp)
			return true;
	return false;
}

enum { DISPS = 256, FAR = 4096 };

struct disps { /* of fields far inside of a struct */
	uint32_t all[DISPS];
	size_t count;
};

static void add_disp(int32_t off, void *ctx)
{
	struct disps *disps = ctx;

	if (off > FAR && disps->count < DISPS)
		disps->all[disps->count++] = (uint32_t)off;
}

/* runtime.recordspan appends to h.allspans: three words in a row far inside of struct mheap. */
static bool find_offset(const struct program *prog, uint32_t *off)
{
	struct disps disps = {.count = 0};
	struct functab_func fn;

	if (!functab_named(prog->tab, "runtime.recordspan", &fn))
		return false;
	struct insn_code code = {.addr = fn.addr, .len = fn.end - fn.addr};

	code.bytes = image_at(prog->img, fn.addr, code.len);
	if (code.bytes)
		coderefs_fields(image_arch(prog->img), &code, add_disp, &disps);
	for (size_t i = 0; i < disps.count; i++) {
		*off = disps.all[i];
		if (has_disp(disps.all, disps.count, *off + 8) &&
		    has_disp(disps.all, disps.count, *off + 16))
			return true;
	}
	return false;
}

struct list { /* a slice */
	uint64_t addr, len, cap;
};

static bool is_list(const struct memory *mem, uint64_t place, struct list *out)
{
	uint64_t first, start;

	return mem->read(mem->ctx, place, out, sizeof(*out)) && out->len && out->len <= out->cap &&
	       out->cap < ADDR_MAX / 8 && memory_u64(mem, out->addr, &first) &&
	       memory_u64(mem, first + START, &start) && start && start % SPAN_PAGE == 0 &&
	       start < ADDR_MAX;
}

int spans_find(const struct program *prog, const struct memory *mem, uint64_t bias, uint64_t *place,
	       struct errmsg *err)
{
	static const char *const users[] = {"runtime.mallocinit", "runtime.(*mcentral).grow",
					    "runtime.sweepone", "runtime.largeAlloc"};
	struct runtime_refs refs = {0};
	struct list list;
	uint32_t off;

	if (find_offset(prog, &off)) {
		for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
			runtime_refs_add(prog, users[i], &refs);
		for (size_t i = 0; i < refs.count; i++) {
			*place = refs.all[i].addr + bias + off;
			if (refs.all[i].how == ACCESS_ADDRESS && is_list(mem, *place, &list))
				return 0;
		}
	}
	return errmsg_set(err,
			  "%s: the list of the heap's spans was not found in the code of its "
			  "runtime",
			  prog->path);
}

/* --- reading it --- */

struct reading {
	const struct memory *mem; /* by pages */
	const struct layout *layout;
	struct spans *out;
	uint32_t sweepgen;
	int release;
	uint64_t until_ns;
};

static int refuse(struct errmsg *err)
{
	return errmsg_set(err, "its heap cannot be read: not as Go's runtime leaves it");
}

static uint64_t u64_at(const uint8_t *bytes, uint32_t off)
{
	uint64_t word;

	memcpy(&word, bytes + off, sizeof(word));
	return word;
}

static uint64_t index_at(const struct reading *r, const uint8_t *bytes, uint32_t off)
{
	uint16_t half;

	if (!r->layout->narrow)
		return u64_at(bytes, off);
	memcpy(&half, bytes + off, sizeof(half));
	return half;
}

static bool add_bits(struct reading *r, struct span *span, uint64_t addr)
{
	struct spans *out = r->out;
	size_t len = (span->count + 7) / 8;

	while (out->bit_cap - out->bit_bytes < len) {
		out->bit_cap = out->bit_cap ? out->bit_cap * 2 : 1 << 16;
		uint8_t *more = mem_alloc(out->bit_cap);

		if (out->bit_bytes)
			memcpy(more, out->bits, out->bit_bytes);
		free(out->bits);
		out->bits = more;
	}
	span->bits = out->bit_bytes;
	out->bit_bytes += len;
	return r->mem->read(r->mem->ctx, addr, out->bits + span->bits, len);
}

static bool is_sound(const struct span *span, uint64_t pages, uint64_t free_from, uint64_t count)
{
	return span->base && span->base % SPAN_PAGE == 0 && pages && pages < ADDR_MAX / SPAN_PAGE &&
	       span->base < ADDR_MAX - pages * SPAN_PAGE && span->elem && count &&
	       count <= SLOTS_MAX && free_from <= count && span->elem <= pages * SPAN_PAGE / count;
}

/* src/runtime/mheap.go, mspan.sweepgen: swept are h.sweepgen, and that + 3 of one in use by an
 * allocator; all others are to be swept, or just being so. */
static bool is_swept(const struct reading *r, const uint8_t *bytes)
{
	uint32_t sweepgen;

	memcpy(&sweepgen, bytes + r->layout->sweepgen, sizeof(sweepgen));
	return sweepgen == r->sweepgen || sweepgen == r->sweepgen + 3;
}

static int add_span(struct reading *r, uint64_t addr, struct errmsg *err)
{
	const struct layout *at = r->layout;
	struct spans *out = r->out;
	uint8_t bytes[MSPAN];

	if (!r->mem->read(r->mem->ctx, addr, bytes, sizeof(bytes)))
		return refuse(err);
	if (bytes[at->state] != IN_USE)
		return 0;
	uint64_t pages = u64_at(bytes, PAGES), count = index_at(r, bytes, at->count),
		 free_from = index_at(r, bytes, at->free_from);
	struct span span = {
		.base = u64_at(bytes, START),
		.bytes = pages * SPAN_PAGE,
		.elem = u64_at(bytes, at->elem),
		.count = (uint32_t)count,
		.free_from = (uint32_t)free_from,
		.noscan = bytes[at->spanclass] & 1,
		.unswept = !is_swept(r, bytes),
		.large = bytes[at->spanclass] <= 1,
		.type = at->type ? u64_at(bytes, at->type) : 0,
	};

	if (!is_sound(&span, pages, free_from, count) ||
	    !add_bits(r, &span, u64_at(bytes, at->bits)))
		return refuse(err);
	specials_add(&out->specials, r->mem, u64_at(bytes, at->elem + SPECIALS), span.base,
		     r->release);
	out->all = mem_grow(out->all, out->count, &out->cap, sizeof(*out->all));
	out->all[out->count++] = span;
	return 0;
}

static int by_base(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->base > y->base) - (x->base < y->base);
}

/* No two have the same memory. */
static int check_order(struct spans *spans, struct errmsg *err)
{
	qsort(spans->all, spans->count, sizeof(*spans->all), by_base);
	for (size_t i = 0; i < spans->count; i++) {
		struct span *span = &spans->all[i];

		if (i && span[-1].base + span[-1].bytes > span->base)
			return refuse(err);
		span->first = spans->slots;
		spans->slots += span->count;
	}
	if (spans->slots > ALL_SLOTS_MAX)
		return errmsg_set(err, "its heap has more objects than are read");
	return 0;
}

static int read_all(struct reading *r, const struct list *list, struct errmsg *err)
{
	uint64_t addr;

	for (uint64_t i = 0; i < list->len; i++) {
		if (i % CHECK_EACH == 0) {
			budget_watch_allow(CHECK_EACH * SPAN_NS, CHECK_EACH * SPAN_BYTES);
			if (r->until_ns && clock_ns() > r->until_ns)
				return errmsg_set(err, "to read its heap takes too long");
		}
		if (!memory_u64(r->mem, list->addr + i * 8, &addr))
			return refuse(err);
		if (add_span(r, addr, err))
			return -1;
	}
	return check_order(r->out, err);
}

int spans_read(const struct memory *mem, uint64_t place, int release, uint64_t until_ns,
	       struct spans *out, struct errmsg *err)
{
	struct reading r = {
		.layout = layout_of(release), .out = out, .release = release, .until_ns = until_ns};
	uint64_t gen = place - (release >= RELEASE_SWEEP_STATE ? SWEEPGEN : OLD_SWEEPGEN);
	struct list list;

	*out = (struct spans){.headers = release >= RELEASE_MALLOC_HEADERS};
	if (!is_list(mem, place, &list) || !mem->read(mem->ctx, gen, &r.sweepgen, 4))
		return refuse(err);
	if (list.len > SPANS_MAX)
		return errmsg_set(err, "its heap has %llu spans, more than are read",
				  (unsigned long long)list.len);
	struct memory_pages *pages = memory_pages_new(mem);

	r.mem = memory_pages_memory(pages);
	int ret = read_all(&r, &list, err);

	memory_pages_free(pages);
	if (ret)
		spans_free(out);
	return ret;
}

/* Where nothing is, steps grow: there may be no end of it. */
static uint64_t bytes_there(const struct span *span, const struct memory *mem)
{
	enum { PAGE = 4096 };
	uint64_t bytes = 0, step = PAGE, word;

	for (uint64_t at = 0; at < span->bytes; at += step) {
		bool there = memory_u64(mem, span->base + at, &word);

		bytes += there ? PAGE : 0;
		step = there ? PAGE : step * 2;
	}
	return bytes;
}

uint64_t spans_there(const struct spans *spans, const struct memory *mem)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < spans->count; i++)
		bytes += spans->all[i].noscan ? 0 : bytes_there(&spans->all[i], mem);
	return bytes;
}

void spans_free(struct spans *spans)
{
	free(spans->all);
	free(spans->bits);
	specials_free(&spans->specials);
	*spans = (struct spans){0};
}

/* --- looking it up --- */

const struct span *spans_at(const struct spans *spans, uint64_t addr)
{
	size_t low = 0, high = spans->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (spans->all[mid].base <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr - spans->all[low - 1].base >= spans->all[low - 1].bytes)
		return NULL;
	return &spans->all[low - 1];
}

/* mspan.isFree: all slots before freeindex are taken, and of those behind it the ones that the last
 * sweep has found so. */
bool spans_is_allocated(const struct spans *spans, const struct span *span, uint32_t index)
{
	return index < span->free_from || (spans->bits[span->bits + index / 8] >> index % 8 & 1);
}

bool spans_slot(const struct spans *spans, uint64_t addr, struct spans_slot *out)
{
	const struct span *span = spans_at(spans, addr);
	uint64_t index = span ? (addr - span->base) / span->elem : 0;

	if (!span || index >= span->count || !spans_is_allocated(spans, span, (uint32_t)index))
		return false;
	*out = (struct spans_slot){.span = span,
				   .index = (uint32_t)index,
				   .number = span->first + index,
				   .begin = span->base + index * span->elem};
	return true;
}

/* src/runtime/malloc.go: maxSmallSize, minSizeForMallocHeader, mallocHeaderSize */
enum { SMALL_MAX = 32768, HEADER_FROM = 512, HEADER = 8 };

uint64_t spans_header(const struct spans *spans, const struct span *span)
{
	bool has = spans->headers && !span->noscan && !span->large && span->elem > HEADER_FROM;

	return has ? HEADER : 0;
}

enum { SIZE_24 = 24 }; /* since Go 1.16 */

uint64_t spans_rounded(uint64_t bytes, bool noscan, int release)
{
	bool headers = release >= RELEASE_MALLOC_HEADERS;
	uint64_t most = headers ? SMALL_MAX - HEADER : SMALL_MAX;

	if (bytes > most)
		return (bytes + SPAN_PAGE - 1) / SPAN_PAGE * SPAN_PAGE;
	if (headers && !noscan && bytes > HEADER_FROM)
		bytes += HEADER;
	for (size_t i = 1; i < SIZECLASSES; i++)
		if (bytes <= sizeclass_bytes[i] &&
		    (sizeclass_bytes[i] != SIZE_24 || release >= RELEASE_SIZE_24))
			return sizeclass_bytes[i];
	return 0;
}
