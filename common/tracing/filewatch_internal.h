/* SPDX-License-Identifier: Apache-2.0 */
/* Probes act on a file's inode, at offsets read from its text. A file written to in place would get
 * breakpoints in the middle of new instructions: tracing must stop at once. A file renamed over or
 * removed keeps its inode: only processes started from the old one are seen. */
#ifndef FILEWATCH_INTERNAL_H
#define FILEWATCH_INTERNAL_H

#include <stdbool.h>

struct heldfile;
struct filewatch;

struct filewatch *filewatch_new(void); /* never NULL */
void filewatch_free(struct filewatch *watch);

/* Starts to watch the file, which is shared. To be called before anything is read from it. */
void filewatch_add(struct filewatch *watch, struct heldfile *file);
/* Why writes are noticed only at the check every second: the kernel grants no inotify instance, or
 * no more watches. NULL: they are noticed at once. */
const char *filewatch_lack(const struct filewatch *watch);

int filewatch_fd(const struct filewatch *watch); /* readable when it is time to ask; -1: never */
/* A path whose file was written to since it was opened, or NULL. Reads what the fd has. */
const char *filewatch_written(struct filewatch *watch);
/* A path that now names another file, or none; each path is returned once; NULL: no more. The fd
 * becomes readable when a file was renamed, removed or renamed over, but not when a symbolic link
 * on the path was changed. */
const char *filewatch_newly_replaced(struct filewatch *watch);
/* From now on, note who opens the files, to execute them perhaps. */
void filewatch_note_openings(struct filewatch *watch);
/* Nobody has opened the file since; false: somebody has, or it is not known. */
bool filewatch_is_unopened(struct filewatch *watch, const struct heldfile *file);
/* The n-th path (from 0) that names another file now, or none; NULL: no more. */
const char *filewatch_replaced(const struct filewatch *watch, unsigned n);

#endif
