// SPDX-License-Identifier: Apache-2.0
/* From sites to attached probes, and what the kernel side must know of them. */
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "bpf-src/shared/trace.h"
#include "files/process.h"
#include "kernel/attach.h"
#include "kernel/bpfmap.h"
#include "program/functab.h"
#include "program/program.h"
#include "tracing/probes_internal.h"

/* Inlined copies are known by the stack pointer at their own entry: that of the function which they
 * stand in is in its table. */
static int frame_of(const struct program *prog, const struct selection_item *item,
		    const struct attach_probe *probe)
{
	struct functab_func fn;
	int32_t bytes;

	if (!item->is_copy)
		return 0;
	if (!functab_find(prog->tab, probe->addr, &fn) ||
	    !functab_sp_delta(prog->tab, &fn, probe->addr, &bytes))
		return -1;
	bytes -= cookie_adjust(probe->cookie);
	return bytes < 0 ? -1 : bytes;
}

static void note_plan(const struct tracer *tracer, size_t item, struct trace_place *place)
{
	if (!tracer->plans)
		return;
	place->plan = tracer->plans[item].number;
	place->table = tracer->plans[item].table;
	if (tracer->plans[item].restart)
		place->restart = tracer->plans[item].restart - place->addr;
}

/* Notes the probes' places. */
static int note_places(struct tracer *tracer, const struct program *prog,
		       const struct goruntime *rt, const struct probes *probes, struct errmsg *err)
{
	const struct selection *sel = tracer->sel;
	size_t first = probes->first_place;

	if (!sel->want.places)
		return 0;
	tracer->place_count = first + probes->count;
	if (tracer->place_count > tracer->place_max)
		return errmsg_set(err, "more than %zu places to probe: trace fewer functions",
				  tracer->place_max);
	for (size_t i = 0; i < probes->count; i++) {
		struct trace_place *place = &tracer->places[first + i];
		size_t item = probes->owners[i];

		if (rt)
			*place = (struct trace_place){.addr = probes->items[i].addr,
						      .tls_word = rt->tls_word,
						      .tls_delta = rt->tls_delta};
		if (item == SIZE_MAX)
			continue;
		place->addr = probes->items[i].addr;
		place->item = item;
		note_plan(tracer, item, place);
		place->frame = frame_of(prog, &sel->items[item], &probes->items[i]);
	}
	return 0;
}

/* The kernel side is told of the places before it can meet them. */
int tracer_fill_places(const struct tracer *tracer, size_t first, struct errmsg *err)
{
	int fd = bpfprog_map(tracer->bpf, "places");

	for (size_t i = first; i < tracer->place_count; i++) {
		uint32_t key = i;

		if (bpfmap_update(fd, &key, &tracer->places[i]))
			return errmsg_set(err, "cannot pass %zu probes to the BPF program: %s",
					  tracer->place_count, strerror(errno));
	}
	return tracer_fill_tls(tracer, err);
}

/* What the kernel side must know before the first hit; with a gate that is later. */
static int tell_kernel_side(struct tracer *tracer, const struct program *prog,
			    const struct goruntime *rt, struct probes *probes, struct errmsg *err)
{
	if (note_places(tracer, prog, rt, probes, err) || tracer_note_tls(tracer, rt, probes, err))
		return -1;
	return tracer->gate ? 0 : tracer_fill_places(tracer, probes->first_place, err);
}

/* with a gate there are cookies */
static int cookies_map(const struct tracer *tracer)
{
	return tracer->gate ? -1 : bpfprog_map(tracer->bpf, "cookies");
}

/* the hooks stand at other addresses in each file */
static const struct goruntime *runtime_of(const struct tracer *tracer, size_t n)
{
	return tracer->runtimes ? &tracer->runtimes[n] : NULL;
}

struct probes *tracer_probes(const struct tracer *tracer, size_t n, uint32_t part)
{
	const struct program *prog = tracer->programs[n];
	const struct goruntime *rt = runtime_of(tracer, n);
	const struct probes_want want = {.sel = tracer->sel,
					 .plans = tracer->plans,
					 .part = part,
					 .leader = tracer->leader,
					 .prog = prog,
					 .rt = rt,
					 .emulates = tracer_emulates(tracer, prog, rt),
					 .first_place = tracer->place_count};

	return probes_new(&want);
}

static int attach_program(struct tracer *tracer, size_t n, uint32_t part, int prog_fd,
			  struct errmsg *err)
{
	const struct program *prog = tracer->programs[n];
	const struct goruntime *rt = runtime_of(tracer, n);
	struct probes *probes = tracer_probes(tracer, n, part);
	struct attach **at = &tracer->attached[n * tracer->part_count + part];
	const struct attach_way way = {attach_how(), prog_fd, cookies_map(tracer),
				       tracer->execs ? tracer->pid : 0};

	/* the one attached last runs first: registers are read before they are changed */
	tracer_attach_emulator(tracer, n, part, probes);
	int ret = tell_kernel_side(tracer, prog, rt, probes, err);

	if (!ret && probes->count) {
		*at = attach_new(&way, prog->file, probes->items, probes->count, err);
		ret = *at ? 0 : -1;
	}
	/* a call whose end cannot be seen must not be seen to begin */
	if (!ret && probes_note_refused(probes, tracer->sel)) {
		attach_free(*at);
		*at = NULL;
		tracer_forget_tls(tracer, probes);
		tracer->place_count = probes->first_place;
		ret = 1;
	}
	if (probes->refusal)
		tracer->refusal = probes->refusal;
	probes_free(probes);
	return ret;
}

/* The part that is attached as the nth: the one that leads is the last. */
static uint32_t nth_part(const struct tracer *tracer, uint32_t nth)
{
	uint32_t count = tracer->part_count;

	if (tracer->leader && nth == count - 1)
		return tracer->leader;
	count -= tracer->leader != 0; /* it has the last number */
	return tracer->parts_reversed ? count - 1 - nth : nth;
}

int tracer_attach_all(struct tracer *tracer, const int *prog_fds, struct errmsg *err)
{
	size_t count = tracer->program_count * tracer->part_count;

	if (tracer_check(tracer, err))
		return -1;
	/* what was read by its number may be another's */
	if (tracer->process && !process_runs(tracer->process))
		return errmsg_set(err, "process %d has ended", tracer->pid);
	tracer->attached = mem_zalloc(count, sizeof(struct attach *));
	tracer->places = mem_zalloc(tracer->place_max, sizeof(*tracer->places));
	tracer_find_taken_rets(tracer);
	for (size_t i = 0; i < count; i++) {
		uint32_t part = nth_part(tracer, i % tracer->part_count);
		int ret;

		do
			ret = attach_program(tracer, i / tracer->part_count, part, prog_fds[part],
					     err);
		while (ret > 0);
		if (ret) {
			tracer_hint_memory(tracer, err);
			return -1;
		}
	}
	return 0;
}
