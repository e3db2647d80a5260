/* SPDX-License-Identifier: Apache-2.0 */
/* Probes act on a file's inode, at offsets read from its text. A file written to in place would get
 * breakpoints in the middle of new instructions: tracing must stop at once. A file renamed over or
 * removed keeps its inode: only processes started from the old one are seen. */
#ifndef FILEWATCH_H
#define FILEWATCH_H

#include <stdbool.h>

struct errmsg;
struct filewatch;

struct filewatch *filewatch_new(void); /* never NULL */
void filewatch_free(struct filewatch *watch);

/* Starts to watch; `path` as opened for reading. Returns 0; -1 with *err (no such file). */
int filewatch_add(struct filewatch *watch, const char *path, struct errmsg *err);

int filewatch_fd(const struct filewatch *watch); /* readable when something happened; -1: none */
/* A path whose file was written to since it was added, or NULL. Reads what the fd has. */
const char *filewatch_written(struct filewatch *watch);
/* The n-th path (from 0) that names another file now, or none; NULL: no more. */
const char *filewatch_replaced(const struct filewatch *watch, unsigned n);

#endif
