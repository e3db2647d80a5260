// SPDX-License-Identifier: Apache-2.0
#include "selection/selection_print.h"
#include "tracing/toolrun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/signals.h"
#include "files/process.h"
#include "kernel/attach.h"
#include "kernel/events.h"
#include "metrics/publisher.h"
#include "profile/pprof.h"
#include "profile/profile.h"
#include "program/program.h"
#include "tracing/command_internal.h"
#include "tracing/descendants_internal.h"
#include "tracing/filewatch_internal.h"
#include "tracing/firstthread_internal.h"
#include "tracing/heat_internal.h"
#include "tracing/idlefiles_internal.h"
#include "tracing/options.h"
#include "tracing/spending_internal.h"
#include "tracing/textcost_internal.h"
#include "tracing/toolrun_metrics_internal.h"
#include "tracing/toolrun_words_internal.h"
#include "tracing/session_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

enum { STREAM_NS = 100 * 1000 * 1000, SWEEP_NS = 250 * 1000 * 1000, STREAM_BUFFER = 1 << 16 };
enum { SPENDING_NS = 50 * 1000 * 1000 };
enum { MANY_FUNCTIONS = 10000 };

void toolrun_print_time(const struct options *opts)
{
	char clock[CLOCK_TEXT];

	putchar('\n');
	if (!opts->timestamp)
		return;
	clock_text(clock);
	puts(clock);
}

void toolrun_json_time(struct json *json)
{
	char text[64], date[32];
	struct timespec now;
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, sizeof(text), "%s.%06ldZ", date, now.tv_nsec / 1000);
	json_member_string(json, "time", text);
}

struct progress { /* of one run */
	struct toolrun *run;
	struct tracer *tracer;
	struct toolrun_metrics metrics;
	struct pprof pprof;
	struct heat heat;
	struct errmsg err; /* of a callback of the session */
	bool failed;
	bool process_ended;   /* that of -p or the command: tracing ended with it */
	int status;           /* of the tool, if nothing has failed */
	size_t left_running;  /* processes started by the command that outlived it */
	uint64_t first_ended; /* see firstthread_check() */
	bool lasted;          /* as long as -d says */
};

static void print_program(FILE *out, const struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->def_count; i++)
		fprintf(out, "#define %s %lld\n", tracer->defs[i].name,
			(long long)tracer->defs[i].value);
	char *text = bpfprog_text(tracer->config->bpf_file, tracer->inserts, tracer->insert_count);

	fputs(text, out);
	free(text);
	textcost_print(tracer->cost, out);
	if (tracer->emulation)
		fprintf(out, "Returns are %s.\n",
			tracer->emulator >= 0 ? "emulated by the BPF program"
					      : "single-stepped by the kernel");
	fputs(bpfprog_chatter(tracer->bpf), stderr);
}

static void fail(struct progress *progress, const struct errmsg *err)
{
	if (!progress->failed)
		progress->err = *err;
	progress->failed = true;
}

/* Flushes stdout now: the cause of a failure is known only right after it. 0, or -1: stdout has
 * failed. */
static int check_output(struct progress *progress)
{
	struct errmsg err;

	if (!session_flush(&err))
		return 0;
	fail(progress, &err);
	return -1;
}

static void tick(void *ctx)
{
	struct progress *progress = ctx;

	if (!progress->run->show)
		return;
	if (!progress->failed && progress->run->show(progress->run->ctx, false, &progress->err))
		progress->failed = true;
	if (progress->metrics.pub)
		publisher_tick(progress->metrics.pub);
	check_output(progress);
}

/* What was seen until then is shown; the status tells scripts that it was not all. */
static bool costs_too_much(struct progress *progress)
{
	struct spending *spending = progress->tracer->spending;
	struct errmsg err;

	if (!spending || !spending_passed(spending, &err))
		return false;
	fail(progress, &err);
	return true;
}

