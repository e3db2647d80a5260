/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that are met in samples: which of them are wanted, and what is known of their
 * programs. Each is looked at when its first sample comes; the kernel side is told what to read of
 * it from then on. */
#ifndef SAMPLED_INTERNAL_H
#define SAMPLED_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frames/frames.h"
#include "bpf-src/shared/profile.h"

struct errmsg;
struct heldfile;
struct process;
struct program;
struct sampled;
struct unwinder;

struct sampled_process {
	pid_t pid;
	char *comm;
	struct process *proc; /* NULL: it has ended, or is not wanted */
	struct program *prog; /* NULL: it is not wanted */
	bool is_shared;       /* what is known of the program is another process's */
	bool is_missed;       /* it had ended before it could be looked at */
	struct frames frames;
	struct unwinder *unwinder;
	struct profile_target target;
};

struct sampled_wanted {              /* of Go programs, all but: */
	pid_t pid;                   /* this one alone; 0: any */
	const struct heldfile *file; /* those that execute this file; NULL: any */
	const char *named;           /* whose command or file has this in its name; NULL: any */
};

/* `map`: the kernel side's `targets`. With a PID, the process is opened now; NULL with *err: there
 * is none, it is no Go program... `wanted` points to what outlives it. The caller frees. */
struct sampled *sampled_new(int map, const struct sampled_wanted *wanted, struct errmsg *err);
void sampled_free(struct sampled *sampled); /* NULL is all right */

/* Whose sample this is; NULL: of nobody who is wanted. Valid until sampled_free(). */
const struct sampled_process *sampled_find(struct sampled *sampled,
					   const struct profile_sample *sample);
/* The process of the PID that is wanted. */
const struct sampled_process *sampled_first(const struct sampled *sampled);
/* Samples of processes that had ended before it was known what they run. */
uint64_t sampled_missed(const struct sampled *sampled);

/* What an address is in that is no Go code: "[vdso]", "[libc.so.6]"; and where that begins, if it
 * is known. Valid until sampled_free(). */
const char *sampled_place(struct sampled *sampled, const struct sampled_process *process,
			  uint64_t addr, uint64_t *from);

#endif
