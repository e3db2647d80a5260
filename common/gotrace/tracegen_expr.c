// SPDX-License-Identifier: Apache-2.0
/* Numeric expressions, computed in the kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "gotrace/tracegen_after_internal.h"
#include "gotrace/tracegen_assert_internal.h"
#include "gotrace/tracegen_context_internal.h"
#include "gotrace/tracegen_internal.h"
#include "gotrace/tracegen_since_internal.h"
#include "gotrace/tracegen_states_internal.h"
#include "gotrace/tracegen_string_internal.h"
#include "gotrace/tracegen_uses_internal.h"
#include "gotrace/tracegen_warn_internal.h"

unsigned gen_uses(const struct gen *gen, const struct expr *expr)
{
	struct gen_symbol sym;

	if (!expr)
		return 0;
	switch (expr->kind) {
	case EXPR_NAME:
	case EXPR_PARAM:
	case EXPR_RESULT:
		return gen_find(gen, expr, &sym) && sym.is_result ? GEN_USES_RETURN
								  : GEN_USES_ENTRY;
	case EXPR_SPECIAL:
		return expr->number == SPECIAL_LATENCY || expr->number >= SPECIAL_STATES
			       ? GEN_USES_RETURN
			       : 0;
	case EXPR_PARAMS:
	case EXPR_LABEL: /* the call may give the goroutine other labels */
		return GEN_USES_ENTRY;
	case EXPR_TRACEID:
	case EXPR_CTX:
		return expr->a ? gen_uses(gen, expr->a) : GEN_USES_ENTRY;
	case EXPR_ERROR:
	case EXPR_RESULTS:
		return GEN_USES_RETURN;
	case EXPR_AFTER:
		return gen_uses(gen, expr->a) | GEN_USES_RETURN;
	case EXPR_SINCE: /* up to the event */
		return gen_uses(gen, expr->a) | (gen->returning ? GEN_USES_RETURN : 0);
	default:
		return gen_uses(gen, expr->a) | gen_uses(gen, expr->b) | gen_uses(gen, expr->c);
	}
}

static int constant(struct number *out, uint64_t value)
{
	*out = (struct number){0};
	snprintf(out->text, sizeof(out->text), "%" PRIu64 "ULL", value);
	return 0;
}

static int special_number(struct gen *gen, const struct expr *expr, struct number *out)
{
	static const char *const texts[] = {
		[SPECIAL_GOID] = "hit->goid",       [SPECIAL_PID] = "hit->tgid",
		[SPECIAL_TID] = "hit->tid",         [SPECIAL_CPU] = "hit->cpu",
		[SPECIAL_LATENCY] = "hit->latency", [SPECIAL_PARENT_GOID] = "hit->parent_goid",
	};

	if (expr->number == SPECIAL_COMM || expr->number == SPECIAL_FUNC)
		return gen_failed(errmsg_set(gen->err, "col %u: %s is text, not a number",
					     expr->col, expr_special_text(expr->number)));
	if (expr->number >= SPECIAL_STATES)
		return gen_state_number(gen, expr, out);
	if (expr->number == SPECIAL_PARENT_GOID)
		gen->uses |= TRACEGEN_PARENT;
	if (expr->number != SPECIAL_LATENCY)
		gen->uses |= TRACEGEN_IDENTITY;
	*out = (struct number){0};
	gen_var(gen, out->text);
	ctext_line(gen->out, "u64 %s = %s;", out->text, texts[expr->number]);
	return 0;
}

static int place_number(struct gen *gen, const struct expr *expr, struct number *out)
{
	struct place place;

	if (gen_place(gen, expr, &place))
		return -1;
	const struct gotype *type = place.type;
	bool is_signed = type->kind == GOTYPE_INT;

	/* as C promotes: types whose values fit in a signed 64-bit number are signed */
	*out = (struct number){.is_unsigned = !is_signed && type->size == 8,
			       .is_bool = type->kind == GOTYPE_BOOL,
			       .type = type};
	switch (type->kind) {
	case GOTYPE_BOOL:
	case GOTYPE_INT:
	case GOTYPE_UINT:
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
		break;
	case GOTYPE_UNKNOWN:
		if (type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8)
			break;
		/* fall through */
	default:
		return gen_failed(
			errmsg_set(gen->err, "col %u: %s is not a number", expr->col, type->name));
	}
	return gen_load(gen, &place, 0, type->size, is_signed, expr->col, out->text);
}

