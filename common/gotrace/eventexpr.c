// SPDX-License-Identifier: Apache-2.0
#include "gotrace/eventexpr_internal.h"

#include "bpf-src/shared/trace.h"
#include "probespec/expr.h"

bool eventexpr_is(const struct expr *expr)
{
	switch (expr->kind) {
	case EXPR_INT:
	case EXPR_BOOL:
		return true;
	case EXPR_SPECIAL:
		return expr->number < SPECIAL_STATES && expr->number != SPECIAL_COMM &&
		       expr->number != SPECIAL_FUNC;
	case EXPR_UNARY:
		return eventexpr_is(expr->a);
	case EXPR_BINARY:
		return eventexpr_is(expr->a) && eventexpr_is(expr->b);
	default:
		return false;
	}
}

static uint64_t special(uint64_t which, const struct trace_event *event)
{
	switch (which) {
	case SPECIAL_GOID:
		return event->goid;
	case SPECIAL_PID:
		return event->tgid;
	case SPECIAL_TID:
		return event->tid;
	case SPECIAL_CPU:
		return event->cpu;
	case SPECIAL_LATENCY:
		return event->latency_ns;
	case SPECIAL_PARENT_GOID:
		return event->parent_goid;
	default:
		return 0;
	}
}

/* In unsigned arithmetic, which wraps: fetch.h's divide_signed() and modulo_signed(). */
static bool divide(enum expr_op op, uint64_t a, uint64_t b, uint64_t *value)
{
	uint64_t big = (int64_t)a < 0 ? -a : a, small = (int64_t)b < 0 ? -b : b;

	if (!b)
		return false;
	*value = op == OP_DIV ? big / small : big % small;
	if ((int64_t)a < 0 ? op == OP_MOD || (int64_t)b > 0 : op == OP_DIV && (int64_t)b < 0)
		*value = -*value;
	return true;
}

static uint64_t shift_right(uint64_t a, uint64_t n)
{
	return (uint64_t)((int64_t)a >> (n < 64 ? n : 63));
}

static bool binary(enum expr_op op, uint64_t a, uint64_t b, uint64_t *value)
{
	int64_t x = (int64_t)a, y = (int64_t)b;
	const uint64_t results[OP_COUNT] = {
		[OP_MUL] = a * b,
		[OP_ADD] = a + b,
		[OP_SUB] = a - b,
		[OP_SHL] = b < 64 ? a << b : 0,
		[OP_SHR] = shift_right(a, b),
		[OP_LT] = (x < y),
		[OP_LE] = (x <= y),
		[OP_GT] = (x > y),
		[OP_GE] = (x >= y),
		[OP_EQ] = a == b,
		[OP_NE] = a != b,
		[OP_AND] = a & b,
		[OP_XOR] = a ^ b,
		[OP_OR] = a | b,
	};

	if (op == OP_DIV || op == OP_MOD)
		return divide(op, a, b, value);
	*value = results[op];
	return true;
}

bool eventexpr_compute(const struct expr *expr, const struct trace_event *event, uint64_t *value)
{
	uint64_t a, b;

	if (expr->kind != EXPR_UNARY && expr->kind != EXPR_BINARY) {
		*value = expr->kind == EXPR_SPECIAL ? special(expr->number, event) : expr->number;
		return true;
	}
	if (!eventexpr_compute(expr->a, event, &a))
		return false;
	if (expr->kind == EXPR_UNARY) {
		*value = expr->op == OP_NOT ? !a : expr->op == OP_COMPLEMENT ? ~a : -a;
		return true;
	}
	/* the right side is computed only where the left side does not decide */
	if (expr->op == OP_LOGICAL_AND || expr->op == OP_LOGICAL_OR) {
		*value = a != 0;
		if (*value == (expr->op == OP_LOGICAL_OR))
			return true;
		if (!eventexpr_compute(expr->b, event, &b))
			return false;
		*value = b != 0;
		return true;
	}
	return eventexpr_compute(expr->b, event, &b) && binary(expr->op, a, b, value);
}
