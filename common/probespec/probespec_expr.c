// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_expr_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "probespec/probespec_col_internal.h"
#include "probespec/probespec_dollar_internal.h"
#include "probespec/probespec_gotype_internal.h"
#include "probespec/probespec_literal_internal.h"
#include "probespec/probespec_reader_internal.h"
#include "probespec/expr_internal.h"

enum { DEPTH_MAX = 64, NUMBERED_MAX = 999 };

static struct expr *read_unary(struct probespec_reader *reader);
static struct expr *read_binary(struct probespec_reader *reader, unsigned lowest);

/* --- names that do not begin a call, and $names --- */

static struct expr *known_at_return(struct probespec_reader *reader)
{
	const struct token *token = &reader->token;

	probespec_col_error(reader->err, token->at, "\"%.*s\" is known at return only",
			    (int)token->len, reader->text + token->at);
	errmsg_hint(reader->err, "begin the PROBE with r:");
	return NULL;
}

enum numbered { NUMBERED_NO, NUMBERED_YES, NUMBERED_BAD };

/* Reads goarg1, goret1, arg1 and the like; `prefix`: the letters before the digits. */
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

/* *done: the name is one of these; then NULL is an error. */
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

static struct expr *read_name(struct probespec_reader *reader)
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

/* the function that reads the expression in parentheses */
static struct expr *read_any(struct probespec_reader *reader)
{
	return read_binary(reader, 1);
}

static struct expr *read_special(struct probespec_reader *reader)
{
	const struct token *token = &reader->token;
	int special = expr_special_find(reader->text + token->at, token->len);
	bool is_error = probespec_reader_is(reader, "$err");

	bool is_state = special >= SPECIAL_STATES;

	if ((is_error || (special >= 0 && expr_special_at_return(special))) && !reader->at_return)
		return known_at_return(reader);
	if (is_state && !reader->state)
		reader->state = expr_special_text(special);
	if (is_error)
		return probespec_reader_leaf(reader, EXPR_ERROR, 0);
	if (probespec_reader_is(reader, "$label"))
		return probespec_label(reader);
	if (probespec_reader_is(reader, "$traceid"))
		return probespec_traceid(reader, read_any);
	if (probespec_reader_is(reader, "$ctx"))
		return probespec_ctx(reader, read_any);
	if (special >= 0)
		return probespec_reader_leaf(reader, EXPR_SPECIAL, special);
	probespec_col_error(reader->err, token->at, "there is no \"%.*s\"", (int)token->len,
			    reader->text + token->at);
	if (probespec_reader_is(reader, "$tgid"))
		errmsg_hint(reader->err, "$pid is the process, $tid the thread");
	else if (probespec_reader_is(reader, "$retval"))
		errmsg_hint(reader->err, "retval is the first result");
	else
		errmsg_hint(reader->err, "there are $goid $pid $tid $cpu $comm $latency $running "
					 "$runnable $blocked $syscall $unknown $func $parent_goid "
					 "$err $traceid $ctx(\"main.keyType\") $label(\"key\")");
	return NULL;
}

/* --- values --- */

static struct expr *read_parentheses(struct probespec_reader *reader)
{
	probespec_reader_next(reader);
	struct expr *expr = probespec_reader_closed(reader, read_binary(reader, 1), ")");

	if (expr)
		expr->in_parentheses = true;
	return expr;
}

/* Reads `len(x)`, `cap(x)`, `since(x)` or `after(x)`; the token is the name. */
static struct expr *read_call(struct probespec_reader *reader, enum expr_kind kind)
{
	size_t at = reader->token.at;
	struct expr *arg;

	probespec_reader_next(reader);
	arg = read_parentheses(reader);
	return arg ? probespec_reader_make(reader, kind, at, arg, NULL) : NULL;
}

static struct expr *read_after(struct probespec_reader *reader)
{
	if (reader->at_return)
		return read_call(reader, EXPR_AFTER);
	probespec_col_error(reader->err, reader->token.at, "after(...) is known at return only");
	errmsg_hint(reader->err, "begin the PROBE with r:");
	return NULL;
}

static struct expr *read_strcmp(struct probespec_reader *reader)
{
	size_t at = reader->token.at;

	probespec_reader_next(reader);
	probespec_reader_next(reader);
	if (reader->token.kind != TOKEN_STRING) {
		probespec_reader_missing(reader, "a string in double quotes");
		errmsg_hint(reader->err, "STRCMP(\"text\", name)");
		return NULL;
	}
	struct expr *string = probespec_reader_string(reader), *arg;

