// SPDX-License-Identifier: Apache-2.0
/* gotop: a live screen of the Go programs that run; their goroutines and heaps by stack. */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/signals.h"
#include "files/process.h"
#include "gostat/stats.h"
#include "gotop/topscreen.h"
#include "gotop/toptable.h"
#include "gotop/toptext.h"
#include "readers/readertool.h"
#include "readers/statlook.h"

enum { SHIFT = 16, MESSAGE_MAX = 600, MS = 1000000 };
enum { NEW_AFTER = 3 }; /* intervals after which programs that have come are looked for */

struct found {
	struct stats now;
	char name[64];
};

struct gotop {
	struct readertool rt; /* for its options */
	struct goprocesses procs;
	struct found found;          /* by the last look */
	struct stats_reader *reader; /* in the process that reads */
	struct toptable table;
	size_t chosen, first; /* of the rows shown */
	int chosen_pid;       /* 0: the first row, whichever it is */
	char message[MESSAGE_MAX];
	bool filters; /* what is typed goes into the filter */
	bool leaves;
	uint64_t rounds;
	uint64_t end_ns;         /* by -d; UINT64_MAX: never */
	struct pollfd inputs[2]; /* the terminal; what a signal makes readable */
};

/* --- looks --- */

static int look_at(void *ctx, const struct goprocesses_one *one, int what, const void *more,
		   size_t len, uint64_t *count, struct errmsg *err)
{
	struct gotop *top = ctx;

	(void)what;
	(void)more;
	(void)len;
	(void)err;
	statlook(&top->reader, one, &top->found.now);
	snprintf(top->found.name, sizeof(top->found.name), "%s", one->name);
	*count = 1;
	return goprocess_check(one->gp, err);
}

static void end_looking(void *ctx)
{
	struct gotop *top = ctx;

	stats_reader_free(top->reader);
}

static struct goprocesses_work work_of(struct gotop *top)
{
	return (struct goprocesses_work){look_at, end_looking, top, &top->found,
					 sizeof(top->found)};
}

static void look(struct gotop *top)
{
	const struct goprocesses_work work = work_of(top);
	struct goprocesses *procs = &top->procs;

	if (!top->rt.wanted.pid_count && top->rounds++ % NEW_AFTER == 0)
		goprocesses_more(&top->rt.wanted, &work, procs);
	for (size_t i = 0; i < procs->count && !signals_came();) {
		struct errmsg why;
		uint64_t count;
		int pid = procs->all[i].pid;

		if (!goprocesses_look(procs, i, 0, NULL, 0, &count, &why)) {
			toptable_put(&top->table, pid, top->found.name, &top->found.now);
			i++;
			continue;
		}
		if (process_runs(procs->all[i].proc))
			snprintf(top->message, sizeof(top->message), "%s", why.text);
		toptable_remove(&top->table, pid);
		goprocesses_drop(procs, i);
	}
}

/* --- the screen --- */

/* The chosen one stays chosen wherever its row goes. */
static void place(struct gotop *top)
{
	struct toptable *table = &top->table;
	size_t page = topscreen_page(), at = table->shown_count;

	toptable_order(table);
	for (size_t i = 0; i < table->shown_count; i++)
		if (table->shown[i]->pid == top->chosen_pid)
			at = i;
	if (at < table->shown_count)
		top->chosen = at;
	else if (top->chosen >= table->shown_count)
		top->chosen = table->shown_count ? table->shown_count - 1 : 0;
	if (top->chosen < top->first)
		top->first = top->chosen;
	if (top->chosen >= top->first + page)
		top->first = top->chosen - page + 1;
}

/* What stands below the rows; the caller frees. */
static char *message_of(const struct gotop *top)
{
	const char *filter = top->table.filter;

	if (top->filters)
		return mem_printf("filter: %s_", filter);
	if (top->message[0])
		return escape_text(top->message);
	if (*filter)
		return mem_printf("filter: %s", filter);
	if (!top->procs.refused)
		return mem_strdup("");
	char *why = escape_text(top->procs.why.text);
	char *text = mem_printf("%zu more could not be read: %s", top->procs.refused, why);

	free(why);
	return text;
}

static void draw(struct gotop *top)
{
	char *below = message_of(top);

	place(top);
	topscreen_rows(&top->table, top->first, top->chosen, below);
	free(below);
}

