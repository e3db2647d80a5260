/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the types of a heap's objects. What tells a type for certain are the words
 * before large objects (from Go 1.22 on) and interface values; from there pointers lead on, whose
 * types are known by the fields that they are in. */
#ifndef OBJECT_WALK_INTERNAL_H
#define OBJECT_WALK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "objects/object_kinds_internal.h"

struct gotype;
struct memory;
struct program;
struct rtti;
struct span;
struct spans;
struct spans_slot;

struct object_place { /* values of one type, one after the other */
	uint64_t addr, count;
	const struct gotype *type;
	enum object_role role;
	bool buckets; /* of a map: their last word leads to another one, up to Go 1.23 */
};

struct object_walk {
	const struct spans *spans;
	const struct memory *mem;  /* as of when the spans were read */
	const struct memory *live; /* where itabs are that were made at run time */
	const struct program *prog;
	struct rtti *rtti;
	uint64_t bias;
	uint64_t types, types_end; /* where descriptors are, in memory */
	/* its own: */
	uint16_t *kind_of; /* by the slot's number */
	struct object_kinds kinds;
	struct object_place *todo;
	size_t todo_count, todo_cap;
	struct object_place *parts; /* of objects, that were looked at */
	size_t part_count, part_cap;
	struct index part_index;
	uint16_t processors; /* the kind of the runtime's structs p; OBJECT_UNKNOWN: not found */
	uint64_t words_left;
	bool strict;  /* what is found is not to be trusted if it is no whole object */
	bool gave_up; /* there was more to look at than there can be in a real program */
};

/* Those that are told by their headers, and all that these lead to. */
void object_walk_headers(struct object_walk *walk);
/* Looks for interface values in these bytes, and follows them. */
void object_walk_words(struct object_walk *walk, uint64_t addr, uint64_t len);
/* The same in all objects of which nothing is known. */
void object_walk_unknown(struct object_walk *walk);
/* Is it certain what the object of this slot is? */
bool object_walk_is_certain(const struct object_walk *walk, const struct spans_slot *slot);
void object_walk_end(struct object_walk *walk); /* frees what is its own */

/* --- between its parts --- */

/* Once for each thing that is looked at; false: there were too many. */
bool object_walk_spend(struct object_walk *walk);
uint64_t object_walk_word(const struct object_walk *walk, uint64_t addr);       /* 0: not there */
const struct gotype *object_walk_type(struct object_walk *walk, uint64_t addr); /* in memory */
/* At `addr` are values of this type: remembers it of the object, if they are all of it, and to look
 * at them. */
void object_walk_reach(struct object_walk *walk, const struct object_place *place);
bool object_walk_has_pointers(const struct object_walk *walk, const struct gotype *type);
/* How long the object is that begins at `addr`, in bytes; 0: none begins there. */
uint64_t object_walk_bytes(const struct object_walk *walk, uint64_t addr);
/* The object that begins at `addr` is of this kind; false: that is not new. */
bool object_walk_set(struct object_walk *walk, uint64_t addr, uint16_t kind);
/* All of the object that begins at `addr`, as buckets or the like */
void object_walk_whole(struct object_walk *walk, struct object_place place);
/* Looks at a value, and at one that an interface holds in its own word. */
void object_walk_value(struct object_walk *walk, uint64_t addr, const struct gotype *type);
void object_walk_pointer(struct object_walk *walk, const struct gotype *type, uint64_t word);

#endif
