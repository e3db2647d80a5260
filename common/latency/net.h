/* SPDX-License-Identifier: Apache-2.0 */
/* What calls took without the work of their probes, about: the kernel side, compiled with NET, adds
 * up how long it took at the hits in each call, and what a hit costs beside, which is measured
 * here. */
#ifndef LATENCY_NET_H
#define LATENCY_NET_H

struct errmsg;
struct tracer;

/* Before the kernel side is switched on; takes some tenths of a second. -1 with *err. */
int net_begin(const struct tracer *tracer, struct errmsg *err);

#endif
