// SPDX-License-Identifier: Apache-2.0
/* gogc: each collection and each stop of the world, as it happens. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "blocked/losses.h"
#include "blocked/stacks.h"
#include "bpf-src/shared/gc.h"
#include "collections/assists.h"
#include "collections/collections.h"
#include "collections/collections_print.h"
#include "golang/release.h"
#include "gostat/gc_vars.h"
#include "kernel/bpfmap.h"
#include "kernel/events.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "sites/inlining.h"
#include "sites/goruntime.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

/* ASSISTS: stacks with some; the map takes memory as it fills */
enum { RING_PAGES = 256, ASSISTS = 1 << 14, LETTER_ASSISTS = 256 };
#define SWEEP "runtime.deductSweepCredit"
enum { P_TICK = 16, M_P = 16, M_P_126 = 24 }; /* the latter two from m.curg on */

struct gogc {
	const struct options *opts;
	bool assists; /* by stack */
	const struct tracer *tracer;
	struct events *events;
	struct stacks *stacks;
	struct collections *collections;
	struct collections_view view;
	int active, losses;         /* maps */
	uint64_t entries[GC_FUNCS]; /* addresses of the probes */
	bool numbered;              /* the runtime has numbers for why the world is stopped */
};

/* --- before the first event --- */

/* Where the runtime tells when the stop was there, as it starts the world: one hit less while it is
 * stopped. */
static void leave_out_returns(struct tracer *tracer)
{
	struct selection *sel = tracer_selection(tracer);

	for (size_t i = 0; i < sel->item_count; i++)
		if (sel->items[i].group == GC_FUNC_STOP)
			sel->items[i].returns = false;
}

static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	const struct program *prog = tracer_program(tracer, 0);
	uint32_t m_curg = tracer_runtime(tracer, 0)->m_curg;
	struct gogc *gogc = ctx;

	if (stacks_define(tracer, "gogc", err))
		return -1;
	if (!prog->release_told) {
		errmsg_set(err, "\"%s\": which release of Go has built it is not told", prog->path);
		return -1;
	}
	tracer_define(tracer, "M_P",
		      m_curg + (prog->release >= RELEASE_SIGNAL_SECRET ? M_P_126 : M_P));
	tracer_define(tracer, "P_TICK", P_TICK);
	gogc->numbered = prog->release >= RELEASE_STOP_REASONS;
	if (gogc->numbered)
		tracer_define(tracer, "STOP_REASONS", 1);
	if (prog->release >= RELEASE_STOPPED_WHEN)
		leave_out_returns(tracer);
	if (prog->release >= RELEASE_WORLD_STOP)
		tracer_define(tracer, "WORLD_STOP", prog->release >= RELEASE_STOPPED_WHEN ? 2 : 1);
	return 0;
}

static bool is_needed(uint32_t group)
{
	return group == GC_FUNC_STOP || group == GC_FUNC_START || group == GC_FUNC_ASSIST;
}

/* All must be probed, but for those that tell who stops last, and who sweeps. */
static int find_entries(struct gogc *gogc, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(gogc->tracer);

	for (size_t i = 0; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (item->skipped && is_needed(item->group))
			return errmsg_set(err, "%s cannot be probed: %s", sel->rows[item->row].name,
					  item->skipped);
		gogc->entries[item->group] = item->sites.entry.addr;
	}
	return 0;
}

