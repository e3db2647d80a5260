// SPDX-License-Identifier: Apache-2.0
/* What of a call's time is its probes': with prices of this test's own. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/hitcost.h"
#include "latency/histogram_internal.h"
#include "latency/latency_internal.h"
#include "latency/latency_price.h"
#include "selection/selection.h"
#include "unit.h"

enum { EMULATED = 600, STEPPED = 9000, ROWS = 4 };

static unsigned measured;
static uint64_t calls[ROWS];

struct hitcost_trial *hitcost_start(void)
{
	measured++;
	return mem_zalloc(1, 1);
}

struct hitcost hitcost_end(struct hitcost_trial *trial)
{
	free(trial);
	return (struct hitcost){EMULATED, STEPPED};
}

/* As in latency.c, which needs the kernel. */
uint64_t latency_row_calls(const struct latency *lat, size_t row)
{
	(void)lat;
	return calls[row];
}

/* row 0: an emulated entry; 1: a single-stepped one; 2: three copies, two of which are left, one of
 * each kind; 3: nothing is left */
static struct latency_prices *make(void)
{
	static const struct {
		uint32_t row;
		bool emulated, skipped;
	} of[] = {{0, true, false},  {1, false, false}, {2, true, false},
		  {2, false, false}, {2, false, true},  {3, true, true}};
	struct selection_item items[6] = {{0}};
	struct selection sel = {.items = items, .item_count = 6, .row_count = ROWS};

	for (size_t i = 0; i < 6; i++) {
		items[i].row = of[i].row;
		items[i].sites.entry.emulated = of[i].emulated;
		items[i].skipped = of[i].skipped ? "no" : NULL;
	}
	measured = 0;
	return latency_prices_new(&sel);
}

static void expect_price(struct latency_price price, uint64_t ns, bool stepped)
{
	assert_int_equal(price.ns, ns);
	assert_int_equal(price.stepped, stepped);
}

static void test_rows(void **state)
{
	struct latency_prices *prices = make();

	(void)state;
	expect_price(latency_price_row(prices, 0), EMULATED, false);
	expect_price(latency_price_row(prices, 1), STEPPED, true);
	expect_price(latency_price_row(prices, 2), (EMULATED + STEPPED) / 2, true);
	expect_price(latency_price_row(prices, 3), 0, false);
	assert_int_equal(measured, 1);
	latency_prices_free(prices);
}

/* by the calls of each */
static void test_total(void **state)
{
	static const struct {
		uint64_t calls[ROWS], ns;
		bool stepped;
	} cases[] = {
		{{5, 0, 0, 0}, EMULATED, false},
		{{3, 1, 0, 0}, (3 * EMULATED + STEPPED) / 4, true},
		{{0, 0, 0, 0}, 0, false},
	};
	struct latency_prices *prices = make();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memcpy(calls, cases[i].calls, sizeof(calls));
		expect_price(latency_price_total(prices, NULL), cases[i].ns, cases[i].stepped);
	}
	latency_prices_free(prices);
}

/* Where it is over a third of what half of the calls took; where a unit is more than that, of what
 * they took on average. */
static void test_matters(void **state)
{
	static const struct {
		uint64_t unit_ns, median, average, price;
		bool matters;
	} cases[] = {
		{1, 2000, 9000, 600, false},  {1, 1700, 9000, 600, true},
		{1000, 0, 900, 600, true},    {1000, 1, 1500, 400, false},
		{1000, 1, 99000, 600, false}, {1000, 1, 99000, 700, true},
		{1000000, 0, 900, 600, true}, {1000000, 0, 500000, 600, false},
	};
	struct latency_report report;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct latency_price price = {.ns = cases[i].price};

		memset(&report, 0, sizeof(report));
		report.count = report.hist.count = 1;
		report.total_ns = cases[i].average;
		report.hist.max = UINT64_MAX;
		for (unsigned slot = 0; slot < HISTOGRAM_SLOTS; slot++)
			if (histogram_low(slot) <= cases[i].median &&
			    histogram_high(slot) >= cases[i].median)
				report.hist.slots[slot] = 1;
		assert_int_equal(latency_price_matters(&price, &report, cases[i].unit_ns),
				 cases[i].matters);
	}
	memset(&report, 0, sizeof(report));
	assert_false(latency_price_matters(&(struct latency_price){600, false}, &report, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
