// SPDX-License-Identifier: Apache-2.0
#include "blocked/blocked_internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/number.h"
#include "files/process.h"
#include "golang/release.h"
#include "kernel/bpfmap.h"
#include "kernel/processes.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "blocked/losses.h"
#include "tracing/options.h"
#include "blocked/stacks_internal.h"
#include "tracing/toolrun.h"
#include "sites/goruntime.h"

/* Room in maps, which take memory as they fill. */
enum { WAITS_MAX = 1 << 20, SUMS_MAX = 1 << 16, LABEL_SETS_MAX = 1 << 12, DEFINES = 6 };
#define US UINT64_C(1000)

enum { LETTER_STATE = 300 };

static int take_us(uint64_t *ns, const char *value, struct errmsg *err)
{
	uint64_t us;

	if (!number_parse(value, UINT64_MAX / US, &us))
		return errmsg_set(err, "\"%s\" is not a number of microseconds", value);
	*ns = us * US;
	return 0;
}

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct blocked *blocked = ctx;

	switch (letter) {
	case 'f':
		blocked->folded = true;
		return 0;
	case 'm':
		return take_us(&blocked->min_ns, value, err);
	case 'M':
		return take_us(&blocked->max_ns, value, err);
	}
	blocked->state = value;
	return 0;
}

/* --- before the first wait --- */

/* None of --state is among what goroutines of the program can wait for. */
static int refuse_state(const struct blocked *blocked, const struct program *prog,
			struct errmsg *err)
{
	bool tells_locks = false;

	for (size_t i = 0; i < WAIT_REASONS; i++)
		tells_locks |=
			blocked->reasons[i] && !strcmp(blocked->reasons[i], "sync.Mutex.Lock");
	errmsg_set(err, "\"%s\": its goroutines have no state \"%s\"", prog->path, blocked->state);
	if (!tells_locks && !strncmp(blocked->state, "sync.", 5))
		errmsg_hint(err, "before Go 1.20 locks are waited for in state \"semacquire\"");
	else
		errmsg_hint(err, "without --state, %s shows which they have", blocked->tool->name);
	return -1;
}

/* Which numbers of what is waited for are asked for, as a mask; 0: none that the program has. */
static uint64_t wanted_reasons(const struct blocked *blocked)
{
	uint64_t mask = 0;
	bool known = false;

	for (uint32_t i = 0; i < WAIT_REASONS; i++) {
		char *text = blocked_reason(blocked, i);

		if (!blocked->state || !fnmatch(blocked->state, text, 0)) {
			mask |= UINT64_C(1) << i;
			known |= blocked->reasons[i] != NULL;
		}
		free(text);
	}
	return known ? mask : 0;
}

/* Where they are not known, each goroutine has some that cannot be read. */
static void define_labels(struct tracer *tracer, const struct program *prog,
			  const struct goruntime *rt)
{
	tracer_define(tracer, "G_LABELS", goruntime_labels(prog, rt));
	if (prog->release < RELEASE_LABEL_SETS)
		tracer_define(tracer, "LABEL_MAP", 1);
	tracer_define(tracer, "LABEL_SETS", bpfmap_room(LABEL_SETS_MAX));
}

static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct blocked *blocked = ctx;
	const struct program *prog = tracer_program(tracer, 0);
	const struct goruntime *rt = tracer_runtime(tracer, 0);

	if (stacks_define(tracer, blocked->tool->name, err))
		return -1;
	if (!rt->g_waitreason || !runtime_vars_wait_reasons_of(prog, blocked->reasons))
		return errmsg_set(err,
				  "\"%s\": what goroutines wait for is not found in the code of "
				  "runtime.waitReason.String",
				  prog->path);
	uint64_t wanted = wanted_reasons(blocked);

	if (!wanted)
		return refuse_state(blocked, prog, err);
	blocked->reasons_wanted = wanted;
	tracer_define(tracer, "REASONS", wanted);
	tracer_define(tracer, "G_WAITREASON", rt->g_waitreason);
	if (blocked->beside && blocked->beside->labels)
		define_labels(tracer, prog, rt);
	blocked->reason_at = rt->g_waitreason;
	return 0;
}

