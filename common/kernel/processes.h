/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the processes that have ended or executed another program, with processes.bpf.c, so that
 * their entries in maps are counted and deleted. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpfprog;
struct process_key;
struct processes;

/* To be made before the first call is seen. The program outlives it. Never NULL: where the kernel
 * has no such thing, no process ever is gone. Caller frees. */
struct processes *processes_new(struct bpfprog *bpf);
void processes_free(struct processes *procs); /* NULL is all right */

/* Which are gone that were not before processes_forget()? False: none. What follows is about
 * these. */
bool processes_look(struct processes *procs);
/* When it ended, or executed another program: ns, CLOCK_MONOTONIC. 0: it is not one of these. */
uint64_t processes_ended(const struct processes *procs, const struct process_key *process);
/* Deletes the entries of map `fd`, a hash by keys that begin with a struct goroutine_key, that are
 * about processes which are gone, after fn has seen each: it returns nonzero to keep it. NULL:
 * nothing to see. 0, or -1 with errno. */
int processes_sweep(const struct processes *procs, int fd,
		    int (*fn)(const void *key, const void *value, void *arg), void *arg);
void processes_forget(struct processes *procs);

/* Is it time to look again? Sweeping a large map takes long: not more than a tenth of the time is
 * to go by with it. */
bool processes_due(struct processes *procs);

#endif
