/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and shows the stacks that bpf-src/parts/stacks.bpf.c keeps. */
#ifndef STACKS_H
#define STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frames/frames.h"

struct errmsg;
struct json;
struct profile;
struct program;
struct stacks;
struct tracer;

/* Of programs with stacks.bpf.c in them: room for how many it keeps. */
enum { STACKS_MAX = 1 << 14 };

/* For struct tracer_config's `plan`: defines G_SCHED_BP. -1 with *err: there is more than one
 * program, and stacks are kept of one. */
int stacks_define(struct tracer *tracer, const char *tool, struct errmsg *err);

/* The tracer outlives it. */
struct stacks *stacks_new(const struct tracer *tracer);
void stacks_free(struct stacks *stacks);

/* A stack of the tracer's first program, by its hash, as frames_each() has the frames. `bias` is
 * the process's load bias. One that was not kept is "[lost]". */
void stacks_print(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out);
/* "outermost;...;innermost;" */
void stacks_print_folded(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out);
/* The goroutine's function, the outermost one; NULL: not kept. Valid as long as the tracer. */
const char *stacks_outermost(const struct stacks *stacks, uint64_t hash, uint64_t bias);
/* An array of {"func", "file", "line"}, with "inlined":true for those that are; empty: not kept */
void stacks_json(const struct stacks *stacks, uint64_t hash, uint64_t bias, struct json *json);
/* The program, as the process with this load bias has it. Valid as long as the stacks. */
struct frames stacks_frames(const struct stacks *stacks, uint64_t bias);
/* As frames of a profile's row; "[lost]": not kept */
void stacks_profile(const struct stacks *stacks, uint64_t hash, uint64_t bias,
		    struct profile *profile);
/* Its first addresses, the innermost first; returns how many. 0: it was not kept */
size_t stacks_addresses(const struct stacks *stacks, uint64_t hash, uint64_t *out, size_t max);
/* As frames_each(), or with `all` as frames_all(). False: it was not kept. */
bool stacks_each(const struct stacks *stacks, uint64_t hash, uint64_t bias, bool all,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx);

#endif
