/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that one run of the code may execute several times. On arm64 the assembler makes of
 * some of the compiler's instructions a sequence that keeps an address in a scratch register. A
 * goroutine preempted inside one goes on at its first instruction, since the register is not saved:
 * a probe there would be hit again. The last one is executed once. (Go's
 * src/cmd/internal/obj/plist.go, MarkUnsafePoints; src/runtime/preempt.go, isAsyncSafePoint) */
#ifndef RESTART_INTERNAL_H
#define RESTART_INTERNAL_H

#include <stdint.h>

struct flow;
struct functab;
struct functab_func;

/* Sets `again` of the function's instructions. */
void restart_mark(const struct functab *tab, const struct functab_func *fn, struct flow *flow);
/* The instruction at addr, or if that may be executed again, the last one of its sequence. */
uint64_t restart_last(const struct functab *tab, const struct functab_func *fn, uint64_t addr);

#endif
