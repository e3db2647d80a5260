/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `format`: a format string taken apart. */
#ifndef FORMAT_INTERNAL_H
#define FORMAT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "values/value_internal.h"

struct errmsg;
struct format_arg;

struct format_piece {
	char verb; /* 'd', 's', ...; '\0': text that stands for itself */
	bool minus, zero, plus, sharp;
	int width;        /* 0: none */
	int precision;    /* -1: none */
	unsigned col;     /* of the percent sign, from 1 */
	const char *text; /* of struct format's */
	size_t len;
	/* for the two ends of %{NAME:...}, which print nothing: */
	const char *name; /* where it begins, of struct format's; not NUL-terminated */
	size_t name_len;
	bool is_list; /* %{NAME[]:...} */
	bool closes;
};

struct format {
	char *text;
	struct format_piece *pieces;
	size_t count, cap;
	size_t verbs;
	bool open; /* while parsing: a group has begun and not ended */
};

struct format_number {
	int64_t value;
	bool is_bool, is_unsigned;
	unsigned size; /* bytes */
};

struct format_text {
	const char *bytes;
	size_t len;
	bool cut;    /* there was more of it */
	char *owned; /* NULL, or what `bytes` is in: the caller frees it */
};

void format_add_piece(struct format *format, const struct format_piece *piece);
/* Called after "%{", which is in column `col`: moves *pos past "NAME:" or "NAME[]:"; the text has
 * `len` bytes. 0, or -1 with *err. */
int format_open_group(struct format *format, size_t len, size_t *pos, unsigned col,
		      struct errmsg *err);

/* NULL: there is no verb n */
const struct format_piece *format_piece(const struct format *format, size_t n);

/* A value, which is no interface, as a number or as text for a verb. false: it is something else,
 * or was not read. */
bool format_get_number(const struct value_source *source, const struct value_at *at,
		       struct format_number *out);
bool format_get_text(const struct value_source *source, const struct value_at *at,
		     struct format_text *out);

/* Prints the pieces from `from` up to `to`, whose first verb is verb n. */
void format_print_pieces(FILE *out, const struct format *format, size_t from, size_t to, size_t n,
			 const struct format_arg *args, size_t count,
			 const struct value_source *source);

void format_print_number(FILE *out, const struct format_piece *piece,
			 const struct format_number *number);
void format_print_text(FILE *out, const struct format_piece *piece, struct format_text text);
bool format_print_float(FILE *out, const struct format_piece *piece,
			const struct value_source *source, const struct value_at *at);

#endif
