// SPDX-License-Identifier: Apache-2.0
#include "files/heldfile_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/fileroot_internal.h"
#include "files/heldfile_bytes_internal.h"

struct heldfile {
	char *path, link[32];
	struct fileroot *root;
	int fd;
	struct stat then;
	struct heldfile_bytes bytes;
	unsigned users;
};

static const char *unfit(const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return "is a directory";
	return S_ISREG(st->st_mode) ? NULL : "not a regular file";
}

/* A descriptor to read from, of the very file that `path_fd` refers to, whatever its path leads to
 * by now. -1 with *err. */
static int open_found(int path_fd, const char *shown, struct errmsg *err)
{
	const char *why = NULL;
	struct stat st;
	char link[32];
	int fd = -1;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	if (fstat(path_fd, &st) != 0)
		why = strerror(errno);
	else
		why = unfit(&st);
	if (!why) {
		/* O_NONBLOCK: does not wait for a lease on the file */
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		why = errno == EAGAIN ? "another process holds a lease on it" : strerror(errno);
	}
	if (fd < 0)
		errmsg_set(err, "\"%s\": %s", shown, why);
	return fd;
}

struct heldfile *heldfile_take(struct fileroot *root, int path_fd, const char *shown,
			       struct errmsg *err)
{
	int fd = open_found(path_fd, shown, err);
	struct heldfile *file;

	close(path_fd);
	if (fd < 0)
		return NULL;
	file = mem_zalloc(1, sizeof(*file));
	file->users = 1;
	file->fd = fd;
	file->path = mem_strdup(shown);
	file->root = root ? fileroot_share(root) : fileroot_own();
	snprintf(file->link, sizeof(file->link), "/proc/self/fd/%d", fd);
	if (fstat(fd, &file->then) == 0) {
		file->bytes = (struct heldfile_bytes){.fd = fd, .size = file->then.st_size};
		return file;
	}
	errmsg_set(err, "\"%s\": %s", shown, strerror(errno));
	heldfile_close(file);
	return NULL;
}

struct heldfile *heldfile_open(struct fileroot *root, const char *path, struct errmsg *err)
{
	struct fileroot *view = root ? fileroot_share(root) : fileroot_own();
	char *shown = mem_printf("%s%s", fileroot_shown(view), path);
	int fd = fileroot_find(view, path);
	struct heldfile *file = NULL;

	if (fd < 0)
		errmsg_set(err, "\"%s\": %s", shown, strerror(errno));
	else
		file = heldfile_take(view, fd, shown, err);
	fileroot_close(view);
	free(shown);
	return file;
}

struct heldfile *heldfile_share(struct heldfile *file)
{
	file->users++;
	return file;
}

void heldfile_close(struct heldfile *file)
{
	if (!file || --file->users)
		return;
	heldfile_bytes_free(&file->bytes);
	fileroot_close(file->root);
	close(file->fd);
	free(file->path);
	free(file);
}

const char *heldfile_path(const struct heldfile *file)
{
	return file->path;
}

struct fileroot *heldfile_root(const struct heldfile *file)
{
	return file->root;
}

int heldfile_fd(const struct heldfile *file)
{
	return file->fd;
}

const char *heldfile_link(const struct heldfile *file)
{
	return file->link;
}

/* The kernel marks what was deleted at the end of its path. */
char *heldfile_place(const struct heldfile *file)
{
	static const char mark[] = " (deleted)";
	char *place = fileroot_name(file->root, file->fd);
	size_t len = place ? strlen(place) : 0, marked = sizeof(mark) - 1;
	struct stat st;

	if (len > marked && !strcmp(place + len - marked, mark) && !fstat(file->fd, &st) &&
	    !st.st_nlink)
		place[len - marked] = '\0';
	return place;
}

const struct stat *heldfile_then(const struct heldfile *file)
{
	return &file->then;
}

bool heldfile_is(const struct heldfile *file, const struct stat *st)
{
	return file->then.st_dev == st->st_dev && file->then.st_ino == st->st_ino;
}

uint64_t heldfile_size(const struct heldfile *file)
{
	return file->bytes.size;
}

const void *heldfile_at(struct heldfile *file, uint64_t off, uint64_t len)
{
	return heldfile_bytes_at(&file->bytes, off, len);
}

bool heldfile_read(struct heldfile *file, uint64_t off, uint64_t len, void *out)
{
	return heldfile_bytes_read(&file->bytes, off, len, out);
}

int heldfile_check(const struct heldfile *file, struct errmsg *err)
{
	switch (file->bytes.error) {
	case 0:
		return 0;
	case HELDFILE_CUT:
		return errmsg_set(err, "\"%s\" was cut off while it was read", file->path);
	case HELDFILE_LARGE:
		return errmsg_set(err, "\"%s\": more than %d MB of it would have to be read",
				  file->path, HELDFILE_MAX >> 20);
	}
	return errmsg_set(err, "\"%s\": cannot read it: %s", file->path,
			  strerror(file->bytes.error));
}
