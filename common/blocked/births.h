/* SPDX-License-Identifier: Apache-2.0 */
/* How many goroutines each go statement has created, and how many of them have ended, counted one
 * by one by goleaks.bpf.c. */
#ifndef BIRTHS_H
#define BIRTHS_H

#include <stddef.h>

#include "kernel/bpfprog.h"

struct births;
struct errmsg;
struct leak_births;
struct toolrun;
struct tracer;

/* Fills in, of the run, what is traced and by what. It outlives the run; caller frees. */
struct births *births_new(struct toolrun *run);
void births_free(struct births *births); /* NULL is all right */

/* To be called when the probes are attached. */
void births_begin(struct births *births, const struct tracer *tracer);
/* What was counted since the last call, at first since the probes are there: *count of them in
 * *out, never NULL, which the caller frees. 0; -1 with *err. */
int births_read(struct births *births, struct leak_births **out, size_t *count, struct errmsg *err);
/* On stderr, if any were lost. */
void births_say_lost(const struct births *births, const char *tool);

#endif
