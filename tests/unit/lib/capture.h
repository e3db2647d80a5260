/* SPDX-License-Identifier: Apache-2.0 */
/* Makes records as the kernel side would, from Go's values laid out in this process's memory. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "values/value.h"

enum { CAPTURE_RECORD = 16384, CAPTURE_TYPES = 64 };

struct capture {
	uint8_t record[CAPTURE_RECORD];
	struct value_source source;
	struct gotypes *types;
	struct shape_limits limits;
	uint32_t end;
	struct {
		const struct gotype *type;
		bool direct;
	} held[CAPTURE_TYPES]; /* what interfaces can hold; descriptors' addresses are made up */
	size_t held_count;
};

/* values as Go lays them out */
struct capture_string {
	const void *text;
	int64_t len;
};
struct capture_slice {
	const void *array;
	int64_t len, cap;
};
struct capture_interface {
	uint64_t tab; /* a descriptor, or an itab's address */
	const void *data;
};
struct capture_itab {
	uint64_t inter, rtype;
};

void capture_init(struct capture *capture, const struct shape_limits *limits);
void capture_free(struct capture *capture);

/* Lays out a value of `type` and reads the one at `value` into the record. */
const struct shape *capture_value(struct capture *capture, const struct gotype *type,
				  const void *value);
/* Adds a type that interfaces may hold; returns the address of its made-up descriptor. */
uint64_t capture_rtype(struct capture *capture, const struct gotype *type, bool direct);

const struct gotype *capture_struct(struct capture *capture, const char *name, size_t count,
				    const struct gotype_field *fields);
const struct gotype *capture_map(struct capture *capture, const char *name, const char *key,
				 const struct gotype *value, bool swiss);
/* a defined type with a predeclared type's kind and size */
const struct gotype *capture_defined(struct capture *capture, const char *name, const char *of);

#endif
