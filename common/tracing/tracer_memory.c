// SPDX-License-Identifier: Apache-2.0
/* What do breakpoints take of the traced processes' memory? */
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

#include <stdlib.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "program/program.h"
#include "tracing/filewatch_internal.h"
#include "tracing/probes_internal.h"
#include "tracing/textcost_internal.h"

struct offsets {
	uint64_t *items;
	size_t count, cap;
};

static void add_probes(struct offsets *offs, const struct probes *probes)
{
	for (size_t i = 0; i < probes->count; i++) {
		offs->items = mem_grow(offs->items, offs->count, &offs->cap, sizeof(*offs->items));
		offs->items[offs->count++] = probes->items[i].off;
	}
}

static void add_file(struct tracer *tracer, size_t n)
{
	const struct goruntime *rt = tracer->runtimes ? &tracer->runtimes[n] : NULL;
	const struct program *prog = tracer->programs[n];
	struct offsets offs = {0};

	for (uint32_t part = 0; part < tracer->part_count; part++) {
		const struct probes_want want = {.sel = tracer->sel,
						 .plans = tracer->plans,
						 .part = part,
						 .prog = prog,
						 .rt = rt,
						 .leader = tracer->leader};
		struct probes *probes = probes_new(&want);

		add_probes(&offs, probes);
		probes_free(probes);
	}
	textcost_file(tracer->cost, prog->file, offs.items, offs.count);
	free(offs.items);
}

int tracer_check_memory(struct tracer *tracer, struct errmsg *err)
{
	tracer->cost = textcost_new();
	for (size_t i = 0; i < tracer->program_count; i++)
		add_file(tracer, i);
	if (!tracer->pid)
		filewatch_note_openings(tracer->watch); /* by those that come later */
	textcost_processes(tracer->cost, tracer->execs ? tracer->pid : 0);
	/* what the command starts will live where it does */
	if (tracer->follows)
		textcost_processes(tracer->cost, tracer->pid);
	return tracer->config->force ? 0 : textcost_check(tracer->cost, err);
}

void tracer_hint_memory(const struct tracer *tracer, struct errmsg *err)
{
	struct errmsg why = {0};

	if (tracer->config->force && textcost_check(tracer->cost, &why))
		errmsg_hint(err, "%s", why.text);
}
