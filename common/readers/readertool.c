// SPDX-License-Identifier: Apache-2.0
#include "readers/readertool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/signals.h"
#include "files/process.h"
#include "golang/pattern.h"
#include "metrics/endpoint.h"
#include "profile/profile.h"
#include "readers/ending_internal.h"
#include "readers/readmetrics_internal.h"
#include "selection/unmatched.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"

#define SECOND_NS UINT64_C(1000000000)

/* --- in a process of its own, for each that is looked at --- */

enum { LOOK_FIRST, LOOK_NEXT }; /* nothing was printed before; of another one */

static void forget(struct readertool *rt)
{
	for (size_t i = 0; i < rt->pattern_count; i++)
		pattern_free(rt->patterns[i]);
	free(rt->patterns);
	free(rt->pids);
}

static void end_looking(void *ctx)
{
	struct readertool *rt = ctx;

	if (rt->end)
		rt->end(rt->ctx);
	pprof_close(&rt->pprof);
	forget(rt);
}

static void warn(const struct readertool *rt, const struct errmsg *why)
{
	fprintf(stderr, "%s: warning: ", rt->tool->name);
	escape_print(stderr, why->text);
	fputs("; ", stderr);
	escape_print(stderr, why->hint);
	fputc('\n', stderr);
}

/* That no stack has such a function would be taken for an answer, where there is none of that name.
 * Of several processes, each may have some. 0; -1 with *err: no PATTERN has any. */
static int check_patterns(struct readertool *rt, const struct goprocesses_one *one,
			  struct errmsg *err)
{
	struct errmsg *missed = mem_zalloc(rt->pattern_count + 1, sizeof(*missed));
	size_t count = 0;

	for (size_t i = 0; i < rt->pattern_count; i++)
		count += unmatched_by_all(goprocess_program(one->gp), rt->patterns[i],
					  &missed[count]);
	bool none = count && count == rt->pattern_count;

	if (none)
		*err = missed[0];
	for (size_t i = 0; i < count && !none; i++)
		warn(rt, &missed[i]);
	free(missed);
	rt->patterns_checked = true;
	return none ? -1 : 0;
}

static int look_at(void *ctx, const struct goprocesses_one *one, int what, const void *more,
		   size_t len, uint64_t *count, struct errmsg *err)
{
	struct readertool *rt = ctx;
	struct profile *profile = rt->pprof.profile; /* its own since the fork */

	(void)more;
	(void)len;
	if (!rt->patterns_checked && !rt->not_of_funcs && !one->several &&
	    check_patterns(rt, one, err))
		return -1;
	if (rt->look(rt->ctx, one, what == LOOK_FIRST, profile, count, err) ||
	    goprocess_check(one->gp, err))
		return -1;
	return profile ? profile_pass(profile, rt->profile_fd, err) : 0;
}

/* --- run --- */

static void fail(void *ctx, const struct errmsg *err)
{
	struct readertool *rt = ctx;

	rt->has_failed = true;
	options_fail(rt->tool, err);
}

/* Names which one it is, where there may be several and the message does not. */
static void fail_of(struct readertool *rt, size_t i, const struct errmsg *why)
{
	struct errmsg err = *why;
	char whose[32];

	snprintf(whose, sizeof(whose), "process %d", rt->procs.all[i].pid);
	if (rt->procs.count > 1 && strncmp(why->text, whose, strlen(whose)) != 0)
		errmsg_set(&err, "%s: %.400s", whose, why->text);
	if (why->hint[0])
		errmsg_hint(&err, "%s", why->hint);
	fail(rt, &err);
}

/* Of processes that were only looked for, some end meanwhile, or have nothing to show. */
static void not_shown(struct readertool *rt, size_t i, const struct errmsg *why)
{
	struct goprocesses *procs = &rt->procs;

	if (rt->wanted.pid_count || rt->wanted.core || procs->count == 1)
		fail_of(rt, i, why);
	else if (process_runs(procs->all[i].proc) && !procs->refused++)
		procs->why = *why;
}

static int ask(struct readertool *rt, size_t i, struct errmsg *err)
{
	uint64_t count;
	int ret = goprocesses_look(&rt->procs, i, rt->shown ? LOOK_NEXT : LOOK_FIRST, NULL, 0,
				   &count, err);

	rt->shown += count;
	if (!ret && rt->pprof.profile)
		ret = profile_take(rt->pprof.profile, rt->profile_fd, err);
	return ret;
}

