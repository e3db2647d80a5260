// SPDX-License-Identifier: Apache-2.0
#include "fakeheap.h"

#include "program/functab_internal.h"
#include "unit.h"

enum { POINTER_BYTES = 8, HEAD = 48, BITS = 128 };

static const struct {
	uint64_t elem;
	bool noscan;
} made[FAKEHEAP_SPANS] = {
	{16, true},  {32, true},  {128, true}, {8, false},  {16, false},   {24, false},
	{32, false}, {48, false}, {64, false}, {96, false}, {1024, false}, {FAKEHEAP_LARGE, false},
};

static void make_spans(struct fakeheap *heap)
{
	static uint8_t bits[BITS]; /* all free, from free_from on */
	uint64_t base = FAKEHEAP_BASE;

	heap->spans = (struct spans){.all = heap->all,
				     .count = FAKEHEAP_SPANS,
				     .bits = bits,
				     .headers = heap->prog.release >= 22};
	for (size_t i = 0; i < FAKEHEAP_SPANS; i++) {
		bool large = made[i].elem == FAKEHEAP_LARGE;
		uint64_t bytes = large ? FAKEHEAP_LARGE : SPAN_PAGE;
		uint32_t count = (uint32_t)(bytes / made[i].elem);

		heap->all[i] = (struct span){.base = base,
					     .bytes = bytes,
					     .elem = made[i].elem,
					     .count = count,
					     .free_from = large ? count : count - 1,
					     .first = heap->spans.slots,
					     .noscan = made[i].noscan,
					     .large = large};
		heap->spans.slots += count;
		base += bytes;
	}
}

void fakeheap_make(struct fakeheap *heap, int release)
{
	*heap = (struct fakeheap){.prog = {.release = release, .release_told = true}};
	fakemem_begin(FAKEMEM_MAX);
	rttifile_make(&heap->r, release, EM_X86_64);
	fakeheap_pointers(heap, RTTIFILE_T, 32);
	fakeheap_pointers(heap, RTTIFILE_STRING, 8);
	fakeheap_pointers(heap, RTTIFILE_SLICE, 8);
	fakeheap_pointers(heap, RTTIFILE_POINTER, 8);
	fakeheap_pointers(heap, RTTIFILE_MAP, 8);
	fakeheap_pointers(heap, RTTIFILE_CHAN, 8);
	fakeheap_pointers(heap, RTTIFILE_FUNC, 8);
	fakeheap_pointers(heap, RTTIFILE_INTERFACE, 16);
	fakeheap_pointers(heap, RTTIFILE_EMPTY, 16);
	make_spans(heap);
}

void fakeheap_open(struct fakeheap *heap)
{
	struct object_walk *walk = &heap->walk;
	struct errmsg err = {0};

	heap->prog.img = elffile_open(heap->r.g.f, &err);
	assert_non_null(heap->prog.img);
	heap->prog.tab = functab_open(heap->prog.img, &err);
	assert_non_null(heap->prog.tab);
	heap->types = gotypes_new();
	*walk = (struct object_walk){.spans = &heap->spans,
				     .mem = &fakemem_memory,
				     .live = &fakemem_memory,
				     .prog = &heap->prog,
				     .bias = FAKEHEAP_BIAS,
				     .types = RTTIFILE_TYPES + FAKEHEAP_BIAS,
				     .types_end = heap->r.end + FAKEHEAP_BIAS,
				     .words_left = 1 << 20};
	walk->rtti =
		rtti_open(heap->prog.img, heap->prog.tab, heap->prog.release, heap->types, &err);
	assert_non_null(walk->rtti);
	walk->kind_of = calloc(heap->spans.slots, sizeof(*walk->kind_of));
}

void fakeheap_free(struct fakeheap *heap)
{
	object_walk_end(&heap->walk);
	rtti_close(heap->walk.rtti);
	gotypes_free(heap->types);
	functab_close(heap->prog.tab);
	image_close(heap->prog.img);
	elffile_free(heap->r.g.f);
}

/* --- the file --- */

void fakeheap_pointers(struct fakeheap *heap, enum rttifile_type type, uint64_t bytes)
{
	elffile_u64(heap->r.g.f, heap->r.addr[type] + POINTER_BYTES, bytes);
}

void fakeheap_own(struct fakeheap *heap, enum rttifile_type type, unsigned index, uint64_t value)
{
	elffile_u64(heap->r.g.f, heap->r.addr[type] + HEAD + index * 8, value);
}

void fakeheap_field(struct fakeheap *heap, unsigned index, enum rttifile_type type, uint64_t off)
{
	uint64_t at = heap->r.fields + index * 24;

	elffile_u64(heap->r.g.f, at + 8, heap->r.addr[type]);
	elffile_u64(heap->r.g.f, at + 16, heap->r.g.release < 19 ? off << 1 : off);
}

/* --- the heap --- */

struct span *fakeheap_span(struct fakeheap *heap, uint64_t elem, bool noscan)
{
	for (size_t i = 0; i < FAKEHEAP_SPANS; i++)
		if (heap->all[i].elem == elem && heap->all[i].noscan == noscan)
			return &heap->all[i];
	fail_msg("no span of %d bytes", (int)elem);
	abort();
}

uint64_t fakeheap_slot(const struct fakeheap *heap, uint64_t elem, bool noscan, unsigned number)
{
	return fakeheap_span((struct fakeheap *)heap, elem, noscan)->base + number * elem;
}

uint64_t fakeheap_type(const struct fakeheap *heap, enum rttifile_type type)
{
	return heap->r.addr[type] + FAKEHEAP_BIAS;
}

void fakeheap_root(struct fakeheap *heap, enum rttifile_type type, uint64_t data)
{
	fakemem_put(FAKEHEAP_ROOT, fakeheap_type(heap, type));
	fakemem_put(FAKEHEAP_ROOT + 8, data);
	object_walk_words(&heap->walk, FAKEHEAP_ROOT, 16);
}

void fakeheap_expect(const struct fakeheap *heap, uint64_t addr, const char *want)
{
	static const char *const names[] = {"unknown", "several", "tiny", "string"};
	const struct span *span = spans_at(&heap->spans, addr);

	assert_non_null(span);
	uint16_t kind = heap->walk.kind_of[span->first + (addr - span->base) / span->elem];

	assert_string_equal(kind < OBJECT_FIRST ? names[kind]
						: object_kinds_get(&heap->walk.kinds, kind)->name,
			    want);
}
