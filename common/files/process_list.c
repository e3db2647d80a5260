// SPDX-License-Identifier: Apache-2.0
#include "files/process_list.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"

static bool has_command_line(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	FILE *in = fopen(path, "re");
	bool has = in && fgetc(in) != EOF;

	if (in)
		fclose(in);
	return has;
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
		if (!number_parse(entry->d_name, INT32_MAX, &pid) || !has_command_line(pid))
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
