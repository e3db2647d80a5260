// SPDX-License-Identifier: Apache-2.0
#include "probespec/expr.h"

#include <stdlib.h>
#include <string.h>

static const char *const op_texts[] = {
	[OP_NOT] = "!",         [OP_COMPLEMENT] = "~", [OP_NEGATE] = "-", [OP_MUL] = "*",
	[OP_DIV] = "/",         [OP_MOD] = "%",        [OP_ADD] = "+",    [OP_SUB] = "-",
	[OP_SHL] = "<<",        [OP_SHR] = ">>",       [OP_LT] = "<",     [OP_LE] = "<=",
	[OP_GT] = ">",          [OP_GE] = ">=",        [OP_EQ] = "==",    [OP_NE] = "!=",
	[OP_AND] = "&",         [OP_XOR] = "^",        [OP_OR] = "|",     [OP_LOGICAL_AND] = "&&",
	[OP_LOGICAL_OR] = "||",
};

static const char *const special_texts[] = {
	[SPECIAL_GOID] = "$goid", [SPECIAL_PID] = "$pid",
	[SPECIAL_TID] = "$tid",   [SPECIAL_CPU] = "$cpu",
	[SPECIAL_COMM] = "$comm", [SPECIAL_LATENCY] = "$latency",
	[SPECIAL_FUNC] = "$func", [SPECIAL_PARENT_GOID] = "$parent_goid",
};

/* The parser bounds how many parts an expression has, and so how deep this goes. */
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
	return op_texts[op];
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
