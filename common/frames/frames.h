/* SPDX-License-Identifier: Apache-2.0 */
/* Return addresses to the frames that Go's own tracebacks show: inlined calls expanded, the
 * runtime's own functions left out (Go's src/runtime/traceback.go, showfuncinfo). */
#ifndef FRAMES_FRAMES_H
#define FRAMES_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct functab;
struct gostack_symbols;
struct image;

struct frames {
	struct gostack_symbols *syms;
	const struct functab *tab;
	uint64_t bias;
	const struct image *img;
	int release; /* as struct program's */
};

struct frame {
	const char *func, *file; /* file NULL: not known. Valid as long as the image. */
	const char *module; /* of the kernel's, which has the function; NULL: the program has */
	int line;
	int start_line; /* of the function's declaration; 0: not known */
	uint64_t off;   /* of the return address in the function that has the code */
	bool inlined;
	size_t number; /* of the address that it comes from */
	uint64_t at;   /* in the instruction that it stands at, with load bias 0 */
	uint64_t told; /* where tracebacks of the program's release say that its arguments are of */
};

/* Innermost first. Where nothing would be left, as of the runtime's own goroutines, all frames. */
void frames_each(const struct frames *frames, const uint64_t *addrs, size_t count,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx);
/* All of them, the runtime's and those that the compiler made too. */
void frames_all(const struct frames *frames, const uint64_t *addrs, size_t count,
		void (*fn)(void *ctx, const struct frame *frame), void *ctx);
/* How many of them tracebacks show; 0: none, and frames_each() has all. */
size_t frames_shown(const struct frames *frames, const uint64_t *addrs, size_t count);
/* The function with the go statement that is left at this address; false: not known. */
bool frames_go_statement(const struct frames *frames, uint64_t addr, struct frame *out);

#endif
