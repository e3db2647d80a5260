/* SPDX-License-Identifier: Apache-2.0 */
/* --metrics: publishes what a tool has counted, while it runs: over HTTP or in a file. */
#ifndef PUBLISHER_H
#define PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "metrics/reading.h"

struct errmsg;
struct publisher;

struct publisher_source { /* where the numbers come from; `ctx` is publisher_begin()'s */
	/* Reads all counters. With `final`: those that the tool has shown last. */
	int (*read)(void *ctx, bool final, struct errmsg *err);
	/* Adds what was read of a row, since tracing began, to *sum. */
	void (*add_row)(void *ctx, size_t row, struct reading *sum);
	/* ... of calls lost: how many reasons there are. NULL: nothing can be. */
	size_t (*losses)(void *ctx, struct reading_loss out[READING_LOSSES]);
	uint64_t unit_ns; /* that calls are timed in; 0: they are not */
	/* What a state below READING_STATES is called; several may be called the same. NULL: the
	 * tool does not tell states apart. */
	const char *(*state)(void *ctx, unsigned state);
	/* Of a tool that publishes other things than functions: writes all families, as family.h
	 * has them; but for `read`, the others are not called then. NULL: it publishes rows. */
	void (*write)(void *ctx, FILE *out, bool openmetrics);
};

struct publisher_spec {
	const char *tool;
	const char *where;    /* as endpoint_parse() takes it; outlives the publisher */
	size_t max_series;    /* functions that have metrics of their own */
	uint64_t interval_ns; /* the tool's own, at which publisher_tick() is called; 0: it has none
			       */
};

/* Takes the port, or tries the folder, before anything is traced. NULL and *err on failure. */
struct publisher *publisher_open(const struct publisher_spec *spec, struct errmsg *err);
void publisher_close(struct publisher *pub); /* NULL is all right */

/* A row of the source that is to be published; the names outlive the publisher. */
void publisher_add_row(struct publisher *pub, size_t row, const char *func, const char *binary);
/* When all rows are known and counting has begun. Says on stderr where the metrics are. */
int publisher_begin(struct publisher *pub, const struct publisher_source *source, void *ctx,
		    struct errmsg *err);
int publisher_fd(const struct publisher *pub); /* readable when there is something to do; -1 */
/* Does what is to do or due: to be called some times a second, and when that is readable. */
void publisher_run(struct publisher *pub);
void publisher_tick(struct publisher *pub); /* the tool has shown its numbers */
/* The end: the file gets what the tool has shown last; nothing is served any more. */
int publisher_end(struct publisher *pub, struct errmsg *err);

#endif
