// SPDX-License-Identifier: Apache-2.0
#include "gostacks/goroutines_pick.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "golang/pattern.h"
#include "frames/frames.h"
#include "goroutines/goroutine_frames.h"
#include "goroutines/snapshot.h"

static bool has_state(const struct snapshot *snap, const struct goroutine *g, const char *state)
{
	if (!strcmp(snapshot_state(snap, g), state))
		return true;
	return g->status == GOROUTINE_WAITING && !strcmp(state, "waiting");
}

struct matching {
	const struct goroutines_pick *pick;
	bool matches;
};

static void match(void *ctx, const struct frame *frame)
{
	struct matching *matching = ctx;

	for (size_t i = 0; i < matching->pick->pattern_count && !matching->matches; i++)
		matching->matches = pattern_match(matching->pick->patterns[i], frame->func);
}

/* Many goroutines have few stacks: `known` has for each 1 or 2, once it was asked for. */
static bool matches(const struct goroutines_pick *pick, const struct frames *frames,
		    const struct snapshot *snap, uint32_t stack, unsigned char *known)
{
	struct matching matching = {.pick = pick};
	size_t count;

	if (!known[stack]) {
		const uint64_t *addrs = snapshot_stack(snap, stack, &count);

		frames_all(frames, addrs, count, match, &matching);
		known[stack] = 1 + matching.matches;
	}
	return known[stack] == 2;
}

static bool is_wanted(const struct goroutines_pick *pick, const struct snapshot *snap,
		      const struct frames *frames, const struct goroutine *g)
{
	size_t count;
	const uint64_t *stack = snapshot_stack(snap, g->stack, &count);

	if (pick->goid)
		return g->goid == pick->goid;
	if (pick->state && !has_state(snap, g, pick->state))
		return false;
	return pick->system || !goroutine_is_system(g, frames, stack, count);
}

unsigned char *goroutines_pick(const struct goroutines_pick *pick, const struct snapshot *snap,
			       const struct frames *frames, size_t *count)
{
	unsigned char *picked = mem_zalloc(snap->count + 1, 1);
	unsigned char *known = mem_zalloc(snapshot_stack_count(snap), 1);

	*count = 0;
	for (size_t i = 0; i < snap->count; i++) {
		const struct goroutine *g = &snap->all[i];

		picked[i] = is_wanted(pick, snap, frames, g) &&
			    (!pick->pattern_count || matches(pick, frames, snap, g->stack, known));
		*count += picked[i];
	}
	free(known);
	return picked;
}
