/* SPDX-License-Identifier: Apache-2.0 */
/* The vDSO: code of the kernel's in each process, which Go calls for the time. All 64-bit processes
 * have the same, each at an address of its own. */
#ifndef VDSO_INTERNAL_H
#define VDSO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vdso;

/* NULL: there is none, or it is of no use. The caller frees. */
struct vdso *vdso_new(void);
void vdso_free(struct vdso *vdso); /* NULL is all right */

struct vdso_at {
	uint64_t base; /* where the process has it */
	uint64_t pc, sp, bp;
	const uint64_t *top; /* `count` words of the stack, from sp on */
	size_t count;
};

/* Where it returns to that is outside of it; false: not known. */
bool vdso_return(const struct vdso *vdso, const struct vdso_at *at, uint64_t *addr);

#endif
