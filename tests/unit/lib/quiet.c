// SPDX-License-Identifier: Apache-2.0
#include "quiet.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { KEPT_MAX = 1 << 20 };

struct quiet {
	int memory;   /* a memory file that takes what is written meanwhile */
	int out, err; /* copies of the real descriptors; -1: it was closed */
};

static int copy_fd(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

struct quiet *quiet_begin(void)
{
	int memory = memfd_create("output", MFD_CLOEXEC);

	if (memory < 0)
		return NULL;
	struct quiet *quiet = mem_alloc(sizeof(*quiet));

	fflush(stdout);
	fflush(stderr);
	quiet->memory = memory;
	quiet->out = copy_fd(STDOUT_FILENO);
	quiet->err = copy_fd(STDERR_FILENO);
	dup2(memory, STDOUT_FILENO);
	dup2(memory, STDERR_FILENO);
	return quiet;
}

static void restore(int copy, int fd)
{
	if (copy < 0) {
		close(fd);
		return;
	}
	dup2(copy, fd);
	close(copy);
}

static char *read_kept(int memory)
{
	struct stat st;
	size_t size = 0;

	if (!fstat(memory, &st))
		size = st.st_size < KEPT_MAX ? st.st_size : KEPT_MAX;
	char *text = mem_alloc(size + 1);
	ssize_t got = pread(memory, text, size, 0);

	text[got < 0 ? 0 : got] = '\0';
	return text;
}

char *quiet_end(struct quiet *quiet)
{
	if (!quiet)
		return mem_strdup("");
	fflush(stdout);
	fflush(stderr);
	restore(quiet->out, STDOUT_FILENO);
	restore(quiet->err, STDERR_FILENO);
	char *text = read_kept(quiet->memory);

	close(quiet->memory);
	free(quiet);
	return text;
}
