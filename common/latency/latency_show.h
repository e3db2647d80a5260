/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of latency.h as the tools show them: text in bcc's layout, JSON, and what was lost. */
#ifndef LATENCY_SHOW_H
#define LATENCY_SHOW_H

#include <stdbool.h>
#include <stdint.h>

struct json;
struct latency;
struct latency_report;

struct latency_words { /* of one tool */
	const char *tool;
	const char *what;    /* "call": what is timed, where it is lost */
	const char *none;    /* "no call returned" */
	const char *running; /* "still running" */
	const char *unit;    /* "nsecs" */
	uint64_t unit_ns;    /* averages in microseconds have one decimal, in milliseconds three */
	/* room in the kernel side's maps; 0: it has none */
	uint32_t goroutines, deep_calls, places;
};

/* The histogram, average, percentiles; and what is not in it, by the reason. */
void latency_print(const struct latency_words *words, const struct latency_report *report);

bool latency_report_is_empty(const struct latency_report *report); /* no calls of any kind */

/* The members of an object that all have: "unit", "count", ... "p99", "buckets". */
void latency_json(struct json *json, const struct latency_report *report);

/* On stderr, a line each; nothing where nothing was lost:
 *   gofunclatency: 12 calls not tracked: the map of goroutines is full (1048576 at a time) */
void latency_say_losses(const struct latency_words *words, const struct latency *lat);
/* In all, each number after `when`: "" or "in total ". */
void latency_say_all_losses(const struct latency_words *words, const struct latency *lat,
			    const char *when);

#endif
