/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room files uses of fileroot. */
#ifndef FILEROOT_INTERNAL_H
#define FILEROOT_INTERNAL_H

#include "files/fileroot.h"

/* The tree below the folder that `dir_fd` (which becomes the root's) is open on; messages show its
 * files' paths with `shown` before them. */
struct fileroot *fileroot_new(int dir_fd, const char *shown);
/* An O_PATH descriptor of what `path` names, links followed; in a tree that is not the tool's own
 * relative paths begin at its root. Nothing is opened by this. -1 with errno. */
int fileroot_find(const struct fileroot *root, const char *path);
/* The same step by step, for kernels without openat2 (before 5.6). */
int fileroot_walk(int root_fd, const char *path);

#endif
