// SPDX-License-Identifier: Apache-2.0
/* gocancels: contexts that are cancelled while somebody waits for them, and by whom. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/tally.h"
#include "blocked/alloc_types.h"
#include "blocked/losses.h"
#include "blocked/stacks.h"
#include "bpf-src/shared/cancels.h"
#include "cancels/cancellation.h"
#include "cancels/cancels_print.h"
#include "elf/image.h"
#include "golang/release.h"
#include "goroutines/wait.h"
#include "kernel/bpfmap.h"
#include "kernel/events.h"
#include "kernel/processes.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "sites/goruntime.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

/* CONTEXTS takes its memory at once, some 8 MiB; CALLS as it fills */
enum { RING_PAGES = 1024, CONTEXTS = 1 << 16, CALLS = 1 << 14 };

/* Byte offsets in Go's src/context/context.go, struct cancelCtx: Context, mu, done, children, err,
 * cause; done is a channel, then a sync/atomic.Value with one */
enum {
	CONTEXT_DONE = 24,
	CONTEXT_ERR = 40,
	CONTEXT_DONE_IN_VALUE = 32,
	CONTEXT_ERR_AFTER_VALUE = 48,
	CONTEXT_CAUSE = 64,
};

struct gocancels {
	const struct options *opts;
	bool all, counts;
	const struct tracer *tracer;
	struct events *events;
	struct processes *procs;
	struct stacks *stacks;
	struct alloc_types *types;
	struct tally *tally;
	struct cancels_view view;
	int active, losses; /* maps */
	uint64_t cancel;    /* address of the probe of cancel() */
};

/* --- before the first event --- */

static void define_layout(struct tracer *tracer, const struct program *prog)
{
	const struct goruntime *rt = tracer_runtime(tracer, 0);
	bool value = prog->release >= RELEASE_CONTEXT_DONE_VALUE;
	struct wait_layout layout = wait_layout(image_arch(prog->img), rt, prog->release, true);

	tracer_define(tracer, "CONTEXT_DONE", value ? CONTEXT_DONE_IN_VALUE : CONTEXT_DONE);
	tracer_define(tracer, "CONTEXT_ERR", value ? CONTEXT_ERR_AFTER_VALUE : CONTEXT_ERR);
	if (prog->release >= RELEASE_CONTEXT_ERR_VALUE)
		tracer_define(tracer, "ERR_IS_VALUE", 1);
	if (prog->release >= RELEASE_CONTEXT_CAUSE)
		tracer_define(tracer, "CONTEXT_CAUSE", CONTEXT_CAUSE);
	if (prog->release >= RELEASE_CONTEXT_JOINS)
		tracer_define(tracer, "JOIN_METHOD", 1);
	/* src/runtime/runtime2.go: param comes before atomicstatus */
	tracer_define(tracer, "G_PARAM", rt->g_status - 8);
	tracer_define(tracer, "SUDOG_CHANNEL", layout.sudog_channel);
	if (!layout.semaphores)
		tracer_define(tracer, "G_WAITING", layout.g_waiting);
}

static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);
	const struct program *prog = tracer_program(tracer, 0);
	bool seen[CANCEL_FUNCS] = {0};

	(void)ctx;
	if (stacks_define(tracer, "gocancels", err))
		return -1;
	for (size_t i = 0; i < sel->item_count; i++)
		seen[sel->items[i].group] = true;
	if (!seen[CANCEL_FUNC_JOIN] || !seen[CANCEL_FUNC_CALL])
		return errmsg_set(
			err,
			"\"%s\" has no contexts that can be cancelled: it has no function "
			"context.(*cancelCtx).cancel",
			prog->path);
	if (!prog->release_told || !tracer_runtime(tracer, 0)->g_status)
		return errmsg_set(err, "\"%s\": which release of Go has built it is not told",
				  prog->path);
	define_layout(tracer, prog);
	return 0;
}

/* Without one of them nothing could be said: all must be probed. */
static int find_entries(struct gocancels *tool, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tool->tracer);

	for (size_t i = 0; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (item->skipped)
			return errmsg_set(err, "%s cannot be probed: %s", sel->rows[item->row].name,
					  item->skipped);
		if (item->group == CANCEL_FUNC_CALL)
			tool->cancel = item->sites.entry.addr;
	}
	return 0;
}

