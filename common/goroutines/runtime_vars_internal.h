/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room goroutines uses of runtime_vars. */
#ifndef RUNTIME_VARS_INTERNAL_H
#define RUNTIME_VARS_INTERNAL_H

#include "goroutines/runtime_vars.h"
#include "machine/arch.h"

/* What runtime_vars_allgs() and runtime_vars_tracking_seq() read, in the code of the function that
 * shows it. */
bool runtime_vars_parse_allgs(enum arch arch, const struct insn_code *code, uint64_t *addr);
uint32_t runtime_vars_parse_tracking_seq(enum arch arch, const struct insn_code *code,
					 const struct goruntime *rt);

#endif
