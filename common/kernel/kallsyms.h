/* SPDX-License-Identifier: Apache-2.0 */
/* The running kernel's symbols, from /proc/kallsyms. */
#ifndef KALLSYMS_H
#define KALLSYMS_H

#include <stdint.h>

struct errmsg;
struct kallsyms;

/* NULL with *err: the kernel hides its addresses (kernel.kptr_restrict), or has no symbols. */
struct kallsyms *kallsyms_open(struct errmsg *err);
void kallsyms_close(struct kallsyms *syms); /* NULL is all right */
/* Name of the function that holds `addr`, and the offset in it; NULL: none. Its module, or "". */
const char *kallsyms_find(const struct kallsyms *syms, uint64_t addr, uint64_t *off,
			  const char **module);

#endif
