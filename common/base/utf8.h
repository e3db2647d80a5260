/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 (RFC 3629), taken apart one character at a time. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character that `text` begins with, `len` bytes of which are there. Returns its bytes, 1 to
 * 4, or 0 where none is: overlong, surrogate, cut short, above U+10FFFF, or len 0. */
size_t utf8_decode(const char *text, size_t len, uint32_t *character);

/* Would a terminal or an editor act on it rather than show it? C0, DEL, C1, line and paragraph
 * separators, and the marks that reorder text. */
bool utf8_is_control(uint32_t character);

#endif
