/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of gotrace's probe language as trees. Grammar: gotrace(8). */
#ifndef EXPR_H
#define EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
enum expr_kind {
	EXPR_INT,     /* number */
	EXPR_STRING,  /* text, len */
	EXPR_BOOL,    /* number */
	EXPR_NIL,     /* nothing else */
	EXPR_NAME,    /* text: a parameter or result by its name */
	EXPR_PARAM,   /* number: N of goargN and argN, from 1; text: as typed */
	EXPR_RESULT,  /* number: N of goretN, from 1; retval is 1; text: as typed */
	EXPR_ERROR,   /* $err: the last result, where that is an error */
	EXPR_PARAMS,  /* goargs: the root of an argument, never part of another expression */
	EXPR_RESULTS, /* gorets: likewise */
	EXPR_SPECIAL, /* number: enum expr_special */
	EXPR_LABEL,   /* $label("text"): of the goroutine; text, len */
	EXPR_TRACEID, /* $traceid: of the context a; NULL: of the call's */
	EXPR_CTX,     /* $ctx("text", b): the context's value under a key of type `text`; the key
		       * b may be NULL; a as above */
	EXPR_FIELD,   /* a.text */
	EXPR_INDEX,   /* a[b] */
	EXPR_SLICE,   /* a[b:c]; b, c may be NULL */
	EXPR_AFTER,   /* after(a): the value of a when the call returns */
	EXPR_ASSERT,  /* a.(text): the value in the interface a, if of this type */
	EXPR_DEREF,   /* *a */
	EXPR_LEN, EXPR_CAP, EXPR_SINCE, /* len(a), cap(a); since(a): ns from the time a until the event */
	EXPR_UNARY,   /* op a */
	EXPR_BINARY,  /* a op b */
	EXPR_STRCMP,  /* STRCMP("text", a): true when equal; text, len */
	EXPR_PREFIX   /* hasprefix(a, "text"): true when a begins with it; text, len */
};

enum expr_special {
	SPECIAL_GOID, SPECIAL_PID, SPECIAL_TID, SPECIAL_CPU, SPECIAL_COMM,
	SPECIAL_LATENCY, SPECIAL_FUNC, SPECIAL_PARENT_GOID, SPECIAL_STATES,
	/* from there on: parts of the latency, by the goroutine's state */
	SPECIAL_RUNNING = SPECIAL_STATES, SPECIAL_RUNNABLE, SPECIAL_BLOCKED, SPECIAL_SYSCALL, SPECIAL_UNKNOWN
};

enum expr_op { /* C's, with C's precedence */
	OP_NOT, OP_COMPLEMENT, OP_NEGATE, /* ! ~ - */
	OP_MUL, OP_DIV, OP_MOD, OP_ADD, OP_SUB, OP_SHL, OP_SHR,
	OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE,
	OP_AND, OP_XOR, OP_OR, /* & ^ | */
	OP_LOGICAL_AND, OP_LOGICAL_OR, OP_COUNT
};
/* clang-format on */

struct expr {
	enum expr_kind kind;
	enum expr_op op;
	/* column of its first byte; FIELD: of the field's name, INDEX, SLICE: of the bracket,
	 * BINARY: of the operator. In bytes of the PROBE, from 1. */
	unsigned col;
	unsigned from, to; /* its text, parentheses included: offsets in the PROBE */
	bool in_parentheses;
	uint64_t number;
	char *text; /* NUL-terminated; strings may hold further NULs */
	size_t len; /* of text */
	struct expr *a, *b, *c;
};

const char *expr_op_text(enum expr_op op);                /* "==" */
const char *expr_special_text(enum expr_special special); /* "$goid" */
bool expr_special_at_return(enum expr_special special);   /* is it known at return only? */
/* The one that a name without the dollar means: "latency", "elapsed"; -1: none. */
int expr_special_without_dollar(const char *name);

#endif
