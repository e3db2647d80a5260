// SPDX-License-Identifier: Apache-2.0
#include "heap/heap_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "golang/release.h"
#include "goroutines/memory.h"
#include "goroutines/memory_pages.h"

/* Go's src/runtime/mprof.go: struct bucket, then its return addresses, then a memRecord */
enum { BUCKET_NEXT, BUCKET_ALLNEXT, BUCKET_TYPE, BUCKET_HASH, BUCKET_SIZE, BUCKET_NSTK, HEADER };
enum { MEM_PROFILE = 1, FUTURES = 3, RECORD_MAX = 4 * (1 + FUTURES) };
/* A flush of all buckets takes a millisecond or so. */
enum { TRIES = 20, PAUSE_US = 2000 };
/* for each bucket, in a slow machine; and each word of its stack */
enum { BUCKET_NS = 20000, BUCKET_BYTES = 512 };

struct cycle {
	uint32_t number;
	bool flushed;
};

struct reading {
	const struct heap_source *from;
	const struct memory *mem;   /* by pages */
	struct cycle cycle, listed; /* now; when the list was read */
	struct heap *out;
	bool has_list;
	bool pending;  /* a count of the last collection is not published yet */
	bool flushing; /* buckets are being flushed just now */
	bool any;      /* something was published */
};

void heap_free(struct heap *heap)
{
	free(heap->all);
	free(heap->words);
	*heap = (struct heap){0};
}

struct heap_count heap_in_use(const struct heap_bucket *bucket)
{
	const struct heap_count *all = &bucket->allocated, *freed = &bucket->freed;

	/* what is freed has been allocated, unless the program lies */
	return (struct heap_count){
		all->objects > freed->objects ? all->objects - freed->objects : 0,
		all->bytes > freed->bytes ? all->bytes - freed->bytes : 0,
	};
}

static uint64_t whole(double n)
{
	return n < (double)INT64_MAX ? (uint64_t)n : INT64_MAX;
}

struct heap_count heap_scale(struct heap_count sampled, int64_t rate)
{
	double objects = (double)sampled.objects, bytes = (double)sampled.bytes;

	if (!sampled.objects || !sampled.bytes)
		return (struct heap_count){0};
	if (rate <= 1)
		return sampled;
	double scale = 1 / (1 - exp(-bytes / objects / (double)rate));

	return (struct heap_count){whole(objects * scale), whole(bytes * scale)};
}

/* --- the cycle --- */

static bool read_cycle(const struct reading *r, struct cycle *out)
{
	uint64_t addr = r->from->vars->cycle + r->from->bias;
	const struct memory *mem = r->from->mem;
	uint32_t word;
	uint8_t flag;

	if (!mem->read(mem->ctx, addr, &word, sizeof(word)))
		return false;
	if (r->from->release >= RELEASE_CYCLE_HOLDER) {
		*out = (struct cycle){word >> 1, word & 1};
		return true;
	}
	if (!mem->read(mem->ctx, addr + sizeof(word), &flag, 1))
		return false;
	*out = (struct cycle){word, flag};
	return true;
}

static bool same_cycle(const struct cycle *a, const struct cycle *b)
{
	return a->number == b->number && a->flushed == b->flushed;
}

/* --- a bucket's record --- */

static size_t words_a_cycle(const struct reading *r)
{
	return r->from->release >= RELEASE_RECORD_COUNTS ? 2 : 4;
}

/* memRecordCycle: allocs, frees, and up to Go 1.26 their bytes */
static void add_cycle(const struct reading *r, const uint64_t *words, struct heap_bucket *bucket)
{
	bool counts = r->from->release >= RELEASE_RECORD_COUNTS;

	bucket->allocated.objects += words[0];
	bucket->freed.objects += words[1];
	bucket->allocated.bytes += counts ? words[0] * bucket->size : words[2];
	bucket->freed.bytes += counts ? words[1] * bucket->size : words[3];
}

static bool is_zero(const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (words[i])
			return false;
	return true;
}

/* What MemProfile does: it publishes cycle C, then returns what is published. What is of the last
 * collection stands in cycle C + 1, until runtime.GC or the next one publishes it. */
