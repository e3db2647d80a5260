// SPDX-License-Identifier: Apache-2.0
/* gotree: what a slow call of a Go function has called, as a tree. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/number.h"
#include "blocked/losses.h"
#include "bpf-src/shared/tree.h"
#include "gotree/calltree.h"
#include "gotree/calltree_print.h"
#include "gotree/follow.h"
#include "gotree/hotcalls.h"
#include "gotree/tracefile.h"
#include "gotree/treescope.h"
#include "kernel/bpfmap.h"
#include "kernel/events.h"
#include "kernel/hitcost.h"
#include "kernel/processes.h"
#include "selection/selection.h"
#include "selection/selection_print.h"
#include "selection/target.h"
#include "sites/goruntime.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"
#include "tracing/trial.h"

enum { LETTER_SLOWER = 256, LETTER_PERFETTO, LETTER_FOLLOW, LETTER_CHANNELS };
/* Trees at a time; with --follow each goroutine has one. */
enum { TREES_MAX = 256, FOLLOWED_MAX = 1024, RING_PAGES = 2048 };
#define SECOND_NS UINT64_C(1000000000)
/* Of functions that nobody has named, probes may take a tenth of a processor. A call costs its two
 * hits, and what the kernel side does at them. */
#define UNASKED_NS (SECOND_NS / 10)
#define HANDLING_NS 1500

struct gotree {
	const struct options *opts;
	const char *slower; /* as typed; NULL: not given */
	uint64_t slower_ns;
	uint64_t trees_left;  /* to be shown, with -M; else UINT64_MAX */
	const char *perfetto; /* the file; NULL: none */
	struct tracefile *file;
	struct follow *follow; /* NULL: goroutines are not followed */
	char *binary;          /* of ROOT; NULL: the process's */
	char *scope; /* what is traced of its own accord, "module app"; NULL: PATTERNs say it */
	const struct selection *sel;
	size_t root_rows;     /* the selection's first rows are ROOT's */
	struct hotcalls *hot; /* left out of `scope`; NULL: nobody has looked */
	struct events *events;
	struct processes *procs;
	struct calltree_pieces *pieces;
	int active, trees, losses; /* maps */
	uint64_t stopped_ns;       /* 0: tracing goes on */
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gotree *tool = ctx;

	if (letter == LETTER_FOLLOW || letter == LETTER_CHANNELS) {
		tool->follow = tool->follow ? tool->follow : follow_new();
		if (letter == LETTER_CHANNELS)
			follow_channels(tool->follow);
		return 0;
	}
	if (letter == LETTER_PERFETTO) {
		tool->perfetto = value;
		return 0;
	}
	if (letter == 'M') {
		if (number_parse(value, UINT32_MAX, &tool->trees_left) && tool->trees_left)
			return 0;
		return errmsg_set(err, "-M: \"%s\" is not a number of trees", value);
	}
	tool->slower = value;
	if (!number_parse_duration(value, &tool->slower_ns) || !tool->slower_ns)
		return errmsg_set(err, "--slower: \"%s\" is not a time, such as 10ms", value);
	return 0;
}

/* --- what is traced --- */

/* Adds the other functions to ROOT's. */
static int add_functions(struct gotree *tool, struct selection *sel, struct errmsg *err)
{
	const struct options *opts = tool->opts;

	tool->root_rows = sel->row_count;
	if (opts->pattern_count > 1)
		return treescope_add_patterns(sel, tool->root_rows, opts->patterns + 1,
					      opts->pattern_count - 1, tool->binary, err);
	free(tool->scope);
	tool->scope = NULL;
	return treescope_add_module(sel, tool->root_rows, &tool->scope, err);
}

static bool has_many_programs(const struct gotree *tool, const struct selection *sel)
{
	for (size_t i = 1; i < tool->root_rows; i++)
		if (treescope_is_first(sel, i))
			return true;
	return false;
}

