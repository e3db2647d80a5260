// SPDX-License-Identifier: Apache-2.0
/* gotrace: prints calls of Go functions, with arguments, results and stacks. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/progress.h"
#include "gotrace/traceplan.h"
#include "gotrace/traceprint.h"
#include "kernel/bpfmap.h"
#include "kernel/events.h"
#include "roots/roots.h"
#include "selection/selection.h"
#include "selection/selection_print.h"
#include "tracing/options.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"
#include "gotrace/tracelosses.h"
#include "tracing/tracer.h"

enum { STRING_DEFAULT = 80, STRING_LIMIT = 4096 };
enum {
	LETTER_HEADER = 0x2000,
	LETTER_UNDER,
	LETTER_BY_FUNC,
	LETTER_FULL_NAMES,
	LETTER_FOLD_NUMBERS,
	LETTER_ORIGINS,
	LETTER_TOP,
	LETTER_NO_RUNTIME,
	LETTER_FOLLOW,
	LETTER_FOLLOW_CHANNELS
}; /* options without a letter */

struct gotrace {
	const struct options *opts;
	const struct toolrun *run;
	struct traceplan_config plan_config;
	struct traceprint_config print_config;
	const char **not_under; /* --not-under; ends with NULL */
	size_t under_count, under_cap;
	const char *output; /* -o; NULL: stdout */
	struct traceplan *plan;
	struct tracer *tracer;
	struct traceprint *print;
	struct events *events;
	struct tracelosses *losses;
};

static int take_number(const char *value, uint64_t min, uint64_t max, uint64_t *out, char letter,
		       struct errmsg *err)
{
	bool good =
		letter == 'Z' ? number_parse_size(value, max, out) : number_parse(value, max, out);

	if (good && *out >= min)
		return 0;
	return errmsg_set(err, "-%c: \"%s\" is not a number from %" PRIu64 " to %" PRIu64, letter,
			  value, min, max);
}

static int take_filter(struct gotrace *trace, int letter, const char *value, struct errmsg *err)
{
	uint64_t n = 0;
	int ret = 0;

	switch (letter) {
	case LETTER_TOP:
		if (number_parse(value, INT32_MAX, &n) && n) {
			trace->print_config.top = n;
			return 0;
		}
		return errmsg_set(err, "--top: \"%s\" is not a number from 1 to %d", value,
				  INT32_MAX);
	case 'L':
		ret = take_number(value, 1, INT32_MAX, &n, 'L', err);
		trace->plan_config.only_tid = n;
		break;
	case 'G':
		ret = take_number(value, 1, INT64_MAX, &trace->plan_config.only_goid, 'G', err);
		break;
	case 'M':
		ret = take_number(value, 1, INT64_MAX, &trace->print_config.max, 'M', err);
		break;
	case 'n':
		trace->print_config.comm = value;
		break;
	case 'f':
		trace->print_config.message = value;
		break;
	default:
		ret = take_number(value, 1, STRING_LIMIT, &n, 'Z', err);
		trace->plan_config.string_max = n;
	}
	return ret;
}

static void take_under(struct gotrace *trace, const char *name)
{
	trace->not_under = mem_grow(trace->not_under, trace->under_count, &trace->under_cap,
				    sizeof(*trace->not_under));
	trace->not_under[trace->under_count++] = name;
	trace->not_under = mem_grow(trace->not_under, trace->under_count, &trace->under_cap,
				    sizeof(*trace->not_under));
	trace->not_under[trace->under_count] = NULL;
	trace->print_config.not_under = trace->not_under;
	trace->plan_config.callers = true;
}

/* NULL: --follow-channels */
static int take_root(struct gotrace *trace, const char *root, struct errmsg *err)
{
	trace->print_config.roots = true;
	if (root)
		return roots_take(&trace->plan_config.roots, root, err);
	roots_take_channels(&trace->plan_config.roots);
	return 0;
}

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gotrace *trace = ctx;
	struct traceprint_config *print = &trace->print_config;

	switch (letter) {
	case 't':
		print->timestamp = true;
		break;
	case 'u':
		print->timestamp = print->unix_time = true;
		break;
	case 'T':
		print->time = true;
		break;
	case 'C':
		print->cpu = true;
		break;
	case 'U':
		print->user_stack = trace->plan_config.user_stack = true;
		break;
	case 'K':
		print->kernel_stack = trace->plan_config.kernel_stack = true;
		break;
	case 'a':
		print->addresses = true;
		break;
	case 'A':
		print->aggregate = true;
		break;
	case 'o':
		trace->output = value;
		break;
	case LETTER_FULL_NAMES:
		print->full_names = true;
		break;
	case LETTER_FOLD_NUMBERS:
		print->fold_numbers = true;
		break;
	case LETTER_NO_RUNTIME:
		print->no_runtime = true;
		break;
	case LETTER_ORIGINS:
		print->origins = true;
		break;
	case LETTER_BY_FUNC:
		print->by_func = true;
		break;
	case LETTER_HEADER:
		print->header = value;
		break;
	case LETTER_FOLLOW:
	case LETTER_FOLLOW_CHANNELS:
		return take_root(trace, letter == LETTER_FOLLOW ? value : NULL, err);
	case LETTER_UNDER:
		take_under(trace, value);
		break;
	default:
		return take_filter(trace, letter, value, err);
	}
	return 0;
}

