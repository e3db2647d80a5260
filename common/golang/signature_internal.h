/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of signature share: a text on its way through the parser. */
#ifndef SIGNATURE_INTERNAL_H
#define SIGNATURE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "golang/signature.h"

enum sigtoken_kind {
	SIGTOKEN_END,
	SIGTOKEN_NAME, /* "x", "net/http.Request", "main.List[int]"; keywords too */
	SIGTOKEN_NUMBER,
	SIGTOKEN_TAG,      /* "`json:"x"`" of a struct's field */
	SIGTOKEN_ELLIPSIS, /* ... */
	SIGTOKEN_ARROW,    /* <- */
	SIGTOKEN_MARK,     /* one character: of "()[]{},;*", or one that has no meaning here */
};

struct sigtoken {
	enum sigtoken_kind kind;
	size_t start, len; /* in the text */
	bool plain;        /* NAME: a Go identifier, without dots and slashes */
	bool on_new_line;  /* the first of its line */
};

struct sigparser {
	struct gotypes *types;
	const struct signature_names *names;
	const char *text;
	struct sigtoken token; /* the next one */
	unsigned depth;        /* types being parsed inside each other */
	size_t *pos;
	struct errmsg *err;
};

struct sigparam {                 /* one of a list, perhaps of unknown type */
	size_t start, name_start; /* of its type and of its name in the text */
	const char *name;
	const struct gotype *type; /* of `...T`: a slice */
	bool variadic;
};

struct sigparams {
	struct sigparam *items;
	size_t count, cap;
};

/* signature_lexer.c */
void sig_advance(struct sigparser *parser);
bool sig_is(const struct sigparser *parser, char mark);
bool sig_is_word(const struct sigparser *parser, const char *keyword);
bool sig_take(struct sigparser *parser, char mark); /* steps over it, if it is next */
/* As errmsg_set; the error is about the text at `start`. Always -1. */
int sig_error(struct sigparser *parser, size_t start, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int sig_expected(struct sigparser *parser, const char *what); /* "WHAT expected, not TOKEN" */
int sig_expect(struct sigparser *parser, char mark);
/* Adds to a text that the caller frees, NULL at first. */
void sig_append(char **text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* signature_type.c, signature_struct.c: NULL after an error */
bool sig_begins_type(const struct sigparser *parser);
const struct gotype *sig_type(struct sigparser *parser);
const struct gotype *sig_named_type(struct sigparser *parser, const struct sigtoken *token);
const struct gotype *sig_struct(struct sigparser *parser);
const struct gotype *sig_interface(struct sigparser *parser);
/* 0; -1 with an error where only the type's name is known */
int sig_check_size(struct sigparser *parser, const struct gotype *type, size_t start);

/* signature.c */
/* Reads what follows "func" or a method's name, "(int) error", and appends it to *name. */
int sig_func_name(struct sigparser *parser, char **name);

/* One type: "*main.T", "[]string". NULL as above. */
const struct gotype *signature_type(struct gotypes *types, const struct signature_names *names,
				    const char *text, size_t *pos, struct errmsg *err);

#endif
