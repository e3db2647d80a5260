/* SPDX-License-Identifier: Apache-2.0 */
/* Return addresses to the frames that Go's own tracebacks show: inlined calls expanded, the
 * runtime's own functions left out (Go's src/runtime/traceback.go, showfuncinfo). */
#ifndef GOROUTINES_FRAMES_H
#define GOROUTINES_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct functab;
struct gostack_symbols;
struct image;
struct goroutine;

struct frames {
	struct gostack_symbols *syms;
	const struct functab *tab;
	uint64_t bias;
	const struct image *img;
	int release; /* as struct program's */
};

struct frame {
	const char *func, *file; /* file NULL: not known. Valid during the call. */
	int line;
	uint64_t off; /* of the return address in the function that has the code */
	bool inlined;
	size_t number; /* of the address that it comes from */
	uint64_t at;   /* in the instruction that it stands at, with load bias 0 */
};

/* Innermost first. Where nothing would be left, as of the runtime's own goroutines, all frames. */
void frames_each(const struct frames *frames, const uint64_t *addrs, size_t count,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx);
/* All of them, the runtime's and those that the compiler made too. */
void frames_all(const struct frames *frames, const uint64_t *addrs, size_t count,
		void (*fn)(void *ctx, const struct frame *frame), void *ctx);
/* The function with the go statement that is left at this address; false: not known. */
bool frames_go_statement(const struct frames *frames, uint64_t addr, struct frame *out);
/* ... that created a goroutine; false: not known, or there is none. */
bool frames_creator(const struct frames *frames, const struct goroutine *g, struct frame *out);
/* Is it one of the runtime's own goroutines, which Go does not list? Those that call finalizers and
 * cleanups are not while they do. */
bool frames_is_system(const struct frames *frames, const struct goroutine *g, const uint64_t *addrs,
		      size_t count);

#endif
