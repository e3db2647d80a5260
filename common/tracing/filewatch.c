// SPDX-License-Identifier: Apache-2.0
#include "tracing/filewatch_internal.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "files/heldfile.h"

enum { WATCHED = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF };

struct watched {
	struct heldfile *file;
	int number; /* inotify's watch descriptor; -1: none */
	bool written;
	bool noted; /* whether it is opened */
	bool opened;
	bool told; /* the user was told that it was replaced */
};

struct filewatch {
	int fd; /* inotify, or a timer where the kernel gives none */
	bool is_timer;
	const char *lack; /* why it is a timer; NULL: it is not */
	struct watched *files;
	size_t count, cap;
};

/* Without inotify, files' times and sizes are compared every second. */
static void fall_back(struct filewatch *watch, int error)
{
	struct itimerspec each = {{1, 0}, {1, 0}};

	if (watch->is_timer)
		return;
	if (watch->fd >= 0)
		close(watch->fd);
	watch->lack = error == EMFILE   ? "no inotify instance is available"
		      : error == ENOSPC ? "inotify cannot watch more files"
					: strerror(error);
	watch->is_timer = true;
	watch->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (watch->fd >= 0)
		timerfd_settime(watch->fd, 0, &each, NULL);
}

struct filewatch *filewatch_new(void)
{
	struct filewatch *watch = mem_zalloc(1, sizeof(*watch));

	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->fd < 0)
		fall_back(watch, errno);
	return watch;
}

void filewatch_free(struct filewatch *watch)
{
	if (!watch)
		return;
	if (watch->fd >= 0)
		close(watch->fd);
	for (size_t i = 0; i < watch->count; i++)
		heldfile_close(watch->files[i].file);
	free(watch->files);
	free(watch);
}

void filewatch_add(struct filewatch *watch, struct heldfile *file)
{
	int number = -1;

	if (!watch->is_timer) {
		number = inotify_add_watch(watch->fd, heldfile_link(file), WATCHED);
		if (number < 0)
			fall_back(watch, errno);
	}
	watch->files = mem_grow(watch->files, watch->count, &watch->cap, sizeof(*watch->files));
	watch->files[watch->count++] =
		(struct watched){.file = heldfile_share(file), .number = number};
}

const char *filewatch_lack(const struct filewatch *watch)
{
	return watch->lack;
}

int filewatch_fd(const struct filewatch *watch)
{
	return watch->fd;
}

static void note_event(struct filewatch *watch, const struct inotify_event *event)
{
	for (size_t i = 0; i < watch->count; i++) {
		struct watched *file = &watch->files[i];

		if (file->number != event->wd && !(event->mask & IN_Q_OVERFLOW))
			continue;
		file->written |= !!(event->mask & IN_MODIFY);
		file->opened |= !!(event->mask & (IN_OPEN | IN_Q_OVERFLOW));
	}
}

/* The event alone counts as a write: time and size may be the same as before. */
static void read_events(struct filewatch *watch)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *event;
	ssize_t n;

	while (watch->fd >= 0 && (n = read(watch->fd, events, sizeof(events))) > 0) {
		if (watch->is_timer)
			continue;
		for (ssize_t off = 0; off < n; off += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)(events + off);
			note_event(watch, event);
		}
	}
}

/* An overlay's file is another inode for who opens it through another overlay. */
static bool is_of_overlay(const struct heldfile *file)
{
	struct statfs fs;

	return fstatfs(heldfile_fd(file), &fs) != 0 || fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

void filewatch_note_openings(struct filewatch *watch)
{
	for (size_t i = 0; !watch->is_timer && i < watch->count; i++) {
		struct watched *file = &watch->files[i];

		file->noted = file->number >= 0 && !is_of_overlay(file->file) &&
			      inotify_add_watch(watch->fd, heldfile_link(file->file),
						WATCHED | IN_OPEN) == file->number;
	}
}

bool filewatch_is_unopened(struct filewatch *watch, const struct heldfile *file)
{
	read_events(watch);
	for (size_t i = 0; i < watch->count; i++)
		if (watch->files[i].file == file)
			return watch->files[i].noted && !watch->files[i].opened;
	return false;
}

static bool has_changed(const struct heldfile *file)
{
	const struct stat *then = heldfile_then(file);
	struct stat now;

	return fstat(heldfile_fd(file), &now) == 0 &&
	       (now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
		now.st_mtim.tv_nsec != then->st_mtim.tv_nsec);
}

const char *filewatch_written(struct filewatch *watch)
{
	read_events(watch);
	for (size_t i = 0; i < watch->count; i++)
		if (watch->files[i].written || has_changed(watch->files[i].file))
			return heldfile_path(watch->files[i].file);
	return NULL;
}

/* Does the path by which the file was found lead elsewhere now? */
static bool is_replaced(const struct heldfile *file)
{
	const char *path = heldfile_path(file);
	struct stat now;

	/* such a path goes away with its process */
	if (!strncmp(path, "/proc/", 6))
		return false;
	return stat(path, &now) != 0 || !heldfile_is(file, &now);
}

const char *filewatch_newly_replaced(struct filewatch *watch)
{
	for (size_t i = 0; i < watch->count; i++) {
		struct watched *file = &watch->files[i];

		if (file->told || !is_replaced(file->file))
			continue;
		file->told = true;
		return heldfile_path(file->file);
	}
	return NULL;
}

const char *filewatch_replaced(const struct filewatch *watch, unsigned n)
{
	for (size_t i = 0; i < watch->count; i++)
		if (is_replaced(watch->files[i].file) && n-- == 0)
			return heldfile_path(watch->files[i].file);
	return NULL;
}
