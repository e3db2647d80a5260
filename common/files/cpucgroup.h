/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the processors may a process use? That follows from the quotas of its CPU cgroups,
 * version 1 or 2, and of all cgroups above that can be seen from here. */
#ifndef CPUCGROUP_H
#define CPUCGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cpucgroup;

struct cpucgroup_quota {        /* of all processes of the cgroup together */
	uint64_t us, period_us; /* so much time of processors in each period */
	/* since the cgroup was made: periods in which something ran, and those in which the quota
	 * was used up; how long all its threads together were kept waiting then */
	uint64_t periods, throttled, throttled_us;
};

/* Of these cgroups, the one whose quota is the smallest share now; NULL: none has a quota, or none
 * can be seen. `proc`: "/proc", or in tests a folder like it. The caller frees. */
struct cpucgroup *cpucgroup_find(const char *proc, pid_t pid);
void cpucgroup_free(struct cpucgroup *group); /* NULL is all right */
/* false: it has none any more, or is gone. */
bool cpucgroup_quota(const struct cpucgroup *group, struct cpucgroup_quota *out);

#endif
