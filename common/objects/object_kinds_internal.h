/* SPDX-License-Identifier: Apache-2.0 */
/* What an object of the heap is: a value of a type, elements of one, a part of a map or channel,
 * the variables of a closure. Each kind has a small number. */
#ifndef OBJECT_KINDS_INTERNAL_H
#define OBJECT_KINDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

struct gotype;

enum object_role {
	OBJECT_VALUE,
	OBJECT_ARRAY,     /* elements of `type`, as make and append allocate them */
	OBJECT_MAP,       /* its header; `type`: of its buckets or groups */
	OBJECT_TABLE,     /* of a large map of Go 1.24 and later */
	OBJECT_DIRECTORY, /* of its tables */
	OBJECT_CHAN,      /* `type`: of its elements */
	OBJECT_BUFFER,    /* of a channel, where it is an object of its own */
	OBJECT_FUNC,      /* a closure: of the function at address `type` */
};

/* numbers of kinds without a type; others follow */
enum { OBJECT_UNKNOWN, OBJECT_SEVERAL, OBJECT_TINY, OBJECT_STRING, OBJECT_FIRST };

struct object_kind {
	enum object_role role;
	const void *of;            /* what tells it from others of its role */
	const struct gotype *type; /* NULL: of a closure */
	char *name;                /* as it is shown */
	uint64_t objects, bytes;
};

struct object_kinds {
	struct object_kind *all; /* by number, less OBJECT_FIRST */
	size_t count, cap;
	struct index index;
	bool full; /* there were more: some are unknown */
};

void object_kinds_free(struct object_kinds *kinds); /* what it points to */
/* The number of a kind; OBJECT_UNKNOWN: there are too many. `name` is what is called for a new one:
 * its name, malloc'd. */
uint16_t object_kinds_number(struct object_kinds *kinds, enum object_role role, const void *of,
			     const struct gotype *type, const char *name);
const struct object_kind *object_kinds_get(const struct object_kinds *kinds, uint16_t number);
/* Two kinds that one object is said to be: which of them it is, as the one contains the other.
 * OBJECT_SEVERAL: neither does. */
uint16_t object_kinds_merge(const struct object_kinds *kinds, uint16_t a, uint16_t b);

#endif
