/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up goroutines: the test program hits probes in itself as a Go program would, with a g in the
 * g register and on that g's stack. Needs the privileges to trace. */
#ifndef FAKEG_H
#define FAKEG_H

#include <stddef.h>
#include <stdint.h>

struct attach;
struct bpfprog;
struct bpfprog_define;
struct errmsg;

enum { FAKEG_PLACES = 24, FAKEG_DEFINES = 16 };

struct fakeg_probe {
	unsigned place; /* below FAKEG_PLACES */
	uint64_t cookie;
};

/* Fills `defs`, which has room for FAKEG_DEFINES, with what the kernel side's goroutine.h needs.
 * Returns how many. */
size_t fakeg_define(struct bpfprog_define *defs);
/* Attaches at most FAKEG_PLACES probes. NULL and *err on failure. */
struct attach *fakeg_attach(int prog_fd, const struct fakeg_probe *probes, size_t count,
			    struct errmsg *err);
/* ... at the places where goroutines enter system calls, and where they leave them */
struct attach *fakeg_attach_syscalls(int prog_fd, unsigned enter, unsigned leave,
				     struct errmsg *err);
enum { FAKEG_STATUS = 40 };          /* byte offset of a g's atomicstatus */
void fakeg_status(uint32_t value);   /* of all from now on; 0 before */
uint64_t fakeg_addr(unsigned place); /* in memory */
/* Hits the probe at a place once, as a goroutine with `depth` bytes of stack. */
void fakeg_hit(uint64_t goid, unsigned depth, unsigned place);
/* The same, called by another instruction: there it returns to. */
void fakeg_hit_from_elsewhere(uint64_t goid, unsigned depth, unsigned place);
void fakeg_wait_ms(unsigned ms); /* below a second */
size_t fakeg_entries(const struct bpfprog *prog, const char *map);

#endif
