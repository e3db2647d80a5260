// SPDX-License-Identifier: Apache-2.0
#include "files/process_list.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

#define KERNEL_THREAD 0x00200000u /* PF_KTHREAD of the kernel's include/linux/sched.h */

/* Not by its command line, which is in its memory: that may never come. */
static bool is_thread_of_program(pid_t pid, uint64_t tid)
{
	char path[64], state = 0;
	unsigned flags = KERNEL_THREAD;

	snprintf(path, sizeof(path), "/proc/%d/task/%" PRIu64 "/stat", pid, tid);
	FILE *in = fopen(path, "re");
	char line[512];
	size_t n = in ? fread(line, 1, sizeof(line) - 1, in) : 0;

	if (in)
		fclose(in);
	line[n] = '\0';
	/* "123 (name) S 2 0 0 0 -1 2129984 ...", and a name may have parentheses */
	char *end = strrchr(line, ')');

	if (!end || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
		return false;
	return !(flags & KERNEL_THREAD) && state != 'Z' && state != 'X';
}

/* In any of its threads: the first one may have ended. */
static bool is_program(pid_t pid)
{
	char path[64];
	uint64_t tid;

	if (is_thread_of_program(pid, pid))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *threads = opendir(path);
	bool found = false;

	for (struct dirent *entry; threads && !found && (entry = readdir(threads));)
		found = number_parse(entry->d_name, INT32_MAX, &tid) &&
			is_thread_of_program(pid, tid);
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
