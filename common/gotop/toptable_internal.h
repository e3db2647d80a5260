/* SPDX-License-Identifier: Apache-2.0 */
/* The text of rows, for the screen. Callers free. */
#ifndef TOPTABLE_INTERNAL_H
#define TOPTABLE_INTERNAL_H

#include "gotop/toptable.h"

/* "3 Go programs, 120 goroutines, 35% CPU, sorted by CPU" */
char *toptable_title(const struct toptable *table);
/* As gostat prints them, without a newline. */
char *toptable_line(const struct toptable_row *row);
char *toptable_head(void);

#endif
