/* SPDX-License-Identifier: Apache-2.0 */
/* Goroutines that are made up: this very program hits probes in itself as a Go program would, with
 * a g in its register and a stack that the g names. Needs the privileges to trace. */
#ifndef FAKEG_H
#define FAKEG_H

#include <stddef.h>
#include <stdint.h>

struct attach;
struct bpfprog_define;
struct errmsg;

enum { FAKEG_PLACES = 16, FAKEG_DEFINES = 16 };

struct fakeg_probe {
	unsigned place; /* below FAKEG_PLACES */
	uint64_t cookie;
};

/* What goroutine.h of the kernel side wants to know; defs has room for FAKEG_DEFINES. How many. */
size_t fakeg_define(struct bpfprog_define *defs);
/* FAKEG_PLACES probes at the most. NULL and *err on failure. */
struct attach *fakeg_attach(int prog_fd, const struct fakeg_probe *probes, size_t count,
			    struct errmsg *err);
uint64_t fakeg_addr(unsigned place); /* in memory */
/* One hit of a goroutine with `depth` bytes of stack */
void fakeg_hit(uint64_t goid, unsigned depth, unsigned place);

#endif
