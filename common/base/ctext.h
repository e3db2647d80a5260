/* SPDX-License-Identifier: Apache-2.0 */
/* C source text that is written line by line, indented as it nests. */
#ifndef CTEXT_H
#define CTEXT_H

#include <stddef.h>

struct ctext {
	char *text; /* NUL-terminated; NULL while empty */
	size_t len, cap;
	unsigned depth; /* tabs before each line */
};

/* One line, without its newline. */
void ctext_line(struct ctext *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line that opens a block with " {"; and its end, "}". */
void ctext_open(struct ctext *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ctext_close(struct ctext *out);
/* "} else {" */
void ctext_else(struct ctext *out);
/* The text, "" if there is none, now the caller's; *out is empty then. */
char *ctext_take(struct ctext *out);
void ctext_free(struct ctext *out);

#endif
