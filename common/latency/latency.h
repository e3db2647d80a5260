/* SPDX-License-Identifier: Apache-2.0 */
/* Switches gofunclatency.bpf.c on and off, and reads its counters and histograms. */
#ifndef LATENCY_H
#define LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "latency/histogram.h"

struct bpfprog;
struct latency;
struct reading;
struct reading_loss;

struct latency_report {        /* of one row, or of all together */
	struct histogram hist; /* in the unit that the kernel side was compiled with */
	uint64_t count, total_ns, min_ns, max_ns;
	/* of count, see latency/errors.h: whose error was not nil, or could not be read */
	uint64_t errors, unread;
	/* with NET: of total_ns, what probes took, about; of count, where that is not known */
	uint64_t probes_ns, unpriced;
	uint64_t panicked, exited, switched; /* calls that did not return */
	uint64_t lost;                       /* calls whose end was not seen */
	uint64_t jumped;                     /* ... as they left by a jump */
	uint64_t process_ended;              /* ... that were in a process when it ended */
	uint64_t running;                    /* at the end only */
};

/* `unit_ns` is the kernel side's UNIT. The program outlives it. */
struct latency *latency_new(struct bpfprog *bpf, size_t rows, bool per_row, uint64_t unit_ns);
void latency_free(struct latency *lat);

int latency_switch(struct latency *lat, bool on); /* -1 with errno */

/* Counts the calls of processes that are gone, if it is time to, so that there is room for others.
 * -1 with errno. */
int latency_sweep(struct latency *lat);
/* Reads all counters; the reports are then of the time since the read before. With `final`, after
 * switching off and detaching, the calls that still run are counted too. -1 with errno. */
int latency_read(struct latency *lat, bool final);
void latency_total(const struct latency *lat, struct latency_report *out);
/* Only where the kernel side was compiled PER_ROW. */
void latency_row(const struct latency *lat, size_t row, struct latency_report *out);

/* For metrics, and PER_ROW too: reads all counters since the beginning, beside latency_read(),
 * which does not notice. With `final`: takes those of the last latency_read(). -1 with errno. */
int latency_peek(struct latency *lat, bool final);
/* What was read so: adds a row to *sum; and the losses. */
void latency_add_reading(const struct latency *lat, size_t row, struct reading *sum);
size_t latency_reading_losses(const struct latency *lat, struct reading_loss *out);

#endif
