// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceplan_internal.h"

#include <stdlib.h>
#include <string.h>

#include "bpf-src/shared/trace_step.h"
#include "gotrace/traceplan_tables_internal.h"
#include "gotrace/traceplan_text_internal.h"
#include "kernel/bpfmap.h"
#include "tracing/tracer.h"
#include "sites/goruntime.h"
#include "gotrace/tracegen_uses_internal.h"

enum { CALLS_MAX = 1 << 17, RING_PAGES = 2048 };
/* Keys of a few KB each are fewer, so that they take at most KEYS_BYTES. */
enum { TABLES_LEAST = 64, ALL_STEPS_LEAST = 1024 };
enum { KEYS_MAX = 1 << 16, KEYS_MIN = 1 << 12, KEYS_BYTES = 1 << 26, ROOMS_MAX = 1 << 14 };
enum { READERS_MAX = 128 }; /* hits at a time; a power of two */

static bool same_creation(const struct tracer *tracer)
{
	for (size_t i = 1; i < tracer_program_count(tracer); i++)
		if (!goruntime_same_creation(tracer_runtime(tracer, i), tracer_runtime(tracer, 0)))
			return false;
	return true;
}

/* Defines how the kernel side finds libgo.so and, from there, main.main: stackcopy.h's
 * LIBRARY_INDEX and LIBRARY_MAIN. */
static void define_library(struct tracer *tracer)
{
	const struct goruntime *library = NULL;

	for (size_t i = 0; i < tracer_program_count(tracer); i++)
		if (tracer_runtime(tracer, i)->is_library)
			library = tracer_runtime(tracer, i);
	tracer_define(tracer, "LIBRARY_INDEX", library ? library->tls_word : 0);
	tracer_define(tracer, "LIBRARY_MAIN", library ? library->main_word : 0);
}

/* For parts/trace_keys.bpf.c. */
static void define_keys(const struct traceplan *plan, struct tracer *tracer)
{
	uint32_t size = plan->record_max > sizeof(uint64_t) ? plan->record_max : sizeof(uint64_t);
	uint32_t keys = KEYS_BYTES / size;

	keys = keys > KEYS_MAX ? KEYS_MAX : keys < KEYS_MIN ? KEYS_MIN : keys;
	tracer_define(tracer, "KEYED", 1);
	tracer_define(tracer, "KEY_MAX", size);
	tracer_define(tracer, "KEYS", bpfmap_room(keys));
	tracer_define(tracer, "ROOMS", ROOMS_MAX);
	if (plan->uses & TRACEGEN_CODE)
		tracer_define(tracer, "KEY_BIAS", 1);
}

static uint32_t readers_max(void)
{
	uint32_t max = READERS_MAX, room = bpfmap_room(READERS_MAX);

	while (max > room)
		max /= 2;
	return max;
}

/* Rounded up, so that one kept program serves many. */
static uint32_t rounded(size_t count, uint32_t least)
{
	while (least < count)
		least *= 2;
	return least;
}

/* Steps that the loop may do: the verifier walks through each, and most functions need few. */
static uint32_t steps_of(uint32_t count, uint32_t most)
{
	const char *wish = getenv("GOTOOLS_TABLES"); /* for tests: the longest loops */
	uint32_t steps = wish && !strcmp(wish, "most") ? most : rounded(count, 1);

	return steps < most ? steps : most;
}

/* For parts/trace_tables.bpf.c. */
static void define_tables(const struct traceplan *plan, struct tracer *tracer)
{
	struct traceplan_table_parts parts;
	const struct traceplan_tables *tables = traceplan_text_tables(plan->text, &parts);

	tracer_define(tracer, "TABLES",
		      tables ? rounded(traceplan_tables_count(tables), TABLES_LEAST) : 0);
	if (!tables)
		return;
	tracer_define(tracer, "TABLE_ENTRIES", parts.entries);
	tracer_define(tracer, "TABLE_BEGINS", parts.begins);
	tracer_define(tracer, "TABLE_ENDS", parts.ends);
	tracer_define(tracer, "STEPS", rounded(traceplan_tables_steps(tables), ALL_STEPS_LEAST));
	struct traceplan_most most = traceplan_tables_most(tables);

	tracer_define(tracer, "STEPS_ENTRY", steps_of(most.others, TRACE_STEPS_MAX));
	tracer_define(tracer, "STEPS_SAVED", steps_of(most.saved, TRACE_STEPS_MAX_SAVED));
	tracer_define(tracer, "STEPS_RETURN", steps_of(most.others, TRACE_STEPS_MAX_RETURN));
	tracer_define(tracer, "STEPS_DYNAMIC", steps_of(most.dynamics, TRACE_STEP_DYNAMICS));
	tracer_define(tracer, "ROOMS", readers_max());
}

void traceplan_define(const struct traceplan *plan, struct tracer *tracer)
{
	const struct traceplan_config *config = plan->config;
	const struct goruntime *rt = tracer_runtime(tracer, 0);

	tracer_define(tracer, "STRING_MAX", plan->dynamic_max);
	tracer_define(tracer, "SAVED_MAX", plan->saved_max);
	tracer_define(tracer, "RING_PAGES", RING_PAGES);
	tracer_define(tracer, "CALLS", bpfmap_room(CALLS_MAX));
	tracer_define(tracer, "GOROUTINES", bpfmap_room(CALLS_MAX)); /* with clocks */
	bool frames = config->user_stack || config->callers;

	tracer_define(tracer, "USER_FRAMES", frames);
	tracer_define(tracer, "KERNEL_FRAMES", config->kernel_stack);
	if (frames && rt->split_stack)
		define_library(tracer);
	for (size_t i = 0; i < config->probe_count; i++)
		if (plan->returns[i]) {
			tracer_define(tracer, "RETURNS", 1);
			break;
		}
	if (config->histograms)
		define_keys(plan, tracer);
	define_tables(plan, tracer);
	tracer_define(tracer, "G_GOPC", same_creation(tracer) ? rt->g_gopc : 0);
	tracer_define(tracer, "G_PARENT_GOID", same_creation(tracer) ? rt->g_parent_goid : 0);
	if (plan->uses & TRACEGEN_LABELS)
		tracer_define(tracer, "LABELS", 1);
	if (plan->uses & TRACEGEN_CONTEXTS)
		tracer_define(tracer, "CONTEXTS", 1);
	if (plan->uses & TRACEGEN_TIME)
		tracer_define(tracer, "SINCE", 1);
	if (config->user_stack || (plan->uses & TRACEGEN_PARENT))
		tracer_define(tracer, "PARENT", 1);
	if ((plan->uses & TRACEGEN_IDENTITY) || config->only_tid || config->only_goid ||
	    config->roots)
		tracer_define(tracer, "IDENTITY_FIRST", 1);
	if (config->only_tid)
		tracer_define(tracer, "ONLY_TID", config->only_tid);
	if (config->only_goid)
		tracer_define(tracer, "ONLY_GOID", config->only_goid);
}
