/* SPDX-License-Identifier: Apache-2.0 */
/* Return addresses to lines of a stack, from the program's file alone: it may have ended.
 *         main.add +0x0
 *         main.run +0x4f (inlined)
 *         main.main +0x4f
 *         created by main.start in goroutine 1
 * and in detail, with address and the source position within each frame:
 *         0x0000000000482f2f main.add +0x0 /src/main.go:12
 *         0x0000000000483011 created by main.start in goroutine 1 +0x51 /src/main.go:7
 * Offsets count from the function that the code stands in: inlined frames have that of the
 * function below them. runtime.goexit (gccgo: runtime.kickoff), where every goroutine's stack
 * begins, is left out. Where Go was called by C the frames of C, and what they were called by, are
 * not shown but as "...". */
#ifndef GOSTACK_H
#define GOSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct image;
struct json;
struct functab;

struct gostack_line;
struct gostack_symbols; /* what one program's addresses mean; remembers what it has looked up */

struct gostack_other { /* a file that has a part of a program's code */
	struct gostack_symbols *syms;
	uint64_t bias;
};

struct gostack {                /* addresses as in the process's memory */
	const uint64_t *frames; /* [0]: where the probe stands; the others: return addresses */
	size_t count;
	uint64_t at; /* counts instead of frames[0]: of an inlined copy, its addr, as the probe may
		      * stand before it or after it; 0: frames[0] */
	uint64_t bias;
	const char *probed;   /* name of the function that the probe is for: what is inlined into it
			       * at frames[0] is not shown; NULL: everything is */
	uint64_t created_by;  /* 0: not known */
	uint64_t parent_goid; /* 0: not known */
	bool no_runtime;      /* the text leaves out frames of package runtime, unless there are no
			       * others; its gopanic is "panic", as in Go's own tracebacks */
	bool cut; /* there may be more frames than were read: then a line "..." follows */
	const struct gostack_other *others; /* where what is not the program's own is looked for */
	size_t other_count;
};

/* Both outlive it. */
struct gostack_symbols *gostack_symbols_new(const struct image *img, const struct functab *tab);
void gostack_symbols_free(struct gostack_symbols *syms); /* NULL is all right */

/* Innermost first, inlined frames expanded; each line indented by 8. What is in no Go function is
 * named by the file's symbols where it has some, else [unknown] with its address. */
void gostack_print(FILE *out, const struct gostack *stack, struct gostack_symbols *syms,
		   bool detail);
/* Calls fn for each frame that gostack_print() shows, with the number of its address and that in
 * the instruction that it stands at, with load bias 0. False: there may be more. */
bool gostack_each(const struct gostack *stack, struct gostack_symbols *syms,
		  void (*fn)(void *ctx, size_t number, uint64_t at,
			     const struct gostack_line *line),
		  void *ctx);
/* The function that has created the goroutine; NULL: not known, or none */
const char *gostack_creator(const struct gostack *stack, struct gostack_symbols *syms);
/* Has it a frame, inlined or not, of one of these functions? The list ends with NULL. */
bool gostack_has(const struct gostack *stack, struct gostack_symbols *syms,
		 const char *const *names);
/* Members of the object that is open: "stack": an array of {"addr":N, "func":NAME or null, "off":N,
 * "file":..., "line":N, "inlined":true}; "stack_cut":true; "created_by": such a frame, with "goid".
 */
void gostack_json(struct json *json, const struct gostack *stack, struct gostack_symbols *syms);

#endif
