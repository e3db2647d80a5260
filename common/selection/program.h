/* SPDX-License-Identifier: Apache-2.0 */
/* The file of one Go program, opened for tracing: ELF image, function table and site finder. */
#ifndef PROGRAM_H
#define PROGRAM_H

struct errmsg;
struct heldfile;
struct image;
struct pclntab;
struct site_finder;

struct program {
	const char *path; /* as messages show it: /usr/bin/etcd, /proc/123/exe */
	struct heldfile *file;
	struct image *img;
	struct pclntab *tab;
	struct site_finder *finder;
};

/* `file` becomes the program's, NULL too: then *err says why. NULL and *err, which names the file:
 * not readable, not ELF, not Go, ... Caller closes. */
struct program *program_open(struct heldfile *file, struct errmsg *err);
void program_close(struct program *prog); /* NULL is all right */

#endif
