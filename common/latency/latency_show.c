// SPDX-License-Identifier: Apache-2.0
#include "latency/latency_show.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/escape.h"
#include "base/json.h"
#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "latency/latency_internal.h"
#include "latency/histogram_internal.h"
#include "latency/latency_show_internal.h"

/* With decimals: many calls take only a few microseconds, and most less than a millisecond. */
static void print_average(const struct latency_words *words, const struct latency_report *report)
{
	uint64_t ns = report->total_ns / report->count;

	printf("\navg = %" PRIu64, ns / words->unit_ns);
	if (words->unit_ns == 1000)
		printf(".%" PRIu64, ns % 1000 / 100);
	else if (words->unit_ns == 1000000)
		printf(".%03" PRIu64, ns % 1000000 / 1000);
}

static void print_not_in(const char *name)
{
	if (!name) {
		fputs("not in the histogram: ", stdout);
		return;
	}
	fputs("not in the table: ", stdout);
	escape_print(stdout, name);
	fputs(": ", stdout);
}

void latency_print_unreturned(const struct latency_words *words,
			      const struct latency_report *report, const char *name)
{
	const struct {
		uint64_t count;
		const char *what;
	} kinds[] = {
		{report->panicked, "ended by a panic"},
		{report->exited, "ended by runtime.Goexit"},
		{report->switched, "left on a system stack"},
		{report->jumped, "left by a jump"},
		{report->lost, "whose end was not seen"},
		{report->process_ended, "in processes that ended"},
		{report->running, words->running},
	};
	bool begun = false;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!kinds[i].count)
			continue;
		if (begun)
			fputs(", ", stdout);
		else
			print_not_in(name);
		begun = true;
		printf("%" PRIu64 " %s", kinds[i].count, kinds[i].what);
	}
	if (begun)
		putchar('\n');
}

bool latency_report_is_empty(const struct latency_report *report)
{
	return !report->count && !report->panicked && !report->exited && !report->switched &&
	       !report->lost && !report->jumped && !report->process_ended && !report->running;
}

void latency_print(const struct latency_words *words, const struct latency_report *report)
{
	const struct histogram *h = &report->hist;
	const char *unit = words->unit;

	if (report->count) {
		histogram_print_log2(stdout, h, unit);
		print_average(words, report);
		printf(" %s, total: %" PRIu64 " %s, count: %" PRIu64 "\n", unit,
		       report->total_ns / words->unit_ns, unit, report->count);
		printf("p50 = %" PRIu64 ", p90 = %" PRIu64 ", p99 = %" PRIu64 ", max = %" PRIu64
		       " %s\n",
		       histogram_percentile(h, 50), histogram_percentile(h, 90),
		       histogram_percentile(h, 99), h->max, unit);
	} else {
		puts(words->none);
	}
	latency_print_unreturned(words, report, NULL);
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

void latency_json(struct json *json, const struct latency_report *report)
{
	const struct histogram *h = &report->hist;

	json_member_string(json, "unit", "ns");
	json_member_u64(json, "count", report->count);
	json_member_u64(json, "total", report->total_ns);
	json_member_u64(json, "min", report->min_ns);
	json_member_u64(json, "max", report->max_ns);
	json_member_u64(json, "p50", histogram_percentile(h, 50));
	json_member_u64(json, "p90", histogram_percentile(h, 90));
	json_member_u64(json, "p99", histogram_percentile(h, 99));
	json_buckets(json, h);
}

static void say_loss(const struct latency_words *words, uint64_t count, const char *when,
		     unsigned loss)
{
	const struct {
		const char *what;
		uint32_t room; /* 0: not a matter of room */
	} reasons[LOSSES] = {
		[LOSS_GOROUTINES] = {"not tracked: the map of goroutines is full",
				     words->goroutines},
		[LOSS_PROCESSES] = {"not tracked: the map of processes is full", 0},
		[LOSS_DEEP] = {"not tracked: the map of deep calls is full", words->deep_calls},
		[LOSS_MEMORY] = {"not tracked: the kernel had no memory", 0},
		[LOSS_UNREADABLE] = {"not tracked: memory of the goroutine could not be read", 0},
		[LOSS_PLACES] = {"not in a histogram: the map of histograms is full",
				 words->places},
	};

	if (!count)
		return;
	fprintf(stderr, "%s: %s%" PRIu64 " %s%s %s", words->tool, when, count, words->what,
		count == 1 ? "" : "s", reasons[loss].what);
	if (reasons[loss].room)
		fprintf(stderr, " (%" PRIu32 " at a time)", bpfmap_room(reasons[loss].room));
	fputc('\n', stderr);
}

void latency_say_losses(const struct latency_words *words, const struct latency *lat)
{
	for (unsigned i = 0; i < LOSSES; i++)
		say_loss(words, latency_lost(lat, i), "", i);
}

void latency_say_all_losses(const struct latency_words *words, const struct latency *lat,
			    const char *when)
{
	for (unsigned i = 0; i < LOSSES; i++)
		say_loss(words, latency_lost_in_all(lat, i), when, i);
}
