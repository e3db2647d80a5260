// SPDX-License-Identifier: Apache-2.0
#include "probespec_dump.h"

#include <stdio.h>

#include "probespec/expr.h"
#include "probespec/probespec.h"
#include "unit.h"

/* Trees as text: (+ x 1), (. req Method), ([] a 0), (deref p). */
static void dump_text(FILE *out, const char *text, size_t len)
{
	fputc('"', out);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c >= ' ' && c != 0x7f && c != '"')
			fputc(c, out);
		else
			fprintf(out, "\\x%02x", c);
	}
	fputc('"', out);
}

static void dump_leaf(FILE *out, const struct expr *expr)
{
	switch (expr->kind) {
	case EXPR_INT:
		fprintf(out, "%llu", (unsigned long long)expr->number);
		break;
	case EXPR_STRING:
		dump_text(out, expr->text, expr->len);
		break;
	case EXPR_BOOL:
		fputs(expr->number ? "true" : "false", out);
		break;
	case EXPR_NIL:
	case EXPR_ERROR:
		fputs(expr->kind == EXPR_NIL ? "nil" : "$err", out);
		break;
	case EXPR_PARAM:
	case EXPR_RESULT:
		fprintf(out, "%c%d:%s", "PR"[expr->kind == EXPR_RESULT], (int)expr -> number,
			expr -> text);
		break;
	case EXPR_PARAMS:
	case EXPR_RESULTS:
		fputs(expr->kind == EXPR_PARAMS ? "PARAMS" : "RESULTS", out);
		break;
	case EXPR_LABEL:
		fputs("$label:", out);
		dump_text(out, expr->text, expr->len);
		break;
	case EXPR_TRACEID:
		fputs("$traceid", out);
		break;
	case EXPR_CTX:
		fputs("$ctx:", out);
		dump_text(out, expr->text, expr->len);
		break;
	case EXPR_SPECIAL:
		fputs(expr_special_text(expr->number), out);
		break;
	default:
		assert_int_equal(expr->kind, EXPR_NAME);
		fputs(expr->text, out);
	}
}

static const char *head_of(const struct expr *expr)
{
	switch (expr->kind) {
	case EXPR_FIELD:
		return ".";
	case EXPR_INDEX:
		return "[]";
	case EXPR_SLICE:
		return "[:]";
	case EXPR_AFTER:
		return "after";
	case EXPR_ASSERT:
		return ".()";
	case EXPR_DEREF:
		return "deref";
	case EXPR_LEN:
		return "len";
	case EXPR_CAP:
		return "cap";
	case EXPR_SINCE:
		return "since";
	case EXPR_UNARY:
	case EXPR_BINARY:
		return expr_op_text(expr->op);
	case EXPR_STRCMP:
		return "STRCMP";
	case EXPR_PREFIX:
		return "hasprefix";
	default:
		return NULL;
	}
}

static void dump(FILE *out, const struct expr *expr);

/* A leaf, or what of its own context and key: {$ctx:"main.key" of:ctx key:1} */
static void dump_context(FILE *out, const struct expr *expr)
{
	if (!expr->a && !expr->b) {
		dump_leaf(out, expr);
		return;
	}
	fputc('{', out);
	dump_leaf(out, expr);
	if (expr->a) {
		fputs(" of:", out);
		dump(out, expr->a);
	}
	if (expr->b) {
		fputs(" key:", out);
		dump(out, expr->b);
	}
	fputc('}', out);
}

static void dump(FILE *out, const struct expr *expr)
{
	const char *head = head_of(expr);

	if (!head) {
		dump_context(out, expr);
		return;
	}
	fprintf(out, "(%s ", head);
	if (expr->kind == EXPR_STRCMP || expr->kind == EXPR_PREFIX) {
		dump_text(out, expr->text, expr->len);
		fputc(' ', out);
	}
	dump(out, expr->a);
	if (expr->kind == EXPR_FIELD || expr->kind == EXPR_ASSERT)
		fprintf(out, " %s", expr->text);
	if (expr->b) {
		fputc(' ', out);
		dump(out, expr->b);
	}
	if (expr->kind == EXPR_SLICE && !expr->b)
		fputs(" _", out);
	if (expr->c) {
		fputc(' ', out);
		dump(out, expr->c);
	} else if (expr->kind == EXPR_SLICE) {
		fputs(" _", out);
	}
	fputc(')', out);
}

char *probespec_dump(const struct probespec *spec)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "%c %s", spec->at_return ? 'r' : 'p', spec->target);
	if (spec->signature)
		fprintf(out, " sig=%s", spec->signature);
	if (spec->predicate) {
		fputs(" if=", out);
		dump(out, spec->predicate);
	}
	if (spec->format) {
		fputc(' ', out);
		dump_text(out, spec->format, spec->format_len);
	}
	for (size_t i = 0; i < spec->arg_count; i++) {
		fputs(i ? "; " : " ", out);
		dump(out, spec->args[i]);
	}
	fclose(out);
	return text;
}
