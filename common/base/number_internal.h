/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room base uses of number. */
#ifndef NUMBER_INTERNAL_H
#define NUMBER_INTERNAL_H

#include "base/number.h"

/* Seconds, with decimals or without ("10", "0.5", ".5"), as ns. false: not a number, zero, or
 * beyond what 63 bits of ns hold. Digits below one ns are ignored. */
bool number_parse_seconds(const char *text, uint64_t *ns);

#endif
