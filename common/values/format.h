/* SPDX-License-Identifier: Apache-2.0 */
/* A probe's format string: parsed, checked against types before tracing, and printed for each
 * event. Verbs: %d %i %u %x %X %o %c %t %s %q %v %+v %p %%, with width, '-', '0' and precision;
 * C's sizes l ll h are accepted and ignored. %{NAME:...} gives the text inside a name. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "values/value.h"

struct errmsg;
struct format;

/* `cols`: the column of each byte, and of the closing quote, for messages: "col 34: ...". NULL and
 * *err for what is no format. Caller frees. */
struct format *format_parse(const char *text, size_t len, const unsigned *cols, struct errmsg *err);
void format_free(struct format *format);

size_t format_verbs(const struct format *format);           /* how many arguments it takes */
bool format_follows(const struct format *format, size_t n); /* verb n is %+v */

/* %{NAME:...}, which prints what is inside, and names it in JSON; of %{NAME[]:...} each verb. */
struct format_group {
	const char *name; /* not NUL-terminated */
	size_t name_len;
	bool is_list;
	bool is_value;       /* it is one verb and nothing else */
	size_t first, verbs; /* number of the first verb, and how many there are */
	size_t from, to;     /* pieces; the module's own */
};

/* Group n; false: there are not so many. */
bool format_group(const struct format *format, size_t n, struct format_group *out);

enum format_arg_kind {
	FORMAT_MISSING, /* printed as ? */
	FORMAT_INT,     /* `number`, computed; `is_bool`, `is_unsigned` */
	FORMAT_TEXT,    /* `text`: $comm, $func */
	FORMAT_SHAPE,   /* a value */
	FORMAT_LIST,    /* goargs, gorets: values with their names */
	FORMAT_FAULT,   /* could not be read: `text` says how ("<fault>") */
};

struct format_list_item {
	const char *name;          /* NULL or "": none */
	const struct shape *shape; /* NULL: there is none */
	const char *fault;         /* why not ("<fault>"); NULL: "?" */
	bool is_guess;             /* to be marked as one */
	/* deep: a pointer is followed, as %+v does; typed: its type is said with its address */
	bool deep, typed;
	/* what the call has made of it, where that is not the same, or of its target if it is a
	 * pointer; NULL: nothing */
	const struct shape *after;
	const char *after_fault; /* why that cannot be told; NULL: it can */
	bool is_target;
};

struct format_arg {
	enum format_arg_kind kind;
	int64_t number;
	bool is_bool, is_unsigned;
	bool is_guess; /* INT, SHAPE: to be marked as one */
	const char *text;
	const struct shape *shape;
	const struct format_list_item *list;
	size_t list_count;
};

/* Does verb n take such an argument? `kind` and `type` (of a FORMAT_SHAPE) say what it will be.
 * -1 with *err: "col 34: %d does not print a string (name is a string)"; `what` names the
 * expression as typed. */
int format_check(const struct format *format, size_t n, const struct format_arg *arg,
		 const char *what, struct errmsg *err);

/* Prints; `source` is what the shapes lie in. Text from the program is escaped. */
void format_print(FILE *out, const struct format *format, const struct format_arg *args,
		  size_t count, const struct value_source *source);
/* The same of a group. */
void format_print_group(FILE *out, const struct format *format, const struct format_group *group,
			const struct format_arg *args, size_t count,
			const struct value_source *source);
/* Without a format: name="bob" n=3 opts=main.Opts{Loud:true} */
void format_print_list(FILE *out, const struct format_list_item *items, size_t count,
		       const struct value_source *source, enum value_style style);

#endif
