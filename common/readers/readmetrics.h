/* SPDX-License-Identifier: Apache-2.0 */
/* --metrics of a tool that reads the memory of Go programs: these are looked at when somebody asks
 * for their numbers, and not otherwise. */
#ifndef READMETRICS_H
#define READMETRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct errmsg;
struct goprocesses_one;

struct readmetrics_source {
	/* Looks at one, in a process of its own, where *ctx is a copy, and leaves its numbers in
	 * *result. -1 with *err. */
	int (*look)(void *ctx, const struct goprocesses_one *one, struct errmsg *err);
	void (*end)(void *ctx); /* there: frees what was kept */
	void *result;           /* in the tool: the numbers of the one that was looked at last */
	size_t result_len;
	void (*begin)(void *ctx); /* all are looked at anew */
	void (*found)(void *ctx); /* ... one has been: *result has its numbers */
	/* Writes those of all that were found, as families of metrics/family.h. */
	void (*write)(void *ctx, FILE *out, bool openmetrics);
	void *ctx;
};

#endif
