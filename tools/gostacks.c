// SPDX-License-Identifier: Apache-2.0
/* gostacks: what every goroutine of a running Go program does now, without stopping it; or of one
 * that has left a core file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/signals.h"
#include "files/process.h"
#include "files/process_files.h"
#include "files/process_stop.h"
#include "golang/pattern.h"
#include "goroutines/goprocesses.h"
#include "goroutines/goroutines_changes.h"
#include "goroutines/goroutines_pick.h"
#include "goroutines/goroutines_print.h"
#include "goroutines/wait_objects.h"
#include "tracing/options.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"

struct held { /* a snapshot, and what is wanted of it */
	struct snapshot snap;
	unsigned char *picked;
	struct wait_context waits;
	struct goroutines_view view;
};

struct watched { /* with -i, of one process */
	struct held held;
	bool has; /* the first */
	bool gone;
};

struct gostacks {
	struct options opts;
	bool each, full, folded, stop;
	struct goprocesses_wanted wanted;
	pid_t *pids; /* those in wanted.pids */
	size_t pid_cap;
	struct goroutines_pick pick;
	size_t pattern_cap;
	size_t shown;     /* goroutines */
	bool has_failed;  /* in part: a message was printed */
	bool has_printed; /* of an earlier process */
	struct goprocesses procs;
	struct watched *watched; /* of each of them */
	uint64_t looked_ns;      /* when they were looked at last */
};

static const struct options_tool tool;

/* --- print --- */

static void say_left_out(const struct snapshot *snap)
{
	if (snap->left_out)
		fprintf(stderr, "gostacks: %zu more goroutines are not shown\n", snap->left_out);
	if (snap->unread)
		fprintf(stderr, "gostacks: %zu goroutines could not be read\n", snap->unread);
}

static void print_text(struct gostacks *gostacks, const struct goroutines_view *view)
{
	bool each = gostacks->each || gostacks->pick.goid;

	if (gostacks->has_printed)
		putchar('\n');
	gostacks->has_printed = true;
	if (!each || view->several)
		goroutines_print_title(stdout, view);
	if (each && view->several)
		putchar('\n');
	if (each)
		goroutines_print_each(stdout, view);
	else
		goroutines_print_groups(stdout, view);
}

static void print(struct gostacks *gostacks, const struct goroutines_view *view)
{
	if (gostacks->opts.json)
		goroutines_print_json(stdout, view);
	else if (gostacks->folded)
		goroutines_print_folded(stdout, view);
	else
		print_text(gostacks, view);
	say_left_out(view->snap);
}

/* Not where Go's own words are all that shall be there, nor where it is not asked for. */
static bool shows_waits(const struct gostacks *gostacks)
{
	return !gostacks->opts.interval_ns && !gostacks->full && !gostacks->folded;
}

/* With --stop, what is read of the program's file is in memory before the process stands still. */
static int read_ahead(const struct gostacks *gostacks, const struct goprocesses_one *one,
		      struct errmsg *err)
{
	struct goprocess_wanted wanted = {.args = gostacks->full, .waits = shows_waits(gostacks)};
	struct snapshot snap;

	if (goprocess_snapshot(one->gp, &wanted, &snap, err))
		return -1;
	wait_objects_free(goprocess_waits(one->gp, &snap));
	snapshot_free(&snap);
	return 0;
}

static int read_process(const struct gostacks *gostacks, const struct goprocesses_one *one,
			struct held *out, struct errmsg *err)
{
	if (gostacks->stop && read_ahead(gostacks, one, err))
		return -1;
	struct process_stop *stop = gostacks->stop ? process_stop_new(one->proc, err) : NULL;
	struct goprocess_wanted wanted = {
		.args = gostacks->full, .waits = shows_waits(gostacks), .stop = stop};

	if (gostacks->stop && !stop)
		return -1;
	int ret = goprocess_snapshot(one->gp, &wanted, &out->snap, err);

	out->waits = (struct wait_context){0};
	if (!ret)
		out->waits.objects = goprocess_waits(one->gp, &out->snap);
	if (!stop)
		return ret;
	uint64_t ns = process_stop_end(stop);