static void begin_round(struct readertool *rt)
{
	bool first = !rt->has_printed;

	rt->has_printed = true;
	rt->looked_ns = clock_ns();
	if (rt->begin)
		rt->begin(rt->ctx, first);
	else if (!rt->opts.json && (rt->opts.timestamp || !first))
		toolrun_print_time(&rt->opts);
}

static int show_once(struct readertool *rt, struct errmsg *err)
{
	struct errmsg why;

	if (rt->begin)
		rt->begin(rt->ctx, true);
	for (size_t i = 0; i < rt->procs.count; i++)
		if (ask(rt, i, &why))
			not_shown(rt, i, &why);
	return !rt->shown && !rt->has_failed && rt->nothing ? rt->nothing(rt->ctx, err) : 0;
}

/* One that ends is shown no more; another that cannot be read is a failure, unless it was only
 * looked for. due() is asked once more for one that has ended. */
static void ask_again(struct readertool *rt, size_t i)
{
	struct errmsg why;

	if (!ask(rt, i, &why))
		return;
	bool runs = ending_runs_on(rt->procs.all[i].proc);

	rt->gone[i] = runs || !rt->due;
	if (runs)
		not_shown(rt, i, &why);
	else if (!rt->due)
		session_say_ended(rt->tool->name, rt->procs.all[i].pid);
}

static void ask_if_due(struct readertool *rt, size_t i)
{
	const struct goprocesses_one *one = &rt->procs.all[i];
	bool runs = !rt->due || process_runs(one->proc);

	if (!rt->due || rt->due(rt->ctx, one, runs))
		ask_again(rt, i);
	else
		rt->gone[i] = !runs;
}

static bool look(void *ctx)
{
	struct readertool *rt = ctx;
	size_t left = 0;

	begin_round(rt);
	for (size_t i = 0; i < rt->procs.count; i++) {
		if (!rt->gone[i])
			ask_if_due(rt, i);
		left += !rt->gone[i];
	}
	return left && session_flush(NULL) == 0;
}

/* The end may fall on an interval, which has been shown then. */
static void look_last(struct readertool *rt, enum session_end end)
{
	bool just = clock_ns() - rt->looked_ns < rt->opts.interval_ns / 4;

	if (end == SESSION_SIGNAL || (end == SESSION_DURATION && !just))
		look(rt);
}

static int watch(struct readertool *rt, struct errmsg *err)
{
	const struct goprocesses *procs = &rt->procs;
	struct session_spec spec = {.duration_ns = rt->opts.duration_ns,
				    .process_fd = -1,
				    .event_fd = -1,
				    .stream_ns = rt->opts.interval_ns,
				    .stream_fd = -1,
				    .stream = look,
				    .ctx = rt};
	struct session *ses = session_new(err);
	enum session_end end = SESSION_PROCESS;
	int ret = ses ? 0 : -1;

	if (procs->count == 1 && !rt->due)
		spec.process_fd = process_fd(procs->all[0].proc);
	rt->gone = mem_zalloc(procs->count, sizeof(*rt->gone));
	if (!ret && look(rt))
		ret = session_run(ses, &spec, &end, err);
	if (!ret)
		look_last(rt, end);
	if (!ret && end == SESSION_PROCESS && procs->count == 1 && !rt->gone[0])
		session_say_ended(rt->tool->name, procs->all[0].pid);
	free(rt->gone);
	session_free(ses);
	return ret;
}

static void say_core(const struct readertool *rt)
{
	const struct goprocesses *procs = &rt->procs;

	if (procs->core_missing)
		fprintf(stderr, "%s: the core file was cut off: %llu of %llu bytes are missing\n",
			rt->tool->name, (unsigned long long)procs->core_missing,
			(unsigned long long)procs->core_size);
	if (!procs->core_untold)
		return;
	fprintf(stderr, "%s: the core file does not tell which program it is of: taken for ",
		rt->tool->name);
	escape_print(stderr, rt->wanted.binary);
	fputs("'s\n", stderr);
}

/* Those that are named: of all others there may be many. */
static void say_stopped(const struct readertool *rt)
{
	for (size_t i = 0; rt->wanted.pid_count && i < rt->procs.count; i++)
		if (rt->procs.all[i].proc)
			session_say_stopped(rt->tool->name, rt->procs.all[i].proc);
}

