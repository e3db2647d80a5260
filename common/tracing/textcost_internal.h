/* SPDX-License-Identifier: Apache-2.0 */
/* A page of a program's code with a breakpoint becomes a private copy of the process's: memory that
 * is charged to the process, and for which its memory cgroup may have no room. */
#ifndef TEXTCOST_INTERNAL_H
#define TEXTCOST_INTERNAL_H

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

/* Adds breakpoints at these file offsets; sorts the offsets. */
void textcost_file(struct textcost *cost, const struct heldfile *held, uint64_t *offs,
		   size_t count);
/* To be called after the files: who pays for the pages? The process `pid`, or (0) all that have
 * mapped code of one of the files. */
void textcost_processes(struct textcost *cost, pid_t pid);

/* Had a process mapped code of the file then? true: or it is not known. */
bool textcost_is_mapped(const struct textcost *cost, const struct heldfile *held);

/* -1 with *err if the memory needed, and a quarter more, exceeds the room that a process has. */
int textcost_check(const struct textcost *cost, struct errmsg *err);
/* Prints a line, for stderr, if more than a tenth of that room is needed. */
void textcost_warn(const struct textcost *cost, FILE *out, const char *tool);
/* "Breakpoints take 24 KiB of memory (6 pages of code) in each process." */
void textcost_print(const struct textcost *cost, FILE *out);

#endif
