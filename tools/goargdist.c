// SPDX-License-Identifier: Apache-2.0
/* goargdist: counts calls of Go functions by the values of their arguments and results. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/number.h"
#include "gotrace/argdist.h"
#include "gotrace/tracelosses.h"
#include "gotrace/traceplan.h"
#include "kernel/bpfmap.h"
#include "probespec/probespec.h"
#include "roots/roots.h"
#include "tracing/options.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"
#include "tracing/tracer.h"

enum { STRING_DEFAULT = 80, STRING_LIMIT = 4096, COUNT_MAX = 1000000 };

static const uint64_t NS_PER_S = 1000000000;

struct argdist_tool {
	struct options *opts;
	struct traceplan_config plan_config;
	struct argdist_config config;
	char **probes; /* of -C and -H, then those without a letter */
	bool *histograms;
	size_t probe_count, probe_cap, histogram_cap;
	uint64_t outputs; /* -n; 0: no limit */
	struct traceplan *plan;
	struct tracer *tracer;
	struct argdist *dist;
	struct tracelosses *losses;
};

static void add_probe(struct argdist_tool *tool, char *probe, bool histogram)
{
	tool->probes = mem_grow(tool->probes, tool->probe_count, &tool->probe_cap, sizeof(char *));
	tool->histograms =
		mem_grow(tool->histograms, tool->probe_count, &tool->histogram_cap, sizeof(bool));
	tool->probes[tool->probe_count] = probe;
	tool->histograms[tool->probe_count++] = histogram;
}

static int take_number(int letter, const char *value, uint64_t max, uint64_t *out,
		       struct errmsg *err)
{
	bool good =
		letter == 'Z' ? number_parse_size(value, max, out) : number_parse(value, max, out);

	if (good && *out)
		return 0;
	return errmsg_set(err, "-%c: \"%s\" is not a number from 1 to %" PRIu64, letter, value,
			  max);
}

enum { LETTER_FOLLOW = 256, LETTER_FOLLOW_CHANNELS };

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct argdist_tool *tool = ctx;
	uint64_t n = 0;
	int ret = 0;

	switch (letter) {
	case 'C':
	case 'H':
		/* no name begins so: it would be taken for one, and -d 5 do nothing */
		if (value[0] == '-')
			return errmsg_set(err,
					  "-%c: a PROBE stands after it, and \"%s\" is an option",
					  letter, value);
		add_probe(tool, (char *)value, letter == 'H');
		break;
	case 'c':
		tool->config.cumulative = true;
		break;
	case 'T':
		ret = take_number('T', value, INT32_MAX, &tool->config.top, err);
		break;
	case 'n':
		ret = take_number('n', value, COUNT_MAX, &tool->outputs, err);
		break;
	case 'L':
	case 't':
		ret = take_number(letter, value, INT32_MAX, &n, err);
		tool->plan_config.only_tid = n;
		break;
	case 'G':
		ret = take_number('G', value, INT64_MAX, &tool->plan_config.only_goid, err);
		break;
	case LETTER_FOLLOW:
		return roots_take(&tool->plan_config.roots, value, err);
	case LETTER_FOLLOW_CHANNELS:
		roots_take_channels(&tool->plan_config.roots);
		break;
	default:
		ret = take_number('Z', value, STRING_LIMIT, &n, err);
		tool->plan_config.string_max = n;
	}
	return ret;
}

static int load_plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	static const struct tracelosses_words words = {
		.tool = "goargdist", .done = "counted", .results = "results"};
	struct argdist_tool *tool = ctx;

	tool->losses = tracelosses_new(tracer_bpf(tracer), tracer_selection(tracer), &words);
	return traceplan_loaded(tool->plan, tracer, err);
}

static int make_plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	const struct argdist_tool *tool = ctx;

	return traceplan_make(tool->plan, tracer, err);
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct argdist_tool *tool = ctx;

	if (traceplan_attached(tool->plan, tracer, err))
		return -1;
	if (tool->plan_config.roots && roots_begin(tool->plan_config.roots, tracer, err))
		return -1;
	tool->tracer = tracer;
	tool->dist = argdist_new(&tool->config, tool->plan, tracer);
	return 0;
}

