// SPDX-License-Identifier: Apache-2.0
#include "files/process_list.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"

static bool has_command_line(pid_t pid, uint64_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%" PRIu64 "/cmdline", pid, tid);
	FILE *in = fopen(path, "re");
	bool has = in && fgetc(in) != EOF;

	if (in)
		fclose(in);
	return has;
}

/* In any of its threads: the first one may have ended. */
static bool is_program(pid_t pid)
{
	char path[64];
	uint64_t tid;

	if (has_command_line(pid, pid))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *threads = opendir(path);
	bool found = false;

	for (struct dirent *entry; threads && !found && (entry = readdir(threads));)
		found = number_parse(entry->d_name, INT32_MAX, &tid) && has_command_line(pid, tid);
	if (threads)
		closedir(threads);
	return found;
}

static int by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

pid_t *process_list(size_t *count)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	pid_t *pids = NULL;
	size_t cap = 0;
	uint64_t pid;

	*count = 0;
	while (dir && (entry = readdir(dir))) {
		if (!number_parse(entry->d_name, INT32_MAX, &pid) || !is_program(pid))
			continue;
		pids = mem_grow(pids, *count, &cap, sizeof(*pids));
		pids[(*count)++] = pid;
	}
	if (dir)
		closedir(dir);
	if (*count)
		qsort(pids, *count, sizeof(*pids), by_pid);
	return pids;
}