static void move(struct gotop *top, long by)
{
	long last = (long)top->table.shown_count - 1, to = (long)top->chosen + by;

	if (last < 0)
		return;
	top->chosen = to < 0 ? 0 : to > last ? last : to;
	top->chosen_pid = top->table.shown[top->chosen]->pid;
}

/* --- what is typed --- */

enum { NO_KEY = -1, THE_END = -2 };

/* A terminal that is gone is readable for ever, and nothing comes from it. */
static bool is_over(const struct gotop *top, uint64_t now)
{
	return signals_came() || top->leaves || now >= top->end_ns ||
	       top->inputs[0].revents & (POLLHUP | POLLERR | POLLNVAL);
}

/* The next key; NO_KEY: the time has come; THE_END: to leave. */
static int wait_key(struct gotop *top, uint64_t until_ns)
{
	for (;;) {
		int key = topscreen_key();
		uint64_t now = clock_ns(), next = until_ns < top->end_ns ? until_ns : top->end_ns;

		if (is_over(top, now))
			return THE_END;
		if (key >= 0)
			return key;
		if (now >= until_ns)
			return NO_KEY;
		uint64_t ms = (next - now) / MS + 1;

		poll(top->inputs, 2, ms < INT_MAX ? (int)ms : INT_MAX);
	}
}

/* --- another tool's output --- */

static const struct view {
	const char *tool, *what;
} goroutines = {"gostacks", "goroutines by stack"}, heap = {"goheap", "heap by stack"};

struct reading {
	struct toptext text;
	size_t first, column;
};

static void scroll(struct reading *in, int key)
{
	size_t page = topscreen_page();
	size_t last = in->text.count > page ? in->text.count - page : 0;
	long to = (long)in->first;

	switch (key) {
	case TOPSCREEN_UP:
		to--;
		break;
	case TOPSCREEN_DOWN:
		to++;
		break;
	case TOPSCREEN_PAGE_UP:
		to -= (long)page;
		break;
	case TOPSCREEN_PAGE_DOWN:
		to += (long)page;
		break;
	case TOPSCREEN_HOME:
		to = 0;
		break;
	case TOPSCREEN_END:
		to = (long)last;
		break;
	case TOPSCREEN_RIGHT:
		in->column += SHIFT;
		break;
	case TOPSCREEN_LEFT:
		in->column -= in->column < SHIFT ? in->column : SHIFT;
		break;
	default:
		break;
	}
	in->first = to < 0 ? 0 : (size_t)to > last ? last : (size_t)to;
}

static void read_text(struct reading *in, const struct view *view, const char *pid)
{
	const char *const args[] = {pid, NULL};

	toptext_free(&in->text);
	toptext_run(view->tool, args, &in->text);
	scroll(in, -1);
}

static void show_text(struct gotop *top, const struct view *view)
{
	struct reading in = {0};
	char pid[16], title[64];
	int key = 'r';

	if (!top->table.shown_count)
		return;
	top->chosen_pid = top->table.shown[top->chosen]->pid;
	snprintf(pid, sizeof(pid), "%d", top->chosen_pid);
	snprintf(title, sizeof(title), "process %s: %s", pid, view->what);
	for (; key != 'q' && key != TOPSCREEN_ESCAPE && key >= 0; key = wait_key(top, UINT64_MAX)) {
		if (key == 'r' || key == TOPSCREEN_ENTER)
			read_text(&in, view, pid);
		scroll(&in, key);
		topscreen_text(title, &in.text, in.first, in.column);
	}
	toptext_free(&in.text);
}

/* --- keys --- */

static void sort_by(struct gotop *top, int step)
{
	top->table.sort = (top->table.sort + TOPTABLE_COLUMNS + step) % TOPTABLE_COLUMNS;
}

static void edit_filter(struct gotop *top, int key)
{
	char *filter = top->table.filter;
	size_t len = strlen(filter);

	if (key == TOPSCREEN_ENTER || key == TOPSCREEN_ESCAPE)
		top->filters = false;
	if (key == TOPSCREEN_ESCAPE)
		filter[0] = '\0';
	else if (key == TOPSCREEN_BACKSPACE && len)
		filter[len - 1] = '\0';
	else if (key > ' ' && key < 0x7f && len + 1 < sizeof(top->table.filter))
		snprintf(filter + len, sizeof(top->table.filter) - len, "%c", key);
}

