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

/* false: there are no mappings */
static bool walk_thread(struct walk *walk, pid_t pid, pid_t tid)
{
	struct codemap map = {.pid = pid, .tid = tid};
	char path[64], line[LINE_SIZE];
	size_t before = walk->lines;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", pid, tid);
	FILE *in = fopen(path, "re");

	while (in && walk->lines < LINES_MAX && fgets(line, sizeof(line), in)) {
		walk->lines++;
		if (parse(line, &map))
			walk->each(walk->ctx, &map);
	}
	if (in)
		fclose(in);
	return walk->lines > before;
}

/* The first thread has none once it has ended, though others may not have. */
static void walk_process(struct walk *walk, pid_t pid)
{
	char path[64];
	uint64_t tid;

	if (walk_thread(walk, pid, pid))
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *threads = opendir(path);
	bool found = false;

	for (struct dirent *entry; threads && !found && (entry = readdir(threads));)
		found = number_parse(entry->d_name, INT32_MAX, &tid) && (pid_t)tid != pid &&
			walk_thread(walk, pid, (pid_t)tid);
	if (threads)
		closedir(threads);
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

	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", map->pid, map->tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}
