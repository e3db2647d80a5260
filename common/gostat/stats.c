// SPDX-License-Identifier: Apache-2.0
#include "gostat/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/index.h"
#include "base/mem.h"
#include "files/cpucgroup.h"
#include "files/process.h"
#include "files/process_usage.h"
#include "frames/frames.h"
#include "golang/funcname.h"
#include "golang/sizeclass.h"
#include "goroutines/goroutine.h"
#include "goroutines/memory.h"
#include "goroutines/memory_pages.h"
#include "goroutines/runtime_vars.h"
#include "gostat/stats_vars_internal.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/goruntime.h"

enum { GOROUTINES_MAX = 1 << 21, AT_ONCE = 512, STARTS_MAX = 1 << 16 };
enum { STATUS_SCAN = 0x1000 }; /* a flag beside the status, while its stack is scanned */

struct start { /* what a goroutine began with */
	uint64_t addr;
	bool system;
};

struct stats_reader {
	const struct frames *frames;
	struct goruntime rt;
	struct stats_vars vars;
	uint64_t allgs; /* 0: not known */
	struct start *starts;
	size_t count, cap;
	struct index index;
	struct memory_pages *pages; /* once it has read */
	size_t allp;                /* which of vars.slices that was */
	bool has_looked;            /* for this: */
	struct cpucgroup *cpu;      /* NULL: no quota */
};

struct stats_reader *stats_reader_new(const struct program *prog, const struct frames *frames)
{
	struct stats_reader *reader = mem_zalloc(1, sizeof(*reader));

	reader->frames = frames;
	goruntime_read_fields(prog, &reader->rt);
	stats_vars_find(prog, &reader->vars);
	if (!runtime_vars_allgs(prog, &reader->allgs) || !reader->rt.g_gopc)
		reader->allgs = 0;
	return reader;
}

void stats_reader_free(struct stats_reader *reader)
{
	if (!reader)
		return;
	index_free(&reader->index);
	memory_pages_free(reader->pages);
	cpucgroup_free(reader->cpu);
	free(reader->starts);
	free(reader);
}

static void set(struct stats *stats, enum stats_number which, uint64_t n)
{
	stats->all[which].known = true;
	stats->all[which].n = n;
}

/* --- goroutines --- */

static bool begins_system(const struct stats_reader *reader, uint64_t start)
{
	struct functab_func fn;

	return functab_find(reader->frames->tab, start - reader->frames->bias, &fn) &&
	       funcname_begins_system(fn.name);
}

static bool is_system(struct stats_reader *reader, uint64_t start)
{
	uint64_t hash = index_hash(0, start);
	size_t n = index_first(&reader->index, hash);

	while (n != INDEX_NONE && reader->starts[n].addr != start)
		n = index_next(&reader->index, n);
	if (n != INDEX_NONE)
		return reader->starts[n].system;
	bool system = begins_system(reader, start);

	if (reader->count >= STARTS_MAX)
		return system;
	reader->starts =
		mem_grow(reader->starts, reader->count, &reader->cap, sizeof(*reader->starts));
	reader->starts[reader->count++] = (struct start){start, system};
	index_add(&reader->index, hash);
	return system;
}

static bool count_one(struct stats_reader *reader, const struct memory *mem, uint64_t g,
		      uint64_t counts[STATS_NUMBERS])
{
	static const unsigned char kinds[] = {
		[GOROUTINE_RUNNABLE] = STATS_RUNNABLE, [GOROUTINE_RUNNING] = STATS_RUNNING,
		[GOROUTINE_SYSCALL] = STATS_SYSCALL,   [GOROUTINE_WAITING] = STATS_WAITING,
		[GOROUTINE_COPYSTACK] = STATS_RUNNING, [GOROUTINE_PREEMPTED] = STATS_RUNNABLE,
		[GOROUTINE_LEAKED] = STATS_WAITING,
	};
	uint64_t start;
	uint32_t status;

	if (!mem->read(mem->ctx, g + reader->rt.g_status, &status, sizeof(status)))
		return false;
	status &= ~(uint32_t)STATUS_SCAN;
	if (status >= sizeof(kinds) || !kinds[status])
		return true; /* it has ended, or is only being made */
	/* gopc, ancestors, startpc */
	if (!memory_u64(mem, g + reader->rt.g_gopc + 16, &start))
		return false;
	if (is_system(reader, start))
		return true;
	counts[STATS_GOROUTINES]++;
	counts[kinds[status]]++;
	return true;
}

