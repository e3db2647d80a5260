/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room base uses of column. */
#ifndef COLUMN_INTERNAL_H
#define COLUMN_INTERNAL_H

#include "base/column.h"

/* The number of terminal columns that the text takes (UTF-8, escaped: see escape.h). */
unsigned column_width(const char *text);

#endif