static bool sees_no_more(struct progress *progress)
{
	struct errmsg err;

	if (!firstthread_check(progress->tracer, &progress->first_ended, &err))
		return false;
	fail(progress, &err);
	return true;
}

static bool on_stream(void *ctx)
{
	struct progress *progress = ctx;
	const struct toolrun *run = progress->run;
	bool more = true;

	heat_look(&progress->heat, progress->tracer, run->tool->name);
	if (run->sweep)
		run->sweep(run->ctx);
	if (run->events)
		more = events_read(*run->events, false);
	if (progress->metrics.pub)
		publisher_run(progress->metrics.pub);
	return !check_output(progress) && more && !costs_too_much(progress) &&
	       !sees_no_more(progress);
}

/* The file was written to: breakpoints at offsets of its old text would break the new program, so
 * nothing may be attached any more. */
static bool on_file_event(void *ctx)
{
	struct progress *progress = ctx;
	const char *written = filewatch_written(progress->tracer->watch);

	if (!written || progress->failed)
		return true;
	tracer_detach(progress->tracer);
	errmsg_set(&progress->err, "\"%s\" was written to while it was traced: detached", written);
	progress->failed = true;
	return false;
}

static bool on_watch(void *ctx)
{
	struct progress *progress = ctx;
	bool more = on_file_event(ctx);

	if (more)
		toolrun_say_newly_replaced(progress->tracer, progress->run->tool->name);
	return more;
}

static uint64_t stream_ns(const struct toolrun *run)
{
	if (run->config.costs)
		return SPENDING_NS;
	if (run->events)
		return STREAM_NS;
	return SWEEP_NS;
}

/* readable when the traced process has ended; -1: all processes are traced */
static int process_end(const struct tracer *tracer)
{
	if (tracer->command)
		return command_pidfd(tracer->command);
	return tracer->process ? process_fd(tracer->process) : -1;
}

static int stream_fd(const struct progress *progress)
{
	const struct toolrun *run = progress->run;

	if (run->events)
		return events_fd(*run->events);
	return progress->metrics.pub ? publisher_fd(progress->metrics.pub) : -1;
}

static int run_session(struct progress *progress, struct session *ses, struct errmsg *err)
{
	const struct toolrun *run = progress->run;
	const struct options *opts = run->opts;
	struct session_spec spec = {.interval_ns = opts->interval_ns,
				    .duration_ns = opts->duration_ns,
				    .process_fd = process_end(progress->tracer),
				    .event_fd = filewatch_fd(progress->tracer->watch),
				    .tick = tick,
				    .event = on_watch,
				    .stream_ns = stream_ns(run),
				    .stream_fd = stream_fd(progress),
				    .stream = on_stream,
				    .ctx = progress};
	enum session_end end = SESSION_ENOUGH;
	int ret = session_run(ses, &spec, &end, err);

	progress->lasted = end == SESSION_DURATION;
	progress->process_ended = end == SESSION_PROCESS;
	if (progress->process_ended && progress->tracer->descendants)
		progress->left_running = descendants_running(progress->tracer->descendants);
	return ret;
}

/* Whoever traces for a given time, as scripts do, wanted to see a process. */
static void check_idle(struct progress *progress)
{
	struct errmsg err;

	if (!idlefiles_check(progress->tracer, &err))
		return;
	if (progress->lasted) {
		fail(progress, &err);
		return;
	}
	fprintf(stderr, "%s: ", progress->run->tool->name);
	escape_print(stderr, err.text);
	fputc('\n', stderr);
}

static int show_rest(struct progress *progress, struct errmsg *err)
{
	const struct toolrun *run = progress->run;
	int ret = 0;

	if (run->events)
		events_read(*run->events, true);
	if (run->show)
		ret = run->show(run->ctx, true, err);
	if (!ret && progress->metrics.pub)
		ret = publisher_end(progress->metrics.pub, err);
	check_output(progress);
	if (run->lost)
		run->lost(run->ctx);
	if (!ret)
		ret = pprof_write(&progress->pprof, err);
	return ret;
}

