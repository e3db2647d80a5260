// SPDX-License-Identifier: Apache-2.0
/* gofunclatency: time from call to return of Go functions, as histograms. */
#include <errno.h>
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
#include "kernel/bpfmap.h"
#include "kernel/kernelfeature.h"
#include "selection/selection.h"
#include "tracing/latency.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

/* Room in the kernel side's maps. They take memory as they fill. */
enum { GOROUTINES_MAX = 1 << 20, DEEP_CALLS_MAX = 1 << 20, PLACES_MAX = 1 << 22 };

struct timer {
	const struct options *opts;
	bool micros, millis, per_function;
	const char *unit;
	uint64_t unit_ns;
	const struct selection *sel;
	struct latency *lat;
	uint64_t switched; /* in all */
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct timer *timer = ctx;
	uint64_t level;

	if (letter == 'u')
		timer->micros = true;
	else if (letter == 'm')
		timer->millis = true;
	else if (letter == 'F')
		timer->per_function = true;
	else if (!number_parse(value, UINT32_MAX, &level))
		return errmsg_set(err, "-l: \"%s\" is not a number", value);
	if (timer->micros && timer->millis)
		return errmsg_set(err, "-u and -m exclude each other");
	return 0;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct timer *timer = ctx;

	timer->sel = tracer->sel;
	timer->lat = latency_new(tracer->bpf, tracer->sel->row_count, timer->per_function,
				 timer->unit_ns);
	if (latency_switch(timer->lat, true))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

static int stop(void *ctx)
{
	struct timer *timer = ctx;

	return latency_switch(timer->lat, false);
}

static void json_member(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

static void json_buckets(struct json *json, const struct histogram *h)
{
	json_key(json, "buckets");
	json_array(json);
	for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
		if (!h->slots[i])
			continue;
		json_array(json);
		json_u64(json, histogram_low(i));
		json_u64(json, histogram_high(i));
		json_u64(json, h->slots[i]);
		json_array_end(json);
	}
	json_array_end(json);
}

static void json_report(const struct timer *timer, const char *name,
			const struct latency_report *report)
{
	const struct histogram *h = &report->hist;
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_key(&json, "type");
	json_string(&json, "latency");
	if (timer->opts->timestamp)
		toolrun_json_time(&json);
	json_key(&json, "func");
	json_string(&json, name);
	json_key(&json, "unit");
	json_string(&json, "ns");
	json_member(&json, "count", report->count);
	json_member(&json, "total", report->total_ns);
	json_member(&json, "min", report->min_ns);
	json_member(&json, "max", report->max_ns);
	json_member(&json, "p50", histogram_percentile(h, 50));
	json_member(&json, "p90", histogram_percentile(h, 90));
	json_member(&json, "p99", histogram_percentile(h, 99));
	json_buckets(&json, h);
	json_member(&json, "panicked", report->panicked);
	json_member(&json, "exited", report->exited);
	json_member(&json, "lost", report->lost);
	json_member(&json, "process_ended", report->process_ended);
	json_member(&json, "running", report->running);
	json_object_end(&json);
}

/* "not in the histogram: 3 ended by a panic, 1 still running" */
static void print_unreturned(const struct latency_report *report)
{
	const struct {
		uint64_t count;
		const char *what;
	} kinds[] = {
		{report->panicked, "ended by a panic"},
		{report->exited, "ended by runtime.Goexit"},
		{report->switched, "left on a system stack"},
		{report->lost, "whose end was not seen"},
		{report->process_ended, "in processes that ended"},
		{report->running, "still running"},
	};
	const char *before = "not in the histogram: ";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!kinds[i].count)
			continue;
		printf("%s%" PRIu64 " %s", before, kinds[i].count, kinds[i].what);
		before = ", ";
	}
	if (*before == ',')
		putchar('\n');
}

