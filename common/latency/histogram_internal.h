/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room latency uses of histogram. */
#ifndef HISTOGRAM_INTERNAL_H
#define HISTOGRAM_INTERNAL_H

#include "latency/histogram.h"

uint64_t histogram_low(unsigned index);  /* lowest value of a slot */
uint64_t histogram_high(unsigned index); /* highest */
/* The value at or below which `percent` of the counted values lie: at most 1/16 above the true
 * one, never above max. 0 when nothing was counted. */
uint64_t histogram_percentile(const struct histogram *h, double percent);
/* "     nsecs               : count     distribution" and a bar for each power of two */
void histogram_print_log2(FILE *out, const struct histogram *h, const char *unit);

#endif
