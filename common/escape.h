/* SPDX-License-Identifier: Apache-2.0 */
/* Text that comes from traced programs, made harmless for a terminal: control characters become
 * \n, \t, \x1b or \u009b, bytes that are not UTF-8 \xNN. Backslashes stay as they are: the result
 * is to be read, not to be parsed. */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stddef.h>
#include <stdio.h>

void escape_print(FILE *out, const char *text);
void escape_write(FILE *out, const char *bytes, size_t len); /* NUL is a byte like others */
char *escape_text(const char *text); /* the same as a malloc'd string: for error messages */

#endif
