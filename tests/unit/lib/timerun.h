/* SPDX-License-Identifier: Apache-2.0 */
/* In place of what times calls, for gofunclatency: reports, prices, states, errors and roots are
 * the test's. With faketool.h, whose notes say what was asked. */
#ifndef TIMERUN_H
#define TIMERUN_H

#include <stdbool.h>
#include <stdint.h>

#include "latency/latency.h"
#include "latency/latency_price.h"

enum { TIMERUN_ROWS = 4 };

extern struct timerun {
	struct latency_report reports[TIMERUN_ROWS]; /* all together are as the first one */
	uint64_t state_ns; /* of row n, less n, by its states; the errors of row 2 are not known */
	bool part_is_missing; /* of the states */
	struct latency_price price;
} timerun;

/* So many calls of `ns` each */
void timerun_set(size_t row, uint64_t count, uint64_t ns);

#endif