/* Ends the kernel side's work before probes are detached: with returns detached before entries,
 * calls would seem to panic. */
static int stop(void *ctx)
{
	struct argdist_tool *tool = ctx;
	uint32_t key = 0, over = 1;

	return bpfmap_update(tracer_map(tool->tracer, "ended"), &key, &over);
}

static void sweep(void *ctx)
{
	struct argdist_tool *tool = ctx;

	tracelosses_sweep(tool->losses);
	traceplan_keep_time(tool->plan, tool->tracer);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct argdist_tool *tool = ctx;
	char clock[CLOCK_TEXT];

	(void) final;
	if (!tool->config.json) {
		clock_text(clock);
		printf("\n[%s]\n", clock);
	}
	if (argdist_show(tool->dist, err))
		return -1;
	if (tool->opts->interval_ns)
		tracelosses_say(tool->losses);
	return 0;
}

static void say_lost(void *ctx)
{
	struct argdist_tool *tool = ctx;

	argdist_say_lost(tool->dist);
	if (tool->plan_config.roots)
		roots_say_lost(tool->plan_config.roots, "goargdist");
	tracelosses_say_all(tool->losses, tool->opts->interval_ns ? "in total " : "");
}

static const struct options_def own_options[] = {
	{'C', "count", "PROBE", "count calls by the values of PROBE's EXPRs"},
	{'H', "histogram", "PROBE", "print a histogram of PROBE's EXPR, a number"},
	{'T', "top", "N", "print the N values of a PROBE that were counted most"},
	{'c', "cumulative", NULL, "count from the start at each interval, not from zero"},
	{'n', "number", "COUNT", "end after COUNT times of printing, a second each without -i"},
	{'t', "tid", "TID", "trace this thread only"},
	{'L', "thread", "TID", "the same, as gotrace calls it"},
	{'G', "goid", "GOID", "trace this goroutine only"},
	{'Z', "string-size", "SIZE", "bytes to read of each string (default 80)"},
	{'z', "string_size", "SIZE", "the same, as bcc's argdist calls it"},
	{LETTER_FOLLOW, "follow", "ROOT",
	 "count only calls below calls of ROOT, also in goroutines that these start"},
	{LETTER_FOLLOW_CHANNELS, "follow-channels", NULL,
	 "with --follow, also in goroutines that receive what these send"},
	{0},
};

static const char examples[] =
	"    goargdist -C 'app:main.get key'        # which keys, how often?\n"
	"    goargdist -C 'r:app:main.(*Store).Get err != nil, $err'\n"
	"                                           # how many calls fail, and why?\n"
	"    goargdist -C 'r:app:main.Put (goret2 != nil) k.Name, len(s)'\n"
	"                                           # several values as one, of some\n"
	"    goargdist -H 'app:net.(*conn).Write len(b)'\n"
	"                                           # how large are writes?\n"
	"    goargdist -H 'r:app:main.get $latency' -i 5\n"
	"                                           # how long calls take, every 5 s\n"
	"    goargdist -T 10 -p 181 -C 'main.get key'\n"
	"                                           # the ten most frequent keys\n"
	"    goargdist -C 'app:main.get key' --follow main.handle # below handle alone\n"
	"    goargdist -C 'main.* $func' -- ./app arg\n"
	"                                           # run a program\n";

static int run_tool(struct argdist_tool *tool, const struct options_tool *options)
{
	struct toolrun run = {.tool = options,
			      .opts = tool->opts,
			      .config = {.patterns = traceplan_patterns(tool->plan),
					 .pattern_count = tool->probe_count,
					 .pattern_returns = traceplan_returns(tool->plan),
					 .cpu = -1,
					 .want = {.args = true, .places = true, .tails = true},
					 .bpf_file = "gotrace.bpf.c",
					 .plan = make_plan,
					 .loaded = load_plan,
					 .plan_ctx = tool,
					 .sleepable = true,
					 .goroutines = true},
			      .begin = begin,
			      .stop = stop,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .ctx = tool};

	return toolrun(&run);
}