/* Where the kernel side finds the runtime's own numbers */
static int tell_layout(const struct gogc *gogc, struct errmsg *err)
{
	struct gc_vars vars;
	uint32_t zero = 0;

	gc_vars_find(tracer_program(gogc->tracer, 0), &vars);
	struct gc_layout layout = {.start = gogc->entries[GC_FUNC_START],
				   .cycles = vars.cycles,
				   .times = vars.times,
				   .heap = vars.heap,
				   .goal = vars.goal,
				   .assist = vars.assist};

	if (bpfmap_update(tracer_map(gogc->tracer, "layout"), &zero, &layout) ||
	    bpfmap_set(gogc->active, 1))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

/* What the stack of who asks tells */
static void describe(const struct gogc *gogc, const struct gc_event *event, struct stop *stop)
{
	stop->bias = event->probe - gogc->entries[GC_FUNC_STOP];
	stop->reason = gogc->numbered ? stop_reason_number(event->told[0])
				      : stop_reason_asker(gogc->stacks, event->stack, stop->bias);
	if (stop->reason.gc == STOP_SWEEP_TERMINATION)
		stop->trigger = stop_reason_trigger(gogc->stacks, event->stack, stop->bias);
}

static bool is_other(const struct inlining_copy *copy, void *ctx)
{
	bool *inlined = ctx;

	*inlined = !strcmp(copy->name, SWEEP);
	return !*inlined;
}

/* Where not all sweeping could be seen, as in what -pgo has inlined */
static void say_unseen(const struct gogc *gogc)
{
	const struct selection *sel = tracer_selection(gogc->tracer);
	size_t probes = 0;
	bool inlined = false;

	for (size_t i = 0; i < sel->item_count; i++)
		probes += sel->items[i].group >= GC_FUNC_SWEEP && !sel->items[i].skipped;
	inlining_each(tracer_program(gogc->tracer, 0)->tab, is_other, &inlined);
	if (inlined || probes < 2)
		fprintf(stderr, "gogc: who sweeps is not%s seen: %s is %s\n",
			probes < 2 ? "" : " always", SWEEP,
			inlined ? "inlined" : "not found, or calls nothing that could be probed");
}

static bool take_event(const void *data, size_t len, void *ctx)
{
	struct gogc *gogc = ctx;
	struct stop stop = {0};
	struct gc_event event;

	if (len < sizeof(event))
		return true;
	memcpy(&event, data, sizeof(event));
	if (event.kind == GC_STOP)
		describe(gogc, &event, &stop);
	collections_event(gogc->collections, &event, &stop);
	return true;
}

static void show_collection(void *ctx, const struct collection *collection)
{
	const struct gogc *gogc = ctx;

	(gogc->opts->json ? collections_json : collections_print)(&gogc->view, collection);
}

static void show_stop(void *ctx, const struct stop *stop)
{
	const struct gogc *gogc = ctx;

	(gogc->opts->json ? collections_json_stop : collections_print_stop)(&gogc->view, stop);
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct gogc *gogc = ctx;
	const struct collections_report report = {show_collection, show_stop, gogc};

	gogc->tracer = tracer;
	if (find_entries(gogc, err))
		return -1;
	if (gogc->assists)
		say_unseen(gogc);
	gogc->active = tracer_map(tracer, "active");
	gogc->losses = tracer_map(tracer, "losses");
	gogc->stacks = stacks_new(tracer);
	gogc->view = (struct collections_view){
		.stacks = gogc->stacks,
		.timestamp = gogc->opts->timestamp,
		.time = gogc->opts->timestamp ? toolrun_json_time : NULL,
	};
	gogc->collections = collections_new(&report);
	gogc->events = events_new(tracer_map(tracer, "events"), take_event, gogc, err);
	return gogc->events ? tell_layout(gogc, err) : -1;
}

/* --- while it runs --- */

static void started(void *ctx)
{
	const struct gogc *gogc = ctx;
	FILE *out = gogc->opts->json ? stderr : stdout;

	fputs("Tracing garbage collections and stops of the world... Hit Ctrl-C to end.\n", out);
	if (!gogc->opts->json)
		collections_print_head(&gogc->view);
	fflush(out);
}

static int stop(void *ctx)
{
	const struct gogc *gogc = ctx;

	return bpfmap_set(gogc->active, 0);
}

/* At the end */
static int show(void *ctx, bool final, struct errmsg *err)
{
	const struct gogc *gogc = ctx;
	int map = tracer_map(gogc->tracer, "assists");

	if (!final || !gogc->assists)
		return 0;
	return (gogc->opts->json ? assists_json : assists_print)(&gogc->view, map, gogc->entries,
								 err);
}

static void say_lost(void *ctx)
{
	static const char *const said[GC_LOSSES] = {
		[GC_LOSS_EVENTS] = "events were lost: the ring buffer was full",
		[GC_LOSS_UNREADABLE] = "events were lost: the goroutine could not be read",
		[GC_LOSS_STACKS] =
			"stacks are not known: unreadable, or more than there is room for",
		[GC_LOSS_ASSISTS] = "assists were lost: more than there is room for",
	};
	const struct gogc *gogc = ctx;
	uint64_t lost[GC_LOSSES];

	losses_say(gogc->losses, "gogc", said, lost, GC_LOSSES);
}

/* --- the tool --- */

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gogc *gogc = ctx;

	(void)letter;
	(void)value;
	(void)err;
	gogc->assists = true;
	return 0;
}

