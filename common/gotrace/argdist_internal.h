/* SPDX-License-Identifier: Apache-2.0 */
/* What has been counted of each PROBE, while it is shown. */
#ifndef ARGDIST_INTERNAL_H
#define ARGDIST_INTERNAL_H

#include "base/index.h"
#include "gotrace/argdist.h"
#include "gotrace/traceprint_event_internal.h"

enum { ARGDIST_ROWS = 65 }; /* of a histogram; each once more for negative numbers */

struct argdist_value {
	char *text; /* "k.Name = "bob", len(s) = 3" */
	char *json; /* {"k.Name":"bob","len(s)":3}; NULL: not asked for */
	uint64_t count;
};

struct argdist_counts { /* of a PROBE */
	struct argdist_value *values;
	size_t count, cap;
	struct index index;           /* of the values, by text */
	uint64_t rows[ARGDIST_ROWS];  /* rows[n]: of log2_row() n */
	uint64_t below[ARGDIST_ROWS]; /* of -n */
};

/* One PROBE's counts, as text or JSON on stdout. */
void argdist_print(const struct argdist_config *config, size_t probe, const char *expr,
		   struct argdist_counts *counts);

/* Was part of a string or slice left out, by the limit of -Z? */
bool argdist_is_cut(const struct traceprint_event *event);

#endif
