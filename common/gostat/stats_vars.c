// SPDX-License-Identifier: Apache-2.0
#include "gostat/stats_vars_internal.h"

#include <stdbool.h>
#include <stddef.h>

#include "golang/release.h"
#include "goroutines/runtime_refs.h"
#include "program/program.h"

/* Go's src/runtime/mstats.go: what follows memstats.last_gc_unix in all releases since 1.15 */
enum {
	PAUSE_TOTAL = 8,
	PAUSE_NS = 16,
	PAUSE_END = PAUSE_NS + 8 * 256,
	NUMGC = PAUSE_END + 8 * 256,
	GC_FRACTION = NUMGC + 8, /* numforcedgc is between them */
};

/* memstats of Go 1.15, before last_gc_unix: counted at once, where others are only by ReadMemStats
 */
enum {
	OLD_IDLE = -0x70,
	OLD_INUSE = -0x68,
	OLD_RELEASED = -0x60,
	OLD_STACKS = -0x50,
	OLD_NEXT = -8
};
static const int old_own[] = {
	-0x48, /* stacks_sys */
	-0x38, /* mspan_sys */
	-0x28, /* mcache_sys */
	-0x20, /* buckhash_sys */
	-0x18, /* gc_sys */
	-0x10, /* other_sys */
};

/* memstats of Go 1.16 to 1.18, before last_gc_unix, where 1.16 has next_gc between; behind it are
 * last_heap_inuse and heapStats. */
enum {
	MIDDLE_SYS = -120,
	MIDDLE_INUSE = -112,
	MIDDLE_RELEASED = -104,
	MIDDLE_NEXT = -8,
	MIDDLE_TINY = 5784,
	MIDDLE_LAST_INUSE_116 = 5800,
	MIDDLE_LAST_INUSE = 5784,
	MIDDLE_DELTAS_116 = 5848,
	MIDDLE_DELTAS = 5792,
	MIDDLE_COUNTS = 48 /* in a delta: tinyAllocCount, which 1.16 does not have */
};
static const int middle_own[] = {
	-80, /* stacks_sys */
	-64, /* mspan_sys */
	-48, /* mcache_sys */
	-40, /* buckhash_sys */
	-16, /* gcMiscSys */
	-8,  /* other_sys */
};

/* src/runtime/mgcpacer.go, gcControllerState of Go 1.17 and 1.18: relative to heapLive */
enum { MIDDLE_GOAL = -16, MIDDLE_GOGC_117 = -48, MIDDLE_GOGC_118 = -120 };

/* src/runtime/mgcpacer.go, gcControllerState: places relative to heapLive, from Go 1.19 on */
enum {
	LIMIT_119 = -128,   /* consMarkController is between them in 1.19, */
	LIMIT_120 = -72,    /* one lastConsMark in 1.20, */
	LIMIT = -96,        /* four since */
	GOGC_OF_LIMIT = -8, /* relative to memoryLimit */
	GOAL = -32,
	SWEEP_GOAL = -24,
	TRIGGERED = -16,
	INUSE = 168,
	RELEASED = 176,
	FREE = 184,
	TOTAL_ALLOC = 192,
	TOTAL_FREE = 200,
};

/* memstats.heapStats is the first of memstats, with three heapStatsDelta, whose 4th word is
 * inStacks; inWorkBufs, and inPtrScalarBits up to 1.24, follow. They end 64 bytes before
 * last_gc_unix. Between are two words of heapStats, and stacks_sys, mspan_sys, mcache_sys,
 * buckhash_sys, gcMiscSys, other_sys. */
enum {
	DELTA_119 = 1176,
	DELTA_125 = 1168,
	DELTAS_END = 64,
	DELTA_STACKS = 24,
	DELTA_WORK_BUFS = 32,
	DELTA_SCALAR_BITS = 40,
	COUNTS_SIZE = 1128, /* struct stats_counts ends it */
	OWN_SYS = -48,
	OWN_SYS_COUNT = 6
};

/* The first variable of four bytes that a function loads */
static uint64_t first_half(const struct program *prog, const char *func)
{
	struct runtime_refs refs = {0};

	runtime_refs_add(prog, func, &refs);
	for (size_t i = 0; i < refs.count; i++)
		if (refs.all[i].how == ACCESS_LOAD && refs.all[i].bytes == 4)
			return refs.all[i].addr;
	return 0;
}