static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct selection *sel = tracer_selection(tracer);
	struct gotree *tool = ctx;

	if (tracer_runtime(tracer, 0)->split_stack) {
		errmsg_set(err, "programs of gccgo have their stacks in pieces: no tree of calls "
				"is made of these");
		errmsg_hint(err, "gofunclatency --summary times the same functions");
		return -1;
	}
	if (add_functions(tool, sel, err))
		return -1;
	if (tool->hot)
		hotcalls_skip(tool->hot, sel, tool->root_rows);
	tracer_define(tracer, "ROOT_ROWS", tool->root_rows);
	if (tool->follow && has_many_programs(tool, sel)) {
		errmsg_set(err, "--follow: in one program only");
		errmsg_hint(err, "name it: -p PID");
		return -1;
	}
	return tool->follow ? follow_plan(tool->follow, tracer, err) : 0;
}

/* --- before that: which of the functions of its module are called too often? --- */

static int plan_trial(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	return add_functions(ctx, tracer_selection(tracer), err);
}

static void take_counts(void *ctx, const struct selection *sel, const uint64_t *counts,
			uint64_t took_ns)
{
	struct gotree *tool = ctx;
	struct hitcost cost = hitcost_end(hitcost_start());
	uint64_t price_ns = cost.emulated + cost.stepped + HANDLING_NS;

	tool->hot = hotcalls_new(sel, tool->root_rows, counts, took_ns, UNASKED_NS / price_ns);
	hotcalls_say(stderr, tool->hot, "gotree");
}

/* A program that starts with the tool has called nothing yet. What goes wrong here goes wrong again
 * when ROOT is traced, and is told then. */
static void try_functions(struct gotree *tool)
{
	const struct options *opts = tool->opts;
	struct errmsg err = {0};

	if (opts->pattern_count > 1 || opts->command)
		return;
	const struct tracer_config config = {.patterns = opts->patterns,
					     .pattern_count = 1,
					     .pid = opts->pid,
					     .named = opts->named,
					     .all = opts->all,
					     .cpu = -1,
					     .force = opts->force,
					     .want.regex = opts->regexp,
					     .want.inlined = opts->inlined,
					     .want.fips = opts->fips,
					     .bpf_file = "gofunccount.bpf.c",
					     .plan = plan_trial,
					     .plan_ctx = tool};

	trial_run(&config, SECOND_NS, take_counts, tool, &err);
}

/* A tree needs its root; that others are not traced is told at the end. */
static int check_root(const struct gotree *tool, struct errmsg *err)
{
	const struct selection_item *skipped = NULL;

	for (size_t i = 0; i < tool->sel->item_count; i++) {
		const struct selection_item *item = &tool->sel->items[i];

		if (item->row >= tool->root_rows)
			continue;
		if (!item->skipped)
			return 0;
		skipped = item;
	}
	return errmsg_set(err, "%s cannot be traced: %s",
			  skipped ? tool->sel->rows[skipped->row].name : tool->opts->patterns[0],
			  skipped ? skipped->skipped : "it has no code");
}

/* --- trees --- */

/* False: enough have been shown. */
static bool show_tree(struct gotree *tool, const struct calltree *of_root)
{
	struct calltree whole = *of_root, *tree = &whole;
	struct json json;

	if (!tool->trees_left)
		return false;
	if (tool->follow)
		follow_gather(tool->follow, tree);
	if (tool->file)
		tracefile_add(tool->file, tree);
	if (tool->opts->json) {
		json_init(&json, stdout);
		json_object(&json);
		json_member_string(&json, "type", "call_tree");
		if (tool->opts->timestamp)
			toolrun_json_time(&json);
		calltree_json(&json, tree);
		json_object_end(&json);
	} else {
		toolrun_print_time(tool->opts);
		calltree_print(stdout, tree);
	}
	return tool->trees_left == UINT64_MAX || --tool->trees_left;
}

static bool take_event(const void *data, size_t len, void *ctx)
{
	struct gotree *tool = ctx;
	const struct tree_event *event = data;
	const struct calltree *tree;

	if (len < sizeof(*event))
		return true;
	if (tool->follow && !event->head.count)
		follow_forget(tool->follow, &event->head);
	tree = calltree_pieces_add(tool->pieces, event);
	return !tree || show_tree(tool, tree);
}

