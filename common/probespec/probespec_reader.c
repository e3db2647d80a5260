// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_reader_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "probespec/probespec.h"
#include "probespec/probespec_col_internal.h"
#include "probespec/probespec_literal_internal.h"
#include "probespec/expr_internal.h"

#define NO_REGEX                                                                                   \
	"there are no regular expressions here: hasprefix(x, \"text\") and x == \"text\" compare " \
	"in "                                                                                      \
	"the kernel, -f TEXT looks for TEXT in what is printed"

void probespec_reader_start(struct probespec_reader *reader, size_t at)
{
	reader->last_end = at;
	probespec_lexer_next(reader->text, at, &reader->token, reader->err);
}

void probespec_reader_next(struct probespec_reader *reader)
{
	probespec_reader_start(reader, reader->token.at + reader->token.len);
}

bool probespec_reader_is(const struct probespec_reader *reader, const char *what)
{
	return probespec_lexer_is(reader->text, &reader->token, what);
}

const char *probespec_reader_hint(const struct probespec_reader *reader)
{
	static const struct {
		const char *found, *hint;
	} rows[] = {
		{"=", "\"==\" compares"},
		{"is", "\"==\" compares"},
		{"and", "\"&&\" and \"||\" join conditions"},
		{"or", "\"&&\" and \"||\" join conditions"},
		{"=~", NO_REGEX},
		{"->", "\".\" follows pointers as well"},
		{"`", "write strings in double quotes: \"...\""},
		{"\xe2\x80\x9c", "write strings in plain double quotes: \"...\""},
		{"\xe2\x80\x9d", "write strings in plain double quotes: \"...\""},
	};

	if (!strncmp(reader->text + reader->token.at, "!~", 2))
		return NO_REGEX;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (probespec_reader_is(reader, rows[i].found))
			return rows[i].hint;
	return NULL;
}

int probespec_reader_expected(struct probespec_reader *reader, const char *what)
{
	const char *hint = probespec_reader_hint(reader);

	if (reader->token.kind == TOKEN_BAD)
		return -1;
	char *found = probespec_lexer_show(reader->text, &reader->token);

	probespec_col_error(reader->err, reader->token.at, "expected %s, found %s", what, found);
	free(found);
	if (hint)
		errmsg_hint(reader->err, "%s", hint);
	return -1;
}

struct expr *probespec_reader_make(struct probespec_reader *reader, enum expr_kind kind, size_t at,
				   struct expr *a, struct expr *b)
{
	struct expr *expr;

	if (++reader->parts > PROBESPEC_EXPR_MAX) {
		probespec_col_error(reader->err, at, "the expression has more than %d parts",
				    PROBESPEC_EXPR_MAX);
		expr_free(a);
		expr_free(b);
		return NULL;
	}
	expr = mem_zalloc(1, sizeof(*expr));
	*expr = (struct expr){.kind = kind, .col = at + 1, .a = a, .b = b};
	return expr;
}

struct expr *probespec_reader_leaf(struct probespec_reader *reader, enum expr_kind kind,
				   uint64_t number)
{
	struct token token = reader->token;
	struct expr *expr = probespec_reader_make(reader, kind, token.at, NULL, NULL);

	if (!expr)
		return NULL;
	expr->number = number;
	if (token.kind == TOKEN_NAME) {
		expr->text = mem_strndup(reader->text + token.at, token.len);
		expr->len = token.len;
	}
	probespec_reader_next(reader);
	return expr;
}

struct expr *probespec_reader_missing(struct probespec_reader *reader, const char *what)
{
	probespec_reader_expected(reader, what);
	return NULL;
}

struct expr *probespec_reader_string(struct probespec_reader *reader)
{
	struct probespec_string string;
	struct expr *expr;

	if (probespec_literal_string(reader->text, reader->token.at, &string, reader->err))
		return NULL;
	free(string.cols);
	expr = probespec_reader_leaf(reader, EXPR_STRING, 0);
	if (!expr) {
		free(string.bytes);
		return NULL;
	}
	expr->text = string.bytes;
	expr->len = string.len;
	return expr;
}

struct expr *probespec_reader_closed(struct probespec_reader *reader, struct expr *expr,
				     const char *bracket)
{
	if (!expr)
		return NULL;
	if (probespec_reader_is(reader, bracket)) {
		probespec_reader_next(reader);
		return expr;
	}
	expr_free(expr);
	return probespec_reader_missing(reader, *bracket == ')' ? "an operator or \")\""
								: "an operator or \"]\"");
}
