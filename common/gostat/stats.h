/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a program's runtime, as runtime.MemStats and runtime/metrics have them, read from the
 * memory of the process while it runs. */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "gostat/stats_number.h"

struct frames;
struct memory;
struct process;
struct program;
struct stats_reader;

struct stats {
	struct {
		bool known;
		uint64_t n;
	} all[STATS_NUMBERS];
	uint64_t when_ns; /* of clock_ns() */
	char comm[16];    /* what the process is called; "": not known */
};

/* The program and its frames outlive it. The caller frees. */
struct stats_reader *stats_reader_new(const struct program *prog, const struct frames *frames);
void stats_reader_free(struct stats_reader *reader); /* NULL is all right */
/* What cannot be read or is not known of this release is not `known`. `mem` and `proc` are the same
 * each time; `proc`: NULL: none runs. */
void stats_read(struct stats_reader *reader, const struct memory *mem, const struct process *proc,
		struct stats *out);
/* see files/process_usage.h */
void stats_read_lazyfree(const struct process *proc, struct stats *out);

#endif
