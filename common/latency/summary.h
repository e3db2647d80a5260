/* SPDX-License-Identifier: Apache-2.0 */
/* One table over many functions, most time first, as `strace -c` has one over system calls. */
#ifndef LATENCY_SUMMARY_H
#define LATENCY_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errors;
struct latency;
struct latency_report;
struct latency_words;
struct selection;

struct summary_view {
	const struct latency_words *words; /* its unit is that of times */
	const struct latency *lat;
	const struct selection *sel;
	const struct errors *errors; /* a column more; NULL: not asked for */
	bool net;                    /* two more, and the order is by these; see latency/net.h */
};

/* What is left of the report's total_ns without its probes_ns; of these more than all: 0. */
uint64_t summary_net_ns(const struct latency_report *report);

/* The rows that have something to report, most time first; of equal ones by name. The caller frees
 * the array, of *count. Needs a kernel side that was compiled PER_ROW, as all here does. */
size_t *summary_order(const struct summary_view *view, size_t *count);

/* The table of these rows, without those none of whose calls returned; what is not in it is said
 * beneath, by function and reason. */
void summary_print(const struct summary_view *view, const size_t *order, size_t count);

#endif
