// SPDX-License-Identifier: Apache-2.0
#include "values/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "values/format_internal.h"

enum { WIDTH_MAX = 1000 };

static const char VERBS[] = "diuxXoctsqvpfFeEgG";

struct parser {
	struct format *format;
	size_t len, pos;
	const unsigned *cols;
	struct errmsg *err;
};

static char peek(const struct parser *parser)
{
	return parser->pos < parser->len ? parser->format->text[parser->pos] : '\0';
}

void format_add_piece(struct format *format, const struct format_piece *piece)
{
	format->pieces = mem_grow(format->pieces, format->count, &format->cap, sizeof(*piece));
	format->pieces[format->count++] = *piece;
	format->verbs += piece->verb != '\0';
}

static void parse_flags(struct parser *parser, struct format_piece *piece)
{
	for (;; parser->pos++) {
		switch (peek(parser)) {
		case '-':
			piece->minus = true;
			break;
		case '0':
			piece->zero = true;
			break;
		case '+':
			piece->plus = true;
			break;
		case '#':
			piece->sharp = true;
			break;
		default:
			return;
		}
	}
}

static int parse_number(struct parser *parser, const char *what, int *out)
{
	unsigned col = parser->cols[parser->pos];

	for (*out = 0; peek(parser) >= '0' && peek(parser) <= '9'; parser->pos++) {
		*out = *out * 10 + (peek(parser) - '0');
		if (*out > WIDTH_MAX)
			return errmsg_set(parser->err, "col %u: %s is above %d", col, what,
					  WIDTH_MAX);
	}
	return 0;
}

static int unknown_verb(struct parser *parser, const struct format_piece *piece)
{
	size_t rest = parser->len - parser->pos, n = 1;

	if (!rest) {
		errmsg_set(parser->err, "col %u: the format ends within a verb", piece->col);
		errmsg_hint(parser->err, "%%%% prints a percent sign");
		return -1;
	}
	while (n < rest && (parser->format->text[parser->pos + n] & 0xc0) == 0x80)
		n++; /* the rest of a character */
	char *raw = mem_strndup(parser->format->text + parser->pos, n);
	char *verb = escape_text(raw);

	errmsg_set(parser->err, "col %u: unknown verb %%%s", piece->col, verb);
	errmsg_hint(parser->err,
		    "verbs are %%d %%i %%u %%x %%X %%o %%c %%t %%s %%q %%v %%+v %%p %%f %%e %%g; "
		    "%%%% prints a percent sign");
	free(verb);
	free(raw);
	return -1;
}

/* parses a verb, after a percent sign that does not begin %% */
static int parse_verb(struct parser *parser, struct format_piece *piece)
{
	parse_flags(parser, piece);
	if (parse_number(parser, "the width", &piece->width))
		return -1;
	if (peek(parser) == '.') {
		parser->pos++;
		if (parse_number(parser, "the precision", &piece->precision))
			return -1;
	}
	while (peek(parser) == 'l' || peek(parser) == 'h')
		parser->pos++;
	if (!peek(parser) || !strchr(VERBS, peek(parser)))
		return unknown_verb(parser, piece);
	piece->verb = peek(parser);
	parser->pos++;
	format_add_piece(parser->format, piece);
	return 0;
}

static void parse_text(struct parser *parser)
{
	struct format_piece piece = {.text = parser->format->text + parser->pos};
	const char *ends = parser->format->open ? "%}" : "%";

	while (parser->pos + piece.len < parser->len &&
	       !(piece.text[piece.len] && strchr(ends, piece.text[piece.len])))
		piece.len++;
	parser->pos += piece.len;
	format_add_piece(parser->format, &piece);
}

static void close_group(struct parser *parser)
{
	struct format_piece piece = {.text = "", .closes = true};

	parser->pos++;
	parser->format->open = false;
	format_add_piece(parser->format, &piece);
}

static int parse_percent(struct parser *parser)
{
	struct format_piece piece = {.precision = -1, .col = parser->cols[parser->pos]};

	parser->pos++;
	if (peek(parser) == '{') {
		parser->pos++;
		return format_open_group(parser->format, parser->len, &parser->pos, piece.col,
					 parser->err);
	}
	if (peek(parser) != '%')
		return parse_verb(parser, &piece);
	piece.text = parser->format->text + parser->pos++;
	piece.len = 1;
	format_add_piece(parser->format, &piece);
	return 0;
}

static int parse_format(struct parser *parser)
{
	while (parser->pos < parser->len) {
		if (peek(parser) == '%') {
			if (parse_percent(parser))
				return -1;
		} else if (peek(parser) == '}' && parser->format->open) {
			close_group(parser);
		} else {
			parse_text(parser);
		}
	}
	if (!parser->format->open)
		return 0;
	errmsg_set(parser->err, "col %u: expected a closing } before the end",
		   parser->cols[parser->len]);
	errmsg_hint(parser->err, "%%{NAME:%%d} names a value");
	return -1;
}

struct format *format_parse(const char *text, size_t len, const unsigned *cols, struct errmsg *err)
{
	struct format *format = mem_zalloc(1, sizeof(*format));
	struct parser parser = {.format = format, .len = len, .cols = cols, .err = err};

	format->text = mem_zalloc(len + 1, 1);
	memcpy(format->text, text, len);
	if (!parse_format(&parser))
		return format;
	format_free(format);
	return NULL;
}

void format_free(struct format *format)
{
	if (!format)
		return;
	free(format->pieces);
	free(format->text);
	free(format);
}

size_t format_verbs(const struct format *format)
{
	return format->verbs;
}

const struct format_piece *format_piece(const struct format *format, size_t n)
{
	for (size_t i = 0; i < format->count; i++) {
		if (format->pieces[i].verb && !n--)
			return &format->pieces[i];
	}
	return NULL;
}

bool format_follows(const struct format *format, size_t n)
{
	const struct format_piece *piece = format_piece(format, n);

	return piece && piece->verb == 'v' && piece->plus;
}