static void add_record(struct reading *r, const uint64_t *record, struct heap_bucket *bucket)
{
	size_t each = words_a_cycle(r);
	const uint64_t *futures = record + each;
	const uint64_t *now = futures + r->cycle.number % FUTURES * each;
	const uint64_t *next = futures + (r->cycle.number + 1) % FUTURES * each;

	bucket->allocated = bucket->freed = (struct heap_count){0};
	add_cycle(r, record, bucket);
	add_cycle(r, now, bucket);
	r->any |= bucket->allocated.objects || bucket->freed.objects;
	r->pending |= !is_zero(next, each);
	r->flushing |= r->cycle.flushed && !is_zero(now, each);
}

/* Where nothing was published yet, MemProfile takes all cycles together. */
static void add_all(const struct reading *r, const uint64_t *record, struct heap_bucket *bucket)
{
	size_t each = words_a_cycle(r);

	bucket->allocated = bucket->freed = (struct heap_count){0};
	for (size_t i = 0; i <= FUTURES; i++)
		add_cycle(r, record + i * each, bucket);
}

static bool read_record(const struct reading *r, uint64_t addr, uint64_t record[RECORD_MAX])
{
	size_t len = words_a_cycle(r) * (1 + FUTURES) * sizeof(*record);

	return r->mem->read(r->mem->ctx, addr, record, len);
}

/* --- the list --- */

static bool add_stack(struct heap *heap, const struct reading *r, uint64_t addr, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++) {
		heap->words = mem_grow(heap->words, heap->word_count + i, &heap->word_cap,
				       sizeof(*heap->words));
	}
	if (!r->mem->read(r->mem->ctx, addr, heap->words + heap->word_count,
			  depth * sizeof(*heap->words)))
		return false;
	heap->word_count += depth;
	return true;
}

static int refuse(struct errmsg *err)
{
	return errmsg_set(err, "its profile of allocations cannot be read: not as Go's runtime "
			       "leaves it");
}

/* The list itself: buckets stay where they are, and new ones come before the others. */
static int add_bucket(struct reading *r, uint64_t addr, const uint64_t *header, struct errmsg *err)
{
	struct heap *heap = r->out;
	uint64_t depth = header[BUCKET_NSTK];

	if (header[BUCKET_TYPE] != MEM_PROFILE || depth > HEAP_DEPTH_MAX)
		return refuse(err);
	if (heap->count >= HEAP_BUCKETS_MAX || heap->word_count + depth > HEAP_WORDS_MAX) {
		heap->left_out++;
		return 0;
	}
	heap->all = mem_grow(heap->all, heap->count, &heap->cap, sizeof(*heap->all));
	heap->all[heap->count] = (struct heap_bucket){
		.size = header[BUCKET_SIZE],
		.record = addr + (HEADER + depth) * sizeof(uint64_t),
		.words = heap->word_count,
		.depth = (uint32_t)depth,
	};
	if (!add_stack(heap, r, addr + HEADER * sizeof(uint64_t), (uint32_t)depth))
		return refuse(err);
	heap->count++;
	budget_watch_allow(BUCKET_NS, BUCKET_BYTES + depth * sizeof(uint64_t));
	return 0;
}

/* A list that bites its tail is found out by one that follows at half the pace (Brent). */
static int read_list(struct reading *r, struct errmsg *err)
{
	uint64_t header[HEADER], addr, mark = 0;
	size_t steps = 0, next_mark = 1;

	if (!memory_u64(r->mem, r->from->vars->buckets + r->from->bias, &addr))
		return refuse(err);
	for (; addr; addr = header[BUCKET_ALLNEXT]) {
		if (addr == mark || !r->mem->read(r->mem->ctx, addr, header, sizeof(header)) ||
		    add_bucket(r, addr, header, err))
			return refuse(err);
		if (++steps == next_mark) {
			mark = addr;
			next_mark *= 2;
		}
	}
	return 0;
}

/* --- the counts --- */

/* One pass over all records. */
static bool read_counts(struct reading *r, struct memory_pages *pages, bool early)
{
	uint64_t record[RECORD_MAX];

	memory_pages_forget(pages);
	r->pending = r->flushing = r->any = false;
	for (size_t i = 0; i < r->out->count; i++) {
		if (!read_record(r, r->out->all[i].record, record))
			return false;
		if (early)
			add_all(r, record, &r->out->all[i]);
		else
			add_record(r, record, &r->out->all[i]);
	}
	return true;
}

