// SPDX-License-Identifier: Apache-2.0
/* goallocs: counts allocations of Go programs by type and stack, as they happen. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/number.h"
#include "blocked/alloc_types.h"
#include "blocked/losses.h"
#include "blocked/stacks.h"
#include "bpf-src/shared/allocs.h"
#include "bpf-src/shared/trace.h"
#include "golang/release.h"
#include "kernel/bpfdelta.h"
#include "kernel/bpfmap.h"
#include "profile/profile.h"
#include "profile/profile_show.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

enum {
	COUNTS_MAX = 1 << 18, /* stacks and types of processes; memory comes as they do */
	MAX_COST = 20,        /* percent of a processor, if no limit is given */
	EVERY_MAX = 1 << 24,
	OPTION_EVERY = 256,
};

/* All of them that a program has: since Go 1.27 one for each small size */
#define ALLOCATORS                                                                                 \
	"runtime\\.(mallocgc|mallocgcTinySC[0-9]+|mallocgcSmall(ScanNoHeader|NoScan)SC[0-9]+)$"

enum { OBJECTS, BYTES, VALUES };

static const struct profile_type values[VALUES] = {{"objects", "count"}, {"bytes", "bytes"}};

struct allocs {
	struct toolrun *run;
	const struct tracer *tracer;
	struct stacks *stacks;
	struct alloc_types *types;
	struct bpfdelta *maps[VALUES];
	struct tracer_plan *plans;
	struct profile *shown; /* what `show` reads */
	int reading;           /* which of the values */
	uint64_t every;        /* 0: all */
	bool by_type;
};

/* --- before anything is attached --- */

static int check_program(const struct program *prog, bool *hands_on, struct errmsg *err)
{
	struct functab_func fn;

	*hands_on = functab_named(prog->tab, "runtime.mallocgcTinySC2", &fn);
	if (prog->toolchain->libgo)
		return errmsg_set(err,
				  "\"%s\" is built by gccgo: allocations are known of Go's gc "
				  "compiler only",
				  prog->path);
	if (*hands_on && prog->release != RELEASE_MALLOC_BY_SIZE)
		return errmsg_set(err,
				  "\"%s\": how its runtime allocates small objects is not known: "
				  "it is not that of Go 1.27",
				  prog->path);
	return 0;
}

static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct allocs *allocs = ctx;
	const struct selection *sel = tracer_selection(tracer);
	bool hands_on;

	if (stacks_define(tracer, "goallocs", err) ||
	    check_program(tracer_program(tracer, 0), &hands_on, err))
		return -1;
	allocs->plans = mem_zalloc(sel->item_count + 1, sizeof(*allocs->plans));
	for (size_t i = 0; i < sel->item_count; i++) {
		bool general = !strcmp(sel->rows[sel->items[i].row].name, "runtime.mallocgc");

		allocs->plans[i].number = general && hands_on ? ALLOC_HANDS_ON : 0;
	}
	tracer_set_plans(tracer, allocs->plans);
	return 0;
}

/* --- the run --- */

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	static const char *const maps[VALUES] = {"objects", "bytes"};
	struct allocs *allocs = ctx;

	allocs->tracer = tracer;
	allocs->stacks = stacks_new(tracer);
	allocs->types = alloc_types_new(tracer_program(tracer, 0));
	for (int i = 0; i < VALUES; i++) {
		allocs->maps[i] = bpfdelta_new(tracer_map(tracer, maps[i]));
		/* where probes are attached one after another, the first ones already count */
		if (!tracer_begins_at_once(tracer) && bpfdelta_each(allocs->maps[i], NULL, NULL))
			return errmsg_set(err, "cannot read the counts: %s", strerror(errno));
	}
	return 0;
}

static void started(void *ctx)
{
	const struct allocs *allocs = ctx;
	FILE *out = allocs->run->opts->json || allocs->run->folded ? stderr : stdout;

	if (allocs->every)
		fprintf(out,
			"Tracing allocations, a sample every %" PRIu64
			" bytes... Hit Ctrl-C to end.\n",
			allocs->every);
	else
		fputs("Tracing allocations... Hit Ctrl-C to end.\n", out);
	fflush(out);
}

