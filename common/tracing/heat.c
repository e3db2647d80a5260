// SPDX-License-Identifier: Apache-2.0
#include "tracing/heat_internal.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/hitcost.h"
#include "tracing/tracer_state_internal.h"

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

/* What takes less than the share is not worth a word, however much of it there is. */
enum {
	SHARE = 25,       /* percent of a processor */
	RUNS_MIN = 20000, /* a second */
	FIRST_S = 1,      /* after the beginning */
	NEXT_S = 10,      /* after each look */
	LOOK_MS = 100,
};

static void watch(struct heat *heat, int prog)
{
	heat->watch = hitcost_watch_programs();
	heat->state = heat->watch < 0 ? HEAT_DONE : HEAT_WATCHES;
	heat->watched = clock_ns();
	if (heat->watch >= 0 && hitcost_program(prog, &heat->runs, &heat->ns))
		heat_end(heat);
}

/* ns of a hit, without the program; of calls that are timed there are two */
static double price(const struct tracer *tracer)
{
	struct hitcost cost = hitcost_end(hitcost_start());

	if (!tracer->config->want.returns)
		return cost.emulated;
	return (cost.emulated + (tracer->emulator < 0 ? cost.stepped : cost.emulated)) / 2.0;
}

/* Is it worth a word? */
static bool is_hot(double rate, double each)
{
	return rate * each * 100 >= (double)SHARE * NS_PER_S;
}

static void judge(struct heat *heat, const struct tracer *tracer, const char *tool)
{
	double seconds = (double)(clock_ns() - heat->watched) / NS_PER_S;
	uint64_t runs, ns;
	int gone = hitcost_program(tracer->hit_prog, &runs, &ns);

	heat_end(heat);
	if (gone)
		return;
	heat->state = HEAT_WAITS;
	heat->next = clock_ns() + NEXT_S * NS_PER_S;
	if (runs < heat->runs + RUNS_MIN * seconds)
		return;
	double each = (double)(ns - heat->ns) / (runs - heat->runs) + price(tracer);
	double rate = (runs - heat->runs) / seconds;

	if (!is_hot(rate, each))
		return;
	heat->state = HEAT_DONE;
	fprintf(stderr,
		"%s: %.0f hits a second of %.1f us each take some %.0f%% of a processor from what "
		"is traced\n"
		"hint: trace fewer functions ('gofunccount -d 1' tells which are called most), or "
		"set a limit, as with --max-cost 20\n",
		tool, rate, each / 1e3, rate * each * 100 / NS_PER_S);
}

void heat_look(struct heat *heat, const struct tracer *tracer, const char *tool)
{
	uint64_t now = clock_ns();

	if (heat->state == HEAT_DONE || tracer->config->costs || tracer->hit_prog < 0)
		return;
	if (!heat->next)
		heat->next = now + FIRST_S * NS_PER_S;
	if (heat->state == HEAT_WAITS && now >= heat->next)
		watch(heat, tracer->hit_prog);
	else if (heat->state == HEAT_WATCHES && now - heat->watched >= LOOK_MS * NS_PER_MS)
		judge(heat, tracer, tool);
}

void heat_end(struct heat *heat)
{
	if (heat->state == HEAT_WATCHES)
		close(heat->watch);
	heat->state = HEAT_DONE;
}
