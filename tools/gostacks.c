// SPDX-License-Identifier: Apache-2.0
/* gostacks: what every goroutine of a running Go program does now, without stopping it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/signals.h"
#include "files/process.h"
#include "goroutines/goprocess.h"
#include "goroutines/goroutines_print.h"
#include "tracing/options.h"
#include "tracing/session.h"

struct gostacks {
	struct options opts;
	bool each, folded, system;
	uint64_t goid;     /* 0: all */
	const char *state; /* NULL: any */
};

static bool has_state(const struct snapshot *snap, const struct goroutine *g, const char *state)
{
	if (!strcmp(snapshot_state(snap, g), state))
		return true;
	return g->status == GOROUTINE_WAITING && !strcmp(state, "waiting");
}

static bool is_wanted(const struct gostacks *tool, const struct goroutines_view *view,
		      const struct goroutine *g)
{
	size_t count;
	const uint64_t *stack = snapshot_stack(view->snap, g->stack, &count);

	if (tool->goid)
		return g->goid == tool->goid;
	if (tool->state && !has_state(view->snap, g, tool->state))
		return false;
	return tool->system || !frames_is_system(view->frames, g, stack, count);
}

static unsigned char *pick(const struct gostacks *tool, const struct goroutines_view *view)
{
	const struct snapshot *snap = view->snap;
	unsigned char *picked = mem_zalloc(snap->count + 1, 1);

	for (size_t i = 0; i < snap->count; i++)
		picked[i] = is_wanted(tool, view, &snap->all[i]);
	return picked;
}

/* "4711 jobs (go1.27): 14 goroutines: 1 running, 13 waiting" */
static void print_title(const struct process *proc, int pid, int release,
			const struct goroutines_view *view)
{
	char *path = process_exe_path(proc);
	const char *slash = path ? strrchr(path, '/') : NULL;

	printf("%d ", pid);
	escape_print(stdout, slash ? slash + 1 : "?");
	if (release >= 0)
		printf(" (go1.%d)", release);
	fputs(": ", stdout);
	goroutines_print_summary(stdout, view);
	free(path);
}

static void say_left_out(const struct snapshot *snap)
{
	if (snap->left_out)
		fprintf(stderr, "gostacks: %zu more goroutines are not shown\n", snap->left_out);
	if (snap->unread)
		fprintf(stderr, "gostacks: %zu goroutines could not be read\n", snap->unread);
}

static void print(const struct gostacks *tool, const struct process *proc,
		  const struct goprocess *gp, const struct goroutines_view *view)
{
	if (tool->opts.json) {
		goroutines_print_json(stdout, view);
	} else if (tool->folded) {
		goroutines_print_folded(stdout, view);
	} else if (tool->each || tool->goid) {
		goroutines_print_each(stdout, view);
	} else {
		print_title(proc, tool->opts.pid, goprocess_release(gp), view);
		goroutines_print_groups(stdout, view);
	}
	say_left_out(view->snap);
}

static int show(const struct gostacks *tool, const struct process *proc, struct goprocess *gp,
		struct errmsg *err)
{
	struct snapshot snap;
	int ret = 0;

	if (goprocess_snapshot(gp, &snap, err))
		return -1;
	struct goroutines_view view = {.snap = &snap, .frames = goprocess_frames(gp)};
	unsigned char *picked = pick(tool, &view);

	view.picked = picked;
	if (tool->goid && !memchr(picked, 1, snap.count + 1))
		ret = errmsg_set(err, "no goroutine %llu", (unsigned long long)tool->goid);
	else
		print(tool, proc, gp, &view);
	free(picked);
	snapshot_free(&snap);
	return ret;
}

static int run(const struct gostacks *tool, struct errmsg *err)
{
	struct process *proc = process_open(tool->opts.pid, err);
	struct goprocess *gp = proc ? goprocess_open(proc, err) : NULL;
	int ret = gp ? show(tool, proc, gp, err) : -1;

	goprocess_close(gp);
	process_close(proc);
	return ret ? -1 : session_flush(err);
}

enum { LETTER_SYSTEM = 256 };

static const struct options_def own_defs[] = {
	{'p', "pid", "PID", "the process to look at; it is not stopped"},
	{'a', "all", NULL, "print each goroutine with its whole stack, as Go's tracebacks do"},
	{'g', "goid", "GOID", "print this goroutine only, with its whole stack"},
	{'s', "state", "STATE", "only goroutines in this state, or waiting for this: \"select\""},
	{'f', "folded", NULL, "print folded stacks, one line a stack, for flame graphs"},
	{LETTER_SYSTEM, "system", NULL, "include goroutines of the runtime itself"},
	{0},
};

static int take_pid(struct options *opts, const char *text, struct errmsg *err)
{
	uint64_t pid;

	if (!number_parse(text, INT32_MAX, &pid) || !pid)
		return errmsg_set(err, "\"%s\" is not a process ID", text);
	opts->pid = pid;
	return 0;
}

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gostacks *tool = ctx;

	switch (letter) {
	case 'p':
		return take_pid(&tool->opts, value, err);
	case 'a':
		tool->each = true;
		return 0;
	case 'f':
		tool->folded = true;
		return 0;
	case 's':
		tool->state = value;
		return 0;
	case LETTER_SYSTEM:
		tool->system = true;
		return 0;
	default:
		if (number_parse(value, INT64_MAX, &tool->goid) && tool->goid)
			return 0;
		return errmsg_set(err, "\"%s\" is not a goroutine's ID", value);
	}
}

static const char examples[] =
	"    gostacks 181               # what the goroutines of process 181 do\n"
	"    gostacks -a 181            # each with its whole stack\n"
	"    gostacks -g 17 181         # goroutine 17 alone\n"
	"    gostacks -s 'chan send' 181\n"
	"    gostacks -f 181 > stacks   # for a flame graph\n"
	"    gostacks -j 181            # one JSON object a goroutine\n";

/* The PID may stand by itself. */
static int check(struct gostacks *tool, struct errmsg *err)
{
	struct options *opts = &tool->opts;

	if (opts->command)
		return errmsg_set(err, "gostacks starts no COMMAND");
	if (opts->pattern_count > (opts->pid ? 0 : 1))
		return errmsg_set(err, "one PID is all that gostacks takes");
	if (tool->folded + opts->json + tool->each > 1)
		return errmsg_set(err, "-a, -f and -j exclude each other");
	return opts->pid ? 0 : take_pid(opts, opts->patterns[0], err);
}

int main(int argc, char **argv)
{
	struct gostacks gostacks = {0};
	struct options_tool tool = {.name = "gostacks",
				    .about = "Show what the goroutines of a running Go program do",
				    .args = "[PID]",
				    .process = true,
				    .shared = "j",
				    .own = own_defs,
				    .take = take_option,
				    .ctx = &gostacks,
				    .examples = examples};
	struct errmsg err = {0};

	signals_default();
	enum options_result result = options_parse(&tool, argc, argv, &gostacks.opts, &err);

	if (result == OPTIONS_RUN && check(&gostacks, &err))
		result = OPTIONS_BAD;
	if (result != OPTIONS_RUN)
		return options_answer(&tool, result, &err);
	return run(&gostacks, &err) ? options_fail(&tool, &err) : 0;
}
