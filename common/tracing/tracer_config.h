/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool asks of the tracer. */
#ifndef TRACER_CONFIG_H
#define TRACER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/bpfprog.h"
#include "selection/selection.h"

struct errmsg;
struct runtime_func;
struct tracer;

struct tracer_plan {      /* what `plan` below has found of one item of the selection */
	uint32_t number;  /* the tool's own, for the kernel side */
	uint32_t part;    /* which program of the kernel side serves it */
	uint32_t table;   /* the tool's own, as the number */
	uint64_t restart; /* what funcinfo_layout() returned, or 0 */
	bool ends_apart;  /* where its calls end, the program before that serves it */
};

struct tracer_config {
	char *const *patterns; /* [p:][BINARY:]PATTERN; with runtime_funcs: BINARY, or none */
	size_t pattern_count;
	/* NULL, or what is traced in each BINARY: function n of the runtime is group n of the
	 * selection; its probes carry n as their row, and stand where its arguments are still in
	 * their registers. */
	const struct runtime_func *runtime_funcs;
	size_t runtime_func_count;
	/* NULL, or: pattern n is group n of the selection, and its calls are timed if [n] */
	const bool *pattern_returns;
	pid_t pid; /* -p; 0: none */
	/* Where BINARY is left out, it is what runs: each Go program (--all), or each whose file or
	 * command has this in its name (NULL: no such), or its command alone */
	const char *named;
	bool all, named_by_command;
	char *const *command; /* -- COMMAND ARG..., NULL-terminated; NULL: none */
	int cpu;              /* -c; -1: all */
	struct selection_want want;
	const char *bpf_file;              /* in bpf-src/ */
	const struct bpfprog_define *defs; /* the tool's own */
	size_t def_count;
	/* The kernel side follows goroutines: runtime offsets and hooks. It can be compiled with
	 * -DSLEEPABLE=1, and then loaded as a program that may sleep: so it is where the kernel
	 * can. */
	bool goroutines, sleepable;
	bool no_emulate; /* returns are left to the kernel */
	bool force;      /* however much memory breakpoints take of the processes */
	/* what hits cost is added up; and the limit, in percent of a processor, 0: none */
	bool costs;
	unsigned max_cost;
	/* Called when the items are known (and the runtimes), before anything is compiled: may set
	 * tracer->plans, skip items, and call tracer_define() and tracer_insert(). -1 with *err
	 * ends it. NULL: none. */
	int (*plan)(void *ctx, struct tracer *tracer, struct errmsg *err);
	/* Called when the kernel side's maps are there and no call is seen yet. NULL: none. */
	int (*loaded)(void *ctx, struct tracer *tracer, struct errmsg *err);
	void *plan_ctx; /* of both */
};

#endif
