/* SPDX-License-Identifier: Apache-2.0 */
/* The probe language of gotrace:
 *   [p:|r:][BINARY:]FUNCTION[(SIGNATURE)] [(PREDICATE)] ["FORMAT"[, EXPR...]]
 * Grammar: gotrace(8). Columns count from 1, in bytes of the PROBE as it was typed. */
#ifndef PROBESPEC_H
#define PROBESPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errmsg;

enum expr_kind {
	EXPR_INT,    /* number */
	EXPR_STRING, /* text, len */
	EXPR_BOOL,   /* number */
	EXPR_NIL,
	EXPR_NAME,    /* text: a parameter or result by its name */
	EXPR_PARAM,   /* number: N of goargN and argN, from 1 */
	EXPR_RESULT,  /* number: N of goretN, from 1; retval is 1 */
	EXPR_PARAMS,  /* goargs */
	EXPR_RESULTS, /* gorets */
	EXPR_SPECIAL, /* number: enum expr_special */
	EXPR_FIELD,   /* a.text */
	EXPR_INDEX,   /* a[b] */
	EXPR_DEREF,   /* *a */
	EXPR_LEN,     /* len(a) */
	EXPR_CAP,
	EXPR_UNARY,  /* op a */
	EXPR_BINARY, /* a op b */
	EXPR_STRCMP, /* STRCMP("text", a): true when equal */
};

enum expr_special {
	SPECIAL_GOID,
	SPECIAL_PID,
	SPECIAL_TID,
	SPECIAL_CPU,
	SPECIAL_COMM,
	SPECIAL_LATENCY,
	SPECIAL_FUNC,
	SPECIAL_PARENT_GOID,
};

enum expr_op {                /* C's, with C's precedence */
	       OP_NOT,        /* ! */
	       OP_COMPLEMENT, /* ~ */
	       OP_NEGATE,     /* - */
	       OP_MUL,
	       OP_DIV,
	       OP_MOD,
	       OP_ADD,
	       OP_SUB,
	       OP_SHL,
	       OP_SHR,
	       OP_LT,
	       OP_LE,
	       OP_GT,
	       OP_GE,
	       OP_EQ,
	       OP_NE,
	       OP_AND, /* & */
	       OP_XOR,
	       OP_OR,
	       OP_LOGICAL_AND,
	       OP_LOGICAL_OR,
};

struct expr {
	enum expr_kind kind;
	enum expr_op op;
	unsigned col;
	uint64_t number;
	char *text; /* NUL-terminated; strings may hold further NULs */
	size_t len;
	struct expr *a, *b;
};

struct probespec {
	bool at_return;
	char *target; /* "BINARY:FUNCTION", "FUNCTION" or ":FUNCTION", as typed */
	unsigned target_col;
	char *signature; /* "(x int) (n int, err error)", as typed; NULL: none */
	unsigned signature_col;
	struct expr *predicate; /* NULL: none */
	char *format;           /* escapes decoded; NULL: none */
	size_t format_len;
	unsigned *format_cols; /* of each byte of `format`, and of the closing quote */
	struct expr **args;
	size_t arg_count;
};

/* 0; -1 with *err ("col 34: ..."). `out` is to be freed after 0 only. */
int probespec_parse(const char *text, struct probespec *out, struct errmsg *err);
void probespec_free(struct probespec *spec); /* what it points to */

const char *expr_op_text(enum expr_op op);                /* "==" */
const char *expr_special_text(enum expr_special special); /* "$goid" */

#endif
