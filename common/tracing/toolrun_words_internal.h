/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool says on stderr of how its tracing went, before it begins and at its end. For
 * toolrun.c only. */
#ifndef TOOLRUN_WORDS_INTERNAL_H
#define TOOLRUN_WORDS_INTERNAL_H

#include <stddef.h>

struct tracer;

void toolrun_say_before(const struct tracer *tracer, const char *tool);
/* With -v: what is not as it usually is. */
void toolrun_say_details(const struct tracer *tracer, const char *tool);
/* Files that were replaced: as soon as it is noticed, and at the end. */
void toolrun_say_newly_replaced(const struct tracer *tracer, const char *tool);
void toolrun_say_replaced(const struct tracer *tracer, const char *tool);
/* After detaching. `running`: how many processes started by the command outlived it. */
void toolrun_say_after(const struct tracer *tracer, const char *tool, size_t running);
/* The process of -p, or the command, has ended, and tracing with it: says so, of a command if it
 * has failed. Returns the command's exit status, 0 without a command. */
int toolrun_say_ended(const struct tracer *tracer, const char *tool);

#endif