/* Slices that procresize takes the length of: allp, and masks of it. Which is which, what is in
 * them tells. */
static void find_slices(const struct program *prog, uint64_t slices[STATS_SLICES])
{
	struct runtime_refs refs = {0};
	size_t count = 0;

	runtime_refs_add(prog, "runtime.procresize", &refs);
	for (size_t i = 0; i < refs.count && count < STATS_SLICES; i++) {
		uint64_t addr = refs.all[i].addr;
		bool is_new = refs.all[i].bytes == 8 && runtime_refs_has(&refs, addr + 8);

		for (size_t k = 0; k < count; k++)
			is_new &= slices[k] != addr;
		if (is_new)
			slices[count++] = addr;
	}
}

bool stats_vars_live(const struct runtime_refs *refs, uint64_t *live, uint64_t *heap1)
{
	for (size_t i = 0; i + 1 < refs->count; i++) {
		const struct coderef *ref = &refs->all[i];

		if (ref->how != ACCESS_LOAD || ref->bytes != 8 || ref[1].how != ACCESS_STORE ||
		    ref[1].bytes != 8)
			continue;
		*live = ref->addr;
		*heap1 = ref[1].addr;
		return runtime_refs_has(refs, *heap1 - 8) && runtime_refs_has(refs, *heap1 + 8);
	}
	return false;
}

static uint64_t find_last_gc(const struct runtime_refs *refs)
{
	for (size_t i = 0; i < refs->count; i++) {
		uint64_t addr = refs->all[i].addr;

		if (runtime_refs_has(refs, addr + PAUSE_TOTAL) &&
		    runtime_refs_has(refs, addr + PAUSE_NS) &&
		    runtime_refs_has(refs, addr + PAUSE_END) &&
		    runtime_refs_has(refs, addr + NUMGC))
			return addr;
	}
	return 0;
}

/* gcMarkTermination: work.heap1 = gcController.heapLive, and later
 * memstats.lastHeapInUse = gcController.heapInUse. Both are loaded and stored elsewhere. */
static uint64_t find_heap_live(const struct runtime_refs *refs)
{
	for (size_t i = 0; i + 1 < refs->count; i++) {
		const struct coderef *ref = &refs->all[i];

		if (ref->how == ACCESS_LOAD && ref->bytes == 8 && ref[1].how == ACCESS_STORE &&
		    ref[1].bytes == 8)
			return runtime_refs_has(refs, ref->addr + INUSE) ? ref->addr : 0;
	}
	return 0;
}

static void take_new_own(struct stats_vars *out, uint64_t last_gc, uint64_t delta)
{
	size_t count = 0;

	for (size_t i = 0; i < STATS_STACKS; i++) {
		uint64_t at = last_gc - DELTAS_END - (STATS_STACKS - i) * delta;

		out->stacks[i] = at + DELTA_STACKS;
		out->own[count++] = at + DELTA_WORK_BUFS;
		if (delta == DELTA_119)
			out->own[count++] = at + DELTA_SCALAR_BITS;
	}
	for (size_t i = 0; i < OWN_SYS_COUNT; i++)
		out->own[count++] = last_gc + OWN_SYS + 8 * i;
	out->counts = last_gc - DELTAS_END - (STATS_COUNTS - 1) * delta - COUNTS_SIZE;
	out->counts_apart = delta;
}

static int limit_of(int release)
{
	if (release < RELEASE_SHORT_PACER)
		return LIMIT_119;
	return release < RELEASE_CONS_MARKS ? LIMIT_120 : LIMIT;
}

static void take_new(struct stats_vars *out, uint64_t live, uint64_t last_gc, int release)
{
	uint64_t delta = release >= RELEASE_SHORT_HEAP_STATS ? DELTA_125 : DELTA_119;

	out->heap_inuse = live + INUSE;
	out->heap_released = live + RELEASED;
	out->heap_free = live + FREE;
	out->total_alloc = live + TOTAL_ALLOC;
	out->total_free = live + TOTAL_FREE;
	out->goal = live + GOAL;
	out->sweep_goal = live + SWEEP_GOAL;
	out->triggered = live + TRIGGERED;
	out->limit = live + limit_of(release);
	out->gogc = out->limit + GOGC_OF_LIMIT;
	if (last_gc)
		take_new_own(out, last_gc, delta);
}

