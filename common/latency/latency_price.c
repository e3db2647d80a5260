// SPDX-License-Identifier: Apache-2.0
#include "latency/latency_price.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/hitcost.h"
#include "latency/histogram_internal.h"
#include "latency/latency_internal.h"
#include "selection/selection.h"

enum { MATTERS = 3 }; /* where it is more than this part of what half of the calls took at most */

struct entries { /* of a row's functions and copies, by kind */
	size_t emulated, stepped;
};

struct latency_prices {
	struct entries *rows;
	size_t count;
	struct hitcost cost;
	bool known; /* `cost` is */
};

struct latency_prices *latency_prices_new(const struct selection *sel)
{
	struct latency_prices *prices = mem_zalloc(1, sizeof(*prices));

	prices->count = sel->row_count;
	prices->rows = mem_zalloc(sel->row_count, sizeof(*prices->rows));
	for (size_t i = 0; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];
		struct entries *row = &prices->rows[item->row];

		if (item->skipped)
			continue;
		if (item->sites.entry.emulated)
			row->emulated++;
		else
			row->stepped++;
	}
	return prices;
}

void latency_prices_free(struct latency_prices *prices)
{
	if (!prices)
		return;
	free(prices->rows);
	free(prices);
}

struct latency_price latency_price_row(struct latency_prices *prices, size_t row)
{
	const struct entries *of = &prices->rows[row];
	uint64_t all = of->emulated + of->stepped;

	if (!prices->known)
		prices->cost = hitcost_end(hitcost_start());
	prices->known = true;
	if (!all)
		return (struct latency_price){0};
	return (struct latency_price){
		.ns = (of->emulated * prices->cost.emulated + of->stepped * prices->cost.stepped) /
		      all,
		.stepped = of->stepped > 0};
}

struct latency_price latency_price_total(struct latency_prices *prices, const struct latency *lat)
{
	struct latency_price sum = {0};
	uint64_t calls = 0;

	for (size_t row = 0; row < prices->count; row++) {
		uint64_t of_row = latency_row_calls(lat, row);
		struct latency_price price = latency_price_row(prices, row);

		calls += of_row;
		sum.ns += of_row * price.ns;
		sum.stepped |= of_row && price.stepped;
	}
	sum.ns = calls ? sum.ns / calls : 0;
	return sum;
}

/* The median is known to the unit; the average to the nanosecond. */
static uint64_t half_took(const struct latency_report *report, uint64_t unit_ns)
{
	uint64_t median = histogram_percentile(&report->hist, 50);
	uint64_t average = report->total_ns / report->count;

	if (unit_ns == 1)
		return median;
	return (median + 1) * unit_ns < average ? (median + 1) * unit_ns : average;
}

bool latency_price_matters(const struct latency_price *price, const struct latency_report *report,
			   uint64_t unit_ns)
{
	return report->count && price->ns * MATTERS > half_took(report, unit_ns);
}

void latency_price_print(const struct latency_price *price)
{
	printf("about %" PRIu64
	       " ns of each call's time are its probes': the price of a hit here%s\n",
	       price->ns, price->stepped ? ", where the kernel single-steps the entry" : "");
}
