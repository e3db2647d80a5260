/* SPDX-License-Identifier: Apache-2.0 */
/* The return addresses on a goroutine's stack, by the tables with which Go's runtime itself unwinds
 * (Go's src/runtime/traceback.go, unwinder.next), not by frame pointers: assembly and leaf
 * functions keep none. */
#ifndef UNWINDER_H
#define UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls;
struct frames;
struct unwinder;

enum { UNWINDER_FRAMES = 512 }; /* at most; of a deeper stack the innermost */

struct frame_rule {       /* of the code at an address */
	int32_t sp_delta; /* bytes from the stack pointer to where the frame ends */
	uint16_t args;    /* bytes of arguments, as tracebacks show them, a word behind that */
	/* NULL: as on amd64, where the return address stands there */
	const struct calls *calls;
	bool injected; /* the runtime has it called by code that makes no call there */
	/* a goroutine's stack ends here; the function switches stacks, so that only the innermost
	 * frame may be one; no code of Go's, or nothing is known of it */
	enum { FRAME_PLAIN, FRAME_FIRST, FRAME_SWITCH, FRAME_UNKNOWN } kind;
};

struct stack_bytes { /* a copy of the memory from the stack pointer on */
	uint64_t addr;
	const uint8_t *bytes;
	size_t len;
	bool cut; /* the stack goes on beyond it */
	/* what the register for it holds, where a call leaves the return address in one */
	uint64_t link;
};

enum unwound { UNWOUND_WHOLE, UNWOUND_CUT, UNWOUND_NOT };

struct unwound_frames { /* the innermost first */
	uint64_t pc[UNWINDER_FRAMES];
	uint32_t args[UNWINDER_FRAMES]; /* where its arguments begin, in stack_bytes.bytes */
	uint16_t args_len[UNWINDER_FRAMES];
	size_t count;
};

/* Bytes from the stack pointer to the return address, which may be in a register yet where the
 * frame has none; and to the caller's stack pointer. */
int32_t unwinder_return_at(const struct frame_rule *rule);
int32_t unwinder_caller(const struct frame_rule *rule);
/* What the runtime has pushed between the two, beside. */
uint32_t unwinder_injected(const struct frame_rule *rule);

/* `rule` is asked for each address as in the process's memory. Leaves out the function that every
 * goroutine begins with. UNWOUND_NOT: this is no stack. */
enum unwound unwinder_walk(const struct stack_bytes *stack, uint64_t pc,
			   struct frame_rule (*rule)(void *ctx, uint64_t pc), void *ctx,
			   struct unwound_frames *out);

/* The rules of a program's tables, remembered; `frames` outlives it. Begin with
 * unwinder_begin(). */
struct unwinder *unwinder_new(const struct frames *frames);
void unwinder_free(struct unwinder *uw);                 /* NULL is all right */
struct frame_rule unwinder_rule(void *ctx, uint64_t pc); /* ctx: the unwinder */
/* From here on, so many addresses may be looked up in the tables; or so many more. What is beyond
 * is FRAME_UNKNOWN, and unwinder_gave_up() then true: most are remembered, so that no real program
 * comes near. */
void unwinder_begin(struct unwinder *uw, size_t lookups);
void unwinder_allow(struct unwinder *uw, size_t lookups);
bool unwinder_gave_up(const struct unwinder *uw);

#endif
