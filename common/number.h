/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the command line, read strictly: the whole text or nothing. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal digits only: no sign, no space, no exponent. false: not a number, or above `max`. */
bool number_parse(const char *text, uint64_t max, uint64_t *out);

/* Seconds, with decimals or without ("10", "0.5", ".5"), as ns. false: not a number, zero, or
 * beyond what 63 bits of ns hold. Digits below one ns are ignored. */
bool number_parse_seconds(const char *text, uint64_t *ns);

#endif