	fprintf(stderr, "gostacks: process %d was stopped for %llu.%03llu ms\n", one->pid,
		(unsigned long long)(ns / 1000000), (unsigned long long)(ns / 1000 % 1000));
	return ret;
}

static int call_of(void *ctx, pid_t tid)
{
	return process_files_syscall(ctx, tid);
}

static int hold(const struct gostacks *gostacks, const struct goprocesses_one *one,
		struct held *out, size_t *count, struct errmsg *err)
{
	const struct frames *frames = goprocess_frames(one->gp);

	if (read_process(gostacks, one, out, err))
		return -1;
	if (one->proc) {
		out->waits.files = process_files_new(one->proc);
		out->waits.call = call_of;
		out->waits.call_ctx = out->waits.files;
	} else {
		out->waits.call = goprocess_core_call;
		out->waits.call_ctx = one->gp;
	}
	out->waits.type_name = goprocess_type;
	out->waits.type_ctx = one->gp;
	out->picked = goroutines_pick(&gostacks->pick, &out->snap, frames, count);
	out->view = (struct goroutines_view){.snap = &out->snap,
					     .picked = out->picked,
					     .frames = frames,
					     .pid = one->pid,
					     .release = goprocess_release(one->gp),
					     .name = one->name,
					     .several = gostacks->procs.count > 1};
	if (out->waits.objects)
		out->view.waits = &out->waits;
	return 0;
}

static void let_go(struct held *held)
{
	free(held->picked);
	wait_objects_free(held->waits.objects);
	process_files_free(held->waits.files);
	snapshot_free(&held->snap);
}

static int show(struct gostacks *gostacks, const struct goprocesses_one *one, struct errmsg *err)
{
	struct held held;
	size_t count;

	if (hold(gostacks, one, &held, &count, err))
		return -1;
	gostacks->shown += count;
	/* of several processes, those that have nothing of what is asked for are left out */
	if (count || (!held.view.several && !gostacks->pick.goid))
		print(gostacks, &held.view);
	let_go(&held);
	return 0;
}

/* --- run --- */

static void fail(void *ctx, const struct errmsg *err)
{
	struct gostacks *gostacks = ctx;

	gostacks->has_failed = true;
	options_fail(&tool, err);
}

/* Of processes that were only looked for, some end meanwhile. */
static void not_shown(struct gostacks *gostacks, struct goprocesses *procs, size_t i,
		      const struct errmsg *why)
{
	if (gostacks->wanted.pid_count || gostacks->wanted.core)
		fail(gostacks, why);
	else if (process_runs(procs->all[i].proc) && !procs->refused++)
		procs->why = *why;
}

static int show_all(struct gostacks *gostacks, struct errmsg *err)
{
	struct goprocesses *procs = &gostacks->procs;
	struct errmsg why;

	for (size_t i = 0; i < procs->count; i++)
		if (show(gostacks, &procs->all[i], &why))
			not_shown(gostacks, procs, i, &why);
	if (gostacks->pick.goid && !gostacks->shown && !gostacks->has_failed)
		return errmsg_set(err, "no goroutine %llu",
				  (unsigned long long)gostacks->pick.goid);
	return 0;
}

/* --- again and again --- */

static void print_time(struct gostacks *gostacks)
{
	if (gostacks->opts.json)
		return;
	if (gostacks->has_printed || gostacks->opts.timestamp)
		toolrun_print_time(&gostacks->opts);
	gostacks->has_printed = true;
}

static void print_changes(const struct gostacks *gostacks, const struct watched *watched,
			  const struct held *now)
{
	const struct goroutines_view *before = watched->has ? &watched->held.view : NULL;

	if (gostacks->opts.json) {
		goroutines_json_changes(stdout, before, &now->view,
					gostacks->opts.timestamp ? toolrun_json_time : NULL);
		return;
	}
	goroutines_print_title(stdout, &now->view);
	if (before)
		goroutines_print_changes(stdout, before, &now->view);
	else
		goroutines_print_groups(stdout, &now->view);
}

