// SPDX-License-Identifier: Apache-2.0
#include "blocked/stackcounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "blocked/losses.h"
#include "blocked/stacks_internal.h"
#include "bpf-src/shared/stackcount.h"
#include "bpf-src/shared/trace.h"
#include "files/process.h"
#include "kernel/bpfdelta.h"
#include "kernel/bpfmap.h"
#include "profile/profile.h"
#include "profile/profile_show.h"
#include "tracing/options.h"
#include "selection/selection_print.h"
#include "tracing/toolrun.h"

enum { COUNTS_MAX = 1 << 18 }; /* stacks of probed sites of processes; memory comes as they do */

struct stackcounts {
	const struct stackcounts_tool *tool;
	struct toolrun *run;
	const struct tracer *tracer;
	struct stacks *stacks;
	struct bpfdelta *map;
	struct profile *shown; /* what `show` reads */
	bool per_pid;
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct stackcounts *counts = ctx;

	(void)value;
	(void)err;
	*(letter == 'f' ? &counts->run->folded : &counts->per_pid) = true;
	return 0;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct stackcounts *counts = ctx;

	counts->tracer = tracer;
	counts->stacks = stacks_new(tracer);
	counts->map = bpfdelta_new(tracer_map(tracer, "counts"));
	/* where probes are attached one after another, the first ones already count */
	if (!tracer_begins_at_once(tracer) && bpfdelta_each(counts->map, NULL, NULL))
		return errmsg_set(err, "cannot read the counts: %s", strerror(errno));
	return 0;
}

/* `comm`: with -P the process's name; NULL: it has ended. */
static void add(const struct stackcounts *counts, const struct stackcount_key *key, uint64_t count,
		const char *comm, struct profile *profile)
{
	const struct selection *sel = tracer_selection(counts->tracer);
	const struct selection_item *item =
		&sel->items[tracer_place(counts->tracer, key->place)->item];

	stacks_profile_at(counts->stacks, key->stack, key->place, profile);
	char *binary = selection_row_binary(sel, item->row);

	profile_label(profile, "func", sel->rows[item->row].name);
	if (binary)
		profile_label(profile, "binary", binary);
	free(binary);
	if (counts->per_pid) {
		profile_number(profile, "pid", key->pid);
		profile_label(profile, "comm", comm);
	}
	profile_add(profile, &count);
}

static void add_count(void *ctx, const void *bytes, uint64_t more)
{
	const struct stackcounts *counts = ctx;
	struct stackcount_key key;

	memcpy(&key, bytes, sizeof(key));
	char *comm = counts->per_pid ? process_name_of((pid_t)key.pid) : NULL;

	add(counts, &key, more, comm, counts->shown);
	if (counts->run->profile)
		add(counts, &key, more, comm, counts->run->profile);
	free(comm);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct stackcounts *counts = ctx;
	const struct options *opts = counts->run->opts;
	const struct profile_style style = {.type = counts->tool->type,
					    .json = opts->json,
					    .folded = counts->run->folded,
					    .begin = opts->timestamp ? toolrun_json_time : NULL};

	(void) final;
	counts->shown = profile_new(counts->run->profile_spec);
	int ret = bpfdelta_each(counts->map, add_count, counts);

	if (ret)
		errmsg_set(err, "cannot read the counts: %s", strerror(errno));
	else if (!opts->json && !counts->run->folded)
		toolrun_print_time(opts);
	profile_show(stdout, counts->shown, &style);
	fflush(stdout);
	profile_free(counts->shown);
	return ret;
}

static void say_lost(void *ctx)
{
	static const char *const said[STACKCOUNT_LOSSES] = {
		[STACKCOUNT_LOSS_STACKS] =
			"calls have no stack: more of them than there is room for",
		[STACKCOUNT_LOSS_ROOM] =
			"calls were not counted: more stacks than there is room for",
	};
	const struct stackcounts *counts = ctx;
	uint64_t lost[STACKCOUNT_LOSSES];

	losses_say(tracer_map(counts->tracer, "losses"), counts->run->tool->name, said, lost,
		   STACKCOUNT_LOSSES);
}

static const struct options_def own_options[] = {
	{'P', "perpid", NULL, "stacks of each process by themselves"},
	{'f', "folded", NULL, "output folded format, for flame graphs"},
	{0},
};

int stackcounts_main(const struct stackcounts_tool *tool, int argc, char **argv)
{
	struct options opts;
	struct stackcounts counts = {.tool = tool};
	struct options_tool shown = {.name = tool->name,
				     .about = tool->about,
				     .args = "[BINARY:]PATTERN... [-- COMMAND [ARG...]]",
				     .shared = "pidTrDj",
				     .running = true,
				     .inlined = true,
				     .force = true,
				     .pprof = true,
				     .own = own_options,
				     .take = take_option,
				     .ctx = &counts,
				     .examples = tool->examples};
	const struct profile_spec spec = {
		.tool = tool->name, .types = &tool->value, .type_count = 1};
	const struct bpfprog_define defs[] = {{"STACKS", bpfmap_room(STACKS_MAX)},
					      {"COUNTS", bpfmap_room(COUNTS_MAX)}};
	struct toolrun run = {.tool = &shown,
			      .config = {.cpu = -1,
					 .want = {.places = true},
					 .bpf_file = tool->bpf_file,
					 .defs = defs,
					 .def_count = sizeof(defs) / sizeof(*defs),
					 .goroutines = true,
					 .sleepable = true,
					 .plan = stacks_check},
			      .profile_spec = &spec,
			      .begin = begin,
			      .show = show,
			      .lost = say_lost,
			      .ctx = &counts};

	counts.run = &run;
	int status = toolrun_main(&run, &opts, argc, argv);

	bpfdelta_free(counts.map);
	stacks_free(counts.stacks);
	return status;
}
