/* SPDX-License-Identifier: Apache-2.0 */
/* A small core file put together in memory, for tests that damage it. */
#ifndef COREDUMP_H
#define COREDUMP_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

enum {
	COREDUMP_SIZE = 0x4000,
	COREDUMP_NOTES = 0x400, /* file offsets */
	COREDUMP_LOW = 0x2000,
	COREDUMP_HIGH = 0x3000,
	COREDUMP_LOW_ADDR = 0x500000, /* of 0x1000 bytes each, the second right behind the first */
	COREDUMP_HIGH_ADDR = 0x501000,
	COREDUMP_GAP_ADDR = 0x502000, /* of which the file has nothing */
	COREDUMP_PID = 4711,
	COREDUMP_THREADS = 3,
	COREDUMP_BIAS = 0x10000000, /* of a program: see coredump.c */
};

struct coredump {
	uint8_t data[COREDUMP_SIZE];
	size_t size; /* less: the file is cut off */
};

/* Thread i has number COREDUMP_PID + i, call i, pc 0x1000 + i, sp 0x2000 + i, tls 0x3000 + i. What
 * is in memory says its own file offset, in words. Caller frees. */
struct coredump *coredump_new(void);
Elf64_Ehdr *coredump_header(struct coredump *core);
Elf64_Phdr *coredump_segment(struct coredump *core, unsigned i); /* notes, low, high, gap */

#endif
