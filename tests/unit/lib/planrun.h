/* SPDX-License-Identifier: Apache-2.0 */
/* In place of plans of PROBEs and what they lose, for gotrace and goargdist. With faketool.h, whose
 * notes say what was asked. */
#ifndef PLANRUN_H
#define PLANRUN_H

#include <stddef.h>

#include "probespec/probespec.h"

extern struct planrun {
	struct probespec spec; /* of each PROBE */
	size_t unknown;        /* functions; the first is main.f */
	size_t no_results;     /* functions; the first is main.h */
	const char *unknown_copy;
	const char *missing; /* a type; NULL: none */
} planrun;

void planrun_begin(void); /* with faketool_begin() */

#endif
