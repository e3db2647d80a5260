/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a tool writes, once or again and again: each time whole, under another name in the
 * same folder, which is then renamed. Strangers may write into that folder: no link of theirs is
 * followed, and no file of theirs is written to. */
#ifndef OUTFILE_H
#define OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

struct errmsg;
struct outfile;

struct outfile_spec {
	const char *option; /* that names it: messages begin with this */
	const char *folder; /* for the hint to make its folder: ": it is the one that ..." */
	bool shared; /* Everybody may read it, whatever the umask, and a symbolic link of that name
		      * gives way to it. Else only a regular file does. */
};

/* The folder is opened now, and tried: NULL and *err if no file can be made there. Caller closes.
 */
struct outfile *outfile_open(const char *path, const struct outfile_spec *spec, struct errmsg *err);
void outfile_close(struct outfile *file); /* NULL is all right; what was written stays */
/* 0, or -1 with *err: the file is as it was. */
int outfile_write(struct outfile *file, const void *bytes, size_t len, struct errmsg *err);

#endif