/* for `place == nil`: the place's first word; for x.(T), whether x holds a T */
static int nil_number(struct gen *gen, const struct expr *expr, struct number *out)
{
	struct place place;

	if (!gen_is_place(expr))
		return gen_failed(errmsg_set(gen->err, "col %u: this cannot be nil", expr->col));
	if (expr->kind == EXPR_ASSERT)
		return gen_assert_test(gen, expr, out);
	if (gen_place(gen, expr, &place))
		return -1;
	switch (place.type->kind) {
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
	case GOTYPE_SLICE:
	case GOTYPE_INTERFACE:
		*out = (struct number){.is_unsigned = true};
		return gen_load(gen, &place, 0, 8, false, expr->col, out->text);
	default:
		return gen_failed(errmsg_set(gen->err, "col %u: %s cannot be nil", expr->col,
					     place.type->name));
	}
}

static int compare_string(struct gen *gen, const struct expr *expr, const struct expr *literal,
			  const struct expr *other, struct number *out)
{
	struct place place;
	struct number equal;

	if (literal->kind == EXPR_STRING && other->kind == EXPR_STRING)
		return constant(out, (literal->len == other->len &&
				      !memcmp(literal->text, other->text, other->len)) ==
					     (expr->op == OP_EQ));
	if (other->kind == EXPR_SPECIAL)
		return gen_failed(errmsg_set(
			gen->err, "col %u: %s is not compared in the kernel: use -n or -f",
			other->col, expr_special_text(other->number)));
	if (!gen_is_place(other))
		return gen_failed(errmsg_set(gen->err, "col %u: this is not a string", other->col));
	if (other->kind == EXPR_TRACEID) {
		if (gen_trace_equal(gen, other, literal, &equal))
			return -1;
	} else if (gen_string_place(gen, other, &place) ||
		   gen_string_equal(gen, &place, literal, &equal)) {
		return -1;
	}
	*out = (struct number){.is_bool = true};
	gen_var(gen, out->text);
	ctext_line(gen->out, "u64 %s = %s%s;", out->text, expr->op == OP_NE ? "!" : "", equal.text);
	return 0;
}

/* the right side is computed only where the left side does not decide */
static int logical(struct gen *gen, const struct expr *expr, struct number *out)
{
	struct number left, right;

	if (gen_number(gen, expr->a, &left))
		return -1;
	*out = (struct number){.is_bool = true};
	gen_var(gen, out->text);
	ctext_line(gen->out, "u64 %s = %s != 0;", out->text, left.text);
	ctext_open(gen->out, "if (%s%s)", expr->op == OP_LOGICAL_OR ? "!" : "", out->text);
	if (gen_number(gen, expr->b, &right))
		return -1;
	ctext_line(gen->out, "%s = %s != 0;", out->text, right.text);
	ctext_close(gen->out);
	return 0;
}

static int compare_nil(struct gen *gen, const struct expr *expr, struct number *out)
{
	const struct expr *other = expr->a->kind == EXPR_NIL ? expr->b : expr->a;
	struct number word;

	if (expr->op != OP_EQ && expr->op != OP_NE)
		return gen_failed(errmsg_set(
			gen->err, "col %u: nil can only be compared with == and !=", expr->col));
	if (nil_number(gen, other, &word))
		return -1;
	*out = (struct number){.is_bool = true};
	gen_var(gen, out->text);
	ctext_line(gen->out, "u64 %s = %s %s 0;", out->text, word.text, expr_op_text(expr->op));
	return 0;
}

/* As C does: in unsigned arithmetic if either side is, else signed. */
static void arithmetic(struct gen *gen, enum expr_op op, const struct number *a,
		       const struct number *b, const struct number *out)
{
	const char *type = a->is_unsigned || b->is_unsigned ? "u64" : "s64";
	const char *sign = *type == 'u' ? "unsigned" : "signed";

	if (op == OP_DIV || op == OP_MOD)
		ctext_line(gen->out, "u64 %s = %s_%s(&bad, %s, %s);", out->text,
			   op == OP_DIV ? "divide" : "modulo", sign, a->text, b->text);
	else if (op == OP_SHL)
		ctext_line(gen->out, "u64 %s = %s < 64 ? %s << (%s & 63) : 0;", out->text, b->text,
			   a->text, b->text);
	else if (op == OP_SHR)
		ctext_line(gen->out, "u64 %s = shift_right_%s(%s, %s);", out->text,
			   a->is_unsigned ? "unsigned" : "signed", a->text, b->text);
	else
		ctext_line(gen->out, "u64 %s = (%s)%s %s (%s)%s;", out->text, type, a->text,
			   expr_op_text(op), type, b->text);
}

