// SPDX-License-Identifier: Apache-2.0
/* gofuncs: lists the functions of a Go program, and where they can be probed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/signals.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "gofuncs/emit.h"
#include "gofuncs/funclist.h"
#include "program/program.h"
#include "selection/selection.h"
#include "selection/selection_print.h"
#include "selection/target.h"
#include "tracing/options.h"
#include "tracing/session.h"

static bool has_function(const struct selection *sel)
{
	for (size_t i = 0; i < sel->item_count; i++)
		if (!sel->items[i].is_copy)
			return true;
	return false;
}

struct gofuncs {
	struct options opts;
	enum emit_tracer tracer;
	struct process *process; /* of -p; NULL: none */
	/* What is listed together: what a pattern matches; for another tracer, all of a program. */
	struct selection *sel;
	struct program *prog;
};

static void say_left_out(const struct gofuncs *tool, size_t count)
{
	if (!count)
		return;
	fputs("gofuncs: ", stderr);
	escape_print(stderr, tool->prog->path);
	fprintf(stderr,
		": %zu function%s and copies are left out: the list is too long for a file of this "
		"size\n",
		count, count == 1 ? "" : "s");
}

/* Lists inlined copies only beside functions of the same name, unless they are asked for, or no
 * function matches. */
static int print(const struct gofuncs *tool, struct selection *sel, struct errmsg *err)
{
	const struct options *opts = &tool->opts;
	bool details = opts->verbose || opts->json || tool->tracer;
	bool functions_only = !opts->inlined && has_function(sel);
	struct errmsg ignored;

	if (details)
		selection_find_sites(sel, &ignored);
	enum funclist_style style = opts->json      ? FUNCLIST_JSON
				    : opts->verbose ? FUNCLIST_DETAILS
						    : FUNCLIST_NAMES;

	if (tool->tracer)
		return emit_print(stdout, sel, tool->tracer, err);
	say_left_out(tool, funclist_print(stdout, sel, style, functions_only));
	return 0;
}

static void forget(struct gofuncs *tool)
{
	selection_free(tool->sel);
	program_close(tool->prog);
	tool->sel = NULL;
	tool->prog = NULL;
}

/* Prints what was selected. */
static int print_all(struct gofuncs *tool, struct errmsg *err)
{
	int ret = 0;

	if (tool->sel && tool->prog) {
		selection_print_notes(stderr, tool->sel);
		ret = print(tool, tool->sel, err);
		/* if reading the file failed, parts of it look as if they did not exist */
		if (!ret)
			ret = heldfile_check(tool->prog->file, err);
	}
	forget(tool);
	return ret;
}

/* Takes over `file`. */
static int open_program(struct gofuncs *tool, struct heldfile *file, struct errmsg *err)
{
	const struct options *opts = &tool->opts;
	/* a list shows copies beside functions; other tracers are given what would be traced */
	bool details = (opts->verbose || opts->json) && !tool->tracer;
	struct selection_want want = {.regex = opts->regexp,
				      .inlined = opts->inlined || details,
				      .args = tool->tracer != EMIT_NONE,
				      .returns = true,
				      .may_miss = true,
				      .fips = opts->fips};

	int ret = -1;

	if (tool->prog && tool->tracer && heldfile_is(tool->prog->file, heldfile_then(file))) {
		ret = 0;
	} else if (tool->prog && tool->tracer == EMIT_LATENCY) {
		errmsg_set(err, "%s: a script times the functions of one program",
			   heldfile_path(file));
		errmsg_hint(err, "write one for each");
	} else if (!print_all(tool, err)) {
		tool->prog = program_open(heldfile_share(file), err);
		tool->sel = tool->prog ? selection_new(&want) : NULL;
		ret = tool->prog ? 0 : -1;
	}
	heldfile_close(file);
	return ret;
}

static int list_pattern(struct gofuncs *tool, const char *arg, struct errmsg *err)
{
	struct target_spec spec;
	int ret = -1;

	if (target_spec_parse(arg, tool->opts.pid != 0, &spec, err)) {
		if (arg == tool->opts.patterns[0] && tool->opts.pattern_count > 1)
			target_hint_words(tool->opts.patterns, err);
		return -1;
	}
	struct heldfile *file = target_resolve(spec.binary, tool->process, err);

	if (file && !open_program(tool, file, err))
		ret = selection_add(tool->sel, tool->prog, spec.pattern, err);
	target_spec_free(&spec);
	return ret;
}

static int list_all(struct gofuncs *tool, struct errmsg *err)
{
	int ret = 0;

	for (size_t i = 0; i < tool->opts.pattern_count && !ret; i++)
		ret = list_pattern(tool, tool->opts.patterns[i], err);
	/* a pattern has failed: nothing is printed for other tracers */
	if (ret && tool->tracer)
		forget(tool);
	return print_all(tool, ret ? NULL : err) || ret ? -1 : 0;
}

enum { LETTER_EMIT = 256 };

static const struct options_def own_defs[] = {
	{LETTER_EMIT, "emit", "TRACER",
	 "print the probes for another tracer instead: bpftrace (or bpftrace:count), "
	 "bpftrace:latency, bpftrace:args, bpftrace:skeleton, uprobe_events, perf"},
	{0},
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gofuncs *tool = ctx;

	return letter == LETTER_EMIT ? emit_parse(value, &tool->tracer, err) : -1;
}

static const char examples[] =
	"    gofuncs '/usr/bin/etcd:main.*'         # functions of a package\n"
	"    gofuncs -p 181 '*.(*T).*'              # methods of types named T\n"
	"    gofuncs -v app:main.handle             # addresses, parameters, sites\n"
	"    gofuncs --inlined 'app:strings.*'      # inlined functions as well\n"
	"    gofuncs -j 'app:*' | head -1           # one JSON object a function\n"
	"    gofuncs --emit=bpftrace 'app:main.*'   # a script that counts calls\n"
	"    gofuncs --emit=bpftrace:args app:main.handle > handle.bt\n"
	"                                           # one that prints arguments\n";

int main(int argc, char **argv)
{
	struct gofuncs gofuncs = {.tracer = EMIT_NONE};
	struct options *opts = &gofuncs.opts;
	struct options_tool tool = {.name = "gofuncs",
				    .about = "List functions of a Go program",
				    .args = "[BINARY:]PATTERN...",
				    .shared = "prvj",
				    .verbose = "show addresses, parameters, probe sites, copies",
				    .inlined = true,
				    .own = own_defs,
				    .take = take_option,
				    .ctx = &gofuncs,
				    .examples = examples};
	struct errmsg err = {0};

	signals_default();
	enum options_result result = options_parse(&tool, argc, argv, opts, &err);

	if (result != OPTIONS_RUN)
		return options_answer(&tool, result, &err);
	if (opts->pid) {
		gofuncs.process = process_open(opts->pid, &err);
		if (!gofuncs.process)
			return options_fail(&tool, &err);
	}
	int ret = list_all(&gofuncs, &err);

	process_close(gofuncs.process);
	if (ret)
		return options_fail(&tool, &err);
	return session_flush(&err) ? options_fail(&tool, &err) : 0;
}