/* PROBEs without a letter are of the kind that the others are. */
static int take_probes(struct argdist_tool *tool, struct errmsg *err)
{
	struct options *opts = tool->opts;
	size_t lettered = tool->probe_count, histograms = 0;

	for (size_t i = 0; i < lettered; i++)
		histograms += tool->histograms[i];
	if (!lettered) {
		errmsg_set(err, "no -C PROBE or -H PROBE given");
		return -1;
	}
	if (opts->pattern_count && histograms && histograms < lettered) {
		errmsg_set(err, "\"%s\" has neither -C nor -H before it", opts->patterns[0]);
		return -1;
	}
	for (size_t i = 0; i < opts->pattern_count; i++)
		add_probe(tool, opts->patterns[i], histograms > 0);
	opts->patterns = tool->probes;
	opts->pattern_count = tool->probe_count;
	return 0;
}

/* -n: so many outputs take so long. */
static int take_outputs(const struct argdist_tool *tool, struct errmsg *err)
{
	struct options *opts = tool->opts;

	if (!tool->outputs)
		return 0;
	if (!opts->interval_ns)
		opts->interval_ns = NS_PER_S;
	if (opts->interval_ns > INT64_MAX / tool->outputs)
		return errmsg_set(err, "-n: \"%" PRIu64 "\" intervals are too long", tool->outputs);
	uint64_t whole = opts->interval_ns * tool->outputs;

	if (!opts->duration_ns || whole < opts->duration_ns)
		opts->duration_ns = whole;
	return 0;
}

static int check_histograms(const struct argdist_tool *tool, struct errmsg *err)
{
	for (size_t i = 0; i < tool->probe_count; i++) {
		size_t count = traceplan_spec(tool->plan, i)->arg_count;

		if (!tool->histograms[i] || count == 1)
			continue;
		errmsg_set(err, "-H \"%s\": a histogram is of one EXPR, there are %zu",
			   tool->probes[i], count);
		errmsg_hint(err, count ? "give each a PROBE of its own"
				       : "name one: 'main.f x', or 'r:main.f $latency'");
		return -1;
	}
	return 0;
}

static int plan_and_run(struct argdist_tool *tool, const struct options_tool *options)
{
	struct errmsg err = {0};
	int status;

	tool->plan_config.probes = tool->probes;
	tool->plan_config.probe_count = tool->probe_count;
	tool->plan_config.histograms = tool->histograms;
	tool->plan_config.regex = tool->opts->regexp;
	tool->config.probes = tool->probes;
	tool->config.histograms = tool->histograms;
	tool->config.probe_count = tool->probe_count;
	tool->config.string_max = tool->plan_config.string_max;
	tool->config.json = tool->opts->json;
	tool->plan = traceplan_new(&tool->plan_config, &err);
	if (!tool->plan)
		return options_fail(options, &err);
	status = check_histograms(tool, &err) ? options_fail(options, &err)
					      : run_tool(tool, options);
	tracelosses_free(tool->losses);
	argdist_free(tool->dist);
	traceplan_free(tool->plan);
	return status;
}

static int check_and_run(struct argdist_tool *tool, const struct options_tool *options)
{
	struct errmsg err = {0};

	if (take_probes(tool, &err) || take_outputs(tool, &err) ||
	    roots_check(tool->plan_config.roots, &err))
		return options_answer(options, OPTIONS_BAD, &err);
	return plan_and_run(tool, options);
}

int main(int argc, char **argv)
{
	struct options opts;
	struct argdist_tool tool = {
		.opts = &opts, .plan_config = {.tool = "goargdist", .string_max = STRING_DEFAULT}};
	struct options_tool options = {.name = "goargdist",
				       .about = "Count calls of Go functions by values of their "
						"arguments and results",
				       .args = "[PROBE...] [-- COMMAND [ARG...]]",
				       .shared = "pidrvj",
				       .process = true,
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
		status = check_and_run(&tool, &options);
	roots_free(tool.plan_config.roots);
	free(tool.probes);
	free(tool.histograms);
	return status;
}