static bool same_counts(const struct heap *heap, const struct heap_bucket *before)
{
	for (size_t i = 0; i < heap->count; i++) {
		const struct heap_bucket *a = &heap->all[i], *b = &before[i];

		if (memcmp(&a->allocated, &b->allocated, sizeof(a->allocated)) != 0 ||
		    memcmp(&a->freed, &b->freed, sizeof(a->freed)) != 0)
			return false;
	}
	return true;
}

enum pass { PASS_FAILED, PASS_CHANGED, PASS_STEADY };

/* Two passes that find the same, in one cycle, with no flush under way. */
static enum pass read_twice(struct reading *r, struct memory_pages *pages)
{
	size_t len = r->out->count * sizeof(*r->out->all);
	struct cycle after;

	if (!read_counts(r, pages, false))
		return PASS_FAILED;
	bool early = !r->any;

	if (early && !read_counts(r, pages, true))
		return PASS_FAILED;
	struct heap_bucket *before = mem_alloc(len + 1);
	bool flushing = r->flushing, pending = r->pending;

	if (len)
		memcpy(before, r->out->all, len);
	bool good = read_counts(r, pages, early) && read_cycle(r, &after);
	/* what is allocated just now changes what is not published: it needs no second pass */
	bool same = good && same_cycle(&r->cycle, &after) && !flushing && !r->flushing &&
		    (early || same_counts(r->out, before));

	r->out->early = early;
	r->pending |= pending;
	free(before);
	return !good ? PASS_FAILED : same ? PASS_STEADY : PASS_CHANGED;
}

/* A bucket that is new now has nothing to publish in this cycle, but may in a later one. */
static int read_list_of_cycle(struct reading *r, struct memory_pages *pages, struct errmsg *err)
{
	if (!read_cycle(r, &r->cycle))
		return refuse(err);
	if (r->has_list && same_cycle(&r->cycle, &r->listed))
		return 0;
	r->listed = r->cycle;
	r->has_list = true;
	r->out->count = r->out->word_count = r->out->left_out = 0;
	memory_pages_forget(pages);
	return read_list(r, err);
}

static int read_steady(struct reading *r, struct memory_pages *pages, struct errmsg *err)
{
	for (unsigned i = 0; i < TRIES; i++) {
		if (i)
			usleep(PAUSE_US);
		if (read_list_of_cycle(r, pages, err))
			return -1;
		enum pass pass = read_twice(r, pages);

		if (pass == PASS_FAILED)
			return refuse(err);
		r->out->unsteady = pass == PASS_CHANGED;
		if (pass == PASS_STEADY)
			return 0;
	}
	return 0;
}

/* --- of which collection --- */

static void find_time(const struct reading *r)
{
	uint64_t addr = r->from->vars->last_gc + r->from->bias, ns;
	const struct memory *mem = r->from->mem;
	struct heap *heap = r->out;
	uint32_t collections;

	if (!r->from->vars->last_gc || heap->early || !heap->of ||
	    !mem->read(mem->ctx, addr + HEAP_NUMGC, &collections, sizeof(collections)) ||
	    collections != heap->cycle)
		return;
	if (memory_u64(mem, addr + HEAP_PAUSE_END + (heap->of - 1) % HEAP_PAUSES * 8, &ns))
		heap->marked_ns = ns;
}

static void find_collection(const struct reading *r)
{
	struct heap *heap = r->out;

	heap->cycle = r->cycle.number;
	heap->of = r->pending && heap->cycle ? heap->cycle - 1 : heap->cycle;
	find_time(r);
}

int heap_read(const struct heap_source *from, struct heap *out, struct errmsg *err)
{
	struct memory_pages *pages = memory_pages_new(from->mem);
	struct reading r = {.from = from, .mem = memory_pages_memory(pages), .out = out};
	uint64_t rate = 0;
	int ret = 0;

	*out = (struct heap){0};
	if (!memory_u64(from->mem, from->vars->rate + from->bias, &rate))
		ret = refuse(err);
	if (!ret)
		ret = read_steady(&r, pages, err);
	if (!ret)
		find_collection(&r);
	else
		heap_free(out);
	out->rate = (int64_t)rate;
	memory_pages_free(pages);
	return ret;
}
