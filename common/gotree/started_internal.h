/* SPDX-License-Identifier: Apache-2.0 */
/* Goroutines that were started below a call of ROOT, or received what was sent there: their trees
 * as the kernel side had them, joined to ROOT's. */
#ifndef STARTED_INTERNAL_H
#define STARTED_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/tree.h"

struct calltree;
struct functab;
struct started;

struct started_of {
	const struct functab *tab; /* of the program */
	uint64_t probe;            /* address in the file of the one in runtime.newproc1 */
	uint64_t end_ns;           /* of ROOT's call; CLOCK_MONOTONIC */
	uint64_t grace_ns;         /* what ends so much later has ended with it */
};

struct started *started_new(void);
void started_free(struct started *started); /* NULL is all right */

void started_clear(struct started *started);
/* Copies it; its calls are in order (calltree_is_whole()). */
void started_add(struct started *started, const struct tree *tree);
size_t started_count(const struct started *started);
const struct tree_head *started_head(const struct started *started, size_t n);
bool started_running(const struct started *started); /* does any of them go on? */

/* Adds them to ROOT's tree, as they were when its call ended, valid until the next call of
 * started_clear(). The runtime's own goroutines are left out. */
void started_join(struct started *started, struct calltree *root, const struct started_of *of);

#endif
