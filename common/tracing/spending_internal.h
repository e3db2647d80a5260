/* SPDX-License-Identifier: Apache-2.0 */
/* What hits of probes cost the traced processes: told at the end, and limited by --max-cost. A
 * hit's price is measured on the tool itself when it starts, and that of the BPF program, where the
 * kernel permits, now and then while it runs; the kernel side counts hits. */
#ifndef SPENDING_INTERNAL_H
#define SPENDING_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

struct errmsg;
struct spending;
struct tracer;

/* `percent`: of one processor, over about a second; 0: no limit. Starts measuring; never NULL. The
 * tracer outlives it. */
struct spending *spending_new(const struct tracer *tracer, unsigned percent);
void spending_free(struct spending *spending); /* NULL is all right */

/* What the kernel side is to be compiled with: rows of cookies. */
size_t spending_rows(const struct tracer *tracer);
/* The kernel side's maps are there: tells it the prices. `prog_fd`: what a hit runs first; -1: not
 * known. 0, or -1 with *err. */
int spending_prepare(struct spending *spending, int prog_fd, struct errmsg *err);
/* All is attached, which may have taken seconds: from now on hits are told, and there is a limit.
 */
void spending_begin(struct spending *spending);
/* Some times a second: is it too much? Then the kernel side handles no more hits, and *err says
 * which functions took it. */
bool spending_passed(struct spending *spending, struct errmsg *err);
/* "gotrace: a hit costs 0.6 us here, or 2.3 us where the kernel single-steps the instruction" */
void spending_print_prices(const struct spending *spending, FILE *out, const char *tool);
/* At the end, before anything is detached: nothing more is added up. */
void spending_end(struct spending *spending);
/* "gotrace: 1234 hits (617 a second) of 2.1 us each: 0.1% of a processor" */
void spending_print(const struct spending *spending, FILE *out, const char *tool);
/* Of which functions: "gotrace: most of that by main.fib (97%), main.add (3%)" */
void spending_print_names(const struct spending *spending, FILE *out, const char *tool);

#endif