/* A microsecond is coarse for what many calls take. */
static void print_average(const struct timer *timer, const struct latency_report *report)
{
	uint64_t ns = report->total_ns / report->count;

	printf("\navg = %" PRIu64, ns / timer->unit_ns);
	if (timer->micros)
		printf(".%" PRIu64, ns % 1000 / 100);
}

static void print_report(const struct timer *timer, const struct latency_report *report)
{
	const struct histogram *h = &report->hist;
	uint64_t total = report->total_ns / timer->unit_ns;

	if (report->count) {
		histogram_print_log2(stdout, h, timer->unit);
		print_average(timer, report);
		printf(" %s, total: %" PRIu64 " %s, count: %" PRIu64 "\n", timer->unit, total,
		       timer->unit, report->count);
		printf("p50 = %" PRIu64 ", p90 = %" PRIu64 ", p99 = %" PRIu64 ", max = %" PRIu64
		       " %s\n",
		       histogram_percentile(h, 50), histogram_percentile(h, 90),
		       histogram_percentile(h, 99), h->max, timer->unit);
	} else {
		puts("no call returned");
	}
	print_unreturned(report);
}

static bool is_empty(const struct latency_report *report)
{
	return !report->count && !report->panicked && !report->exited && !report->switched &&
	       !report->lost && !report->process_ended && !report->running;
}

static void show_row(const struct timer *timer, size_t row, const struct latency_report *report)
{
	const char *name = timer->sel->rows[row].name;

	if (timer->opts->json) {
		json_report(timer, name, report);
		return;
	}
	fputs("\nFunction = ", stdout);
	escape_print(stdout, name);
	putchar('\n');
	print_report(timer, report);
}

static void show_rows(struct timer *timer)
{
	struct latency_report *report = mem_alloc(sizeof(*report));

	for (size_t row = 0; row < timer->sel->row_count; row++) {
		latency_row(timer->lat, row, report);
		timer->switched += report->switched;
		if (!is_empty(report))
			show_row(timer, row, report);
	}
	free(report);
}

static void show_total(struct timer *timer)
{
	struct latency_report *report = mem_alloc(sizeof(*report));

	latency_total(timer->lat, report);
	timer->switched += report->switched;
	if (timer->opts->json)
		json_report(timer, NULL, report);
	else
		print_report(timer, report);
	free(report);
}

/* "12 calls not tracked: the map of goroutines is full (1048576 at a time)" */
static void say_loss(uint64_t count, const char *when, unsigned loss)
{
	static const struct {
		const char *what;
		uint32_t room; /* 0: not a matter of room */
	} reasons[LOSSES] = {
		[LOSS_GOROUTINES] = {"not tracked: the map of goroutines is full", GOROUTINES_MAX},
		[LOSS_PROCESSES] = {"not tracked: the map of processes is full", 0},
		[LOSS_DEEP] = {"not tracked: the map of deep calls is full", DEEP_CALLS_MAX},
		[LOSS_MEMORY] = {"not tracked: the kernel had no memory", 0},
		[LOSS_UNREADABLE] = {"not tracked: memory of the goroutine could not be read", 0},
		[LOSS_PLACES] = {"not in a histogram: the map of histograms is full", PLACES_MAX},
	};

	if (!count)
		return;
	fprintf(stderr, "gofunclatency: %s%" PRIu64 " call%s %s", when, count,
		count == 1 ? "" : "s", reasons[loss].what);
	if (reasons[loss].room)
		fprintf(stderr, " (%" PRIu32 " at a time)", bpfmap_room(reasons[loss].room));
	fputc('\n', stderr);
}

static void say_losses(const struct timer *timer)
{
	for (unsigned i = 0; i < LOSSES; i++)
		say_loss(latency_lost(timer->lat, i), "", i);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct timer *timer = ctx;

	if (latency_read(timer->lat, final))
		return errmsg_set(err, "cannot read the histogram: %s", strerror(errno));
	if (!timer->opts->json)
		toolrun_print_time(timer->opts);
	if (timer->per_function)
		show_rows(timer);
	else
		show_total(timer);
	if (final && !timer->opts->json)
		putchar('\n');
	fflush(stdout);
	if (timer->opts->interval_ns)
		say_losses(timer);
	return 0;
}

