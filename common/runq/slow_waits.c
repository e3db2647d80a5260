// SPDX-License-Identifier: Apache-2.0
#include "runq/slow_waits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "blocked/losses.h"
#include "golang/release.h"
#include "kernel/bpfmap.h"
#include "kernel/events.h"
#include "program/functab.h"
#include "program/program.h"
#include "runq/slow_wait_internal.h"
#include "selection/runtime_func.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

enum { GOROUTINES_MAX = 1 << 20, RING_PAGES = 256 };

struct slow_waits {
	const struct options *opts;
	uint64_t min_ns;
	const struct program *prog;
	uint64_t probe; /* its address in the file */
	struct events *events;
	int active, losses; /* maps */
};

/* In Go's src/runtime/runtime2.go: m.curg, m.caughtsig, since Go 1.26 m.signalSecret, m.p */
static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	const struct program *prog = tracer_program(tracer, 0);
	const struct goruntime *rt = tracer_runtime(tracer, 0);

	(void)ctx;
	if (tracer_program_count(tracer) > 1)
		return errmsg_set(err, "--slower traces one program: run it for each");
	if (!prog->release_told || !rt->m_curg || !rt->g_gopc)
		return errmsg_set(err,
				  "\"%s\": where its runtime notes who runs on a processor is not "
				  "known: --slower needs it",
				  prog->path);
	tracer_define(tracer, "M_P", rt->m_curg + (prog->release >= RELEASE_SECRETS ? 24 : 16));
	tracer_define(tracer, "G_GOPC", rt->g_gopc);
	return 0;
}

struct lookup { /* of names in one process */
	const struct program *prog;
	uint64_t bias;
};

static const char *name_of(void *ctx, uint64_t addr)
{
	const struct lookup *in = ctx;
	struct functab_func func;

	if (!addr || !functab_find(in->prog->tab, addr - in->bias, &func))
		return NULL;
	return func.name;
}

static bool take_event(const void *data, size_t len, void *ctx)
{
	const struct slow_waits *waits = ctx;
	struct lookup in = {.prog = waits->prog};
	struct slow_wait wait;
	struct runq_slow event;

	if (len < sizeof(event))
		return true;
	memcpy(&event, data, sizeof(event));
	in.bias = event.probe - waits->probe;
	slow_wait_read(&event, &wait);
	if (waits->opts->json)
		slow_wait_json(&event, &wait, waits->opts->timestamp, name_of, &in);
	else
		slow_wait_print(&event, &wait, name_of, &in);
	return true;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);
	struct slow_waits *waits = ctx;

	if (!sel->item_count || sel->items[0].skipped)
		return errmsg_set(err, "runtime.casgstatus cannot be probed");
	waits->prog = tracer_program(tracer, 0);
	waits->probe = sel->items[0].sites.entry.addr;
	waits->active = tracer_map(tracer, "active");
	waits->losses = tracer_map(tracer, "losses");
	waits->events = events_new(tracer_map(tracer, "events"), take_event, waits, err);
	if (!waits->events)
		return -1;
	if (bpfmap_set(waits->active, 1))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

static void started(void *ctx)
{
	const struct slow_waits *waits = ctx;
	FILE *out = waits->opts->json ? stderr : stdout;

	fprintf(out,
		"Tracing run queue latency of goroutines higher than %" PRIu64
		" us... Hit Ctrl-C to end.\n",
		waits->min_ns / 1000);
	if (!waits->opts->json)
		slow_wait_print_head();
	fflush(out);
}

static int stop(void *ctx)
{
	const struct slow_waits *waits = ctx;

	return bpfmap_set(waits->active, 0);
}

static void say_lost(void *ctx)
{
	static const char *const said[RUNQ_LOSSES] = {
		[RUNQ_LOSS_WAITS] = "waits not tracked: the map of goroutines is full, or the "
				    "kernel had no memory",
		[RUNQ_LOSS_UNREADABLE] = "changes of status not tracked: memory of the goroutine "
					 "could not be read",
		[RUNQ_LOSS_EVENTS] = "waits lost: the ring buffer was full",
	};
	const struct slow_waits *waits = ctx;
	uint64_t lost[RUNQ_LOSSES];

	losses_say(waits->losses, "gorunqlat", said, lost, RUNQ_LOSSES);
}

int slow_waits_run(const struct options_tool *tool, const struct options *opts, uint64_t min_ns)
{
	static const struct runtime_func funcs[] = {{.names = {"runtime.casgstatus"}}};
	struct slow_waits waits = {.opts = opts, .min_ns = min_ns};
	struct bpfprog_define defs[] = {
		{"GOROUTINES", bpfmap_room(GOROUTINES_MAX)},
		{"RING_PAGES", bpfmap_room(RING_PAGES)},
		{"MIN_NS", min_ns},
	};
	struct toolrun run = {.tool = tool,
			      .opts = opts,
			      .config = {.cpu = -1,
					 .runtime_funcs = funcs,
					 .runtime_func_count = 1,
					 .bpf_file = "runqslower.bpf.c",
					 .defs = defs,
					 .def_count = sizeof(defs) / sizeof(*defs),
					 .goroutines = true,
					 .sleepable = true,
					 .plan = plan,
					 .plan_ctx = &waits},
			      .begin = begin,
			      .started = started,
			      .stop = stop,
			      .lost = say_lost,
			      .events = &waits.events,
			      .ctx = &waits};
	int status = toolrun(&run);

	events_free(waits.events);
	return status;
}
