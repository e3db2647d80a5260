/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a tracing tool: opens programs, selects names, compiles the BPF program while the
 * sites are found, attaches probes, starts a command; and undoes all of it. */
#ifndef TRACER_H
#define TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "tracing/tracer_config.h"

struct bpfprog;
struct goruntime;
struct program;
struct selection;
struct trace_place;
struct tracer;

/* --- what is traced, known when `plan` is called --- */

/* All programs; `n` counts from 0, the first is there always. */
size_t tracer_program_count(const struct tracer *tracer);
const struct program *tracer_program(const struct tracer *tracer, size_t n);
/* A program's runtime; only where goroutines are followed. */
const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n);
struct selection *tracer_selection(const struct tracer *tracer);
/* The process of -p, or the command; 0: every process. */
pid_t tracer_pid(const struct tracer *tracer);
/* What it executes; NULL: not asked. */
const struct program *tracer_executed(const struct tracer *tracer);
/* Are the processes that it starts traced, too? */
bool tracer_follows(const struct tracer *tracer);

/* --- for `plan` --- */

/* Names and marks outlive the tracer; the tracer takes over the malloc'd text. What is given again
 * replaces what was. */
void tracer_define(struct tracer *tracer, const char *name, uint64_t value);
void tracer_insert(struct tracer *tracer, const char *mark, char *text);
/* One for each item of the selection; they outlive the tracer. Without them all are 0. */
void tracer_set_plans(struct tracer *tracer, const struct tracer_plan *plans);
/* The same, of the items that there were then; NULL: none. */
const struct tracer_plan *tracer_plans(const struct tracer *tracer);
/* How many programs the kernel side has: on_probe, on_probe_1, ... */
uint32_t tracer_parts(const struct tracer *tracer);
void tracer_set_parts(struct tracer *tracer, uint32_t count);
/* The last part is attached first: the kernel runs its probes last where several stand at one
 * place. */
void tracer_reverse_parts(struct tracer *tracer);
/* The last part, now, leads: the kernel runs its probes first where several stand at one place, and
 * the runtime tells it, too, which calls a panic or Goexit ends. */
void tracer_lead(struct tracer *tracer);
/* Which of the programs is BINARY, as who types it beside -p or COMMAND? NULL with *err: none. */
const struct program *tracer_named(const struct tracer *tracer, const char *binary,
				   struct errmsg *err);
/* If the kernel side does not compile or the kernel refuses to load it, which `why` tells,
 * `otherwise` is called, once, and changes what another one is compiled from. */
void tracer_set_otherwise(struct tracer *tracer,
			  void (*otherwise)(void *ctx, struct tracer *tracer,
					    const struct errmsg *why),
			  void *ctx);

/* --- once the kernel side is loaded --- */

struct bpfprog *tracer_bpf(const struct tracer *tracer);
int tracer_map(const struct tracer *tracer, const char *name); /* as bpfprog_map() */
/* Do programs carry out the returns that are probed? Else the kernel single-steps them. */
bool tracer_carries_out_returns(const struct tracer *tracer);
/* Do all probes begin at one instant? Else the first may have counted before the last is there. */
bool tracer_begins_at_once(const struct tracer *tracer);
/* With want.places: a probed site, by its number. */
const struct trace_place *tracer_place(const struct tracer *tracer, uint32_t number);

/* 'Tracing 3 functions for "main.*"... Hit Ctrl-C to end.' */
void tracer_print_start(const struct tracer *tracer, FILE *out);

#endif
