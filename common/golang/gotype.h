/* SPDX-License-Identifier: Apache-2.0 */
/* Go's types, whatever they are known from: debug information, run-time type information, or a
 * signature that the user typed. Code that prints or reads values uses only these. */
#ifndef GOTYPE_H
#define GOTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gotype_kind {
	GOTYPE_UNKNOWN, /* only its size is known */
	GOTYPE_BOOL,
	GOTYPE_INT,
	GOTYPE_UINT, /* uintptr too */
	GOTYPE_FLOAT,
	GOTYPE_COMPLEX,
	GOTYPE_STRING, /* words: pointer, length */
	GOTYPE_SLICE,  /* words: pointer, length, capacity */
	GOTYPE_ARRAY,
	GOTYPE_STRUCT,
	GOTYPE_POINTER,   /* unsafe.Pointer: elem NULL */
	GOTYPE_MAP,       /* a pointer to the run time's map */
	GOTYPE_CHAN,      /* a pointer */
	GOTYPE_FUNC,      /* a pointer to a closure, whose first word is the code's address */
	GOTYPE_INTERFACE, /* words: type or itab, data */
	GOTYPE_PAIR,      /* two words of a type that is not known: of a string, an interface, a
			   * struct */
};

/* The type that signatures give to flags of open(2), which are an int in Go; see gotrace(8). */
#define GOTYPE_OPEN_FLAGS "open.Flags"

struct gotype;

struct gotype_field {
	const char *name;
	const struct gotype *type;
	uint64_t off; /* bytes */
	bool embedded;
};

struct gotype {
	enum gotype_kind kind;
	bool defined; /* has a name of its own: main.T, time.Duration, error; not []int, not int */
	bool has_methods; /* INTERFACE: not empty, so that its first word is an itab */
	bool swiss;       /* MAP: of Go 1.24 and later */
	uint32_t align;   /* bytes */
	uint64_t size;    /* bytes */
	const char *name; /* as Go prints it: "main.T", "map[string]int", "*http.Request" */
	const struct gotype *elem;   /* POINTER, SLICE, ARRAY, CHAN; a MAP's values; of an UNKNOWN
				      * its words, as a struct or PAIR; or NULL */
	const struct gotype *key;    /* MAP */
	uint64_t count;              /* ARRAY */
	struct gotype_field *fields; /* STRUCT */
	size_t field_count;
	uint64_t rtype; /* virtual address of its run-time descriptor; 0: not known */
};

/* Where types and signatures live, until it is freed. */
struct gotypes;

struct gotypes *gotypes_new(void);
void gotypes_free(struct gotypes *types); /* NULL is all right */

void *gotypes_alloc(struct gotypes *types, size_t count, size_t size);         /* cleared */
const char *gotypes_text(struct gotypes *types, const char *text, size_t len); /* a copy */

/* A new one to be filled in: providers make recursive types this way. `name` is copied. */
struct gotype *gotypes_add(struct gotypes *types, enum gotype_kind kind, const char *name);

/* "int", "uint8", "byte", "rune", "string", "error", "any", "unsafe.Pointer", ...; NULL: none of
 * Go's predeclared types. The same answer each time. */
const struct gotype *gotypes_basic(struct gotypes *types, const char *name);

/* No type is larger, in bytes: more than any process can hold. */
#define GOTYPE_SIZE_MAX (UINT64_C(1) << 47)

/* Types made of others, with their name, size and alignment. The same answer each time. `elem` has
 * its final size and, for its name to be right, its final name. An array larger than
 * GOTYPE_SIZE_MAX becomes a GOTYPE_UNKNOWN of size 0. */
const struct gotype *gotypes_pointer(struct gotypes *types, const struct gotype *elem);
const struct gotype *gotypes_slice(struct gotypes *types, const struct gotype *elem);

/* The field of a struct, or of what is embedded in it, that Go would select; NULL: there is none,
 * or several. Its offset from the struct's start is in *off. Where an embedded pointer is on the
 * way, *through is that field and *off its offset: follow it and ask what it points to again.
 * Otherwise *through is NULL. `through` NULL: embedded pointers are not looked through. */
const struct gotype_field *gotype_field(const struct gotype *type, const char *name, uint64_t *off,
					const struct gotype_field **through);

#endif
