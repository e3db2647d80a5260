// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_lexer_internal.h"

#include <ctype.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "probespec/probespec_col_internal.h"
#include "probespec/probespec_literal_internal.h"

enum { SHOWN_MAX = 32 };

bool probespec_lexer_is_space(char c)
{
	return c && strchr(" \t\n\r\v\f", c);
}

size_t probespec_lexer_skip_space(const char *text, size_t at)
{
	while (probespec_lexer_is_space(text[at]))
		at++;
	return at;
}

static size_t character(const char *text, size_t at, uint32_t *out)
{
	return utf8_decode(text + at, strnlen(text + at, 4), out);
}

/* Beyond ASCII, names may contain anything that is not certainly no letter: controls, spaces,
 * typographic quotes, dashes and dots. */
static bool is_foreign_letter(uint32_t c)
{
	if (c < 0xaa || utf8_is_control(c))
		return false;
	if (c < 0xc0)
		return c == 0xaa || c == 0xb5 || c == 0xba;
	return c != 0xd7 && c != 0xf7 && !(c >= 0x2000 && c <= 0x206f) && c != 0x3000;
}

size_t probespec_lexer_name_end(const char *text, size_t at)
{
	size_t begin = at;
	uint32_t c = 0;

	for (;;) {
		unsigned char byte = text[at];

		if (isalpha(byte) || byte == '_' || (isdigit(byte) && at > begin)) {
			at++;
			continue;
		}
		if (byte < 0x80)
			return at;
		size_t len = character(text, at, &c);

		if (!len || !is_foreign_letter(c))
			return at;
		at += len;
	}
}

/* "~r0", "~b1": the compiler's names for unnamed results. */
static size_t nameless_end(const char *text, size_t at)
{
	if (text[at] != '~' || (text[at + 1] != 'r' && text[at + 1] != 'b'))
		return at;
	size_t digits = strspn(text + at + 2, "0123456789");
	size_t end = at + 2 + digits;

	return digits && probespec_lexer_name_end(text, at + 1) == end ? end : at;
}

static size_t symbol_end(const char *text, size_t at)
{
	static const char *const pairs[] = {
		"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "=~"};
	uint32_t c;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (!strncmp(text + at, pairs[i], 2))
			return at + 2;
	size_t len = character(text, at, &c);

	return at + (len ? len : 1);
}

static void set(struct token *out, enum token_kind kind, size_t end)
{
	out->kind = end > out->at ? kind : TOKEN_BAD;
	out->len = end > out->at ? end - out->at : 0;
}

static void take_string(const char *text, struct token *out, struct errmsg *err)
{
	set(out, TOKEN_STRING, probespec_literal_end(text, out->at));
	if (out->kind == TOKEN_BAD)
		probespec_col_error(err, out->at, "expected a closing \" before the end");
}

void probespec_lexer_next(const char *text, size_t at, struct token *out, struct errmsg *err)
{
	*out = (struct token){.kind = TOKEN_END, .at = probespec_lexer_skip_space(text, at)};
	at = out->at;
	size_t name = probespec_lexer_name_end(text, at), nameless = nameless_end(text, at);

	if (!text[at])
		return;
	if (name > at || nameless > at)
		set(out, TOKEN_NAME, name > at ? name : nameless);
	else if (isdigit((unsigned char)text[at]))
		set(out, TOKEN_INT, probespec_literal_number(text, at, &out->number, err));
	else if (text[at] == '\'')
		set(out, TOKEN_INT, probespec_literal_char(text, at, &out->number, err));
	else if (text[at] == '"')
		take_string(text, out, err);
	else if (text[at] == '$' && probespec_lexer_name_end(text, at + 1) > at + 1)
		set(out, TOKEN_SPECIAL, probespec_lexer_name_end(text, at + 1));
	else
		set(out, TOKEN_SYMBOL, symbol_end(text, at));
}

bool probespec_lexer_is(const char *text, const struct token *token, const char *what)
{
	return token->kind != TOKEN_STRING && token->len == strlen(what) &&
	       !memcmp(text + token->at, what, token->len);
}

char *probespec_lexer_show(const char *text, const struct token *token)
{
	const char *quote = token->kind == TOKEN_STRING ? "" : "\"";
	size_t len = token->len;

	if (token->kind == TOKEN_END)
		return mem_strdup("the end");
	if (len <= SHOWN_MAX)
		return mem_printf("%s%.*s%s", quote, (int)len, text + token->at, quote);
	for (len = SHOWN_MAX; (text[token->at + len] & 0xc0) == 0x80; len--)
		continue;
	return mem_printf("%s%.*s...%s", quote, (int)len, text + token->at,
			  token->kind == TOKEN_STRING ? "\"" : quote);
}
