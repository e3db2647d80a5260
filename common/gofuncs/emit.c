// SPDX-License-Identifier: Apache-2.0
#include "gofuncs/emit.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "elf/image.h"
#include "files/fileroot.h"
#include "files/heldfile.h"
#include "gofuncs/emit_internal.h"
#include "gofuncs/funclist_types_internal.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "selection/selection.h"

static const struct {
	const char *name;
	enum emit_tracer tracer;
} NAMES[] = {
	{"bpftrace", EMIT_BPFTRACE},
	{"bpftrace:count", EMIT_BPFTRACE},
	{"bpftrace:latency", EMIT_LATENCY},
	{"bpftrace:args", EMIT_ARGS},
	{"bpftrace:skeleton", EMIT_SKELETON},
	{"uprobe_events", EMIT_UPROBE_EVENTS},
	{"perf", EMIT_PERF},
};

int emit_parse(const char *name, enum emit_tracer *out, struct errmsg *err)
{
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
		if (strcmp(name, NAMES[i].name) != 0)
			continue;
		*out = NAMES[i].tracer;
		return 0;
	}
	errmsg_set(err, "--emit: unknown tracer \"%s\"", name);
	errmsg_hint(err, "there are bpftrace, bpftrace:count, bpftrace:latency, bpftrace:args, "
			 "bpftrace:skeleton, uprobe_events and perf");
	return -1;
}

/* --- what the writers share --- */

static bool is_bpftrace(const struct emitter *emitter)
{
	return emitter->tracer < EMIT_UPROBE_EVENTS;
}

static const char *comment_mark(const struct emitter *emitter)
{
	return is_bpftrace(emitter) ? "//" : "#";
}

void emit_comment(const struct emitter *emitter, const struct selection_item *item,
		  const char *more)
{
	void (*escape)(FILE *, const char *) =
		is_bpftrace(emitter) ? escape_comment : escape_shell_comment;

	fprintf(emitter->out, "%s ", comment_mark(emitter));
	escape(emitter->out, emitter->sel->rows[item->row].name);
	fputs(*more ? ": " : "", emitter->out);
	escape(emitter->out, more);
	fputc('\n', emitter->out);
}

void emit_warning(const struct emitter *emitter)
{
	const struct selection_item *item;

	for (size_t i = 0; emit_next(emitter, &i, &item);) {
		if (emit_left_out(emitter, item) || !selection_is_fips(emitter->sel, item))
			continue;
		fprintf(emitter->out,
			"%s WARNING: --fips: a program that starts in FIPS mode while these probes "
			"are\n%s attached ends with \"fips140: verification mismatch\".\n",
			comment_mark(emitter), comment_mark(emitter));
		return;
	}
}

uint64_t emit_offset(const struct selection_item *item, const struct site *site)
{
	uint64_t off = 0;

	image_addr_to_off(item->prog->img, site->addr, &off);
	return off;
}

bool emit_needs_flags(const struct site *site)
{
	return site->kind == SITE_CHECK_BRANCH;
}

/* Would bpftrace take the site's offset as an address, because it lies in another symbol, and not
 * take the site's address as one either? */
static bool is_ambiguous(const struct emitter *emitter, const struct selection_item *item,
			 const struct site *site)
{
	return emit_spans_cover(&emitter->symbols, emit_offset(item, site)) &&
	       !emit_spans_cover(&emitter->symbols, site->addr);
}

const char *emit_left_out(const struct emitter *emitter, const struct selection_item *item)
{
	bool ambiguous = item->sites.entry.addr && is_ambiguous(emitter, item, &item->sites.entry);

	for (size_t i = 0; i < item->sites.exits; i++)
		ambiguous |= is_ambiguous(emitter, item, &selection_exits(emitter->sel, item)[i]);
	if (is_bpftrace(emitter) && ambiguous)
		return "left out: its offsets are also addresses of other symbols";
	if (!item->sites.entry.addr || (emitter->tracer == EMIT_LATENCY && item->skipped))
		return item->skipped ? item->skipped : "no place to probe";
	return NULL;
}

bool emit_next(const struct emitter *emitter, size_t *i, const struct selection_item **item)
{
	if (*i >= emitter->sel->item_count)
		return false;
	*item = &emitter->sel->items[(*i)++];
	return true;
}

/* --- all --- */

/* In scripts for other tracers a path is a word of a command or of a list. */
static int check_path(const char *path, struct errmsg *err)
{
	if (escape_is_plain_path(path))
		return 0;
	return errmsg_set(err, "\"%s\": other tracers cannot take such a path", path);
}

static void print_items(struct emitter *emitter)
{
	switch (emitter->tracer) {
	case EMIT_LATENCY:
		emit_latency(emitter);
		break;
	case EMIT_ARGS:
	case EMIT_SKELETON:
		emit_calls(emitter);
		break;
	case EMIT_UPROBE_EVENTS:
	case EMIT_PERF:
		emit_events(emitter);
		break;
	default:
		emit_bpftrace_count(emitter);
	}
}

static int print_program(struct emitter *emitter, const struct program *prog, struct errmsg *err)
{
	struct site_finder *finder = selection_finder(emitter->sel, prog);
	struct errmsg reason = {0};

	emitter->has_goroutines = !goruntime_read(prog, finder, &emitter->rt, &reason);
	if (emitter->has_goroutines && !emitter->rt.g_in_register && !emitter->rt.tls_g) {
		errmsg_set(&reason, "%s: a script cannot tell goroutines apart in this library",
			   prog->path);
		errmsg_hint(&reason, "gofunclatency can");
		emitter->has_goroutines = false;
	}
	/* scripts tell calls apart by their depth in the goroutine's stack, of which gccgo has
	 * several segments */
	if (prog->toolchain->split_stacks) {
		errmsg_set(&reason, "%s: bpftrace cannot time calls in a gccgo program",
			   prog->path);
		errmsg_hint(&reason, "gofunclatency can");
		emitter->has_goroutines = false;
	}
	if (emitter->tracer == EMIT_LATENCY && !emitter->has_goroutines) {
		*err = reason;
		return -1;
	}
	emitter->types = funclist_types_new(prog, finder);
	emitter->type_names = funclist_types_names(emitter->types);
	emit_spans_read(prog->img, &emitter->symbols);
	print_items(emitter);
	funclist_types_free(emitter->types);
	emit_spans_free(&emitter->symbols);
	tdestroy(emitter->events, free);
	return 0;
}

/* The path by which another tracer finds the file, malloc'd; NULL with *err: it is not there any
 * more. */
static char *path_for(const struct program *prog, struct errmsg *err)
{
	struct stat st;
	char *path;

	if (!strncmp(prog->path, "/proc/", 6))
		return mem_strdup(prog->path);
	path = fileroot_name(heldfile_root(prog->file), heldfile_fd(prog->file));
	if (path && stat(path, &st) == 0 && heldfile_is(prog->file, &st))
		return path;
	errmsg_set(err, "\"%s\" was replaced while it was read", prog->path);
	free(path);
	return NULL;
}

int emit_print(FILE *out, const struct selection *sel, enum emit_tracer tracer, struct errmsg *err)
{
	struct emitter emitter = {.out = out, .sel = sel, .tracer = tracer};

	if (!sel->item_count)
		return 0;
	const struct program *prog = sel->items[0].prog;
	char *path = path_for(prog, err);

	if (!path)
		return -1;
	int ret = check_path(path, err);

	emitter.path = path;
	if (!ret)
		ret = print_program(&emitter, prog, err);
	free(path);
	return ret;
}