static const struct options_def own_options[] = {
	{LETTER_ASSISTS, "assists", NULL, "at the end, show who had to mark or sweep, by stack"},
	{0},
};

static const char examples[] =
	"    gogc -p 181             # each collection, each stop of the world\n"
	"    gogc etcd               # of all processes of this program\n"
	"    gogc -T -d 10m -p 181   # for ten minutes, with the time of day\n"
	"    gogc --assists -p 181   # at the end, who had to mark or sweep\n"
	"    gogc -jp 181            # JSON\n"
	"    gogc -- ./app arg       # run a program from its start\n";

static const struct runtime_func funcs[GC_FUNCS] = {
	[GC_FUNC_STOP] = {.names = {"runtime.stopTheWorldWithSema"}, .returns = true},
	[GC_FUNC_START] = {.names = {"runtime.startTheWorldWithSema"}, .returns = true},
	[GC_FUNC_LAST] = {.names = {"runtime.gcstopm"},
			  .callee = "runtime.notewakeup",
			  .optional = true},
	[GC_FUNC_YIELD] = {.names = {"runtime.newstack"},
			   .callee = "runtime.goschedImpl",
			   .other_callee = "runtime.gopreempt_m",
			   .optional = true},
	[GC_FUNC_YIELD_ASYNC] = {.names = {"runtime.asyncPreempt2.func1", "runtime.gopreempt_m"},
				 .callee = "runtime.goschedImpl",
				 .inlined = true,
				 .optional = true},
	[GC_FUNC_ASSIST] = {.names = {"runtime.gcAssistAlloc1"}, .returns = true},
	/* called for each span that is allocated from, so only what it calls seldom is probed */
	[GC_FUNC_SWEEP] = {.names = {SWEEP},
			   .callee = "runtime.sweepone",
			   .inlined = true,
			   .optional = true},
	[GC_FUNC_SWEPT] = {.names = {SWEEP},
			   .callee = "runtime.sweepone",
			   .behind = true,
			   .inlined = true,
			   .optional = true},
};

static int run_gogc(struct gogc *gogc, const struct options_tool *options)
{
	struct bpfprog_define defs[] = {
		{"STACKS", bpfmap_room(STACKS_MAX)},
		{"RING_PAGES", bpfmap_room(RING_PAGES)},
		{"ASSISTS", bpfmap_room(ASSISTS)},
	};
	struct toolrun run = {
		.tool = options,
		.opts = gogc->opts,
		.config = {.cpu = -1,
			   .runtime_funcs = funcs,
			   .runtime_func_count = gogc->assists ? GC_FUNCS : GC_FUNC_ASSIST,
			   .bpf_file = "gogc.bpf.c",
			   .defs = defs,
			   .def_count = sizeof(defs) / sizeof(*defs),
			   .goroutines = true,
			   .sleepable = true,
			   .plan = plan,
			   .plan_ctx = gogc},
		.begin = begin,
		.started = started,
		.stop = stop,
		.show = show,
		.lost = say_lost,
		.events = &gogc->events,
		.ctx = gogc};
	int status = toolrun(&run);

	events_free(gogc->events);
	collections_free(gogc->collections);
	stacks_free(gogc->stacks);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct gogc gogc = {.opts = &opts};
	struct options_tool options = {
		.name = "gogc",
		.about = "Print each garbage collection and each stop of the world",
		.args = "[BINARY] [-- COMMAND [ARG...]]",
		.shared = "pdTvj",
		.running = true,
		.binaries = true,
		.force = true,
		.returns = true,
		.own = own_options,
		.take = take_option,
		.ctx = &gogc,
		.examples = examples};
	int status;

	if (!options_main(&options, argc, argv, &opts, &status))
		return status;
	return run_gogc(&gogc, &options);
}