static void look_again(struct gostacks *gostacks, size_t i)
{
	const struct goprocesses_one *one = &gostacks->procs.all[i];
	struct watched *watched = &gostacks->watched[i];
	struct errmsg why;
	struct held now;
	size_t count;

	if (hold(gostacks, one, &now, &count, &why)) {
		watched->gone = true;
		if (process_runs(one->proc))
			fail(gostacks, &why);
		return;
	}
	print_changes(gostacks, watched, &now);
	say_left_out(&now.snap);
	if (watched->has)
		let_go(&watched->held);
	watched->held = now;
	watched->held.view.snap = &watched->held.snap;
	watched->has = true;
}

static bool look(void *ctx)
{
	struct gostacks *gostacks = ctx;
	size_t left = 0;

	gostacks->looked_ns = clock_ns();
	print_time(gostacks);
	for (size_t i = 0; i < gostacks->procs.count; i++) {
		if (!gostacks->watched[i].gone)
			look_again(gostacks, i);
		left += !gostacks->watched[i].gone;
	}
	return left != 0;
}

/* The end may fall on an interval, which has been shown then. */
static void look_last(struct gostacks *gostacks, enum session_end end)
{
	bool just = clock_ns() - gostacks->looked_ns < gostacks->opts.interval_ns / 4;

	if (end == SESSION_SIGNAL || (end == SESSION_DURATION && !just))
		look(gostacks);
}

static int watch(struct gostacks *gostacks, struct errmsg *err)
{
	const struct goprocesses *procs = &gostacks->procs;
	struct session_spec spec = {.duration_ns = gostacks->opts.duration_ns,
				    .process_fd = -1,
				    .event_fd = -1,
				    .stream_ns = gostacks->opts.interval_ns,
				    .stream_fd = -1,
				    .stream = look,
				    .ctx = gostacks};
	struct session *ses = session_new(err);
	enum session_end end = SESSION_PROCESS;
	int ret = ses ? 0 : -1;

	if (procs->count == 1)
		spec.process_fd = process_fd(procs->all[0].proc);
	gostacks->watched = mem_zalloc(procs->count, sizeof(*gostacks->watched));
	if (!ret && look(gostacks))
		ret = session_run(ses, &spec, &end, err);
	if (!ret)
		look_last(gostacks, end);
	for (size_t i = 0; i < procs->count; i++)
		if (gostacks->watched[i].has)
			let_go(&gostacks->watched[i].held);
	free(gostacks->watched);
	session_free(ses);
	return ret;
}

static void say_core(const struct goprocesses *procs, const struct goprocesses_wanted *wanted)
{
	if (procs->core_missing)
		fprintf(stderr,
			"gostacks: the core file was cut off: %llu of %llu bytes are missing\n",
			(unsigned long long)procs->core_missing,
			(unsigned long long)procs->core_size);
	if (!procs->core_untold)
		return;
	fputs("gostacks: the core file does not tell which program it is of: taken for ", stderr);
	escape_print(stderr, wanted->binary);
	fputs("'s\n", stderr);
}

static int run(struct gostacks *gostacks, struct errmsg *err)
{
	struct goprocesses *procs = &gostacks->procs;
	int ret = goprocesses_open(&gostacks->wanted, procs, fail, gostacks, err);

	if (!ret)
		say_core(procs, &gostacks->wanted);
	if (!ret && procs->count)
		ret = gostacks->opts.interval_ns ? watch(gostacks, err) : show_all(gostacks, err);
	if (!ret && procs->refused)
		fprintf(stderr, "gostacks: %zu more processes could not be looked at: %s\n",
			procs->refused, procs->why.text);
	goprocesses_close(procs);
	return ret ? -1 : session_flush(err);
}

/* --- options --- */

enum { LETTER_SYSTEM = 256, LETTER_ALL, LETTER_FULL, LETTER_STOP, LETTER_CORE };

