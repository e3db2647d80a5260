/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up program's memory, and what the program does while it is read. */
#ifndef FAKEMEM_H
#define FAKEMEM_H

#include <stddef.h>
#include <stdint.h>

#include "goroutines/memory.h"
#include "sites/goruntime.h"

enum { FAKEMEM_BASE = 0x10000, FAKEMEM_MAX = 0x100000 };

extern struct fakemem {
	uint8_t bytes[FAKEMEM_MAX]; /* from FAKEMEM_BASE on */
	size_t size, reads;
	uint64_t addr;             /* where it is read */
	uint64_t again;            /* the same bytes can be read this much higher too; 0: cannot */
	void (*before_read)(void); /* the program runs on; NULL: it does not */
} fakemem;
extern const struct memory fakemem_memory;
extern const struct goruntime fakemem_layout; /* of a g */

void fakemem_begin(size_t size); /* all bytes are 0, and nothing has been read */
void fakemem_put(uint64_t addr, uint64_t value);

#endif
