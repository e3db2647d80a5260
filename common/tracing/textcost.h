/* SPDX-License-Identifier: Apache-2.0 */
/* A page of a program's code that has a breakpoint is the process's own from then on, and no more
 * the file's: memory that it pays for, and that its memory cgroup may not have. */
#ifndef TEXTCOST_H
#define TEXTCOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct errmsg;
struct heldfile;
struct textcost;

struct textcost *textcost_new(void); /* never NULL; caller frees */
void textcost_free(struct textcost *cost);

/* Breakpoints at these file offsets, which are sorted on the way. */
void textcost_file(struct textcost *cost, const struct heldfile *held, uint64_t *offs,
		   size_t count);
/* After the files: who pays? A process, or (0) all that have mapped one of the files. */
void textcost_processes(struct textcost *cost, pid_t pid);

/* -1 with *err: it does not fit, with a quarter of it to spare, into what a process may have. */
int textcost_check(const struct textcost *cost, struct errmsg *err);
/* One line where it takes more than a tenth of that, for stderr. */
void textcost_warn(const struct textcost *cost, FILE *out, const char *tool);
/* "Breakpoints take 24 KiB of memory (6 pages of code) in each process." */
void textcost_print(const struct textcost *cost, FILE *out);

#endif
