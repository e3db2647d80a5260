/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of names: as wide as the longest name, as far as the line fits the terminal. */
#ifndef COLUMN_H
#define COLUMN_H

#include <stdio.h>

/* The number of columns that stdout has: those of the terminal, or 80. */
unsigned column_screen(void);
/* The width that a column of `width` needs for this text as well. A text wider than `bound`
 * changes nothing, and will stick out. */
unsigned column_fit(unsigned width, unsigned bound, const char *text);
/* The text, and blanks up to the width. */
void column_print(FILE *out, const char *text, unsigned width);

#endif
