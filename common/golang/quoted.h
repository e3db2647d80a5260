/* SPDX-License-Identifier: Apache-2.0 */
/* Text of a program, as tracebacks of Go print labels: in quotes if there is more in it than
 * letters, digits, dots, slashes and underscores (Go's src/runtime/print.go, printquoted). */
#ifndef QUOTED_H
#define QUOTED_H

#include <stddef.h>
#include <stdio.h>

/* What is printed is ASCII, without control characters, whatever the text is. */
void quoted_print(FILE *out, const char *text, size_t len);

#endif
