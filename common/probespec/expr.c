// SPDX-License-Identifier: Apache-2.0
#include "probespec/expr_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct op {
	const char *text;
	unsigned precedence; /* 0: a unary operator */
} ops[] = {
	[OP_NOT] = {"!", 0},  [OP_COMPLEMENT] = {"~", 0},   [OP_NEGATE] = {"-", 0},
	[OP_MUL] = {"*", 10}, [OP_DIV] = {"/", 10},         [OP_MOD] = {"%", 10},
	[OP_ADD] = {"+", 9},  [OP_SUB] = {"-", 9},          [OP_SHL] = {"<<", 8},
	[OP_SHR] = {">>", 8}, [OP_LT] = {"<", 7},           [OP_LE] = {"<=", 7},
	[OP_GT] = {">", 7},   [OP_GE] = {">=", 7},          [OP_EQ] = {"==", 6},
	[OP_NE] = {"!=", 6},  [OP_AND] = {"&", 5},          [OP_XOR] = {"^", 4},
	[OP_OR] = {"|", 3},   [OP_LOGICAL_AND] = {"&&", 2}, [OP_LOGICAL_OR] = {"||", 1},
};

static const char *const special_texts[] = {
	[SPECIAL_GOID] = "$goid",       [SPECIAL_PID] = "$pid",
	[SPECIAL_TID] = "$tid",         [SPECIAL_CPU] = "$cpu",
	[SPECIAL_COMM] = "$comm",       [SPECIAL_LATENCY] = "$latency",
	[SPECIAL_FUNC] = "$func",       [SPECIAL_PARENT_GOID] = "$parent_goid",
	[SPECIAL_RUNNING] = "$running", [SPECIAL_RUNNABLE] = "$runnable",
	[SPECIAL_BLOCKED] = "$blocked", [SPECIAL_SYSCALL] = "$syscall",
	[SPECIAL_UNKNOWN] = "$unknown",
};

/* The parser limits an expression's parts, and thereby the depth of this recursion. */
void expr_free(struct expr *expr)
{
	if (!expr)
		return;
	expr_free(expr->a);
	expr_free(expr->b);
	expr_free(expr->c);
	free(expr->text);
	free(expr);
}

const char *expr_op_text(enum expr_op op)
{
	return ops[op].text;
}

unsigned expr_op_precedence(enum expr_op op)
{
	return ops[op].precedence;
}

const char *expr_special_text(enum expr_special special)
{
	return special_texts[special];
}

int expr_special_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(special_texts) / sizeof(special_texts[0]); i++)
		if (strlen(special_texts[i]) == len && !memcmp(special_texts[i], name, len))
			return i;
	return -1;
}

bool expr_special_at_return(enum expr_special special)
{
	return special == SPECIAL_LATENCY || special >= SPECIAL_STATES;
}

int expr_special_without_dollar(const char *name)
{
	static const char *const latency[] = {"elapsed", "duration", "lat"};

	for (size_t i = 0; i < sizeof(latency) / sizeof(latency[0]); i++)
		if (!strcmp(name, latency[i]))
			return SPECIAL_LATENCY;
	for (size_t i = 0; i < sizeof(special_texts) / sizeof(special_texts[0]); i++)
		if (!strcmp(name, special_texts[i] + 1))
			return i;
	return -1;
}
