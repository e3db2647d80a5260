// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "probespec/probespec_expr_internal.h"
#include "probespec/probespec_foreign_internal.h"
#include "probespec/probespec_head_internal.h"
#include "probespec/probespec_literal_internal.h"
#include "probespec/probespec_reader_internal.h"
#include "probespec/probespec_values_internal.h"
#include "probespec/expr_internal.h"

/* Copies the target without backslashes before spaces: "my\ app:main.f". */
static char *take_target(const char *text, size_t len)
{
	char *target = mem_strndup(text, len);
	size_t to = 0;

	for (size_t i = 0; i < len; i++)
		if (text[i] != '\\' || i + 1 == len || text[i + 1] != ' ')
			target[to++] = text[i];
	target[to] = 0;
	return target;
}

static void take_head(const char *text, const struct probespec_head *head, struct probespec *out)
{
	out->at_return = head->at_return;
	out->target = take_target(text + head->target, head->target_end - head->target);
	out->target_col = head->target + 1;
	if (head->signature == head->signature_end)
		return;
	out->signature = mem_strndup(text + head->signature, head->signature_end - head->signature);
	out->signature_col = head->signature + 1;
}

/* Sets the error for "(not x)", or for "(x int)" in a predicate's place. */
static int bad_predicate(struct probespec_reader *reader, const struct expr *read)
{
	probespec_reader_expected(reader, "an operator or \")\"");
	if (reader->token.kind != TOKEN_NAME || read->kind != EXPR_NAME)
		return -1;
	if (!strcmp(read->text, "not"))
		errmsg_hint(reader->err, "\"!\" negates");
	else if (!probespec_reader_hint(reader))
		errmsg_hint(reader->err, "write the signature without a space before it");
	return -1;
}

static int read_predicate(struct probespec_reader *reader, struct probespec *out)
{
	probespec_reader_next(reader);
	out->predicate = probespec_expr_read(reader, false);
	if (!out->predicate)
		return -1;
	if (!probespec_reader_is(reader, ")"))
		return bad_predicate(reader, out->predicate);
	probespec_reader_next(reader);
	return 0;
}

static int read_format(struct probespec_reader *reader, struct probespec *out)
{
	struct probespec_string string;

	if (probespec_literal_string(reader->text, reader->token.at, &string, reader->err))
		return -1;
	out->format = string.bytes;
	out->format_len = string.len;
	out->format_cols = string.cols;
	probespec_reader_next(reader);
	return 0;
}

struct args {
	size_t expr_cap, text_cap;
};

static int read_arg(struct probespec_reader *reader, struct args *args, struct probespec *out)
{
	size_t at = reader->token.at;
	struct expr *expr = probespec_expr_read(reader, true);

	if (!expr)
		return -1;
	out->args = mem_grow(out->args, out->arg_count, &args->expr_cap, sizeof(struct expr *));
	out->arg_texts =
		mem_grow(out->arg_texts, out->arg_count, &args->text_cap, sizeof(*out->arg_texts));
	out->args[out->arg_count] = expr;
	out->arg_texts[out->arg_count] = mem_strndup(reader->text + at, reader->last_end - at);
	out->arg_count++;
	return 0;
}

/* Can the token begin an expression? (Not a string: that is more likely a second format.) */
static bool begins_expr(const struct probespec_reader *reader)
{
	static const char *const before[] = {"(", "*", "!", "~", "-"};

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		if (probespec_reader_is(reader, before[i]))
			return true;
	return reader->token.kind >= TOKEN_NAME && reader->token.kind <= TOKEN_INT;
}

/* The comma before the first argument may be omitted, as with bcc's trace, from which people copy
 * lines. */
