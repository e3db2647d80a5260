/* SPDX-License-Identifier: Apache-2.0 */
/* Reads values from an event's record, and never beyond its end. */
#ifndef VALUE_READ_H
#define VALUE_READ_H

#include "values/value.h"

struct value_at { /* a value within a shape's own bytes */
	const struct shape *shape;
	const struct gotype *type;
	uint32_t off; /* from where the shape's own bytes begin */
};

enum value_got {
	VALUE_GOT,
	VALUE_CUT,         /* not among the bytes that were read */
	VALUE_FAULT,       /* its page was not in memory */
	VALUE_IN_REGISTER, /* in a floating-point register */
	VALUE_NIL,
};

struct value_at value_of(const struct shape *shape);

struct value_bytes { /* of a string, a slice */
	const uint8_t *bytes;
	uint32_t len;                /* of what was read */
	uint64_t count;              /* elements that there are */
	const struct shape_ref *ref; /* NULL: nothing was read */
};

enum value_got value_read_bytes(const struct value_source *source, const struct value_at *at,
				struct value_bytes *out);

struct value_pointee {
	struct shape shape;
	struct value_at at;
};

struct value_held {                /* by an interface */
	uint64_t rtype;            /* in the file; 0: not read */
	uint64_t word;             /* its data */
	const struct gotype *type; /* NULL: unknown */
	struct value_at value;     /* for a pointer: what it points to */
	bool pointer;
	bool is_error; /* the interface is of type error */
	bool fault;
	struct gotypes *memory;
};

#endif