static bool count_all(struct stats_reader *reader, const struct memory *mem, uint64_t addr,
		      uint64_t left, uint64_t counts[STATS_NUMBERS])
{
	uint64_t all[AT_ONCE];

	for (size_t n; left; left -= n, addr += n * sizeof(*all)) {
		n = left < AT_ONCE ? left : AT_ONCE;
		if (!mem->read(mem->ctx, addr, all, n * sizeof(*all)))
			return false;
		for (size_t i = 0; i < n; i++)
			if (!count_one(reader, mem, all[i], counts))
				return false;
	}
	return true;
}

static void read_goroutines(struct stats_reader *reader, const struct memory *mem,
			    struct stats *out)
{
	uint64_t slice[2], counts[STATS_NUMBERS] = {0};

	if (!reader->allgs ||
	    !mem->read(mem->ctx, reader->allgs + reader->frames->bias, slice, sizeof(slice)) ||
	    slice[1] > GOROUTINES_MAX || !count_all(reader, mem, slice[0], slice[1], counts))
		return;
	for (enum stats_number i = STATS_GOROUTINES; i <= STATS_SYSCALL; i++)
		set(out, i, counts[i]);
}

/* --- the heap --- */

struct reading {
	const struct memory *mem;
	uint64_t bias;
	struct stats *out;
};

static bool read_word(const struct reading *r, uint64_t addr, uint64_t *n)
{
	return addr && memory_u64(r->mem, addr + r->bias, n);
}

static void take(const struct reading *r, enum stats_number which, uint64_t addr)
{
	uint64_t n;

	if (read_word(r, addr, &n))
		set(r->out, which, n);
}

static void take_half(const struct reading *r, enum stats_number which, uint64_t addr)
{
	uint32_t n;

	if (addr && r->mem->read(r->mem->ctx, addr + r->bias, &n, sizeof(n)))
		set(r->out, which, n);
}

/* src/runtime/mgcpacer.go, heapGoalInternal; where a memory limit is set, the goal depends on much
 * more. */
static void take_goal(const struct reading *r, const struct stats_vars *vars)
{
	enum { MIN_RUNWAY = 64 << 10 };
	uint64_t goal, sweep, triggered, limit;

	take(r, STATS_HEAP_GOAL, vars->next_gc);
	if (!read_word(r, vars->goal, &goal) || !read_word(r, vars->sweep_goal, &sweep) ||
	    !read_word(r, vars->triggered, &triggered) || !read_word(r, vars->limit, &limit) ||
	    limit != INT64_MAX)
		return;
	if (sweep > goal)
		goal = sweep;
	if (triggered != UINT64_MAX && goal < triggered + MIN_RUNWAY)
		goal = triggered + MIN_RUNWAY;
	set(r->out, STATS_HEAP_GOAL, goal);
}

static void take_heap(const struct reading *r, const struct stats_vars *vars)
{
	uint64_t allocated, freed, free_bytes, released, sys, inuse;

	take(r, STATS_HEAP_INUSE, vars->heap_inuse);
	take(r, STATS_HEAP_RELEASED, vars->heap_released);
	take(r, STATS_HEAP_IDLE, vars->heap_idle);
	if (read_word(r, vars->heap_free, &free_bytes) &&
	    read_word(r, vars->heap_released, &released))
		set(r->out, STATS_HEAP_IDLE, free_bytes + released);
	if (read_word(r, vars->heap_sys, &sys) && read_word(r, vars->heap_inuse, &inuse))
		set(r->out, STATS_HEAP_IDLE, sys > inuse ? sys - inuse : 0);
	/* what is freed was allocated before: read in this order, the difference is not negative */
	if (!read_word(r, vars->total_free, &freed) || !read_word(r, vars->total_alloc, &allocated))
		return;
	set(r->out, STATS_ALLOCATED, allocated);
	set(r->out, STATS_HEAP_BYTES, allocated > freed ? allocated - freed : 0);
}

static void take_sum(const struct reading *r, enum stats_number which, const uint64_t *addrs,
		     size_t count)
{
	uint64_t sum = 0, n;

	for (size_t i = 0; i < count && addrs[i]; i++) {
		if (!read_word(r, addrs[i], &n))
			return;
		sum += n;
	}
	if (addrs[0])
		set(r->out, which, sum);
}

struct totals {
	uint64_t mallocs, frees;
	uint64_t allocated, freed; /* bytes */
};

