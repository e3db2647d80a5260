/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions of its stack tell of a goroutine: who created it, and whether it is the
 * runtime's. */
#ifndef GOROUTINE_FRAMES_H
#define GOROUTINE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame;
struct frames;
struct goroutine;

/* The function with the go statement that created it; false: not known, or there is none. */
bool goroutine_creator(const struct goroutine *g, const struct frames *frames, struct frame *out);
/* Is it one of the runtime's own goroutines, which Go does not list? Those that call finalizers and
 * cleanups are not while they do. `addrs`: its stack. */
bool goroutine_is_system(const struct goroutine *g, const struct frames *frames,
			 const uint64_t *addrs, size_t count);

#endif
