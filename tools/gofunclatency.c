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
#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "metrics/publisher.h"
#include "selection/selection.h"
#include "selection/selection_print.h"
#include "latency/cpu_waits.h"
#include "latency/errors.h"
#include "latency/latency.h"
#include "latency/latency_price.h"
#include "latency/latency_show.h"
#include "latency/net.h"
#include "tracing/options.h"
#include "latency/states.h"
#include "roots/roots.h"
#include "latency/summary.h"
#include "tracing/toolrun.h"

/* Entries of the kernel side's maps, which take memory only as they fill. */
enum {
	GOROUTINES_MAX = 1 << 20,
	DEEP_CALLS_MAX = 1 << 20,
	NESTED_MAX = 1 << 20,
	PLACES_MAX = 1 << 22
};
enum {
	LETTER_STATES = 256,
	LETTER_THREADS,
	LETTER_SUMMARY,
	LETTER_ERRORS,
	LETTER_NET,
	LETTER_FOLLOW,
	LETTER_FOLLOW_CHANNELS
};

struct timer {
	const struct options *opts;
	bool micros, millis, per_function, summary;
	bool net;     /* what probes took is taken off */
	bool per_row; /* the kernel side has a histogram for each function */
	struct latency_words words;
	const struct selection *sel;
	struct latency *lat;
	struct latency_prices *prices;
	struct errors *errors;       /* NULL: not asked for */
	struct states *states;       /* NULL: not asked for */
	struct roots *roots;         /* --follow; NULL: not asked for */
	bool threads;                /* their running is told apart */
	struct cpu_waits *cpu_waits; /* NULL: no states, or told apart */
	/* since the beginning: calls left on a system stack; calls whose error is not known, or
	 * what their probes took */
	uint64_t switched, unread, unpriced;
	/* what the calls took, and what of that their states, since the beginning */
	uint64_t took_ns, told_ns;
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
	else if (letter == LETTER_STATES)
		timer->states = timer->states ? timer->states : states_new();
	else if (letter == LETTER_THREADS)
		timer->threads = true;
	else if (letter == LETTER_SUMMARY)
		timer->summary = true;
	else if (letter == LETTER_FOLLOW)
		return roots_take(&timer->roots, value, err);
	else if (letter == LETTER_FOLLOW_CHANNELS)
		roots_take_channels(&timer->roots);
	else if (letter == LETTER_ERRORS)
		timer->errors = timer->errors ? timer->errors : errors_new();
	else if (letter == LETTER_NET)
		timer->net = true;
	else if (!number_parse(value, UINT32_MAX, &level))
		return errmsg_set(err, "-l: \"%s\" is not a number", value);
	if (timer->micros && timer->millis)
		return errmsg_set(err, "-u and -m exclude each other");
	if (timer->summary && timer->states)
		return errmsg_set(err, "--summary and --states exclude each other: -F --states has "
				       "the states of each function");
	return 0;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct timer *timer = ctx;

