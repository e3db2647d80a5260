// SPDX-License-Identifier: Apache-2.0
#include "readers/readmetrics_internal.h"

#include <stdint.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "files/process.h"
#include "gostacks/goprocesses.h"
#include "metrics/publisher.h"
#include "readers/ending_internal.h"
#include "tracing/options.h"
#include "tracing/session.h"

#define SECOND_NS UINT64_C(1000000000)

enum { TURN_NS = 250000000, NEW_AFTER_S = 5 };

struct run {
	struct readmetrics *metrics;
	struct goprocesses_work work;
	struct goprocesses procs;
	struct publisher *pub;
	uint64_t more_ns; /* when programs that have come are looked for */
	bool failure_said;
};

/* --- in a process of its own --- */

static int look_at(void *ctx, const struct goprocesses_one *one, int what, const void *more,
		   size_t len, uint64_t *count, struct errmsg *err)
{
	const struct readmetrics_source *source = ctx;

	(void)what;
	(void)more;
	(void)len;
	*count = 1;
	return source->look(source->ctx, one, err) ? -1 : goprocess_check(one->gp, err);
}

static void end_looking(void *ctx)
{
	const struct readmetrics_source *source = ctx;

	source->end(source->ctx);
}

/* --- in the tool --- */

static void failed(void *ctx, const struct errmsg *err)
{
	struct run *run = ctx;

	run->metrics->has_failed = true;
	options_fail(run->metrics->tool, err);
}

/* Of those that were only looked for, one is named: they come again, and fail again. */
static void say_failure(struct run *run, const struct errmsg *why)
{
	if (run->metrics->wanted->pid_count)
		failed(run, why);
	else if (!run->failure_said)
		options_fail(run->metrics->tool, why);
	run->failure_said = true;
}

/* One that cannot be read is not asked again, so that it cannot hold up the next scrape. */
static int look(void *ctx, bool final, struct errmsg *err)
{
	struct run *run = ctx;
	const struct readmetrics_source *source = run->metrics->source;
	struct goprocesses *procs = &run->procs;

	(void) final;
	(void)err;
	source->begin(source->ctx);
	for (size_t i = 0; i < procs->count;) {
		struct errmsg why;
		uint64_t count;

		if (!goprocesses_look(procs, i, 0, NULL, 0, &count, &why)) {
			source->found(source->ctx);
			i++;
			continue;
		}
		if (ending_runs_on(procs->all[i].proc))
			say_failure(run, &why);
		goprocesses_drop(procs, i);
	}
	return 0;
}

static void write_all(void *ctx, FILE *out, bool openmetrics)
{
	const struct run *run = ctx;
	const struct readmetrics_source *source = run->metrics->source;

	source->write(source->ctx, out, openmetrics);
}

static void drop_ended(struct goprocesses *procs)
{
	for (size_t i = 0; i < procs->count;)
		if (process_runs(procs->all[i].proc))
			i++;
		else
			goprocesses_drop(procs, i);
}

/* A program may come at any time, but those that were given by PID come once. */
static bool look_around(struct run *run)
{
	const struct goprocesses_wanted *wanted = run->metrics->wanted;
	uint64_t now = clock_ns();

	drop_ended(&run->procs);
	if (wanted->pid_count)
		return run->procs.count;
	if (now >= run->more_ns) {
		goprocesses_more(wanted, &run->work, &run->procs);
		run->more_ns = now + NEW_AFTER_S * SECOND_NS;
	}
	return true;
}

static bool turn(void *ctx)
{
	struct run *run = ctx;

	publisher_run(run->pub);
	return look_around(run);
}

static bool answer(void *ctx)
{
	struct run *run = ctx;

	publisher_run(run->pub);
	return true;
}

static void tick(void *ctx)
{
	struct run *run = ctx;

	publisher_tick(run->pub);
}

static int open_all(struct run *run, struct errmsg *err)
{
	const struct goprocesses_wanted *wanted = run->metrics->wanted;
	struct goprocesses *procs = &run->procs;

	*procs = (struct goprocesses){.result = run->work.result,
				      .result_len = run->work.result_len};
	if (!wanted->pid_count)
		look_around(run);
	else if (goprocesses_open(wanted, &run->work, procs, failed, run, err))
		return -1;
	if (procs->refused)
		fprintf(stderr, "%s: %zu more processes could not be read: %s\n",
			run->metrics->tool->name, procs->refused, procs->why.text);
	return 0;
}

static int serve(struct run *run, struct errmsg *err)
{
	static const struct publisher_source rows = {.read = look, .write = write_all};
	const struct options *opts = run->metrics->opts;
	struct session_spec spec = {.interval_ns = opts->interval_ns,
				    .duration_ns = opts->duration_ns,
				    .process_fd = -1,
				    .event_fd = publisher_fd(run->pub),
				    .tick = tick,
				    .event = answer,
				    .stream_ns = TURN_NS,
				    .stream_fd = -1,
				    .stream = turn,
				    .ctx = run};
	struct session *ses = session_new(err);
	enum session_end end;
	int ret = ses ? open_all(run, err) : -1;

	/* none of those that were asked for: each has been named */
	if (!ret && (run->procs.count || !run->metrics->wanted->pid_count)) {
		ret = publisher_begin(run->pub, &rows, run, err) ||
				      session_run(ses, &spec, &end, err) ||
				      publisher_end(run->pub, err)
			      ? -1
			      : 0;
	}
	session_free(ses);
	return ret;
}

int readmetrics_run(struct readmetrics *metrics, struct errmsg *err)
{
	const struct readmetrics_source *source = metrics->source;
	const struct publisher_spec spec = {.tool = metrics->tool->name,
					    .where = metrics->opts->metrics,
					    .interval_ns = metrics->opts->interval_ns};
	struct run run = {
		.metrics = metrics,
		.work = {look_at, end_looking, (void *)source, source->result, source->result_len}};

	run.pub = publisher_open(&spec, err);
	if (!run.pub)
		return -1;
	int ret = serve(&run, err);

	publisher_close(run.pub);
	if (!goprocesses_close(&run.procs))
		metrics->has_failed = true;
	return ret;
}