static const struct options_def own_defs[] = {
	{'p', "pid", "PID", "the process to look at; it is not stopped"},
	{'n', "name", "NAME", "the Go programs that run and whose name contains NAME"},
	{LETTER_ALL, "all", NULL, "all Go programs that run"},
	{'r', "regexp", NULL, "use regular expressions. Default is \"*\" wildcards only."},
	{'a', "each", NULL, "print each goroutine with its whole stack, as Go's tracebacks do"},
	{LETTER_FULL, "full", NULL, "the same with the words that arguments are made of"},
	{'g', "goid", "GOID", "print this goroutine only, with its whole stack"},
	{'s', "state", "STATE", "only goroutines in this state, or waiting for this: \"select\""},
	{'f', "folded", NULL, "print folded stacks, one line a stack, for flame graphs"},
	{LETTER_SYSTEM, "system", NULL, "include goroutines of the runtime itself"},
	{LETTER_STOP, "stop", NULL,
	 "stop the process for a moment (ptrace): all at one instant, running ones too"},
	{LETTER_CORE, "core", "FILE", "read this core file, which the program BINARY has left"},
	{0},
};

static int take_pid(struct gostacks *gostacks, const char *text, struct errmsg *err)
{
	size_t count = gostacks->wanted.pid_count;
	uint64_t pid;

	if (!number_parse(text, INT32_MAX, &pid) || !pid)
		return errmsg_set(err, "\"%s\" is not a process ID", text);
	for (size_t i = 0; i < count; i++)
		if (gostacks->pids[i] == (pid_t)pid)
			return 0;
	gostacks->pids =
		mem_grow(gostacks->pids, count, &gostacks->pid_cap, sizeof(*gostacks->pids));
	gostacks->pids[count] = pid;
	gostacks->wanted.pids = gostacks->pids;
	gostacks->wanted.pid_count++;
	return 0;
}

static int take_goid(struct gostacks *gostacks, const char *text, struct errmsg *err)
{
	if (number_parse(text, INT64_MAX, &gostacks->pick.goid) && gostacks->pick.goid)
		return 0;
	return errmsg_set(err, "\"%s\" is not a goroutine's ID", text);
}

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gostacks *gostacks = ctx;

	switch (letter) {
	case 'p':
		return take_pid(gostacks, value, err);
	case 'g':
		return take_goid(gostacks, value, err);
	case 'n':
		gostacks->wanted.name = value;
		return 0;
	case LETTER_ALL:
		gostacks->wanted.all = true;
		return 0;
	case 'r':
		gostacks->opts.regexp = true;
		return 0;
	case 'a':
		gostacks->each = true;
		return 0;
	case LETTER_STOP:
		gostacks->stop = true;
		return 0;
	case LETTER_CORE:
		gostacks->wanted.core = value;
		return 0;
	case LETTER_FULL:
		gostacks->each = gostacks->full = true;
		return 0;
	case 'f':
		gostacks->folded = true;
		return 0;
	case 's':
		gostacks->pick.state = value;
		return 0;
	default:
		gostacks->pick.system = true;
		return 0;
	}
}

static const char examples[] =
	"    gostacks 181               # what the goroutines of process 181 do\n"
	"    gostacks -a 181            # each with its whole stack\n"
	"    gostacks --full 181        # and the words of arguments, in hexadecimal\n"
	"    gostacks -g 17 181         # goroutine 17 alone\n"
	"    gostacks -s 'chan send' 181\n"
	"    gostacks 181 'main.(*Store).*'  # those in a method of main.Store\n"
	"    gostacks -n etcd           # of the programs whose name contains etcd\n"
	"    gostacks --all             # of all Go programs\n"
	"    gostacks -i 10 181         # and every 10 seconds, what has changed\n"
	"    gostacks -f 181 > stacks   # for a flame graph\n"
	"    gostacks -j 181            # one JSON object a goroutine\n"
	"    gostacks --core core ./app # of a program that has crashed\n";

