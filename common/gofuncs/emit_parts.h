/* SPDX-License-Identifier: Apache-2.0 */
/* What the writers for other tracers share. */
#ifndef EMIT_PARTS_H
#define EMIT_PARTS_H

#include "gofuncs/emit.h"
#include "gofuncs/emit_spans.h"
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
	void *events;        /* tsearch: names that are taken */
	struct emit_spans symbols;
};

/* --- emit.c --- */

/* A comment where the script will end programs that start in FIPS mode. */
void emit_warning(const struct emitter *emitter);
/* NULL: it has probes; else why it has none. */
const char *emit_left_out(const struct emitter *emitter, const struct selection_item *item);
/* The comment before the probes of an item: its name, and what cannot be done with it. */
void emit_comment(const struct emitter *emitter, const struct selection_item *item,
		  const char *more);
/* Those to be written: *item is the next one from index *i on. */
bool emit_next(const struct emitter *emitter, size_t *i, const struct selection_item **item);
uint64_t emit_offset(const struct selection_item *item, const struct site *site);
/* The probe is on the stack check's branch: only hits that do not take it are calls. */
bool emit_needs_flags(const struct site *site);

/* --- emit_bpftrace.c --- */

void emit_bpftrace_head(const struct emitter *emitter, const char *what);
/* "uprobe:PATH:0xOFFSET" */
void emit_bpftrace_place(const struct emitter *emitter, const struct selection_item *item,
			 const struct site *site);
/* The same on a line of its own, which ends with `before_name`, "// " in it, and the name. */
void emit_bpftrace_line(const struct emitter *emitter, const struct selection_item *item,
			const struct site *site, const char *before_name);
/* " /FILTER/" where the site needs one */
void emit_bpftrace_filter(const struct emitter *emitter, const struct site *site);
/* A function's name as a key: its name, or its number and what fits of its end. */
void emit_bpftrace_key(const struct emitter *emitter, const struct selection_item *item);
/* Sets $g, the struct g of who runs here. */
void emit_bpftrace_g(const struct emitter *emitter);
void emit_bpftrace_count(const struct emitter *emitter);

/* --- the others --- */

void emit_latency(const struct emitter *emitter);
void emit_calls(const struct emitter *emitter); /* arguments, and skeletons */
void emit_events(struct emitter *emitter);

#endif