static void take_old(const struct program *prog, struct stats_vars *out, uint64_t last_gc)
{
	out->heap_inuse = last_gc + OLD_INUSE;
	out->heap_idle = last_gc + OLD_IDLE;
	out->heap_released = last_gc + OLD_RELEASED;
	out->next_gc = last_gc + OLD_NEXT;
	out->stacks[0] = last_gc + OLD_STACKS;
	for (size_t i = 0; i < sizeof(old_own) / sizeof(*old_own); i++)
		out->own[i] = last_gc + old_own[i];
	/* goal := ^uint64(0); if gcpercent >= 0 ... */
	out->gogc = first_half(prog, "runtime.gcSetTriggerRatio");
}

/* Stacks and the runtime's own memory of each delta; what has been allocated is counted there
 * alone. */
static void take_middle_deltas(struct stats_vars *out, uint64_t base, uint64_t deltas,
			       uint64_t delta)
{
	size_t count = 0;

	for (size_t i = 0; i < STATS_STACKS; i++) {
		out->stacks[i] = deltas + i * delta + DELTA_STACKS;
		out->own[count++] = deltas + i * delta + DELTA_WORK_BUFS;
		out->own[count++] = deltas + i * delta + DELTA_SCALAR_BITS;
	}
	for (size_t i = 0; i < sizeof(middle_own) / sizeof(*middle_own); i++)
		out->own[count++] = base + middle_own[i];
	out->counts_apart = delta;
	out->counted_bytes = true;
}

static void take_middle(const struct program *prog, struct stats_vars *out,
			const struct runtime_refs *refs, uint64_t last_gc)
{
	bool first = prog->release < RELEASE_CONTROLLER;
	uint64_t base = last_gc + (first ? MIDDLE_NEXT : 0), live, heap1;
	uint64_t deltas = last_gc + (first ? MIDDLE_DELTAS_116 : MIDDLE_DELTAS);

	/* last_heap_inuse = heap_inuse */
	if (!runtime_refs_has(refs, base + MIDDLE_INUSE) ||
	    !runtime_refs_has(refs, last_gc + (first ? MIDDLE_LAST_INUSE_116 : MIDDLE_LAST_INUSE)))
		return;
	out->heap_inuse = base + MIDDLE_INUSE;
	out->heap_released = base + MIDDLE_RELEASED;
	out->heap_sys = base + MIDDLE_SYS;
	take_middle_deltas(out, base, deltas, first ? DELTA_125 : DELTA_119);
	out->counts = deltas + MIDDLE_COUNTS;
	if (first) {
		out->counts -= 8; /* of a word that is none of the counts: `tiny` is */
		out->tiny = last_gc + MIDDLE_TINY;
		out->next_gc = last_gc + MIDDLE_NEXT;
		out->gogc = first_half(prog, "runtime.gcSetTriggerRatio");
	} else if (stats_vars_live(refs, &live, &heap1)) {
		out->next_gc = live + MIDDLE_GOAL;
		out->gogc = live + (prog->release < RELEASE_SMOOTHED_PACER ? MIDDLE_GOGC_117
									   : MIDDLE_GOGC_118);
	}
}

static void find_heap(const struct program *prog, struct stats_vars *out)
{
	struct runtime_refs refs = {0};

	runtime_refs_add(prog, "runtime.gcMarkTermination", &refs);
	uint64_t live = find_heap_live(&refs);

	runtime_refs_add(prog, "runtime.gcMarkTermination.func1", &refs);
	uint64_t last_gc = find_last_gc(&refs);

	if (last_gc) {
		out->last_gc = last_gc;
		out->pause_total = last_gc + PAUSE_TOTAL;
		out->gc_cycles = last_gc + NUMGC;
		if (runtime_refs_has(&refs, last_gc + GC_FRACTION))
			out->gc_fraction = last_gc + GC_FRACTION;
	}
	if (!prog->release_told)
		return;
	if (live && prog->release >= RELEASE_PACER)
		take_new(out, live, last_gc, prog->release);
	else if (last_gc && prog->release < RELEASE_HEAP_DELTAS)
		take_old(prog, out, last_gc);
	else if (last_gc && prog->release < RELEASE_PACER)
		take_middle(prog, out, &refs, last_gc);
}

void stats_vars_find(const struct program *prog, struct stats_vars *out)
{
	/* procresize: old := gomaxprocs */
	*out = (struct stats_vars){.gomaxprocs = first_half(prog, "runtime.procresize")};
	find_slices(prog, out->slices);
	find_heap(prog, out);
}
