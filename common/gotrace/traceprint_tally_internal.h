/* SPDX-License-Identifier: Apache-2.0 */
/* What -A gathers: each distinct line once, with its count. */
#ifndef TRACEPRINT_TALLY_INTERNAL_H
#define TRACEPRINT_TALLY_INTERNAL_H

struct traceprint_config;
struct traceprint_event;
struct traceprint_tally;

/* The config outlives it. */
struct traceprint_tally *traceprint_tally_new(const struct traceprint_config *config);
void traceprint_tally_free(struct traceprint_tally *tally); /* NULL is all right */
/* `line`: what would be printed of the event, with its message and stacks, without a newline at the
 * end */
void traceprint_tally_add(struct traceprint_tally *tally, const struct traceprint_event *event,
			  const char *message, const char *line);
/* Prints what there is on stdout, and begins anew. */
void traceprint_tally_print(struct traceprint_tally *tally);

#endif