static void say_refused(const struct readertool *rt)
{
	if (rt->procs.refused)
		fprintf(stderr, "%s: %zu more processes could not be read: %s\n", rt->tool->name,
			rt->procs.refused, rt->procs.why.text);
}

static int run(struct readertool *rt, struct errmsg *err)
{
	const struct goprocesses_work work = {.look = look_at, .end = end_looking, .ctx = rt};
	struct goprocesses *procs = &rt->procs;

	if (rt->profile_spec && (pprof_open(&rt->pprof, rt->opts.pprof, rt->profile_spec, err) ||
				 profile_channel(rt->opts.pprof, &rt->profile_fd, err)))
		return -1;
	int ret = goprocesses_open(&rt->wanted, &work, procs, fail, rt, err);

	if (!ret) {
		say_core(rt);
		say_stopped(rt);
	}
	if (!ret && procs->count && rt->opts.interval_ns)
		ret = watch(rt, err);
	else if (!ret)
		ret = show_once(rt, err);
	if (!ret)
		say_refused(rt);
	if (!ret && !rt->has_failed)
		ret = pprof_write(&rt->pprof, err);
	if (!goprocesses_close(procs))
		rt->has_failed = true;
	pprof_close(&rt->pprof);
	if (rt->profile_fd)
		close(rt->profile_fd);
	return ret ? -1 : session_flush(err);
}

static int publish(struct readertool *rt, struct errmsg *err)
{
	struct readmetrics metrics = {
		.source = rt->metrics, .tool = rt->tool, .opts = &rt->opts, .wanted = &rt->wanted};
	int ret = readmetrics_run(&metrics, err);

	rt->has_failed = metrics.has_failed;
	return ret;
}

/* --- the command line --- */

static int take_pid(struct readertool *rt, const char *text, struct errmsg *err)
{
	size_t count = rt->wanted.pid_count;
	uint64_t pid;

	if (!number_parse(text, INT32_MAX, &pid) || !pid)
		return errmsg_set(err, "\"%s\" is not a process ID", text);
	for (size_t i = 0; i < count; i++)
		if (rt->pids[i] == (pid_t)pid)
			return 0;
	rt->pids = mem_grow(rt->pids, count, &rt->pid_cap, sizeof(*rt->pids));
	rt->pids[count] = (pid_t)pid;
	rt->wanted.pids = rt->pids;
	rt->wanted.pid_count++;
	return 0;
}

static int take_time(uint64_t *ns, const char *what, const char *text, struct errmsg *err)
{
	if (number_parse_duration(text, ns))
		return 0;
	return errmsg_set(err, "%s of \"%s\": not a positive number of seconds", what, text);
}

int readertool_take(struct readertool *rt, int letter, const char *value, struct errmsg *err)
{
	switch (letter) {
	case 'i':
		return take_time(&rt->opts.interval_ns, "interval", value, err);
	case 'd':
		return take_time(&rt->opts.duration_ns, "duration", value, err);
	case 'p':
		return take_pid(rt, value, err);
	case 'n':
		rt->wanted.name = value;
		return 0;
	case READERTOOL_ALL:
		rt->wanted.all = true;
		return 0;
	default:
		rt->wanted.core = value;
		return 0;
	}
}

