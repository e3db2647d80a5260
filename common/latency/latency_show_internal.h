/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room latency uses of latency_show. */
#ifndef LATENCY_SHOW_INTERNAL_H
#define LATENCY_SHOW_INTERNAL_H

#include "latency/latency_show.h"

/* What is not in a histogram: "not in the histogram: 3 ended by a panic, 1 still running"; with the
 * name of a function, "not in the table: main.f: ...". Nothing if all calls returned. */
void latency_print_unreturned(const struct latency_words *words,
			      const struct latency_report *report, const char *name);

#endif