	if (!string)
		return NULL;
	if (!probespec_reader_is(reader, ",")) {
		expr_free(string);
		return probespec_reader_missing(reader, "\",\"");
	}
	probespec_reader_next(reader);
	arg = probespec_reader_closed(reader, read_binary(reader, 1), ")");
	if (!arg) {
		expr_free(string);
		return NULL;
	}
	string->kind = EXPR_STRCMP;
	string->col = at + 1;
	string->a = arg;
	return string;
}

/* hasprefix(x, "text") */
static struct expr *read_prefix_call(struct probespec_reader *reader)
{
	size_t at = reader->token.at;
	struct expr *arg, *string;

	probespec_reader_next(reader);
	probespec_reader_next(reader);
	arg = read_binary(reader, 1);
	if (!arg)
		return NULL;
	if (!probespec_reader_is(reader, ",")) {
		expr_free(arg);
		return probespec_reader_missing(reader, "an operator or \",\"");
	}
	probespec_reader_next(reader);
	if (reader->token.kind != TOKEN_STRING) {
		expr_free(arg);
		probespec_reader_missing(reader, "a string in double quotes");
		errmsg_hint(reader->err, "hasprefix(name, \"text\")");
		return NULL;
	}
	string = probespec_reader_string(reader);
	if (!string) {
		expr_free(arg);
		return NULL;
	}
	string->kind = EXPR_PREFIX;
	string->col = at + 1;
	string->a = arg;
	return probespec_reader_closed(reader, string, ")");
}

static struct expr *no_call(struct probespec_reader *reader)
{
	const struct token *token = &reader->token;

	probespec_col_error(reader->err, token->at, "\"%.*s(...)\" is not a function here",
			    (int)token->len, reader->text + token->at);
	errmsg_hint(reader->err, "there are len(x), cap(x), since(x), after(x), hasprefix(x, "
				 "\"text\") and STRCMP(\"text\", x)");
	return NULL;
}

static struct expr *read_primary(struct probespec_reader *reader)
{
	const struct token *token = &reader->token;
	size_t next = probespec_lexer_skip_space(reader->text, token->at + token->len);
	bool call = token->kind == TOKEN_NAME && reader->text[next] == '(';

	if (probespec_reader_is(reader, "("))
		return read_parentheses(reader);
	if (call && probespec_reader_is(reader, "len"))
		return read_call(reader, EXPR_LEN);
	if (call && probespec_reader_is(reader, "cap"))
		return read_call(reader, EXPR_CAP);
	if (call && probespec_reader_is(reader, "since"))
		return read_call(reader, EXPR_SINCE);
	if (call && probespec_reader_is(reader, "after"))
		return read_after(reader);
	if (call && probespec_reader_is(reader, "STRCMP"))
		return read_strcmp(reader);
	if (call && probespec_reader_is(reader, "hasprefix"))
		return read_prefix_call(reader);
	switch (token->kind) {
	case TOKEN_NAME:
		return call ? no_call(reader) : read_name(reader);
	case TOKEN_SPECIAL:
		return read_special(reader);
	case TOKEN_INT:
		return probespec_reader_leaf(reader, EXPR_INT, token->number);
	case TOKEN_STRING:
		return probespec_reader_string(reader);
	default:
		return probespec_reader_missing(reader, "an expression");
	}
}

/* --- operators --- */

/* Reads the rest of `of.(T)`, from the parenthesis on. */
static struct expr *read_assertion(struct probespec_reader *reader, struct expr *of)
{
	size_t at = reader->token.at, end = probespec_gotype_close(reader->text, at);
	size_t start = probespec_lexer_skip_space(reader->text, at + 1);
	size_t type_end = end ? probespec_gotype_end(reader->text, start, false) : 0;

	if (!type_end || probespec_lexer_skip_space(reader->text, type_end) + 1 != end) {
		expr_free(of);
		probespec_col_error(reader->err, start, "expected a type and \")\"");
		errmsg_hint(reader->err, "x.(*net/http.Request)");
		return NULL;
	}
	struct expr *held = probespec_reader_make(reader, EXPR_ASSERT, at, of, NULL);

	if (!held)
		return NULL;
	held->len = type_end - start;
	held->text = mem_strndup(reader->text + start, held->len);
	probespec_reader_start(reader, end);
	return held;
}

/* Reads a field's name, which may well be "_" or goarg1, but not a number. */
static struct expr *read_field(struct probespec_reader *reader, struct expr *of)
{
	struct expr *field;

