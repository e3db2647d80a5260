// SPDX-License-Identifier: Apache-2.0
/* Which functions of Go's scheduler tell all changes of goroutines' states, by release. */
#include "latency/states_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "golang/release.h"
#include "kernel/bpfmap.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "selection/runtime_func.h"
#include "latency/threadwatch_internal.h"
#include "tracing/tracer.h"
#include "sites/goruntime.h"

enum { NESTED_MAX = 1 << 20 }; /* calls inside calls that have not returned; as deep calls */

/* casgstatus() makes all changes but these:
 * - preemptPark() sets the status by itself, under the garbage collector's lock;
 * - coroutines (Go 1.22) hand over to each other in coroswitch_m(), which ends with a jump into the
 *   other one;
 * - system calls, from Go 1.26.
 * Before Go 1.20 some work of the runtime does not say what it is, though the goroutine that it is
 * done for counts as waiting: the function that does it tells. */
static const struct scheduler_func {
	struct runtime_func func;
	enum state_change what;
	int release;    /* from this one on; 0: all */
	bool is_unsaid; /* only where the runtime's work is not said */
} scheduler_funcs[] = {
	{{.names = {"runtime.casgstatus"}}, CHANGE_CAS, 0, false},
	{{.names = {"runtime.preemptPark"}}, CHANGE_PARK, 0, false},
	{{.names = {"runtime.coroswitch_m"}, .optional = true}, CHANGE_PARK, 0, false},
	{{.names = {"runtime.coroswitch_m"}, .callee = "runtime.gogo", .optional = true},
	 CHANGE_SWITCHED,
	 0,
	 false},
	{{.names = {"runtime.reentersyscall"}}, CHANGE_SYSCALL, RELEASE_SYSCALL_STATUS, false},
	{{.names = {"runtime.exitsyscall"}}, CHANGE_RETURNED, RELEASE_SYSCALL_STATUS, false},
	{{.names = {"runtime.stopTheWorldWithSema"}}, CHANGE_STOP_WORLD, 0, true},
	{{.names = {"runtime.forEachP"}}, CHANGE_MARK_DONE, 0, true},
	{{.names = {"runtime.mdump"}, .optional = true}, CHANGE_DUMP_HEAP, 0, true},
};

static bool has_reason(const struct states *states, const char *text)
{
	for (size_t i = 0; i < WAIT_REASONS; i++)
		if (states->reasons[i] && !strcmp(states->reasons[i], text))
			return true;
	return false;
}

/* Before Go 1.20. */
static bool is_unsaid(const struct states *states)
{
	return !has_reason(states, "stopping the world");
}

/* What is said of the runtime's work all the same, as a mask. */
static uint64_t said_work(const struct states *states)
{
	static const char *const said[] = {"GC assist marking", "garbage collection",
					   "garbage collection scan"};
	uint64_t mask = 0;

	for (size_t i = 0; i < WAIT_REASONS; i++)
		for (size_t j = 0; states->reasons[i] && j < sizeof(said) / sizeof(*said); j++)
			if (!strcmp(states->reasons[i], said[j]))
				mask |= 1ull << i;
	return mask;
}

static void free_reasons(char *reasons[WAIT_REASONS])
{
	for (size_t i = 0; i < WAIT_REASONS; i++)
		free(reasons[i]);
}

static bool same_reasons(char *const a[WAIT_REASONS], char *const b[WAIT_REASONS])
{
	for (size_t i = 0; i < WAIT_REASONS; i++)
		if (!a[i] != !b[i] || (a[i] && strcmp(a[i], b[i]) != 0))
			return false;
	return true;
}

/* `asked`: what the user calls it */
static int check_program(const struct program *prog, const char *asked, struct errmsg *err)
{
	if (!prog->toolchain->libgo)
		return 0;
	return errmsg_set(err, "\"%s\" is built by gccgo: %s is for Go's gc compiler only",
			  prog->path, asked);
}

