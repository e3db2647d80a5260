/* SPDX-License-Identifier: Apache-2.0 */
/* A frame's arguments as Go's own tracebacks print them (src/runtime/traceback.go, printArgs): what
 * is where the caller has put them, or where the function would save those in registers. */
#ifndef FRAME_ARGS_H
#define FRAME_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct frames;
struct functab_func;

/* "0x3, {0xc000012345, 0x5?}": a question mark means that the value may be an old one. `addr` is
 * struct frame's `at`. What is not among the bytes is "_". */
void frame_args_print(FILE *out, const struct frames *frames, uint64_t addr, const uint8_t *bytes,
		      size_t len);
/* Is the first word of them certainly the first argument, and up to date? */
bool frame_args_first(const struct frames *frames, uint64_t addr);
/* Is the word `off` bytes into them a pointer that is in use from there on, by the maps that the
 * garbage collector goes by (Go's src/runtime/stkframe.go, getStackMap)? What it points to is alive
 * then, and what its type says. */
bool frame_args_points(const struct frames *frames, uint64_t addr, uint32_t off);

#endif
