// SPDX-License-Identifier: Apache-2.0
#include "tracing/textcost.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "files/heldfile.h"
#include "files/memcgroup.h"

/* Limits for all processes' maps together: one process may have tens of thousands of lines. */
enum { LINES_MAX = 1 << 20, LINE_SIZE = 1 << 13 };

struct file {
	ino_t ino;
	uint64_t pages;
};

struct textcost {
	struct file *files;
	size_t file_count, file_cap;
	uint64_t pages;   /* of all files */
	size_t processes; /* that pay for the pages */
	pid_t pid;        /* one of them */
	size_t lines;     /* of maps that were read */
	uint64_t page_size;
	struct memcgroups *groups;
};

struct textcost *textcost_new(void)
{
	struct textcost *cost = mem_zalloc(1, sizeof(*cost));

	cost->page_size = sysconf(_SC_PAGESIZE);
	cost->groups = memcgroup_new("/proc");
	return cost;
}

void textcost_free(struct textcost *cost)
{
	if (!cost)
		return;
	memcgroup_free(cost->groups);
	free(cost->files);
	free(cost);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void textcost_file(struct textcost *cost, const struct heldfile *held, uint64_t *offs, size_t count)
{
	struct file file = {.ino = heldfile_then(held)->st_ino};

	if (!count)
		return;
	qsort(offs, count, sizeof(*offs), by_value);
	for (size_t i = 0; i < count; i++)
		if (!i || offs[i] / cost->page_size != offs[i - 1] / cost->page_size)
			file.pages++;
	cost->files =
		mem_grow(cost->files, cost->file_count, &cost->file_cap, sizeof(*cost->files));
	cost->files[cost->file_count++] = file;
	cost->pages += file.pages;
}

/* By the inode's number alone: overlay file systems show one device here and another there. */
static uint64_t pages_of_line(const struct textcost *cost, const char *line, bool *seen)
{
	unsigned long long ino;
	char perms[8];

	if (sscanf(line, "%*s %7s %*s %*s %llu", perms, &ino) != 2 || perms[2] != 'x')
		return 0;
	for (size_t i = 0; i < cost->file_count; i++) {
		if (cost->files[i].ino != ino || seen[i])
			continue;
		seen[i] = true;
		return cost->files[i].pages;
	}
	return 0;
}

static uint64_t pages_in(struct textcost *cost, pid_t pid)
{
	char *path = mem_printf("/proc/%d/maps", pid), line[LINE_SIZE];
	bool *seen = mem_zalloc(cost->file_count, sizeof(*seen));
	FILE *in = fopen(path, "re");
	uint64_t pages = 0;

	while (in && cost->lines < LINES_MAX && fgets(line, sizeof(line), in)) {
		cost->lines++;
		pages += pages_of_line(cost, line, seen);
	}
	if (in)
		fclose(in);
	free(seen);
	free(path);
	return pages;
}

static void charge(struct textcost *cost, pid_t pid, uint64_t pages)
{
	if (!pages)
		return;
	memcgroup_charge(cost->groups, pid, pages * cost->page_size);
	cost->pid = pid;
	cost->processes++;
}

void textcost_processes(struct textcost *cost, pid_t pid)
{
	/* pages that it has not mapped yet, it may map later */
	if (pid) {
		charge(cost, pid, cost->pages);
		return;
	}
	DIR *proc = opendir("/proc");

	for (struct dirent *entry; proc && (entry = readdir(proc));) {
		pid_t found = atoi(entry->d_name);

		if (found > 0)
			charge(cost, found, pages_in(cost, found));
	}
	if (proc)
		closedir(proc);
}

static char *amount(uint64_t bytes)
{
	if (bytes < 10240 * 1024ull)
		return mem_printf("%.0f KiB", bytes / 1024.0);
	return mem_printf("%.1f MiB", bytes / 1048576.0);
}

/* "breakpoints take 11.9 MiB of memory (3045 pages of code) in process 12" */
static char *what_they_take(const struct textcost *cost)
{
	char *each = amount(cost->pages * cost->page_size), *text;

	if (cost->processes == 1)
		text = mem_printf(
			"breakpoints take %s of memory (%llu pages of code) in process %d", each,
			(unsigned long long)cost->pages, cost->pid);
	else
		text = mem_printf("breakpoints take %s of memory (%llu pages of code) in each of "
				  "%zu processes",
				  each, (unsigned long long)cost->pages, cost->processes);
	free(each);
	return text;
}

/* "memory cgroup /sys/fs/cgroup/a/b has room for 100 KiB" */
static char *what_there_is(const struct memcgroup_room *room)
{
	char *left = amount(room->room), *text;

	if (room->path)
		text = mem_printf("memory cgroup %s has room for %s", room->path, left);
	else
		text = mem_printf("the machine has room for %s", left);
	free(left);
	return text;
}

int textcost_check(const struct textcost *cost, struct errmsg *err)
{
	struct memcgroup_room room;

	if (!cost->processes || !memcgroup_tightest(cost->groups, &room) ||
	    room.wanted + room.wanted / 4 <= room.room)
		return 0;
	char *need = what_they_take(cost), *have = what_there_is(&room);

	errmsg_set(err, "%s, and %s: too little to be safe", need, have);
	errmsg_hint(err, "the kernel might kill it: trace fewer functions, or give --force");
	free(need);
	free(have);
	return -1;
}

void textcost_warn(const struct textcost *cost, FILE *out, const char *tool)
{
	struct memcgroup_room room;

	if (!cost->processes || !memcgroup_tightest(cost->groups, &room) ||
	    room.wanted <= room.room / 10)
		return;
	char *need = what_they_take(cost), *have = what_there_is(&room);

	fprintf(out, "%s: %s, and ", tool, need);
	escape_print(out, have);
	fputc('\n', out);
	free(need);
	free(have);
}

void textcost_print(const struct textcost *cost, FILE *out)
{
	char *each = amount(cost->pages * cost->page_size);

	fprintf(out, "Breakpoints take %s of memory (%llu pages of code) in each process.\n", each,
		(unsigned long long)cost->pages);
	free(each);
}
