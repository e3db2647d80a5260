/* SPDX-License-Identifier: Apache-2.0 */
/* One Go program's file, opened for tracing: its image, function table and site finder together. */
#ifndef PROGRAM_H
#define PROGRAM_H

struct errmsg;
struct image;
struct pclntab;
struct site_finder;

struct program {
	char *path; /* what the kernel is to open: /usr/bin/etcd, /proc/123/exe */
	struct image *img;
	struct pclntab *tab;
	struct site_finder *finder;
};

/* NULL and *err, which names the file: not readable, not ELF, not Go, ... Caller closes. */
struct program *program_open(const char *path, struct errmsg *err);
void program_close(struct program *prog); /* NULL is all right */

#endif
