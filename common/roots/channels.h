/* SPDX-License-Identifier: Apache-2.0 */
/* Which goroutine receives what another one has sent: the functions of the runtime that
 * bpf-src/parts/channels.bpf.c is told by. */
#ifndef CHANNELS_H
#define CHANNELS_H

struct errmsg;
struct tracer;

/* As starts_plan(), after it. Not all programs have all of these functions. */
int channels_plan(struct tracer *tracer, struct errmsg *err);

#endif
