/* SPDX-License-Identifier: Apache-2.0 */
/* Which goroutine starts which, and when one ends: the functions of the runtime that
 * bpf-src/parts/starts.bpf.c is told by. */
#ifndef STARTS_H
#define STARTS_H

struct errmsg;
struct tracer;

/* For the tracer's `plan`: adds them to the selection, as groups of their own, and defines what the
 * kernel side needs; the caller says which part serves them. `asked`: what the user calls it. 0; -1
 * with *err. */
int starts_plan(struct tracer *tracer, const char *asked, struct errmsg *err);
/* When probes are attached: -1 with *err if not all are. */
int starts_check(const struct tracer *tracer, const char *asked, struct errmsg *err);

#endif
