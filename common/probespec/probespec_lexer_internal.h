/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a PROBE, from the end of FUNCTION and its signature on. */
#ifndef PROBESPEC_LEXER_INTERNAL_H
#define PROBESPEC_LEXER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errmsg;

enum token_kind {
	TOKEN_END,
	TOKEN_BAD,     /* *err has been set */
	TOKEN_NAME,    /* x, ~r0, true, len */
	TOKEN_SPECIAL, /* $goid */
	TOKEN_INT,     /* number */
	TOKEN_STRING,  /* "...": from quote to quote; escapes are not yet looked at */
	TOKEN_SYMBOL   /* an operator, a bracket, or any character unknown to the language */
};

struct token {
	enum token_kind kind;
	size_t at, len; /* in the PROBE, bytes */
	uint64_t number;
};

/* The token at or after text[at]. */
void probespec_lexer_next(const char *text, size_t at, struct token *out, struct errmsg *err);

bool probespec_lexer_is(const char *text, const struct token *token, const char *what);

/* The token in a message: `"x"`, `"%d"` for strings, `the end`; long ones are shortened. Caller
 * frees. */
char *probespec_lexer_show(const char *text, const struct token *token);

/* Parts of tokens, for the head of a PROBE, which is not read as tokens. */
bool probespec_lexer_is_space(char c);
size_t probespec_lexer_skip_space(const char *text, size_t at);
/* The end of the Go identifier at text[at]; `at` itself if there is none. */
size_t probespec_lexer_name_end(const char *text, size_t at);

#endif
