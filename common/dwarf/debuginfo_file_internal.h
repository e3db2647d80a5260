/* SPDX-License-Identifier: Apache-2.0 */
/* The file that has a program's debug information: its own, or a separate one. */
#ifndef DEBUGINFO_FILE_INTERNAL_H
#define DEBUGINFO_FILE_INTERNAL_H

#include <stdbool.h>

struct dietree;
struct errmsg;
struct image;
struct image_sections;

struct debuginfo_file {
	struct dietree *tree;
	struct image_sections *secs; /* NULL: it is the program's own file */
};

/* -1 and *err: none was found. */
int debuginfo_file_find(const struct image *img, bool locations, struct debuginfo_file *out,
			struct errmsg *err);
/* A second tree of the same file; the caller closes. NULL: it cannot be read. */
struct dietree *debuginfo_file_again(const struct image *img, const struct debuginfo_file *file,
				     bool locations);
void debuginfo_file_close(struct debuginfo_file *file); /* and its tree */

#endif
