// SPDX-License-Identifier: Apache-2.0
#include "tracing/textcost_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "files/codemaps.h"
#include "files/heldfile.h"
#include "files/memcgroup.h"

struct file {
	ino_t ino;
	uint64_t pages;
	bool mapped; /* a process has code of it */
};

struct textcost {
	struct file *files;
	size_t file_count, file_cap;
	uint64_t pages;   /* of all files */
	size_t processes; /* that pay for the pages */
	pid_t pid;        /* one of them */
	bool looked;      /* at all processes */
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

static void charge(struct textcost *cost, pid_t pid, uint64_t pages)
{
	if (!pages)
		return;
	memcgroup_charge(cost->groups, pid, pages * cost->page_size);
	cost->pid = pid;
	cost->processes++;
}

struct mapper { /* the process that is looked at */
	struct textcost *cost;
	pid_t pid;
	uint64_t pages;
	bool *seen; /* which files it has mapped */
};

static void next_mapper(struct mapper *mapper, pid_t pid)
{
	charge(mapper->cost, mapper->pid, mapper->pages);
	*mapper = (struct mapper){mapper->cost, pid, 0, mapper->seen};
	memset(mapper->seen, 0, mapper->cost->file_count * sizeof(*mapper->seen));
}

static void add_codemap(void *ctx, const struct codemap *map)
{
	struct mapper *mapper = ctx;
	struct textcost *cost = mapper->cost;

	if (map->pid != mapper->pid)
		next_mapper(mapper, map->pid);
	for (size_t i = 0; i < cost->file_count; i++) {
		if (cost->files[i].ino != map->ino || mapper->seen[i])
			continue;
		mapper->seen[i] = true;
		cost->files[i].mapped = true;
		mapper->pages += cost->files[i].pages;
		return;
	}
}

void textcost_processes(struct textcost *cost, pid_t pid)
{
	/* pages that it has not mapped yet, it may map later */
	if (pid) {
		charge(cost, pid, cost->pages);
		return;
	}
	struct mapper mapper = {.cost = cost};

	if (!cost->file_count)
		return;
	mapper.seen = mem_zalloc(cost->file_count, sizeof(*mapper.seen));
	cost->looked = codemaps_each(0, add_codemap, &mapper) == 0;
	next_mapper(&mapper, 0);
	free(mapper.seen);
}

bool textcost_is_mapped(const struct textcost *cost, const struct heldfile *held)
{
	for (size_t i = 0; cost->looked && i < cost->file_count; i++)
		if (cost->files[i].ino == heldfile_then(held)->st_ino)
			return cost->files[i].mapped;
	return true;
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
