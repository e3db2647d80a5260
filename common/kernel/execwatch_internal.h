/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room kernel uses of execwatch. */
#ifndef EXECWATCH_INTERNAL_H
#define EXECWATCH_INTERNAL_H

#include "kernel/execwatch.h"

/* One more execve, and when all was attached anew; both as clock_ns(). */
void execwatch_note(struct execwatch_report *report, uint64_t executed_ns, uint64_t attached_ns);

#endif