static int take_pattern(struct gostacks *gostacks, const char *text, struct errmsg *err)
{
	struct goroutines_pick *pick = &gostacks->pick;
	/* as other tools have it with -p, where no BINARY is before the colon */
	struct pattern *pattern = pattern_new(text + (*text == ':'), gostacks->opts.regexp, err);

	if (!pattern)
		return -1;
	pick->patterns = mem_grow(pick->patterns, pick->pattern_count, &gostacks->pattern_cap,
				  sizeof(struct pattern *));
	pick->patterns[pick->pattern_count++] = pattern;
	return 0;
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* PIDs may stand by themselves: no function has a number for its name. Of a core file, the first is
 * BINARY. */
static int take_arguments(struct gostacks *gostacks, struct errmsg *err)
{
	const struct options *opts = &gostacks->opts;
	bool core = gostacks->wanted.core;

	if (core && opts->pattern_count)
		gostacks->wanted.binary = opts->patterns[0];
	for (size_t i = core; i < opts->pattern_count; i++) {
		const char *text = opts->patterns[i];

		if (is_number(text) && !core ? take_pid(gostacks, text, err)
					     : take_pattern(gostacks, text, err))
			return -1;
	}
	return 0;
}

/* What needs a process that runs */
static int check_core(const struct gostacks *gostacks, struct errmsg *err)
{
	const struct goprocesses_wanted *wanted = &gostacks->wanted;
	const char *other = wanted->pid_count            ? "-p"
			    : wanted->name               ? "-n"
			    : wanted->all                ? "--all"
			    : gostacks->opts.interval_ns ? "-i"
			    : gostacks->stop             ? "--stop"
							 : NULL;

	if (other)
		return errmsg_set(err, "%s is for programs that run: not with --core", other);
	if (!wanted->binary)
		return errmsg_set(err,
				  "--core needs BINARY, the program that has left the core file");
	return 0;
}

static int check(struct gostacks *gostacks, struct errmsg *err)
{
	const struct options *opts = &gostacks->opts;
	const struct goprocesses_wanted *wanted = &gostacks->wanted;

	if (opts->command)
		return errmsg_set(err, "gostacks starts no COMMAND");
	if (take_arguments(gostacks, err))
		return -1;
	if (wanted->core && check_core(gostacks, err))
		return -1;
	if (!wanted->pid_count && !wanted->name && !wanted->all && !wanted->core)
		return errmsg_set(err, "no PID, -n NAME or --all given");
	if ((wanted->pid_count != 0) + (wanted->name != NULL) + wanted->all > 1)
		return errmsg_set(err, "PID, -n NAME and --all exclude each other");
	if (gostacks->folded + opts->json + gostacks->each > 1)
		return errmsg_set(err, "-a or --full, -f and -j exclude each other");
	if (opts->interval_ns && (gostacks->folded || gostacks->each))
		return errmsg_set(err, "-i shows what has changed: not with -a, --full or -f");
	if (opts->interval_ns && gostacks->stop)
		return errmsg_set(err, "--stop is for a single look: not with -i");
	if (!opts->interval_ns && (opts->duration_ns || opts->timestamp))
		return errmsg_set(err, "-d and -T need -i");
	return 0;
}

static struct gostacks gostacks;

static const struct options_tool tool = {.name = "gostacks",
					 .about = "Show what the goroutines of running Go "
						  "programs do",
					 .args = "[PID... | BINARY] [PATTERN...]",
					 .process = true,
					 .shared = "idTj",
					 .own = own_defs,
					 .take = take_option,
					 .ctx = &gostacks,
					 .examples = examples};

static void forget(void)
{
	for (size_t i = 0; i < gostacks.pick.pattern_count; i++)
		pattern_free(gostacks.pick.patterns[i]);
	free(gostacks.pick.patterns);
	free(gostacks.pids);
}

int main(int argc, char **argv)
{
	struct errmsg err = {0};

	signals_default();
	enum options_result result = options_parse(&tool, argc, argv, &gostacks.opts, &err);

	if (result == OPTIONS_RUN && check(&gostacks, &err))
		result = OPTIONS_BAD;
	if (result != OPTIONS_RUN)
		return options_answer(&tool, result, &err);
	int ret = run(&gostacks, &err) ? options_fail(&tool, &err) : gostacks.has_failed;

	forget();
	return ret;
}
