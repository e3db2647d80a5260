/* SPDX-License-Identifier: Apache-2.0 */
/* One table over many functions, most time first, as `strace -c` has one over system calls. */
#ifndef LATENCY_SUMMARY_H
#define LATENCY_SUMMARY_H

#include <stddef.h>

struct errors;
struct latency;
struct latency_words;
struct selection;

/* The rows that have something to report, most time first; of equal ones by name. The caller frees
 * the array, of *count. Needs a kernel side that was compiled PER_ROW, as all here does. */
size_t *summary_order(const struct latency *lat, const struct selection *sel, size_t *count);

struct summary_view {
	const struct latency_words *words; /* its unit is that of times */
	const struct latency *lat;
	const struct selection *sel;
	const struct errors *errors; /* a column more; NULL: not asked for */
};
/* The table of these rows, without those none of whose calls returned; what is not in it is said
 * beneath, by function and reason. */
void summary_print(const struct summary_view *view, const size_t *order, size_t count);

#endif