	timer->sel = tracer_selection(tracer);
	timer->lat = latency_new(tracer_bpf(tracer), tracer_selection(tracer)->row_count,
				 timer->per_row, timer->words.unit_ns);
	timer->prices = latency_prices_new(tracer_selection(tracer));
	if (timer->states && states_begin(timer->states, tracer, err))
		return -1;
	if ((timer->states && !timer->threads) || timer->net)
		timer->cpu_waits = cpu_waits_begin(tracer_pid(tracer));
	if (timer->errors && errors_begin(timer->errors, tracer, err))
		return -1;
	if (timer->roots && roots_begin(timer->roots, tracer, err))
		return -1;
	if (timer->net && net_begin(tracer, err))
		return -1;
	if (latency_switch(timer->lat, true))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

static int stop(void *ctx)
{
	struct timer *timer = ctx;

	int ret = latency_switch(timer->lat, false);

	if (timer->states)
		states_stop(timer->states);
	return ret;
}

/* What is shown of one function, or of all. */
struct shown {
	struct latency_report report;
	struct latency_price price; /* of its probes, in that */
	struct states_report states;
};

/* The calls' time is what their states sum up to: calls that end just now may have been added to
 * one sum already, and not yet to the other. */
static void read_states(struct timer *timer, size_t row, struct shown *shown)
{
	struct states_report *states = &shown->states;

	if (!timer->states)
		return;
	if (row == SIZE_MAX)
		states_total(timer->states, states);
	else
		states_row(timer->states, row, states);
	if (!states->is_whole)
		return;
	timer->took_ns += shown->report.total_ns;
	timer->told_ns += states->total_ns;
	shown->report.total_ns = states->total_ns;
}

/* Of a row of --summary --errors; null where they are not counted. */
static void json_errors(const struct timer *timer, struct json *json, size_t row, uint64_t count)
{
	if (errors_counted(timer->errors, row)) {
		json_member_u64(json, "errors", count);
	} else {
		json_key(json, "errors");
		json_null(json);
	}
}

/* Of a row; SIZE_MAX: of all together. */
static void json_report(const struct timer *timer, size_t row, const struct shown *shown)
{
	const struct latency_report *report = &shown->report;
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", "latency");
	if (timer->opts->timestamp)
		toolrun_json_time(&json);
	json_member_string(&json, "func", row == SIZE_MAX ? NULL : timer->sel->rows[row].name);
	if (row != SIZE_MAX)
		selection_json_binary(timer->sel, row, &json);
	latency_json(&json, report);
	json_member_u64(&json, "panicked", report->panicked);
	json_member_u64(&json, "exited", report->exited);
	json_member_u64(&json, "lost", report->lost);
	json_member_u64(&json, "jumped", report->jumped);
	json_member_u64(&json, "process_ended", report->process_ended);
	json_member_u64(&json, "running", report->running);
	json_member_u64(&json, "probe_ns", shown->price.ns);
	if (timer->net) {
		json_member_u64(&json, "net_total", summary_net_ns(report));
		json_member_u64(&json, "probes_total", report->probes_ns);
	}
	if (timer->errors)
		json_errors(timer, &json, row, report->errors);
	if (timer->states)
		states_json(timer->states, &json, &shown->states);
	json_object_end(&json);
}

static void print_report(const struct timer *timer, const struct shown *shown)
{
	latency_print(&timer->words, &shown->report);
	if (latency_price_matters(&shown->price, &shown->report, timer->words.unit_ns))
		latency_price_print(&shown->price);
	if (timer->states)
		states_print(timer->states, &timer->words, &shown->states);
}

static void show_row(const struct timer *timer, size_t row, const struct shown *shown)
{
	if (timer->opts->json) {
		json_report(timer, row, shown);
		return;
	}
	char *name = selection_row_text(timer->sel, row);

	fputs("\nFunction = ", stdout);
	escape_print(stdout, name);
	putchar('\n');
	free(name);
	print_report(timer, shown);
}

static void show_rows(struct timer *timer)
{
	struct shown *shown = mem_alloc(sizeof(*shown));

	for (size_t row = 0; row < timer->sel->row_count; row++) {
		latency_row(timer->lat, row, &shown->report);
		shown->price = latency_price_row(timer->prices, row);
		read_states(timer, row, shown);
		timer->switched += shown->report.switched;
		if (!latency_report_is_empty(&shown->report))
			show_row(timer, row, shown);
	}
	free(shown);
}

/* JSON is that of -F, in the table's order. */
static void show_summary(struct timer *timer)
{
	struct shown *shown = mem_alloc(sizeof(*shown));
	const struct summary_view view = {&timer->words, timer->lat, timer->sel, timer->errors,
					  timer->net};
	size_t count, *order = summary_order(&view, &count);

	for (size_t i = 0; i < count; i++) {
		latency_row(timer->lat, order[i], &shown->report);
		timer->switched += shown->report.switched;
		timer->unread += shown->report.unread;
		timer->unpriced += shown->report.unpriced;
		if (!timer->opts->json)
			continue;
		shown->price = latency_price_row(timer->prices, order[i]);
		json_report(timer, order[i], shown);
	}
	if (!timer->opts->json) {
		summary_print(&view, order, count);
		latency_total(timer->lat, &shown->report);
		shown->price = latency_price_total(timer->prices, timer->lat);
		if (latency_price_matters(&shown->price, &shown->report, timer->words.unit_ns))
			latency_price_print(&shown->price);
	}
	free(order);
	free(shown);
}

static void show_total(struct timer *timer)
{
	struct shown *shown = mem_alloc(sizeof(*shown));

	latency_total(timer->lat, &shown->report);
	shown->price = latency_price_total(timer->prices, timer->lat);
	read_states(timer, SIZE_MAX, shown);
	timer->switched += shown->report.switched;
	if (timer->opts->json)
		json_report(timer, SIZE_MAX, shown);
	else
		print_report(timer, shown);
	free(shown);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct timer *timer = ctx;

	if (latency_read(timer->lat, final))
		return errmsg_set(err, "cannot read the histogram: %s", strerror(errno));
	if (timer->states && states_read(timer->states))
		return errmsg_set(err, "cannot read the states: %s", strerror(errno));
	if (!timer->opts->json)
		toolrun_print_time(timer->opts);
	if (timer->summary)
		show_summary(timer);
	else if (timer->per_function)
		show_rows(timer);
	else
		show_total(timer);
	if (final && !timer->opts->json)
		putchar('\n');
	fflush(stdout);
	if (timer->cpu_waits && !timer->opts->json)
		cpu_waits_say(timer->cpu_waits, "gofunclatency",
			      timer->net ? "all times include that; --net takes off too little then"
					 : "\"running\" includes that; --threads tells it apart");
	if (timer->opts->interval_ns)
		latency_say_losses(&timer->words, timer->lat);
	return 0;
}

/* Ignores errors: what cannot be swept now can be later. */
static void sweep(void *ctx)
{
	struct timer *timer = ctx;

	latency_sweep(timer->lat);
}

/* Both are sums of the same calls, made in different ways. */
static void say_lost_states(const struct timer *timer)
{
	states_say_losses(timer->states, &timer->words);
	if (timer->opts->verbose)
		states_say_cost(timer->states, "gofunclatency");
	if (timer->took_ns != timer->told_ns)
		fprintf(stderr,
			"gofunclatency: the calls took %" PRIu64 " ns, but their states %" PRIu64
			" ns: --states is not to be relied on here\n",
			timer->took_ns, timer->told_ns);
}

static void say_lost(void *ctx)
{
	const struct timer *timer = ctx;

	if (timer->states)
		say_lost_states(timer);
	/* the text output has it under the histogram */
	if (timer->switched && timer->opts->json)
		fprintf(stderr,
			"gofunclatency: %" PRIu64 " calls left on a system stack, not counted\n",
			timer->switched);
	if (timer->unread)
		fprintf(stderr,
			"gofunclatency: %" PRIu64
			" calls whose error could not be read, not counted as errors\n",
			timer->unread);
	if (timer->unpriced)
		fprintf(stderr,
			"gofunclatency: %" PRIu64
			" calls of which nothing is taken off for probes: there was no room\n",
			timer->unpriced);
	if (timer->roots)
		roots_say_lost(timer->roots, "gofunclatency");
	latency_say_all_losses(&timer->words, timer->lat,
			       timer->opts->interval_ns ? "in total " : "");
}

static int read_metrics(void *ctx, bool final, struct errmsg *err)
{
	const struct timer *timer = ctx;

	if (latency_peek(timer->lat, final))
		return errmsg_set(err, "cannot read the histograms: %s", strerror(errno));
	if (timer->states && states_peek(timer->states, final))
		return errmsg_set(err, "cannot read the states: %s", strerror(errno));
	return 0;
}

/* As in what is printed, the calls' time is what their states sum up to. */
static void add_metrics(void *ctx, size_t row, struct reading *sum)
{
	const struct timer *timer = ctx;
	uint64_t before = sum->total_ns, took;

	latency_add_reading(timer->lat, row, sum);
	took = sum->total_ns - before;
	if (timer->states)
		states_add_reading(timer->states, row, sum, &took);
	sum->total_ns = before + took;
}

static const char *metrics_state(void *ctx, unsigned state)
{
	return states_name(((const struct timer *)ctx)->states, state);
}

static size_t metrics_losses(void *ctx, struct reading_loss *out)
{
	return latency_reading_losses(((const struct timer *)ctx)->lat, out);
}

static const struct options_def own_options[] = {
	{'u', "microseconds", NULL, "microsecond histogram"},
	{'m', "milliseconds", NULL, "millisecond histogram"},
	{'F', "function", NULL, "show a separate histogram per function"},
	{LETTER_SUMMARY, "summary", NULL,
	 "one table of all functions, most time first, in place of histograms"},
	{LETTER_ERRORS, "errors", NULL,
	 "with --summary, count the calls that returned an error as their last result"},
	{LETTER_NET, "net", NULL,
	 "with --summary, estimate what the calls took without the work of probes"},
	{'l', "level", "LEVEL", "accepted and ignored: every recursive call is timed"},
	{LETTER_STATES, "states", NULL,
	 "show where the calls' time went: running, runnable, or what they waited for"},
	{LETTER_FOLLOW, "follow", "ROOT",
	 "time only calls below calls of ROOT, also in goroutines that these start"},
	{LETTER_FOLLOW_CHANNELS, "follow-channels", NULL,
	 "with --follow, also in goroutines that receive what these send"},
	{LETTER_THREADS, "threads", NULL,
	 "with --states, show for how long running goroutines were not on a CPU"},
	{0},
};

static const char examples[] =
	"    gofunclatency hello:fmt.Println        # time fmt.Println, inlined or not\n"
	"    gofunclatency -u etcd:net/http.HandlerFunc.ServeHTTP\n"
	"                                           # in microseconds\n"
	"    gofunclatency -p 181 'main.(*Store).*' # a type's methods, one process\n"
	"    gofunclatency -F 'app:main.*'          # one histogram per function\n"
	"    gofunclatency --summary 'app:main.*'   # one table, most time first\n"
	"    gofunclatency --summary --errors 'app:main.*' # and how many returned an error\n"
	"    gofunclatency --states app:main.handle # and what they waited for meanwhile\n"
	"    gofunclatency --follow main.handle 'app:main.*' # only what handle calls\n"
	"    gofunclatency -mTi 5 app:main.handle   # every 5 seconds, with timestamps\n"
	"    gofunclatency -j -d 10 app:main.handle # JSON, for 10 seconds\n"
	"    gofunclatency --metrics :9436 'app:main.*' # for Prometheus, until Ctrl-C\n"
	"    gofunclatency 'main.*' -- ./app arg    # run a program from its start\n";

static uint64_t room_of(uint64_t needed)
{
	uint64_t room = bpfmap_room(PLACES_MAX);

	return needed < room ? needed : room;
}

/* What is traced beside the functions, and the room for it; --summary goes without --states. */
static int make_plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct timer *timer = ctx;
	uint64_t rows = tracer_selection(tracer)->row_count;

