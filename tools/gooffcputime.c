// SPDX-License-Identifier: Apache-2.0
/* gooffcputime: how long goroutines are blocked, by stack and by what they wait for. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/signals.h"
#include "bpf-src/shared/latency.h"
#include "bpf-src/shared/offcpu.h"
#include "files/process.h"
#include "goroutines/frame_print.h"
#include "goroutines/runtime_vars.h"
#include "kernel/bpfmap.h"
#include "kernel/kernelfeature.h"
#include "kernel/processes.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "tracing/options.h"
#include "tracing/stacks.h"
#include "tracing/toolrun.h"

/* Room in maps, which take memory as they fill. */
enum { WAITS_MAX = 1 << 20, SUMS_MAX = 1 << 16 };
#define US UINT64_C(1000)

struct row { /* of the output */
	struct offcpu_key key;
	struct offcpu_sum sum;
};

struct offcpu {
	const struct options *opts;
	const char *state; /* NULL: every one */
	uint64_t min_ns, max_ns;
	bool folded;
	const struct tracer *tracer;
	int sums, waits, control, losses; /* maps */
	struct processes *procs;
	char *reasons[WAIT_REASONS];
	struct stacks *stacks;
	struct row *rows;
	size_t row_count, row_cap;
	char *comm; /* of the process shown last */
	pid_t comm_pid;
};

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
	struct offcpu *off = ctx;

	switch (letter) {
	case 'f':
		off->folded = true;
		return 0;
	case 'm':
		return take_us(&off->min_ns, value, err);
	case 'M':
		return take_us(&off->max_ns, value, err);
	}
	off->state = value;
	return 0;
}

/* --- before the first wait --- */

static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct offcpu *off = ctx;
	const struct program *prog = tracer->programs[0];
	const struct goruntime *rt = &tracer->runtimes[0];

	if (tracer->program_count != 1) {
		errmsg_set(err, "gooffcputime traces one program at a time");
		errmsg_hint(err, "start it once for each");
		return -1;
	}
	if (!rt->g_waitreason || !runtime_vars_wait_reasons_of(prog, off->reasons))
		return errmsg_set(err,
				  "\"%s\": what goroutines wait for is not found in the code of "
				  "runtime.waitReason.String",
				  prog->path);
	tracer_define(tracer, "G_WAITREASON", rt->g_waitreason);
	stacks_define(tracer);
	return 0;
}

static int switch_on(const struct offcpu *off, uint32_t active)
{
	uint32_t zero = 0;

	return bpfmap_update(off->control, &zero, &active);
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct offcpu *off = ctx;

	off->tracer = tracer;
	off->sums = bpfprog_map(tracer->bpf, "sums");
	off->waits = bpfprog_map(tracer->bpf, "waits");
	off->control = bpfprog_map(tracer->bpf, "control");
	off->losses = bpfprog_map(tracer->bpf, "losses");
	off->procs = processes_new(tracer->bpf);
	off->stacks = stacks_new(tracer);
	if (switch_on(off, 1))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

static void started(void *ctx)
{
	const struct offcpu *off = ctx;
	FILE *out = off->opts->json || off->folded ? stderr : stdout;

	fputs("Tracing blocked time (us) of goroutines by stack... Hit Ctrl-C to end.\n", out);
	fflush(out);
}

static int stop(void *ctx)
{
	return switch_on(ctx, 0);
}

/* Ignores errors: what cannot be swept now can be later. */
static void sweep(void *ctx)
{
	struct offcpu *off = ctx;

	if (!processes_due(off->procs) || !processes_look(off->procs))
		return;
	processes_sweep(off->procs, off->waits, NULL, NULL);
	processes_forget(off->procs);
}

/* --- what was seen --- */

/* "chan receive"; of a number that the program has no words for, the number */
static char *reason_text(const struct offcpu *off, uint32_t reason)
{
	if (reason < WAIT_REASONS && off->reasons[reason])
		return mem_strdup(off->reasons[reason]);
	return mem_printf("wait reason %" PRIu32, reason);
}

static bool is_wanted(const struct offcpu *off, uint32_t reason)
{
	char *text = off->state ? reason_text(off, reason) : NULL;
	bool wanted = !text || !fnmatch(off->state, text, 0);

	free(text);
	return wanted;
}

static int add_row(const void *key, const void *value, void *arg)
{
	struct offcpu *off = arg;
	struct row row;

	memcpy(&row.key, key, sizeof(row.key));
	memcpy(&row.sum, value, sizeof(row.sum));
	if (!is_wanted(off, row.key.reason))
		return 0;
	off->rows = mem_grow(off->rows, off->row_count, &off->row_cap, sizeof(*off->rows));
	off->rows[off->row_count++] = row;
	return 0;
}

/* The largest last, where the eye is; else in an order that is the same again. */
static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->sum.total_ns != y->sum.total_ns)
		return x->sum.total_ns < y->sum.total_ns ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/* of the process, as the probe's instruction has been moved with the rest */
