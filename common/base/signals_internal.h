/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room base uses of signals. */
#ifndef SIGNALS_INTERNAL_H
#define SIGNALS_INTERNAL_H

#include "base/signals.h"

/* Called before this module says a word; async-signal-safe. */
void signals_before_words(void (*fn)(void));
/* Says `text` on stderr and ends the process as a signal would, with status 1. Async-signal-safe.
 */
_Noreturn void signals_give_up(const char *text);

#endif
