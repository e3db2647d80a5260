/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers there are of a program's runtime and of its process. */
#ifndef STATS_NUMBER_H
#define STATS_NUMBER_H

enum stats_number {
	STATS_GOROUTINES, /* as runtime.NumGoroutine: none of the runtime's own */
	STATS_RUNNING,    /* ... those that run, */
	STATS_RUNNABLE,   /* wait for a processor, */
	STATS_WAITING,    /* wait for something else, */
	STATS_SYSCALL,    /* or are in system calls or in C */
	STATS_THREADS,
	STATS_GOMAXPROCS,
	STATS_IDLE,       /* of these processors, how many have nothing to do */
	STATS_HEAP_BYTES, /* MemStats.HeapAlloc, but for what is not counted yet: gostat(8) */
	STATS_HEAP_GOAL,  /* NextGC */
	STATS_HEAP_INUSE, /* HeapInuse, in spans */
	STATS_HEAP_IDLE,  /* HeapIdle */
	STATS_HEAP_RELEASED,
	STATS_STACK_BYTES,   /* StackInuse */
	STATS_RUNTIME_BYTES, /* the rest of Sys: spans, caches, the collector's and profiles' own */
	STATS_RSS_BYTES,
	STATS_RSS_FILE,  /* of this, pages of files, */
	STATS_RSS_SHMEM, /* shared memory, */
	STATS_RSS_REST,  /* signed: all of this, less what the runtime and the kernel name */
	STATS_LAZYFREE,  /* if asked for: given back, but not taken yet; part of the rest */
	STATS_SWAP,
	STATS_ALLOCATED, /* TotalAlloc, as STATS_HEAP_BYTES */
	STATS_GC_CYCLES,
	STATS_GC_PAUSE_NS, /* PauseTotalNs */
	STATS_GC_FRACTION, /* GCCPUFraction, the bits of a double */
	STATS_CPU_NS,
	STATS_GOGC,         /* signed: -1: off */
	STATS_MEMORY_LIMIT, /* GOMEMLIMIT; INT64_MAX: none */
	STATS_FDS,
	STATS_FDS_LIMIT,
	STATS_MALLOCS,
	STATS_FREES,
	STATS_OBJECTS, /* HeapObjects: these three as STATS_ALLOCATED */
	STATS_LAST_GC, /* since 1970, in ns */
	/* of its cgroup, files/cpucgroup.h; known if it has a quota: */
	STATS_CPU_QUOTA, /* in thousandths of a CPU */
	STATS_CPU_PERIODS,
	STATS_CPU_THROTTLED, /* of these periods */
	STATS_NUMBERS
};

#endif