/* A call of ROOT that has not ended: it goes on, or has gone on until its process ended. */
static int show_running(const void *key, const void *value, void *arg)
{
	const struct goroutine_key *who = key;
	struct gotree *tool = arg;
	struct tree *tree = (struct tree *)value; /* a copy of ours */
	uint64_t ended_ns = processes_ended(tool->procs, &who->process);

	/* shown with ROOT's, and needed until then */
	if (who->id & (GOROUTINE_STARTED | GOROUTINE_GIVEN))
		return 1;
	const struct calltree *whole = calltree_pieces_whole(tool->pieces, tree);

	if (!ended_ns)
		ended_ns = tool->stopped_ns ? tool->stopped_ns : clock_ns();
	calltree_running(tree, ended_ns);
	if (whole && tree->calls[0].latency_ns >= tool->slower_ns)
		show_tree(tool, whole);
	return 0;
}

static int show_left(const void *key, const void *value, void *arg)
{
	show_running(key, value, arg);
	return 0;
}

static void sweep(void *ctx)
{
	struct gotree *tool = ctx;
	bool gone = processes_due(tool->procs) && processes_look(tool->procs);

	if (tool->follow)
		follow_sweep(tool->follow);
	if (!gone)
		return;
	/* trees that have come need what their goroutines have */
	if (tool->follow)
		events_read(tool->events, true);
	processes_sweep(tool->procs, tool->trees, show_running, tool);
	if (tool->follow)
		follow_sweep_gone(tool->follow, tool->procs);
	processes_forget(tool->procs);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct gotree *tool = ctx;

	(void) final; /* there are no intervals */
	processes_look(tool->procs);
	if (bpfmap_each(tool->trees, sizeof(struct goroutine_key), sizeof(struct tree), show_left,
			tool))
		return errmsg_set(err, "cannot read the trees: %s", strerror(errno));
	fflush(stdout);
	return tool->file ? tracefile_write(tool->file, err) : 0;
}

/* --- the run --- */

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct gotree *tool = ctx;

	tool->sel = tracer_selection(tracer);
	if (check_root(tool, err))
		return -1;
	tool->active = tracer_map(tracer, "active");
	tool->trees = tracer_map(tracer, "trees");
	tool->losses = tracer_map(tracer, "losses");
	tool->procs = processes_new(tracer_bpf(tracer));
	tool->pieces = calltree_pieces_new(tool->sel);
	tool->events = events_new(tracer_map(tracer, "events"), take_event, tool, err);
	if (!tool->events)
		return -1;
	if (tool->follow && follow_begin(tool->follow, tracer, err))
		return -1;
	if (bpfmap_set(tool->active, 1))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

/* A number alone is of seconds, where gofuncslower's is of ms: to be read off of what is said. */
static const char *unit_of(const char *duration)
{
	return duration[strspn(duration, "0123456789.")] ? "" : "s";
}

static void started(void *ctx)
{
	const struct gotree *tool = ctx;
	FILE *out = tool->opts->json ? stderr : stdout;

	fputs("Tracing calls of ", out);
	escape_print(out, tool->opts->patterns[0]);
	if (tool->slower)
		fprintf(out, " slower than %s%s", tool->slower, unit_of(tool->slower));
	if (tool->follow)
		fputs(" and its goroutines", out);
	if (tool->follow && follow_has_channels(tool->follow))
		fputs(", through channels", out);
	fprintf(out, ", with %zu functions", selection_traced(tool->sel));
	if (tool->scope) {
		fputs(" of ", out);
		escape_print(out, tool->scope);
	}
	fputs("... Hit Ctrl-C to end.\n", out);
	fflush(out);
}

static int stop(void *ctx)
{
	struct gotree *tool = ctx;

	tool->stopped_ns = clock_ns();
	return bpfmap_set(tool->active, 0);
}

static void say_lost(void *ctx)
{
	static const char *const said[TREE_COUNTERS] = {
		[TREE_FASTER] = "calls took less than --slower: not shown",
		[TREE_ROOM] = "calls have no tree: more at a time than there is room for",
		[TREE_MEMORY] = "calls have no tree: the kernel had no memory",
		[TREE_SYSTEM] = "calls have no tree: they were on a system stack",
		[TREE_UNREADABLE] = "calls are missing: the goroutine could not be read",
		[TREE_EVENTS] = "trees lost: the ring buffer was full",
		[TREE_FOLLOWED] = "goroutines were not followed: more than there is room for",
		[TREE_NEWBORN] = "goroutines were not followed: they could not be read",
		[TREE_VALUES] = "values in channels were not followed: more than there is room for",
		[TREE_CHANNELS] = "values in channels were not followed: they could not be read",
	};
	const struct gotree *tool = ctx;
	uint64_t lost[TREE_COUNTERS];

	losses_say(tool->losses, "gotree", said, lost, TREE_COUNTERS);
	if (tool->file)
		tracefile_say_left_out(tool->file, "gotree");
}

