/* SPDX-License-Identifier: Apache-2.0 */
/* A file that others read while it is written again and again: each time whole, under another name
 * in the same folder, which is then renamed. Strangers may write into that folder: no link of
 * theirs is followed, and no file of theirs is written to. */
#ifndef PROMFILE_H
#define PROMFILE_H

#include <stddef.h>

struct errmsg;
struct promfile;

/* The folder is opened now, and tried: NULL and *err if no file can be made there. Caller closes.
 */
struct promfile *promfile_open(const char *path, struct errmsg *err);
void promfile_close(struct promfile *file); /* NULL is all right; what was written stays */
/* 0, or -1 with *err: the file is as it was. */
int promfile_write(struct promfile *file, const char *text, size_t len, struct errmsg *err);

#endif
