/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of a selection, written down for another tracer, with offsets in place of names:
 *   bpftrace             a script that counts calls and returns (or bpftrace:count)
 *   bpftrace:latency     histograms of the time in each function, by goroutine
 *   bpftrace:args        prints arguments and results
 *   bpftrace:skeleton    blocks to fill in, with what can be read in each
 *   uprobe_events        lines for that file of tracefs: Linux's
 * Documentation/trace/uprobetracer.rst perf                 perf probe commands
 */
#ifndef EMIT_H
#define EMIT_H

#include <stdbool.h>
#include <stdio.h>

struct errmsg;
struct selection;

enum emit_tracer {
	EMIT_NONE,
	EMIT_BPFTRACE,
	EMIT_LATENCY,
	EMIT_ARGS,
	EMIT_SKELETON,
	EMIT_UPROBE_EVENTS,
	EMIT_PERF,
};

/* 0; -1 with *err, which names all: there is none of this name */
int emit_parse(const char *name, enum emit_tracer *out, struct errmsg *err);

/* The sites must have been found, with want.args; all items are of one program. Whatever has no
 * site is left out, with a line that says so. 0; -1 with *err: the path of the program can not be
 * written for that tracer, or its goroutines cannot be told apart. Names are reduced to what cannot
 * be mistaken for anything else. */
int emit_print(FILE *out, const struct selection *sel, enum emit_tracer tracer, struct errmsg *err);

#endif
