/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up heap in fakemem's memory, of the program and types of rttifile.h: a span of slots of
 * each size, and one large object. The last slot of a span is free. */
#ifndef FAKEHEAP_H
#define FAKEHEAP_H

#include "fakemem.h"
#include "objects/object_walk_internal.h"
#include "objects/spans_internal.h"
#include "program/program.h"
#include "rttifile.h"

enum {
	FAKEHEAP_ROOT = FAKEMEM_BASE + 0x1000, /* two words, no part of the heap */
	FAKEHEAP_ITAB = FAKEMEM_BASE + 0x2000,
	FAKEHEAP_BASE = FAKEMEM_BASE + 0x10000,
	FAKEHEAP_LARGE = 8 * SPAN_PAGE, /* bytes */
	FAKEHEAP_BIAS = 0x10000000,
	FAKEHEAP_SPANS = 12,
};

struct fakeheap {
	struct rttifile r; /* to be changed before fakeheap_open() */
	struct program prog;
	struct gotypes *types;
	struct span all[FAKEHEAP_SPANS];
	struct spans spans;
	struct object_walk walk;
};

void fakeheap_make(struct fakeheap *heap, int release);
void fakeheap_open(struct fakeheap *heap);
void fakeheap_free(struct fakeheap *heap);

/* Of the file: so many bytes of a value of the type may have pointers in them; word `index` after
 * the head of a descriptor; field `index` of main.T is of this type. */
void fakeheap_pointers(struct fakeheap *heap, enum rttifile_type type, uint64_t bytes);
void fakeheap_own(struct fakeheap *heap, enum rttifile_type type, unsigned index, uint64_t value);
void fakeheap_field(struct fakeheap *heap, unsigned index, enum rttifile_type type, uint64_t off);

/* The address of a slot; the large object is of FAKEHEAP_LARGE bytes. */
uint64_t fakeheap_slot(const struct fakeheap *heap, uint64_t elem, bool noscan, unsigned number);
struct span *fakeheap_span(struct fakeheap *heap, uint64_t elem, bool noscan);
uint64_t fakeheap_type(const struct fakeheap *heap, enum rttifile_type type); /* in memory */
/* An interface value is found, and followed. */
void fakeheap_root(struct fakeheap *heap, enum rttifile_type type, uint64_t data);
/* What the object of a slot is: a kind's name, or "unknown", "several", "tiny", "string" */
void fakeheap_expect(const struct fakeheap *heap, uint64_t addr, const char *want);

#endif
