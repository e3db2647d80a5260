/* SPDX-License-Identifier: Apache-2.0 */
/* Go's PC-value tables: a value for each instruction of a function, as varint pairs of (zig-zag
 * value delta, PC delta in quanta). Format: Go's src/runtime/symtab.go, step(). */
#ifndef PCVALUE_INTERNAL_H
#define PCVALUE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcvalue {
	const uint8_t *next, *limit; /* what is left of the table's bytes */
	uint64_t from, to;           /* addresses [from, to) that have this value */
	int32_t value;
	uint8_t quantum; /* bytes: 1 amd64, 4 arm64 */
	bool started, malformed;
};

/* `data`, `len` bytes, must live as long as the iteration. */
void pcvalue_begin(struct pcvalue *pcv, const uint8_t *data, size_t len, uint64_t entry,
		   unsigned quantum);
/* Steps to the first or next run; false at the end, or with `malformed` set. Every run has at
 * least one instruction. */
bool pcvalue_next(struct pcvalue *pcv);

#endif
