/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of gccgo's functions, and what Go calls these: "net_1http.conn.serve" is
 * net/http.(*conn).serve, "main.main..func1" main.main.func1. The names that the compiler makes
 * are those of GCC's gcc/go/gofrontend/names.cc, its escapes those of go-encode-id.cc. */
#ifndef GCCGONAME_H
#define GCCGONAME_H

#include <stdbool.h>
#include <stddef.h>

enum gccgoname_kind {
	GCCGONAME_FUNC,    /* "main.f", "main.T.M", and closures in them */
	GCCGONAME_STUB,    /* of a promoted method, or of one reached through an interface */
	GCCGONAME_EQ,      /* compares two values of a type */
	GCCGONAME_HASH,    /* hashes one */
	GCCGONAME_THUNK,   /* of a go or defer statement */
	GCCGONAME_INIT,    /* a function init of the source */
	GCCGONAME_IMPORT,  /* runs these, and initialises variables */
	GCCGONAME_LITERAL, /* a function literal outside of functions */
};

struct gccgoname_span {
	const char *text; /* not terminated */
	size_t len;
};

struct gccgoname { /* spans point into the symbol */
	enum gccgoname_kind kind;
	struct gccgoname_span package, type, name; /* type: of a method, else empty */
	struct gccgoname_span closure, number;     /* "func1" of main.f..func1; "0" of ..init0 */
};

/* false: this is not the symbol of a function in Go (C, data, a part of a function, or the inner
 * half of a function that recovers, which is called by the function of that name only). */
bool gccgoname_parse(const char *symbol, struct gccgoname *out);
/* The function's name in Go, to be freed. gccgo's symbols do not tell whether a method's receiver
 * is a pointer. */
char *gccgoname_text(const struct gccgoname *name, bool pointer);
/* "net/http" of "net_1http", to be freed; what is no escape stays. */
char *gccgoname_decode(const char *text, size_t len);

/* How long the symbol is without what GCC adds to those of functions that it changed
 * ("main.f.constprop.0"); the same length when it added nothing. */
size_t gccgoname_base(const char *symbol);

#endif
