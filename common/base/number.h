/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the command line, read strictly: the whole text or nothing. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0 to 15; -1: no hexadecimal digit. */
int number_hex_digit(char c);

/* Decimal digits only: no sign, no space, no exponent. false: not a number, or above `max`. */
bool number_parse(const char *text, uint64_t max, uint64_t *out);

/* A time as Go prints durations, in ns: "10ms", "1.5s", "1m30s", of ns us (µs) ms s m h; or a size
 * in bytes: KB MB GB of 1000, KiB MiB GiB of 1024. */
enum number_unit {
	NUMBER_NONE, /* neither, or what follows the digits is no unit */
	NUMBER_TIME,
	NUMBER_SIZE,
	NUMBER_UNFIT, /* not a whole number of ns or bytes, or beyond 63 bits */
};
enum number_unit number_parse_unit(const char *text, size_t len, uint64_t *out);

/* A time with its unit, or seconds; false as number_parse_seconds(). */
bool number_parse_duration(const char *text, uint64_t *ns);
/* A size with its unit, or bytes; false as number_parse(). */
bool number_parse_size(const char *text, uint64_t max, uint64_t *out);

#endif
