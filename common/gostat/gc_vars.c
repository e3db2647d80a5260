// SPDX-License-Identifier: Apache-2.0
#include "gostat/gc_vars.h"

#include <stdbool.h>
#include <stddef.h>

#include "golang/release.h"
#include "goroutines/runtime_refs.h"
#include "gostat/stats_vars_internal.h"
#include "program/program.h"

/* Go's src/runtime/mgc.go, work: places relative to heap1, in all releases since 1.15. pauseStart
 * was between them and the times up to 1.21. */
enum { HEAP0 = -8, OLD_GOAL = 16, TIMES_115 = -56, TIMES_122 = -48, WORD = 8, TIMES = 4 };

/* src/runtime/mgcpacer.go, gcControllerState: relative to heapLive, from Go 1.19 on */
enum { LAST_GOAL = -8, ASSIST = 88 };

static bool are_three(const struct coderef *refs, uint64_t first)
{
	unsigned seen = 0;

	for (size_t i = 0; i < 3; i++)
		if (refs[i].addr >= first && refs[i].addr <= first + 2 * WORD)
			seen |= 1U << (refs[i].addr - first) / WORD;
	return seen == 7;
}

/* gcController up to Go 1.18: assistTime, dedicatedMarkTime and fractionalMarkTime are added up,
 * idleMarkTime follows them. So it is with the four times of `work`, which begin at `times`. */
static uint64_t find_old_assist(const struct runtime_refs *refs, uint64_t times)
{
	for (size_t i = 0; i + 2 < refs->count; i++) {
		uint64_t first = refs->all[i].addr;

		for (size_t k = 1; k < 3; k++)
			if (refs->all[i + k].addr < first)
				first = refs->all[i + k].addr;
		if ((first < times || first >= times + TIMES * WORD) &&
		    are_three(&refs->all[i], first) && refs->all[i].how == ACCESS_LOAD &&
		    runtime_refs_has(refs, first + 3 * WORD))
			return first;
	}
	return 0;
}

void gc_vars_find(const struct program *prog, struct gc_vars *out)
{
	struct runtime_refs refs = {0};
	struct stats_vars stats;
	uint64_t live, heap1;

	stats_vars_find(prog, &stats);
	*out = (struct gc_vars){.cycles = stats.gc_cycles};
	runtime_refs_add(prog, "runtime.gcMarkTermination", &refs);
	if (!prog->release_told || !stats_vars_live(&refs, &live, &heap1))
		return;
	out->heap = heap1 + HEAP0;
	out->times = heap1 + (prog->release >= RELEASE_WORLD_STOP ? TIMES_122 : TIMES_115);
	if (!runtime_refs_has(&refs, out->times))
		out->times = 0;
	if (prog->release >= RELEASE_PACER) {
		out->goal = live + LAST_GOAL;
		out->assist = live + ASSIST;
	} else {
		out->goal = heap1 + OLD_GOAL;
		out->assist = find_old_assist(&refs, out->times);
	}
}
