// SPDX-License-Identifier: Apache-2.0
#include "kernel/headertree_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/signals.h"

struct headertree {
	char *dir;
	int mount;    /* the file system; -1: none of its own */
	char **paths; /* what is in it, folders before what they hold */
	size_t count, cap;
};

/* what a signal's handler removes */
static struct headertree *to_remove;

bool headertree_has(const char *name)
{
	size_t len = strlen(name);

	return len > 2 && !strcmp(name + len - 2, ".h");
}

/* makes only system calls, as it may run in a signal handler */
static void remove_all(void)
{
	const struct headertree *tree = to_remove;

	if (!tree)
		return;
	for (size_t i = tree->count; i > 0; i--)
		if (unlink(tree->paths[i - 1]))
			rmdir(tree->paths[i - 1]);
	rmdir(tree->dir);
}

static void note_path(struct headertree *tree, const char *path)
{
	tree->paths = mem_grow(tree->paths, tree->count, &tree->cap, sizeof(*tree->paths));
	tree->paths[tree->count++] = mem_strdup(path);
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

/* makes every missing folder between the tree's and `path` */
static void make_folders(struct headertree *tree, char *path)
{
	for (char *p = path + strlen(tree->dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (!mkdir(path, 0700))
			note_path(tree, path);
		*p = '/';
	}
}

static int write_headers(struct headertree *tree)
{
	int ret = 0;

	for (const struct embedded_file *f = embedded_files; f->name && !ret; f++) {
		if (!headertree_has(f->name))
			continue;
		char *path = mem_printf("%s/%s", tree->dir, f->name);

		make_folders(tree, path);
		note_path(tree, path);
		ret = write_file(path, f->text);
		free(path);
	}
	return ret;
}

/* A file system in memory that is mounted nowhere: its descriptor, or -1 */
static int mount_nowhere(void)
{
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC), mount = -1;

	if (fs < 0)
		return -1;
	if (!fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0700", 0) &&
	    !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = fsmount(fs, FSMOUNT_CLOEXEC,
				MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	close(fs);
	return mount;
}

/* Ignores TMPDIR: under sudo it may name somebody else's folder. Memory comes first: on a disk it
 * may take half a millisecond to create each file. */
static char *make_folder(void)
{
	static const char *const parents[] = {"/dev/shm", "/run", "/tmp"};

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		char *dir = mem_printf("%s/gotools.XXXXXX", parents[i]);

		if (mkdtemp(dir))
			return dir;
		free(dir);
	}
	return NULL;
}

struct headertree *headertree_new(struct errmsg *err)
{
	struct headertree *tree = mem_zalloc(1, sizeof(*tree));

	tree->mount = mount_nowhere();
	tree->dir = tree->mount >= 0 ? mem_printf("/proc/self/fd/%d", tree->mount) : make_folder();
	if (tree->dir && tree->mount < 0) {
		to_remove = tree;
		signals_at_end(remove_all);
	}
	if (tree->dir && !write_headers(tree))
		return tree;
	errmsg_set(err, "cannot write the compiler's headers: %s", strerror(errno));
	if (!tree->dir)
		errmsg_hint(err, "one of the folders /dev/shm, /run and /tmp must be writable");
	headertree_free(tree);
	return NULL;
}

const char *headertree_dir(const struct headertree *tree)
{
	return tree->dir;
}

void headertree_free(struct headertree *tree)
{
	if (!tree)
		return;
	remove_all();
	to_remove = NULL;
	if (tree->mount >= 0)
		close(tree->mount);
	for (size_t i = 0; i < tree->count; i++)
		free(tree->paths[i]);
	free(tree->paths);
	free(tree->dir);
	free(tree);
}
