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

#endif
