// SPDX-License-Identifier: Apache-2.0
#include "files/fileroot_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

enum { ENTRIES_MAX = 100000 }; /* of one folder: a library's has thousands */

struct fileroot {
	int fd;      /* O_PATH of the root's folder; -1: the tool's own view */
	char *shown; /* before paths of this tree, in messages */
	unsigned users;
};

struct fileroot *fileroot_new(int dir_fd, const char *shown)
{
	struct fileroot *root = mem_zalloc(1, sizeof(*root));

	*root = (struct fileroot){.fd = dir_fd, .shown = mem_strdup(shown), .users = 1};
	return root;
}

struct fileroot *fileroot_own(void)
{
	return fileroot_new(-1, "");
}

struct fileroot *fileroot_share(struct fileroot *root)
{
	root->users++;
	return root;
}

void fileroot_close(struct fileroot *root)
{
	if (!root || --root->users)
		return;
	if (root->fd >= 0)
		close(root->fd);
	free(root->shown);
	free(root);
}

bool fileroot_is_own(const struct fileroot *root)
{
	return root->fd < 0;
}

const char *fileroot_shown(const struct fileroot *root)
{
	return root->shown;
}

int fileroot_find(const struct fileroot *root, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};

	if (root->fd < 0)
		return open(path, O_PATH | O_CLOEXEC);

	int fd = syscall(SYS_openat2, root->fd, path, &how, sizeof(how));

	/* EPERM: older seccomp filters return it for system calls that they do not know. EAGAIN: a
	 * folder was renamed meanwhile, and ".." could have led out of the root. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
		return fileroot_walk(root->fd, path);
	return fd;
}

char *fileroot_name(const struct fileroot *root, int fd)
{
	char link[64], own[PATH_MAX + 1] = "", name[PATH_MAX + 1];
	size_t len = 0;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", root->fd);
	if (root->fd >= 0) {
		ssize_t n = readlink(link, own, PATH_MAX);

		len = n > 1 ? n : 0; /* "/" goes before nothing */
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, name, PATH_MAX);

	if (n <= (ssize_t)len || memcmp(name, own, len) != 0 || name[len] != '/')
		return NULL;
	name[n] = '\0';
	return mem_strdup(name + len);
}

static DIR *open_folder(const struct fileroot *root, const char *path)
{
	int fd = fileroot_find(root, path);
	char link[32];

	if (fd < 0)
		return NULL;
	/* a FIFO is refused before it is opened */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	int dir = open(link, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	close(fd);
	return dir < 0 ? NULL : fdopendir(dir);
}

char *fileroot_last_match(const struct fileroot *root, const char *path, const char *pattern,
			  const char *before)
{
	DIR *dir = open_folder(root, path);
	char last[NAME_MAX + 1] = "";
	const struct dirent *entry;

	for (unsigned i = 0; dir && i < ENTRIES_MAX && (entry = readdir(dir)); i++)
		if (fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0 &&
		    strcmp(entry->d_name, last) > 0 &&
		    (!before || strcmp(entry->d_name, before) < 0))
			snprintf(last, sizeof(last), "%s", entry->d_name);
	if (dir)
		closedir(dir);
	return *last ? mem_strdup(last) : NULL;
}
