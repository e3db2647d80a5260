/* SPDX-License-Identifier: Apache-2.0 */
/* What -h and --help all print of a tool. */
#ifndef OPTIONS_HELP_INTERNAL_H
#define OPTIONS_HELP_INTERNAL_H

#include <stddef.h>
#include <stdio.h>

struct options_def;
struct options_tool;

/* "usage: gofunccount [-h] ..." with the `count` options of `defs` */
void options_help_usage(FILE *out, const struct options_tool *tool, const struct options_def *defs,
			size_t count);

/* -h: usage and five examples, so that a terminal of 24 lines shows them at once */
void options_help_short(FILE *out, const struct options_tool *tool, const struct options_def *defs,
			size_t count);

/* --help all: what each option does, and every example */
void options_help_all(FILE *out, const struct options_tool *tool, const struct options_def *defs,
		      size_t count);

#endif
