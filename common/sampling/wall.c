// SPDX-License-Identifier: Apache-2.0
/* goprofile --off-cpu: samples of what runs, and how long goroutines of the same process are
 * blocked or runnable meanwhile, as time, in one profile. */
#include "sampling/wall_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/progress.h"
#include "blocked/blocked.h"
#include "blocked/stacks.h"
#include "frames/frames.h"
#include "golang/funcname.h"
#include "kernel/events.h"
#include "profile/profile.h"
#include "profile/profile_show.h"
#include "sampling/labels_internal.h"
#include "sampling/samples_internal.h"
#include "tracing/options.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"

enum { TEXT_UNIT_NS = 1000 };

static const struct profile_type shown_types[] = {{"total_ns", "nanoseconds"}};
static const struct profile_type written_types[] = {{"time", "nanoseconds"}};
static const struct profile_spec shown_spec = {
	.tool = "goprofile", .types = shown_types, .type_count = 1};
static const struct profile_spec written_spec = {
	.tool = "goprofile", .types = written_types, .type_count = 1};

struct wall {
	const struct sampling *sampling;
	struct samples samples;
	int prog;
};

/* --- while it runs --- */

static int begin(void *ctx, struct profile *written, struct errmsg *err)
{
	struct wall *wall = ctx;

	wall->samples.written = written;
	return samples_begin(&wall->samples, wall->prog, err);
}

static void started(void *ctx)
{
	const struct wall *wall = ctx;
	const struct options *opts = wall->sampling->opts;
	FILE *out = opts->json || wall->sampling->folded ? stderr : stdout;

	fprintf(out, "Time (us) of the goroutines of process %d (", opts->pid);
	escape_print(out, sampled_first(wall->samples.sampled)->comm);
	fprintf(out, "), running (sampled at %u Hertz) and not", wall->sampling->hz);
	if (opts->duration_ns)
		fprintf(out, ", for %g s.\n", (double)opts->duration_ns / 1e9);
	else
		fputs("... Hit Ctrl-C to end.\n", out);
	fflush(out);
}

static void stop(void *ctx)
{
	struct wall *wall = ctx;

	samples_end(&wall->samples);
}

/* --- what is shown --- */

struct stack {
	struct profile_at at;
	const char *outermost;
};

static void note_outermost(void *ctx, const struct frame *frame)
{
	if (strcmp(frame->func, "runtime.goexit") != 0)
		((struct stack *)ctx)->outermost = frame->func;
}

static void add_frame(void *ctx, const struct frame *frame)
{
	if (strcmp(frame->func, "runtime.goexit") != 0)
		profile_frame(&((struct stack *)ctx)->at, frame);
}

/* With the runtime's frames, as samples have them: stacks then have the same outermost ones. */
static void add_row(const struct wall *wall, const struct blocked *blocked,
		    const struct wait_key *key, const char *state, uint64_t ns,
		    struct profile *profile)
{
	const struct sampled_process *process = sampled_first(wall->samples.sampled);
	const struct stacks *stacks = blocked_stacks(blocked);
	uint64_t bias = blocked_bias(blocked, key);
	struct frames frames = stacks_frames(stacks, bias);
	struct stack stack = {.at = {profile, &frames}};
	struct wait_labels labels;

	if (!stacks_each(stacks, key->stack, bias, true, add_frame, &stack))
		profile_word(profile, "[lost]");
	profile_number(profile, "pid", (uint64_t)process->pid);
	profile_label(profile, "comm", process->comm);
	profile_label(profile, "state", state);
	if (wall->sampling->labels && blocked_labels(blocked, key, &labels))
		labels_add(&labels.sample, (const uint64_t *)labels.words, wall->samples.label,
			   profile);
	profile_add(profile, &ns);
}

/* The runtime's own goroutines wait to be needed, nobody waits for them. */
static void row(void *ctx, const struct blocked *blocked, const struct wait_key *key,
		const char *state, uint64_t ns)
{
	const struct wall *wall = ctx;
	struct stack stack = {0};

	stacks_each(blocked_stacks(blocked), key->stack, blocked_bias(blocked, key), true,
		    note_outermost, &stack);
	if (stack.outermost && funcname_begins_system(stack.outermost))
		return;
	add_row(wall, blocked, key, state, ns, wall->samples.shown);
	if (wall->samples.written)
		add_row(wall, blocked, key, state, ns, wall->samples.written);
}

static void show(void *ctx)
{
	struct wall *wall = ctx;
	const struct options *opts = wall->sampling->opts;
	const struct profile_style style = {.type = "wall",
					    .json = opts->json,
					    .folded = wall->sampling->folded,
					    .labels = wall->sampling->labels,
					    .state = "state",
					    .unit = TEXT_UNIT_NS,
					    .begin = opts->timestamp ? toolrun_json_time : NULL};

	events_read(wall->samples.events, true);
	if (!opts->json && !wall->sampling->folded)
		toolrun_print_time(opts);
	profile_show(stdout, wall->samples.shown, &style);
	fflush(stdout);
	profile_free(wall->samples.shown);
	wall->samples.shown = profile_new(&shown_spec);
}

static void say_lost(void *ctx)
{
	const struct wall *wall = ctx;

	samples_say_lost(&wall->samples);
}

/* --- the run --- */

static int check(const struct sampling *sampling, struct errmsg *err)
{
	const struct options *opts = sampling->opts;

	if (!opts->pid || opts->pattern_count || opts->named || opts->all) {
		errmsg_set(err, "--off-cpu: of one process");
		errmsg_hint(err, "name it: -p PID");
		return -1;
	}
	if (sampling->cgroup)
		return errmsg_set(err, "--off-cpu: not with --cgroup: the process of -p is in one");
	return session_check_privileges(err);
}

static int open_samples(struct wall *wall, struct errmsg *err)
{
	wall->samples.wanted.pid = wall->sampling->opts->pid;
	if (check(wall->sampling, err) || samples_open(&wall->samples, NULL, err))
		return -1;
	return samples_load(&wall->samples, &wall->prog, err);
}

int wall_run(const struct sampling *sampling, const char *label)
{
	static const struct blocked_tool tool = {
		.name = "goprofile",
		.bpf_file = "gooffcputime.bpf.c",
		.open_rows = true,
		.profile_spec = &written_spec,
	};
	struct wall wall = {
		.sampling = sampling,
		.samples = {.sampling = sampling, .label = label, .cgroup = -1, .state = "running"},
	};
	const struct blocked_beside beside = {
		.begin = begin,
		.started = started,
		.stop = stop,
		.row = row,
		.show = show,
		.lost = say_lost,
		.events = &wall.samples.events,
		.labels = sampling->labels,
		.folded = sampling->folded,
		.ctx = &wall,
	};
	struct errmsg err = {0};

	progress_begin(sampling->tool->name);
	int ret = open_samples(&wall, &err), status;

	progress_end();
	if (ret) {
		status = options_fail(sampling->tool, &err);
	} else {
		wall.samples.shown = profile_new(&shown_spec);
		status = blocked_run_beside(&tool, &beside, sampling->tool, sampling->opts);
		profile_free(wall.samples.shown);
	}
	samples_close(&wall.samples);
	return status;
}
