/* SPDX-License-Identifier: Apache-2.0 */
/* How a program's resident memory divides, in rows that add up to it. */
#ifndef STATS_MEMORY_H
#define STATS_MEMORY_H

#include <stdio.h>

struct stats;
struct stats_subject;

void stats_memory_print(FILE *out, const struct stats_subject *of, const struct stats *now);

#endif