static uint64_t bias_of(const struct offcpu *off, const struct row *row)
{
	return row->key.probe - off->tracer->sel->items[0].sites.entry.addr;
}

/* "etcd"; "-" if it has ended. Valid until the next call. */
static const char *process_text(struct offcpu *off, pid_t pid)
{
	if (off->comm && pid == off->comm_pid)
		return off->comm;
	struct process *proc = process_open(pid, NULL);
	char *name = proc ? process_name(proc) : NULL;

	process_close(proc);
	free(off->comm);
	off->comm = name ? name : mem_strdup("-");
	off->comm_pid = pid;
	return off->comm;
}

static void print_row(struct offcpu *off, const struct row *row)
{
	char *reason = reason_text(off, row->key.reason);

	stacks_print(off->stacks, row->key.stack, bias_of(off, row), stdout);
	fputs("    -                ", stdout);
	escape_print(stdout, process_text(off, row->key.pid));
	printf(" (%" PRIu32 "): ", row->key.pid);
	escape_print(stdout, reason);
	printf("\n        %llu in %llu wait%s, at most %llu\n\n", row->sum.total_ns / US,
	       row->sum.waits, row->sum.waits == 1 ? "" : "s", row->sum.max_ns / US);
	free(reason);
}

static void fold_row(struct offcpu *off, const struct row *row)
{
	char *reason = reason_text(off, row->key.reason);

	stacks_print_folded(off->stacks, row->key.stack, bias_of(off, row), stdout);
	putchar('[');
	frame_print_word(stdout, reason);
	printf("] %llu\n", row->sum.total_ns / US);
	free(reason);
}

static void json_row(struct offcpu *off, const struct row *row)
{
	char *reason = reason_text(off, row->key.reason);
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_key(&json, "type");
	json_string(&json, "offcpu");
	json_key(&json, "pid");
	json_u64(&json, row->key.pid);
	json_key(&json, "comm");
	json_string(&json, process_text(off, row->key.pid));
	json_key(&json, "state");
	json_string(&json, reason);
	json_key(&json, "waits");
	json_u64(&json, row->sum.waits);
	json_key(&json, "total_ns");
	json_u64(&json, row->sum.total_ns);
	json_key(&json, "max_ns");
	json_u64(&json, row->sum.max_ns);
	json_key(&json, "stack");
	stacks_json(off->stacks, row->key.stack, bias_of(off, row), &json);
	json_object_end(&json);
	free(reason);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct offcpu *off = ctx;

	(void) final;
	if (bpfmap_each(off->sums, sizeof(struct offcpu_key), sizeof(struct offcpu_sum), add_row,
			off))
		return errmsg_set(err, "cannot read the sums: %s", strerror(errno));
	qsort(off->rows, off->row_count, sizeof(*off->rows), by_time);
	if (!off->opts->json && !off->folded)
		putchar('\n');
	for (size_t i = 0; i < off->row_count; i++)
		(off->opts->json ? json_row
		 : off->folded   ? fold_row
				 : print_row)(off, &off->rows[i]);
	fflush(stdout);
	return 0;
}

