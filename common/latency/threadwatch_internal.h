/* SPDX-License-Identifier: Apache-2.0 */
/* Has the kernel side know which threads are on a CPU: threads.bpf.c at the kernel's tracepoint of
 * switches, which runs for each switch of the whole machine. */
#ifndef THREADWATCH_INTERNAL_H
#define THREADWATCH_INTERNAL_H

struct bpfprog;
struct errmsg;
struct threadwatch;
struct tracer;

/* For struct tracer_config's `plan`. -1 with *err: this kernel does not tell. */
int threadwatch_plan(struct tracer *tracer, struct errmsg *err);
/* From then on. The program outlives it; NULL and *err. */
struct threadwatch *threadwatch_begin(struct bpfprog *bpf, struct errmsg *err);
void threadwatch_end(struct threadwatch *watch); /* NULL is all right, twice too */
void threadwatch_free(struct threadwatch *watch);
/* For -v, on stderr, when it has ended: how many switches were looked at. */
void threadwatch_say(const struct threadwatch *watch, const char *tool);

#endif
