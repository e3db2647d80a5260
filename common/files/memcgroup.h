/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory may processes still take before the kernel kills or throttles them, and how many
 * has it killed? This follows from the limits and events of their memory cgroups, version 1 or 2,
 * and of all cgroups above that can be seen from here, and from what the machine has left. */
#ifndef MEMCGROUP_H
#define MEMCGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct memcgroups;

struct memcgroup_room {
	const char *path; /* the cgroup's folder; NULL: the machine; the memcgroups own it */
	uint64_t wanted;  /* bytes, of all that was charged below it */
	uint64_t room;    /* bytes up to its limit, with the page cache that can be given up */
};

struct memcgroup_use {
	const char *path;     /* as above */
	uint64_t used, limit; /* bytes; used: without the page cache that can be given up */
};

/* `proc`: "/proc", or in tests a folder like it. Never NULL; caller frees. */
struct memcgroups *memcgroup_new(const char *proc);
void memcgroup_free(struct memcgroups *groups); /* NULL is all right */

/* The process would take so many bytes more. Cgroups that cannot be seen have no limit. */
void memcgroup_charge(struct memcgroups *groups, pid_t pid, uint64_t bytes);
/* Where what was charged takes the largest share of the room. false: there is no limit at all. */
bool memcgroup_tightest(const struct memcgroups *groups, struct memcgroup_room *out);
/* Of the machine and the cgroups of what was charged, which is nearest to its limit? false: there
 * is no limit at all. */
bool memcgroup_fullest(const struct memcgroups *groups, struct memcgroup_use *out);
/* How many processes has the kernel killed for want of memory in the cgroups of what was charged,
 * those above not included? Counted since each cgroup was made. false: they cannot be read, or are
 * gone. */
bool memcgroup_kills(const struct memcgroups *groups, uint64_t *count);

#endif
