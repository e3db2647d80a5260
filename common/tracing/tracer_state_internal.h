/* SPDX-License-Identifier: Apache-2.0 */
/* What a tracer consists of. */
#ifndef TRACER_STATE_INTERNAL_H
#define TRACER_STATE_INTERNAL_H

#include "base/errmsg.h"
#include "kernel/bpfprog.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "tracing/tracer.h"

struct command;
struct emulation_trial;
struct descendants;
struct spending;

struct tracer {
	const struct tracer_config *config;
	struct program **programs;
	/* running: the first of them that were found by what runs */
	size_t program_count, program_cap, running;
	struct selection *sel;
	const struct tracer_plan *plans; /* the tool's, of each of its items; NULL: all are 0 */
	char **patterns; /* what was asked for, without binaries; config->pattern_count of them */
	struct filewatch *watch;
	struct command *command;    /* NULL: none */
	struct program *executed;   /* what the process or the command executes; NULL: not asked */
	pid_t pid;                  /* of -p or of the command; 0: every process */
	struct textcost *cost;      /* what breakpoints take of processes' memory */
	struct spending *spending;  /* what hits cost; NULL: not asked */
	struct attach_trial *trial; /* runs yet; or NULL */
	struct execwatch *execs;    /* of it; NULL: other processes have the probes as well */
	/* it is not the command itself that is asked for: what it starts is traced too; or why
	 * that cannot be, if `alone_why` has a text */
	bool follows;
	struct errmsg alone_why;
	struct descendants *descendants;
	struct process *process;     /* of -p, held since before anything was read; or NULL */
	struct goruntime *runtimes;  /* of each program, where goroutines are followed; or NULL */
	struct bpfprog_define *defs; /* all that the kernel side was compiled with */
	struct bpfprog_insert *inserts; /* the generated parts of the kernel side */
	/* rets_left: to the kernel, as another tracer probes them */
	size_t rets_left, def_count, def_cap, insert_count, insert_cap, place_count, place_max;
	/* with want.places: of all probes; the kernel side has it as map `places`, -DPLACES=n */
	struct trace_place *places;
	struct tracer_tls *tls; /* see tracer_parts.h; NULL: not needed */
	/* it was compiled with SLEEPABLE; and a handler waits for memory without end: its probes
	 * stay until it goes on */
	bool sleepable, stuck;
	struct bpfprog *bpf;
	/* see tracer_set_otherwise(); NULL: there is no other kernel side */
	void (*otherwise)(void *ctx, struct tracer *tracer, const struct errmsg *why);
	void *otherwise_ctx;
	uint32_t part_count; /* of the kernel side's programs: on_probe, on_probe_1, ... */
	/* The last part is attached first: the kernel runs its probes last where several stand at
	 * one place. */
	bool parts_reversed;
	uint32_t leader;                   /* see tracer_lead(); 0: none does */
	struct attach **attached;          /* for each program and part */
	struct emulation_trial *emulation; /* or NULL: no returns are probed */
	bool emulated; /* the kernel can: RETs may be carried out, by this tool or another */
	/* descriptors, or -1: the program that does; and the one whose runs are hits, of part 0 */
	int emulator, hit_prog;
	struct tracer_rets *rets; /* of each program, those carried out; see tracer_emulate.c */
	struct gate *gate;        /* what they are attached to, so that all begin at one instant */
	const char *refusal;      /* why the kernel would not take a probe; NULL: it took all */
};

#endif