static void add(struct allocs *allocs, const struct alloc_key *key, uint64_t more, bool by_pid,
		struct profile *profile)
{
	const char *type = alloc_types_name(allocs->types, key->type, key->many);
	uint64_t row[VALUES] = {0}, first;

	if (!allocs->by_type) {
		uint64_t at = tracer_place(allocs->tracer, key->place)->addr, bias = 0;

		/* the first address is the place's, and one byte more */
		if (stacks_addresses(allocs->stacks, key->stack, &first, 1))
			bias = first - 1 - at;
		stacks_profile(allocs->stacks, key->stack, bias, profile);
	}
	if (by_pid)
		profile_number(profile, "pid", key->pid);
	profile_label(profile, "go_type", type);
	row[allocs->reading] = (more + (1 << ALLOC_PARTS_SHIFT) / 2) >> ALLOC_PARTS_SHIFT;
	profile_add(profile, row);
}

static void add_count(void *ctx, const void *bytes, uint64_t more)
{
	struct allocs *allocs = ctx;
	struct alloc_key key;

	memcpy(&key, bytes, sizeof(key));
	add(allocs, &key, more, allocs->run->opts->json, allocs->shown);
	if (allocs->run->profile)
		add(allocs, &key, more, true, allocs->run->profile);
}

static void print_head(const struct allocs *allocs)
{
	toolrun_print_time(allocs->run->opts);
	if (allocs->by_type)
		printf("%12s %12s TYPE\n", "OBJECTS", "BYTES");
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct allocs *allocs = ctx;
	const struct options *opts = allocs->run->opts;
	const struct profile_style style = {.type = "alloc",
					    .json = opts->json,
					    .folded = allocs->run->folded,
					    .leaf = "go_type",
					    .lines = allocs->by_type,
					    .begin = opts->timestamp ? toolrun_json_time : NULL};
	int ret = 0;

	(void) final;
	allocs->shown = profile_new(allocs->run->profile_spec);
	for (int i = 0; i < VALUES && !ret; i++) {
		allocs->reading = i;
		ret = bpfdelta_each(allocs->maps[i], add_count, allocs);
	}
	if (ret)
		errmsg_set(err, "cannot read the counts: %s", strerror(errno));
	else if (!opts->json && !allocs->run->folded)
		print_head(allocs);
	profile_show(stdout, allocs->shown, &style);
	fflush(stdout);
	profile_free(allocs->shown);
	return ret;
}

#define UNREADABLE "allocations were not counted: their arguments could not be read"

static void say_lost(void *ctx)
{
	static const char *const all[ALLOC_LOSSES] = {
		[ALLOC_LOSS_STACKS] =
			"allocations have no stack: more of them than there is room for",
		[ALLOC_LOSS_ROOM] = ("allocations were not counted: more stacks and types than "
				     "there is room for"),
		[ALLOC_LOSS_UNREADABLE] = UNREADABLE,
	};
	static const char *const samples[ALLOC_LOSSES] = {
		[ALLOC_LOSS_STACKS] = "samples have no stack: more of them than there is room for",
		[ALLOC_LOSS_ROOM] =
			"samples were not counted: more stacks and types than there is room for",
		[ALLOC_LOSS_UNREADABLE] = UNREADABLE,
	};
	const struct allocs *allocs = ctx;
	uint64_t lost[ALLOC_LOSSES];

	losses_say(tracer_map(allocs->tracer, "losses"), "goallocs", allocs->every ? samples : all,
		   lost, ALLOC_LOSSES);
}

/* --- options --- */

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct allocs *allocs = ctx;

	if (letter == 'C')
		allocs->by_type = true;
	else if (letter == 'f')
		allocs->run->folded = true;
	else if (!number_parse(value, EVERY_MAX, &allocs->every) || !allocs->every)
		return errmsg_set(err, "--every of \"%s\": not a number of bytes from 1 to %d",
				  value, EVERY_MAX);
	return 0;
}