/* What cannot be swept now can be later. */
static void sweep(void *ctx)
{
	struct timer *timer = ctx;

	latency_sweep(timer->lat);
}

static void say_lost(void *ctx)
{
	const struct timer *timer = ctx;

	/* as text it stands under its histogram */
	if (timer->switched && timer->opts->json)
		fprintf(stderr,
			"gofunclatency: %" PRIu64 " calls left on a system stack, not counted\n",
			timer->switched);
	for (unsigned i = 0; i < LOSSES; i++)
		say_loss(latency_lost_in_all(timer->lat, i),
			 timer->opts->interval_ns ? "in total " : "", i);
}

static const struct options_def own_options[] = {
	{'u', "microseconds", NULL, "microsecond histogram"},
	{'m', "milliseconds", NULL, "millisecond histogram"},
	{'F', "function", NULL, "show a separate histogram per function"},
	{'l', "level", "LEVEL", "accepted and ignored: every recursive call is timed"},
	{0},
};

static const char examples[] =
	"    gofunclatency hello:fmt.Println        # time fmt.Println, inlined or not\n"
	"    gofunclatency -u etcd:net/http.HandlerFunc.ServeHTTP\n"
	"                                           # in microseconds\n"
	"    gofunclatency -p 181 'main.(*Store).*' # all methods of a type, in process 181 only\n"
	"    gofunclatency -F 'app:main.*'          # one histogram per function\n"
	"    gofunclatency -mTi 5 app:main.handle   # every 5 seconds, with timestamps\n"
	"    gofunclatency -j -d 10 app:main.handle # JSON, for 10 seconds\n"
	"    gofunclatency 'main.*' -- ./app arg    # run a program, from its first instruction\n";

static int run_timer(struct timer *timer, const struct options_tool *tool)
{
	bool json = timer->opts->json;

	/* JSON is in ns, whatever the picture would be in */
	timer->unit = timer->millis ? "msecs" : timer->micros ? "usecs" : "nsecs";
	timer->unit_ns = json ? 1 : timer->millis ? 1000000 : timer->micros ? 1000 : 1;
	struct bpfprog_define defs[6] = {
		{"UNIT", timer->unit_ns},
		{"GOROUTINES", bpfmap_room(GOROUTINES_MAX)},
		{"DEEP_CALLS", bpfmap_room(DEEP_CALLS_MAX)},
		{"PLACES", bpfmap_room(PLACES_MAX)},
	};
	size_t count = 4;

	if (timer->per_function)
		defs[count++] = (struct bpfprog_define){"PER_ROW", 1};
	if (kernelfeature_cmpxchg())
		defs[count++] = (struct bpfprog_define){"CMPXCHG", 1};
	struct toolrun run = {.tool = tool,
			      .opts = timer->opts,
			      .config = {.cpu = -1,
					 .want.returns = true,
					 .bpf_file = "latency.bpf.c",
					 .defs = defs,
					 .def_count = count,
					 .goroutines = true,
					 .sleepable = true},
			      .begin = begin,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .stop = stop,
			      .ctx = timer};
	int status = toolrun(&run);

	latency_free(timer->lat);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct timer timer = {.opts = &opts};
	struct options_tool tool = {.name = "gofunclatency",
				    .about = "Time Go functions and print latency as a histogram",
				    .args = "[BINARY:]PATTERN... [-- COMMAND [ARG...]]",
				    .shared = "pidTrvj",
				    .inlined = true,
				    .force = true,
				    .own = own_options,
				    .take = take_option,
				    .ctx = &timer,
				    .examples = examples};
	struct errmsg err = {0};

	signals_take(tool.name);
	enum options_result result = options_parse(&tool, argc, argv, &opts, &err);

	if (result != OPTIONS_RUN)
		return options_answer(&tool, result, &err);
	return run_timer(&timer, &tool);
}
