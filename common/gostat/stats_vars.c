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

/* src/runtime/mgcpacer.go, gcControllerState: places relative to heapLive, from Go 1.19 on */
enum {
	LIMIT_119 = -128, /* one field more is between them in 1.19 */
	LIMIT = -96,
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
 * inStacks. They end 64 bytes before last_gc_unix. */
enum { DELTA_119 = 1176, DELTA_125 = 1168, DELTAS_END = 64, DELTA_STACKS = 24 };

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
		const struct runtime_ref *ref = &refs->all[i];

		if (ref->how == REF_LOAD && ref->bytes == 8 && ref[1].how == REF_STORE &&
		    ref[1].bytes == 8)
			return runtime_refs_has(refs, ref->addr + INUSE) ? ref->addr : 0;
	}
	return 0;
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
	out->limit = live + (release >= RELEASE_SHORT_PACER ? LIMIT : LIMIT_119);
	for (size_t i = 0; last_gc && i < STATS_STACKS; i++)
		out->stacks[i] = last_gc - DELTAS_END - (STATS_STACKS - i) * delta + DELTA_STACKS;
}

static void take_old(struct stats_vars *out, uint64_t last_gc)
{
	out->heap_inuse = last_gc + OLD_INUSE;
	out->heap_idle = last_gc + OLD_IDLE;
	out->heap_released = last_gc + OLD_RELEASED;
	out->next_gc = last_gc + OLD_NEXT;
	out->stacks[0] = last_gc + OLD_STACKS;
}

static void find_heap(const struct program *prog, struct stats_vars *out)
{
	struct runtime_refs refs = {0};

	runtime_refs_add(prog, "runtime.gcMarkTermination", &refs);
	uint64_t live = find_heap_live(&refs);

	runtime_refs_add(prog, "runtime.gcMarkTermination.func1", &refs);
	uint64_t last_gc = find_last_gc(&refs);

	if (last_gc) {
		out->pause_total = last_gc + PAUSE_TOTAL;
		out->gc_cycles = last_gc + NUMGC;
	}
	if (!prog->release_told)
		return;
	if (live && prog->release >= RELEASE_PACER)
		take_new(out, live, last_gc, prog->release);
	else if (last_gc && prog->release < RELEASE_HEAP_DELTAS)
		take_old(out, last_gc);
}

/* procresize: old := gomaxprocs, the first that it loads */
static uint64_t find_gomaxprocs(const struct program *prog)
{
	struct runtime_refs refs = {0};

	runtime_refs_add(prog, "runtime.procresize", &refs);
	for (size_t i = 0; i < refs.count; i++)
		if (refs.all[i].how == REF_LOAD && refs.all[i].bytes == 4)
			return refs.all[i].addr;
	return 0;
}

void stats_vars_find(const struct program *prog, struct stats_vars *out)
{
	*out = (struct stats_vars){.gomaxprocs = find_gomaxprocs(prog)};
	find_heap(prog, out);
}
