/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel counts of a process. */
#ifndef PROCESS_USAGE_H
#define PROCESS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct process;

struct process_usage {
	char name[16]; /* what it is called, as process_name() */
	uint64_t threads;
	uint64_t cpu_ns; /* of all threads, also those that have ended */
	/* bytes that are resident, of three kinds that add up to its resident memory: */
	uint64_t rss_anon, rss_file, rss_shmem;
	uint64_t swap; /* bytes that are swapped out */
};

struct process_descriptors {
	uint64_t open, limit; /* limit: UINT64_MAX: none */
};

/* What its threads have had of CPUs since they began; threads that have ended are not in it. */
struct process_turns {
	uint64_t ran_ns;
	uint64_t waited_ns; /* while they wanted to run: others did, or a quota was used up */
};

/* false: it has ended, or the kernel does not count. */
bool process_turns(const struct process *proc, struct process_turns *out);

/* false: it has ended. */
bool process_usage(const struct process *proc, struct process_usage *out);
/* false: it has ended, or may not be looked at. */
bool process_descriptors(const struct process *proc, struct process_descriptors *out);
/* Resident bytes that it has given back (MADV_FREE), and that the kernel takes when it needs them.
 * The kernel walks all its memory to count them. false: as above. */
bool process_lazyfree(const struct process *proc, uint64_t *bytes);

#endif
