/* SPDX-License-Identifier: Apache-2.0 */
/* The tools' side of descendants.bpf.c: if the traced file is not the command's own, the processes
 * that the command starts are traced as well, and those that they start. */
#ifndef DESCENDANTS_INTERNAL_H
#define DESCENDANTS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpfprog;
struct command;
struct descendants;
struct errmsg;
struct heldfile;

/* Is the file neither the command's own program, nor a library that this needs? */
bool descendants_wanted(struct command *cmd, const struct heldfile *file);

struct descendants_layout { /* byte offsets: CHILD_TGID, TASK_SIGNAL, SIGNAL_LIVE */
	uint32_t tgid, signal, live;
};

/* Can this kernel do it? 0, or -1 with *err: why not. With GOTOOLS_DESCENDANTS=no, for tests, it
 * cannot. */
int descendants_layout(struct descendants_layout *out, struct errmsg *err);

/* To be called before the command starts. NULL and *err on failure; caller frees, before `bpf`. */
struct descendants *descendants_begin(struct bpfprog *bpf, struct errmsg *err);
size_t descendants_running(const struct descendants *desc); /* now */
uint64_t descendants_lost(const struct descendants *desc);  /* not traced: the map was full */
void descendants_free(struct descendants *desc);            /* NULL is all right */

#endif
