// SPDX-License-Identifier: Apache-2.0
#include "tracing/spending_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "bpf-src/shared/cost.h"
#include "bpf-src/shared/trace.h"
#include "kernel/bpfmap.h"
#include "kernel/hitcost.h"
#include "tracing/tracer_state_internal.h"

#define NS_PER_S 1000000000ull

enum {
	NAMED = 3,
	SAMPLE_EVERY = 20,
	SAMPLE_RUNS =
		100, /* of fewer, one that another thread has preempted would be a large part */
	ROWS_MIN = 16
};

struct spending {
	const struct tracer *tracer;
	struct hitcost_trial *trial; /* NULL: it has ended */
	struct hitcost price;
	unsigned percent;
	int limits, sums, cpus, rows;  /* maps */
	int prog, watch;               /* descriptors; -1: none */
	uint64_t runs, ns;             /* of the program when the sample began */
	unsigned ticks, program_ns;    /* of one run */
	uint64_t begun, ended, last;   /* clock_ns() */
	uint64_t seen;                 /* ns that were spent until `last` */
	int64_t left;                  /* ns that may be spent now */
	struct cost_cpu before, total; /* when it began; and since then, until it ended */
};

struct spending *spending_new(const struct tracer *tracer, unsigned percent)
{
	struct spending *spending = mem_zalloc(1, sizeof(*spending));

	spending->tracer = tracer;
	spending->percent = percent;
	spending->prog = spending->watch = -1;
	spending->trial = hitcost_start();
	return spending;
}

static void end_trial(struct spending *spending)
{
	if (spending->trial)
		spending->price = hitcost_end(spending->trial);
	spending->trial = NULL;
}

void spending_free(struct spending *spending)
{
	if (!spending)
		return;
	end_trial(spending);
	if (spending->watch >= 0)
		close(spending->watch);
	free(spending);
}

size_t spending_rows(const struct tracer *tracer)
{
	size_t rows = tracer->sel->want.places ? tracer->place_max : tracer->sel->row_count;

	return rows < ROWS_MIN ? ROWS_MIN : rows; /* those of runtime functions are few */
}

/* The limit is what may be spent in a second, and grows as time goes by. */
static int64_t most(const struct spending *spending)
{
	return (int64_t)spending->percent * (NS_PER_S / 100);
}

static int tell(struct spending *spending)
{
	const struct cost_limit limit = {
		.spent = !spending->percent || !spending->begun ? 0
			 : spending->left > 0                   ? spending->seen + spending->left
								: 1,
		.entry = spending->price.emulated + spending->program_ns,
		.stepped = spending->price.stepped + spending->program_ns,
		.end = (spending->tracer->emulator >= 0 ? spending->price.emulated
							: spending->price.stepped) +
		       spending->program_ns,
	};
	uint32_t zero = 0;

	return bpfmap_update(spending->limits, &zero, &limit);
}

static bool is_stepped(const struct tracer *tracer, size_t item)
{
	return item < tracer->sel->item_count && !tracer->sel->items[item].sites.entry.emulated;
}

static void mark_stepped(const struct spending *spending, uint32_t row)
{
	const struct cost_row stepped = {.stepped = 1};

	bpfmap_update(spending->rows, &row, &stepped);
}

/* Entries at which the kernel single-steps are few. */
static void mark_all_stepped(const struct spending *spending)
{
	const struct tracer *tracer = spending->tracer;

	for (uint32_t i = 0; tracer->sel->want.places && i < tracer->place_count; i++)
		if (is_stepped(tracer, tracer->places[i].item))
			mark_stepped(spending, i);
	for (size_t i = 0; !tracer->sel->want.places && i < tracer->sel->item_count; i++)
		if (is_stepped(tracer, i))
			mark_stepped(spending, tracer->sel->want.runtime
						       ? tracer->sel->items[i].group
						       : tracer->sel->items[i].row);
}

int spending_prepare(struct spending *spending, int prog_fd, struct errmsg *err)
{
	const struct bpfprog *bpf = spending->tracer->bpf;

	end_trial(spending);
	spending->limits = bpfprog_map(bpf, "cost_limits");
	spending->sums = bpfprog_map(bpf, "cost_sums");
	spending->cpus = bpfprog_map(bpf, "cost_cpus");
	spending->rows = bpfprog_map(bpf, "cost_rows");
	spending->prog = prog_fd;
	if (tell(spending))
		return errmsg_set(err, "cannot tell the BPF program what hits cost: %s",
				  strerror(errno));
	return 0;
}

static struct cost_cpu total(const struct spending *spending)
{
	uint64_t words[3] = {0};

	bpfmap_sum_percpu(spending->cpus, 1, 3, words);
	return (struct cost_cpu){.hits = words[0], .spent = words[1]};
}

void spending_begin(struct spending *spending)
{
	struct cost_sum sum = {0};
	uint32_t zero = 0;

	bpfmap_lookup(spending->sums, &zero, &sum);
	spending->seen = sum.spent;
	spending->before = total(spending);
	spending->left = most(spending);
	spending->begun = spending->last = clock_ns();
	mark_all_stepped(spending);
	tell(spending);
}

/* Measuring slows down all BPF programs of the machine a little: one tick in twenty, and until it
 * is known at all one in two. */
