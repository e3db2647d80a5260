/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of GODEBUG, as a program's runtime reads them when it starts. */
#ifndef GODEBUG_INTERNAL_H
#define GODEBUG_INTERNAL_H

#include <stdint.h>

struct process;
struct program;

/* What "a=1,b=2" makes of a setting that was `before`. */
int32_t godebug_set(const char *settings, const char *name, int32_t before);
/* By what the program was built with, then by its environment; `proc` NULL: not known. */
int32_t godebug_number(const struct program *prog, const struct process *proc, const char *name,
		       int32_t before);

#endif