static void say_spent(const struct progress *progress)
{
	const struct toolrun *run = progress->run;
	const struct spending *spending = progress->tracer->spending;

	if (spending && (run->opts->verbose || run->opts->cost || !run->quiet_cost))
		spending_print(spending, stderr, run->tool->name);
	if (spending && run->opts->cost)
		spending_print_names(spending, stderr, run->tool->name);
}

/* Stop, then detach, then read: the numbers no longer change, and agree with each other. Where the
 * kernel side cannot be stopped, or detaching is slow, read before detaching: probes are detached
 * one by one, and on a busy machine the last would go on counting for long after the first. */
static int finish_run(struct progress *progress, struct errmsg *err)
{
	struct toolrun *run = progress->run;
	bool quick = (run->stop || run->events) && attach_how() == ATTACH_MULTI;

	heat_end(&progress->heat);
	if (run->stop)
		run->stop(run->ctx);
	if (run->profile)
		profile_end(run->profile);
	if (progress->tracer->spending)
		spending_end(progress->tracer->spending);
	tracer_stop(progress->tracer);
	if (quick)
		tracer_detach(progress->tracer);
	/* a file may have been written to since the last check */
	on_file_event(progress);
	int ret = show_rest(progress, err);

	selection_print_skipped(stderr, progress->tracer->sel, run->tool->name, run->opts->verbose);
	toolrun_say_replaced(progress->tracer, run->tool->name);
	check_idle(progress);
	if (!run->opts->json && !run->folded && !run->quiet_end)
		puts("Detaching...");
	fflush(stdout);
	/* perf events take a tenth of a second each */
	tracer_detach(progress->tracer);
	toolrun_say_after(progress->tracer, run->tool->name, progress->left_running);
	if (progress->process_ended)
		progress->status = toolrun_say_ended(progress->tracer, run->tool->name);
	say_spent(progress);
	if (progress->failed) {
		*err = progress->err;
		return -1;
	}
	return ret ? ret : session_flush(err);
}

static int say_started(struct progress *progress, struct errmsg *err)
{
	const struct toolrun *run = progress->run;
	const struct tracer *tracer = progress->tracer;

	if (run->started)
		run->started(run->ctx);
	else
		tracer_print_start(tracer, run->opts->json || run->folded ? stderr : stdout);
	if (!check_output(progress))
		return 0;
	*err = progress->err;
	return -1;
}

/* --cost, before anything runs into the probes */
static void say_prices(const struct toolrun *run, const struct tracer *tracer)
{
	spending_print_prices(tracer->spending, stderr, run->tool->name);
	if (!run->opts->verbose)
		textcost_print(tracer->cost, stderr);
}

static int trace(struct progress *progress, struct session *ses, struct errmsg *err)
{
	struct toolrun *run = progress->run;
	struct tracer *tracer = progress->tracer;
	int ret;

	progress_end();
	if (run->begin(run->ctx, tracer, err))
		return -1;
	if (!selection_traced(tracer->sel))
		return errmsg_set(err, "no function can be traced: %s", tracer->refusal);
	if (toolrun_metrics_begin(&progress->metrics, run, tracer, err))
		return -1;
	toolrun_say_before(tracer, run->tool->name);
	if (run->opts->verbose)
		toolrun_say_details(tracer, run->tool->name);
	if (run->opts->cost)
		say_prices(run, tracer);
	if (tracer->spending)
		spending_begin(tracer->spending);
	if (run->profile)
		profile_begin(run->profile);
	ret = say_started(progress, err);
	if (!ret && tracer->command)
		ret = command_start(tracer->command, err);
	if (!ret)
		ret = run_session(progress, ses, err);
	return ret ? ret : finish_run(progress, err);
}

