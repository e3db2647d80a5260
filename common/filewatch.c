// SPDX-License-Identifier: Apache-2.0
#include "filewatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errmsg.h"
#include "mem.h"

struct watched {
	char *path;
	struct stat then; /* as it was when it was added */
};

struct filewatch {
	int fd; /* inotify; -1 where the kernel gives none: then only times are compared */
	struct watched *files;
	size_t count, cap;
};

struct filewatch *filewatch_new(void)
{
	struct filewatch *watch = mem_zalloc(1, sizeof(*watch));

	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return watch;
}

void filewatch_free(struct filewatch *watch)
{
	if (!watch)
		return;
	if (watch->fd >= 0)
		close(watch->fd);
	for (size_t i = 0; i < watch->count; i++)
		free(watch->files[i].path);
	free(watch->files);
	free(watch);
}

int filewatch_add(struct filewatch *watch, const char *path, struct errmsg *err)
{
	struct stat st;

	if (stat(path, &st))
		return errmsg_set(err, "\"%s\": %s", path, strerror(errno));
	/* a process's /proc/PID/exe leads to the inode itself, deleted or not */
	if (watch->fd >= 0)
		inotify_add_watch(watch->fd, path, IN_MODIFY);
	watch->files = mem_grow(watch->files, watch->count, &watch->cap, sizeof(*watch->files));
	watch->files[watch->count++] = (struct watched){.path = mem_strdup(path), .then = st};
	return 0;
}

int filewatch_fd(const struct filewatch *watch)
{
	return watch->fd;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

const char *filewatch_written(struct filewatch *watch)
{
	char events[4096];
	struct stat now;

	while (watch->fd >= 0 && read(watch->fd, events, sizeof(events)) > 0)
		;
	for (size_t i = 0; i < watch->count; i++) {
		const struct watched *file = &watch->files[i];

		if (!stat(file->path, &now) && same_file(&now, &file->then) &&
		    (now.st_size != file->then.st_size ||
		     now.st_mtim.tv_sec != file->then.st_mtim.tv_sec ||
		     now.st_mtim.tv_nsec != file->then.st_mtim.tv_nsec))
			return file->path;
	}
	return NULL;
}

const char *filewatch_replaced(const struct filewatch *watch, unsigned n)
{
	struct stat now;

	for (size_t i = 0; i < watch->count; i++) {
		const struct watched *file = &watch->files[i];

		/* gone with its process */
		if (!strncmp(file->path, "/proc/", 6))
			continue;
		if (!stat(file->path, &now) && same_file(&now, &file->then))
			continue;
		if (n-- == 0)
			return file->path;
	}
	return NULL;
}
