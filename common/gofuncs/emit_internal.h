/* SPDX-License-Identifier: Apache-2.0 */
/* What the writers for other tracers share. */
#ifndef EMIT_INTERNAL_H
#define EMIT_INTERNAL_H

#include "gofuncs/emit.h"
#include "gofuncs/emit_spans_internal.h"
#include "sites/goruntime.h"

struct selection_item;
struct site;

struct emitter {
	FILE *out;
	const struct selection *sel;
	enum emit_tracer tracer;
	const char *path;
	struct funclist_types *types;
	bool has_goroutines; /* `rt` is filled in */
	struct goruntime rt;
	uint64_t type_names; /* what name offsets of type descriptors count from; 0: not known */
	void *events;        /* tsearch(3)'s tree of events, by name */
	struct emit_spans symbols;
};

/* --- emit.c --- */

/* Prints a comment, if the script will end programs that start in FIPS mode. */
void emit_warning(const struct emitter *emitter);
/* Why the item gets no probes; NULL: it gets them. */
const char *emit_left_out(const struct emitter *emitter, const struct selection_item *item);
/* Prints the comment before the probes of an item: its name, and what is not possible with it. */
void emit_comment(const struct emitter *emitter, const struct selection_item *item,
		  const char *more);
/* Walks the items to be written: *item is the next one from index *i on. false: no more. */
bool emit_next(const struct emitter *emitter, size_t *i, const struct selection_item **item);
uint64_t emit_offset(const struct selection_item *item, const struct site *site);
/* Is the probe on the stack check's branch, so that only hits that do not take it are calls? */
bool emit_needs_flags(const struct site *site);

/* --- emit_bpftrace.c --- */

void emit_bpftrace_head(const struct emitter *emitter, const char *what);
/* "uprobe:PATH:0xOFFSET" */
void emit_bpftrace_place(const struct emitter *emitter, const struct selection_item *item,
			 const struct site *site);
/* The same on a line of its own, which ends with `before_name` (it contains "// ") and the name. */
void emit_bpftrace_line(const struct emitter *emitter, const struct selection_item *item,
			const struct site *site, const char *before_name);
/* " /FILTER/" where the site needs one */
void emit_bpftrace_filter(const struct emitter *emitter, const struct site *site);
/* The function's name as a map key; if it is too long, its row and the end of the name. */
void emit_bpftrace_key(const struct emitter *emitter, const struct selection_item *item);
/* Sets $g, the address of the current struct g. */
void emit_bpftrace_g(const struct emitter *emitter);
void emit_bpftrace_count(const struct emitter *emitter);

/* --- the others --- */

void emit_latency(const struct emitter *emitter);
void emit_calls(const struct emitter *emitter); /* arguments, and skeletons */
void emit_events(struct emitter *emitter);

#endif
