// SPDX-License-Identifier: Apache-2.0
#include "files/cpucgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "files/cgroup_folders_internal.h"

enum { TEXT_SIZE = 1 << 12, NS_PER_US = 1000 };

struct cpucgroup {
	char *path;
	bool v2;
};

struct tightest {
	struct cpucgroup *group; /* NULL: none yet */
	double share;
};

/* "QUOTA PERIOD", of version 1 in two files; the word "max" and -1 are no quota. */
static bool read_quota(const char *path, bool v2, struct cpucgroup_quota *out)
{
	char text[TEXT_SIZE];

	if (v2) {
		cgroup_read(path, "cpu.max", text, sizeof(text));
		return sscanf(text, "%" SCNu64 " %" SCNu64, &out->us, &out->period_us) == 2 &&
		       out->period_us;
	}
	out->us = cgroup_limit(path, "cpu.cfs_quota_us");
	out->period_us = cgroup_limit(path, "cpu.cfs_period_us");
	return out->us != UINT64_MAX && out->period_us != UINT64_MAX && out->period_us;
}

static void read_use(const char *path, bool v2, struct cpucgroup_quota *out)
{
	char text[TEXT_SIZE];

	cgroup_read(path, "cpu.stat", text, sizeof(text));
	out->periods = cgroup_value(text, "nr_periods");
	out->throttled = cgroup_value(text, "nr_throttled");
	out->throttled_us = v2 ? cgroup_value(text, "throttled_usec")
			       : cgroup_value(text, "throttled_time") / NS_PER_US;
}

static void look(void *ctx, const struct cgroup_folder *folder)
{
	struct tightest *tightest = ctx;
	struct cpucgroup_quota quota = {0};

	if (!read_quota(folder->path, folder->v2, &quota))
		return;
	double share = (double)quota.us / (double)quota.period_us;

	if (tightest->group && share >= tightest->share)
		return;
	cpucgroup_free(tightest->group);
	tightest->group = mem_zalloc(1, sizeof(*tightest->group));
	*tightest->group = (struct cpucgroup){mem_strdup(folder->path), folder->v2};
	tightest->share = share;
}

struct cpucgroup *cpucgroup_find(const char *proc, pid_t pid)
{
	struct cgroup_folders *folders = cgroup_folders_new(proc, "cpu");
	struct tightest tightest = {0};

	cgroup_folders_each(folders, pid, look, &tightest);
	cgroup_folders_free(folders);
	return tightest.group;
}

void cpucgroup_free(struct cpucgroup *group)
{
	if (!group)
		return;
	free(group->path);
	free(group);
}

bool cpucgroup_quota(const struct cpucgroup *group, struct cpucgroup_quota *out)
{
	*out = (struct cpucgroup_quota){0};
	if (!read_quota(group->path, group->v2, out))
		return false;
	read_use(group->path, group->v2, out);
	return true;
}