static bool take_event(const void *data, size_t len, void *ctx)
{
	struct gocancels *tool = ctx;
	struct cancel_event event;
	struct cancellation of;

	if (len < sizeof(event))
		return true;
	memcpy(&event, data, sizeof(event));
	cancellation_read(&event, tool->cancel, tool->stacks, tool->types, &of);
	if (of.how == CANCELLATION_STOP || (!of.waited && !tool->all))
		return true;
	if (tool->opts->json)
		cancels_json(&tool->view, &of);
	else if (tool->counts)
		cancels_count(&of, tool->tally);
	else
		cancels_print(&tool->view, &of);
	return true;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct gocancels *tool = ctx;

	tool->tracer = tracer;
	if (find_entries(tool, err))
		return -1;
	tool->active = tracer_map(tracer, "active");
	tool->losses = tracer_map(tracer, "losses");
	tool->procs = processes_new(tracer_bpf(tracer));
	tool->stacks = stacks_new(tracer);
	tool->types = alloc_types_new(tracer_program(tracer, 0));
	tool->tally = tally_new();
	tool->view = (struct cancels_view){
		.stacks = tool->stacks,
		.types = tool->types,
		.timestamp = tool->opts->timestamp,
		.time = tool->opts->timestamp ? toolrun_json_time : NULL,
	};
	tool->events = events_new(tracer_map(tracer, "events"), take_event, tool, err);
	if (!tool->events)
		return -1;
	if (bpfmap_set(tool->active, 1))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

/* --- while it runs --- */

static void started(void *ctx)
{
	const struct gocancels *tool = ctx;
	FILE *out = tool->opts->json ? stderr : stdout;

	fprintf(out, "Tracing cancelled contexts%s... Hit Ctrl-C to end.\n",
		tool->all ? "" : " that somebody waits for");
	if (!tool->opts->json && !tool->counts)
		cancels_print_head(&tool->view);
	fflush(out);
}

static int stop(void *ctx)
{
	const struct gocancels *tool = ctx;

	return bpfmap_set(tool->active, 0);
}

/* Calls that were going on when their process ended */
static void sweep(void *ctx)
{
	static const char *const maps[] = {"contexts", "frames", "calls"};
	struct gocancels *tool = ctx;

	if (!processes_due(tool->procs) || !processes_look(tool->procs))
		return;
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		processes_sweep(tool->procs, tracer_map(tool->tracer, maps[i]), NULL, NULL);
	processes_forget(tool->procs);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct gocancels *tool = ctx;

	(void) final;
	(void)err;
	if (!tool->counts || tool->opts->json)
		return 0;
	toolrun_print_time(tool->opts);
	cancels_print_counts(tool->tally);
	tally_free(tool->tally);
	tool->tally = tally_new();
	fflush(stdout);
	return 0;
}

static void say_lost(void *ctx)
{
	static const char *const said[CANCEL_LOSSES] = {
		[CANCEL_LOSS_EVENTS] = "cancellations were lost: the ring buffer was full",
		[CANCEL_LOSS_ROOM] = ("cancellations were lost: more at a time than there is room "
				      "for"),
		[CANCEL_LOSS_UNREADABLE] =
			"calls were lost: the goroutine or its arguments could not be read",
		[CANCEL_LOSS_ENDS] = "cancellations were lost: a panic has ended the call",
		[CANCEL_LOSS_STACKS] =
			"stacks are not known: unreadable, or more than there is room for",
	};
	const struct gocancels *tool = ctx;
	uint64_t lost[CANCEL_LOSSES];

	losses_say(tool->losses, "gocancels", said, lost, CANCEL_LOSSES);
}

/* --- the tool --- */

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gocancels *tool = ctx;

	(void)value;
	(void)err;
	if (letter == 'a')
		tool->all = true;
	else
		tool->counts = true;
	return 0;
}

static const struct options_def own_options[] = {
	{'a', "all", NULL, "those that nobody waits for, too"},
	{'A', "aggregate", NULL,
	 "count them by who cancels and who creates the context, not with -j"},
	{0},
};

static const char examples[] =
	"    gocancels -p 181           # who cancels what somebody waits for?\n"
	"    gocancels etcd             # in all processes of this program\n"
	"    gocancels -a -T -p 181     # all contexts, with the time of day\n"
	"    gocancels -A -i 10 -p 181  # counts by place, every 10 seconds\n"
	"    gocancels -jp 181          # JSON, with whole stacks\n"
	"    gocancels -- ./app arg     # run a program from its start\n";

static const struct runtime_func funcs[CANCEL_FUNCS] = {
	[CANCEL_FUNC_JOIN] = {.names = {"context.(*cancelCtx).propagateCancel",
					"context.propagateCancel"},
			      .optional = true},
	[CANCEL_FUNC_CALL] = {.names = {"context.(*cancelCtx).cancel"},
			      .optional = true,
			      .returns = true},
	[CANCEL_FUNC_READY] = {.names = {"runtime.ready"}},
};

static int run_cancels(struct gocancels *tool, const struct options_tool *options)
{
	struct bpfprog_define defs[] = {
		{"CONTEXTS", bpfmap_room(CONTEXTS)},
		{"CALLS", bpfmap_room(CALLS)},
		{"STACKS", bpfmap_room(STACKS_MAX)},
		{"RING_PAGES", bpfmap_room(RING_PAGES)},
		{"ALL", 1},
	};
	struct toolrun run = {.tool = options,
			      .opts = tool->opts,
			      .config = {.cpu = -1,
					 .runtime_funcs = funcs,
					 .runtime_func_count = CANCEL_FUNCS,
					 .bpf_file = "gocancels.bpf.c",
					 .defs = defs,
					 .def_count = sizeof(defs) / sizeof(*defs) - !tool->all,
					 .goroutines = true,
					 .sleepable = true,
					 .plan = plan,
					 .plan_ctx = tool},
			      .begin = begin,
			      .started = started,
			      .stop = stop,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .events = &tool->events,
			      .ctx = tool};
	int status = toolrun(&run);

	events_free(tool->events);
	tally_free(tool->tally);
	alloc_types_free(tool->types);
	stacks_free(tool->stacks);
	processes_free(tool->procs);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct gocancels tool = {.opts = &opts};
	struct options_tool options = {
		.name = "gocancels",
		.about = "Print contexts that are cancelled while somebody waits, and by whom",
		.args = "[BINARY] [-- COMMAND [ARG...]]",
		.shared = "pidTvj",
		.binaries = true,
		.force = true,
		.returns = true,
		.own = own_options,
		.take = take_option,
		.ctx = &tool,
		.examples = examples};
	int status;

	if (!options_main(&options, argc, argv, &opts, &status))
		return status;
	return run_cancels(&tool, &options);
}
