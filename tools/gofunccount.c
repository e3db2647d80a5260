// SPDX-License-Identifier: Apache-2.0
/* gofunccount: counts calls of Go functions, one for each call. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/column.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "kernel/bpfmap.h"
#include "metrics/publisher.h"
#include "selection/selection.h"
#include "selection/selection_print.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

/* bcc's columns; that of names grows with the names shown so far */
enum { NAME_WIDTH = 36, COUNT_WIDTH = 8, NAME_MOST = 200 };

struct counter {
	const struct options *opts;
	int cpu;
	const struct selection *sel;
	int map;
	uint64_t *now, *then;  /* one for each row */
	uint64_t *base, *live; /* the same for metrics: at the beginning, and as read last */
	uint32_t *order;       /* of rows, for printing */
	unsigned name_width;
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct counter *counter = ctx;
	uint64_t cpu;

	(void)letter;
	if (!number_parse(value, 4095, &cpu))
		return errmsg_set(err, "-c: \"%s\" is not a CPU's number", value);
	if (cpu >= bpfmap_cpus())
		return errmsg_set(err, "-c: no CPU %s: the last one is %u", value,
				  bpfmap_cpus() - 1);
	counter->cpu = (int)cpu;
	return 0;
}

static int read_counts(const struct counter *counter, uint64_t *counts, struct errmsg *err)
{
	if (bpfmap_sum_percpu(counter->map, counter->sel->row_count, 1, counts))
		return errmsg_set(err, "cannot read the counts: %s", strerror(errno));
	return 0;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct counter *counter = ctx;
	size_t rows = tracer_selection(tracer)->row_count;

	counter->sel = tracer_selection(tracer);
	counter->map = tracer_map(tracer, "counts");
	counter->now = mem_zalloc(rows, sizeof(*counter->now));
	counter->then = mem_zalloc(rows, sizeof(*counter->then));
	counter->order = mem_zalloc(rows, sizeof(*counter->order));
	counter->base = mem_zalloc(rows, sizeof(*counter->base));
	counter->live = mem_zalloc(rows, sizeof(*counter->live));
	for (size_t i = 0; i < rows; i++)
		counter->order[i] = i;
	/* Counting shall begin for all functions at once. Where they are attached one after
	 * another, which takes long on a busy machine, the first ones already count: that is
	 * subtracted. */
	if (!tracer_begins_at_once(tracer) && read_counts(counter, counter->then, err))
		return -1;
	memcpy(counter->base, counter->then, rows * sizeof(*counter->base));
	return 0;
}

static uint64_t count_of(const struct counter *counter, uint32_t row)
{
	return counter->now[row] - counter->then[row];
}

static int by_calls(const void *a, const void *b, void *ctx)
{
	const struct counter *counter = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t nx = count_of(counter, x), ny = count_of(counter, y);

	if (nx != ny)
		return nx < ny ? -1 : 1;
	return strcmp(counter->sel->rows[x].name, counter->sel->rows[y].name);
}

/* as it is printed; malloc'd */
static char *row_text(const struct counter *counter, uint32_t row)
{
	char *plain = selection_row_text(counter->sel, row), *text = escape_text(plain);

	free(plain);
	return text;
}

static void print_count(const struct counter *counter, uint32_t row, uint64_t count)
{
	char *text = row_text(counter, row);

	column_print(stdout, text, counter->name_width);
	printf(" %*llu\n", COUNT_WIDTH, (unsigned long long)count);
	free(text);
}

static void json_row(const struct counter *counter, uint32_t row, uint64_t count)
{
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", "count");
	if (counter->opts->timestamp)
		toolrun_json_time(&json);
	json_member_string(&json, "func", counter->sel->rows[row].name);
	json_member_u64(&json, "count", count);
	selection_json_binary(counter->sel, row, &json);
	json_object_end(&json);
}

