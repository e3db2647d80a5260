// SPDX-License-Identifier: Apache-2.0
/* Preloaded into a tool: writes down what it asks of libbcc and of the kernel, so that the bare
 * programs can ask for the same. Into the folder named by BENCH_RECORD go
 *   text.c, flags, tree   the BPF program, as libbcc got it
 *   asked                 file offsets of every uprobe_multi link made, native 64-bit, in turn
 *   times                 a line for each system call: "link|close FD START_NS END_NS COUNT", or
 *                         "refused" for a link that the kernel did not make */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "uprobe_link.h"

enum { MAX_FDS = 4096 };

static bool is_link[MAX_FDS];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static FILE *open_record(const char *name, const char *mode)
{
	const char *dir = getenv("BENCH_RECORD");
	char path[4096];

	if (!dir)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fopen(path, mode);
}

static void note_time(const char *what, int fd, uint64_t start, uint64_t end, uint32_t count)
{
	FILE *out = open_record("times", "a");

	if (!out)
		return;
	fprintf(out, "%s %d %llu %llu %u\n", what, fd, (unsigned long long)start,
		(unsigned long long)end, count);
	fclose(out);
}

static void note_offsets(const struct uprobe_link *link)
{
	FILE *out = open_record("asked", "a");

	if (!out)
		return;
	fwrite((const void *)(uintptr_t)link->offsets, sizeof(uint64_t), link->count, out);
	fclose(out);
}

static long next_syscall(long nr, const long *a)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");

	return next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long create_link(const long *a)
{
	const struct uprobe_link *link = (const struct uprobe_link *)a[1];
	uint64_t start = now_ns();
	long fd = next_syscall(SYS_bpf, a);
	uint64_t end = now_ns();

	if (link->attach_type != ATTACH_UPROBE_MULTI)
		return fd;
	note_time(fd < 0 ? "refused" : "link", fd, start, end, link->count);
	if (fd >= 0 && fd < MAX_FDS) {
		is_link[fd] = true;
		note_offsets(link);
	}
	return fd;
}

long syscall(long nr, ...)
{
	va_list list;
	long a[6];

	va_start(list, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (nr == SYS_bpf && a[0] == BPF_CMD_LINK_CREATE)
		return create_link(a);
	return next_syscall(nr, a);
}

int close(int fd)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");

	if (fd < 0 || fd >= MAX_FDS || !is_link[fd])
		return next(fd);
	uint64_t start = now_ns();
	int ret = next(fd);

	is_link[fd] = false;
	note_time("close", fd, start, now_ns(), 1);
	return ret;
}

static void copy_tree(void)
{
	const char *from = getenv("BCC_KERNEL_SOURCE"), *to = getenv("BENCH_RECORD");
	static const char own[] = "/proc/self/";
	char command[8192], process[64] = "";

	if (!from || !to)
		return;
	if (!strncmp(from, own, strlen(own))) { /* this process, not cp */
		snprintf(process, sizeof(process), "/proc/%d/", getpid());
		from += strlen(own);
	}
	snprintf(command, sizeof(command), "unset LD_PRELOAD; cp -rT '%s%s/.' '%s/tree'", process,
		 from, to);
	if (system(command))
		fprintf(stderr, "record: cannot copy %s\n", from);
}

/* -I of the tool's own header tree becomes -I of the copy */
static void note_flag(FILE *out, const char *flag)
{
	const char *tree = getenv("BCC_KERNEL_SOURCE");

	if (tree && !strncmp(flag, "-I", 2) && !strcmp(flag + 2, tree))
		fprintf(out, "-I%s/tree\n", getenv("BENCH_RECORD"));
	else
		fprintf(out, "%s\n", flag);
}

void *bpf_module_create_c_from_string(const char *text, unsigned flags, const char *cflags[],
				      int ncflags, bool allow_rlimit, const char *dev_name)
{
	void *(*next)(const char *, unsigned, const char **, int, bool, const char *) =
		(void *(*)(const char *, unsigned, const char **, int, bool, const char *))dlsym(
			RTLD_NEXT, "bpf_module_create_c_from_string");
	FILE *out = open_record("text.c", "w");

	if (out) {
		fputs(text, out);
		fclose(out);
	}
	out = open_record("flags", "w");
	for (int i = 0; out && i < ncflags; i++)
		note_flag(out, cflags[i]);
	if (out)
		fclose(out);
	copy_tree();
	return next(text, flags, cflags, ncflags, allow_rlimit, dev_name);
}