/* What is printed goes there from now on. Only now: nothing is left behind by what fails before,
 * and a COMMAND, which was started already, keeps the old stdout. No file or link of others is
 * touched, and only this user may read it, as it may hold secrets of the process. */
static int open_output(const char *path, struct errmsg *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (file) {
		stdout = file;
		return 0;
	}
	errmsg_set(err, "-o: cannot make \"%s\": %s", path, strerror(errno));
	if (errno == EEXIST)
		errmsg_hint(err, "name a file that is not there yet");
	if (fd >= 0)
		close(fd);
	return -1;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct gotrace *trace = ctx;

	if (traceplan_attached(trace->plan, tracer, err))
		return -1;
	if (trace->plan_config.roots && roots_begin(trace->plan_config.roots, tracer, err))
		return -1;
	trace->tracer = tracer;
	trace->print_config.profile = trace->run->profile;
	trace->print = traceprint_new(&trace->print_config, trace->plan, tracer);
	trace->events =
		events_new(tracer_map(tracer, "events"), traceprint_event, trace->print, err);
	if (!trace->events)
		return -1;
	if (trace->opts->verbose)
		traceplan_say_served(trace->plan);
	return trace->output ? open_output(trace->output, err) : 0;
}

/* Before tracing: why there will be no arguments. */
static void say_unknown(const struct gotrace *trace)
{
	const char *name, *copy = traceplan_unknown_copy(trace->plan);
	size_t unknown = traceplan_unknown(trace->plan, &name);

	if (copy) {
		fputs("gotrace: ", stderr);
		escape_print(stderr, copy);
		fputs(" is inlined: the arguments of its copies are not known\n", stderr);
	}
	if (!unknown)
		return;
	fputs("gotrace: nothing is known of the arguments of ", stderr);
	escape_print(stderr, name);
	if (unknown > 1)
		fprintf(stderr, " and %zu more", unknown - 1);
	fputs(": no debug information, or none that is certain\n"
	      "hint: give a SIGNATURE, as in 'main.add(x int, y string)'\n",
	      stderr);
}

/* Before tracing: why r: shows no results. */
static void say_no_results(const struct gotrace *trace)
{
	const char *name;
	size_t count = traceplan_no_results(trace->plan, &name);

	if (!count)
		return;
	fputs("gotrace: the results of ", stderr);
	escape_print(stderr, name);
	if (count > 1)
		fprintf(stderr, " and %zu more", count - 1);
	fputs(" are not known: the program has no debug information\n"
	      "hint: give a SIGNATURE, as in 'r:main.add(x int) (n int, err error)'\n",
	      stderr);
}

/* Before tracing: types that signatures name but programs lack, so that pointers to them cannot be
 * followed. */
static void say_missing(const struct gotrace *trace)
{
	const char *name;

	for (size_t i = 0; i < tracer_program_count(trace->tracer); i++) {
		const struct funcinfo *info = traceplan_funcinfo(trace->plan, i);

		for (size_t n = 0; (name = funcinfo_missing(info, n)); n++) {
			fputs("gotrace: type \"", stderr);
			escape_print(stderr, name);
			fputs("\" is not in the program: its pointers are shown as addresses\n",
			      stderr);
		}
	}
}

static void started(void *ctx)
{
	struct gotrace *trace = ctx;
	const struct tracer *tracer = trace->tracer;

	say_unknown(trace);
	say_no_results(trace);
	say_missing(trace);
	if (trace->print_config.json || trace->print_config.aggregate || trace->print_config.header)
		tracer_print_start(tracer, stderr);
	traceprint_header(trace->print);
}

