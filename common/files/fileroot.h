/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of files that a process sees. In the tree of another process, every name is looked up
 * within the tree: neither a symbolic link nor ".." leads out of it, even if somebody changes it
 * meanwhile. */
#ifndef FILEROOT_H
#define FILEROOT_H

#include <stdbool.h>
#include <stddef.h>

struct fileroot;

struct fileroot *fileroot_own(void);                    /* the tool's own view; never NULL */
struct fileroot *fileroot_share(struct fileroot *root); /* one more user, who closes it too */
void fileroot_close(struct fileroot *root);             /* NULL is all right */

bool fileroot_is_own(const struct fileroot *root);
const char *fileroot_shown(const struct fileroot *root); /* "" or "/proc/123/root" */

/* Where a file that was found in this tree is in it now, malloc'd: "/usr/bin/etcd"; a file that was
 * deleted has " (deleted)" after it. NULL: outside. */
char *fileroot_name(const struct fileroot *root, int fd);
/* The name of the entry that matches `pattern` of fnmatch(3) and is last in the order of strings,
 * of those before `before` where that is not NULL, in the folder at `path`; malloc'd, or NULL. */
char *fileroot_last_match(const struct fileroot *root, const char *path, const char *pattern,
			  const char *before);

#endif