static void take_key(struct gotop *top, int key)
{
	long page = (long)topscreen_page();

	top->message[0] = '\0';
	switch (key) {
	case 'q':
		top->leaves = true;
		return;
	case TOPSCREEN_UP:
		return move(top, -1);
	case TOPSCREEN_DOWN:
		return move(top, 1);
	case TOPSCREEN_PAGE_UP:
		return move(top, -page);
	case TOPSCREEN_PAGE_DOWN:
		return move(top, page);
	case TOPSCREEN_HOME:
		return move(top, -(long)top->table.count);
	case TOPSCREEN_END:
		return move(top, (long)top->table.count);
	case TOPSCREEN_ENTER:
		return show_text(top, &goroutines);
	case 'h':
		return show_text(top, &heap);
	case '<':
	case TOPSCREEN_LEFT:
		return sort_by(top, -1);
	case '>':
	case TOPSCREEN_RIGHT:
		return sort_by(top, 1);
	case 'r':
		top->table.reverse = !top->table.reverse;
		return;
	case '/':
		top->filters = true;
		return;
	case TOPSCREEN_ESCAPE:
		top->table.filter[0] = '\0';
		return;
	default:
		return;
	}
}

/* Takes what is typed until the time has come; false: the end. */
static bool wait_until(struct gotop *top, uint64_t until_ns)
{
	int key;

	while ((key = wait_key(top, until_ns)) >= 0) {
		if (top->filters)
			edit_filter(top, key);
		else
			take_key(top, key);
		draw(top);
	}
	return key == NO_KEY;
}

static void watch(struct gotop *top, int signal_fd)
{
	const struct options *opts = &top->rt.opts;
	uint64_t next;

	top->inputs[0] = (struct pollfd){STDIN_FILENO, POLLIN, 0};
	top->inputs[1] = (struct pollfd){signal_fd, POLLIN, 0};
	top->end_ns = opts->duration_ns ? clock_ns() + opts->duration_ns : UINT64_MAX;
	do {
		next = clock_ns() + opts->interval_ns;
		look(top);
		draw(top);
	} while (!(top->rt.wanted.pid_count && !top->procs.count) && wait_until(top, next));
}

/* --- options --- */

static struct gotop top = {.table = {.sort = TOPTABLE_CPU}};
static const struct options_tool tool;

static void failed(void *ctx, const struct errmsg *err)
{
	(void)ctx;
	top.rt.has_failed = true;
	options_fail(&tool, err);
}

static int run(struct errmsg *err)
{
	const struct goprocesses_work work = work_of(&top);
	int signal_fd = signals_hold();

	/* of all that run, or of a name, some may come later */
	if (!top.rt.wanted.pid_count)
		top.procs =
			(struct goprocesses){.result = work.result, .result_len = work.result_len};
	else if (goprocesses_open(&top.rt.wanted, &work, &top.procs, failed, NULL, err))
		return -1;
	bool opened = !top.rt.has_failed && !topscreen_open(err);

	if (opened)
		watch(&top, signal_fd);
	topscreen_close();
	goprocesses_close(&top.procs);
	toptable_free(&top.table);
	return opened || top.rt.has_failed ? 0 : -1;
}

enum { OPT_METRICS = 1024 };

static const struct options_def own_defs[] = {
	READERTOOL_DEFS,
	READERTOOL_WATCH_DEFS,
	{OPT_METRICS, "metrics", "WHERE", NULL},
	{0},
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	(void)ctx;
	if (letter == OPT_METRICS) {
		errmsg_set(err, "gotop is a screen, and publishes no metrics");
		errmsg_hint(err, "gostat --metrics %s", value);
		return -1;
	}
	return readertool_take(&top.rt, letter, value, err);
}

static const char examples[] =
	"    gotop             # all Go programs, most processor time first\n"
	"    gotop -n etcd     # whose name contains etcd\n"
	"    gotop -i 5 181    # process 181, every 5 seconds\n";

static const struct options_tool tool = {.name = "gotop",
					 .about = "Show the Go programs that run on a live screen",
					 .args = "[PID...]",
					 .process = true,
					 .shared = "",
					 .own = own_defs,
					 .take = take_option,
					 .examples = examples};

int main(int argc, char **argv)
{
	struct errmsg err = {0};
	int status;

	signals_take(tool.name);
	top.rt = (struct readertool){
		.tool = &tool, .each_interval = true, .all_by_default = true, .pids_only = true};
	if (!readertool_parse(&top.rt, argc, argv, &status))
		return status;
	return run(&err) ? options_fail(&tool, &err) : top.rt.has_failed;
}
