/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of metrics, from names that whoever built a program has chosen. */
#ifndef LABEL_INTERNAL_H
#define LABEL_INTERNAL_H

#include <stdio.h>

/* A label's value, between its quotes: backslash, quote and newline as the format has them. It is
 * read on terminals too: other control characters, and bytes that are not UTF-8, become the text
 * \x1b, whose backslash is then the format's \\. */
void label_value(FILE *out, const char *text);
/* func="main.main",binary="/usr/bin/app", malloc'd */
char *label_pair(const char *func, const char *binary);

#endif
