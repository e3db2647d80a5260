/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a goroutine's struct g. Go's src/runtime/runtime2.go. */
#ifndef GOROUTINE_FIELDS_INTERNAL_H
#define GOROUTINE_FIELDS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct goroutine;
struct memory;
struct snapshot_source;

/* what tells that a goroutine has not moved, and where its stack is */
struct goroutine_fields {
	uint64_t stack_lo, stack_hi, sp, pc, syscall_sp, syscall_pc, goid;
	uint64_t waitsince, parent, created_by, start;
	uint64_t link; /* saved with sp and pc: where the last call returns to, or 0 */
	uint64_t waiting, timer, sleep_when, m;
	uint64_t bubble, labels; /* addresses; 0: it has none */
	uint32_t status;
	uint8_t reason;
	uint8_t tracking_seq; /* 0, where it is not known */
	bool locked;
	bool interrupted; /* pc is not a return address, but has been made to look like one */
};

/* From `mem`, be it the source's own or not. false: it is not there. */
bool goroutine_fields_read(const struct snapshot_source *from, const struct memory *mem,
			   uint64_t addr, struct goroutine_fields *out);
bool goroutine_fields_same(const struct goroutine_fields *a, const struct goroutine_fields *b);
/* Is a goroutine that was read before where it was then? */
bool goroutine_fields_match(const struct goroutine_fields *now, const struct goroutine *before);
/* Is it in a state in which a goroutine has a stack that stays? */
bool goroutine_fields_has_stack(const struct goroutine_fields *g);
/* It can be no goroutine's. */
bool goroutine_fields_wild(const struct goroutine_fields *g);
/* It has ended, or is only being made. */
bool goroutine_fields_dead(const struct goroutine_fields *g);
uint64_t goroutine_fields_sp(const struct goroutine_fields *g); /* where its stack is left */

#endif
