/* SPDX-License-Identifier: Apache-2.0 */
/* What is special of goargdist's PROBEs, and what people type who come from bcc's argdist:
 *   p:app:main.f(int x):int:x#label
 * Language: bcc's man/man8/argdist.8. */
#ifndef PROBESPEC_VALUES_INTERNAL_H
#define PROBESPEC_VALUES_INTERNAL_H

#include <stdbool.h>

struct errmsg;
struct probespec;

/* What is counted of a return where nothing is named: the first result. */
void probespec_values_default(struct probespec *spec);
/* Gives it a format that names and prints all of its EXPRs. */
void probespec_values_format(struct probespec *spec);

/* Is it a probe of another tracer's? Then *err says so, and its hint is the PROBE that does the
 * same, as far as there is one. */
bool probespec_argdist(const char *text, struct errmsg *err);

#endif