/* Ends the kernel side's work before probes are detached: with returns detached before entries,
 * calls would seem to panic. */
static int stop(void *ctx)
{
	struct gotrace *trace = ctx;
	uint32_t key = 0, over = 1;
	int fd = tracer_map(trace->tracer, "ended");

	return bpfmap_update(fd, &key, &over);
}

static void sweep(void *ctx)
{
	struct gotrace *trace = ctx;

	tracelosses_sweep(trace->losses);
	traceplan_keep_time(trace->plan, trace->tracer);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct gotrace *trace = ctx;

	(void)err;
	fflush(stdout);
	if (final || trace->opts->interval_ns)
		traceprint_aggregated(trace->print);
	if (trace->opts->interval_ns)
		tracelosses_say(trace->losses);
	return 0;
}

static void say_lost(void *ctx)
{
	struct gotrace *trace = ctx;

	tracelosses_say_all(trace->losses, trace->opts->interval_ns ? "in total " : "");
	if (trace->plan_config.roots)
		roots_say_lost(trace->plan_config.roots, "gotrace");
	if (traceprint_lacks_kernel(trace->print))
		fputs("gotrace: no kernel stacks: at a uprobe this kernel has none to show\n",
		      stderr);
}

static const struct options_def own_options[] = {
	{'L', "tid", "TID", "trace this thread only"},
	{'G', "goid", "GOID", "trace this goroutine only"},
	{'Z', "string-size", "SIZE", "bytes to read of each string (default 80)"},
	{'z', "string_size", "SIZE", "the same, as bcc's trace calls it"},
	{'M', "max-events", "N", "end after N events"},
	{'t', "timestamp", NULL, "print a column with the seconds since the start"},
	{'u', "unix-timestamp", NULL, "seconds since 1970, with -t"},
	{'T', "time", NULL, "print a column with the time of day"},
	{'C', "print_cpu", NULL, "print the CPU"},
	{'n', "name", "NAME", "print only calls of commands whose name contains NAME"},
	{'f', "msg-filter", "TEXT", "print only calls whose message contains TEXT"},
	{'U', "user-stack", NULL, "print the user stack"},
	{'K', "kernel-stack", NULL, "print the kernel stack"},
	{'a', "address", NULL, "print addresses, files and lines in stacks"},
	{LETTER_NO_RUNTIME, "no-runtime", NULL, "leave frames of package runtime out of stacks"},
	{'A', "aggregate", NULL, "print each distinct line once, with its count, at the end"},
	{'o', "output", "FILE", "print to FILE, a new one that only this user can read"},
	{LETTER_BY_FUNC, "by-func", NULL, "group what -A prints by function, with sums"},
	{LETTER_FOLD_NUMBERS, "fold-numbers", NULL,
	 "with -A, count lines that differ by numbers together"},
	{LETTER_ORIGINS, "origins", NULL, "with -A, count an error once that callers pass on"},
	{LETTER_TOP, "top", "N", "with -A, print the N most frequent lines"},
	{LETTER_FULL_NAMES, "full-names", NULL, "print names with the path of their package"},
	{LETTER_UNDER, "not-under", "FUNCTION",
	 "leave out calls made by FUNCTION, directly or not"},
	{LETTER_FOLLOW, "follow", "ROOT",
	 "print only calls below calls of ROOT, also in goroutines that these start"},
	{LETTER_FOLLOW_CHANNELS, "follow-channels", NULL,
	 "with --follow, also in goroutines that receive what these send"},
	{LETTER_HEADER, "header", "TEXT",
	 "print only messages, with the header TEXT, without columns"},
	{0},
};

static const char examples[] =
	"    gotrace app:main.greet                 # every argument of every call\n"
	"    gotrace 'app:net/http.serverHandler.ServeHTTP \"%s\", req.URL.Path'\n"
	"                                           # chosen ones, along fields\n"
	"    gotrace 'r:app:main.(*Store).Get (err != nil) \"%s: %v\", key, err'\n"
	"                                           # results, and a predicate\n"
	"    gotrace -A -i 5 -p 181 'main.get \"%s\", key'\n"
	"                                           # every 5 seconds, how often each\n"
	"    gotrace main.main -- ./app arg         # run a program from its start\n"
	"    gotrace 'app:main.add \"%d %d\", goarg1, goarg2'\n"
	"                                           # by place, as printf does\n"
	"    gotrace 'r:app:main.get ($blocked > 10ms) \"%d ns\", $blocked'\n"
	"                                           # calls that waited, whatever for\n"
	"    gotrace 'app:main.add(x int, y int) (x > 10) \"%d\", y'\n"
	"                                           # a stripped program: give the signature\n"
	"    gotrace --follow main.handle 'app:main.*'  # below handle, in its goroutines too\n"
	"    gotrace 'app:@server.go:42 \"%d\", $goid'  # a line, each time that it is passed\n"
	"    gotrace -U -M 1 app:main.add           # one call, with its stack\n"
	"    gotrace -p 181 'r:main.*'              # results of all of package main\n";

