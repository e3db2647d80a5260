/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room program uses of gostack_symbols. */
#ifndef GOSTACK_SYMBOLS_INTERNAL_H
#define GOSTACK_SYMBOLS_INTERNAL_H

#include "program/gostack_symbols.h"

/* Is the address in the file's code? With load bias 0 */
bool gostack_symbols_hold(const struct gostack_symbols *syms, uint64_t addr);

#endif