static const struct options_def own_options[] = {
	{LETTER_SLOWER, "slower", "DURATION", "show only calls of ROOT that take longer"},
	{'M', "max-trees", "N", "end after N trees"},
	{LETTER_FOLLOW, "follow", NULL, "show goroutines that are started below ROOT, too"},
	{LETTER_CHANNELS, "follow-channels", NULL,
	 "and those that receive values which these send: --follow, with channels"},
	{LETTER_PERFETTO, "perfetto", "FILE",
	 "write the trees to FILE, too, as Chrome's trace events, for ui.perfetto.dev"},
	{0},
};

static const char examples[] =
	"    gotree app:main.handle                # each call, and what it called\n"
	"    gotree --slower 100ms -p 181 main.handle\n"
	"                                          # calls that took longer\n"
	"    gotree app:main.handle 'main.*' 'database/sql.(*DB).*'\n"
	"                                          # these functions below it\n"
	"    gotree --follow app:main.handle       # and the goroutines that it starts\n"
	"    gotree -M 1 --perfetto one.json app:main.handle\n"
	"                                          # one call, for ui.perfetto.dev\n"
	"    gotree -j -d 10 app:main.handle       # JSON, for 10 seconds\n"
	"    gotree main.main -- ./app arg         # run a program, from its first instruction\n";

static int run_tree(struct gotree *tool, const struct options_tool *options)
{
	struct bpfprog_define defs[] = {
		{"TREES", bpfmap_room(tool->follow ? FOLLOWED_MAX : TREES_MAX)},
		{"SLOWER_NS", tool->slower_ns},
		{"RING_PAGES", RING_PAGES},
	};
	struct toolrun run = {.tool = options,
			      .opts = tool->opts,
			      .config = {.patterns = tool->opts->patterns,
					 .pattern_count = 1, /* plan() adds the others */
					 .cpu = -1,
					 .want.returns = true,
					 .want.tails = true,
					 .want.endless = true,
					 .bpf_file = "gotree.bpf.c",
					 .defs = defs,
					 .def_count = sizeof(defs) / sizeof(*defs),
					 .goroutines = true,
					 .sleepable = true,
					 .plan = plan,
					 .plan_ctx = tool},
			      .begin = begin,
			      .started = started,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .stop = stop,
			      .events = &tool->events,
			      .ctx = tool};
	int status = toolrun(&run);

	events_free(tool->events);
	calltree_pieces_free(tool->pieces);
	processes_free(tool->procs);
	return status;
}

static int open_and_run(struct gotree *tool, const struct options_tool *options)
{
	const struct options *opts = tool->opts;
	struct target_spec root;
	struct errmsg err = {0};

	bool bare = opts->pid || opts->command || opts->named || opts->all;

	if (target_spec_parse(opts->patterns[0], bare, &root, &err))
		return options_fail(options, &err);
	tool->binary = root.binary;
	if (tool->perfetto)
		tool->file = tracefile_open(tool->perfetto, &err);
	if (tool->perfetto && !tool->file) {
		target_spec_free(&root);
		return options_fail(options, &err);
	}
	try_functions(tool);
	int status = run_tree(tool, options);

	hotcalls_free(tool->hot);
	tracefile_close(tool->file);
	free(tool->scope);
	target_spec_free(&root);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct gotree tool = {.opts = &opts, .trees_left = UINT64_MAX};
	struct options_tool options = {
		.name = "gotree",
		.about = "Print what slow calls of a Go function have called, as trees",
		.args = "[BINARY:]ROOT [PATTERN...] [-- COMMAND [ARG...]]",
		.shared = "pdTrvj",
		.running = true,
		.inlined = true,
		.force = true,
		.returns = true,
		.own = own_options,
		.take = take_option,
		.ctx = &tool,
		.examples = examples};
	int status;

	if (options_main(&options, argc, argv, &opts, &status))
		status = open_and_run(&tool, &options);
	follow_free(tool.follow);
	return status;
}
