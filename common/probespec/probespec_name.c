// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "probespec/probespec_col.h"
#include "probespec/probespec_reader.h"

enum { NUMBERED_MAX = 999 };

static struct expr *known_at_return(struct probespec_reader *reader)
{
	const struct token *token = &reader->token;

	probespec_col_error(reader->err, token->at, "\"%.*s\" is known at return only",
			    (int)token->len, reader->text + token->at);
	errmsg_hint(reader->err, "begin the PROBE with r:");
	return NULL;
}

enum numbered { NUMBERED_NO, NUMBERED_YES, NUMBERED_BAD };

/* goarg1, goret1, arg1; *prefix is what stands before the digits. */
static enum numbered read_numbered(const struct probespec_reader *reader, const char *prefix,
				   uint64_t *number)
{
	const char *name = reader->text + reader->token.at;
	size_t len = reader->token.len, skip = strlen(prefix);

	if (len <= skip || strncmp(name, prefix, skip) ||
	    strspn(name + skip, "0123456789") < len - skip)
		return NUMBERED_NO;
	if (name[skip] == '0' || len - skip > 3)
		return NUMBERED_BAD;
	*number = strtoul(name + skip, NULL, 10);
	return NUMBERED_YES;
}

/* *done: the name was such a one, and the answer is NULL only for an error. */
static struct expr *read_parameter(struct probespec_reader *reader, bool *done)
{
	static const struct {
		const char *prefix;
		enum expr_kind kind;
	} rows[] = {{"goarg", EXPR_PARAM}, {"goret", EXPR_RESULT}, {"arg", EXPR_PARAM}};
	const struct token *token = &reader->token;
	uint64_t number = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum numbered numbered = read_numbered(reader, rows[i].prefix, &number);

		*done = numbered != NUMBERED_NO;
		if (numbered == NUMBERED_BAD) {
			probespec_col_error(reader->err, token->at,
					    "expected %s1 to %s%d, found \"%.*s\"", rows[i].prefix,
					    rows[i].prefix, NUMBERED_MAX, (int)token->len,
					    reader->text + token->at);
			return NULL;
		}
		if (*done && rows[i].kind == EXPR_RESULT && !reader->at_return)
			return known_at_return(reader);
		if (*done)
			return probespec_reader_leaf(reader, rows[i].kind, number);
	}
	return NULL;
}

/* goargs, gorets */
static struct expr *read_list(struct probespec_reader *reader, enum expr_kind kind)
{
	const struct token *token = &reader->token;
	size_t next = probespec_lexer_skip_space(reader->text, token->at + token->len);
	bool last = reader->text[next] == ',' || !reader->text[next];

	if (kind == EXPR_RESULTS && !reader->at_return)
		return known_at_return(reader);
	if (reader->list && !reader->parts && reader->depth == 1 && last)
		return probespec_reader_leaf(reader, kind, 0);
	probespec_col_error(reader->err, token->at,
			    "\"%.*s\" can be printed, but not used in an expression",
			    (int)token->len, reader->text + token->at);
	errmsg_hint(reader->err, "one of them is %s", kind == EXPR_PARAMS ? "goarg1" : "goret1");
	return NULL;
}

static struct expr *read_nothing(struct probespec_reader *reader)
{
	probespec_col_error(reader->err, reader->token.at, "\"_\" has no value");
	errmsg_hint(reader->err, "goarg1, goarg2 ... are the parameters, whatever their names");
	return NULL;
}

struct expr *probespec_name_read(struct probespec_reader *reader)
{
	bool done;
	struct expr *expr = read_parameter(reader, &done);

	if (done)
		return expr;
	if (probespec_reader_is(reader, "true") || probespec_reader_is(reader, "false"))
		return probespec_reader_leaf(reader, EXPR_BOOL,
					     probespec_reader_is(reader, "true"));
	if (probespec_reader_is(reader, "nil") || probespec_reader_is(reader, "NULL"))
		return probespec_reader_leaf(reader, EXPR_NIL, 0);
	if (probespec_reader_is(reader, "goargs"))
		return read_list(reader, EXPR_PARAMS);
	if (probespec_reader_is(reader, "gorets"))
		return read_list(reader, EXPR_RESULTS);
	if (probespec_reader_is(reader, "retval"))
		return reader->at_return ? probespec_reader_leaf(reader, EXPR_RESULT, 1)
					 : known_at_return(reader);
	if (probespec_reader_is(reader, "_"))
		return read_nothing(reader);
	return probespec_reader_leaf(reader, EXPR_NAME, 0);
}

struct expr *probespec_name_special(struct probespec_reader *reader)
{
	const struct token *token = &reader->token;
	int special = expr_special_find(reader->text + token->at, token->len);
	bool is_error = probespec_reader_is(reader, "$err");

	if ((special == SPECIAL_LATENCY || is_error) && !reader->at_return)
		return known_at_return(reader);
	if (is_error)
		return probespec_reader_leaf(reader, EXPR_ERROR, 0);
	if (special >= 0)
		return probespec_reader_leaf(reader, EXPR_SPECIAL, special);
	probespec_col_error(reader->err, token->at, "there is no \"%.*s\"", (int)token->len,
			    reader->text + token->at);
	if (probespec_reader_is(reader, "$tgid"))
		errmsg_hint(reader->err, "$pid is the process, $tid the thread");
	else if (probespec_reader_is(reader, "$retval"))
		errmsg_hint(reader->err, "retval is the first result");
	else
		errmsg_hint(reader->err, "there are $goid $pid $tid $cpu $comm $latency $func "
					 "$parent_goid $err");
	return NULL;
}
