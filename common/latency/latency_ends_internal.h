/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the calls that are still in gofunclatency.bpf.c's maps: while tracing goes on, those of
 * processes that are gone, and at its end all of them. */
#ifndef LATENCY_ENDS_INTERNAL_H
#define LATENCY_ENDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpfprog;
struct latency_ends;

struct latency_end { /* calls of one row, beside those that the kernel side has counted */
	uint64_t panicked, exited, switched, lost;
	uint64_t process_ended, running;
};

/* To be called before the first call is seen. `bpf` outlives it. Caller frees. */
struct latency_ends *latency_ends_new(struct bpfprog *bpf, size_t rows);
void latency_ends_free(struct latency_ends *ends); /* NULL is all right */

/* Counts the calls of processes that are gone, and deletes them. 0, or -1 with errno. */
int latency_ends_sweep(struct latency_ends *ends);
/* Is it time to sweep, so that the maps do not fill up? */
bool latency_ends_due(struct latency_ends *ends);
/* At the end, when nothing is added any more: the rest. 0, or -1 with errno. */
int latency_ends_count(struct latency_ends *ends);
/* The same counts in *out, one for each row, and the calls that run now beside them. 0, or -1 with
 * errno. */
int latency_ends_peek(struct latency_ends *ends, struct latency_end *out);
/* The counts since the beginning, for each row: an array that lives as long as `ends`. */
const struct latency_end *latency_ends_rows(const struct latency_ends *ends);

#endif
