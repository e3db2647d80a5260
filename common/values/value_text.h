/* SPDX-License-Identifier: Apache-2.0 */
/* Strings and numbers as Go writes them. */
#ifndef VALUE_TEXT_H
#define VALUE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* As strconv.Quote: "bob\n" */
void value_quote(FILE *out, const char *bytes, size_t len);
/* `len`, or less, so that a character that was cut in two is left out */
size_t value_whole_characters(const char *bytes, size_t len);
bool value_is_printable(const char *bytes, size_t len); /* no escapes needed but of quotes */
/* UTF-8 that people could read: characters that print, at least one, and white space */
bool value_is_text(const char *bytes, size_t len);

/* As %v prints it: the shortest that reads as the same number; `bits`: 32 or 64. `plus`: with its
 * sign in any case. */
void value_print_float(FILE *out, double value, int bits, bool plus);

#endif
