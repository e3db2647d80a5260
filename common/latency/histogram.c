// SPDX-License-Identifier: Apache-2.0
#include "latency/histogram_internal.h"

#include <inttypes.h>
#include <stdbool.h>

enum { ROWS = 65 }; /* row n > 0 is 2^(n-1) .. 2^n - 1, row 1 takes 0 as well: bcc's bpf_log2l */

uint64_t histogram_low(unsigned index)
{
	unsigned octave = index >> HISTOGRAM_STEPS_LOG2;
	uint64_t step = index & ((1 << HISTOGRAM_STEPS_LOG2) - 1);

	if (octave == 0)
		return index;
	return (step + (1 << HISTOGRAM_STEPS_LOG2)) << (octave - 1);
}

uint64_t histogram_high(unsigned index)
{
	return index + 1 < HISTOGRAM_SLOTS ? histogram_low(index + 1) - 1 : UINT64_MAX;
}

/* The sum of the slots. Not `count`: the kernel side may have updated that one already. */
static uint64_t sum_slots(const struct histogram *h)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++)
		sum += h->slots[i];
	return sum;
}

uint64_t histogram_percentile(const struct histogram *h, double percent)
{
	uint64_t sum = sum_slots(h), seen = 0;
	double rank = sum * (percent / 100);

	for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
		seen += h->slots[i];
		/* at the latest the last slot in use, however rank was rounded */
		if (seen && (seen >= rank || seen == sum))
			return histogram_high(i) < h->max ? histogram_high(i) : h->max;
	}
	return 0;
}

static unsigned row_of_slot(unsigned index)
{
	uint64_t low = histogram_low(index);

	return low ? histogram_log2(low) + 1 : 1;
}

static void print_bar(FILE *out, unsigned row, uint64_t count, uint64_t most, bool wide)
{
	static const char stars[] = "****************************************";
	uint64_t high = row < 64 ? (1ull << row) - 1 : UINT64_MAX;
	uint64_t low = row > 1 ? 1ull << (row - 1) : 0;
	int number = wide ? 20 : 10, width = wide ? 20 : 40;
	int filled = (int)((long double)count * width / most);

	fprintf(out, "%*" PRIu64 " -> %-*" PRIu64 " : %-8" PRIu64 " |%-*.*s|\n", number, low,
		number, high, count, width, filled, stars);
}

void histogram_print_log2(FILE *out, const struct histogram *h, const char *unit)
{
	uint64_t rows[ROWS] = {0}, most = 0;
	unsigned first = ROWS, last = 0;

	for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++)
		rows[row_of_slot(i)] += h->slots[i];
	for (unsigned row = 1; row < ROWS; row++) {
		if (!rows[row])
			continue;
		first = first < row ? first : row;
		last = row;
		most = most > rows[row] ? most : rows[row];
	}
	if (!last)
		return;
	bool wide = last > 32;

	fprintf(out, "%*s%-*s : count     distribution\n", wide ? 15 : 5, "", wide ? 29 : 19, unit);
	for (unsigned row = first; row <= last; row++)
		print_bar(out, row, rows[row], most, wide);
}