static void say_lost(void *ctx)
{
	static const char *const said[OFFCPU_LOSSES] = {
		[OFFCPU_LOSS_WAITS] = "waits were lost: more goroutines than there is room for",
		[OFFCPU_LOSS_SUMS] =
			"waits were lost: more stacks and states than there is room for",
		[OFFCPU_LOSS_STACKS] = "waits have no stack: more of them than there is room for",
		[OFFCPU_LOSS_UNREADABLE] = "waits were lost: the goroutine could not be read",
	};
	const struct offcpu *off = ctx;
	uint64_t lost[OFFCPU_LOSSES] = {0};

	bpfmap_sum_percpu(off->losses, OFFCPU_LOSSES, 1, lost);
	for (size_t i = 0; i < OFFCPU_LOSSES; i++)
		if (lost[i])
			fprintf(stderr, "gooffcputime: %" PRIu64 " %s\n", lost[i], said[i]);
}

/* --- the tool --- */

static const struct options_def own_options[] = {
	{'f', "folded", NULL, "output folded format, for flame graphs"},
	{'m', "min-block-time", "US", "shortest wait that counts, in microseconds"},
	{'M', "max-block-time", "US", "longest wait that counts, in microseconds"},
	{LETTER_STATE, "state", "STATE", "this state only, such as 'chan receive'; * is any text"},
	{0},
};

static const char examples[] =
	"    gooffcputime -p 181                      # where do goroutines of 181 block?\n"
	"    gooffcputime -d 5 -p 181                 # for 5 seconds\n"
	"    gooffcputime -m 1000 -p 181              # waits of a millisecond and longer\n"
	"    gooffcputime --state 'sync.*' -p 181     # for locks only\n"
	"    gooffcputime -f -d 30 -p 181 > out.stacks\n"
	"                                             # for flamegraph.pl --countname us\n"
	"    gooffcputime -- ./app arg                # run a program\n";

static int run_offcpu(struct offcpu *off, const struct options_tool *tool)
{
	static const struct runtime_func funcs[] = {{.names = {"runtime.casgstatus"}}};
	struct bpfprog_define defs[] = {
		{"WAITS", bpfmap_room(WAITS_MAX)}, {"STACKS", bpfmap_room(STACKS_MAX)},
		{"SUMS", bpfmap_room(SUMS_MAX)},   {"MIN_NS", off->min_ns},
		{"MAX_NS", off->max_ns},           {"CMPXCHG", 1},
	};
	size_t count = sizeof(defs) / sizeof(*defs);
	struct toolrun run = {.tool = tool,
			      .opts = off->opts,
			      .config = {.cpu = -1,
					 .runtime_funcs = funcs,
					 .runtime_func_count = 1,
					 .bpf_file = "gooffcputime.bpf.c",
					 .defs = defs,
					 .def_count = kernelfeature_cmpxchg() ? count : count - 1,
					 .goroutines = true,
					 .sleepable = true,
					 .plan = plan,
					 .plan_ctx = off},
			      .begin = begin,
			      .started = started,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .stop = stop,
			      .quiet_end = off->folded,
			      .ctx = off};
	int status = toolrun(&run);

	processes_free(off->procs);
	stacks_free(off->stacks);
	for (size_t i = 0; i < WAIT_REASONS; i++)
		free(off->reasons[i]);
	free(off->rows);
	free(off->comm);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct offcpu off = {.opts = &opts, .max_ns = INT64_MAX};
	struct options_tool tool = {.name = "gooffcputime",
				    .about = "Sum up blocked time of goroutines by stack and state",
				    .args = "[BINARY] [-- COMMAND [ARG...]]",
				    .shared = "pdvj",
				    .binaries = true,
				    .force = true,
				    .own = own_options,
				    .take = take_option,
				    .ctx = &off,
				    .examples = examples};
	struct errmsg err = {0};

	signals_take(tool.name);
	enum options_result result = options_parse(&tool, argc, argv, &opts, &err);

	if (result != OPTIONS_RUN)
		return options_answer(&tool, result, &err);
	return run_offcpu(&off, &tool);
}