	tracer_define(tracer, "PLACES", room_of(rows * HISTOGRAM_SLOTS));
	tracer_define(tracer, "STATE_SUMS", room_of(rows * STATES));
	if (timer->states && states_plan(timer->states, tracer, err))
		return -1;
	if (timer->errors && errors_plan(timer->errors, tracer, err))
		return -1;
	if (!timer->roots)
		return 0;
	if (roots_plan(timer->roots, tracer, err))
		return -1;
	roots_serve(timer->roots, tracer);
	return 0;
}

static int run_timer(struct timer *timer, const struct options_tool *tool)
{
	struct latency_words *words = &timer->words;
	bool json = timer->opts->json;

	/* JSON is always in ns */
	words->unit = timer->millis ? "msecs" : timer->micros ? "usecs" : "nsecs";
	words->unit_ns = json ? 1 : timer->millis ? 1000000 : timer->micros ? 1000 : 1;
	struct bpfprog_define defs[8] = {
		{"UNIT", words->unit_ns},
		{"GOROUTINES", bpfmap_room(GOROUTINES_MAX)},
		{"DEEP_CALLS", bpfmap_room(DEEP_CALLS_MAX)},
	};
	size_t count = 3;

	timer->per_row = timer->per_function || timer->summary || timer->opts->metrics;
	if (timer->per_row)
		defs[count++] = (struct bpfprog_define){"PER_ROW", 1};
	if (timer->errors)
		defs[count++] = (struct bpfprog_define){"ERRORS", 1};
	if (timer->net) {
		defs[count++] = (struct bpfprog_define){"NET", 1};
		defs[count++] = (struct bpfprog_define){"NESTED", bpfmap_room(NESTED_MAX)};
	}
	struct publisher_source metrics = {.read = read_metrics,
					   .add_row = add_metrics,
					   .losses = metrics_losses,
					   .state = timer->states ? metrics_state : NULL,
					   .unit_ns = words->unit_ns};
	struct toolrun run = {.tool = tool,
			      .opts = timer->opts,
			      .config = {.cpu = -1,
					 .want.returns = true,
					 .want.tails = true,
					 .bpf_file = "gofunclatency.bpf.c",
					 .defs = defs,
					 .def_count = count,
					 .goroutines = true,
					 .plan = make_plan,
					 .plan_ctx = timer,
					 .sleepable = true},
			      .begin = begin,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .stop = stop,
			      .metrics = &metrics,
			      .ctx = timer};
	int status = toolrun(&run);

	cpu_waits_free(timer->cpu_waits);
	states_free(timer->states);
	errors_free(timer->errors);
	roots_free(timer->roots);
	latency_prices_free(timer->prices);
	latency_free(timer->lat);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct timer timer = {.opts = &opts,
			      .words = {.tool = "gofunclatency",
					.what = "call",
					.none = "no call returned",
					.running = "still running",
					.goroutines = GOROUTINES_MAX,
					.deep_calls = DEEP_CALLS_MAX,
					.places = PLACES_MAX}};
	struct options_tool tool = {.name = "gofunclatency",
				    .about = "Time Go functions and print latency as a histogram",
				    .args = "[BINARY:]PATTERN... [-- COMMAND [ARG...]]",
				    .shared = "pidTrvj",
				    .running = true,
				    .inlined = true,
				    .force = true,
				    .cost = true,
				    .returns = true,
				    .metrics = true,
				    .max_series = true,
				    .own = own_options,
				    .take = take_option,
				    .ctx = &timer,
				    .examples = examples};
	struct errmsg err = {0};
	int status;

	if (!options_main(&tool, argc, argv, &opts, &status))
		return status;
	if (timer.threads && !timer.states) {
		errmsg_set(&err, "--threads is a part of --states: give both");
		return options_answer(&tool, OPTIONS_BAD, &err);
	}
	if (timer.errors && !timer.summary) {
		errmsg_set(&err, "--errors is a part of --summary: give both");
		return options_answer(&tool, OPTIONS_BAD, &err);
	}
	if (timer.net && !timer.summary) {
		errmsg_set(&err, "--net is a part of --summary: give both");
		return options_answer(&tool, OPTIONS_BAD, &err);
	}
	if (roots_check(timer.roots, &err))
		return options_answer(&tool, OPTIONS_BAD, &err);
	if (timer.threads)
		states_watch_threads(timer.states);
	return run_timer(&timer, &tool);
}
