/* SPDX-License-Identifier: Apache-2.0 */
/* The whole stack of a sample, by the program's tables: from where it runs, over the stacks that
 * the runtime has switched to, to the goroutine's first function.
 *
 * Go's unwinding tables tell for each instruction where the return address is. So the caller of a
 * function that has no frame yet, or no longer, or never, is found as well, as long as what is
 * copied of the stack reaches. Beyond that the frame pointers' links lead on. */
#ifndef JOINED_INTERNAL_H
#define JOINED_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/profile.h"
#include "frames/frames.h"
#include "frames/unwinder.h"
#include "sampling/vdso_internal.h"

enum { JOINED_FRAMES = 2048 };

struct joined_frame {
	uint64_t addr;    /* as of a return address: behind the instruction that is meant */
	const char *mark; /* in place of an address: something that is no code of Go's; or NULL */
};

struct joined { /* innermost first */
	struct joined_frame all[JOINED_FRAMES];
	size_t count;
};

struct joined_program {
	const struct frames *frames;
	struct unwinder *unwinder;
	const struct vdso *vdso; /* NULL: not known */
	/* what an address is in that is no code of Go's, as the mark to be shown; and where that
	 * begins */
	const char *(*place)(void *ctx, uint64_t addr, uint64_t *from);
	void *ctx;
};

/* `words`: the sample's. Nothing in it is trusted. */
void joined_read(const struct joined_program *program, const struct profile_sample *sample,
		 const uint64_t *words, struct joined *out);

#endif
