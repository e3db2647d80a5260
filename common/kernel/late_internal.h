/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions whose values a compiled program does not contain: they are put in when it is loaded.
 * So a kept program serves other processes, other functions and other releases of Go, and Clang is
 * not needed for them. */
#ifndef LATE_INTERNAL_H
#define LATE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_insn;
struct bpfprog_define;

/* Is it a number that code loads, or a map's room, that is put in late? */
bool late_is(const char *define);
/* The compiler's -D for it, late or not; the caller frees it. A number is LATE() of
 * bpf-src/parts/assembly.h with a mark. A room is a prime that no map's own size is a multiple of,
 * so maps may have a multiple of the room: BPF_ARRAY(x, u64, ROWS * 2). */
char *late_option(const struct bpfprog_define *def);
/* Replaces the marks in `count` instructions by the values of `defs`. */
void late_put(struct bpf_insn *insns, uint32_t count, const struct bpfprog_define *defs,
	      size_t ndefs);
/* How many entries the map has that was compiled with `entries`. */
uint32_t late_entries(uint32_t entries, const struct bpfprog_define *defs, size_t ndefs);

#endif
