/* SPDX-License-Identifier: Apache-2.0 */
/* Strings and numbers as Go writes them. */
#ifndef VALUE_TEXT_INTERNAL_H
#define VALUE_TEXT_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

/* As strconv.Quote: "bob\n" */
void value_quote(FILE *out, const char *bytes, size_t len);
/* `len` without the bytes of a character that was cut in two at the end */
size_t value_whole_characters(const char *bytes, size_t len);
bool value_is_printable(const char *bytes, size_t len); /* no escapes needed but of quotes */
/* Is it UTF-8 of printable characters, at least one, and white space? */
bool value_is_text(const char *bytes, size_t len);

/* As %v prints it: the shortest text that reads back as the same number. `bits`: 32 or 64. `plus`:
 * always with a sign. */
void value_print_float(FILE *out, double value, int bits, bool plus);

#endif
