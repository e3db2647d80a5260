/* SPDX-License-Identifier: Apache-2.0 */
/* Families of metrics as text, in either of the two formats. */
#ifndef FAMILY_H
#define FAMILY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What stands before its samples. `name` is without the _total of a counter's. */
void family_head(FILE *out, bool openmetrics, const char *name, const char *type, const char *help);
/* A label's value, between its quotes: backslash, quote and newline as the format has them. It is
 * read on terminals too: other control characters, and bytes that are not UTF-8, become the text
 * \x1b, whose backslash is then the format's \\. */
void family_label(FILE *out, const char *text);
void family_seconds(FILE *out, uint64_t ns); /* a value: 0.000001500 */

#endif
