/* SPDX-License-Identifier: Apache-2.0 */
/* A goroutine of a program that runs on, read by itself: it counts only if it has not moved
 * meanwhile. */
#ifndef SNAPSHOT_READING_INTERNAL_H
#define SNAPSHOT_READING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "goroutines/snapshot_args.h"
#include "frames/unwinder.h"

struct goroutine;
struct goroutine_fields;
struct memory;
struct snapshot;
struct snapshot_source;
struct waits;

enum {
	SNAPSHOT_READING_STACK_MAX = 256 << 10, /* bytes of a stack */
	SNAPSHOT_READING_TRIES = 8,             /* of what changes */
};

struct snapshot_reading {
	const struct snapshot_source *from;
	struct snapshot *out;
	uint64_t bytes_left;
	uint8_t bytes[SNAPSHOT_READING_STACK_MAX];
	size_t len;                     /* of what is in bytes[] */
	struct unwound_frames walks[2]; /* as read at first, and again */
	struct snapshot_args args[2];   /* the same of arguments */
};

struct snapshot_reading *snapshot_reading_new(const struct snapshot_source *from,
					      struct snapshot *out);
void snapshot_reading_free(struct snapshot_reading *r);
/* Adds the goroutine at `addr` to the snapshot, or tells there that it could not be read. */
void snapshot_reading_goroutine(struct snapshot_reading *r, uint64_t addr);

/* Parts of it. */
struct goroutine snapshot_reading_described(uint64_t addr, const struct goroutine_fields *g);
/* Unwinds the innermost `len` bytes of its stack. */
enum unwound snapshot_reading_unwind(struct snapshot_reading *r, const struct goroutine_fields *g,
				     const uint8_t *bytes, size_t len, bool again);
/* Appends what it waits for, as it stands in `mem`. */
void snapshot_reading_waits(const struct snapshot_reading *r, const struct memory *mem,
			    uint64_t addr, const struct goroutine_fields *g, const uint8_t *bytes,
			    size_t len, struct waits *waits);
/* Keeps the stack that was unwound at first. false: it is none, or there are too many. */
bool snapshot_reading_keep(struct snapshot_reading *r, enum unwound how, struct goroutine *g);
void snapshot_reading_add(struct snapshot_reading *r, const struct goroutine *g);

#endif
