// SPDX-License-Identifier: Apache-2.0
/* gostacks: what every goroutine of a running Go program does now, without stopping it; or of one
 * that has left a core file. */
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
#include "gostacks/goprocesses.h"
#include "gostacks/goroutines_look.h"
#include "gostacks/goroutines_print.h"
#include "profile/pprof.h"
#include "profile/profile.h"
#include "tracing/options.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"

struct gostacks {
	struct options opts;
	struct goroutines_look look;
	struct goprocesses_wanted wanted;
	pid_t *pids; /* those in wanted.pids */
	size_t pid_cap;
	size_t pattern_cap;
	size_t shown;     /* goroutines */
	bool has_failed;  /* in part: a message was printed */
	bool has_printed; /* a look */
	struct goprocesses procs;
	struct pprof pprof;
	int profile_fd;     /* through which profiles come from who looks; 0: none */
	bool *gone;         /* which of them are looked at no more */
	uint64_t looked_ns; /* when they were looked at last */
};

static const struct options_tool tool;

static void forget(struct gostacks *gostacks)
{
	for (size_t i = 0; i < gostacks->look.pick.pattern_count; i++)
		pattern_free(gostacks->look.pick.patterns[i]);
	free(gostacks->look.pick.patterns);
	free(gostacks->pids);
}

/* --- in a process of its own, for each that is looked at --- */

enum { LOOK_FIRST, LOOK_NEXT }; /* nothing was printed before; of another one */

static void end_looking(void *ctx)
{
	struct gostacks *gostacks = ctx;

	goroutines_look_end(&gostacks->look);
	pprof_close(&gostacks->pprof);
	forget(gostacks);
}

static int look_at(void *ctx, const struct goprocesses_one *one, int what, const void *more,
		   size_t len, uint64_t *count, struct errmsg *err)
{
	struct gostacks *gostacks = ctx;

	(void)more;
	(void)len;
	gostacks->look.has_printed = what == LOOK_NEXT;
	gostacks->look.profile = gostacks->pprof.profile; /* its own since the fork */
	if (goroutines_look(&gostacks->look, one, count, err))
		return -1;
	return gostacks->look.profile
		       ? profile_pass(gostacks->look.profile, gostacks->profile_fd, err)
		       : 0;
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

static int look_once(struct gostacks *gostacks, size_t i, struct errmsg *err)
{
	uint64_t count;
	int ret = goprocesses_look(&gostacks->procs, i, gostacks->shown ? LOOK_NEXT : LOOK_FIRST,
				   NULL, 0, &count, err);

	gostacks->shown += count;
	if (!ret && gostacks->pprof.profile)
		ret = profile_take(gostacks->pprof.profile, gostacks->profile_fd, err);
	return ret;
}

static int show_all(struct gostacks *gostacks, struct errmsg *err)
{
	struct goprocesses *procs = &gostacks->procs;
	struct errmsg why;

	for (size_t i = 0; i < procs->count; i++)
		if (look_once(gostacks, i, &why))
			not_shown(gostacks, procs, i, &why);
	if (gostacks->look.pick.goid && !gostacks->shown && !gostacks->has_failed)
		return errmsg_set(err, "no goroutine %llu",
				  (unsigned long long)gostacks->look.pick.goid);
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

static void ask_again(struct gostacks *gostacks, size_t i)
{
	struct errmsg why;
	uint64_t count;

	if (!goprocesses_look(&gostacks->procs, i, LOOK_NEXT, NULL, 0, &count, &why))
		return;
	gostacks->gone[i] = true;
	if (process_runs(gostacks->procs.all[i].proc))
		fail(gostacks, &why);
}

static bool look(void *ctx)
{
	struct gostacks *gostacks = ctx;
	size_t left = 0;

	gostacks->looked_ns = clock_ns();
	print_time(gostacks);
	for (size_t i = 0; i < gostacks->procs.count; i++) {
		if (!gostacks->gone[i])
			ask_again(gostacks, i);
		left += !gostacks->gone[i];
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
	gostacks->gone = mem_zalloc(procs->count, sizeof(*gostacks->gone));
	if (!ret && look(gostacks))
		ret = session_run(ses, &spec, &end, err);
	if (!ret)
		look_last(gostacks, end);
	free(gostacks->gone);
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
	const struct goprocesses_work work = {.look = look_at, .end = end_looking, .ctx = gostacks};

	gostacks->look.json = gostacks->opts.json;
	gostacks->look.again = gostacks->opts.interval_ns;
	gostacks->look.json_time = gostacks->opts.timestamp ? toolrun_json_time : NULL;
	if (pprof_open(&gostacks->pprof, gostacks->opts.pprof, &goroutines_profile_spec, err) ||
	    profile_channel(gostacks->opts.pprof, &gostacks->profile_fd, err))
		return -1;
	int ret = goprocesses_open(&gostacks->wanted, &work, procs, fail, gostacks, err);

	if (!ret)
		say_core(procs, &gostacks->wanted);
	if (!ret && procs->count)
		ret = gostacks->opts.interval_ns ? watch(gostacks, err) : show_all(gostacks, err);
	if (!ret && procs->refused)
		fprintf(stderr, "gostacks: %zu more processes could not be read: %s\n",
			procs->refused, procs->why.text);
	if (!ret)
		ret = pprof_write(&gostacks->pprof, err);
	if (!goprocesses_close(procs))
		gostacks->has_failed = true;
	pprof_close(&gostacks->pprof);
	if (gostacks->profile_fd)
		close(gostacks->profile_fd);
	return ret ? -1 : session_flush(err);
}

/* --- options --- */

enum { LETTER_SYSTEM = 256, LETTER_ALL, LETTER_FULL, LETTER_STOP, LETTER_CORE };

static const struct options_def own_defs[] = {
	{'p', "pid", "PID", "the process to read; it is not stopped"},
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
	if (number_parse(text, INT64_MAX, &gostacks->look.pick.goid) && gostacks->look.pick.goid)
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
		gostacks->look.each = true;
		return 0;
	case LETTER_STOP:
		gostacks->look.stop = true;
		return 0;
	case LETTER_CORE:
		gostacks->wanted.core = value;
		return 0;
	case LETTER_FULL:
		gostacks->look.each = gostacks->look.full = true;
		return 0;
	case 'f':
		gostacks->look.folded = true;
		return 0;
	case 's':
		gostacks->look.pick.state = value;
		return 0;
	default:
		gostacks->look.pick.system = true;
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
	"    gostacks --pprof stacks.pb.gz 181  # for go tool pprof\n"
	"    gostacks -j 181            # one JSON object a goroutine\n"
	"    gostacks --core core ./app # of a program that has crashed\n";

static int take_pattern(struct gostacks *gostacks, const char *text, struct errmsg *err)
{
	struct goroutines_pick *pick = &gostacks->look.pick;
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
			    : gostacks->look.stop        ? "--stop"
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
	if (gostacks->look.folded + opts->json + gostacks->look.each > 1)
		return errmsg_set(err, "-a or --full, -f and -j exclude each other");
	if (opts->interval_ns && (gostacks->look.folded || gostacks->look.each))
		return errmsg_set(err, "-i shows what has changed: not with -a, --full or -f");
	if (opts->interval_ns && opts->pprof)
		return errmsg_set(err, "--pprof is for a single snapshot: not with -i");
	if (opts->interval_ns && gostacks->look.stop)
		return errmsg_set(err, "--stop is for a single snapshot: not with -i");
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
					 .pprof = true,
					 .own = own_defs,
					 .take = take_option,
					 .ctx = &gostacks,
					 .examples = examples};

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

	forget(&gostacks);
	return ret;
}