static int load_plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	static const struct tracelosses_words words = {
		.tool = "gotrace",
		.done = "printed",
		.results = "the results that the predicate needs"};
	struct gotrace *trace = ctx;

	trace->losses = tracelosses_new(tracer_bpf(tracer), tracer_selection(tracer), &words);
	return traceplan_loaded(trace->plan, tracer, err);
}

static int make_plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	const struct gotrace *trace = ctx;

	return traceplan_make(trace->plan, tracer, err);
}

static int run_trace(struct gotrace *trace, const struct options_tool *tool,
		     const bool *pattern_returns)
{
	struct toolrun run = {.tool = tool,
			      .quiet_cost = trace->print_config.header, /* a recipe */
			      .opts = trace->opts,
			      .config = {.patterns = traceplan_patterns(trace->plan),
					 .pattern_count = trace->opts->pattern_count,
					 .pattern_returns = pattern_returns,
					 .cpu = -1,
					 .want = {.args = true, .places = true, .tails = true},
					 .bpf_file = "gotrace.bpf.c",
					 .plan = make_plan,
					 .loaded = load_plan,
					 .plan_ctx = trace,
					 .sleepable = true,
					 .goroutines = true},
			      .begin = begin,
			      .stop = stop,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .events = &trace->events,
			      .started = started,
			      .profile_spec = &traceprint_profile_spec,
			      .quiet_end = true,
			      .ctx = trace};

	trace->run = &run;
	/* what -n leaves of the output is what it looks for */
	run.config.named = trace->print_config.comm;
	run.config.named_by_command = true;
	return toolrun(&run);
}

static int plan_and_run(struct gotrace *trace, const struct options_tool *tool)
{
	struct errmsg err = {0};
	int status;

	trace->plan_config.probes = trace->opts->patterns;
	trace->plan_config.probe_count = trace->opts->pattern_count;
	trace->plan_config.regex = trace->opts->regexp;
	trace->print_config.json = trace->opts->json;
	trace->plan_config.typed = !trace->opts->json && !trace->print_config.aggregate;
	trace->plan_config.lists_alike = trace->print_config.header != NULL;
	trace->plan_config.user_stack |= trace->opts->pprof != NULL;
	if (trace->print_config.json && trace->print_config.aggregate) {
		errmsg_set(&err, "-A and -j exclude each other");
		return options_fail(tool, &err);
	}
	if (!trace->print_config.aggregate &&
	    (trace->print_config.top || trace->print_config.origins ||
	     trace->print_config.fold_numbers)) {
		errmsg_set(&err, "--top, --origins and --fold-numbers need -A, which counts");
		return options_fail(tool, &err);
	}
	if (roots_check(trace->plan_config.roots, &err))
		return options_answer(tool, OPTIONS_BAD, &err);
	trace->plan = traceplan_new(&trace->plan_config, &err);
	if (!trace->plan)
		return options_fail(tool, &err);
	status = run_trace(trace, tool, traceplan_returns(trace->plan));
	events_free(trace->events);
	tracelosses_free(trace->losses);
	traceprint_free(trace->print);
	traceplan_free(trace->plan);
	free(trace->not_under);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct gotrace trace = {.opts = &opts,
				.plan_config = {.tool = "gotrace", .string_max = STRING_DEFAULT}};
	struct options_tool tool = {.name = "gotrace",
				    .about = "Print calls of Go functions, with their arguments",
				    .args = "PROBE... [-- COMMAND [ARG...]]",
				    .shared = "pidrvj",
				    .running = true,
				    .inlined = true,
				    .force = true,
				    .cost = true,
				    .returns = true,
				    .pprof = true,
				    .own = own_options,
				    .take = take_option,
				    .ctx = &trace,
				    .examples = examples};
	int status;

	if (options_main(&tool, argc, argv, &opts, &status))
		status = plan_and_run(&trace, &tool);
	roots_free(trace.plan_config.roots);
	return status;
}