static int binary(struct gen *gen, const struct expr *expr, struct number *out)
{
	struct number a = {0}, b = {0};

	if (expr->op == OP_LOGICAL_AND || expr->op == OP_LOGICAL_OR)
		return logical(gen, expr, out);
	if (expr->a->kind == EXPR_NIL || expr->b->kind == EXPR_NIL)
		return compare_nil(gen, expr, out);
	if (expr->a->kind == EXPR_STRING || expr->b->kind == EXPR_STRING) {
		bool left = expr->a->kind == EXPR_STRING;

		if (expr->op != OP_EQ && expr->op != OP_NE)
			return errmsg_set(
				gen->err,
				"col %u: strings can only be compared with == and !=", expr->col);
		return compare_string(gen, expr, left ? expr->a : expr->b, left ? expr->b : expr->a,
				      out);
	}
	if (gen_number(gen, expr->a, &a) || gen_number(gen, expr->b, &b))
		return -1;
	bool compares = expr->op >= OP_LT && expr->op <= OP_NE;
	bool shifts = expr->op == OP_SHL || expr->op == OP_SHR;
	bool masks = expr->op == OP_AND || expr->op == OP_XOR || expr->op == OP_OR;

	*out = (struct number){.is_bool = compares || (masks && a.is_bool && b.is_bool),
			       .is_unsigned =
				       !compares && (a.is_unsigned || (b.is_unsigned && !shifts))};
	gen_var(gen, out->text);
	arithmetic(gen, expr->op, &a, &b, out);
	gen_warn(gen, expr, &a, &b);
	return 0;
}

static int unary(struct gen *gen, const struct expr *expr, struct number *out)
{
	struct number a;

	if (gen_number(gen, expr->a, &a))
		return -1;
	*out = (struct number){.is_bool = expr->op == OP_NOT,
			       .is_unsigned = expr->op == OP_COMPLEMENT && a.is_unsigned};
	gen_var(gen, out->text);
	ctext_line(gen->out, "u64 %s = %s%s;", out->text, expr_op_text(expr->op), a.text);
	return 0;
}

/* An argument's number is taken at entry and kept with the call. */
static int saved_number(struct gen *gen, const struct expr *expr, struct number *out)
{
	struct ctext *before = gen_enter_entry(gen);

	ctext_line(gen->out, "bad = 0;");
	if (gen_number(gen, expr, out))
		return -1;
	gen_leave_entry(gen, before, out->text);
	return 0;
}

static int after_number(struct gen *gen, const struct expr *expr, struct number *out)
{
	bool before = gen->after;

	gen->after = true;
	int ret = gen_number(gen, expr->a, out);

	gen->after = before;
	return ret;
}

static int no_number(struct gen *gen, const struct expr *expr)
{
	if (expr->kind == EXPR_STRING)
		return gen_failed(
			errmsg_set(gen->err, "col %u: a string is not a number", expr->col));
	if (expr->kind == EXPR_NIL)
		return gen_failed(
			errmsg_set(gen->err, "col %u: nil can only be compared", expr->col));
	return gen_failed(errmsg_set(gen->err, "col %u: a list is not a number", expr->col));
}

int gen_number(struct gen *gen, const struct expr *expr, struct number *out)
{
	if (gen->returning && !gen->after && gen_uses(gen, expr) == GEN_USES_ENTRY)
		return saved_number(gen, expr, out);
	if (gen_is_place(expr))
		return place_number(gen, expr, out);
	switch (expr->kind) {
	case EXPR_INT:
		return constant(out, expr->number);
	case EXPR_BOOL:
		constant(out, expr->number);
		out->is_bool = true;
		return 0;
	case EXPR_SPECIAL:
		return special_number(gen, expr, out);
	case EXPR_LEN:
	case EXPR_CAP:
		return gen_length(gen, expr, out);
	case EXPR_SINCE:
		return gen_since(gen, expr, out);
	case EXPR_AFTER:
		return after_number(gen, expr, out);
	case EXPR_UNARY:
		return unary(gen, expr, out);
	case EXPR_BINARY:
		return binary(gen, expr, out);
	case EXPR_STRCMP:
	case EXPR_PREFIX:
		return gen_string_call(gen, expr, out);
	default:
		return no_number(gen, expr);
	}
}
