// SPDX-License-Identifier: Apache-2.0
#include "files/codemaps.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"

/* Limits for all processes' mappings together. */
enum { LINES_MAX = 1 << 20, LINE_SIZE = 1 << 13 };

struct walk {
	void (*each)(void *ctx, const struct codemap *map);
	void *ctx;
	size_t lines;
};

static bool parse(const char *line, struct codemap *map)
{
	uint64_t end, ino;
	char perms[8];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64, &map->addr, &end,
		   perms, &map->off, &ino) != 5 ||
	    perms[2] != 'x' || !ino)
		return false;
	map->len = end - map->addr;
	map->ino = ino;
	return true;
}

static void walk_process(struct walk *walk, pid_t pid)
{
	struct codemap map = {.pid = pid};
	char path[64], line[LINE_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *in = fopen(path, "re");

	while (in && walk->lines < LINES_MAX && fgets(line, sizeof(line), in)) {
		walk->lines++;
		if (parse(line, &map))
			walk->each(walk->ctx, &map);
	}
	if (in)
		fclose(in);
}

static void walk_all(struct walk *walk)
{
	DIR *proc = opendir("/proc");
	uint64_t pid;

	for (struct dirent *entry; proc && (entry = readdir(proc));)
		if (number_parse(entry->d_name, INT32_MAX, &pid))
			walk_process(walk, pid);
	if (proc)
		closedir(proc);
}

int codemaps_each(pid_t pid, void (*each)(void *ctx, const struct codemap *map), void *ctx)
{
	struct walk walk = {.each = each, .ctx = ctx};

	if (pid)
		walk_process(&walk, pid);
	else
		walk_all(&walk);
	return walk.lines < LINES_MAX ? 0 : -1;
}

int codemaps_memory(const struct codemap *map)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", map->pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}
