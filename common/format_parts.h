/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `format`: a format string taken apart. */
#ifndef FORMAT_PARTS_H
#define FORMAT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "value_parts.h"

struct format_piece {
	char verb; /* 'd', 's', ...; '\0': text that stands for itself */
	bool minus, zero, plus, sharp;
	int width;        /* 0: none */
	int precision;    /* -1: none */
	unsigned col;     /* of the percent sign */
	const char *text; /* of struct format's */
	size_t len;
};

struct format {
	char *text;
	struct format_piece *pieces;
	size_t count, cap;
	size_t verbs;
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

/* NULL: there is no verb n */
const struct format_piece *format_piece(const struct format *format, size_t n);

/* What a value, which is no interface, is to a verb. false: something else, or not read. */
bool format_get_number(const struct value_source *source, const struct value_at *at,
		       struct format_number *out);
bool format_get_text(const struct value_source *source, const struct value_at *at,
		     struct format_text *out);

void format_print_number(FILE *out, const struct format_piece *piece,
			 const struct format_number *number);
void format_print_text(FILE *out, const struct format_piece *piece, struct format_text text);
bool format_print_float(FILE *out, const struct format_piece *piece,
			const struct value_source *source, const struct value_at *at);

#endif