static int take_pattern(struct readertool *rt, const char *text, struct errmsg *err)
{
	/* as other tools have it with -p, where no BINARY is before the colon */
	struct pattern *pattern = pattern_new(text + (*text == ':'), rt->opts.regexp, err);

	if (!pattern)
		return -1;
	rt->patterns = mem_grow(rt->patterns, rt->pattern_count, &rt->pattern_cap,
				sizeof(struct pattern *));
	rt->patterns[rt->pattern_count++] = pattern;
	return 0;
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* PIDs may stand by themselves: no function has a number for its name. Of a core file, the first is
 * BINARY. */
static int take_arguments(struct readertool *rt, struct errmsg *err)
{
	const struct options *opts = &rt->opts;
	bool core = rt->wanted.core;

	if (core && opts->pattern_count)
		rt->wanted.binary = opts->patterns[0];
	for (size_t i = core; i < opts->pattern_count; i++) {
		const char *text = opts->patterns[i];

		if (is_number(text) && !core ? take_pid(rt, text, err)
					     : take_pattern(rt, text, err))
			return -1;
	}
	return 0;
}

static const char *interval_option(const struct readertool *rt)
{
	return rt->stays_by ? rt->stays_by : "-i";
}

static int check_core(const struct readertool *rt, struct errmsg *err)
{
	const struct goprocesses_wanted *wanted = &rt->wanted;
	const char *other = wanted->pid_count      ? "-p"
			    : wanted->name         ? "-n"
			    : wanted->all          ? "--all"
			    : rt->opts.interval_ns ? interval_option(rt)
						   : NULL;

	if (other)
		return errmsg_set(err, "%s is for programs that run: not with --core", other);
	if (!wanted->binary)
		return errmsg_set(err,
				  "--core needs BINARY, the program that has left the core file");
	return 0;
}

/* Nothing is printed: -i is how often a file is written. */
static int check_metrics(const struct readertool *rt, struct errmsg *err)
{
	const char *other = rt->opts.json ? "-j" : rt->opts.timestamp ? "-T" : NULL;
	struct endpoint where;

	if (other)
		return errmsg_set(err, "--metrics prints no lines: not with %s", other);
	if (endpoint_parse(rt->opts.metrics, &where, err))
		return -1;
	if (rt->opts.interval_ns && !where.file)
		return errmsg_set(err,
				  "%s is how often FILE.prom is written: what an address serves is "
				  "read when it is asked for",
				  interval_option(rt));
	return rt->ready ? rt->ready(rt->ctx, err) : 0;
}

/* What was typed in place of a PID may be a program's name. */
static int hint_name(const struct readertool *rt, struct errmsg *err)
{
	if (rt->pattern_count)
		errmsg_hint(err, "for the programs that run and have this in their names: -n %s",
			    pattern_text(rt->patterns[0]));
	return -1;
}

static int check(struct readertool *rt, struct errmsg *err)
{
	struct options *opts = &rt->opts;
	struct goprocesses_wanted *wanted = &rt->wanted;

	if (opts->command)
		return errmsg_set(err, "%s starts no COMMAND", rt->tool->name);
	if (take_arguments(rt, err))
		return -1;
	if (rt->pids_only && rt->pattern_count) {
		errmsg_set(err, "\"%s\" is not a process ID", pattern_text(rt->patterns[0]));
		return hint_name(rt, err);
	}
	if (wanted->core && check_core(rt, err))
		return -1;
	if (!wanted->pid_count && !wanted->name && !wanted->core)
		wanted->all |= rt->all_by_default;
	if (!wanted->pid_count && !wanted->name && !wanted->all && !wanted->core) {
		errmsg_set(err, "no PID, -n NAME or --all given");
		return hint_name(rt, err);
	}
	if ((wanted->pid_count != 0) + (wanted->name != NULL) + wanted->all > 1)
		return errmsg_set(err, "PID, -n NAME and --all exclude each other");
	if (opts->metrics)
		return check_metrics(rt, err);
	if (rt->each_interval && !opts->interval_ns)
		opts->interval_ns = SECOND_NS;
	if (opts->interval_ns && opts->pprof)
		return errmsg_set(err, "--pprof is for a single snapshot: not with %s",
				  interval_option(rt));
	if (!opts->interval_ns && (opts->duration_ns || opts->timestamp))
		return errmsg_set(err, "-d and -T need -i");
	return rt->ready ? rt->ready(rt->ctx, err) : 0;
}

bool readertool_parse(struct readertool *rt, int argc, char **argv, int *status)
{
	struct errmsg err = {0};
	enum options_result result = options_parse(rt->tool, argc, argv, &rt->opts, &err);

	if (result == OPTIONS_RUN && !check(rt, &err))
		return true;
	*status = options_answer(rt->tool, result == OPTIONS_RUN ? OPTIONS_BAD : result, &err);
	forget(rt);
	return false;
}

int readertool_main(struct readertool *rt, int argc, char **argv)
{
	struct errmsg err = {0};
	int status;

	signals_default();
	if (!readertool_parse(rt, argc, argv, &status))
		return status;
	status = (rt->opts.metrics ? publish : run)(rt, &err) ? options_fail(rt->tool, &err)
							      : rt->has_failed;
	forget(rt);
	return status;
}
