// SPDX-License-Identifier: Apache-2.0
/* What others need of a tracer. */
#include "bpf-src/shared/trace.h"
#include "files/heldfile.h"
#include "kernel/bpfprog.h"
#include "program/program.h"
#include "selection/selection_print.h"
#include "selection/target.h"
#include "tracing/session_internal.h"
#include "tracing/tracer_state_internal.h"

size_t tracer_program_count(const struct tracer *tracer)
{
	return tracer->program_count;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	return tracer->programs[n];
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	return &tracer->runtimes[n];
}

bool tracer_carries_out_returns(const struct tracer *tracer)
{
	return tracer->emulator >= 0;
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	return tracer->sel;
}

pid_t tracer_pid(const struct tracer *tracer)
{
	return tracer->pid;
}

const struct program *tracer_executed(const struct tracer *tracer)
{
	return tracer->executed;
}

bool tracer_follows(const struct tracer *tracer)
{
	return tracer->follows;
}

void tracer_set_plans(struct tracer *tracer, const struct tracer_plan *plans)
{
	tracer->plans = plans;
}

const struct tracer_plan *tracer_plans(const struct tracer *tracer)
{
	return tracer->plans;
}

uint32_t tracer_parts(const struct tracer *tracer)
{
	return tracer->part_count;
}

void tracer_set_parts(struct tracer *tracer, uint32_t count)
{
	tracer->part_count = count;
}

void tracer_reverse_parts(struct tracer *tracer)
{
	tracer->parts_reversed = true;
}

void tracer_lead(struct tracer *tracer)
{
	tracer->leader = tracer->part_count - 1;
}

const struct program *tracer_named(const struct tracer *tracer, const char *binary,
				   struct errmsg *err)
{
	struct heldfile *file = target_resolve(binary, tracer->process, err);
	const struct program *named = NULL;

	if (!file)
		return NULL;
	for (size_t i = 0; !named && i < tracer->program_count; i++)
		if (heldfile_is(tracer->programs[i]->file, heldfile_then(file)))
			named = tracer->programs[i];
	heldfile_close(file);
	if (!named)
		errmsg_set(err, "\"%s\" is not what is traced", binary);
	return named;
}

void tracer_set_otherwise(struct tracer *tracer,
			  void (*otherwise)(void *ctx, struct tracer *tracer,
					    const struct errmsg *why),
			  void *ctx)
{
	tracer->otherwise = otherwise;
	tracer->otherwise_ctx = ctx;
}

struct bpfprog *tracer_bpf(const struct tracer *tracer)
{
	return tracer->bpf;
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	return bpfprog_map(tracer->bpf, name);
}

bool tracer_begins_at_once(const struct tracer *tracer)
{
	return tracer->gate;
}

const struct trace_place *tracer_place(const struct tracer *tracer, uint32_t number)
{
	return &tracer->places[number];
}

void tracer_print_start(const struct tracer *tracer, FILE *out)
{
	session_print_start(out, selection_traced(tracer->sel), tracer->patterns,
			    tracer->config->pattern_count);
}