static void add_counts(struct totals *to, const struct stats_counts *counts)
{
	to->mallocs += counts->tiny + counts->large;
	to->frees += counts->tiny + counts->large_freed;
	to->allocated += counts->large_bytes;
	to->freed += counts->large_freed_bytes;
	for (size_t i = 0; i < STATS_CLASSES; i++) {
		to->mallocs += counts->small[i];
		to->frees += counts->small_freed[i];
		to->allocated += counts->small[i] * sizeclass_bytes[i];
		to->freed += counts->small_freed[i] * sizeclass_bytes[i];
	}
}

/* Of all generations, read at once; false: they cannot be read, or are not known. */
static bool read_counts(const struct reading *r, const struct memory *mem,
			const struct stats_vars *vars, struct totals *to)
{
	unsigned char all[STATS_COUNTS * STATS_COUNTS_APART];
	struct stats_counts counts;
	uint64_t tiny = 0;

	*to = (struct totals){0};
	if (!mem->read(mem->ctx, vars->counts + r->bias, all,
		       (STATS_COUNTS - 1) * vars->counts_apart + sizeof(counts)) ||
	    (vars->tiny && !memory_u64(mem, vars->tiny + r->bias, &tiny)))
		return false;
	for (size_t i = 0; i < STATS_COUNTS; i++) {
		memcpy(&counts, all + i * vars->counts_apart, sizeof(counts));
		if (vars->tiny)
			counts.tiny = i ? 0 : tiny;
		add_counts(to, &counts);
	}
	return true;
}

/* Now and then the runtime adds one generation to another and clears it: who reads between these
 * finds its counts twice, and less the next time. Counts that are less are the right ones. */
static void take_counts(const struct reading *r, const struct memory *mem,
			const struct stats_vars *vars)
{
	enum { TRIES = 4 };
	struct totals totals, again;

	if (!vars->counts || !read_counts(r, mem, vars, &totals))
		return;
	for (int i = 0; i < TRIES; i++) {
		if (!read_counts(r, mem, vars, &again))
			return;
		if (again.mallocs >= totals.mallocs && again.frees >= totals.frees)
			break;
		totals = again;
	}
	set(r->out, STATS_MALLOCS, totals.mallocs);
	set(r->out, STATS_FREES, totals.frees);
	set(r->out, STATS_OBJECTS,
	    totals.mallocs > totals.frees ? totals.mallocs - totals.frees : 0);
	if (!vars->counted_bytes)
		return;
	set(r->out, STATS_ALLOCATED, totals.allocated);
	set(r->out, STATS_HEAP_BYTES,
	    totals.allocated > totals.freed ? totals.allocated - totals.freed : 0);
}

static void take_pacing(const struct reading *r, const struct stats_vars *vars)
{
	int32_t percent;

	if (vars->gogc &&
	    r->mem->read(r->mem->ctx, vars->gogc + r->bias, &percent, sizeof(percent)))
		set(r->out, STATS_GOGC, (uint64_t)(int64_t)percent);
	take(r, STATS_MEMORY_LIMIT, vars->limit);
}

/* --- processors --- */

/* src/runtime/runtime2.go: a struct p begins with its number and its status, of which 0 is idle.
 * False: this is no slice of them. */
static bool count_idle(const struct reading *r, uint64_t slice, uint64_t procs, uint64_t *idle)
{
	enum { STATUSES = 5 };
	uint64_t head[2], p;
	uint32_t id_status[2];

	if (!r->mem->read(r->mem->ctx, slice + r->bias, head, sizeof(head)) || head[1] != procs)
		return false;
	*idle = 0;
	for (uint64_t i = 0; i < procs; i++) {
		if (!memory_u64(r->mem, head[0] + i * 8, &p) ||
		    !r->mem->read(r->mem->ctx, p, id_status, sizeof(id_status)) ||
		    id_status[0] != i || id_status[1] >= STATUSES)
			return false;
		*idle += !id_status[1];
	}
	return true;
}

/* The one that it was before comes first: others may lead to where nothing is. */
static void take_idle(const struct reading *r, struct stats_reader *reader)
{
	enum { PROCS_MAX = 1 << 16 };
	const uint64_t *slices = reader->vars.slices;
	uint64_t procs = r->out->all[STATS_GOMAXPROCS].n, idle;
	size_t first = reader->allp;

	if (!procs || procs > PROCS_MAX)
		return;
	for (size_t i = 0; i < STATS_SLICES; i++) {
		size_t n = (first + i) % STATS_SLICES;

		if (!slices[n] || !count_idle(r, slices[n], procs, &idle))
			continue;
		reader->allp = n;
		set(r->out, STATS_IDLE, idle);
		return;
	}
}