/* What goroutines of the program wait for, by number: all that are traced must agree. */
static int read_reasons(struct states *states, const struct tracer *tracer, size_t n,
			struct errmsg *err)
{
	const struct program *prog = tracer_program(tracer, n);
	char *reasons[WAIT_REASONS] = {0};

	if (check_program(prog, states_option, err))
		return -1;
	if (!runtime_vars_wait_reasons_of(prog, reasons))
		return errmsg_set(err,
				  "\"%s\": what goroutines wait for is not found in the code of "
				  "runtime.waitReason.String",
				  prog->path);
	if (n == 0) {
		memcpy(states->reasons, reasons, sizeof(reasons));
		return 0;
	}
	bool same = same_reasons(states->reasons, reasons);

	free_reasons(reasons);
	if (same)
		return 0;
	errmsg_set(err,
		   "\"%s\" and \"%s\" cannot be traced together with --states: their Go versions "
		   "differ too much",
		   tracer_program(tracer, 0)->path, prog->path);
	errmsg_hint(err, "trace them in two commands");
	return -1;
}

static int add_func(struct tracer *tracer, const struct scheduler_func *func, struct errmsg *err)
{
	struct selection *sel = tracer_selection(tracer);

	selection_group(sel, sel->group + 1, false);
	sel->runtime = func->what;
	for (size_t i = 0; i < tracer_program_count(tracer); i++) {
		const struct program *prog = tracer_program(tracer, i);

		if (prog->release >= func->release && runtime_func_add(sel, prog, &func->func, err))
			return -1;
	}
	return 0;
}

static int add_funcs(struct tracer *tracer, bool unsaid, struct errmsg *err)
{
	const size_t count = sizeof(scheduler_funcs) / sizeof(*scheduler_funcs);

	for (size_t i = 0; i < count; i++)
		if ((unsaid || !scheduler_funcs[i].is_unsaid) &&
		    add_func(tracer, &scheduler_funcs[i], err))
			return -1;
	tracer_define(tracer, "STATES_WANTED", 1);
	tracer_define(tracer, "G_STATUS", tracer_runtime(tracer, 0)->g_status);
	/* a call of one of these functions begins before the change that it makes */
	tracer_reverse_parts(tracer);
	return 0;
}

static void divide(struct states *states, struct tracer *tracer)
{
	const struct selection *sel = tracer_selection(tracer);

	states->plans = mem_zalloc(sel->item_count, sizeof(*states->plans));
	for (size_t i = 0; i < sel->item_count; i++)
		states->plans[i].part = sel->items[i].runtime != 0;
	tracer_set_plans(tracer, states->plans);
	tracer_set_parts(tracer, 2);
}

int states_plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct states *states = ctx;

	for (size_t i = 0; i < tracer_program_count(tracer); i++)
		if (read_reasons(states, tracer, i, err))
			return -1;
	if (add_funcs(tracer, is_unsaid(states), err))
		return -1;
	divide(states, tracer);
	tracer_define(tracer, "NESTED", bpfmap_room(NESTED_MAX));
	tracer_define(tracer, "G_WAITREASON", tracer_runtime(tracer, 0)->g_waitreason);
	if (is_unsaid(states))
		tracer_define(tracer, "LATE_REASONS", said_work(states));
	return states->threads ? threadwatch_plan(tracer, err) : 0;
}

int states_plan_brief(struct tracer *tracer, const char *asked, struct errmsg *err)
{
	for (size_t i = 0; i < tracer_program_count(tracer); i++)
		if (check_program(tracer_program(tracer, i), asked, err))
			return -1;
	tracer_define(tracer, "WAITS_AS_ONE", 1);
	return add_funcs(tracer, false, err);
}

struct states *states_new(void)
{
	return mem_zalloc(1, sizeof(struct states));
}

void states_watch_threads(struct states *states)
{
	states->threads = true;
}

void states_free(struct states *states)
{
	if (!states)
		return;
	threadwatch_free(states->watch);
	free_reasons(states->reasons);
	free(states->plans);
	free(states->then.items);
	free(states->now.items);
	free(states->live.items);
	free(states);
}