static void sample_program(struct spending *spending)
{
	uint64_t runs, ns;

	if (spending->watch >= 0) {
		if (!hitcost_program(spending->prog, &runs, &ns) &&
		    runs >= spending->runs + SAMPLE_RUNS)
			spending->program_ns = (ns - spending->ns) / (runs - spending->runs);
		close(spending->watch);
		spending->watch = -1;
		if (!spending->program_ns)
			spending->ticks = 0;
	} else if (spending->prog >= 0 && spending->ticks++ % SAMPLE_EVERY == 0 &&
		   !hitcost_program(spending->prog, &spending->runs, &spending->ns)) {
		spending->watch = hitcost_watch_programs();
	}
}

struct spender {
	uint32_t row;
	uint64_t ns;
};

/* Keeps the largest, in order. */
static void note_spender(struct spender top[NAMED], uint32_t row, uint64_t ns)
{
	for (int i = 0; i < NAMED; i++)
		if (ns > top[i].ns) {
			memmove(&top[i + 1], &top[i], (NAMED - 1 - i) * sizeof(*top));
			top[i] = (struct spender){row, ns};
			return;
		}
}

/* the row of the selection that a cookie's row belongs to */
static uint32_t selection_row_of(const struct tracer *tracer, uint32_t row)
{
	if (tracer->sel->want.places)
		return tracer->sel->items[tracer->places[row].item].row;
	for (size_t i = 0; tracer->sel->want.runtime && i < tracer->sel->item_count; i++)
		if (tracer->sel->items[i].group == row)
			return tracer->sel->items[i].row;
	return row;
}

/* What each function took: ns by row of the selection; the caller frees. *sum: of all. */
static uint64_t *spent_by_row(const struct spending *spending, uint64_t *sum)
{
	const struct tracer *tracer = spending->tracer;
	size_t rows = tracer->sel->want.places ? tracer->place_count : spending_rows(tracer);
	uint64_t *ns = mem_zalloc(tracer->sel->row_count, sizeof(*ns));
	struct cost_row row;

	*sum = 0;
	for (uint32_t i = 0; i < rows; i++) {
		if (bpfmap_lookup(spending->rows, &i, &row) || !row.spent)
			continue;
		uint32_t of = selection_row_of(tracer, i);

		if (of < tracer->sel->row_count)
			ns[of] += row.spent;
		*sum += row.spent;
	}
	return ns;
}

/* "main.fib (97%), main.add (3%)"; the caller frees */
static char *name_spenders(const struct spending *spending)
{
	struct spender top[NAMED] = {{0}};
	const struct selection *sel = spending->tracer->sel;
	char *text = NULL;
	uint64_t sum, *ns = spent_by_row(spending, &sum);

	for (size_t i = 0; i < sel->row_count; i++)
		note_spender(top, i, ns[i]);
	free(ns);
	for (int i = 0; i < NAMED && sum && top[i].ns * 100 >= sum; i++) {
		char *longer =
			mem_printf("%s%s%s (%" PRIu64 "%%)", text ? text : "", text ? ", " : "",
				   sel->rows[top[i].row].name, top[i].ns * 100 / sum);

		free(text);
		text = longer;
	}
	return text ? text : mem_strdup("?");
}

bool spending_passed(struct spending *spending, struct errmsg *err)
{
	struct cost_sum sum = {0};
	uint64_t now = clock_ns();
	uint32_t zero = 0;

	sample_program(spending);
	if (bpfmap_lookup(spending->sums, &zero, &sum))
		return false;
	spending->left += (now - spending->last) * spending->percent / 100;
	if (spending->left > most(spending))
		spending->left = most(spending);
	spending->left -= sum.spent - spending->seen;
	spending->seen = sum.spent;
	spending->last = now;
	tell(spending);
	if (!sum.over)
		return false;
	char *names = name_spenders(spending);

	errmsg_set(err, "stopped: probes took more than %u%% of a processor (--max-cost): %s",
		   spending->percent, names);
	errmsg_hint(err, "trace fewer functions; gofunccount -d 1 counts their calls for a second");
	free(names);
	return true;
}

void spending_print_prices(const struct spending *spending, FILE *out, const char *tool)
{
	fprintf(out,
		"%s: a hit costs %.1f us here, or %.1f us where the kernel single-steps the "
		"instruction\n",
		tool, spending->price.emulated / 1000.0, spending->price.stepped / 1000.0);
}

void spending_end(struct spending *spending)
{
	struct cost_cpu now = total(spending);

	spending->ended = clock_ns();
	spending->total = (struct cost_cpu){.hits = now.hits - spending->before.hits,
					    .spent = now.spent - spending->before.spent};
}

void spending_print(const struct spending *spending, FILE *out, const char *tool)
{
	double seconds = (double)(spending->ended - spending->begun) / (double)NS_PER_S;
	double hits = spending->total.hits, ns = spending->total.spent;

	if (!spending->ended || seconds <= 0)
		return;
	fprintf(out, "%s: %.0f hits (%.0f a second)", tool, hits, hits / seconds);
	if (hits > 0)
		fprintf(out, " of %.1f us each: %.*f%% of a processor", ns / hits / 1000,
			ns / seconds < 1e8 ? 2 : 0, ns / seconds / 1e7);
	fputc('\n', out);
}

void spending_print_names(const struct spending *spending, FILE *out, const char *tool)
{
	if (!spending->ended || !spending->total.hits)
		return;
	char *names = name_spenders(spending);

	fprintf(out, "%s: most of that by ", tool);
	escape_print(out, names);
	fputc('\n', out);
	free(names);
}
