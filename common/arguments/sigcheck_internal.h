/* SPDX-License-Identifier: Apache-2.0 */
/* Does a signature agree with what the compiler's argument tables tell of the function? */
#ifndef SIGCHECK_INTERNAL_H
#define SIGCHECK_INTERNAL_H

#include "abi/abi.h"

/* `table`, `told`: from argtable_read(). What they leave open agrees with anything. */
bool sigcheck_agrees(const struct gofunc *sig, const struct abi_layout *layout,
		     const struct gofunc *table, const struct abi_layout *told);

/* "s string: 8+8 bytes in rax, rbx; n int: 8 bytes in rcx", or "nothing". malloc'd. */
char *sigcheck_text(enum arch arch, const struct gofunc *sig, const struct abi_layout *layout);

#endif
