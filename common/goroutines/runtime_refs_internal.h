/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room goroutines uses of runtime_refs. */
#ifndef RUNTIME_REFS_INTERNAL_H
#define RUNTIME_REFS_INTERNAL_H

#include "goroutines/runtime_refs.h"

struct insn_code;

/* What runtime_refs_add() adds. */
void runtime_refs_parse(enum arch arch, const struct insn_code *code, struct runtime_refs *refs);

#endif
