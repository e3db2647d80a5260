/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are traced while no process runs them: a copy of the one that runs, perhaps. Tracing
 * waits for the first process, which may never come. */
#ifndef IDLEFILES_INTERNAL_H
#define IDLEFILES_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

struct errmsg;
struct tracer;

/* When tracing begins: a line for each file that no process runs, with a hint. */
void idlefiles_say(const struct tracer *tracer, FILE *out, const char *tool);
/* At the end: -1 with *err if no process has run any of the files since tracing began. 0: one has,
 * or it is not known. */
int idlefiles_check(const struct tracer *tracer, struct errmsg *err);

#endif
