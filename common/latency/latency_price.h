/* SPDX-License-Identifier: Apache-2.0 */
/* What the probes themselves add to the time of a call: from the instant at which it is seen to
 * begin to the one at which it is seen to end goes by what is left of the hit at its entry and the
 * beginning of the hit at its end, together about the price of one hit. Where the kernel
 * single-steps the instruction at the entry, that is in it too. */
#ifndef LATENCY_PRICE_H
#define LATENCY_PRICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct latency;
struct latency_prices;
struct latency_report;
struct selection;

struct latency_price {
	uint64_t ns;  /* of each call's time, on average */
	bool stepped; /* of some calls: the kernel single-steps their entry */
};

/* Prices of hits are measured when the first is asked for, in some hundredths of a second. */
struct latency_prices *latency_prices_new(const struct selection *sel);
void latency_prices_free(struct latency_prices *prices);

struct latency_price latency_price_row(struct latency_prices *prices, size_t row);
/* Of all that latency_total() reports. */
struct latency_price latency_price_total(struct latency_prices *prices, const struct latency *lat);

/* Is it so much of what the calls took that it has to be said? */
bool latency_price_matters(const struct latency_price *price, const struct latency_report *report,
			   uint64_t unit_ns);
/* "about 640 ns of each call's time are its probes': the price of a hit here" */
void latency_price_print(const struct latency_price *price);

#endif
