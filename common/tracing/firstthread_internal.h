/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events are kept to one process by the memory of its first thread: once that has ended, they
 * show no calls of the others. */
#ifndef FIRSTTHREAD_INTERNAL_H
#define FIRSTTHREAD_INTERNAL_H

#include <stdint.h>

struct errmsg;
struct tracer;

/* To be asked some times a second; *since is 0 at first. 0, or -1 with *err: it has ended, and
 * others go on unseen. */
int firstthread_check(const struct tracer *tracer, uint64_t *since, struct errmsg *err);

#endif
