/* SPDX-License-Identifier: Apache-2.0 */
/* Watches a process until the kernel kills it for want of memory. Once it is chosen, its memory may
 * be gone within a tenth of a millisecond: whoever wants to read it has to do so before, as it
 * comes near its limit. */
#ifndef OOMWATCH_H
#define OOMWATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct json;
struct oomwatch;

struct oomwatch_options {
	bool json;
	void (*json_time)(struct json *json); /* adds to each object; NULL: nothing */
	void (*text_time)(FILE *out);         /* begins each line; NULL: nothing */
};

/* `proc`: "/proc", or in tests a folder like it. Never NULL; the caller frees. */
struct oomwatch *oomwatch_new(const char *proc, pid_t pid, const char *name);
void oomwatch_free(struct oomwatch *watch); /* NULL is all right */

/* Is it time to read its memory? Then a line has been printed that says why: at first, at 50, 75,
 * 90, 92, ... 98 % of its limit, and at 90 % and above each minute. `ns`: clock_ns(). */
bool oomwatch_due(struct oomwatch *watch, uint64_t ns, const struct oomwatch_options *opts,
		  FILE *out);
/* It has ended: prints whether the kernel has killed a process of its cgroup since oomwatch_new(),
 * and how old the last reading is. Which process that was, the cgroup does not tell. */
void oomwatch_ended(struct oomwatch *watch, uint64_t ns, const struct oomwatch_options *opts,
		    FILE *out);

#endif
