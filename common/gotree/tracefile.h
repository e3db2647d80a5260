/* SPDX-License-Identifier: Apache-2.0 */
/* A file of trees for Perfetto, in Chrome's trace event format. */
#ifndef TRACEFILE_H
#define TRACEFILE_H

struct calltree;
struct errmsg;
struct tracefile;

/* The folder is tried now. NULL and *err on failure. Caller closes. */
struct tracefile *tracefile_open(const char *path, struct errmsg *err);
void tracefile_close(struct tracefile *file); /* NULL is all right */
/* Keeps it in memory until the end; beyond some hundred megabytes trees are left out. */
void tracefile_add(struct tracefile *file, const struct calltree *tree);
/* Writes the whole file. -1 with *err. */
int tracefile_write(struct tracefile *file, struct errmsg *err);
/* On stderr, if any were. */
void tracefile_say_left_out(const struct tracefile *file, const char *tool);

#endif