static const struct options_def own_options[] = {
	{'C', "count", NULL, "count by type only, without stacks"},
	{'f', "folded", NULL, "output folded format, for flame graphs, by bytes"},
	{OPTION_EVERY, "every", "N",
	 "count a sample every N bytes on average, and estimate the rest"},
	{0},
};

static const char examples[] =
	"    goallocs -d 1 -p 181           # what does process 181 allocate, and where?\n"
	"    goallocs -C -d 1 -p 181        # by type alone\n"
	"    goallocs --every 524288 etcd   # samples, of all processes of this program\n"
	"    goallocs -f -d 5 -p 181 > out.stacks\n"
	"                                   # for flamegraph.pl, by bytes\n"
	"    goallocs --pprof out.pb.gz -d 5 -p 181\n"
	"                                   # for go tool pprof\n"
	"    goallocs -C -- ./app arg       # run a program from its start\n";

/* A pattern for each BINARY, or one for the process; the caller frees. */
static char **patterns_of(const struct options *opts, size_t *count)
{
	*count = opts->pattern_count ? opts->pattern_count : 1;
	char **patterns = mem_zalloc(*count, sizeof(*patterns));

	for (size_t i = 0; i < *count; i++)
		patterns[i] =
			mem_printf("%s:" ALLOCATORS, opts->pattern_count ? opts->patterns[i] : "");
	return patterns;
}

static int run_allocs(struct allocs *allocs, struct options *opts)
{
	const struct bpfprog_define defs[] = {{"STACKS", bpfmap_room(STACKS_MAX)},
					      {"COUNTS", bpfmap_room(COUNTS_MAX)},
					      {"EVERY", allocs->every},
					      {"HANDED_ON", RELEASE_MALLOC_HANDS_ON},
					      {"BY_STACK", 1}};
	struct toolrun *run = allocs->run;
	char **patterns = patterns_of(opts, &run->config.pattern_count);

	run->config.patterns = patterns;
	run->config.defs = defs;
	run->config.def_count = sizeof(defs) / sizeof(*defs) - allocs->by_type;
	opts->regexp = true;
	run->quiet_cost = !opts->max_cost;
	if (!opts->max_cost)
		opts->max_cost = MAX_COST;
	int status = toolrun(run);

	for (size_t i = 0; i < run->config.pattern_count; i++)
		free(patterns[i]);
	free(patterns);
	for (int i = 0; i < VALUES; i++)
		bpfdelta_free(allocs->maps[i]);
	alloc_types_free(allocs->types);
	stacks_free(allocs->stacks);
	free(allocs->plans);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct allocs allocs = {0};
	const struct options_tool tool = {
		.name = "goallocs",
		.about = "Count allocations of Go programs by type and stack",
		.args = "[BINARY...] [-- COMMAND [ARG...]]",
		.shared = "pidTvj",
		.running = true,
		.binaries = true,
		.force = true,
		.pprof = true,
		.own = own_options,
		.take = take_option,
		.ctx = &allocs,
		.examples = examples};
	const struct profile_spec spec = {
		.tool = "goallocs", .types = values, .type_count = VALUES, .shown = BYTES};
	struct toolrun run = {.tool = &tool,
			      .opts = &opts,
			      .config = {.cpu = -1,
					 .want = {.places = true, .args = true},
					 .bpf_file = "goallocs.bpf.c",
					 .goroutines = true,
					 .sleepable = true,
					 .plan = plan,
					 .plan_ctx = &allocs},
			      .profile_spec = &spec,
			      .begin = begin,
			      .started = started,
			      .show = show,
			      .lost = say_lost,
			      .ctx = &allocs};
	int status;

	allocs.run = &run;
	if (!options_main(&tool, argc, argv, &opts, &status))
		return status;
	return run_allocs(&allocs, &opts);
}