/* --- the process --- */

/* What the runtime counts is mapped, but need not be resident: the rest may be negative. */
static void set_rest(struct stats *out)
{
	static const enum stats_number parts[] = {
		STATS_HEAP_INUSE,    STATS_HEAP_IDLE, STATS_HEAP_RELEASED, STATS_STACK_BYTES,
		STATS_RUNTIME_BYTES, STATS_RSS_FILE,  STATS_RSS_SHMEM};
	uint64_t rest = out->all[STATS_RSS_BYTES].n;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!out->all[parts[i]].known)
			return;
		/* HeapIdle has what was released in it */
		if (parts[i] == STATS_HEAP_RELEASED)
			rest += out->all[parts[i]].n;
		else
			rest -= out->all[parts[i]].n;
	}
	set(out, STATS_RSS_REST, rest);
}

static void take_usage(const struct process *proc, struct stats *out)
{
	struct process_usage usage;

	if (!proc || !process_usage(proc, &usage))
		return;
	snprintf(out->comm, sizeof(out->comm), "%s", usage.name);
	set(out, STATS_THREADS, usage.threads);
	set(out, STATS_RSS_BYTES, usage.rss_anon + usage.rss_file + usage.rss_shmem);
	set(out, STATS_RSS_FILE, usage.rss_file);
	set(out, STATS_RSS_SHMEM, usage.rss_shmem);
	set(out, STATS_SWAP, usage.swap);
	set(out, STATS_CPU_NS, usage.cpu_ns);
	set_rest(out);
}

static void take_descriptors(const struct process *proc, struct stats *out)
{
	struct process_descriptors fds;

	if (!proc || !process_descriptors(proc, &fds))
		return;
	set(out, STATS_FDS, fds.open);
	set(out, STATS_FDS_LIMIT, fds.limit);
}

/* A quota that comes while it looks is not seen: a look would read files of all cgroups above. */
static void take_quota(struct stats_reader *reader, const struct process *proc, struct stats *out)
{
	struct cpucgroup_quota quota;

	if (proc && !reader->has_looked)
		reader->cpu = cpucgroup_find("/proc", process_id(proc));
	reader->has_looked |= proc != NULL;
	if (!reader->cpu || !cpucgroup_quota(reader->cpu, &quota))
		return;
	set(out, STATS_CPU_QUOTA,
	    (uint64_t)(1000 * (double)quota.us / (double)quota.period_us + 0.5));
	set(out, STATS_CPU_PERIODS, quota.periods);
	set(out, STATS_CPU_THROTTLED, quota.throttled);
}

void stats_read_lazyfree(const struct process *proc, struct stats *out)
{
	uint64_t bytes;

	if (process_lazyfree(proc, &bytes))
		set(out, STATS_LAZYFREE, bytes);
}

void stats_read(struct stats_reader *reader, const struct memory *mem, const struct process *proc,
		struct stats *out)
{
	if (!reader->pages)
		reader->pages = memory_pages_new(mem);
	const struct reading r = {memory_pages_memory(reader->pages), reader->frames->bias, out};

	*out = (struct stats){.when_ns = clock_ns()};
	memory_pages_again(reader->pages, proc);
	read_goroutines(reader, r.mem, out);
	take_half(&r, STATS_GOMAXPROCS, reader->vars.gomaxprocs);
	take_idle(&r, reader);
	take_half(&r, STATS_GC_CYCLES, reader->vars.gc_cycles);
	take(&r, STATS_GC_PAUSE_NS, reader->vars.pause_total);
	take(&r, STATS_GC_FRACTION, reader->vars.gc_fraction);
	take(&r, STATS_LAST_GC, reader->vars.last_gc);
	take_heap(&r, &reader->vars);
	take_counts(&r, mem, &reader->vars);
	take_goal(&r, &reader->vars);
	take_sum(&r, STATS_STACK_BYTES, reader->vars.stacks, STATS_STACKS);
	take_sum(&r, STATS_RUNTIME_BYTES, reader->vars.own, STATS_OWN);
	take_pacing(&r, &reader->vars);
	take_usage(proc, out);
	take_descriptors(proc, out);
	take_quota(reader, proc, out);
}
