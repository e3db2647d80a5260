// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_head_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "probespec/probespec_col_internal.h"
#include "probespec/probespec_gotype_internal.h"
#include "probespec/probespec_lexer_internal.h"

static int not_closed(const char *text, size_t at, struct errmsg *err)
{
	return probespec_col_error(err, at, "\"%c\" is not closed", text[at]);
}

/* After the parenthesis that closes the one at text[at], if they may contain a method's receiver:
 * "(*Store)", "(*Map[go.shape.int])"; 0: it is no receiver, or is not closed. */
static size_t receiver_end(const char *text, size_t at)
{
	for (at++; at && text[at] && !probespec_lexer_is_space(text[at]);) {
		if (text[at] == ')')
			return at + 1;
		if (strchr("(\"{},", text[at]))
			return 0;
		at = text[at] == '[' ? probespec_gotype_close(text, at) : at + 1;
	}
	return 0;
}

/* As receiver_end(), where a wildcard stands for the receiver's end: "main.(*Sto*". */
static size_t receiver_pattern_end(const char *text, size_t at)
{
	size_t len = 1 + strcspn(text + at + 1, " \t\n\r\v\f\"(");

	return len > 2 && memchr(text + at + 2, '*', len - 2) ? at + len : 0;
}

/* If the parenthesis at text[*at] is part of a name, moves *at past it; if a signature begins
 * there, leaves *at alone. -1 with *err: it is neither. */
static int skip_receiver(const char *text, size_t begin, size_t *at, struct errmsg *err)
{
	size_t end = receiver_end(text, *at), pattern;

	if (end && text[end] == '.') {
		*at = end;
		return 0;
	}
	if (*at == begin || text[*at - 1] != '.')
		return 0;
	pattern = receiver_pattern_end(text, *at);
	if (pattern) {
		*at = pattern;
		return 0;
	}
	if (!end)
		return not_closed(text, *at, err);
	probespec_col_error(err, end, "expected a method's name after \"%.*s\"", (int)(end - *at),
			    text + *at);
	errmsg_hint(err, "for all of them: '%.*s.*'", (int)(end - begin), text + begin);
	return -1;
}

/* Does the target end here? A comma can be part of a path, but not its last character. */
static bool ends_target(const char *text, size_t at)
{
	char c = text[at] == ',' ? text[at + 1] : text[at];

	return !c || c == '"' || probespec_lexer_is_space(c);
}

static int scan_target(const char *text, struct probespec_head *out, struct errmsg *err)
{
	size_t at = out->target, before;

	while (!ends_target(text, at)) {
		before = at;
		if (text[at] == '\\' && text[at + 1] == ' ') {
			at += 2;
			continue;
		}
		if (text[at] == ')' || text[at] == ']')
			return probespec_col_error(err, at, "\"%c\" without \"%c\" before it",
						   text[at], text[at] == ')' ? '(' : '[');
		if (text[at] == '(') {
			if (skip_receiver(text, out->target, &at, err))
				return -1;
			if (at == before)
				break;
		} else {
			at = text[at] == '[' ? probespec_gotype_close(text, at) : at + 1;
		}
		if (!at)
			return not_closed(text, before, err);
	}
	out->target_end = at;
	return 0;
}

/* In a regular expression, parentheses and brackets are its own: there is no signature. */
static int scan_regex(const char *text, struct probespec_head *out)
{
	size_t at = out->target;

	while (!ends_target(text, at))
		at += text[at] == '\\' && text[at + 1] ? 2 : 1;
	out->target_end = at;
	return 0;
}

static int no_function(const char *text, const struct probespec_head *head, struct errmsg *err)
{
	size_t at = probespec_lexer_skip_space(text, head->target_end);
	struct token found;

	if (at > head->target_end && text[at]) {
		probespec_col_error(err, head->target_end, "expected FUNCTION, found a space");
		errmsg_hint(err, "write a space in BINARY:FUNCTION as \"\\ \"");
		return -1;
	}
	probespec_lexer_next(text, at, &found, NULL);
	found.len += found.kind == TOKEN_BAD;
	char *shown = probespec_lexer_show(text, &found);

	probespec_col_error(err, at, "expected FUNCTION, found %s", shown);
	if (text[at] == '"' || text[at] == '(')
		errmsg_hint(err, "a PROBE is one word of the shell: 'main.add (x > 5) \"%%d\", x'");
	free(shown);
	return -1;
}

/* Parentheses right after the name are a signature: sets an error if they contain a predicate. */
static int check_params(const char *text, size_t at, size_t end, struct errmsg *err)
{
	if (probespec_gotype_list_end(text, at, false) == end)
		return 0;
	for (size_t i = at; i < end; i++) {
		if (!strncmp(text + i, "<-", 2))
			i += 2;
		if (!strchr("=!<>&|+%~\"$", text[i]))
			continue;
		probespec_col_error(err, at, "expected a signature in Go's syntax, found \"%.*s\"",
				    (int)(end - at), text + at);
		errmsg_hint(err, "write a space before a predicate");
		return -1;
	}
	return 0;
}

/* After a result without parentheses; 0: it is none. Where EXPRs may follow, k.Name and n are
 * EXPRs: only predeclared types are results. */
static size_t bare_result_end(const char *text, size_t begin, bool values)
{
	size_t end = probespec_gotype_end(text, begin, values);

	return end && values && memchr(text + begin, '.', end - begin) ? 0 : end;
}

/* After the results that follow the parameters; `at`: there are none, or a predicate follows. */
static size_t results_end(const char *text, size_t at, bool values)
{
	size_t begin = probespec_lexer_skip_space(text, at), end;

	if (text[begin] == '(') {
		end = probespec_gotype_list_end(text, begin, true);
		return end ? end : at;
	}
	end = bare_result_end(text, begin, values);
	return end && (ends_target(text, end) || text[end] == '(') ? end : at;
}

static int scan_signature(const char *text, struct probespec_head *out, struct errmsg *err)
{
	size_t end;

	out->signature = out->signature_end = out->end = out->target_end;
	if (text[out->target_end] != '(')
		return 0;
	end = probespec_gotype_close(text, out->signature);
	if (!end)
		return not_closed(text, out->signature, err);
	if (check_params(text, out->signature, end, err))
		return -1;
	out->signature_end = out->end = results_end(text, end, out->values);
	return 0;
}

int probespec_head_scan(const char *text, bool regex, struct probespec_head *out,
			struct errmsg *err)
{
	size_t at = probespec_lexer_skip_space(text, 0);

	out->at_return = text[at] == 'r' && text[at + 1] == ':';
	if (out->at_return || !strncmp(text + at, "p:", 2))
		at += 2;
	out->target = at;
	if (regex ? scan_regex(text, out) : scan_target(text, out, err))
		return -1;
	if (out->target_end == at || text[out->target_end - 1] == ':')
		return no_function(text, out, err);
	if (!regex)
		return scan_signature(text, out, err);
	out->signature = out->signature_end = out->end = out->target_end;
	return 0;
}