static void fit_names(struct counter *counter)
{
	unsigned screen = column_screen(), beside = 1 + COUNT_WIDTH;
	/* some terminals break a line that ends in the last column; files have none */
	unsigned bound = !isatty(STDOUT_FILENO) ? NAME_MOST
			 : screen > beside      ? screen - beside - 1
						: 0;

	for (size_t i = 0; i < counter->sel->row_count; i++) {
		if (!count_of(counter, i))
			continue;
		char *text = row_text(counter, i);

		counter->name_width = column_fit(counter->name_width, bound, text);
		free(text);
	}
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct counter *counter = ctx;
	size_t rows = counter->sel->row_count;

	(void) final;
	if (read_counts(counter, counter->now, err))
		return -1;
	qsort_r(counter->order, rows, sizeof(*counter->order), by_calls, counter);
	if (!counter->opts->json) {
		fit_names(counter);
		toolrun_print_time(counter->opts);
		printf("%-*s %*s\n", (int)counter->name_width, "FUNC", COUNT_WIDTH, "COUNT");
	}
	for (size_t i = 0; i < rows; i++) {
		uint32_t row = counter->order[i];
		uint64_t count = count_of(counter, row);

		if (count)
			(counter->opts->json ? json_row : print_count)(counter, row, count);
	}
	fflush(stdout);
	memcpy(counter->then, counter->now, rows * sizeof(*counter->then));
	return 0;
}

static int read_metrics(void *ctx, bool final, struct errmsg *err)
{
	struct counter *counter = ctx;

	if (!final)
		return read_counts(counter, counter->live, err);
	memcpy(counter->live, counter->now, counter->sel->row_count * sizeof(*counter->live));
	return 0;
}

static void add_metrics(void *ctx, size_t row, struct reading *sum)
{
	const struct counter *counter = ctx;

	sum->calls += counter->live[row] - counter->base[row];
}

static const struct publisher_source metrics = {.read = read_metrics, .add_row = add_metrics};

static const struct options_def own_options[] = {
	{'c', "cpu", "CPU", "count on this CPU only"},
	{0},
};

static const char examples[] =
	"    gofunccount 'etcd:*/etcdserver.*'  # the functions of a package\n"
	"    gofunccount /usr/bin/etcd:net/http.HandlerFunc.ServeHTTP\n"
	"                                       # one function\n"
	"    gofunccount -p 181 'main.(*T).*'   # a type's methods, one process\n"
	"    gofunccount -i 1 -T -p 181 ':*'    # every function, each second\n"
	"    gofunccount -r 'app:main\\.(Get|Put)$'\n"
	"                                       # a regular expression\n"
	"    gofunccount hello:fmt.Println      # inlined everywhere: counted in its copies\n"
	"    gofunccount --metrics :9435 'etcd:*/etcdserver.*'\n"
	"                                       # for Prometheus, until Ctrl-C\n"
	"    gofunccount 'main.*' -- ./app arg  # run a program from its start\n";

int main(int argc, char **argv)
{
	struct options opts;
	struct counter counter = {.opts = &opts, .cpu = -1, .name_width = NAME_WIDTH};
	struct options_tool tool = {.name = "gofunccount",
				    .about = "Count calls of Go functions, exactly",
				    .args = "[BINARY:]PATTERN... [-- COMMAND [ARG...]]",
				    .shared = "pidTrDj",
				    .running = true,
				    .inlined = true,
				    .force = true,
				    .cost = true,
				    .metrics = true,
				    .max_series = true,
				    .own = own_options,
				    .take = take_option,
				    .ctx = &counter,
				    .examples = examples};
	int status;

	if (!options_main(&tool, argc, argv, &opts, &status))
		return status;
	struct toolrun run = {.tool = &tool,
			      .opts = &opts,
			      .config = {.cpu = counter.cpu, .bpf_file = "gofunccount.bpf.c"},
			      .begin = begin,
			      .show = show,
			      .metrics = &metrics,
			      .ctx = &counter};

	status = toolrun(&run);
	free(counter.now);
	free(counter.then);
	free(counter.order);
	free(counter.base);
	free(counter.live);
	return status;
}