/* Once the first probe is attached, a signal ends the run in order: what was gathered is shown. */
static int attach_and_trace(struct progress *progress, struct errmsg *err)
{
	struct session *ses = tracer_attach(progress->tracer, err) ? NULL : session_new(err);
	int ret = -1;

	/* events are printed in batches: one write for many lines */
	if (progress->run->events)
		setvbuf(stdout, NULL, _IOFBF, STREAM_BUFFER);
	if (ses)
		ret = trace(progress, ses, err);
	session_free(ses);
	return ret;
}

/* Where results go besides stdout, tried before anything is traced. */
static int open_outputs(struct progress *progress, struct errmsg *err)
{
	struct toolrun *run = progress->run;

	if (pprof_open(&progress->pprof, run->opts->pprof, run->profile_spec, err))
		return -1;
	run->profile = progress->pprof.profile;
	return toolrun_metrics_open(&progress->metrics, run, err);
}

static void close_outputs(struct progress *progress)
{
	toolrun_metrics_close(&progress->metrics);
	pprof_close(&progress->pprof);
	progress->run->profile = NULL;
}

/* Warns of what so many probes cost: users who type '*' rarely know. */
static void warn_of_many(const struct toolrun *run, const struct tracer *tracer)
{
	size_t count = selection_traced(tracer->sel);
	bool returns = run->config.want.returns;

	for (size_t i = 0; run->config.pattern_returns && i < run->config.pattern_count; i++)
		returns |= run->config.pattern_returns[i];
	if (count <= MANY_FUNCTIONS)
		return;
	fprintf(stderr,
		"%s: about to probe %zu functions: each of their calls will take %s longer, and "
		"the program may run many times slower\n"
		"hint: name a package, as in 'main.*', or trace for a second (-d 1)\n",
		run->tool->name, count, returns ? "some 10 microseconds" : "1 to 4 microseconds");
}

/* 0 and *status: what the tool shall exit with; -1 and *err. */
static int prepare_and_trace(struct toolrun *run, int *status, struct errmsg *err)
{
	struct progress progress = {.run = run};

	if (session_check_privileges(err) || (run->events && events_check(err)))
		return -1;
	if (!open_outputs(&progress, err))
		progress.tracer = tracer_new(&run->config, err);
	if (!progress.tracer) {
		close_outputs(&progress);
		return -1;
	}
	progress_pause();
	selection_print_notes(stderr, progress.tracer->sel);
	textcost_warn(progress.tracer->cost, stderr, run->tool->name);
	warn_of_many(run, progress.tracer);
	if (run->opts->verbose)
		print_program(run->opts->json ? stderr : stdout, progress.tracer);
	progress_resume();
	int ret = attach_and_trace(&progress, err);

	*status = progress.status;
	close_outputs(&progress);
	tracer_free(progress.tracer);
	return ret;
}

int toolrun(struct toolrun *run)
{
	const struct options *opts = run->opts;
	struct errmsg err = {0};

	signals_take(run->tool->name); /* main has: this is for one that forgets */
	if (!run->config.patterns) {
		run->config.patterns = opts->patterns;
		run->config.pattern_count = opts->pattern_count;
	}
	run->config.pid = opts->pid;
	if (opts->named)
		run->config.named = opts->named;
	run->config.all = opts->all;
	run->config.command = opts->command;
	run->config.force = opts->force;
	run->config.no_emulate = opts->no_emulate;
	run->config.costs = opts->verbose || opts->cost || opts->max_cost;
	run->config.max_cost = opts->max_cost;
	run->config.want.regex = opts->regexp;
	run->config.want.inlined = opts->inlined;
	run->config.want.fips = opts->fips;
	progress_begin(run->tool->name);
	int status = 0, ret = prepare_and_trace(run, &status, &err);

	progress_end();
	return ret ? options_fail(run->tool, &err) : status;
}

int toolrun_main(struct toolrun *run, struct options *opts, int argc, char **argv)
{
	int status;

	run->opts = opts;
	return options_main(run->tool, argc, argv, opts, &status) ? toolrun(run) : status;
}
