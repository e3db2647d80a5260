/* SPDX-License-Identifier: Apache-2.0 */
/* The log-linear histogram's slots, for the kernel side and the tools alike: values below 16 have
 * a slot each; above, each octave has 16 of equal width, so a slot is 1/16 of its low end wide. */
#ifndef HISTOGRAM_INDEX_H
#define HISTOGRAM_INDEX_H

#define HISTOGRAM_STEPS_LOG2 4
#define HISTOGRAM_SLOTS ((64 - HISTOGRAM_STEPS_LOG2 + 1) << HISTOGRAM_STEPS_LOG2)

/* index of the highest set bit; no builtin: old BPF back ends have none */
static inline unsigned histogram_log2(unsigned long long v)
{
	unsigned r = 0;

	if (v >> 32) {
		v >>= 32;
		r += 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	return r + (v >> 1 ? 1 : 0);
}

static inline unsigned histogram_index(unsigned long long v)
{
	unsigned octave, step;

	if (v < (1 << HISTOGRAM_STEPS_LOG2))
		return v;
	octave = histogram_log2(v) - HISTOGRAM_STEPS_LOG2;
	step = (v >> octave) & ((1 << HISTOGRAM_STEPS_LOG2) - 1);
	return ((octave + 1) << HISTOGRAM_STEPS_LOG2) + step;
}

#endif
