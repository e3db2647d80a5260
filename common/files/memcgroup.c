// SPDX-License-Identifier: Apache-2.0
/* The files' names and meaning: the kernel's Documentation/admin-guide/cgroup-v2.rst and
 * cgroup-v1/memory.rst; mountinfo's fields: proc(5). */
#include "files/memcgroup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { STAT_SIZE = 1 << 14, LINE_SIZE = 1 << 13 };

struct mount {       /* of a hierarchy with the memory controller, or that may have it */
	char *root;  /* the cgroup that is mounted, "/" mostly */
	char *point; /* where */
	bool v2;
};

struct group {
	char *path;
	bool v2;
	bool own; /* a process that was charged is in it, not only below */
	uint64_t wanted;
};

struct memcgroups {
	char *proc;
	struct mount *mounts;
	size_t mount_count, mount_cap;
	struct group *groups;
	size_t group_count, group_cap;
	uint64_t wanted; /* of all */
};

/* At most size - 1 bytes of a file, as text; "" where it cannot be read. */
static void read_text(const char *dir, const char *name, char *text, size_t size)
{
	char *path = mem_printf("%s/%s", dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	size_t len = 0;
	ssize_t n = 0;

	free(path);
	while (fd >= 0 && len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	if (fd >= 0)
		close(fd);
}

/* UINT64_MAX: the file says "max", or cannot be read */
static uint64_t read_limit(const char *dir, const char *name)
{
	char text[32];

	read_text(dir, name, text, sizeof(text));
	return isdigit((unsigned char)text[0]) ? strtoull(text, NULL, 10) : UINT64_MAX;
}

/* The number after a word that begins a line; 0: there is none. */
static uint64_t value_of(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, word, len) && isspace((unsigned char)line[len]))
			return strtoull(line + len, NULL, 10);
	}
	return 0;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* mountinfo has spaces and the like as \040. */
static char *unescape(const char *text)
{
	char *copy = mem_strdup(text), *to = copy;

	for (const char *from = copy; *from; to++) {
		if (*from == '\\' && is_octal(from[1]) && is_octal(from[2]) && is_octal(from[3])) {
			*to = (from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0');
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return copy;
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, len) && (!at[len] || strchr(",\n", at[len])))
			return true;
	}
	return false;
}

/* "36 35 98:0 ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE OPTIONS" */
static void add_mount(struct memcgroups *groups, const char *line)
{
	char root[LINE_SIZE], point[LINE_SIZE], type[16], options[LINE_SIZE];
	const char *rest = strstr(line, " - ");

	if (!rest || sscanf(line, "%*s %*s %*s %8191s %8191s", root, point) != 2 ||
	    sscanf(rest, " - %15s %*s %8191s", type, options) != 2)
		return;
	bool v2 = !strcmp(type, "cgroup2");

	if (!v2 && (strcmp(type, "cgroup") || !has_word(options, "memory")))
		return;
	groups->mounts = mem_grow(groups->mounts, groups->mount_count, &groups->mount_cap,
				  sizeof(*groups->mounts));
	groups->mounts[groups->mount_count++] = (struct mount){unescape(root), unescape(point), v2};
}

struct memcgroups *memcgroup_new(const char *proc)
{
	struct memcgroups *groups = mem_zalloc(1, sizeof(*groups));
	char *path = mem_printf("%s/self/mountinfo", proc), line[LINE_SIZE];
	FILE *in = fopen(path, "re");

	free(path);
	groups->proc = mem_strdup(proc);
	while (in && fgets(line, sizeof(line), in))
		add_mount(groups, line);
	if (in)
		fclose(in);
	return groups;
}

void memcgroup_free(struct memcgroups *groups)
{
	if (!groups)
		return;
	for (size_t i = 0; i < groups->mount_count; i++) {
		free(groups->mounts[i].root);
		free(groups->mounts[i].point);
	}
	for (size_t i = 0; i < groups->group_count; i++)
		free(groups->groups[i].path);
	free(groups->mounts);
	free(groups->groups);
	free(groups->proc);
	free(groups);
}

