// SPDX-License-Identifier: Apache-2.0
#include "sampling/sampling.h"

#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/progress.h"
#include "bpf-src/shared/profile.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "kernel/events.h"
#include "profile/pprof.h"
#include "profile/profile.h"
#include "profile/profile_show.h"
#include "sampling/samples_internal.h"
#include "sampling/wall_internal.h"
#include "selection/target.h"
#include "tracing/options.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"

enum { STREAM_NS = 100 * 1000 * 1000 };
#define NS_PER_S UINT64_C(1000000000)

static const struct profile_type shown_types[] = {{"samples", "count"}};
/* as Go's own CPU profiles have them */
static const struct profile_type written_types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};

struct run {
	const struct sampling *sampling;
	struct samples samples;
	struct profile_spec shown_spec, written_spec;
	struct pprof written;
	struct errmsg err; /* of a callback of the session */
	bool failed;
};

/* --- what is shown --- */

static void show(struct run *run)
{
	const struct options *opts = run->sampling->opts;
	const struct profile_style style = {.type = "profile",
					    .json = opts->json,
					    .folded = run->sampling->folded,
					    .labels = run->sampling->labels,
					    .begin = opts->timestamp ? toolrun_json_time : NULL};

	if (!opts->json && !run->sampling->folded)
		toolrun_print_time(opts);
	profile_show(stdout, run->samples.shown, &style);
	profile_free(run->samples.shown);
	run->samples.shown = profile_new(&run->shown_spec);
	if (!run->failed && session_flush(&run->err))
		run->failed = true;
}

static void tick(void *ctx)
{
	struct run *run = ctx;

	events_read(run->samples.events, true);
	show(run);
}

static bool stream(void *ctx)
{
	struct run *run = ctx;

	events_read(run->samples.events, false);
	return !run->failed;
}

static void say_started(const struct run *run)
{
	const struct sampling *sampling = run->sampling;
	const struct options *opts = sampling->opts;
	FILE *out = opts->json || sampling->folded ? stderr : stdout;

	fprintf(out, "Sampling at %u Hertz ", sampling->hz);
	if (run->samples.wanted.pid) {
		fprintf(out, "process %d (", run->samples.wanted.pid);
		escape_print(out, sampled_first(run->samples.sampled)->comm);
		fputc(')', out);
	} else if (run->samples.file) {
		fputs("what runs \"", out);
		escape_print(out, heldfile_path(run->samples.file));
		fputc('"', out);
	} else if (opts->named) {
		fputs("Go programs named \"", out);
		escape_print(out, opts->named);
		fputc('"', out);
	} else {
		fputs("all Go programs", out);
	}
	if (sampling->cgroup) {
		fputs(" in cgroup \"", out);
		escape_print(out, sampling->cgroup);
		fputc('"', out);
	}
	if (opts->duration_ns)
		fprintf(out, " for %g s.\n", (double)opts->duration_ns / 1e9);
	else
		fputs("... Hit Ctrl-C to end.\n", out);
	fflush(out);
}

/* --- the run --- */

static int finish(struct run *run, struct errmsg *err)
{
	samples_end(&run->samples);
	if (run->written.profile)
		profile_end(run->written.profile);
	events_read(run->samples.events, true);
	show(run);
	samples_say_lost(&run->samples);
	if (run->failed) {
		*err = run->err;
		return -1;
	}
	return pprof_write(&run->written, err);
}

