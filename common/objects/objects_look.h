/* SPDX-License-Identifier: Apache-2.0 */
/* The objects in one program's heap by their types, read while it stands still or from its core
 * file, and printed by goheap's options. */
#ifndef OBJECTS_LOOK_H
#define OBJECTS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errmsg;
struct goprocesses_one;
struct pattern;

struct objects_look {
	bool json;
	bool has_printed;          /* something stands before this */
	struct pattern **patterns; /* types that one matches; none: all */
	size_t pattern_count;
	/* what keeps objects alive is shown, of the types that this matches, or of one; none: the
	 * objects by their types */
	struct pattern *retained;
	uint64_t retained_addr; /* 0: of none */
};

/* Stops a process that runs, for as long as it takes to copy those of its objects that have
 * pointers, and says on stderr how long that was. -1 with *err. *count: how many rows were shown.
 */
int objects_look(const struct objects_look *look, const struct goprocesses_one *one,
		 uint64_t *count, struct errmsg *err);

#endif
