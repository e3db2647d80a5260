// SPDX-License-Identifier: Apache-2.0
/* What openat2 does with RESOLVE_IN_ROOT, where the kernel lacks it. Folders are held open on the
 * way down, so that ".." goes back to the folder that was passed, even if it was moved since. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "files/fileroot_internal.h"

enum { DEPTH_MAX = 128, LINKS_MAX = 40 }; /* the latter is the kernel's own limit */

struct walk {
	int folders[DEPTH_MAX]; /* from the root, which is the caller's, to where the walk is */
	unsigned depth, links;
	char *left; /* of the path */
};

static void leave_folders(struct walk *walk)
{
	while (walk->depth > 1)
		close(walk->folders[--walk->depth]);
}

/* The text of a link goes before what is left of the path. */
static int follow_link(struct walk *walk, int link, const char *rest)
{
	char text[PATH_MAX + 1];
	ssize_t n = readlinkat(link, "", text, PATH_MAX);

	close(link);
	if (n < 0)
		return -1;
	errno = ELOOP;
	if (++walk->links > LINKS_MAX)
		return -1;
	text[n] = '\0';
	if (text[0] == '/')
		leave_folders(walk);
	char *left = mem_printf("%s%s", text, rest);

	free(walk->left);
	walk->left = left;
	errno = ENAMETOOLONG;
	return strlen(left) < 2 * PATH_MAX ? 0 : -1;
}

static int enter(struct walk *walk, int fd)
{
	if (walk->depth == DEPTH_MAX) {
		close(fd);
		errno = ENAMETOOLONG;
		return -1;
	}
	walk->folders[walk->depth++] = fd;
	return 0;
}

/* One name of the path, of which `rest` is left. */
static int walk_name(struct walk *walk, const char *name, const char *rest)
{
	struct stat st;

	if (!strcmp(name, ".") || !*name)
		return 0;
	if (!strcmp(name, "..")) {
		if (walk->depth > 1)
			close(walk->folders[--walk->depth]);
		return 0;
	}
	int fd = openat(walk->folders[walk->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0) {
		close(fd);
		return -1;
	}
	return S_ISLNK(st.st_mode) ? follow_link(walk, fd, rest) : enter(walk, fd);
}

static int walk_all(struct walk *walk)
{
	while (*walk->left) {
		size_t len = strcspn(walk->left, "/");
		char *name = mem_strndup(walk->left, len);
		char *rest = mem_strdup(walk->left + len + strspn(walk->left + len, "/"));
		/* what follows a link's text begins with the separator, unlike `rest` */
		char *tail = mem_printf("%s%s", walk->left[len] ? "/" : "", rest);
		const char *before = walk->left;
		int ret = walk_name(walk, name, tail);

		if (!ret && walk->left == before) {
			free(walk->left);
			walk->left = rest;
			rest = NULL;
		}
		free(name);
		free(rest);
		free(tail);
		if (ret)
			return ret;
	}
	return 0;
}

int fileroot_walk(int root_fd, const char *path)
{
	struct walk walk = {.folders = {root_fd}, .depth = 1, .left = mem_strdup(path)};
	int ret = walk_all(&walk), fd = -1;

	if (!*path) {
		errno = ENOENT;
		ret = -1;
	}
	if (!ret) /* a copy: the root's own must outlive it */
		fd = fcntl(walk.folders[walk.depth - 1], F_DUPFD_CLOEXEC, 0);
	int error = errno;

	leave_folders(&walk);
	free(walk.left);
	errno = error;
	return fd;
}
