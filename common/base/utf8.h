/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 (RFC 3629), taken apart one character at a time. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The character that `text` begins with, `len` bytes of which are there. Returns its bytes, 1 to
 * 4, or 0 where none is: overlong, surrogate, cut short, above U+10FFFF, or len 0. */
size_t utf8_decode(const char *text, size_t len, uint32_t *character);

/* Would a terminal or an editor act on it rather than show it? C0, DEL, C1, line and paragraph
 * separators, and the marks that reorder text. */
bool utf8_is_control(uint32_t character);

/* Writes what cannot stand as it is: `len` bytes that are one character, or, with len 0, one byte
 * that belongs to none. */
typedef void utf8_put_fn(FILE *out, const char *bytes, size_t len, uint32_t character);
/* Printable ASCII is written as it is, quotes and backslashes aside: most text is nothing else. The
 * rest is `put`'s. NUL is a byte like others. */
void utf8_write(FILE *out, const char *bytes, size_t len, utf8_put_fn *put);

#endif
