/* SPDX-License-Identifier: Apache-2.0 */
/* A log-linear histogram as the kernel side fills it (16 steps an octave: bounds within 1/16), its
 * percentiles, and bcc's picture of it. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#include "bpf-src/shared/histogram_index.h" /* HISTOGRAM_SLOTS, histogram_index(): both sides */

struct histogram {
	uint64_t slots[HISTOGRAM_SLOTS];
	uint64_t count, total, min, max; /* total, min, max in the unit of the values */
};

uint64_t histogram_low(unsigned index);  /* lowest value of a slot */
uint64_t histogram_high(unsigned index); /* highest */
/* The value at or below which `percent` of the counted values lie: at most 1/16 above the true
 * one, never above max. 0 when nothing was counted. */
uint64_t histogram_percentile(const struct histogram *h, double percent);
/* "     nsecs               : count     distribution" and a bar for each power of two */
void histogram_print_log2(FILE *out, const struct histogram *h, const char *unit);

#endif
