/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel counts of a process. */
#ifndef PROCESS_USAGE_H
#define PROCESS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct process;

struct process_usage {
	uint64_t threads;
	uint64_t rss_bytes;
	uint64_t cpu_ns; /* of all threads, in ticks of the kernel's clock, 10 ms mostly */
};

/* false: it has ended. */
bool process_usage(const struct process *proc, struct process_usage *out);

#endif
