// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_dollar_internal.h"

#include <stdlib.h>

#include "base/errmsg.h"
#include "probespec/expr_internal.h"
#include "probespec/probespec_reader_internal.h"

static struct expr *expected(struct probespec_reader *reader, const char *what, const char *usage)
{
	probespec_reader_expected(reader, what);
	errmsg_hint(reader->err, "%s", usage);
	return NULL;
}

struct expr *probespec_label(struct probespec_reader *reader)
{
	size_t at = reader->token.at;
	struct expr *label;

	probespec_reader_next(reader);
	if (!probespec_reader_is(reader, "("))
		return expected(reader, "\"(\"",
				"$label(\"key\") is the value of the goroutine's label");
	probespec_reader_next(reader);
	if (reader->token.kind != TOKEN_STRING)
		return expected(reader, "a label's key in double quotes", "$label(\"key\")");
	label = probespec_reader_closed(reader, probespec_reader_string(reader), ")");
	if (!label)
		return NULL;
	label->kind = EXPR_LABEL;
	label->col = at + 1;
	return label;
}

/* --- values of contexts --- */

static const char ctx_usage[] =
	"$ctx(\"main.keyType\") is the context's value under a key of this type; or "
	"$ctx(\"main.keyType\", KEY), KEY being the key's number or string";

struct expr *probespec_traceid(struct probespec_reader *reader, probespec_any_fn *any)
{
	size_t at = reader->token.at;
	struct expr *of;

	probespec_reader_next(reader);
	if (!probespec_reader_is(reader, "("))
		return probespec_reader_make(reader, EXPR_TRACEID, at, NULL, NULL);
	probespec_reader_next(reader);
	of = probespec_reader_closed(reader, any(reader), ")");
	return of ? probespec_reader_make(reader, EXPR_TRACEID, at, of, NULL) : NULL;
}

/* A number, also a negative one, or a string. */
static struct expr *read_key(struct probespec_reader *reader, probespec_any_fn *any)
{
	struct expr *key = any(reader);

	if (!key || key->kind == EXPR_INT || key->kind == EXPR_STRING)
		return key;
	if (key->kind == EXPR_UNARY && key->op == OP_NEGATE && key->a->kind == EXPR_INT)
		return key;
	errmsg_set(reader->err, "col %u: a key is a number or a string here", key->col);
	errmsg_hint(reader->err, "%s", ctx_usage);
	expr_free(key);
	return NULL;
}

/* The key's type, and what follows in parentheses; takes over `of`, the context, NULL: the call's.
 */
static struct expr *read_ctx(struct probespec_reader *reader, size_t at, struct expr *of,
			     probespec_any_fn *any)
{
	struct expr *ctx, *key = NULL;

	if (reader->token.kind != TOKEN_STRING) {
		expr_free(of);
		return expected(reader, "the type of a key in double quotes", ctx_usage);
	}
	ctx = probespec_reader_string(reader);
	if (!ctx) {
		expr_free(of);
		return NULL;
	}
	ctx->kind = EXPR_CTX;
	ctx->col = at + 1;
	ctx->a = of;
	if (probespec_reader_is(reader, ",")) {
		probespec_reader_next(reader);
		key = read_key(reader, any);
		if (!key) {
			expr_free(ctx);
			return NULL;
		}
		ctx->b = key;
	}
	return probespec_reader_closed(reader, ctx, ")");
}

struct expr *probespec_ctx(struct probespec_reader *reader, probespec_any_fn *any)
{
	size_t at = reader->token.at;
	struct expr *of = NULL;

	probespec_reader_next(reader);
	if (!probespec_reader_is(reader, "("))
		return expected(reader, "\"(\"", ctx_usage);
	probespec_reader_next(reader);
	if (reader->token.kind != TOKEN_STRING) {
		of = any(reader);
		if (!of)
			return NULL;
		if (!probespec_reader_is(reader, ",")) {
			expr_free(of);
			return expected(reader, "\",\" and the type of a key", ctx_usage);
		}
		probespec_reader_next(reader);
	}
	return read_ctx(reader, at, of, any);
}