static int sample(struct run *run, struct errmsg *err)
{
	const struct options *opts = run->sampling->opts;
	struct session *ses = session_new(err);
	enum session_end end;
	int prog;

	if (!ses || samples_load(&run->samples, &prog, err) ||
	    samples_begin(&run->samples, prog, err)) {
		session_free(ses);
		return -1;
	}
	run->samples.shown = profile_new(&run->shown_spec);
	run->samples.written = run->written.profile;
	struct session_spec spec = {.interval_ns = opts->interval_ns,
				    .duration_ns = opts->duration_ns,
				    .process_fd = -1,
				    .event_fd = -1,
				    .tick = tick,
				    .stream_ns = STREAM_NS,
				    .stream_fd = events_fd(run->samples.events),
				    .stream = stream,
				    .ctx = run};

	if (run->samples.wanted.pid)
		spec.process_fd = process_fd(sampled_first(run->samples.sampled)->proc);
	progress_end();
	say_started(run);
	if (run->samples.wanted.pid)
		session_say_stopped(run->sampling->tool->name,
				    sampled_first(run->samples.sampled)->proc);
	if (run->written.profile) {
		profile_begin(run->written.profile);
		profile_period(run->written.profile, NS_PER_S / run->sampling->hz);
	}
	int ret = session_run(ses, &spec, &end, err);

	if (!ret)
		ret = finish(run, err);
	if (!ret && end == SESSION_PROCESS)
		session_say_ended(run->sampling->tool->name, run->samples.wanted.pid);
	session_free(ses);
	return ret;
}

/* [DURATION] by itself, as bcc's profile takes it, looks like a BINARY. */
static void take_duration(struct options *opts)
{
	if (opts->pattern_count != 1 || opts->duration_ns || !target_is_number(opts->patterns[0]) ||
	    !number_parse_duration(opts->patterns[0], &opts->duration_ns))
		return;
	opts->pattern_count = 0;
}

/* "--labels KEY" beside -p, where there can be no BINARY. */
static void take_key(struct run *run)
{
	struct options *opts = run->sampling->opts;

	run->samples.label = run->sampling->label;
	if (!run->sampling->labels || run->samples.label || !opts->pid || opts->pattern_count != 1)
		return;
	run->samples.label = opts->patterns[0];
	opts->pattern_count = 0;
}

static int check_key(const struct run *run, struct errmsg *err)
{
	if (!run->samples.label || strlen(run->samples.label) <= PROFILE_LABEL_TEXT)
		return 0;
	return errmsg_set(err, "--labels: of a key, %d bytes are read at most", PROFILE_LABEL_TEXT);
}

static int check(struct run *run, struct errmsg *err)
{
	struct options *opts = run->sampling->opts;

	take_duration(opts);
	take_key(run);
	if (opts->command)
		return errmsg_set(err, "%s starts no COMMAND", run->sampling->tool->name);
	if (opts->pattern_count > 1 || (opts->pid && opts->pattern_count))
		return errmsg_set(err, "one BINARY, or -p PID, or neither");
	if (check_key(run, err))
		return -1;
	if (opts->pattern_count && (opts->named || opts->all))
		return errmsg_set(err, "BINARY and %s exclude each other",
				  opts->all ? "--all" : "--name");
	run->samples.wanted.pid = opts->pid;
	run->samples.wanted.named = opts->named;
	if (session_check_privileges(err))
		return -1;
	return samples_open(&run->samples, opts->pattern_count ? opts->patterns[0] : NULL, err);
}

static int run_wall(struct run *run)
{
	const struct sampling *sampling = run->sampling;
	struct errmsg err = {0};

	take_duration(sampling->opts);
	take_key(run);
	if (check_key(run, &err))
		return options_fail(sampling->tool, &err);
	return wall_run(sampling, run->samples.label);
}

int sampling_run(const struct sampling *sampling)
{
	const char *name = sampling->tool->name;
	struct run run = {.sampling = sampling,
			  .samples = {.sampling = sampling, .cgroup = -1},
			  .shown_spec = {.tool = name, .types = shown_types, .type_count = 1},
			  .written_spec = {.tool = name,
					   .types = written_types,
					   .type_count = 2,
					   .shown = 1,
					   .sampled = written_types[1]}};
	struct errmsg err = {0};

	if (sampling->off_cpu)
		return run_wall(&run);
	progress_begin(name);
	int ret = check(&run, &err);

	if (!ret)
		ret = pprof_open(&run.written, sampling->opts->pprof, &run.written_spec, &err);
	if (!ret)
		ret = sample(&run, &err);
	progress_end();
	profile_free(run.samples.shown);
	pprof_close(&run.written);
	samples_close(&run.samples);
	return ret ? options_fail(sampling->tool, &err) : 0;
}