static void charge_group(struct memcgroups *groups, const char *path, bool v2, bool own,
			 uint64_t bytes)
{
	for (size_t i = 0; i < groups->group_count; i++) {
		if (strcmp(groups->groups[i].path, path))
			continue;
		groups->groups[i].wanted += bytes;
		groups->groups[i].own |= own;
		return;
	}
	groups->groups = mem_grow(groups->groups, groups->group_count, &groups->group_cap,
				  sizeof(*groups->groups));
	groups->groups[groups->group_count++] = (struct group){mem_strdup(path), v2, own, bytes};
}

/* The part of a cgroup's path below `root`, the cgroup that is mounted; NULL: it is not below. */
static const char *below(const char *path, const char *root)
{
	size_t len = strcmp(root, "/") ? strlen(root) : 0;

	if (strncmp(path, root, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path + len;
}

/* Charges the cgroup and all above it, up to the one that is mounted. The path of a cgroup outside
 * of the tool's cgroup namespace has "..". */
static void charge_up(struct memcgroups *groups, const struct mount *mount, const char *path,
		      uint64_t bytes)
{
	const char *rest = below(path, mount->root);

	if (!rest || strstr(path, "/.."))
		return;
	char *dir = mem_printf("%s%s", mount->point, rest);
	size_t top = strlen(mount->point), len = strlen(dir);

	while (len > top && dir[len - 1] == '/')
		dir[--len] = '\0';
	for (bool own = true;; own = false) {
		charge_group(groups, dir, mount->v2, own, bytes);
		if (len <= top)
			break;
		while (len > top && dir[--len] != '/')
			continue;
		dir[len] = '\0';
	}
	free(dir);
}

/* "4:memory,hugetlb:/path"; of version 2 "0::/path" */
static void charge_line(struct memcgroups *groups, char *line, uint64_t bytes)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	bool v2 = !controllers[1];

	if (!v2 && !has_word(controllers + 1, "memory"))
		return;
	for (size_t i = 0; i < groups->mount_count; i++)
		if (groups->mounts[i].v2 == v2) {
			charge_up(groups, &groups->mounts[i], path, bytes);
			break;
		}
}

void memcgroup_charge(struct memcgroups *groups, pid_t pid, uint64_t bytes)
{
	char *path = mem_printf("%s/%d/cgroup", groups->proc, pid), line[LINE_SIZE];
	FILE *in = fopen(path, "re");

	free(path);
	groups->wanted += bytes;
	while (in && fgets(line, sizeof(line), in))
		charge_line(groups, line, bytes);
	if (in)
		fclose(in);
}

/* Bytes of page cache that the kernel can take back; of the active part, half is counted. */
static uint64_t reclaimable(const char *dir, bool v2)
{
	char text[STAT_SIZE] = "";

	read_text(dir, "memory.stat", text, sizeof(text));
	return value_of(text, v2 ? "inactive_file" : "total_inactive_file") +
	       value_of(text, v2 ? "active_file" : "total_active_file") / 2;
}

/* false: no limit. Above memory.high the kernel slows a cgroup down, almost to a standstill. */
static bool use_of(const char *dir, bool v2, struct memcgroup_use *out)
{
	uint64_t limit = read_limit(dir, v2 ? "memory.max" : "memory.limit_in_bytes");
	uint64_t high = v2 ? read_limit(dir, "memory.high") : UINT64_MAX;
	uint64_t used = read_limit(dir, v2 ? "memory.current" : "memory.usage_in_bytes");

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

	read_text(groups->proc, "meminfo", text, sizeof(text));
	*out = (struct memcgroup_room){NULL, groups->wanted, value_of(text, "MemAvailable:") << 10};
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

	read_text(groups->proc, "meminfo", text, sizeof(text));
	uint64_t all = value_of(text, "MemTotal:") << 10, left = value_of(text, "MemAvailable:")
								 << 10;
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
			read_text(group->path, group->v2 ? "memory.events" : "memory.oom_control",
				  text, sizeof(text));
		found |= text[0];
		*count += value_of(text, "oom_kill");
	}
	return found;
}
