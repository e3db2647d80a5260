// SPDX-License-Identifier: Apache-2.0
/* What the kernel side is compiled with. */
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "kernel/attach.h"
#include "kernel/btf.h"
#include "kernel/kernelfeature.h"
#include "tracing/pidspace.h"
#include "tracing/spending_internal.h"

enum { PLACES_SPARE = 1 << 16, PLACES_PER_ITEM = 8 };

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	for (size_t i = 0; i < tracer->def_count; i++)
		if (!strcmp(tracer->defs[i].name, name)) {
			tracer->defs[i].value = value;
			return;
		}
	tracer->defs =
		mem_grow(tracer->defs, tracer->def_count, &tracer->def_cap, sizeof(*tracer->defs));
	tracer->defs[tracer->def_count++] = (struct bpfprog_define){name, value};
}

void tracer_insert(struct tracer *tracer, const char *mark, char *text)
{
	for (size_t i = 0; i < tracer->insert_count; i++)
		if (!strcmp(tracer->inserts[i].mark, mark)) {
			free((char *)tracer->inserts[i].text);
			tracer->inserts[i].text = text;
			return;
		}
	tracer->inserts = mem_grow(tracer->inserts, tracer->insert_count, &tracer->insert_cap,
				   sizeof(*tracer->inserts));
	tracer->inserts[tracer->insert_count++] = (struct bpfprog_insert){mark, text};
}

/* Kernels without BTF still serve programs with g in a register, but for calls of assembly and for
 * telling a process's calls before and after an execve apart. Those of arm64 have no fs base, and
 * no program there needs it. */
static int define_task(struct tracer *tracer, struct errmsg *err)
{
	const struct goruntime *rt = &tracer->runtimes[0];
	struct btf_process proc;
	uint32_t fsbase;
	bool known = !btf_process(&proc, err),
	     tls_known = known && !btf_thread_fsbase(&fsbase, err);

	if (!tls_known && !rt->g_in_register)
		return -1;
	tracer_define(tracer, "TLS_G", tls_known ? (uint64_t)(int64_t)rt->tls_g : 0);
	tracer_define(tracer, "FSBASE_OFF", tls_known ? fsbase : 0);
	if (tls_known)
		tracer_define_tls(tracer);
	if (!known)
		return 0;
	tracer_define(tracer, "TASK_LEADER", proc.leader);
	tracer_define(tracer, "TASK_START", proc.start_ns);
	tracer_define(tracer, "TASK_EXEC", proc.exec);
	tracer_define(tracer, "TASK_SIGNAL", proc.signal);
	tracer_define(tracer, "SIGNAL_LIVE", proc.signal_live);
	tracer_define(tracer, "SIGNAL_FLAGS", proc.signal_flags);
	return 0;
}

static int define_runtime(struct tracer *tracer, struct errmsg *err)
{
	const struct goruntime *rt = &tracer->runtimes[0];

	if (rt->g_in_register)
		tracer_define(tracer, "G_REGISTER", 1);
	if (rt->args_in_registers)
		tracer_define(tracer, "ARGS_IN_REGISTERS", 1);
	if (rt->split_stack) {
		tracer_define(tracer, "SPLIT_STACK", 1);
		tracer_define(tracer, "SPLIT_BACKOFF", rt->split_backoff);
	}
	tracer_define(tracer, "GOID_OFF", rt->g_goid);
	tracer_define(tracer, "G_M", rt->g_m);
	tracer_define(tracer, "G_SCHED_SP", rt->g_sched_sp);
	tracer_define(tracer, "M_CURG", rt->m_curg);
	return define_task(tracer, err);
}

/* How many sites items have is not known yet while the kernel side is compiled: most functions
 * return in one or two places, at most thousands. */
static void define_places(struct tracer *tracer)
{
	if (!tracer->config->want.places)
		return;
	tracer->place_max = PLACES_SPARE + PLACES_PER_ITEM * tracer->sel->item_count;
	if (tracer->place_max > COOKIE_ROWS)
		tracer->place_max = COOKIE_ROWS;
	tracer_define(tracer, "PLACES", tracer->place_max);
}

static int define_pids(struct tracer *tracer, struct errmsg *err)
{
	struct bpfprog_define defs[PIDSPACE_DEFINES];
	size_t count = 0;

	if (pidspace_define(tracer->pid, defs, &count, err))
		return -1;
	for (size_t i = 0; i < count; i++)
		tracer_define(tracer, defs[i].name, defs[i].value);
	return 0;
}

int tracer_define_all(struct tracer *tracer, struct errmsg *err)
{
	const struct tracer_config *config = tracer->config;

	tracer_define(tracer, "ROWS", tracer->sel->row_count);
	if (define_pids(tracer, err))
		return -1;
	if (tracer->pid && !tracer->follows)
		tracer_define(tracer, "FOLLOW_EXEC", 1);
	tracer_define_emulation(tracer);
	if (config->cpu >= 0)
		tracer_define(tracer, "CPU", config->cpu);
	define_places(tracer);
	if (tracer->spending)
		tracer_define(tracer, "COST_ROWS", spending_rows(tracer));
	tracer->sleepable = config->sleepable && attach_sleepable();
	if (tracer->sleepable)
		tracer_define(tracer, "SLEEPABLE", 1);
	for (size_t i = 0; i < config->def_count; i++)
		tracer_define(tracer, config->defs[i].name, config->defs[i].value);
	if (config->goroutines && kernelfeature_cmpxchg())
		tracer_define(tracer, "CMPXCHG", 1);
	if (attach_how() == ATTACH_PERF_STUB)
		tracer_define(tracer, "BY_STUB", 1);
	return config->goroutines ? define_runtime(tracer, err) : 0;
}