/* From now on waits are seen. */
static int switch_on(struct blocked *blocked, uint64_t *since_ns, struct errmsg *err)
{
	*since_ns = clock_ns();
	if (bpfmap_set(blocked->control, 1))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

/* Else the kernel side knows what each of them waits for. */
static int open_memory(struct blocked *blocked, struct errmsg *err)
{
	if (tracer_program(blocked->tracer, 0)->release >= RELEASE_REASON_FIRST)
		return 0;
	struct process *proc = process_open(blocked->opts->pid, err);

	if (proc)
		blocked->memory = process_memory(proc, err);
	process_close(proc);
	return blocked->memory >= 0 ? 0 : -1;
}

static int begin_beside(struct blocked *blocked, struct errmsg *err)
{
	if (open_memory(blocked, err))
		return -1;
	struct blocked_before *before = blocked_before_new(blocked);
	uint64_t since_ns;
	int ret = switch_on(blocked, &since_ns, err);

	if (!ret)
		ret = blocked->beside->begin(blocked->beside->ctx, blocked->run->profile, err);
	if (!ret)
		blocked_before_note(before, since_ns);
	blocked_before_free(before);
	return ret;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct blocked *blocked = ctx;
	uint64_t since_ns;

	blocked->tracer = tracer;
	blocked->sums = tracer_map(tracer, "sums");
	blocked->waits = tracer_map(tracer, "waits");
	blocked->control = tracer_map(tracer, "control");
	blocked->losses = tracer_map(tracer, "losses");
	blocked->label_sets =
		blocked->beside && blocked->beside->labels ? tracer_map(tracer, "label_sets") : -1;
	blocked->parked = blocked->beside ? tracer_map(tracer, "parked") : -1;
	blocked->procs = processes_new(tracer_bpf(tracer));
	blocked->stacks = stacks_new(tracer);
	return blocked->beside ? begin_beside(blocked, err) : switch_on(blocked, &since_ns, err);
}

static void started(void *ctx)
{
	const struct blocked *blocked = ctx;
	FILE *out = blocked->opts->json || blocked->folded ? stderr : stdout;

	if (blocked->beside) {
		blocked->beside->started(blocked->beside->ctx);
		return;
	}
	fprintf(out, "Tracing blocked time (us) of goroutines by %s... Hit Ctrl-C to end.\n",
		blocked->tool->by);
	fflush(out);
}

static int stop(void *ctx)
{
	struct blocked *blocked = ctx;

	blocked->stopped_ns = clock_ns();
	if (blocked->beside)
		blocked->beside->stop(blocked->beside->ctx);
	return bpfmap_set(blocked->control, 0);
}

/* Ignores errors: what cannot be swept now can be later. */
static void sweep(void *ctx)
{
	struct blocked *blocked = ctx;

	if (processes_due(blocked->procs))
		blocked_sweep(blocked);
}

/* --- what was seen --- */

void blocked_add_row(struct blocked *blocked, struct blocked_row *row)
{
	uint64_t bias = blocked_bias(blocked, &row->key);

	row->stack_shown = stacks_shown(blocked->stacks, row->key.stack, bias);
	row->waker_shown = stacks_shown(blocked->stacks, row->key.waker, bias);
	blocked->rows = mem_grow(blocked->rows, blocked->row_count, &blocked->row_cap,
				 sizeof(*blocked->rows));
	blocked->rows[blocked->row_count++] = *row;
}

static int add_sum(const void *key, const void *value, void *arg)
{
	struct blocked *blocked = arg;
	struct blocked_row row = {0};

	memcpy(&row.key, key, sizeof(row.key));
	memcpy(&row.sum, value, sizeof(row.sum));
	if (blocked->tool->settle)
		blocked->tool->settle(blocked, &row.key);
	blocked_add_row(blocked, &row);
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct blocked_row *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* 0: the same is shown of both. */
static int by_shown(const struct blocked_row *x, const struct blocked_row *y)
{
	int order = compare(x->stack_shown, y->stack_shown);

	order = order ? order : compare(x->waker_shown, y->waker_shown);
	order = order ? order : compare(x->key.pid, y->key.pid);
	order = order ? order : compare(x->key.reason, y->key.reason);
	return order ? order : compare(x->key.by, y->key.by);
}

static int by_shown_then_key(const void *a, const void *b)
{
	int order = by_shown(a, b);

	return order ? order : by_key(a, b);
}

/* The largest last, where the eye is; else in an order that is the same again. */
static int by_time(const void *a, const void *b)
{
	const struct blocked_row *x = a, *y = b;

	if (x->sum.total_ns != y->sum.total_ns)
		return x->sum.total_ns < y->sum.total_ns ? -1 : 1;
	return by_key(a, b);
}

/* Rows of which the same is shown become one. */
static void merge(struct blocked *blocked)
{
	struct blocked_row *rows = blocked->rows;
	size_t kept = 0;

	qsort(rows, blocked->row_count, sizeof(*rows), by_shown_then_key);
	for (size_t i = 0; i < blocked->row_count; i++) {
		if (!kept || by_shown(&rows[kept - 1], &rows[i])) {
			rows[kept++] = rows[i];
			continue;
		}
		struct wait_sum *sum = &rows[kept - 1].sum, *more = &rows[i].sum;

		sum->waits += more->waits;
		sum->total_ns += more->total_ns;
		sum->max_ns = sum->max_ns > more->max_ns ? sum->max_ns : more->max_ns;
		blocked_open_add(&rows[kept - 1].open, &rows[i].open);
	}
	blocked->row_count = kept;
}

bool blocked_labels(const struct blocked *blocked, const struct wait_key *key,
		    struct wait_labels *out)
{
	if (!key->labels)
		return false;
	memset(out, 0, sizeof(*out));
	if (bpfmap_lookup(blocked->label_sets, &key->labels, out))
		out->sample.labels_cut = 1;
	return true;
}

/* --- output --- */

static void show_beside(const struct blocked *blocked)
{
	const struct blocked_beside *beside = blocked->beside;

	for (size_t i = 0; i < blocked->row_count; i++) {
		const struct blocked_row *row = &blocked->rows[i];
		char *reason = blocked_reason(blocked, row->key.reason);

		beside->row(beside->ctx, blocked, &row->key, reason,
			    row->sum.total_ns + row->open.ns);
		free(reason);
	}
	beside->show(beside->ctx);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct blocked *blocked = ctx;

	blocked->row_count = 0;
	if (!final)
		blocked->stopped_ns = clock_ns();
	blocked_sweep(blocked);
	if (bpfmap_each(blocked->sums, sizeof(struct wait_key), sizeof(struct wait_sum), add_sum,
			blocked) ||
	    blocked_add_open(blocked))
		return errmsg_set(err, "cannot read the sums: %s", strerror(errno));
	if (blocked->beside) {
		if (blocked->opts->interval_ns)
			blocked_since(blocked);
		show_beside(blocked);
		return 0;
	}
	if (blocked->row_count) {
		merge(blocked);
		qsort(blocked->rows, blocked->row_count, sizeof(*blocked->rows), by_time);
	}
	if (!blocked->opts->json && !blocked->folded)
		putchar('\n');
	for (size_t i = 0; i < blocked->row_count; i++)
		blocked_put(blocked, &blocked->rows[i]);
	blocked_put_rest(blocked);
	fflush(stdout);
	return 0;
}

static void say_lost(void *ctx)
{
	static const char *const said[WAIT_LOSSES] = {
		[WAIT_LOSS_WAITS] = "waits were lost: more goroutines than there is room for",
		[WAIT_LOSS_SUMS] = "waits were lost: more stacks and states than there is room for",
		[WAIT_LOSS_STACKS] = "waits have no stack: more of them than there is room for",
		[WAIT_LOSS_UNREADABLE] = "waits were lost: the goroutine could not be read",
		[WAIT_LOSS_LABELS] =
			"waits have no labels: more sets of these than there is room for",
	};
	const struct blocked *blocked = ctx;
	uint64_t lost[WAIT_LOSSES];

	losses_say(blocked->losses, blocked->tool->name, said, lost, WAIT_LOSSES);
	if (blocked->beside)
		blocked->beside->lost(blocked->beside->ctx);
}

/* --- the tool --- */

static const struct options_def own_options[] = {
	{'f', "folded", NULL, "output folded format, for flame graphs"},
	{'m', "min-block-time", "US", "shortest wait that counts, in microseconds"},
	{'M', "max-block-time", "US", "longest wait that counts, in microseconds"},
	{LETTER_STATE, "state", "STATE", "this state only, such as 'chan receive'; * is any text"},
	{0},
};

static int trace(struct blocked *blocked, const struct options_tool *tool)
{
	static const struct runtime_func funcs[] = {{.names = {"runtime.casgstatus"}}};
	const struct blocked_beside *beside = blocked->beside;
	/* the last one where all of the time counts */
	struct bpfprog_define defs[DEFINES] = {
		{"WAITS", bpfmap_room(WAITS_MAX)}, {"STACKS", bpfmap_room(STACKS_MAX)},
		{"SUMS", bpfmap_room(SUMS_MAX)},   {"MIN_NS", blocked->min_ns},
		{"MAX_NS", blocked->max_ns},       {"PARKED", bpfmap_room(WAITS_MAX)},
	};
	struct toolrun run = {.tool = tool,
			      .opts = blocked->opts,
			      .config = {.cpu = -1,
					 .runtime_funcs = funcs,
					 .runtime_func_count = 1,
					 .bpf_file = blocked->tool->bpf_file,
					 .defs = defs,
					 .def_count = DEFINES - !beside,
					 .goroutines = true,
					 .sleepable = true,
					 .plan = plan,
					 .plan_ctx = blocked},
			      .begin = begin,
			      .started = started,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .stop = stop,
			      .profile_spec = blocked->tool->profile_spec,
			      .events = beside ? beside->events : NULL,
			      .folded = blocked->folded,
			      .quiet_end = beside,
			      .ctx = blocked};

	blocked->run = &run;
	int status = toolrun(&run);

	processes_free(blocked->procs);
	stacks_free(blocked->stacks);
	for (size_t i = 0; i < WAIT_REASONS; i++)
		free(blocked->reasons[i]);
	free(blocked->rows);
	free(blocked->ended);
	free(blocked->before);
	if (blocked->memory >= 0)
		close(blocked->memory);
	free(blocked->comm);
	return status;
}

int blocked_main(const struct blocked_tool *tool, int argc, char **argv)
{
	struct options opts;
	struct blocked blocked = {.tool = tool, .opts = &opts, .max_ns = INT64_MAX, .memory = -1};
	struct options_tool shown = {.name = tool->name,
				     .about = tool->about,
				     .args = "[BINARY] [-- COMMAND [ARG...]]",
				     .shared = "pdvj",
				     .running = true,
				     .binaries = true,
				     .numbers = OPTIONS_DURATION,
				     .force = true,
				     .pprof = true,
				     .own = own_options,
				     .take = take_option,
				     .ctx = &blocked,
				     .examples = tool->examples};
	int status;

	if (!options_main(&shown, argc, argv, &opts, &status))
		return status;
	return trace(&blocked, &shown);
}

int blocked_run_beside(const struct blocked_tool *tool, const struct blocked_beside *beside,
		       const struct options_tool *shown, const struct options *opts)
{
	struct blocked blocked = {.tool = tool,
				  .beside = beside,
				  .opts = opts,
				  .max_ns = INT64_MAX,
				  .memory = -1,
				  .folded = beside->folded};

	return trace(&blocked, shown);
}
