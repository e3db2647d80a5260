/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of names: as wide as the longest name that fits, in what a terminal shows of them. */
#ifndef COLUMN_H
#define COLUMN_H

#include <stdio.h>

/* How many columns a terminal takes for the text (UTF-8, escaped: see escape.h). */
unsigned column_width(const char *text);
/* How many columns stdout has: those of the terminal, or 80. */
unsigned column_screen(void);
/* The new width of a column that was `width` wide, when the text is to stand in it; a text wider
 * than `bound` changes nothing, and will stick out. */
unsigned column_fit(unsigned width, unsigned bound, const char *text);
/* The text, and blanks up to the width. */
void column_print(FILE *out, const char *text, unsigned width);

#endif