	probespec_reader_next(reader);
	if (probespec_reader_is(reader, "("))
		return read_assertion(reader, of);
	if (reader->token.kind != TOKEN_NAME) {
		expr_free(of);
		return probespec_reader_missing(reader, "a field's name");
	}
	field = probespec_reader_leaf(reader, EXPR_FIELD, 0);
	if (!field) {
		expr_free(of);
		return NULL;
	}
	field->a = of;
	return field;
}

/* Reads the rest of `of[low:high]`, from the colon on. */
static struct expr *parse_slice(struct probespec_reader *reader, size_t at, struct expr *of,
				struct expr *low)
{
	struct expr *slice = probespec_reader_make(reader, EXPR_SLICE, at, of, low);

	probespec_reader_next(reader);
	if (!slice || probespec_reader_is(reader, "]"))
		return probespec_reader_closed(reader, slice, "]");
	slice->c = read_binary(reader, 1);
	if (slice->c)
		return probespec_reader_closed(reader, slice, "]");
	expr_free(slice);
	return NULL;
}

static struct expr *read_index(struct probespec_reader *reader, struct expr *of)
{
	size_t at = reader->token.at;
	struct expr *index;

	probespec_reader_next(reader);
	if (probespec_reader_is(reader, ":"))
		return parse_slice(reader, at, of, NULL);
	index = read_binary(reader, 1);
	if (index && probespec_reader_is(reader, ":"))
		return parse_slice(reader, at, of, index);
	index = probespec_reader_closed(reader, index, "]");
	if (!index) {
		expr_free(of);
		return NULL;
	}
	return probespec_reader_make(reader, EXPR_INDEX, at, of, index);
}

static struct expr *read_postfix(struct probespec_reader *reader)
{
	struct expr *expr = read_primary(reader);

	while (expr) {
		if (probespec_reader_is(reader, "."))
			expr = read_field(reader, expr);
		else if (probespec_reader_is(reader, "["))
			expr = read_index(reader, expr);
		else
			break;
	}
	return expr;
}

static struct expr *read_prefix(struct probespec_reader *reader, enum expr_kind kind,
				enum expr_op op)
{
	size_t at = reader->token.at;

	probespec_reader_next(reader);
	struct expr *expr = read_unary(reader);

	if (expr)
		expr = probespec_reader_make(reader, kind, at, expr, NULL);
	if (expr)
		expr->op = op;
	return expr;
}

/* Limits the depth: everything that nests passes here. */
static struct expr *read_unary(struct probespec_reader *reader)
{
	size_t from = reader->token.at;
	struct expr *expr;

	if (++reader->depth > DEPTH_MAX) {
		probespec_col_error(reader->err, reader->token.at, "nested more than %d deep",
				    DEPTH_MAX);
		return NULL;
	}
	if (probespec_reader_is(reader, "!"))
		expr = read_prefix(reader, EXPR_UNARY, OP_NOT);
	else if (probespec_reader_is(reader, "~"))
		expr = read_prefix(reader, EXPR_UNARY, OP_COMPLEMENT);
	else if (probespec_reader_is(reader, "-"))
		expr = read_prefix(reader, EXPR_UNARY, OP_NEGATE);
	else if (probespec_reader_is(reader, "*"))
		expr = read_prefix(reader, EXPR_DEREF, OP_NOT);
	else
		expr = read_postfix(reader);
	reader->depth--;
	if (expr) {
		expr->from = from;
		expr->to = reader->last_end;
	}
	return expr;
}

/* The binary operator that the token is; OP_COUNT: none. */
static enum expr_op find_binary(const struct probespec_reader *reader)
{
	enum expr_op op = 0;

	while (op < OP_COUNT &&
	       (!expr_op_precedence(op) || !probespec_reader_is(reader, expr_op_text(op))))
		op++;
	return op;
}

/* Reads operators of precedence `lowest` or higher. Recurses at most once for each precedence,
 * until something nests. */
static struct expr *read_binary(struct probespec_reader *reader, unsigned lowest)
{
	struct expr *left = read_unary(reader);
	enum expr_op op;

	while (left && (op = find_binary(reader)) < OP_COUNT && expr_op_precedence(op) >= lowest) {
		size_t at = reader->token.at, from = left->from;

		probespec_reader_next(reader);
		struct expr *right = read_binary(reader, expr_op_precedence(op) + 1);

		if (!right) {
			expr_free(left);
			return NULL;
		}
		left = probespec_reader_make(reader, EXPR_BINARY, at, left, right);
		if (left) {
			left->op = op;
			left->from = from;
			left->to = reader->last_end;
		}
	}
	return left;
}

struct expr *probespec_expr_read(struct probespec_reader *reader, bool list)
{
	reader->parts = 0;
	reader->depth = 0;
	reader->list = list;
	return read_binary(reader, 1);
}
