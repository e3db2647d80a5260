// SPDX-License-Identifier: Apache-2.0
#include "collections/stop_reason.h"

#include <stddef.h>
#include <string.h>

#include "blocked/stacks.h"
#include "frames/frames.h"

static const char sweep_termination[] = "GC sweep termination",
		  mark_termination[] = "GC mark termination";

/* Go's src/runtime/proc.go, stwReason: the same in all releases that have it, which only ever add
 * some */
static const char *const numbered[] = {
	"unknown",
	mark_termination,
	sweep_termination,
	"write heap dump",
	"goroutine profile",
	"goroutine profile cleanup",
	"all goroutines stack trace",
	"read mem stats",
	"AllThreadsSyscall",
	"GOMAXPROCS",
	"start trace",
	"stop trace",
	"CountPagesInUse (test)",
	"ReadMetricsSlow (test)",
	"ReadMemStatsSlow (test)",
	"PageCachePagesLeaked (test)",
	"ResetDebugLog (test)",
};

enum { NUMBERED = sizeof(numbered) / sizeof(*numbered) };

static struct stop_reason reason_of(const char *words)
{
	struct stop_reason reason = {.words = words};

	if (words == sweep_termination)
		reason.gc = STOP_SWEEP_TERMINATION;
	else if (words == mark_termination)
		reason.gc = STOP_MARK_TERMINATION;
	return reason;
}

struct stop_reason stop_reason_number(uint64_t number)
{
	return reason_of(number < NUMBERED ? numbered[number] : NULL);
}

/* What these functions say to stopTheWorld() before Go 1.21; those that collect say nothing, and
 * have later releases' words here. */
static const struct {
	const char *func, *words;
} askers[] = {
	{"runtime.gcStart", sweep_termination},
	{"runtime.gcMarkDone", mark_termination},
	{"runtime.GOMAXPROCS", "GOMAXPROCS"},
	{"runtime.ReadMemStats", "read mem stats"},
	{"runtime/debug.WriteHeapDump", "write heap dump"},
	{"runtime.GoroutineProfile", "profile"},
	{"runtime.goroutineProfileWithLabels", "profile"},
	{"runtime.goroutineProfileWithLabelsConcurrent", "profile"},
	{"runtime.goroutineProfileWithLabelsSync", "profile"},
	{"runtime.Stack", "stack trace"},
	{"runtime.syscall_runtime_doAllThreadsSyscall", "doAllThreadsSyscall"},
	{"runtime.StartTrace", "start tracing"},
	{"runtime.StopTrace", "stop tracing"},
};

static void note_asker(void *ctx, const struct frame *frame)
{
	const char **asker = ctx;

	if (!*asker && strncmp(frame->func, "runtime.stopTheWorld", 20) != 0 &&
	    strncmp(frame->func, "runtime.systemstack", 19) != 0)
		*asker = frame->func;
}

struct stop_reason stop_reason_asker(const struct stacks *stacks, uint64_t hash, uint64_t bias)
{
	const char *asker = NULL;

	stacks_each(stacks, hash, bias, true, note_asker, &asker);
	for (size_t i = 0; asker && i < sizeof(askers) / sizeof(*askers); i++)
		if (!strcmp(asker, askers[i].func))
			return reason_of(askers[i].words);
	return reason_of(asker);
}

struct caller {           /* of gcStart */
	bool collects;    /* gcStart has come */
	const char *func; /* NULL: it has not */
};

static void note_caller(void *ctx, const struct frame *frame)
{
	struct caller *caller = ctx;

	if (caller->collects && !caller->func)
		caller->func = frame->func;
	caller->collects |= !strcmp(frame->func, "runtime.gcStart");
}

/* Whoever else calls it allocates. */
enum gc_trigger stop_reason_trigger(const struct stacks *stacks, uint64_t hash, uint64_t bias)
{
	struct caller caller = {0};

	stacks_each(stacks, hash, bias, true, note_caller, &caller);
	if (!caller.func)
		return GC_TRIGGER_UNKNOWN;
	if (!strcmp(caller.func, "runtime.GC"))
		return GC_TRIGGER_CALL;
	return strcmp(caller.func, "runtime.forcegchelper") ? GC_TRIGGER_HEAP : GC_TRIGGER_TIME;
}
