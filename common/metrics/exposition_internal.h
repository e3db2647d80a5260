/* SPDX-License-Identifier: Apache-2.0 */
/* The text that Prometheus and its like read. */
#ifndef EXPOSITION_INTERNAL_H
#define EXPOSITION_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "metrics/reading.h"

struct series_table;

enum exposition_format {
	EXPOSITION_TEXT,        /* Prometheus' own, version 0.0.4 */
	EXPOSITION_OPENMETRICS, /* version 1.0.0 */
	EXPOSITION_FORMATS,
};

struct exposition {
	const struct series_table *table;
	bool timed; /* calls are: there is more than their number */
	struct reading_scale scale;
	const struct reading_loss *losses;
	size_t loss_count;
	const char *states[READING_STATES]; /* what they are called; NULL: not told apart */
};

const char *exposition_type(enum exposition_format format); /* for HTTP's Content-Type */
/* By HTTP's Accept; NULL: there is none. OpenMetrics only where it is named. */
enum exposition_format exposition_wanted(const char *accept);
void exposition_write(FILE *out, enum exposition_format format, const struct exposition *exp);
/* What a format has behind all families; exposition_write() has written it. */
void exposition_end(FILE *out, enum exposition_format format);

#endif
