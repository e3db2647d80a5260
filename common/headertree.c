// SPDX-License-Identifier: Apache-2.0
#include "headertree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded.h"
#include "errmsg.h"
#include "mem.h"

static bool is_header(const char *name)
{
	size_t len = strlen(name);

	return len > 2 && !strcmp(name + len - 2, ".h");
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t len = strlen(text);

	if (fd < 0)
		return -1;
	ssize_t done = write(fd, text, len);

	close(fd);
	return done == (ssize_t)len ? 0 : -1;
}

/* every folder above `path`, which lies below `dir` */
static void make_folders(const char *dir, char *path)
{
	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

static int write_headers(const char *dir)
{
	int ret = 0;

	for (const struct embedded_file *f = embedded_files; f->name && !ret; f++) {
		if (!is_header(f->name))
			continue;
		char *path = mem_printf("%s/%s", dir, f->name);

		make_folders(dir, path);
		ret = write_file(path, f->text);
		free(path);
	}
	return ret;
}

/* the file, then each folder that it was the last of */
static void remove_upwards(const char *dir, char *path)
{
	unlink(path);
	for (char *slash; (slash = strrchr(path, '/')) && slash >= path + strlen(dir);) {
		*slash = '\0';
		rmdir(path);
	}
}

void headertree_remove(char *dir)
{
	for (const struct embedded_file *f = embedded_files; f->name; f++) {
		char *path = mem_printf("%s/%s", dir, f->name);

		if (is_header(f->name))
			remove_upwards(dir, path);
		free(path);
	}
	rmdir(dir);
	free(dir);
}

static char *create_below(const char *parent)
{
	char *dir = mem_printf("%s/gotools.XXXXXX", parent);

	if (!mkdtemp(dir)) {
		free(dir);
		return NULL;
	}
	if (!write_headers(dir))
		return dir;
	headertree_remove(dir);
	return NULL;
}

char *headertree_create(struct errmsg *err)
{
	const char *env = getenv("TMPDIR");
	/* in memory first: on a disk each file may take half a millisecond to create */
	const char *parents[] = {env && env[0] == '/' ? env : "/dev/shm", "/dev/shm", "/tmp",
				 "/run"};

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		char *dir = create_below(parents[i]);

		if (dir)
			return dir;
	}
	errmsg_set(err, "cannot write the compiler's headers: %s", strerror(errno));
	errmsg_hint(err, "set TMPDIR to a folder that can be written");
	return NULL;
}
