/* SPDX-License-Identifier: Apache-2.0 */
/* How a value lies in an event's record: its own bytes, then what they point to, as far as it is
 * read at all. The generator of the kernel side writes by it, and the printer reads by it.
 *
 *   name string       at 0: pointer, length; state_at 16; at 24: up to 80 bytes of text
 *   opts []main.Opts  at 104: three words; state_at 128; at 136: elements, and what those point to
 *
 * Everything in a record is aligned to 8 bytes. */
#ifndef SHAPE_H
#define SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golang/gotype.h"

struct shape_limits {
	uint32_t string_max;  /* -Z: bytes of a string that are kept; of a slice too, but at least
			       * SHAPE_ELEMS of its elements */
	uint32_t record_max;  /* bytes a record may take in all: past it nothing more is read */
	bool follow;          /* %+v: what pointers point to, and maps' entries, one level */
	uint32_t dynamic_max; /* bytes of a string in an interface; 0: string_max */
	uint32_t *missing;    /* counts what the record had no room for; NULL: nobody asks */
};

enum { SHAPE_ELEMS = 8, SHAPE_DEPTH = 3 };

enum shape_what {
	SHAPE_BYTES, /* of a string, slice: `max` bytes at most, length-many elements; of a PAIR as
		      * if it were a string */
	SHAPE_POINTEE, /* of a pointer; `elems` has its one element */
	SHAPE_CODE,    /* of a func: the closure's first word, 8 bytes */
	SHAPE_MAP,     /* of a map: its header, 48 bytes; a count first; `group` under %+v */
	SHAPE_GROUP,   /* of a map: its first group or bucket of 8 slots, as it is in memory: `max`
			* bytes from the address that the header h leads to (see below) */
	SHAPE_DYNAMIC, /* of an interface: struct trace_dynamic and what follows it; of a PAIR too:
			* no type in it if it proves to be none */
};

/* Where a map's GROUP is, by the words of its header h. Go's src/internal/runtime/maps/map.go and
 * table.go from 1.24 (type->swiss): with dirLen, h[3], zero it is at dirPtr, h[2]; else
 * dirPtr is a table of pointers: table = *(u64 *)h[2], group = *(u64 *)(table + 16).
 * Before (src/runtime/map.go): buckets, h[2]; nil where the map is empty: TRACE_NIL. */

struct shape;

struct shape_ref { /* something that a value's own bytes refer to */
	enum shape_what what;
	const struct gotype *type; /* of what holds the reference: string, slice, pointer, ... */
	uint32_t off;              /* of the reference in its holder's own bytes */
	uint32_t state_at;         /* in the record: s64, bytes read or a TRACE_ state; DYNAMIC has
				    * its own: unused */
	uint32_t at, max;          /* in the record: where the bytes go, and how many at most */
	struct shape *elems;       /* BYTES of elements that refer to something themselves, POINTEE,
				    * GROUP (keys and values in turn); NULL: plain bytes */
	size_t elem_count;
	struct shape_ref *group; /* MAP */
	uint32_t levels;         /* DYNAMIC: so many interfaces, one inside the other, at most */
};

struct shape {
	const struct gotype *type;
	uint32_t at;    /* in the record: its own bytes */
	uint32_t size;  /* how many of them are there; less than type->size: the rest is not read */
	uint64_t holes; /* bit n: its bytes [4n, 4n+4) are in a floating-point register */
	struct shape_ref *refs;
	size_t ref_count;
};

/* Lays out a value of `type` at *end, which moves on. `memory` owns it. */
struct shape *shape_new(struct gotypes *memory, const struct gotype *type,
			const struct shape_limits *limits, uint32_t *end);

/* References of a value of `type` whose own bytes are kept already at `at`: as for shape_new. */
void shape_init(struct gotypes *memory, const struct gotype *type, uint32_t at,
		const struct shape_limits *limits, uint32_t *end, struct shape *out);

struct trace_dyntype;
/* How the kernel side is to read values of `type` out of an interface: `size` bytes from where the
 * data word points (`direct`: none), then at most string_max bytes of each ref, whole elements or
 * not, and the interface inside. */
void shape_dyntype(const struct gotype *type, bool direct, const struct shape_limits *limits,
		   struct trace_dyntype *out);

#endif
