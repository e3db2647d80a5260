/* SPDX-License-Identifier: Apache-2.0 */
/* Values in Go's notation:
 *   "bob"  3  main.Opts{Loud:true}  []string{"a", "b"}  nil  1.5s  *errors.errorString("no key")
 * In place of what could not be read they say why: <fault>, <float in register>, ... */
#ifndef VALUE_H
#define VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "values/shape.h"

struct json;

struct value_source { /* what values are looked up in, besides their record */
	const uint8_t *record;
	uint32_t len;      /* bytes of it: nothing beyond is read, whatever the shape says */
	uint64_t bias;     /* of the file in the process's memory */
	bool no_addresses; /* pointers are "0x...", so that like calls have one text */
	struct shape_limits limits;
	/* The type whose descriptor is at this address in the file; NULL: unknown. */
	const struct gotype *(*type)(void *ctx, uint64_t rtype, bool *direct);
	/* Is the type's Error() method promoted from an embedded field? NULL: not known. */
	bool (*promotes_error)(void *ctx, uint64_t rtype);
	/* The name of the function at an address in the file; NULL: unknown. */
	const char *(*func)(void *ctx, uint64_t addr);
	void *ctx;
};

enum value_style {
	VALUE_PLAIN, /* %v of the whole value: an error by its bare message, else as VALUE_GO */
	VALUE_GO,    /* strings quoted, structs with type and field names */
	VALUE_DEEP,  /* %+v: and &{...} for pointers, maps with entries, one level */
	VALUE_TEXT,  /* %s: strings, []byte, errors bare */
};

/* Does value_print() put a question mark before the value, as it is a guess? */
bool value_is_marked(const struct shape *shape, const struct value_source *source);
/* GOTYPE_OPEN_FLAGS in words, as %v prints it; NULL: it is of another type, or was not read. Caller
 * frees. */
char *value_flags_text(const struct shape *shape, const struct value_source *source);
/* Numbers as numbers, strings as strings, structs as objects, slices as arrays, nil as null; all
 * else as a string in Go's notation. */
void value_json(struct json *json, const struct shape *shape, const struct value_source *source);

#endif