static int read_args(struct probespec_reader *reader, struct probespec *out)
{
	struct args args = {0};

	if (begins_expr(reader) && read_arg(reader, &args, out))
		return -1;
	while (probespec_reader_is(reader, ",")) {
		probespec_reader_next(reader);
		if (read_arg(reader, &args, out))
			return -1;
	}
	if (reader->token.kind == TOKEN_END)
		return 0;
	bool follows = begins_expr(reader);

	probespec_reader_expected(reader, out->arg_count ? "an operator, \",\" or the end"
							 : "\",\" or the end");
	if (reader->token.kind != TOKEN_BAD && (follows || !out->arg_count))
		errmsg_hint(reader->err, "write a comma before each EXPR");
	return -1;
}

/* Sets the error for what is neither a predicate, nor a format, nor the end. */
static int bad_tail(struct probespec_reader *reader, const struct probespec *out)
{
	if (!out->predicate) {
		probespec_reader_expected(reader,
					  "\"(PREDICATE)\", a format in double quotes or the end");
		if (reader->token.kind != TOKEN_BAD && reader->token.kind != TOKEN_SYMBOL)
			errmsg_hint(reader->err, "write the predicate in parentheses");
		return -1;
	}
	probespec_reader_expected(reader, "a format in double quotes or the end");
	if (reader->token.kind == TOKEN_SYMBOL)
		errmsg_hint(reader->err,
			    "write one pair of parentheses around the whole predicate");
	return -1;
}

static int read_tail(struct probespec_reader *reader, struct probespec *out)
{
	if (probespec_reader_is(reader, "(") && read_predicate(reader, out))
		return -1;
	if (reader->token.kind == TOKEN_END)
		return 0;
	if (reader->token.kind != TOKEN_STRING)
		return bad_tail(reader, out);
	return read_format(reader, out) || read_args(reader, out) ? -1 : 0;
}

static int read_values(struct probespec_reader *reader, struct probespec *out)
{
	if (probespec_reader_is(reader, "(") && read_predicate(reader, out))
		return -1;
	if (reader->token.kind == TOKEN_STRING) {
		errmsg_set(reader->err, "col %zu: values are counted, there is no format",
			   reader->token.at + 1);
		errmsg_hint(reader->err, "write EXPRs alone");
		return -1;
	}
	if (!begins_expr(reader) && reader->token.kind != TOKEN_END) {
		probespec_reader_expected(reader, "\"(PREDICATE)\", an EXPR or the end");
		return -1;
	}
	if (read_args(reader, out))
		return -1;
	if (!out->arg_count && reader->at_return)
		probespec_values_default(out);
	probespec_values_format(out);
	return 0;
}

static int parse(const char *text, bool regex, bool values, struct probespec *out,
		 struct errmsg *err)
{
	struct probespec_reader reader = {.text = text, .err = err};
	struct probespec_head head = {.values = values};

	*out = (struct probespec){0};
	if (values ? probespec_argdist(text, err) : probespec_foreign(text, err))
		return -1;
	if (probespec_head_scan(text, regex, &head, err))
		return -1;
	take_head(text, &head, out);
	reader.at_return = head.at_return;
	probespec_reader_start(&reader, head.end);
	if (!(values ? read_values(&reader, out) : read_tail(&reader, out))) {
		out->state = reader.state;
		return 0;
	}
	probespec_free(out);
	return -1;
}

int probespec_parse(const char *text, bool regex, struct probespec *out, struct errmsg *err)
{
	return parse(text, regex, false, out, err);
}

int probespec_parse_values(const char *text, bool regex, struct probespec *out, struct errmsg *err)
{
	return parse(text, regex, true, out, err);
}

void probespec_free(struct probespec *spec)
{
	for (size_t i = 0; i < spec->arg_count; i++) {
		expr_free(spec->args[i]);
		free(spec->arg_texts[i]);
	}
	free(spec->args);
	free(spec->arg_texts);
	expr_free(spec->predicate);
	free(spec->target);
	free(spec->signature);
	free(spec->format);
	free(spec->format_cols);
	*spec = (struct probespec){0};
}
