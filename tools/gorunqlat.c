// SPDX-License-Identifier: Apache-2.0
/* gorunqlat: time that goroutines wait for a processor, as a histogram; or each long wait. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "kernel/bpfmap.h"
#include "selection/runtime_func.h"
#include "latency/latency.h"
#include "latency/latency_show.h"
#include "runq/slow_waits.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

enum { LETTER_SLOWER = 256 };
enum { GOROUTINES_MAX = 1 << 20 }; /* that wait at a time; the map takes memory as it fills */

struct waits {
	const struct options *opts;
	struct latency_words words;
	int unit_given; /* 'u' or 'm'; 0: neither */
	struct latency *lat;
	uint64_t slower_ns; /* --slower; 0: not given */
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct waits *waits = ctx;

	bool millis = letter == 'm';

	if (letter == LETTER_SLOWER &&
	    (!number_parse_duration(value, &waits->slower_ns) || !waits->slower_ns))
		return errmsg_set(err, "--slower: \"%s\" is not a time, such as 10ms", value);
	if (letter == LETTER_SLOWER)
		return 0;
	if (waits->unit_given && waits->unit_given != letter)
		return errmsg_set(err, "-u and -m exclude each other");
	waits->unit_given = letter;
	waits->words.unit = millis ? "msecs" : "usecs";
	waits->words.unit_ns = millis ? 1000000 : 1000;
	return 0;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct waits *waits = ctx;

	waits->lat = latency_new(tracer_bpf(tracer), tracer_selection(tracer)->row_count, false,
				 waits->words.unit_ns);
	if (latency_switch(waits->lat, true))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

static void started(void *ctx)
{
	const struct waits *waits = ctx;
	FILE *out = waits->opts->json ? stderr : stdout;

	fputs("Tracing run queue latency of goroutines... Hit Ctrl-C to end.\n", out);
	fflush(out);
}

static int stop(void *ctx)
{
	struct waits *waits = ctx;

	return latency_switch(waits->lat, false);
}

static void json_report(const struct waits *waits, const struct latency_report *report)
{
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", "runqlat");
	if (waits->opts->timestamp)
		toolrun_json_time(&json);
	latency_json(&json, report);
	json_member_u64(&json, "lost", report->lost);
	json_member_u64(&json, "process_ended", report->process_ended);
	json_member_u64(&json, "waiting", report->running);
	json_object_end(&json);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct waits *waits = ctx;
	struct latency_report *report;

	if (latency_read(waits->lat, final))
		return errmsg_set(err, "cannot read the histogram: %s", strerror(errno));
	report = mem_alloc(sizeof(*report));
	latency_total(waits->lat, report);
	if (waits->opts->json) {
		json_report(waits, report);
	} else {
		toolrun_print_time(waits->opts);
		latency_print(&waits->words, report);
		if (final)
			putchar('\n');
	}
	free(report);
	fflush(stdout);
	if (waits->opts->interval_ns)
		latency_say_losses(&waits->words, waits->lat);
	return 0;
}

/* Ignores errors: what cannot be swept now can be later. */
static void sweep(void *ctx)
{
	struct waits *waits = ctx;

	latency_sweep(waits->lat);
}

static void say_lost(void *ctx)
{
	const struct waits *waits = ctx;

	latency_say_all_losses(&waits->words, waits->lat,
			       waits->opts->interval_ns ? "in total " : "");
}

static const struct options_def own_options[] = {
	{'u', "microseconds", NULL, "microsecond histogram (the default)"},
	{'m', "milliseconds", NULL, "millisecond histogram"},
	{LETTER_SLOWER, "slower", "DURATION",
	 "a line for each wait that takes longer, with what ran on the processor meanwhile, in "
	 "place of histograms"},
	{0},
};

static const char examples[] =
	"    gorunqlat -p 181              # how long do goroutines wait to run?\n"
	"    gorunqlat etcd                # of all processes of this program\n"
	"    gorunqlat -p 181 -i 1 -d 10   # 1 second summaries, for 10 seconds\n"
	"    gorunqlat -mTi 5 ./app        # every 5 seconds, in ms, with the time\n"
	"    gorunqlat --slower 10ms -p 181 # each longer wait, and who ran meanwhile\n"
	"    gorunqlat -jp 181             # JSON\n"
	"    gorunqlat -- ./app arg        # run a program from its start\n";

static int run_waits(struct waits *waits, const struct options_tool *tool)
{
	static const struct runtime_func funcs[] = {{.names = {"runtime.casgstatus"}}};

	if (waits->opts->json) /* always in ns */
		waits->words.unit_ns = 1;
	struct bpfprog_define defs[] = {
		{"UNIT", waits->words.unit_ns},
		{"GOROUTINES", bpfmap_room(GOROUTINES_MAX)},
	};
	struct toolrun run = {.tool = tool,
			      .opts = waits->opts,
			      .config = {.cpu = -1,
					 .runtime_funcs = funcs,
					 .runtime_func_count = 1,
					 .bpf_file = "gorunqlat.bpf.c",
					 .defs = defs,
					 .def_count = sizeof(defs) / sizeof(*defs),
					 .goroutines = true,
					 .sleepable = true},
			      .begin = begin,
			      .started = started,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .stop = stop,
			      .ctx = waits};
	int status = toolrun(&run);

	latency_free(waits->lat);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct waits waits = {.opts = &opts,
			      .words = {.tool = "gorunqlat",
					.what = "wait",
					.none = "no goroutine waited",
					.running = "still waiting",
					.unit = "usecs",
					.unit_ns = 1000,
					.goroutines = GOROUTINES_MAX}};
	struct options_tool tool = {
		.name = "gorunqlat",
		.about = "Time goroutines that wait for a processor and print a histogram",
		.args = "[BINARY...] [-- COMMAND [ARG...]]",
		.shared = "pidTvj",
		.running = true,
		.binaries = true,
		.numbers = OPTIONS_INTERVAL,
		.force = true,
		.own = own_options,
		.take = take_option,
		.ctx = &waits,
		.examples = examples};
	struct errmsg err = {0};
	int status;

	if (!options_main(&tool, argc, argv, &opts, &status))
		return status;
	if (!waits.slower_ns)
		return run_waits(&waits, &tool);
	if (opts.interval_ns || waits.unit_given == 'm') {
		errmsg_set(&err, "--slower and -%c exclude each other: %s",
			   opts.interval_ns ? 'i' : waits.unit_given,
			   opts.interval_ns ? "waits are printed as they end"
					    : "its times are in microseconds");
		options_fail(&tool, &err);
		return 2;
	}
	return slow_waits_run(&tool, &opts, waits.slower_ns);
}
