// SPDX-License-Identifier: Apache-2.0
/* Tokens of a signature. A name may be more than Go's identifiers: it includes the package's path
 * and type arguments. */
#include "golang/signature_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of letters beyond ASCII count as letters. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c > 127;
}

/* Characters that occur in a package's path, but not in an identifier. */
static bool is_of_path(const char *at)
{
	return *at && (strchr("/-%~+$", *at) || (at[0] == '.' && at[1] != '.'));
}

/* Bytes from the bracket on to the one that closes it; 0: none does. */
static size_t brackets_length(const char *text)
{
	size_t depth = 0;

	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '[')
			depth++;
		else if (text[i] == ']' && --depth == 0)
			return i + 1;
	}
	return 0;
}

static void read_name(struct sigtoken *token, const char *text)
{
	size_t len = 0;

	token->kind = SIGTOKEN_NAME;
	token->plain = true;
	for (; is_letter(text[len]) || is_digit(text[len]) || is_of_path(text + len); len++)
		token->plain = token->plain && !is_of_path(text + len);
	/* after a qualified name there are type arguments; after a plain one an array's length */
	if (!token->plain && text[len] == '[')
		len += brackets_length(text + len);
	token->len = len;
}

static void lex_number(struct sigtoken *token, const char *text)
{
	token->kind = SIGTOKEN_NUMBER;
	token->len = 0;
	while (is_digit(text[token->len]) || is_letter(text[token->len]))
		token->len++;
}

static void read_tag(struct sigtoken *token, const char *text)
{
	size_t len = 1;

	for (; text[len] && text[len] != text[0]; len++)
		if (text[0] == '"' && text[len] == '\\' && text[len + 1])
			len++;
	token->kind = text[len] ? SIGTOKEN_TAG : SIGTOKEN_MARK;
	token->len = text[len] ? len + 1 : 1;
}

void sig_advance(struct sigparser *parser)
{
	struct sigtoken *token = &parser->token;
	size_t start = token->start + token->len;

	*token = (struct sigtoken){.kind = SIGTOKEN_MARK, .len = 1};
	for (; parser->text[start] && strchr(" \t\r\n", parser->text[start]); start++)
		token->on_new_line = token->on_new_line || parser->text[start] == '\n';
	const char *text = parser->text + start;

	token->start = start;
	if (!*text)
		*token = (struct sigtoken){.kind = SIGTOKEN_END, .start = start};
	else if (is_letter(*text))
		read_name(token, text);
	else if (is_digit(*text))
		lex_number(token, text);
	else if (*text == '`' || *text == '"')
		read_tag(token, text);
	else if (!strncmp(text, "...", 3))
		*token = (struct sigtoken){.kind = SIGTOKEN_ELLIPSIS, .start = start, .len = 3};
	else if (!strncmp(text, "<-", 2))
		*token = (struct sigtoken){.kind = SIGTOKEN_ARROW, .start = start, .len = 2};
}

bool sig_is(const struct sigparser *parser, char mark)
{
	const struct sigtoken *token = &parser->token;

	return token->kind == SIGTOKEN_MARK && parser->text[token->start] == mark;
}

bool sig_is_word(const struct sigparser *parser, const char *keyword)
{
	const struct sigtoken *token = &parser->token;

	return token->kind == SIGTOKEN_NAME && strlen(keyword) == token->len &&
	       !memcmp(parser->text + token->start, keyword, token->len);
}

bool sig_take(struct sigparser *parser, char mark)
{
	bool is_next = sig_is(parser, mark);

	if (is_next)
		sig_advance(parser);
	return is_next;
}

int sig_error(struct sigparser *parser, size_t start, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (parser->pos)
		*parser->pos = start;
	return errmsg_set(parser->err, "%s", text);
}

int sig_expected(struct sigparser *parser, const char *what)
{
	const struct sigtoken *token = &parser->token;

	if (token->kind == SIGTOKEN_END)
		return sig_error(parser, token->start, "%s expected", what);
	return sig_error(parser, token->start, "%s expected, not \"%.*s\"", what, (int)token->len,
			 parser->text + token->start);
}

int sig_expect(struct sigparser *parser, char mark)
{
	const char what[] = {'"', mark, '"', '\0'};

	return sig_take(parser, mark) ? 0 : sig_expected(parser, what);
}

void sig_append(char **text, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *more = mem_vprintf(fmt, ap);

	va_end(ap);
	char *longer = mem_printf("%s%s", *text ? *text : "", more);

	free(*text);
	free(more);
	*text = longer;
}
