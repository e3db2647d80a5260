// SPDX-License-Identifier: Apache-2.0
#include "files/memcgroup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "files/cgroup_folders_internal.h"

enum { STAT_SIZE = 1 << 14 };

struct group {
	char *path;
	bool v2;
	bool own; /* a process that was charged is in it, not only below */
	uint64_t wanted;
};

struct memcgroups {
	char *proc;
	struct cgroup_folders *folders;
	struct group *groups;
	size_t group_count, group_cap;
	uint64_t wanted; /* of all */
};

struct charge {
	struct memcgroups *groups;
	uint64_t bytes;
};

struct memcgroups *memcgroup_new(const char *proc)
{
	struct memcgroups *groups = mem_zalloc(1, sizeof(*groups));

	groups->proc = mem_strdup(proc);
	groups->folders = cgroup_folders_new(proc, "memory");
	return groups;
}

void memcgroup_free(struct memcgroups *groups)
{
	if (!groups)
		return;
	for (size_t i = 0; i < groups->group_count; i++)
		free(groups->groups[i].path);
	cgroup_folders_free(groups->folders);
	free(groups->groups);
	free(groups->proc);
	free(groups);
}

static void charge_group(void *ctx, const struct cgroup_folder *folder)
{
	const struct charge *charge = ctx;
	struct memcgroups *groups = charge->groups;

	for (size_t i = 0; i < groups->group_count; i++) {
		if (strcmp(groups->groups[i].path, folder->path))
			continue;
		groups->groups[i].wanted += charge->bytes;
		groups->groups[i].own |= folder->own;
		return;
	}
	groups->groups = mem_grow(groups->groups, groups->group_count, &groups->group_cap,
				  sizeof(*groups->groups));
	groups->groups[groups->group_count++] =
		(struct group){mem_strdup(folder->path), folder->v2, folder->own, charge->bytes};
}

void memcgroup_charge(struct memcgroups *groups, pid_t pid, uint64_t bytes)
{
	struct charge charge = {groups, bytes};

	groups->wanted += bytes;
	cgroup_folders_each(groups->folders, pid, charge_group, &charge);
}

/* Bytes of page cache that the kernel can take back; of the active part, half is counted. */
static uint64_t reclaimable(const char *dir, bool v2)
{
	char text[STAT_SIZE] = "";

	cgroup_read(dir, "memory.stat", text, sizeof(text));
	return cgroup_value(text, v2 ? "inactive_file" : "total_inactive_file") +
	       cgroup_value(text, v2 ? "active_file" : "total_active_file") / 2;
}

/* false: no limit. Above memory.high the kernel slows a cgroup down, almost to a standstill. */
static bool use_of(const char *dir, bool v2, struct memcgroup_use *out)
{
	uint64_t limit = cgroup_limit(dir, v2 ? "memory.max" : "memory.limit_in_bytes");
	uint64_t high = v2 ? cgroup_limit(dir, "memory.high") : UINT64_MAX;
	uint64_t used = cgroup_limit(dir, v2 ? "memory.current" : "memory.usage_in_bytes");

	if (high < limit)
		limit = high;
	/* version 1 has a huge number where there is no limit */
	if (limit > INT64_MAX / 2 || used == UINT64_MAX)
		return false;
	uint64_t spare = reclaimable(dir, v2);

	*out = (struct memcgroup_use){dir, spare < used ? used - spare : 0, limit};
	return true;
}

/* In bytes; UINT64_MAX: no limit. */
static uint64_t room_of(const char *dir, bool v2)
{
	struct memcgroup_use use;

	if (!use_of(dir, v2, &use))
		return UINT64_MAX;
	return use.limit > use.used ? use.limit - use.used : 0;
}

static bool is_tighter(const struct memcgroup_room *a, const struct memcgroup_room *b)
{
	return (double)a->wanted * (double)b->room > (double)b->wanted * (double)a->room;
}

bool memcgroup_tightest(const struct memcgroups *groups, struct memcgroup_room *out)
{
	char text[STAT_SIZE] = "";

	cgroup_read(groups->proc, "meminfo", text, sizeof(text));
	*out = (struct memcgroup_room){NULL, groups->wanted,
				       cgroup_value(text, "MemAvailable:") << 10};
	if (!out->room)
		out->room = UINT64_MAX;
	for (size_t i = 0; i < groups->group_count; i++) {
		const struct group *group = &groups->groups[i];
		struct memcgroup_room found = {group->path, group->wanted,
					       room_of(group->path, group->v2)};

		if (is_tighter(&found, out))
			*out = found;
	}
	return out->room != UINT64_MAX;
}

/* What is used, by the limit: of no limit at all, all is used. */
static double share_of(const struct memcgroup_use *use)
{
	return use->limit ? (double)use->used / (double)use->limit : 1;
}

bool memcgroup_fullest(const struct memcgroups *groups, struct memcgroup_use *out)
{
	char text[STAT_SIZE] = "";
	struct memcgroup_use use;

	cgroup_read(groups->proc, "meminfo", text, sizeof(text));
	uint64_t all = cgroup_value(text, "MemTotal:") << 10,
		 left = cgroup_value(text, "MemAvailable:") << 10;
	bool found = all && left;

	*out = (struct memcgroup_use){NULL, all > left ? all - left : 0, all};
	for (size_t i = 0; i < groups->group_count; i++) {
		if (!use_of(groups->groups[i].path, groups->groups[i].v2, &use) ||
		    (found && share_of(&use) <= share_of(out)))
			continue;
		*out = use;
		found = true;
	}
	return found;
}

bool memcgroup_kills(const struct memcgroups *groups, uint64_t *count)
{
	bool found = false;

	*count = 0;
	for (size_t i = 0; i < groups->group_count; i++) {
		const struct group *group = &groups->groups[i];
		char text[STAT_SIZE] = "";

		if (group->own)
			cgroup_read(group->path, group->v2 ? "memory.events" : "memory.oom_control",
				    text, sizeof(text));
		found |= text[0];
		*count += cgroup_value(text, "oom_kill");
	}
	return found;
}
