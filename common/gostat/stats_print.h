/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a program as a line of a table, and as JSON. */
#ifndef STATS_PRINT_H
#define STATS_PRINT_H

#include <stdbool.h>
#include <stdio.h>

struct json;
struct stats;

struct stats_subject {
	int pid;
	const char *name; /* of its file */
	const char *comm;
	int release; /* N of Go 1.N; -1: not known */
};

void stats_print_head(FILE *out);
/* What happened since `before`; NULL: there was no look before. */
void stats_print_line(FILE *out, const struct stats_subject *of, const struct stats *now,
		      const struct stats *before);
/* A line, if the quota of its cgroup was used up since; false: it was not. */
bool stats_print_quota(FILE *out, const char *tool, const struct stats_subject *of,
		       const struct stats *now, const struct stats *before);
/* `time` adds to the object; NULL: nothing */
void stats_print_json(FILE *out, const struct stats_subject *of, const struct stats *now,
		      void (*time)(struct json *json));

#endif
