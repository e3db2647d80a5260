// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracegen_warn_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "gotrace/tracegen_told_internal.h"

struct range { /* of 64 bits, signed or not */
	__int128 low, high;
};

struct side {
	const struct expr *expr;
	const struct number *number;
	struct range range;
};

static void warn(const struct gen *gen, char *text)
{
	gen->probe->told->warn(gen->probe->told->ctx, text);
	free(text);
}

/* The text as typed: two arguments for "%.*s". */
#define TYPED(gen, from, to) (int)((to) - (from)), (gen)->probe->told->text + (from)

static bool is_comparison(const struct expr *expr)
{
	return expr->kind == EXPR_BINARY && expr->op >= OP_LT && expr->op <= OP_NE;
}

/* warns of `flag & 3 != 0`, where the comparison is the right side, and of `0 != flag & 3` */
static void warn_mask(const struct gen *gen, const struct expr *expr, const struct expr *compared)
{
	const struct expr *a = expr->a, *b = expr->b;
	bool right = compared == b;
	unsigned middle = right ? compared->a->to : compared->b->from;

	if (right)
		warn(gen, mem_printf("(%.*s) is (%.*s(%.*s)); did you mean ((%.*s)%.*s)?",
				     TYPED(gen, expr->a->from, expr->b->to),
				     TYPED(gen, a->from, b->from), TYPED(gen, b->from, b->to),
				     TYPED(gen, a->from, middle), TYPED(gen, middle, b->to)));
	else
		warn(gen, mem_printf("(%.*s) is ((%.*s)%.*s); did you mean (%.*s(%.*s))?",
				     TYPED(gen, expr->a->from, expr->b->to),
				     TYPED(gen, a->from, a->to), TYPED(gen, a->to, b->to),
				     TYPED(gen, a->from, middle), TYPED(gen, middle, b->to)));
}

static bool is_constant_expr(const struct expr *expr)
{
	if (expr->kind == EXPR_UNARY)
		return expr->op == OP_NEGATE && expr->a->kind == EXPR_INT;
	return expr->kind == EXPR_INT || expr->kind == EXPR_BOOL;
}

static struct range range_of_type(const struct gotype *type, bool is_unsigned)
{
	unsigned bits = type && type->size && type->size < 8 ? type->size * 8 : 64;
	__int128 all = (__int128)1 << bits;

	if (is_unsigned || (type && type->kind != GOTYPE_INT))
		return (struct range){0, all - 1};
	return (struct range){-all / 2, all / 2 - 1};
}

/* The values that an expression may have; constants are signed, as in C. */
static struct range range_of(const struct expr *expr, const struct number *number)
{
	if (expr->kind == EXPR_AFTER)
		return range_of(expr->a, number);
	if (expr->kind == EXPR_INT)
		return (struct range){(int64_t)expr->number, (int64_t)expr->number};
	if (expr->kind == EXPR_UNARY && is_constant_expr(expr))
		return (struct range){-(int64_t)expr->a->number, -(int64_t)expr->a->number};
	if (number->is_bool)
		return (struct range){0, 1};
	if (expr->kind == EXPR_LEN || expr->kind == EXPR_CAP || expr->kind == EXPR_SPECIAL)
		return (struct range){0, INT64_MAX};
	if (expr->kind == EXPR_BINARY && expr->op == OP_AND && expr->b->kind == EXPR_INT &&
	    expr->b->number <= INT64_MAX)
		return (struct range){0, expr->b->number};
	return range_of_type(number->type, number->is_unsigned);
}

/* the same in unsigned arithmetic */
static struct range as_unsigned(struct range range)
{
	const __int128 all = (__int128)1 << 64;

	if (range.low >= 0)
		return range;
	if (range.high < 0)
		return (struct range){range.low + all, range.high + all};
	return (struct range){0, all - 1};
}

/* 1: the comparison is always true; 0: never; -1: it depends */
static int decided(enum expr_op op, struct range a, struct range b)
{
	bool below = a.high<b.low, above = a.low> b.high;

	switch (op) {
	case OP_LT:
		return below ? 1 : a.low >= b.high ? 0 : -1;
	case OP_GE:
		return below ? 0 : a.low >= b.high ? 1 : -1;
	case OP_GT:
		return above ? 1 : a.high <= b.low ? 0 : -1;
	case OP_LE:
		return above ? 0 : a.high <= b.low ? 1 : -1;
	default:
		return below || above ? op == OP_NE : -1;
	}
}

/* Compared with an unsigned 64-bit value, a negative number is a large one. */
static void warn_negative(const struct gen *gen, const struct expr *expr, const struct expr *number,
			  const struct expr *other, uint64_t value, int always)
{
	char *is = always < 0 ? mem_printf("compares with %" PRIu64, value)
			      : mem_printf("is always %s", always ? "true" : "false");

	warn(gen, mem_printf("(%.*s) %s: %.*s is unsigned, and %.*s is %" PRIu64 " beside it",
			     TYPED(gen, expr->a->from, expr->b->to), is,
			     TYPED(gen, other->from, other->to),
			     TYPED(gen, number->from, number->to), value));
	free(is);
}

static void warn_always(const struct gen *gen, const struct expr *expr, const struct side *of,
			bool always)
{
	char *why = mem_strdup("");

	if (of->number->type && of->number->type->size < 8) {
		free(why);
		why = mem_printf(": %.*s is from %" PRId64 " to %" PRId64,
				 TYPED(gen, of->expr->from, of->expr->to), (int64_t)of->range.low,
				 (int64_t)of->range.high);
	} else if (of->range.low == 0) {
		free(why);
		why = mem_printf(": %.*s is never negative",
				 TYPED(gen, of->expr->from, of->expr->to));
	}
	warn(gen, mem_printf("(%.*s) is always %s%s", TYPED(gen, expr->a->from, expr->b->to),
			     always ? "true" : "false", why));
	free(why);
}

static void check_comparison(const struct gen *gen, const struct expr *expr, struct side *a,
			     struct side *b)
{
	bool is_unsigned = a->number->is_unsigned || b->number->is_unsigned;
	const struct side *constant = is_constant_expr(a->expr) ? a : b;
	const struct side *other = constant == a ? b : a;

	if (!is_constant_expr(constant->expr) || is_constant_expr(other->expr))
		return;
	bool negative =
		constant->expr->kind == EXPR_UNARY && constant->range.high < 0 && is_unsigned;
	uint64_t value = (uint64_t)constant->range.low;

	if (is_unsigned) {
		a->range = as_unsigned(a->range);
		b->range = as_unsigned(b->range);
	}
	int always = decided(expr->op, a->range, b->range);

	if (negative)
		warn_negative(gen, expr, constant->expr, other->expr, value, always);
	else if (always >= 0)
		warn_always(gen, expr, other, always);
}

void gen_warn(const struct gen *gen, const struct expr *expr, const struct number *a,
	      const struct number *b)
{
	struct side left = {expr->a, a, range_of(expr->a, a)};
	struct side right = {expr->b, b, range_of(expr->b, b)};

	if (!gen->probe->told)
		return;
	if (is_comparison(expr)) {
		check_comparison(gen, expr, &left, &right);
		return;
	}
	if ((expr->op != OP_AND && expr->op != OP_XOR && expr->op != OP_OR) ||
	    a->is_bool == b->is_bool)
		return;
	const struct expr *compared = a->is_bool ? expr->a : expr->b;

	if (is_comparison(compared) && !compared->in_parentheses)
		warn_mask(gen, expr, compared);
}
