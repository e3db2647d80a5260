/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of what each event has anyway, as $latency / 1000: the tool computes them. */
#ifndef EVENTEXPR_INTERNAL_H
#define EVENTEXPR_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct expr;
struct trace_event;

/* Is it made of numbers, and variables that are the same for each PROBE? */
bool eventexpr_is(const struct expr *expr);
/* Such an expression's value, as the kernel side computes others: in signed arithmetic of 64 bits.
 * False: a division by zero. */
bool eventexpr_compute(const struct expr *expr, const struct trace_event *event, uint64_t *value);

#endif
