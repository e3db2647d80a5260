/* SPDX-License-Identifier: Apache-2.0 */
/* Tells, once, that the traced functions are hot: that their probes take much of a processor from
 * the traced processes. For whoever has asked for neither -v nor --max-cost (see spending.h): a
 * second after the beginning, and then every ten, the kernel is asked for a moment how often the
 * program runs. */
#ifndef HEAT_INTERNAL_H
#define HEAT_INTERNAL_H

#include <stdint.h>

struct tracer;

struct heat {                   /* begins as zeroes */
	uint64_t next, watched; /* clock_ns(): when to look, and since when it does */
	uint64_t runs, ns;      /* of the program then */
	int watch;              /* a descriptor, while it is watched */
	enum { HEAT_WAITS, HEAT_WATCHES, HEAT_DONE } state;
};

/* To be called some times a second while calls are traced; prints on stderr. */
void heat_look(struct heat *heat, const struct tracer *tracer, const char *tool);
void heat_end(struct heat *heat);

#endif
